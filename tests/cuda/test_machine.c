/* What PTX computes: random programs and the golden ones run on the machine, and what they leave is what the oracle
 * leaves. VYRE_MACHINE_SEEDS says how many random ones (100), VYRE_MACHINE_FROM the first. */
#include <stdlib.h>
#include <string.h>

#include "plugins/gpu/launch.h"
#include "tests/cuda/machine.h"
#include "tests/cuda/modules.h"
#include "tests/golden.h"
#include "tests/lower/hunt.h"

enum { STATE_ROOM = 64 };

/* Memory that a backend brings, by kind. */
typedef struct hidden_memory {
  machine_range of[5];
} hidden_memory;

static uint64_t hidden_bytes(const vyre_kernel_header *h, uint32_t kind, const uint32_t grid[3]) {
  switch (kind) {
    case VYRE_KERNEL_HIDDEN_DIAGNOSTICS: return sizeof(vyre_kernel_diagnostics) + 8ull * OUTCOME_PRINT_WORDS;
    case VYRE_KERNEL_HIDDEN_SPILL: return gpu_spill_bytes(h, grid);
    default: return STATE_ROOM;
  }
}

static void make_hidden(hidden_memory *m, const vyre_kernel_header *h, const uint32_t grid[3]) {
  for (uint32_t kind = 1; kind < 5; kind++) {
    m->of[kind].bytes = (hidden_bytes(h, kind, grid) + 15) / 16 * 16;
    m->of[kind].data = aligned_alloc(16, m->of[kind].bytes + 16);
    memset(m->of[kind].data, kind == VYRE_KERNEL_HIDDEN_SPILL ? 0xCC : 0, m->of[kind].bytes);
  }
  ((vyre_kernel_diagnostics *)(void *)m->of[VYRE_KERNEL_HIDDEN_DIAGNOSTICS].data)->print_words = OUTCOME_PRINT_WORDS;
}

static void take_diagnostics(const machine_range *m, outcome *out) {
  vyre_completion done = { .size = sizeof done };
  uint64_t used = 0;
  gpu_read_diagnostics(m->data, m->bytes, &done, out->prints, OUTCOME_PRINT_WORDS, &used);
  out->traps = done.trap_count;
  out->expired = done.trap_count > 0 && done.trap_code == UINT32_MAX;
  out->prints_written = done.prints_written;
  out->prints_dropped = done.prints_dropped;
  out->print_words = used;
}

static void lay_out_params(const vyre_program *p, const run_memory *m, uint8_t *block) {
  vyre_param_info info;
  uint64_t at = 0;
  for (uint32_t i = 0; vyre_program_param(p, i, &info); i++) {
    uint32_t bytes = vyre_type_describe(info.type)->bytes;
    at = (at + bytes - 1) / bytes * bytes;
    memcpy(block + at, &m->params[i], bytes);
    at += bytes;
  }
}

/* All entry points, one after the other. */
static bool launch(const vyre_program *p, const run_case *c, const vyre_kernel_header *h, const char *text,
                   const ptx_facts *facts, bool backwards, outcome *out) {
  run_memory *m = &out->memory;
  machine_range ranges[OUTCOME_MAX + 8];
  uint8_t params[8 * OUTCOME_MAX], *buffer = calloc(1, h->launch_bytes + facts->param_bytes + 16ull);
  hidden_memory hidden;
  gpu_launch block = { .kernel = h, .params = params, .elements = m->length, .work_budget = c->work_budget };
  for (int i = 0; i < 3; i++) block.grid[i] = (uint32_t)c->grid[i];
  bool in_memory = (facts->flags & PTX_BLOCK_IN_MEMORY) != 0;
  uint8_t *words = in_memory ? buffer + facts->param_bytes : buffer, *pointers = buffer + facts->block_bytes;
  lay_out_params(p, m, params);
  make_hidden(&hidden, h, block.grid);
  gpu_launch_block(&block, words);
  if (in_memory) memcpy(buffer, &words, 8);
  for (uint32_t i = 0; i < m->count; i++) {
    ranges[i] = (machine_range){ m->data[i], (m->bytes[i] + 15) & ~15ull };
    memcpy(pointers + 8ull * i, &m->data[i], 8);
  }
  for (uint32_t kind = 1; kind < 5; kind++) {
    ranges[m->count + kind - 1] = hidden.of[kind];
    if (facts->hidden[kind] != 0) memcpy(pointers + 8ull * (facts->hidden[kind] - 1), &hidden.of[kind].data, 8);
  }
  ranges[m->count + 4] = (machine_range){ words, h->launch_bytes };
  char why[160];
  machine_code *code = machine_read(text, why, sizeof why);
  bool good = code != NULL;
  for (uint32_t i = 0; i < h->entries.count && good; i++) {
    machine_launch l = { .code = code, .entry = i, .params = buffer, .block_bytes = facts->block_bytes,
                         .ranges = ranges, .range_count = m->count + 5,
                         .together = (facts->flags & PTX_COOPERATIVE) != 0, .backwards = backwards };
    for (int k = 0; k < 3; k++) l.grid[k] = block.grid[k] + (in_memory && block.grid[k] > 0 && l.together == 0);
    good = machine_run(&l, why, sizeof why);
  }
  if (!good) outcome_say(out, "machine: %s", why);
  else take_diagnostics(&hidden.of[VYRE_KERNEL_HIDDEN_DIAGNOSTICS], out);
  machine_free(code);
  for (uint32_t kind = 1; kind < 5; kind++) free(hidden.of[kind].data);
  free(buffer);
  return good;
}

/* One way to run a program. */
typedef struct way {
  uint32_t sm, level, flags;
  bool backwards;
} way;

static void run_machine(vyre_program *p, const run_case *c, const way *w, outcome *out) {
  vyre_error error = VYRE_ERROR_INIT;
  module_options options = { .level = w->level, .subgroup = c->subgroup, .steps = c->steps,
                             .ulp = c->ulp != VYRE_ULP_UNSET ? c->ulp : 0,
                             .target = { .sm = w->sm, .flags = w->flags } };
  gpu_bytes text = { 0 };
  ptx_facts facts;
  uint8_t *kernel = NULL;
  if (!outcome_prepare(out, p, c)) return;
  if (module_of(p, &options, &text, &facts, &kernel, &error) != VYRE_OK) {
    out->refused = true;
    outcome_say(out, "%s", error.text);
  } else {
    launch(p, c, (const void *)kernel, (const char *)text.data, &facts, w->backwards, out);
  }
  free(kernel);
  gpu_bytes_free(&text);
}

/* Compares a way with the oracle; false if nothing was compared. */
static bool agrees(const char *name, vyre_program *p, const run_case *c, const way *w, outcome *wanted, outcome *got) {
  static const compare_options how = { .words = true, .nans = true };
  char text[256];
  run_oracle(p, c, false, wanted);
  if (wanted->text[0] != 0) return false;
  run_machine(p, c, w, got);
  if (got->refused) return false;
  if (w->level != 0 && (wanted->expired || got->expired)) return false;
  bool bad = got->text[0] != 0 || outcome_differs(p, wanted, got, &how, text, sizeof text);
  if (!bad) return true;
  char *source;
  vyre_text_print(p, &source, NULL);
  fprintf(stderr, "%s, sm_%u, level %u, flags %u: %s\n", name, w->sm, w->level, w->flags,
          got->text[0] != 0 ? got->text : text);
  if (getenv("VYRE_MACHINE_SHOW") != NULL) fprintf(stderr, "%s\n", source);
  free(source);
  ck_abort_msg("%s: %s", name, got->text[0] != 0 ? got->text : text);
}

static const way ways[] = {
  { 90, 0, 0, false }, { 75, 0, 0, true }, { 90, 2, 0, true }, { 75, 2, PTX_BLOCK_IN_MEMORY, false },
};
enum { WAYS = sizeof ways / sizeof *ways };

START_TEST(random_programs_agree) {
  const char *asked = getenv("VYRE_MACHINE_SEEDS"), *begin = getenv("VYRE_MACHINE_FROM");
  uint64_t count = asked != NULL ? strtoull(asked, NULL, 10) : 100;
  uint64_t from = begin != NULL ? strtoull(begin, NULL, 10) : 1;
  hunt h = { .options = { .reproducible = true } };
  outcome *wanted = outcome_create(), *got = outcome_create();
  uint64_t compared = 0;
  for (uint64_t seed = from; seed < from + count; seed++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *p = hunt_program(&h, seed, &error);
    run_case c;
    char name[32];
    ck_assert_ptr_nonnull(p);
    hunt_case(&h, seed, p, &c);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    compared += agrees(name, p, &c, &ways[seed % WAYS], wanted, got);
    vyre_program_release(p);
  }
  outcome_destroy(wanted);
  outcome_destroy(got);
  ck_assert_uint_gt(compared * 10, count * 6);
}
END_TEST

/* Programs of a folder, each in every way. Those in which invocations touch the same elements, wait for others or read
 * the clock are left out, and one that frees the rounding. */
static void folder_agrees(const char *folder, uint32_t least) {
  static const char *const left_out[] = { "order", "loose", "diagnostics", "polled", "bools", "bounds", "atomics",
                                          "entries", "in_memory", "conversions", "ids", "subgroups", "subgroups_75",
                                          "subgroups_of_8", "subgroups_short", "flow", "patterns", "large",
                                          "grid_barrier", NULL };
  outcome *wanted = outcome_create(), *got = outcome_create();
  uint32_t compared = 0;
  char path[GOLDEN_PATH];
  snprintf(path, sizeof path, "%s/%s", getenv("top_srcdir"), folder);
  DIR *directory = opendir(path);
  ck_assert_ptr_nonnull(directory);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char *dot = strrchr(entry->d_name, '.'), file[GOLDEN_PATH + 300];
    if (dot == NULL || strcmp(dot, ".vyre") != 0) continue;
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    *dot = 0;
    bool skipped = false;
    for (int i = 0; left_out[i] != NULL; i++) skipped |= strcmp(entry->d_name, left_out[i]) == 0;
    if (skipped) continue;
    char *text = calloc(1, GOLDEN_ROOM);
    FILE *f = fopen(file, "r");
    ck_assert(f != NULL && fread(text, 1, GOLDEN_ROOM - 1, f) > 0);
    fclose(f);
    vyre_program *p = golden_parse(entry->d_name, text);
    vyre_program_info info;
    vyre_program_describe(p, &info);
    for (uint32_t i = 0; i < WAYS; i++) {
      run_case c = { .grid = { 2, 1, 1 }, .subgroup = info.subgroup != 0 ? info.subgroup : 32, .ulp = 0,
                     .elements = 700, .seed = i + 1, .mixed = true };
      compared += agrees(entry->d_name, p, &c, &ways[i], wanted, got);
    }
    vyre_program_release(p);
    free(text);
  }
  closedir(directory);
  outcome_destroy(wanted);
  outcome_destroy(got);
  ck_assert_uint_ge(compared, least);
}

START_TEST(golden_programs_agree) { folder_agrees("tests/cuda/golden", 36); }
END_TEST

int main(void) {
  const TTest *const tests[] = { random_programs_agree, golden_programs_agree, NULL };
  return run_suite("cuda/machine", 300, tests);
}
