/* Any bytes as vyre.ini: they are taken, and every number is in its range, or they are refused with a fix. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
  if (!holds) abort();
}

static void check_values(const vyre_config *config) {
  for (int key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const vyre_config_key_info *info = vyre_config_describe(key);
    vyre_config_value value;
    vyre_config_get(config, key, &value);
    require(value.text != NULL && value.source != NULL);
    require((value.line > 0) == (value.origin == VYRE_CONFIG_FROM_FILE));
    for (uint32_t i = 0; i < value.count; i++) require(value.list[i][0] != 0);
    if (value.is_set && info->high > 0) require(value.number >= info->low && value.number <= info->high);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vyre_config_options options = { .size = sizeof options, .no_file = true, .no_environment = true };
  vyre_config *config;
  require(vyre_config_load(&options, &config, NULL) == VYRE_OK);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_config_read_text(config, "fuzz.ini", (const char *)data, size, &error);
  require(status == VYRE_OK || status == VYRE_ERR_INVALID_CONFIG || status == VYRE_ERR_LIMIT);
  if (status != VYRE_OK) require(strncmp(error.where, "fuzz.ini:", 9) == 0 && strstr(error.text, "Fix: ") != NULL);
  check_values(config);
  vyre_config_destroy(config);
  return 0;
}
