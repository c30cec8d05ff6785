/* Settings that belong to plugins from elsewhere: the table of settings can't know them, so they are kept as they are
 * written, below [backend NAME] or in VYRE_BACKEND_NAME_KEY, and only the plugin NAME asks for them. */
#include <stdio.h>
#include <string.h>

#include "base/config.h"

static const char SECTION[] = "backend ", VARIABLE[] = "VYRE_BACKEND_";
enum { MAX_NAME = 32 }; /* VYRE_BACKEND_MAX_NAME, which is of a layer above */

static bool is_name(const char *name) {
  size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
  return name[bytes] == 0 && bytes > 0 && bytes <= MAX_NAME && name[0] >= 'a' && name[0] <= 'z';
}

const char *vyre_config_backend_of(const char *section) {
  size_t bytes = strlen(SECTION);
  if (strncmp(section, SECTION, bytes) != 0) return NULL;
  const char *name = section + bytes + strspn(section + bytes, " \t");
  return is_name(name) ? name : NULL;
}

bool vyre_config_is_backend(const char *name) { return is_name(name); }

vyre_config_backend_value *vyre_config_backend_find(const vyre_config *config, const char *backend, const char *key) {
  for (uint32_t i = 0; i < config->backend_values.count; i++) {
    vyre_config_backend_value *value = &config->backend_values.data[i];
    if (strcmp(value->backend, backend) == 0 && strcmp(value->key, key) == 0) return value;
  }
  return NULL;
}

static const char *copy(vyre_config *config, const char *text) {
  return vyre_arena_copy(&config->texts, text, strlen(text));
}

bool vyre_config_backend_keep(vyre_config *config, const char *backend, const char *key, const char *text,
                              uint32_t line) {
  vyre_config_backend_value value = { copy(config, backend), copy(config, key), copy(config, text), line };
  if (value.backend == NULL || value.key == NULL || value.text == NULL) return false;
  vyre_config_backend_value *old = vyre_config_backend_find(config, backend, key);
  if (old == NULL) return vyre_vector_push(&config->backend_values, value);
  *old = value;
  return true;
}

bool vyre_config_backend_is_variable(const char *entry) { return strncmp(entry, VARIABLE, strlen(VARIABLE)) == 0; }

bool vyre_config_backend_keep_variable(vyre_config *config, const char *entry) {
  const char *kept = copy(config, entry);
  return kept != NULL && vyre_vector_push(&config->backend_variables, kept);
}

/* "VYRE_BACKEND_" and |part| in capitals, "_" and so on: the text behind what fits, NULL if it does not. */
static const char *match_capitals(const char *entry, const char *part) {
  for (; *part != 0; part++, entry++) {
    char wanted = *part >= 'a' && *part <= 'z' ? (char)(*part - 'a' + 'A') : *part;
    if (*entry != wanted) return NULL;
  }
  return entry;
}

/* What the variable for a key is set to, NULL if |entry| is another one or empty. */
static const char *value_in(const char *entry, const char *backend, const char *key) {
  const char *at = match_capitals(entry + strlen(VARIABLE), backend);
  if (at == NULL || *at != '_') return NULL;
  at = match_capitals(at + 1, key);
  return at != NULL && at[0] == '=' && at[1] != 0 ? at + 1 : NULL;
}

const char *vyre_config_backend_get(const vyre_config *config, const char *backend, const char *key) {
  for (uint32_t i = 0; i < config->backend_variables.count; i++) {
    const char *text = value_in(config->backend_variables.data[i], backend, key);
    if (text != NULL) return text;
  }
  const vyre_config_backend_value *value = vyre_config_backend_find(config, backend, key);
  return value != NULL && value->text[0] != 0 ? value->text : NULL;
}
