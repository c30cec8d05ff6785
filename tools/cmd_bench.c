/* vyre bench: measures vyre beside its peers, and compares results. What measures is bench/harness; here is the command
 * line, and where results go. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/device.h>

#include "commands.h"
#include "data.h"
#include "files.h"
#include "harness/compare.h"
#include "harness/gates.h"
#include "harness/html.h"
#include "harness/record_json.h"
#include "harness/render.h"
#include "harness/run.h"
#include "harness/table.h"
#include "harness/targets.h"
#include "output.h"
#include "session.h"

#define MOST_SAMPLES 100000u

/* ---- Options ------------------------------------------------------------------------------------- */

static int read_number(const parsed_options *o, option_id id, uint64_t least, uint64_t most, uint64_t *value) {
  const char *text = options_get(o, id);
  if (!text || (data_parse_count(text, value) && *value >= least && *value <= most)) return OUTPUT_DONE;
  output_complain("bench: --%s %.80s: wants a number from %" PRIu64 " to %" PRIu64 ". Fix: give such a number.",
                  option_rows[id].name, text, least, most);
  return OUTPUT_USAGE;
}

/* A directory of peers beside the command, as it was installed or moved; NULL if there is none. */
static const char *installed_peers(char path[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length <= 0) return NULL;
  path[length] = '\0';
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(path, '/');
    if (!slash) return NULL;
    *slash = '\0';
  }
  static const char places[] = "/libexec/vyre/peers";
  if (strlen(path) + sizeof places > PATH_MAX) return NULL;
  strcat(path, places);
  return access(path, X_OK) == 0 ? path : NULL;
}

static int find_peers(const parsed_options *o, char path[PATH_MAX], bench_options *out) {
  const char *asked = options_get(o, OPT_PEERS);
  if (!asked) {
    out->peers = bench_default_peers ? bench_default_peers : installed_peers(path);
    return OUTPUT_DONE;
  }
  /* Whole, since a peer is started by its path. */
  if (realpath(asked, path) && access(path, X_OK) == 0) {
    out->peers = path;
    return OUTPUT_DONE;
  }
  output_complain("bench: --peers %s: %s. Fix: name a directory that exists.", asked, strerror(errno));
  return OUTPUT_USAGE;
}

/* The device's name from --backend and --device. */
static int name_device(const parsed_options *o, char name[256], bench_options *out) {
  const char *backend = options_get(o, OPT_BACKEND), *device = options_get(o, OPT_BENCH_DEVICE);
  if (device && (!backend || strcmp(backend, "auto") == 0)) {
    output_complain("bench: --device %s: of which backend? Fix: add --backend NAME.", device);
    return OUTPUT_USAGE;
  }
  snprintf(name, 256, "%s%s%s", backend ? backend : "auto", device ? ":" : "", device ? device : "");
  out->device = name;
  return OUTPUT_DONE;
}

static int read_options(const parsed_options *o, bench_options *out, char peers[PATH_MAX], char device[256]) {
  uint64_t samples = 0, seed = 1;
  int result = read_number(o, OPT_SAMPLES, 2, MOST_SAMPLES, &samples);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_SEED, 0, UINT64_MAX, &seed);
  if (result == OUTPUT_DONE) result = find_peers(o, peers, out);
  if (result == OUTPUT_DONE) result = name_device(o, device, out);
  out->tier = options_get(o, OPT_TIER);
  out->variant = options_get(o, OPT_VARIANT);
  out->samples = (uint32_t)samples;
  out->seed = seed;
  return result;
}

/* ---- list ------------------------------------------------------------------------------------------ */

static int list(const bench_options *o) {
  uint32_t room, count, suite_count;
  vyre_error error = VYRE_ERROR_INIT;
  const bench_suite *suite, *suites = bench_suites(&suite_count);
  bench_case_rows(&room);
  const bench_case_row **rows = calloc(room, sizeof *rows);
  if (!rows) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  if (bench_select(o, rows, &count, &suite, &error) != VYRE_OK) {
    free(rows);
    output_error(error.where, &error);
    return OUTPUT_USAGE;
  }
  for (uint32_t i = 0; i < suite_count && o->name_count == 0; i++)
    printf("%-52s  suite: %s, %u samples\n", suites[i].name, suites[i].content, suites[i].samples);
  for (uint32_t i = 0; i < count; i++) {
    char id[128];
    bench_case_id(rows[i], id);
    printf("%-52s  %s\n", id, rows[i]->workload->title);
  }
  free(rows);
  return OUTPUT_DONE;
}

/* ---- verify ---------------------------------------------------------------------------------------- */

static void tell_digest(void *ctx, const char *id, const char *array, bench_digest found, bench_digest wanted) {
  (void)ctx;
  const char *word = !wanted.known ? "not written down" : wanted.fnv == found.fnv ? "as written down" : "WRONG";
  printf("%-52s  %-4s %016" PRIx64 "  %s", id, array, found.fnv, word);
  if (wanted.known && wanted.fnv != found.fnv) printf(", %016" PRIx64 " is", wanted.fnv);
  putchar('\n');
  fflush(stdout);
}

static int verify(const bench_options *o) {
  vyre_error error = VYRE_ERROR_INIT;
  if (bench_verify(o, tell_digest, NULL, &error)) return OUTPUT_DONE;
  if (error.status == VYRE_OK) {
    output_complain("bench: a digest is not the one that is written down. Fix: find out whether a generator, the "
                    "answer or the compiler changed; results of this build prove nothing.");
    return OUTPUT_FAILED;
  }
  output_error(error.where, &error);
  return error.status == VYRE_ERR_NOT_FOUND ? OUTPUT_USAGE : OUTPUT_FAILED;
}

/* ---- run and probe --------------------------------------------------------------------------------- */

static bool to_stdout(const char *path) {
  return path && strcmp(path, "-") == 0;
}

/* Whether the result can be written is asked before hours are spent. */
static int check_target(const parsed_options *o) {
  const char *json = options_get(o, OPT_BENCH_JSON), *html = options_get(o, OPT_BENCH_HTML);
  int result = json && !to_stdout(json) ? files_check(json) : OUTPUT_DONE;
  if (result == OUTPUT_DONE && html) result = files_check(html);
  return result;
}

typedef bool (*report_writer)(FILE *, const bench_report *);

/* The result by |write|, in |text|, staged for |path|; nothing for NULL. */
static int stage(file_set *files, const char *path, const bench_report *report, report_writer write,
                 vyre_writer *text) {
  if (!path) return OUTPUT_DONE;
  if (bench_render(report, write, text)) return files_stage(files, path, text->data, text->count);
  output_complain("memory is exhausted");
  return OUTPUT_FAILED;
}

/* The files, and the table, unless standard output is taken. */
static int write_results(const parsed_options *o, const bench_report *report) {
  const char *json = options_get(o, OPT_BENCH_JSON), *html = options_get(o, OPT_BENCH_HTML);
  vyre_writer json_text = {0}, html_text = {0};
  file_set files = {0};
  if (to_stdout(json)) bench_json_write(stdout, report); /* a failed write is found by output_finish */
  else bench_table_write(stdout, report);
  int result = stage(&files, to_stdout(json) ? NULL : json, report, bench_json_write, &json_text);
  if (result == OUTPUT_DONE) result = stage(&files, html, report, bench_html_write, &html_text);
  if (result == OUTPUT_DONE) result = files_commit(&files);
  else files_discard(&files);
  vyre_writer_free(&json_text);
  vyre_writer_free(&html_text);
  return result;
}

static void show_progress(void *ctx, const char *text, const bench_case *c) {
  (void)ctx;
  (void)c;
  output_progress(text);
}

static int complain_run(const vyre_error *error) {
  output_error(error->where[0] ? error->where : "bench", error);
  /* A device that is not there fails the job; a name of nothing is wrong usage. */
  bool is_usage = error->status == VYRE_ERR_INVALID_ARGUMENT ||
                  (error->status == VYRE_ERR_NOT_FOUND && strstr(error->text, "bench list"));
  return is_usage ? OUTPUT_USAGE : OUTPUT_FAILED;
}

static bool any_wrong(const bench_report *report) {
  for (uint32_t i = 0; i < report->case_count; i++)
    if (report->cases[i].contestant_count == 0 || !report->cases[i].contestants[0].correct) return true;
  return false;
}

/* A run of probes alone has nothing to be judged. */
static int judge(const parsed_options *o, bench_report *report) {
  if (report->case_count == 0) return write_results(o, report);
  if (bench_targets_judge(report) != VYRE_OK || bench_gates_judge(report) != VYRE_OK) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int result = write_results(o, report);
  if (result != OUTPUT_DONE) return result;
  if (!any_wrong(report) && !bench_report_failed(report)) return OUTPUT_DONE;
  output_complain("bench: a result is wrong or a target that is a gate is missed; the verdicts say which. Fix: mend it "
                  "before a figure of this run is used.");
  return OUTPUT_FAILED;
}

static int run_in_session(const parsed_options *o, bench_options *options,
                          vyre_status (*run)(const bench_options *, bench_report *, vyre_error *)) {
  session s;
  vyre_error error = VYRE_ERROR_INIT;
  bench_report report = {0};
  int result = session_load(o, &s);
  if (result == OUTPUT_DONE) {
    session_warn(&s);
    result = session_open(&s);
  }
  if (result == OUTPUT_DONE) {
    options->context = s.context;
    options->progress = show_progress;
    vyre_status status = run(options, &report, &error);
    output_progress(NULL);
    result = status == VYRE_OK ? judge(o, &report) : complain_run(&error);
    bench_report_free(&report);
  }
  session_close(&s);
  return result;
}

static int run(const parsed_options *o, bench_options *options) {
  int result = check_target(o);
  return result == OUTPUT_DONE ? run_in_session(o, options, bench_run) : result;
}

static int probe(const parsed_options *o, bench_options *options) {
  int result = check_target(o);
  if (result != OUTPUT_DONE) return result;
  if (!options->peers) {
    output_complain("bench: probes are measured by peers, and there are none. Fix: build them (`make peers`) and name "
                    "their directory with --peers.");
    return OUTPUT_FAILED;
  }
  return run_in_session(o, options, bench_probe_run);
}

/* ---- compare --------------------------------------------------------------------------------------- */

static int read_report(const char *path, bench_report *out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = bench_json_read(path, out, &error);
  if (status == VYRE_OK) return OUTPUT_DONE;
  output_error(path, &error);
  return status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
}

static int compare_reports(const parsed_options *o, const bench_report *before, const bench_report *after) {
  bench_comparison comparison = {0};
  if (bench_compare(before, after, &comparison) != VYRE_OK) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  const char *json = options_get(o, OPT_BENCH_JSON);
  int result = bench_comparison_failed(&comparison) ? OUTPUT_FAILED : OUTPUT_DONE;
  if (to_stdout(json)) {
    bench_comparison_json(stdout, &comparison);
  } else {
    bench_comparison_write(stdout, &comparison);
  }
  if (result == OUTPUT_FAILED)
    output_complain("bench: vyre became slower or broke. Fix: see the rows above, and measure both commits again on a "
                    "quiet machine before looking for the change.");
  bench_comparison_free(&comparison);
  return result;
}

static int compare(const parsed_options *o) {
  if (o->operand_count != 3) {
    output_complain("bench: compare wants two results. Fix: write `vyre bench compare BEFORE.json AFTER.json`.");
    return OUTPUT_USAGE;
  }
  bool to_file = options_has(o, OPT_BENCH_JSON) && !to_stdout(options_get(o, OPT_BENCH_JSON));
  if (to_file || options_has(o, OPT_BENCH_HTML)) {
    output_complain("bench: compare prints a table, or JSON with --json -. Fix: leave the file out.");
    return OUTPUT_USAGE;
  }
  bench_report before = {0}, after = {0};
  int result = read_report(o->operands[1], &before);
  if (result == OUTPUT_DONE) result = read_report(o->operands[2], &after);
  if (result == OUTPUT_DONE) result = compare_reports(o, &before, &after);
  bench_report_free(&before);
  bench_report_free(&after);
  return result;
}

/* ---- The command ----------------------------------------------------------------------------------- */

int cmd_bench(const parsed_options *o) {
  static const char *const words[] = {"list", "run", "compare", "probe", "verify"};
  enum { LIST, RUN, COMPARE, PROBE, VERIFY, WORDS };
  int word = RUN;
  uint32_t taken = 0;
  for (int i = 0; i < WORDS && o->operand_count > 0; i++)
    if (strcmp(o->operands[0], words[i]) == 0) {
      word = i;
      taken = 1;
    }
  if (word == COMPARE) return compare(o);
  char peers[PATH_MAX], device[256];
  bench_options options = {.names = o->operands + taken, .name_count = (uint32_t)(o->operand_count - taken)};
  int result = read_options(o, &options, peers, device);
  if (result != OUTPUT_DONE) return result;
  if (word == LIST) return list(&options);
  if (word == VERIFY) return verify(&options);
  return word == PROBE ? probe(o, &options) : run(o, &options);
}
