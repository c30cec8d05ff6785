/* What is wrong with settings is wrong usage, whichever way they came. */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* Adds what |option| names to the list of absolute paths. */
static int add_path(const char *option, const char *name, char **list) {
  char *path = realpath(name, NULL);
  if (!path) {
    output_complain("%s %s: %s. Fix: name one that exists.", option, name, strerror(errno));
    return OUTPUT_USAGE;
  }
  char *longer = NULL;
  int result = OUTPUT_DONE;
  if (strchr(path, ':')) {
    output_complain("%s %s: there is a colon in its path. Fix: use another directory.", option, name);
    result = OUTPUT_USAGE;
  } else if (asprintf(&longer, "%s%s%s", *list ? *list : "+", *list ? ":" : "", path) < 0) {
    output_complain("memory is exhausted");
    result = OUTPUT_FAILED;
  }
  free(path);
  if (result != OUTPUT_DONE) return result;
  free(*list);
  *list = longer;
  return OUTPUT_DONE;
}

static int set_paths(const parsed_options *o, const char *plugin, session *s) {
  char *list = NULL;
  int result = plugin ? add_path("--target", plugin, &list) : OUTPUT_DONE;
  for (size_t i = 0; i < o->value_count && result == OUTPUT_DONE; i++)
    if (o->values[i].row->id == OPT_BACKEND_PATH) result = add_path("--backend-path", o->values[i].text, &list);
  if (list && result == OUTPUT_DONE) result = session_set(s, VYRE_CONFIG_BACKENDS_PATH, list, "--backend-path");
  free(list);
  return result;
}

int session_load_plugin(const parsed_options *options, const char *plugin, session *out) {
  *out = (session){0};
  vyre_config_options load = {.size = sizeof load, .path = options_get(options, OPT_CONFIG)};
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_config_load(&load, &out->config, &error);
  if (status != VYRE_OK) {
    output_error(load.path ? load.path : "settings", &error);
    return status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
  }
  return set_paths(options, plugin, out);
}

int session_load(const parsed_options *options, session *out) { return session_load_plugin(options, NULL, out); }

void session_warn(const session *s) {
  const char *warning;
  for (uint32_t i = 0; (warning = vyre_config_warning(s->config, i)) != NULL; i++) output_note("%s", warning);
}

int session_set(session *s, vyre_config_key key, const char *text, const char *source) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_config_set(s->config, key, text, source, &error);
  if (status == VYRE_OK) return OUTPUT_DONE;
  output_error(source, &error);
  return status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
}

int session_open(session *s) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_log_create(&s->log) != VYRE_OK) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  vyre_config_value level;
  vyre_config_get(s->config, VYRE_CONFIG_LOG_LEVEL, &level);
  uint64_t most = output_is_quiet() && level.number > VYRE_LOG_ERROR ? VYRE_LOG_ERROR : level.number;
  vyre_log_set(s->log, (vyre_log_level)most, vyre_log_stderr, NULL);
  if (vyre_context_create(s->config, s->log, &s->context, &error) == VYRE_OK) return OUTPUT_DONE;
  return output_error("backends", &error);
}

void session_close(session *s) {
  vyre_context_destroy(s->context);
  vyre_log_destroy(s->log);
  vyre_config_destroy(s->config);
}
