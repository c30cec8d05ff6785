/* The table of settings as data. */
#include <string.h>

#include "base/config.h"

#define SECTION(id, name, help) static const char section_##id[] = name;
#include <vyre/config_keys.def>

static const vyre_config_section sections[] = {
#define SECTION(id, name, help) { section_##id, help },
#include <vyre/config_keys.def>
};

static const vyre_config_key_info keys[] = {
#define KEY(section, id, name, type, low, high, choices, default_text, environment, since, help) \
  { section_##section, name, environment, VYRE_CONFIG_##type, low, high, choices, default_text, since, help },
#include <vyre/config_keys.def>
};

const vyre_config_section *vyre_config_section_at(uint32_t index) {
  return index < sizeof sections / sizeof *sections ? &sections[index] : NULL;
}

const vyre_config_key_info *vyre_config_describe(vyre_config_key key) {
  return (uint32_t)key < VYRE_CONFIG_KEY_COUNT ? &keys[key] : NULL;
}

bool vyre_config_find_in(const char *section, const char *name, vyre_config_key *out) {
  for (uint32_t i = 0; i < VYRE_CONFIG_KEY_COUNT; i++) {
    if (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0) continue;
    *out = (vyre_config_key)i;
    return true;
  }
  return false;
}

bool vyre_config_find(const char *name, vyre_config_key *out) {
  for (uint32_t i = 0; i < VYRE_CONFIG_KEY_COUNT; i++) {
    size_t bytes = strlen(keys[i].section);
    if (strncmp(keys[i].section, name, bytes) != 0 || name[bytes] != '.') continue;
    if (strcmp(keys[i].name, name + bytes + 1) != 0) continue;
    *out = (vyre_config_key)i;
    return true;
  }
  return false;
}
