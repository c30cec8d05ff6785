/* The table as it was generated, and how its rows are found. */
#include "targets.h"

#include <stddef.h>
#include <string.h>

#include "targets.inc"

const bench_limits *bench_limits_get(void) {
  return &limits;
}

const bench_target *bench_targets(uint32_t *count) {
  *count = sizeof targets / sizeof *targets;
  return targets;
}

const bench_baseline *bench_baselines(uint32_t *count) {
  *count = sizeof baselines / sizeof *baselines;
  return baselines;
}

static bool same(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

const bench_target *bench_target_of(const char *workload, const char *variant, const char *tier) {
  const bench_target *general = NULL;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    const bench_target *t = &targets[i];
    if (!same(t->workload, workload) || !same(t->variant, variant)) continue;
    if (same(t->tier, tier)) return t;
    if (!t->tier) general = t;
  }
  return general;
}
