/* Streams and digests against values that were computed elsewhere, and every case's arrays against what is written
 * down for it. */
#include "harness/generate.h"

#include <string.h>

#include "../suite.h"
#include "harness/run.h"

START_TEST(mixing) {
  ck_assert_uint_eq(bench_mix32(0), 0);
  ck_assert_uint_eq(bench_mix32(1), 0x688990c0);
  ck_assert_uint_eq(bench_mix32(2), 0xd1132181);
  ck_assert_uint_eq(bench_mix32(0xFFFFFFFF), 0x6768824a);
  ck_assert_uint_eq(bench_mix32(0x9E3779B9), 0x1fce552);
  ck_assert_uint_eq(bench_hash(1, 0), 0x58f54975);
  ck_assert_uint_eq(bench_hash(4, 0), 0x8fd96704);
  ck_assert_uint_eq(bench_hash(4, 12345), 0xb661fa2f);
  ck_assert_uint_eq(bench_hash(0xFFFFFFFF, 0xFFFFFFFF), 0x9945545d);
  ck_assert(bench_uniform(1, 0) == 0x1.63d524p-2f);
  ck_assert(bench_uniform(2, 7) == 0x1.00d35ap-1f);
}
END_TEST

START_TEST(digests) {
  ck_assert_uint_eq(bench_fnv("", 0), 0xcbf29ce484222325);
  ck_assert_uint_eq(bench_fnv("a", 1), 0xaf63dc4c8601ec8c);
  ck_assert_uint_eq(bench_fnv("foobar", 6), 0x85944171f73967e8);
  const uint32_t word = 0x71E4F37D; /* little endian, as stored */
  ck_assert_uint_eq(bench_fnv(&word, 4), bench_fnv("\x7D\xF3\xE4\x71", 4));
}
END_TEST

/* Two values of the expression, so that a digest is not the only witness. */
START_TEST(strength_reduction_by_hand) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    const bench_workload *w = rows[i].workload;
    if (strcmp(w->id, "integer.strength_reduction") != 0 || strcmp(w->variant, "exact") == 0 || rows[i].n > 1 << 14)
      continue;
    bench_work work = {.id = w->id, .n = rows[i].n, .file = -1};
    w->declare(&work);
    ck_assert_int_eq(bench_work_allocate(&work, NULL), VYRE_OK);
    w->generate(&work);
    w->expect(&work);
    const uint32_t *o = bench_work_find(&work, "o")->host;
    ck_assert_uint_eq(o[0], 2059319347u);
    ck_assert_uint_eq(o[1], 778519994u);
    bench_work_free(&work);
  }
}
END_TEST

static void count_unknown(void *ctx, const char *id, const char *array, bench_digest found, bench_digest wanted) {
  ck_assert_msg(!wanted.known || found.fnv == wanted.fnv, "%s of %s has another digest", array, id);
  if (!wanted.known) ++*(int *)ctx;
}

/* Tier H takes seconds and is for `vyre bench verify`. */
START_TEST(arrays_are_those_that_are_written_down) {
  static const char *const tiers[] = {"S", "L"};
  int unknown = 0;
  for (int i = 0; i < 2; i++) {
    bench_options options = {.tier = tiers[i]};
    ck_assert(bench_verify(&options, count_unknown, &unknown, NULL));
  }
  ck_assert_int_eq(unknown, 0);
}
END_TEST

START_TEST(every_golden_is_of_a_case) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  struct golden {
    const char *symbol;
    uint64_t n;
  } goldens[] = {
#define GOLDEN(symbol, n, array, digest) {#symbol, n},
#include "harness/cases.def"
  };
  const char *symbols[] = {
#define CASE(symbol, tier, n, buffer_sets) #symbol,
#include "harness/cases.def"
  };
  for (size_t g = 0; g < sizeof goldens / sizeof *goldens; g++) {
    bool found = false;
    unsigned long long n = goldens[g].n;
    for (uint32_t i = 0; i < count; i++) found |= strcmp(symbols[i], goldens[g].symbol) == 0 && rows[i].n == n;
    ck_assert_msg(found, "a digest of %s at %llu, which is no case", goldens[g].symbol, n);
  }
}
END_TEST

START_TEST(ids_are_unique) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    char id[128], other[128];
    bench_case_id(&rows[i], id);
    for (uint32_t k = 0; k < i; k++) {
      bench_case_id(&rows[k], other);
      ck_assert_str_ne(id, other);
    }
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      mixing, digests, strength_reduction_by_hand, arrays_are_those_that_are_written_down, every_golden_is_of_a_case,
      ids_are_unique, NULL
  };
  return run_suite("generate", 60, tests);
}
