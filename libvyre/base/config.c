/* One load: defaults, then the file, then the environment, each over what was there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/writer.h"

static const char ENVIRONMENT_PREFIX[] = "VYRE_";

bool vyre_config_warn(vyre_config *config, const char *format, ...) {
  if (config->warnings.count > VYRE_CONFIG_MAX_WARNINGS) return true;
  if (config->warnings.count == VYRE_CONFIG_MAX_WARNINGS)
    return vyre_vector_push(&config->warnings, "There are more warnings. Fix: mend these first.");
  vyre_writer text = { 0 }, shown = { 0 };
  va_list args;
  va_start(args, format);
  vyre_write_list(&text, format, args);
  va_end(args);
  if (!text.failed) vyre_write_escaped(&shown, text.data, text.count);
  const char *kept = text.failed || shown.failed ? NULL : vyre_arena_copy(&config->texts, shown.data, shown.count);
  vyre_writer_free(&text);
  vyre_writer_free(&shown);
  return kept != NULL && vyre_vector_push(&config->warnings, kept);
}

static vyre_status take_defaults(vyre_config *config, vyre_error *error) {
  vyre_config_place nowhere = { VYRE_CONFIG_FROM_DEFAULT, "", 0 };
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    vyre_status status = vyre_config_take(config, key, vyre_config_describe(key)->default_text, nowhere, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

/* A variable that begins like ours, is none, and looks like a misspelled one. */
static bool warn_misspelled(vyre_config *config, const char *entry) {
  size_t bytes = strcspn(entry, "=");
  char name[64];
  if (bytes >= sizeof name) return true;
  memcpy(name, entry, bytes);
  name[bytes] = 0;
  vyre_suggestion s = vyre_suggest(name);
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++)
    vyre_suggest_offer(&s, vyre_config_describe(key)->environment);
  vyre_suggest_offer(&s, "VYRE_CONFIG");
  if (s.best == NULL || s.distance == 0 || s.distance > 2) return true;
  return vyre_config_warn(config, "The environment variable %s means nothing. Fix: did you mean %s?", name, s.best);
}

static vyre_status take_environment(vyre_config *config, vyre_error *error) {
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const char *name = vyre_config_describe(key)->environment, *text = vyre_env_get(name);
    if (text == NULL || text[0] == 0) continue;
    vyre_config_place place = { VYRE_CONFIG_FROM_ENVIRONMENT, name, 0 };
    vyre_status status = vyre_config_take(config, key, text, place, error);
    if (status != VYRE_OK) return status;
  }
  size_t cursor = 0;
  for (const char *entry; (entry = vyre_env_next(ENVIRONMENT_PREFIX, &cursor)) != NULL;) {
    bool kept = warn_misspelled(config, entry);
    if (kept && vyre_config_backend_is_variable(entry)) kept = vyre_config_backend_keep_variable(config, entry);
    if (!kept) return vyre_fail_memory(error, "environment");
  }
  return VYRE_OK;
}

static bool is_setting(const char *entry) {
  size_t bytes = strcspn(entry, "=");
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const char *name = vyre_config_describe(key)->environment;
    if (strlen(name) == bytes && memcmp(name, entry, bytes) == 0) return true;
  }
  return bytes == strlen("VYRE_CONFIG") && memcmp(entry, "VYRE_CONFIG", bytes) == 0;
}

/* Says once that settings are there which do not count. */
static vyre_status note_ignored(vyre_config *config, vyre_error *error) {
  size_t cursor = 0;
  const char *entry;
  do entry = vyre_env_next(ENVIRONMENT_PREFIX, &cursor);
  while (entry != NULL && !is_setting(entry));
  if (entry == NULL) return VYRE_OK;
  if (vyre_config_warn(config,
                       "The environment is ignored (%.*s among others), because this process has more rights than its "
                       "user. Fix: use vyre.ini of the installation.",
                       (int)strcspn(entry, "="), entry))
    return VYRE_OK;
  return vyre_fail_memory(error, "environment");
}

static vyre_status read_all(vyre_config *config, const vyre_config_options *options, vyre_error *error) {
  vyre_status status = take_defaults(config, error);
  if (status == VYRE_OK && !options->no_file) status = vyre_config_read_file(config, options, error);
  if (status != VYRE_OK || options->no_environment) return status;
  return vyre_env_is_ignored() ? note_ignored(config, error) : take_environment(config, error);
}

vyre_status vyre_config_load(const vyre_config_options *options, vyre_config **out, vyre_error *error) {
  *out = NULL;
  vyre_config_options none = { .size = sizeof none };
  if (options == NULL) options = &none;
  if (options->size != sizeof none)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "vyre_config_load",
                     "The options have size %u, wanted %zu. Fix: set size to sizeof(vyre_config_options), and build "
                     "against the installed headers.",
                     options->size, sizeof none);
  vyre_config *config = calloc(1, sizeof *config);
  if (config == NULL) return vyre_fail_memory(error, "vyre_config_load");
  config->file = "";
  vyre_status status = read_all(config, options, error);
  if (status != VYRE_OK) {
    vyre_config_destroy(config);
    return status;
  }
  *out = config;
  return VYRE_OK;
}

void vyre_config_destroy(vyre_config *config) {
  if (config == NULL) return;
  vyre_vector_free(&config->warnings);
  vyre_vector_free(&config->backend_values);
  vyre_vector_free(&config->backend_variables);
  vyre_arena_free(&config->texts);
  free(config);
}

vyre_status vyre_config_set(vyre_config *config, vyre_config_key key, const char *text, const char *source,
                            vyre_error *error) {
  if (vyre_config_describe(key) == NULL)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "vyre_config_set",
                     "There is no setting %d. Fix: use one of vyre_config_key.", (int)key);
  if (source == NULL) source = "the call";
  const char *copy = vyre_arena_copy(&config->texts, source, strlen(source));
  if (copy == NULL) return vyre_fail_memory(error, "vyre_config_set");
  return vyre_config_take(config, key, text, (vyre_config_place){ VYRE_CONFIG_FROM_CALL, copy, 0 }, error);
}

void vyre_config_get(const vyre_config *config, vyre_config_key key, vyre_config_value *out) {
  *out = config->values[key];
}

const char *vyre_config_file(const vyre_config *config) { return config->file; }

const char *vyre_config_warning(const vyre_config *config, uint32_t index) {
  return index < config->warnings.count ? config->warnings.data[index] : NULL;
}
