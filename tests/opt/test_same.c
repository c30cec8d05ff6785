/* Optimized programs give what they gave before: random programs on random input, by the oracle as they are written,
 * and after each pass alone, passes in any order, and each level. What differs is made small and printed.
 * Two kinds of programs: those of tests/gen, of all that the language has, and dense ones.
 *
 * With arguments it hunts for longer:
 *   test_same [--dense] [--from SEED] [--count N] [--ways A,B] [--statements N] [--save DIR] */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lower/hunt.h"
#include "../suite.h"
#include "dense.h"
#include "opt/pass.h"

enum { MAX_WAYS = OPT_MAX_PASSES + 8, SHUFFLED_PASSES = 16, FOUND_ENOUGH = 5 };

/* ---- Ways ------------------------------------------------------------------------------------ */

static uint64_t seed_of_order;      /* for passes in any order, and for which parameters are known */
static const run_case *case_at_hand; /* whose parameters they are */

static vyre_status optimize(vyre_program *p, uint32_t level, const char *passes, vyre_program **out,
                            vyre_error *error) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  options.flags = VYRE_OPT_VERIFY;
  options.level = level;
  options.passes = passes;
  return vyre_optimize(p, &options, out, NULL, error);
}

static vyre_status at_level_1(vyre_program *p, vyre_program **out, vyre_error *error) {
  return optimize(p, 1, NULL, out, error);
}

static vyre_status at_level_2(vyre_program *p, vyre_program **out, vyre_error *error) {
  return optimize(p, 2, NULL, out, error);
}

static vyre_status shuffled(vyre_program *p, vyre_program **out, vyre_error *error) {
  random_source r = { seed_of_order };
  char list[SHUFFLED_PASSES * 64] = "";
  for (uint32_t i = 0, used = 0; i < SHUFFLED_PASSES; i++) {
    const opt_pass_row *row = &opt_passes[random_below(&r, opt_pass_count)];
    if (strcmp(row->class_name, "AbiPreserving") != 0) continue;
    used += (uint32_t)snprintf(list + used, sizeof list - used, "%s,", row->name);
  }
  return optimize(p, 2, list, out, error);
}

/* At any level for the values that some parameters have in the case at hand. */
static vyre_status specialized(vyre_program *p, vyre_program **out, vyre_error *error) {
  random_source r = { seed_of_order };
  outcome *given = outcome_create();
  if (given == NULL || !outcome_prepare(given, p, case_at_hand)) abort();
  vyre_spec_constant spec[OUTCOME_MAX];
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_param_info param;
  for (uint32_t i = 0; i < OUTCOME_MAX && vyre_program_param(p, i, &param); i++) {
    uint32_t bytes = vyre_type_describe(param.type)->bytes;
    uint64_t bits = given->memory.params[i] & UINT64_MAX >> (param.type == VYRE_TYPE_BOOL ? 63 : 64 - 8 * bytes);
    if (random_below(&r, 4) > 0) spec[options.spec_count++] = (vyre_spec_constant){ i, param.type, bits };
  }
  options.spec = spec;
  options.flags = VYRE_OPT_VERIFY;
  options.level = 1 + random_below(&r, 2);
  outcome_destroy(given);
  return vyre_optimize(p, &options, out, NULL, error);
}

#define X(id, phase, class_name, level, enables, family, requires, invalidates, doc)              \
  static vyre_status pass_##id(vyre_program *p, vyre_program **out, vyre_error *error) { \
    return optimize(p, 2, #id, out, error);                                               \
  }
#include "opt/passes.def"
#undef X

static const variant all_ways[] = {
  { .name = "level-1", .transform = at_level_1 },
  { .name = "level-2", .transform = at_level_2 },
  { .name = "shuffled", .transform = shuffled },
  { .name = "specialized", .transform = specialized },
#define X(id, phase, class_name, level, enables, family, requires, invalidates, doc) \
  { .name = #id, .transform = pass_##id },
#include "opt/passes.def"
#undef X
};
enum { ALL_WAYS = sizeof all_ways / sizeof *all_ways };

/* A pass that changes what a caller can read back is none. */
static bool keeps_results(const variant *way) {
  uint32_t pass = opt_pass_named(way->name, strlen(way->name));
  return pass == UINT32_MAX || strcmp(opt_passes[pass].class_name, "AbiPreserving") == 0;
}

/* ---- One seed -------------------------------------------------------------------------------- */

typedef struct search {
  hunt hunt;
  const char *ways; /* NULL for all */
  bool dense;
  uint64_t changed, same, refused, trapped, found;
} search;

/* The ways that make another program of this one, and how that is run. */
static uint32_t ways_of(search *s, vyre_program *p, uint64_t seed, variant *ways) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < ALL_WAYS; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *out = NULL;
    if (!keeps_results(&all_ways[i]) || (s->ways != NULL && !opt_list_has(s->ways, all_ways[i].name))) continue;
    bool changes = all_ways[i].transform(p, &out, &error) != VYRE_OK || !vyre_program_equal(p, out);
    vyre_program_release(out);
    s->changed += changes;
    s->same += !changes;
    if (!changes) continue;
    ways[count] = all_ways[i];
    ways[count].where = (seed + i) % 4 == 3 ? RUN_ENGINE : RUN_ORACLE;
    ways[count].target = TARGET_ENGINE;
    ways[count++].reverse = (seed + i) % 2 != 0;
  }
  return count;
}

static void report(search *s, const variant *way, vyre_program *p, const run_case *c, const char *what) {
  finding found;
  if (s->found++ >= FOUND_ENOUGH) return;
  hunt_shrink(&s->hunt, way, p, c, what, false, &found);
  printf("== %s\n%s\n", found.name, found.text != NULL ? found.text : "no memory for its text");
  fflush(stdout);
  free(found.text);
}

/* Counts of turns and of accesses out of range may change, so that no limit of steps is ever reached. */
static void try_seed(search *s, uint64_t seed) {
  vyre_error error = VYRE_ERROR_INIT;
  variant ways[MAX_WAYS];
  run_case c;
  verdict found;
  vyre_program *p = s->dense ? dense_program(seed, &error) : hunt_program(&s->hunt, seed, &error);
  if (p == NULL) {
    printf("seed %" PRIu64 ": no program: %s\n", seed, error.text);
    s->found++;
    return;
  }
  hunt_case(&s->hunt, seed, p, &c);
  c.steps = 100000;
  if (s->dense) c.grid[0] = c.grid[1] = c.grid[2] = 1;
  seed_of_order = seed;
  case_at_hand = &c;
  uint32_t count = ways_of(s, p, seed, ways);
  if (count > 0) {
    variants_check(&s->hunt.room, ways, count, p, &c, NULL, &found);
    s->refused += found.refused;
    s->trapped += found.trapped;
    if (found.failed != NULL) report(s, found.failed, p, &c, found.text);
  }
  vyre_program_release(p);
}

static volatile uint64_t at_seed;

/* Until enough differ. False without memory. */
static bool search_seeds(search *s, uint64_t from, uint64_t count) {
  s->hunt.options.reproducible = true;
  s->hunt.isolate = true;
  if (!variants_open(&s->hunt.room)) return false;
  for (at_seed = from; at_seed < from + count && s->found < FOUND_ENOUGH; at_seed++) try_seed(s, at_seed);
  variants_close(&s->hunt.room);
  return true;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

START_TEST(random_programs_give_what_they_gave) {
  search s = { 0 };
  ck_assert(search_seeds(&s, 1, suite_rounds(500)));
  ck_assert_msg(s.found == 0, "%" PRIu64 " differences, printed above", s.found);
  ck_assert_uint_gt(s.changed, suite_rounds(500));
}
END_TEST

START_TEST(so_do_dense_ones) {
  search s = { .dense = true };
  ck_assert(search_seeds(&s, 1, suite_rounds(1500)));
  ck_assert_msg(s.found == 0, "%" PRIu64 " differences, printed above", s.found);
  ck_assert_uint_gt(s.changed, suite_rounds(1500));
}
END_TEST

/* A pass does all that it can do in one run. */
START_TEST(a_second_run_changes_nothing) {
  static const char *const passes[] = { "canonicalize", "reaching_def_propagate", "cse", "dce", "region_inline",
                                        "barrier_coalesce", "normalize_atomics" };
  vyre_error error = VYRE_ERROR_INIT;
  for (uint64_t seed = 1; seed <= suite_rounds(300); seed++) {
    vyre_program *p = dense_program(seed, &error), *once, *twice;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
      ck_assert_int_eq(optimize(p, 2, passes[i], &once, &error), VYRE_OK);
      ck_assert_int_eq(optimize(once, 2, passes[i], &twice, &error), VYRE_OK);
      ck_assert_msg(vyre_program_equal(once, twice), "seed %" PRIu64 ": %s", seed, passes[i]);
      vyre_program_release(once);
      vyre_program_release(twice);
    }
    vyre_program_release(p);
  }
}
END_TEST

/* ---- The hunt -------------------------------------------------------------------------------- */

static void say_seed(int number) {
  char text[64];
  int bytes = snprintf(text, sizeof text, "signal %d at seed %" PRIu64 "\n", number, at_seed);
  if (write(2, text, (size_t)bytes) == bytes) _exit(1);
  _exit(2);
}

static int search_on(int argc, char **argv) {
  static const struct option options[] = { { "from", 1, 0, 'f' }, { "count", 1, 0, 'c' }, { "ways", 1, 0, 'w' },
                                           { "statements", 1, 0, 'n' }, { "save", 1, 0, 's' },
                                           { "dense", 0, 0, 'd' }, { 0, 0, 0, 0 } };
  search s = { 0 };
  uint64_t from = 1, count = 1000;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (o) {
    case 'f': from = strtoull(optarg, NULL, 10); break;
    case 'c': count = strtoull(optarg, NULL, 10); break;
    case 'w': s.ways = optarg; break;
    case 'n': s.hunt.options.statements = (uint32_t)strtoul(optarg, NULL, 10); break;
    case 'd': s.dense = true; break;
    case 's': s.hunt.directory = optarg; break;
    default: return 2;
  }
  signal(SIGSEGV, say_seed);
  signal(SIGABRT, say_seed);
  if (!search_seeds(&s, from, count)) return 2;
  printf("%" PRIu64 " programs changed, %" PRIu64 " not, %" PRIu64 " refused, %" PRIu64 " trapped, %" PRIu64
         " differences\n", s.changed, s.same, s.refused, s.trapped, s.found);
  return s.found > 0;
}

int main(int argc, char **argv) {
  const TTest *const tests[] = { random_programs_give_what_they_gave, so_do_dense_ones,
                                 a_second_run_changes_nothing, NULL };
  return argc > 1 ? search_on(argc, argv) : run_suite("opt/same", 120, tests);
}
