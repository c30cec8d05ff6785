/* vyre conform: the conformance kit, run over one plugin. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/device.h>

#include "commands.h"
#include "conform/run.h"
#include "data.h"
#include "files.h"
#include "output.h"

#define NS_OF_SECOND 1000000000u

/* All that one run of the kit holds. */
typedef struct conform {
  const parsed_options *o;
  kit_settings settings;
  char *plugin, *name, *oracle; /* texts of the settings */
  bool *is_wanted;              /* by row */
  check_result *results;        /* of wanted rows, in their order */
  uint32_t count;
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

static int settle(conform *c) {
  if (c->o->operand_count == 0) {
    output_complain("conform: PLUGIN is missing. Fix: write `vyre conform PLUGIN`, or `vyre conform --list`.");
    return OUTPUT_USAGE;
  }
  int result = read_numbers(c);
  if (result == OUTPUT_DONE) result = find_plugin(c, c->o->operands[0]);
  if (result == OUTPUT_DONE) result = name_plugin(c);
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
  return OUTPUT_DONE;
}

/* ---- Running --------------------------------------------------------------------------------- */

static int run_all(conform *c) {
  int result = OUTPUT_DONE;
  for (uint32_t i = 0; i < check_count && result == OUTPUT_DONE; i++) {
    if (!c->is_wanted[i]) continue;
    output_progress(check_rows[i].id);
    if (!check_run(&c->settings, &check_rows[i], &c->results[c->count++])) result = OUTPUT_FAILED;
  }
  output_progress(NULL);
  return result;
}

static void release(conform *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    free(c->results[i].text);
    free(c->results[i].note);
  }
  free(c->results);
  free(c->is_wanted);
  free(c->plugin);
  free(c->name);
  free(c->oracle);
}

int cmd_conform(const parsed_options *o) {
  conform c = {.o = o};
  int result = settle(&c);
  if (result == OUTPUT_DONE) result = choose(&c);
  if (result == OUTPUT_DONE) result = run_all(&c);
  for (uint32_t i = 0; i < c.count; i++)
    printf("%-8s %-32s %s\n", check_verdict_name(c.results[i].verdict), c.results[i].row->id, c.results[i].text);
  release(&c);
  return result;
}
