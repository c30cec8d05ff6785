/* From a text to the value of a setting, by the setting's type. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/config.h"
#include "base/error.h"
#include "base/writer.h"

typedef struct unit {
  const char *name;
  uint64_t scale;
} unit;

static const unit time_units[] = { { "", 1000000000 }, { "ns", 1 },           { "us", 1000 },           { "ms", 1000000 },
                                   { "s", 1000000000 }, { "min", 60000000000 }, { "h", 3600000000000 }, { NULL, 0 } };
static const unit size_units[] = { { "", 1 },          { "B", 1 },         { "KiB", 1u << 10 },         { "MiB", 1u << 20 },
                                   { "GiB", 1u << 30 }, { "TiB", (uint64_t)1 << 40 }, { NULL, 0 } };
static const char *const true_words[] = { "true", "yes", "on", "1" };
static const char *const false_words[] = { "false", "no", "off", "0" };

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static uint32_t digit_of(char c) {
  if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
  if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A') + 10;
  return UINT32_MAX;
}

/* Digits of |base| at |*text|, which moves behind them; false if there are none or the value does not fit. */
static bool read_digits(const char **text, uint32_t base, uint64_t *out) {
  const char *p = *text;
  uint64_t value = 0;
  for (; digit_of(*p) < base; p++)
    if (!vyre_mul_u64(value, base, &value) || !vyre_add_u64(value, digit_of(*p), &value)) return false;
  if (p == *text) return false;
  *text = p;
  *out = value;
  return true;
}

static bool read_integer(const char *text, uint64_t *out) {
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text += 2;
  return read_digits(&text, hex ? 16 : 10, out) && *text == 0;
}

/* The decimal places at |*text| times |scale|, rounded down; false if there are none or more than nine. */
static bool read_fraction(const char **text, uint64_t scale, uint64_t *out) {
  const char *start = *text;
  uint64_t digits, divisor = 1;
  if (!read_digits(text, 10, &digits) || *text - start > 9) return false;
  for (; start < *text; start++) divisor *= 10;
  *out = scale / divisor * digits + scale % divisor * digits / divisor;
  return true;
}

/* A number with a unit: "8 GiB", "1.5s". */
static bool read_scaled(const char *text, const unit *units, uint64_t *out) {
  uint64_t whole;
  if (!read_digits(&text, 10, &whole)) return false;
  const char *point = *text == '.' ? text : NULL;
  if (point != NULL)
    for (text++; digit_of(*text) < 10; text++) continue;
  while (is_space(*text)) text++;
  while (units->name != NULL && strcmp(units->name, text) != 0) units++;
  if (units->name == NULL || !vyre_mul_u64(whole, units->scale, &whole)) return false;
  uint64_t part = 0;
  if (point != NULL && (point++, !read_fraction(&point, units->scale, &part))) return false;
  return vyre_add_u64(whole, part, out);
}

static bool read_bool(const char *text, uint64_t *out) {
  for (size_t i = 0; i < sizeof true_words / sizeof *true_words; i++) {
    *out = strcmp(text, true_words[i]) == 0;
    if (*out != 0 || strcmp(text, false_words[i]) == 0) return true;
  }
  return false;
}

static bool read_choice(const char *text, const char *choices, uint64_t *out) {
  size_t wanted = strlen(text);
  for (*out = 0;; ++*out) {
    size_t bytes = strcspn(choices, "|");
    if (bytes == wanted && memcmp(choices, text, bytes) == 0) return true;
    if (choices[bytes] == 0) return false;
    choices += bytes + 1;
  }
}

static bool read_number(const vyre_config_key_info *info, const char *text, uint64_t *out) {
  bool is_read = false;
  switch (info->type) {
  case VYRE_CONFIG_BOOL: return read_bool(text, out);
  case VYRE_CONFIG_CHOICE: return read_choice(text, info->choices, out);
  case VYRE_CONFIG_DURATION: is_read = read_scaled(text, time_units, out); break;
  case VYRE_CONFIG_SIZE: is_read = read_scaled(text, size_units, out); break;
  case VYRE_CONFIG_POWER: is_read = read_integer(text, out) && (*out & (*out - 1)) == 0; break;
  case VYRE_CONFIG_INTEGER: is_read = read_integer(text, out); break;
  case VYRE_CONFIG_STRING:
  case VYRE_CONFIG_PATHS:
  case VYRE_CONFIG_NAMES: break;
  }
  return is_read && *out >= info->low && *out <= info->high;
}

/* A name of a list; the first may have a ^ before it. */
static bool is_name(const char *text, size_t bytes, bool first) {
  if (first && bytes > 0 && text[0] == '^') {
    text++;
    bytes--;
  }
  for (size_t i = 0; i < bytes; i++) {
    bool letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    if (!letter && digit_of(text[i]) >= 10 && text[i] != '_' && text[i] != '-' && text[i] != '.') return false;
  }
  return bytes > 0;
}

typedef VYRE_VECTOR(const char *) text_list;

/* The items of a list, copied; empty ones do not count. OK, INVALID_CONFIG or NO_MEMORY. */
static vyre_status read_list(vyre_config *config, vyre_config_type type, const char *text, text_list *out) {
  char separator = type == VYRE_CONFIG_PATHS ? ':' : ',';
  for (;;) {
    const char *end = strchrnul(text, separator), *last = end;
    while (is_space(*text)) text++;
    while (last > text && is_space(last[-1])) last--;
    if (last > text) {
      size_t bytes = (size_t)(last - text);
      bool fits = type == VYRE_CONFIG_PATHS ? text[0] == '/' : is_name(text, bytes, out->count == 0);
      if (!fits) return VYRE_ERR_INVALID_CONFIG;
      const char *item = vyre_arena_copy(&config->texts, text, bytes);
      if (item == NULL || !vyre_vector_push(out, item)) return VYRE_ERR_NO_MEMORY;
    }
    if (*end == 0) return VYRE_OK;
    text = end + 1;
  }
}

static bool append(text_list *list, const vyre_config_value *more) {
  if (!vyre_vector_reserve(list, more->count)) return false;
  for (uint32_t i = 0; i < more->count; i++) list->data[list->count++] = more->list[i];
  return true;
}

/* Moves a list into the arena. */
static bool keep_list(vyre_config *config, const text_list *list, vyre_config_value *value) {
  if (list->count == 0) return true;
  const char **kept = vyre_arena_alloc(&config->texts, list->count * sizeof *kept);
  if (kept == NULL) return false;
  memcpy(kept, list->data, list->count * sizeof *kept);
  value->list = kept;
  value->count = list->count;
  return true;
}

static vyre_status take_list(vyre_config *config, vyre_config_type type, const vyre_config_value *old,
                             vyre_config_value *value) {
  text_list list = { 0 };
  bool adds = type == VYRE_CONFIG_PATHS && value->text[0] == '+';
  bool goes_on = value->origin == VYRE_CONFIG_FROM_FILE && old->origin == VYRE_CONFIG_FROM_FILE;
  vyre_status status = VYRE_OK;
  if (goes_on && !append(&list, old)) status = VYRE_ERR_NO_MEMORY;
  if (status == VYRE_OK) status = read_list(config, type, value->text + adds, &list);
  if (status == VYRE_OK && adds && !goes_on && !append(&list, old)) status = VYRE_ERR_NO_MEMORY;
  if (status == VYRE_OK && !keep_list(config, &list, value)) status = VYRE_ERR_NO_MEMORY;
  value->is_set = value->count > 0;
  vyre_vector_free(&list);
  return status;
}

void vyre_config_wanted(const vyre_config_key_info *info, char *text, uint32_t capacity) {
  unsigned long long low = info->low, high = info->high;
  switch (info->type) {
  case VYRE_CONFIG_STRING: snprintf(text, capacity, "a text"); break;
  case VYRE_CONFIG_PATHS: snprintf(text, capacity, "absolute paths with : between"); break;
  case VYRE_CONFIG_NAMES: snprintf(text, capacity, "names with commas between"); break;
  case VYRE_CONFIG_BOOL: snprintf(text, capacity, "true or false"); break;
  case VYRE_CONFIG_CHOICE: snprintf(text, capacity, "one of %s", info->choices); break;
  case VYRE_CONFIG_POWER: snprintf(text, capacity, "a power of two from %llu to %llu", low, high); break;
  case VYRE_CONFIG_INTEGER: snprintf(text, capacity, "an integer from %llu to %llu", low, high); break;
  case VYRE_CONFIG_DURATION: snprintf(text, capacity, "a time above 0, as 10, 1.5 s or 500 ms"); break;
  case VYRE_CONFIG_SIZE: snprintf(text, capacity, "a size of at least %llu bytes, as 512 MiB or 8 GiB", low); break;
  }
}

static vyre_status refuse(const vyre_config_key_info *info, const char *text, const vyre_config_place *place,
                          vyre_error *error) {
  char wanted[128], where[VYRE_ERROR_WHERE_BYTES], fix[VYRE_ERROR_WHERE_BYTES + 64];
  vyre_config_wanted(info, wanted, sizeof wanted);
  if (place->origin == VYRE_CONFIG_FROM_FILE) {
    snprintf(where, sizeof where, "%s:%u", place->source, place->line);
    snprintf(fix, sizeof fix, "correct that line, or remove it for the default");
  } else if (place->origin == VYRE_CONFIG_FROM_ENVIRONMENT) {
    snprintf(where, sizeof where, "%s", place->source);
    snprintf(fix, sizeof fix, "correct the environment variable %s, or unset it", place->source);
  } else {
    snprintf(where, sizeof where, "%s", place->source);
    snprintf(fix, sizeof fix, "give such a value");
  }
  vyre_writer found = { 0 };
  size_t bytes = strlen(text);
  vyre_write_escaped(&found, text, bytes < 100 ? bytes : 100);
  vyre_write_text(&found, bytes < 100 ? "" : "...");
  vyre_fail(error, VYRE_ERR_INVALID_CONFIG, where, "[%s] %s takes %s, not `%s`. Fix: %s.", info->section, info->name,
            wanted, found.failed ? "?" : found.data, fix);
  vyre_writer_free(&found);
  return VYRE_ERR_INVALID_CONFIG;
}

static bool is_list(vyre_config_type type) { return type == VYRE_CONFIG_PATHS || type == VYRE_CONFIG_NAMES; }

vyre_status vyre_config_take(vyre_config *config, vyre_config_key key, const char *text, vyre_config_place place,
                             vyre_error *error) {
  const vyre_config_key_info *info = vyre_config_describe(key);
  const char *copy = vyre_arena_copy(&config->texts, text, strlen(text));
  if (copy == NULL) return vyre_fail_memory(error, place.source);
  vyre_config_value value = { .origin = place.origin, .source = place.source, .line = place.line, .text = copy };
  vyre_status status = VYRE_OK;
  if (is_list(info->type)) {
    status = take_list(config, info->type, &config->values[key], &value);
  } else if (text[0] != 0) {
    value.is_set = true;
    if (info->type != VYRE_CONFIG_STRING && !read_number(info, text, &value.number)) status = VYRE_ERR_INVALID_CONFIG;
  } else if (info->default_text[0] != 0) {
    status = VYRE_ERR_INVALID_CONFIG; /* it has a default, so it can't be without a value */
  }
  if (status == VYRE_ERR_NO_MEMORY) return vyre_fail_memory(error, place.source);
  if (status != VYRE_OK) return refuse(info, text, &place, error);
  config->values[key] = value;
  return VYRE_OK;
}
