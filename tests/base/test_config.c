/* Settings: types, precedence, origins, the search for the file, and hostile files. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/config.h>
#include <vyre/log.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/config.h"
#include "base/suggest.h"

static char directory[64];

/* A directory of its own for each test, and an environment without settings. */
static void set_up(void) {
  strcpy(directory, "/tmp/vyre-config-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(directory));
  for (int key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) unsetenv(vyre_config_describe(key)->environment);
  unsetenv("VYRE_CONFIG");
  unsetenv("VYRE_UPL");
  unsetenv("VYRE_SOMETHING_ELSE");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", directory, 1);
}

static void tear_down(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  ck_assert_int_eq(system(command), 0);
}

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static const char *write_file(const char *name, const char *text, size_t bytes) {
  const char *path = path_of(name);
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(text, 1, bytes, file), bytes);
  ck_assert_int_eq(fclose(file), 0);
  return path;
}

static vyre_config *load(const char *path) {
  vyre_config_options options = { .size = sizeof options, .path = path };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config;
  vyre_status status = vyre_config_load(&options, &config, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", error.where, error.text);
  return config;
}

static vyre_config *load_text(const char *text) { return load(write_file("vyre.ini", text, strlen(text))); }

static vyre_config *load_nothing(void) {
  vyre_config_options options = { .size = sizeof options, .no_file = true, .no_environment = true };
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_OK);
  return config;
}

static vyre_config_value get(const vyre_config *config, vyre_config_key key) {
  vyre_config_value value;
  vyre_config_get(config, key, &value);
  return value;
}

/* Loading |bytes| of |text| fails so, at |line|, with |part| in the message and a fix. */
static void check_refused_bytes(const char *text, size_t bytes, vyre_status wanted, int line, const char *part) {
  const char *path = write_file("bad.ini", text, bytes);
  vyre_config_options options = { .size = sizeof options, .path = path };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config = (vyre_config *)&options;
  vyre_status status = vyre_config_load(&options, &config, &error);
  ck_assert_msg(status == wanted, "%d: %s", status, error.text);
  ck_assert_ptr_null(config);
  char where[300];
  snprintf(where, sizeof where, line > 0 ? "%s:%d" : "%s", path, line);
  ck_assert_str_eq(error.where, where);
  ck_assert_msg(strstr(error.text, part) != NULL, "%s", error.text);
  ck_assert_msg(strstr(error.text, "Fix: ") != NULL, "%s", error.text);
}

static void check_refused(const char *text, vyre_status wanted, int line, const char *part) {
  check_refused_bytes(text, strlen(text), wanted, line, part);
}

static void check_warning(const char *text, int line, const char *part) {
  vyre_config *config = load_text(text);
  char where[300];
  snprintf(where, sizeof where, "%s:%d: ", vyre_config_file(config), line);
  const char *warning = vyre_config_warning(config, 0);
  ck_assert_ptr_nonnull(warning);
  ck_assert_msg(strncmp(warning, where, strlen(where)) == 0, "%s", warning);
  ck_assert_msg(strstr(warning, part) != NULL, "%s", warning);
  ck_assert_ptr_nonnull(strstr(warning, "Fix: "));
  ck_assert_ptr_null(vyre_config_warning(config, 1));
  vyre_config_destroy(config);
}

START_TEST(table_is_sound) {
  for (int key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const vyre_config_key_info *info = vyre_config_describe(key);
    char name[128];
    snprintf(name, sizeof name, "%s.%s", info->section, info->name);
    vyre_config_key found;
    ck_assert(vyre_config_find(name, &found));
    ck_assert_int_eq(found, key);
    ck_assert_int_eq(strncmp(info->environment, "VYRE_", 5), 0);
    ck_assert_uint_gt(strlen(info->help), 10);
    ck_assert_uint_gt(strlen(info->since), 0);
    for (int other = 0; other < key; other++)
      ck_assert_str_ne(info->environment, vyre_config_describe(other)->environment);
  }
  vyre_config_key none;
  ck_assert(!vyre_config_find("run", &none));
  ck_assert(!vyre_config_find("run.", &none));
  ck_assert(!vyre_config_find("run.ulps", &none));
  ck_assert(!vyre_config_find("", &none));
  ck_assert_ptr_null(vyre_config_describe(VYRE_CONFIG_KEY_COUNT));
  ck_assert_ptr_null(vyre_config_describe((vyre_config_key)-1));
}
END_TEST

START_TEST(defaults_come_from_the_table) {
  vyre_config *config = load_nothing();
  ck_assert_str_eq(vyre_config_file(config), "");
  ck_assert_ptr_null(vyre_config_warning(config, 0));
  for (int key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    vyre_config_value value = get(config, key);
    ck_assert_int_eq(value.origin, VYRE_CONFIG_FROM_DEFAULT);
    ck_assert_str_eq(value.text, vyre_config_describe(key)->default_text);
    ck_assert_int_eq(value.is_set, value.text[0] != 0);
    ck_assert_str_eq(value.source, "");
    ck_assert_uint_eq(value.line, 0);
  }
  ck_assert_uint_eq(get(config, VYRE_CONFIG_LOG_LEVEL).number, VYRE_LOG_WARNING);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_CPU_REF_MEMORY_LIMIT).number, (uint64_t)8 << 30);
  vyre_config_destroy(config);
  vyre_config_destroy(NULL);
}
END_TEST

START_TEST(file_environment_and_call_win_in_this_order) {
  const char *text = "# a comment\n[run]\nulp = 4\n; another\n[cpu_ref]\nsubgroup_size = 8\n";
  vyre_config *config = load_text(text);
  vyre_config_value value = get(config, VYRE_CONFIG_RUN_ULP);
  ck_assert(value.is_set);
  ck_assert_uint_eq(value.number, 4);
  ck_assert_int_eq(value.origin, VYRE_CONFIG_FROM_FILE);
  ck_assert_str_eq(value.source, vyre_config_file(config));
  ck_assert_uint_eq(value.line, 3);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE).number, 8);
  vyre_config_destroy(config);

  setenv("VYRE_ULP", "5", 1);
  config = load_text(text);
  value = get(config, VYRE_CONFIG_RUN_ULP);
  ck_assert_uint_eq(value.number, 5);
  ck_assert_int_eq(value.origin, VYRE_CONFIG_FROM_ENVIRONMENT);
  ck_assert_str_eq(value.source, "VYRE_ULP");
  ck_assert_int_eq(get(config, VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE).origin, VYRE_CONFIG_FROM_FILE);

  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_RUN_ULP, "0", "--ulp", NULL), VYRE_OK);
  value = get(config, VYRE_CONFIG_RUN_ULP);
  ck_assert(value.is_set);
  ck_assert_uint_eq(value.number, 0);
  ck_assert_int_eq(value.origin, VYRE_CONFIG_FROM_CALL);
  ck_assert_str_eq(value.source, "--ulp");
  vyre_config_destroy(config);
}
END_TEST

START_TEST(options_keep_sources_out) {
  setenv("VYRE_ULP", "5", 1);
  const char *path = write_file("vyre.ini", "[run]\nsteps = 9\n", 16);
  vyre_config_options options = { .size = sizeof options, .path = path, .no_environment = true };
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_OK);
  ck_assert(!get(config, VYRE_CONFIG_RUN_ULP).is_set);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 9);
  vyre_config_destroy(config);
  options.no_environment = false;
  options.no_file = true;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_OK);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_ULP).number, 5);
  ck_assert(!get(config, VYRE_CONFIG_RUN_STEPS).is_set);
  vyre_config_destroy(config);
  options.size = 4;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_ERR_INVALID_ARGUMENT);
}
END_TEST

/* Every text that a type takes and some that it refuses; UINT64_MAX - 1 stands for refused. */
#define REFUSED (UINT64_MAX - 1)
static const struct {
  vyre_config_key key;
  const char *text;
  uint64_t number;
} numbers[] = {
  { VYRE_CONFIG_RUN_ULP, "0", 0 },
  { VYRE_CONFIG_RUN_ULP, "4294967294", 4294967294u },
  { VYRE_CONFIG_RUN_ULP, "0xFF", 255 },
  { VYRE_CONFIG_RUN_ULP, "007", 7 },
  { VYRE_CONFIG_RUN_ULP, "4294967295", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "-1", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "+1", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "1 2", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "1.0", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "0x", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "four", REFUSED },
  { VYRE_CONFIG_RUN_ULP, "18446744073709551616", REFUSED },
  { VYRE_CONFIG_RUN_STEPS, "18446744073709551615", UINT64_MAX },
  { VYRE_CONFIG_RUN_STEPS, "0", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "10", 10000000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "1.5", 1500000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "1.5 s", 1500000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "0.000000001", 1 },
  { VYRE_CONFIG_RUN_TIMEOUT, "500ms", 500000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "7us", 7000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "7ns", 7 },
  { VYRE_CONFIG_RUN_TIMEOUT, "2 min", 120000000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "1.25h", 4500000000000 },
  { VYRE_CONFIG_RUN_TIMEOUT, "0", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "1.", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, ".5", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "1.0000000000", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "1 day", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "-1", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "inf", REFUSED },
  { VYRE_CONFIG_RUN_TIMEOUT, "9999999999h", REFUSED },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "1048576", 1048576 },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "1MiB", 1048576 },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "1.5 GiB", 1610612736 },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "2 TiB", (uint64_t)2 << 40 },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "1048575", REFUSED },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "8 GB", REFUSED },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "99999999999 TiB", REFUSED },
  { VYRE_CONFIG_CPU_REF_MEMORY_LIMIT, "", REFUSED },
  { VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE, "1", 1 },
  { VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE, "32", 32 },
  { VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE, "0", REFUSED },
  { VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE, "24", REFUSED },
  { VYRE_CONFIG_CPU_REF_SUBGROUP_SIZE, "64", REFUSED },
  { VYRE_CONFIG_CPU_REF_LANE_ORDER, "forward", 0 },
  { VYRE_CONFIG_CPU_REF_LANE_ORDER, "reversed", 1 },
  { VYRE_CONFIG_CPU_REF_LANE_ORDER, "reverse", REFUSED },
  { VYRE_CONFIG_CPU_REF_LANE_ORDER, "forward|reversed", REFUSED },
  { VYRE_CONFIG_LOG_LEVEL, "off", VYRE_LOG_OFF },
  { VYRE_CONFIG_LOG_LEVEL, "error", VYRE_LOG_ERROR },
  { VYRE_CONFIG_LOG_LEVEL, "trace", VYRE_LOG_TRACE },
  { VYRE_CONFIG_LOG_LEVEL, "Error", REFUSED },
};

START_TEST(numbers_are_read_exactly) {
  vyre_config *config = load_nothing();
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_config_value before = get(config, numbers[i].key);
    vyre_status status = vyre_config_set(config, numbers[i].key, numbers[i].text, "--x", &error);
    vyre_config_value after = get(config, numbers[i].key);
    if (numbers[i].number != REFUSED) {
      ck_assert_msg(status == VYRE_OK, "%s: %s", numbers[i].text, error.text);
      ck_assert_uint_eq(after.number, numbers[i].number);
      ck_assert(after.is_set);
      ck_assert_str_eq(after.text, numbers[i].text);
    } else {
      ck_assert_msg(status == VYRE_ERR_INVALID_CONFIG, "%s", numbers[i].text);
      ck_assert_str_eq(error.where, "--x");
      ck_assert_ptr_nonnull(strstr(error.text, vyre_config_describe(numbers[i].key)->name));
      ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
      ck_assert_mem_eq(&before, &after, sizeof before);
    }
  }
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_KEY_COUNT, "1", NULL, NULL), VYRE_ERR_INVALID_ARGUMENT);
  vyre_config_destroy(config);
}
END_TEST

START_TEST(lists_are_split_and_joined) {
  vyre_config *config = load_text("[backends]\norder = alpha ,, beta-2,cpu_ref ,\npath = /a:/b c : \npath=/d\n");
  ck_assert_ptr_null(vyre_config_warning(config, 0));
  vyre_config_value order = get(config, VYRE_CONFIG_BACKENDS_ORDER), path = get(config, VYRE_CONFIG_BACKENDS_PATH);
  ck_assert_uint_eq(order.count, 3);
  ck_assert_str_eq(order.list[0], "alpha");
  ck_assert_str_eq(order.list[1], "beta-2");
  ck_assert_str_eq(order.list[2], "cpu_ref");
  ck_assert_uint_eq(path.count, 3);
  ck_assert_str_eq(path.list[0], "/a");
  ck_assert_str_eq(path.list[1], "/b c");
  ck_assert_str_eq(path.list[2], "/d");
  vyre_config_destroy(config);
}
END_TEST

START_TEST(plus_stands_before_the_next_source) {
  setenv("VYRE_BACKEND_PATH", "+/env", 1);
  vyre_config *config = load_text("[backends]\npath = /file\n");
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, "+/call", "--backend-path", NULL), VYRE_OK);
  vyre_config_value path = get(config, VYRE_CONFIG_BACKENDS_PATH);
  ck_assert_uint_eq(path.count, 3);
  ck_assert_str_eq(path.list[0], "/call");
  ck_assert_str_eq(path.list[1], "/env");
  ck_assert_str_eq(path.list[2], "/file");
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, "/only", NULL, NULL), VYRE_OK);
  path = get(config, VYRE_CONFIG_BACKENDS_PATH);
  ck_assert_uint_eq(path.count, 1);
  ck_assert_str_eq(path.source, "the call");
  vyre_config_destroy(config);
}
END_TEST

START_TEST(lists_are_checked) {
  vyre_config *config = load_nothing();
  static const char *const bad_paths[] = { "relative", "/a:.", "./x", "~/x" };
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, bad_paths[i], NULL, NULL),
                     VYRE_ERR_INVALID_CONFIG);
  static const char *const bad_names[] = { "a b", "a,/b", "a,^b", "^", "a;b" };
  for (int i = 0; i < 5; i++)
    ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ENABLE, bad_names[i], NULL, NULL),
                     VYRE_ERR_INVALID_CONFIG);
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ENABLE, "^a,b", NULL, NULL), VYRE_OK);
  ck_assert_str_eq(get(config, VYRE_CONFIG_BACKENDS_ENABLE).list[0], "^a");
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ENABLE, "", NULL, NULL), VYRE_OK);
  ck_assert(!get(config, VYRE_CONFIG_BACKENDS_ENABLE).is_set);
  vyre_config_destroy(config);
}
END_TEST

START_TEST(empty_values_unset_what_can_be_unset) {
  setenv("VYRE_ULP", "", 1); /* an empty variable is none */
  vyre_config *config = load_text("[run]\nulp = 3\ntimeout =\n");
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_ULP).number, 3);
  vyre_config_value timeout = get(config, VYRE_CONFIG_RUN_TIMEOUT);
  ck_assert(!timeout.is_set);
  ck_assert_int_eq(timeout.origin, VYRE_CONFIG_FROM_FILE);
  vyre_config_destroy(config);
  check_refused("[log]\nlevel =\n", VYRE_ERR_INVALID_CONFIG, 2, "[log] level takes one of");
}
END_TEST

START_TEST(bad_values_name_file_line_key_and_what_was_wanted) {
  check_refused("[run]\n\nulp = many\n", VYRE_ERR_INVALID_CONFIG, 3,
                "[run] ulp takes an integer from 0 to 4294967294, not `many`.");
  check_refused("[run]\nulp = 1\n[log]\nlevel = loud ; a comment\n", VYRE_ERR_INVALID_CONFIG, 4, "not `loud`");
  setenv("VYRE_STEPS", "x\x1b[0m", 1);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(NULL, &config, &error), VYRE_ERR_INVALID_CONFIG);
  ck_assert_str_eq(error.where, "VYRE_STEPS");
  ck_assert_ptr_nonnull(strstr(error.text, "not `x\\x1B[0m`. Fix: correct the environment variable VYRE_STEPS"));
}
END_TEST

START_TEST(unknown_names_are_warned_of_with_a_suggestion) {
  check_warning("[rnu]\nulp = 1\n", 2, "there is no section [rnu]. Fix: did you mean [run]?");
  check_warning("[nonsense]\nx = 1\n", 2, "there is no section [nonsense]. Fix: remove it");
  check_warning("[run]\nulps = 1\n", 2, "[run] has no key `ulps`. Fix: did you mean `ulp`?");
  check_warning("[run]\nlevel = debug\n", 2, "[run] has no key `level`. Fix: move it into [log] or [optimizer].");
  check_warning("[run]\ndirectory = /x\n", 2, "Fix: move it into [cache].");
  check_warning("ulp = 1\n", 1, "`ulp` stands below no section. Fix: put it below [run].");
  check_warning("[]\nlog = 1\n", 2, "`log` stands below no section. Fix: put it below the section that it belongs to.");
  check_warning("= 1\n", 1, "there is no key before the value. Fix: write `key = value`");
  check_warning("[run]\n =\n", 2, "there is no key before the value. Fix: write `key = value`");
  check_warning("[run]\n : 1\n", 2, "there is no key before the value. Fix: write `key = value`");
  check_warning("[run]\nfrobnicate = 1\n", 2, "has no key `frobnicate`. Fix: remove it");
}
END_TEST

START_TEST(repeated_keys_are_warned_of_and_the_last_counts) {
  check_warning("[run]\nulp = 1\n[log]\n[run]\nulp = 2\n", 5, "[run] ulp was given in line 2 already; this line counts.");
  vyre_config *config = load_text("[run]\nulp = 1\nulp = 2\n");
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_ULP).number, 2);
  vyre_config_destroy(config);
}
END_TEST

START_TEST(warnings_have_a_limit) {
  char text[8000] = "[run]\n";
  for (int i = 0; i < 100; i++) sprintf(text + strlen(text), "unknown_%d = 1\n", i);
  vyre_config *config = load_text(text);
  ck_assert_ptr_nonnull(strstr(vyre_config_warning(config, 20), "more warnings"));
  ck_assert_ptr_null(vyre_config_warning(config, 21));
  vyre_config_destroy(config);
}
END_TEST

START_TEST(misspelled_variables_are_warned_of) {
  setenv("VYRE_UPL", "1", 1);
  setenv("VYRE_SOMETHING_ELSE", "1", 1);
  vyre_config *config = load_text("");
  ck_assert_str_eq(vyre_config_warning(config, 0),
                   "The environment variable VYRE_UPL means nothing. Fix: did you mean VYRE_ULP?");
  ck_assert_ptr_null(vyre_config_warning(config, 1));
  vyre_config_destroy(config);
}
END_TEST

START_TEST(sections_of_plugins_are_kept_as_they_are) {
  vyre_config *config = load_text("[backend mine]\nsize = 8 MiB\nempty =\n[run]\nulp = 1\n[backend mine]\nodd key = x = y\n"
                                  "[backend  other]\nsize = 1\n");
  ck_assert_ptr_null(vyre_config_warning(config, 0));
  ck_assert_str_eq(vyre_config_backend_get(config, "mine", "size"), "8 MiB");
  ck_assert_str_eq(vyre_config_backend_get(config, "mine", "odd key"), "x = y");
  ck_assert_str_eq(vyre_config_backend_get(config, "other", "size"), "1");
  ck_assert_ptr_null(vyre_config_backend_get(config, "mine", "empty"));
  ck_assert_ptr_null(vyre_config_backend_get(config, "mine", "siz"));
  ck_assert_ptr_null(vyre_config_backend_get(config, "min", "size"));
  vyre_config_destroy(config);
  check_warning("[backend mine]\na = 1\n\na = 2\n", 4, "[backend mine] a was given in line 2 already");
  check_warning("[backend cpu_ref]\nlane_order = reversed\n", 2, "Fix: move `lane_order` into [cpu_ref].");
  check_warning("[backend mine]\n= 1\n", 2, "there is no key before the value");
  check_warning("[mine]\na = 1\n", 2, "there is no section [mine]. Fix: remove it, or write [backend mine]");
  static const char *const no_names[] = { "backend", "backend ", "backend Mine", "backend 1", "backend a b", "backends a",
                                          "backend abcdefghijklmnopqrstuvwxyz0123456" };
  for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++) {
    char text[128];
    snprintf(text, sizeof text, "[%s]\na = 1\n", no_names[i]);
    check_warning(text, 2, "there is no section [");
  }
  char *text = malloc(VYRE_CONFIG_MAX_FILE_BYTES);
  size_t used = (size_t)sprintf(text, "[backend mine]\n");
  for (int i = 0; i < VYRE_CONFIG_MAX_BACKEND_KEYS; i++) used += (size_t)sprintf(text + used, "key%d = %d\n", i, i);
  config = load_text(text);
  ck_assert_str_eq(vyre_config_backend_get(config, "mine", "key255"), "255");
  vyre_config_destroy(config);
  sprintf(text + used, "one = more\n");
  check_refused(text, VYRE_ERR_LIMIT, VYRE_CONFIG_MAX_BACKEND_KEYS + 2, "more than 256 keys");
  free(text);
}
END_TEST

START_TEST(variables_of_plugins_win_over_the_file) {
  setenv("VYRE_BACKEND_MINE_SIZE", "from the environment", 1);
  setenv("VYRE_BACKEND_MINE_EMPTY", "", 1);
  setenv("VYRE_BACKEND_MY_OWN_KEY_2", "2", 1);
  vyre_config *config = load_text("[backend mine]\nsize = 1\nempty = 2\n");
  ck_assert_ptr_null(vyre_config_warning(config, 0));
  ck_assert_str_eq(vyre_config_backend_get(config, "mine", "size"), "from the environment");
  ck_assert_str_eq(vyre_config_backend_get(config, "mine", "empty"), "2");
  ck_assert_str_eq(vyre_config_backend_get(config, "my_own", "key_2"), "2");
  ck_assert_ptr_null(vyre_config_backend_get(config, "mine", "siz"));
  ck_assert_ptr_null(vyre_config_backend_get(config, "my", "own"));
  vyre_config_destroy(config);
  vyre_config_options options = { .size = sizeof options, .no_environment = true, .no_file = true };
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_OK);
  ck_assert_ptr_null(vyre_config_backend_get(config, "mine", "size"));
  vyre_config_destroy(config);
  unsetenv("VYRE_BACKEND_MINE_SIZE");
  unsetenv("VYRE_BACKEND_MINE_EMPTY");
  unsetenv("VYRE_BACKEND_MY_OWN_KEY_2");
}
END_TEST

START_TEST(file_is_searched_in_order) {
  vyre_config *config = load(NULL);
  ck_assert(!get(config, VYRE_CONFIG_RUN_STEPS).is_set);
  vyre_config_destroy(config);

  ck_assert_int_eq(mkdir(path_of(".config"), 0700), 0);
  ck_assert_int_eq(mkdir(path_of(".config/vyre"), 0700), 0);
  write_file(".config/vyre/vyre.ini", "[run]\nsteps=1\n", 14);
  config = load(NULL);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 1);
  ck_assert_str_eq(vyre_config_file(config), path_of(".config/vyre/vyre.ini"));
  vyre_config_destroy(config);

  ck_assert_int_eq(mkdir(path_of("vyre"), 0700), 0);
  write_file("vyre/vyre.ini", "[run]\nsteps=2\n", 14);
  setenv("XDG_CONFIG_HOME", directory, 1);
  config = load(NULL);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 2);
  vyre_config_destroy(config);

  setenv("VYRE_CONFIG", write_file("named.ini", "[run]\nsteps=3\n", 14), 1);
  config = load(NULL);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 3);
  vyre_config_destroy(config);

  config = load(write_file("call.ini", "[run]\nsteps=4\n", 14));
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 4);
  vyre_config_destroy(config);

  setenv("VYRE_CONFIG", "", 1);
  config = load(NULL);
  ck_assert_str_eq(vyre_config_file(config), "");
  vyre_config_destroy(config);
}
END_TEST

START_TEST(named_file_must_be_there) {
  setenv("VYRE_CONFIG", path_of("nowhere.ini"), 1);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(NULL, &config, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_str_eq(error.where, path_of("nowhere.ini"));
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
}
END_TEST

START_TEST(only_regular_files_are_read) {
  vyre_config_options options = { .size = sizeof options };
  vyre_config *config;
  options.path = directory;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_ERR_INVALID_FILE);
  options.path = "/dev/zero";
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_ERR_INVALID_FILE);
  ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
  options.path = path_of("fifo");
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_ERR_INVALID_FILE);
}
END_TEST

/* In a process of its own, which gives up the right of root to read everything. */
static int read_unreadable(void) {
  if (geteuid() == 0 && (chown(directory, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)) return 1;
  if (mkdir(path_of("vyre"), 0700) != 0 || chmod(write_file("vyre/vyre.ini", "[run]\n", 6), 0) != 0) return 2;
  vyre_config_options options = { .size = sizeof options, .path = path_of("vyre/vyre.ini") };
  vyre_config *config;
  if (vyre_config_load(&options, &config, NULL) != VYRE_ERR_DENIED) return 3;
  setenv("XDG_CONFIG_HOME", directory, 1);
  if (vyre_config_load(NULL, &config, NULL) != VYRE_OK) return 4;
  const char *warning = vyre_config_warning(config, 0);
  int result = warning != NULL && strstr(warning, "vyre/vyre.ini is passed over") != NULL ? 0 : 5;
  vyre_config_destroy(config);
  return result;
}

START_TEST(unreadable_files_are_refused_or_passed_over) {
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) _exit(read_unreadable());
  int state;
  ck_assert_int_eq(waitpid(child, &state, 0), child);
  ck_assert(WIFEXITED(state));
  ck_assert_int_eq(WEXITSTATUS(state), 0);
}
END_TEST

START_TEST(large_files_are_refused_unread) {
  const char *path = write_file("bad.ini", "#", 1);
  ck_assert_int_eq(truncate(path, VYRE_CONFIG_MAX_FILE_BYTES + 1), 0);
  vyre_config_options options = { .size = sizeof options, .path = path };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(&options, &config, &error), VYRE_ERR_LIMIT);
  ck_assert_int_eq(truncate(path, (off_t)64 << 20), 0);
  ck_assert_int_eq(vyre_config_load(&options, &config, &error), VYRE_ERR_LIMIT);
  char *text = malloc(VYRE_CONFIG_MAX_FILE_BYTES);
  memset(text, '\n', VYRE_CONFIG_MAX_FILE_BYTES);
  config = load(write_file("good.ini", text, VYRE_CONFIG_MAX_FILE_BYTES));
  vyre_config_destroy(config);
  free(text);
}
END_TEST

START_TEST(line_ends_and_marks_of_other_systems_are_taken) {
  vyre_config *config = load_text("\xEF\xBB\xBF[run]\r\n\tulp = 3\r\n   steps = 4\r\n");
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_ULP).number, 3);
  ck_assert_str_eq(get(config, VYRE_CONFIG_RUN_ULP).text, "3");
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).number, 4);
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_STEPS).line, 3);
  ck_assert_ptr_null(vyre_config_warning(config, 0));
  vyre_config_destroy(config);
}
END_TEST

START_TEST(bytes_that_no_text_has_are_refused) {
  check_refused_bytes("[run]\nulp = 1\0\n", 15, VYRE_ERR_INVALID_CONFIG, 2, "byte 13 is 0x00");
  check_refused_bytes("\0", 1, VYRE_ERR_INVALID_CONFIG, 1, "byte 0 is 0x00");
  check_refused("[run]\n# \xff\n", VYRE_ERR_INVALID_CONFIG, 2, "0xFF");
  check_refused("[run]\n# \x1b\n", VYRE_ERR_INVALID_CONFIG, 2, "0x1B");
  check_refused("[run]\rulp = 1\n", VYRE_ERR_INVALID_CONFIG, 1, "0x0D");
}
END_TEST

START_TEST(long_lines_are_refused_and_never_cut) {
  char text[600] = "[backends]\npath = /";
  size_t start = strlen(text) - strlen("path = /");
  memset(text + strlen(text), 'a', 300);
  text[start + 198] = '\n';
  text[start + 199] = 0;
  vyre_config *config = load_text(text);
  ck_assert_uint_eq(strlen(get(config, VYRE_CONFIG_BACKENDS_PATH).list[0]), 198 - strlen("path = "));
  vyre_config_destroy(config);
  text[start + 198] = 'a';
  text[start + 199] = '\n';
  text[start + 200] = 0;
  check_refused(text, VYRE_ERR_LIMIT, 2, "has 199 bytes, and at most 198 can be read");
  text[start + 199] = 0; /* the same without a line end */
  check_refused(text, VYRE_ERR_LIMIT, 2, "has 199 bytes");
  memset(text, '#', 599);
  config = load_text(text); /* comments may be long */
  vyre_config_destroy(config);
}
END_TEST

START_TEST(lines_that_are_nothing_are_refused) {
  check_refused("[run]\nulp\n", VYRE_ERR_INVALID_CONFIG, 2, "neither");
  check_refused("[run\nulp = 1\n", VYRE_ERR_INVALID_CONFIG, 1, "neither");
  check_refused("[run] ulp = 1\n", VYRE_ERR_INVALID_CONFIG, 1, "follows a section's name");
  check_refused("what\n[run]\nulp = many\n", VYRE_ERR_INVALID_CONFIG, 1, "neither");
  check_refused("[run]\nulp = many\nwhat\n", VYRE_ERR_INVALID_CONFIG, 2, "many");
  vyre_config *config = load_text("[run] ; a comment\nulp = 1");
  ck_assert_uint_eq(get(config, VYRE_CONFIG_RUN_ULP).number, 1);
  vyre_config_destroy(config);
}
END_TEST

START_TEST(without_memory_nothing_is_loaded_and_nothing_leaks) {
  const char *text = "[run]\nulp = 1\nulp = 2\nfoo = 3\n[backends]\npath = /a\npath = /b:/c\n[bar]\nx = 1\n[backend b]\nx = 1\nx = 2\n";
  write_file("vyre.ini", text, strlen(text));
  setenv("VYRE_BACKEND_PATH", "+/d", 1);
  setenv("VYRE_UPL", "1", 1);
  setenv("VYRE_BACKEND_B_Y", "1", 1);
  for (uint64_t n = 1;; n++) {
    vyre_config_options options = { .size = sizeof options, .path = path_of("vyre.ini") };
    vyre_config *config;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_config_load(&options, &config, NULL);
    if (status == VYRE_OK) status = vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, "+/e", "--x", NULL);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    vyre_config_destroy(config);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
  unsetenv("VYRE_BACKEND_B_Y");
}
END_TEST

START_TEST(without_memory_the_search_fails_too) {
  setenv("XDG_CONFIG_HOME", directory, 1);
  for (uint64_t n = 1;; n++) {
    vyre_config *config;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_config_load(NULL, &config, NULL);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    vyre_config_destroy(config);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

/* A program with more rights than its user: this one, set-user-ID to another user. */
START_TEST(privileged_process_ignores_the_environment) {
  const char *source = getenv("VYRE_TEST_SELF");
  if (geteuid() != 0 || source == NULL) return;
  char command[512], text[1024];
  snprintf(command, sizeof command, "cp '%s' '%s/probe' && chown 65534 '%s/probe' && chmod 4755 '%s/probe' && "
           "chmod 755 '%s' && env VYRE_SOMETHING=1 VYRE_ULP=7 '%s/probe' --probe", source, directory, directory, directory, directory,
           directory);
  FILE *out = popen(command, "r");
  size_t got = fread(text, 1, sizeof text - 1, out);
  text[got] = 0;
  int state = pclose(out);
  if (strcmp(text, "not privileged\n") == 0) return; /* the file system ignores set-user-ID */
  ck_assert_int_eq(state, 0);
  ck_assert_ptr_nonnull(strstr(text, "ulp unset\nThe environment is ignored (VYRE_ULP among others)"));
}
END_TEST

START_TEST(suggestions_are_near) {
  static const struct {
    const char *word, *candidate, *best;
  } cases[] = {
    { "levle", "level", "level" }, { "lvl", "level", NULL },   { "level", "level", "level" }, { "", "a", NULL },
    { "abcdefgh", "abcdxfgy", "abcdxfgy" }, { "x", "y", NULL }, { "paths", "path", "path" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_suggestion s = vyre_suggest(cases[i].word);
    vyre_suggest_offer(&s, cases[i].candidate);
    if (cases[i].best == NULL) ck_assert_ptr_null(s.best);
    else ck_assert_pstr_eq(s.best, cases[i].best);
  }
  vyre_suggestion s = vyre_suggest("orders");
  vyre_suggest_offer(&s, "odder");
  vyre_suggest_offer(&s, "order");
  vyre_suggest_offer(&s, "ordert");
  ck_assert_str_eq(s.best, "order");
  char longest[200];
  memset(longest, 'a', sizeof longest);
  longest[199] = 0;
  vyre_suggest_offer(&s, longest);
  ck_assert_str_eq(s.best, "order");
}
END_TEST

/* What the set-user-ID copy of this program says. */
static int probe(void) {
  vyre_config *config;
  if (getuid() == geteuid()) return puts("not privileged"), 0;
  if (vyre_config_load(NULL, &config, NULL) != VYRE_OK) return 1;
  vyre_config_value ulp = get(config, VYRE_CONFIG_RUN_ULP);
  const char *warning = vyre_config_warning(config, 0);
  printf("ulp %s\n%s\n", ulp.is_set ? ulp.text : "unset", warning != NULL ? warning : "no warning");
  vyre_config_destroy(config);
  fflush(stdout);
  _exit(0); /* a leak checker can't look into a privileged process */
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--probe") == 0) return probe();
  char self[4096];
  ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
  if (bytes > 0) {
    self[bytes] = 0;
    setenv("VYRE_TEST_SELF", self, 1);
  }
  static const TTest *const *const tests[] = {
    &table_is_sound, &defaults_come_from_the_table, &file_environment_and_call_win_in_this_order,
    &options_keep_sources_out, &numbers_are_read_exactly, &lists_are_split_and_joined,
    &plus_stands_before_the_next_source, &lists_are_checked, &empty_values_unset_what_can_be_unset,
    &bad_values_name_file_line_key_and_what_was_wanted, &unknown_names_are_warned_of_with_a_suggestion,
    &repeated_keys_are_warned_of_and_the_last_counts, &warnings_have_a_limit, &misspelled_variables_are_warned_of,
    &sections_of_plugins_are_kept_as_they_are, &variables_of_plugins_win_over_the_file,
    &file_is_searched_in_order, &named_file_must_be_there, &only_regular_files_are_read,
    &unreadable_files_are_refused_or_passed_over, &large_files_are_refused_unread,
    &line_ends_and_marks_of_other_systems_are_taken, &bytes_that_no_text_has_are_refused,
    &long_lines_are_refused_and_never_cut, &lines_that_are_nothing_are_refused,
    &without_memory_nothing_is_loaded_and_nothing_leaks, &without_memory_the_search_fails_too,
    &privileged_process_ignores_the_environment,
    &suggestions_are_near,
  };
  Suite *suite = suite_create("config");
  TCase *all = tcase_create("all");
  tcase_add_checked_fixture(all, set_up, tear_down);
  suite_add_tcase(suite, all);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(all, *tests[i]);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
