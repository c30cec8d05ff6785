/* vyre conform: the conformance kit, run over one plugin. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <vyre/device.h>

#include "commands.h"
#include "conform/allow.h"
#include "conform/report.h"
#include "conform/run.h"
#include "data.h"
#include "files.h"
#include "output.h"

#define NS_OF_SECOND 1000000000u
#define MOST_PLUGIN_BYTES (1u << 30)

/* All that one run of the kit holds. */
typedef struct conform {
  const parsed_options *o;
  kit_settings settings;
  char *plugin, *name, *oracle; /* texts of the settings */
  allow_list allowed;
  bool *is_wanted; /* by row */
  uint32_t wanted;
  check_result *results; /* of wanted rows, in their order */
  conform_report report;
} conform;

/* ---- Settings -------------------------------------------------------------------------------- */

static int read_number(const parsed_options *o, option_id id, uint64_t most, uint64_t *value) {
  const char *text = options_get(o, id);
  if (!text || (data_parse_count(text, value) && *value <= most)) return OUTPUT_DONE;
  output_complain("conform: --%s %.80s: wants a number from 0 to %" PRIu64 ". Fix: give such a number.",
                  option_rows[id].name, text, most);
  return OUTPUT_USAGE;
}

static int read_numbers(conform *c) {
  uint64_t seconds = 5, seed = 1, device = 0, timeout = 120;
  int result = read_number(c->o, OPT_SECONDS, 1000000, &seconds);
  if (result == OUTPUT_DONE) result = read_number(c->o, OPT_CONFORM_SEED, UINT64_MAX, &seed);
  if (result == OUTPUT_DONE) result = read_number(c->o, OPT_CONFORM_DEVICE, UINT32_MAX, &device);
  if (result == OUTPUT_DONE) result = read_number(c->o, OPT_CONFORM_TIMEOUT, 1000000, &timeout);
  c->settings.seed = seed;
  c->settings.device = (uint32_t)device;
  c->settings.budget_ns = seconds * NS_OF_SECOND;
  c->settings.limit_ns = timeout * NS_OF_SECOND;
  return result;
}

static int no_memory(void) {
  output_complain("memory is exhausted");
  return OUTPUT_FAILED;
}

/* The file as the loader would name it: an absolute path, whose last part is not followed if it is a link. */
static int find_plugin(conform *c, const char *path) {
  char *copy = strdup(path), *again = strdup(path), *directory = copy ? realpath(dirname(copy), NULL) : NULL;
  int result = OUTPUT_DONE;
  if (!copy || !again) {
    result = no_memory();
  } else if (!directory) {
    output_complain_at(path, "%s. Fix: name a plugin, a file vyre_backend_NAME.so.", strerror(errno));
    result = OUTPUT_USAGE;
  } else if (asprintf(&c->plugin, "%s/%s", directory, basename(again)) < 0) {
    c->plugin = NULL;
    result = no_memory();
  }
  free(copy);
  free(again);
  free(directory);
  return result;
}

/* NAME of vyre_backend_NAME.so; "" where the file is called otherwise, which a check finds. */
static int name_plugin(conform *c) {
  const char *file = strrchr(c->plugin, '/') + 1;
  size_t prefix = strlen(VYRE_BACKEND_PREFIX), suffix = strlen(VYRE_BACKEND_SUFFIX), all = strlen(file);
  bool fits = all > prefix + suffix && strncmp(file, VYRE_BACKEND_PREFIX, prefix) == 0 &&
              strcmp(file + all - suffix, VYRE_BACKEND_SUFFIX) == 0;
  c->name = fits ? strndup(file + prefix, all - prefix - suffix) : strdup("");
  return c->name ? OUTPUT_DONE : no_memory();
}

/* The oracle is the one that this installation would use. */
static int find_oracle(conform *c) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_context *context;
  vyre_backend_info info;
  if (vyre_context_create(NULL, NULL, &context, &error) != VYRE_OK) return output_error("conform", &error);
  int result = OUTPUT_DONE;
  if (vyre_backends_find(context, &error) != VYRE_OK) result = output_error("conform", &error);
  for (uint32_t i = 0; result == OUTPUT_DONE && !c->oracle && vyre_backend_describe(context, i, &info); i++)
    if (strcmp(info.name, "cpu_ref") == 0 && info.verdict == VYRE_VERDICT_UNTRIED && !(c->oracle = strdup(info.path)))
      result = no_memory();
  vyre_context_destroy(context);
  if (result != OUTPUT_DONE || c->oracle) return result;
  output_complain("conform: cpu_ref, by which results are judged, is not found. Fix: install it; `vyre backends --all` "
                  "says where it is looked for.");
  return OUTPUT_FAILED;
}

/* The day in Greenwich. */
static void read_day(char day[11]) {
  time_t now = time(NULL);
  struct tm parts;
  if (!gmtime_r(&now, &parts) || strftime(day, 11, "%Y-%m-%d", &parts) == 0) strcpy(day, "1970-01-01");
}

/* Files that will be written can be. */
static int check_outputs(const conform *c) {
  const char *report = options_get(c->o, OPT_CONFORM_REPORT), *certificate = options_get(c->o, OPT_CERTIFICATE);
  if (certificate && options_has(c->o, OPT_ONLY)) {
    output_complain("conform: a certificate is for all checks. Fix: leave out --only, or --certificate.");
    return OUTPUT_USAGE;
  }
  int result = report ? files_check(report) : OUTPUT_DONE;
  return result == OUTPUT_DONE && certificate ? files_check(certificate) : result;
}

static int settle(conform *c) {
  if (c->o->operand_count == 0) {
    output_complain("conform: PLUGIN is missing. Fix: write `vyre conform PLUGIN`, or `vyre conform --list`.");
    return OUTPUT_USAGE;
  }
  const char *list = options_get(c->o, OPT_ALLOW);
  read_day(c->report.day);
  int result = read_numbers(c);
  if (result == OUTPUT_DONE) result = find_plugin(c, c->o->operands[0]);
  if (result == OUTPUT_DONE) result = name_plugin(c);
  if (result == OUTPUT_DONE && list) result = allow_read(list, c->report.day, &c->allowed);
  if (result == OUTPUT_DONE) result = check_outputs(c);
  if (result == OUTPUT_DONE) result = find_oracle(c);
  c->settings.plugin = c->plugin;
  c->settings.name = c->name;
  c->settings.oracle = c->oracle;
  c->settings.config = options_get(c->o, OPT_CONFORM_CONFIG);
  c->settings.report = options_get(c->o, OPT_CONFORM_REPORT);
  return result;
}

/* ---- Which checks ---------------------------------------------------------------------------- */

/* Whether |word| of |bytes| bytes is the id, or its beginning up to a dot. */
static bool is_meant(const char *id, const char *word, size_t bytes) {
  return strncmp(id, word, bytes) == 0 && (id[bytes] == '\0' || id[bytes] == '.');
}

static bool want(conform *c, const char *word, size_t bytes) {
  bool is_any = false;
  for (uint32_t i = 0; i < check_count; i++) {
    if (bytes == 0 || !is_meant(check_rows[i].id, word, bytes)) continue;
    c->is_wanted[i] = is_any = true;
  }
  return is_any;
}

static int choose(conform *c) {
  const char *only = options_get(c->o, OPT_ONLY);
  c->is_wanted = calloc(check_count + 1u, sizeof *c->is_wanted);
  c->results = calloc(check_count + 1u, sizeof *c->results);
  if (!c->is_wanted || !c->results) return no_memory();
  for (uint32_t i = 0; !only && i < check_count; i++) c->is_wanted[i] = true;
  while (only) {
    size_t bytes = strcspn(only, ",");
    if (!want(c, only, bytes)) {
      output_complain("conform: --only: there is no check '%.*s'. Fix: `vyre conform --list` lists them.", (int)bytes,
                      only);
      return OUTPUT_USAGE;
    }
    only = only[bytes] == ',' ? only + bytes + 1 : NULL;
  }
  for (uint32_t i = 0; i < check_count; i++) c->wanted += c->is_wanted[i];
  return OUTPUT_DONE;
}

/* ---- Running --------------------------------------------------------------------------------- */

static int digest_plugin(const conform *c, char digest[CONFORM_DIGEST_BYTES]) {
  uint8_t *bytes;
  size_t count;
  struct stat info;
  if (stat(c->plugin, &info) == 0 && !S_ISREG(info.st_mode)) {
    output_complain_at(c->plugin, "it is no regular file. Fix: name a plugin, a file vyre_backend_NAME.so.");
    return OUTPUT_USAGE;
  }
  int result = files_read(c->plugin, MOST_PLUGIN_BYTES, &bytes, &count);
  if (result != OUTPUT_DONE) return result;
  conform_digest(bytes, count, digest);
  free(bytes);
  return OUTPUT_DONE;
}

/* Each check has loaded the file anew: all have to have had the same one. */
static int check_unchanged(const conform *c) {
  char digest[CONFORM_DIGEST_BYTES];
  int result = digest_plugin(c, digest);
  if (result != OUTPUT_DONE || strcmp(digest, c->report.digest) == 0) return result;
  output_complain("conform: %s was changed while it was checked. Fix: run it again, and leave the file alone.",
                  c->plugin);
  return OUTPUT_FAILED;
}

static void show_progress(const conform *c, const char *id) {
  char text[80];
  snprintf(text, sizeof text, "check %" PRIu32 " of %" PRIu32 ": %s", c->report.count + 1, c->wanted, id);
  output_progress(text);
}

static int run_all(conform *c) {
  bool prints_rows = !options_has(c->o, OPT_JSON);
  c->report.settings = &c->settings;
  c->report.results = c->results;
  c->report.is_whole = c->wanted == check_count;
  c->report.allowed = &c->allowed;
  if (!check_identify(&c->settings, &c->report.identity)) return OUTPUT_FAILED;
  for (uint32_t i = 0; i < check_count; i++) {
    if (!c->is_wanted[i]) continue;
    show_progress(c, check_rows[i].id);
    check_result *result = &c->results[c->report.count];
    if (!check_run(&c->settings, &check_rows[i], result)) return OUTPUT_FAILED;
    c->report.count++;
    output_progress(NULL);
    if (prints_rows) conform_row(&c->report, result);
  }
  return OUTPUT_DONE;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int write_report(const conform *c, const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  json_writer j = {.file = open_memstream(&text, &bytes)};
  if (!j.file) return no_memory();
  conform_json(&j, &c->report);
  bool is_complete = !ferror(j.file);
  is_complete = fclose(j.file) == 0 && is_complete;
  int result = is_complete ? files_write(path, text, bytes) : no_memory();
  free(text);
  return result;
}

static int write_certificate(const conform *c, const char *path) {
  size_t bytes;
  char *text = conform_certificate(&c->report, &bytes);
  int result = text ? files_write(path, text, bytes) : no_memory();
  free(text);
  return result;
}

/* What an earlier run wrote no longer holds. */
static void remove_certificate(const char *path) {
  struct stat info;
  char *target = realpath(path, NULL);
  if (target && stat(target, &info) == 0 && S_ISREG(info.st_mode) && unlink(target) != 0)
    output_complain_at(path, "a certificate of an earlier run can't be removed: %s. Fix: remove it.", strerror(errno));
  free(target);
}

/* Everything is known. */
static int conclude(const conform *c) {
  const char *report = options_get(c->o, OPT_CONFORM_REPORT), *certificate = options_get(c->o, OPT_CERTIFICATE);
  json_writer writer;
  if (options_has(c->o, OPT_JSON))
    conform_json(output_json(&writer), &c->report);
  else
    conform_sum(&c->report);
  int result = report ? write_report(c, report) : OUTPUT_DONE;
  bool conforms = conform_is_met(&c->report);
  if (result == OUTPUT_DONE && certificate && conforms) result = write_certificate(c, certificate);
  if (conforms) return result;
  if (certificate) remove_certificate(certificate);
  output_complain("conform: %s does not conform. Fix: mend what failed; docs/backends.md has each policy (VBP-n).",
                  c->plugin);
  return OUTPUT_FAILED;
}

static void release(conform *c) {
  for (uint32_t i = 0; i < c->report.count; i++) {
    free(c->results[i].text);
    free(c->results[i].note);
  }
  allow_free(&c->allowed);
  free(c->results);
  free(c->is_wanted);
  free(c->plugin);
  free(c->name);
  free(c->oracle);
}

static int list(const parsed_options *o) {
  json_writer writer;
  if (options_has(o, OPT_JSON))
    conform_list_json(output_json(&writer));
  else
    conform_list();
  return OUTPUT_DONE;
}

int cmd_conform(const parsed_options *o) {
  if (options_has(o, OPT_LIST)) return list(o);
  conform c = {.o = o};
  int result = settle(&c);
  if (result == OUTPUT_DONE) result = choose(&c);
  if (result == OUTPUT_DONE) result = digest_plugin(&c, c.report.digest);
  if (result == OUTPUT_DONE) result = run_all(&c);
  if (result == OUTPUT_DONE) result = check_unchanged(&c);
  if (result == OUTPUT_DONE) result = conclude(&c);
  release(&c);
  return result;
}
