#include "sample_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

static const double confidence = 0.99;

/* Not of Check, since programs that are no tests use this too. */
static void need(bool good) {
  if (!good) abort();
}

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) * 0x1p-24;
}

/* About normal, with variance 1. */
static double noise(uint64_t *state) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform(state);
  return sum;
}

static void *room(bench_report *r, size_t count, size_t size) {
  void *memory = vyre_arena_alloc(&r->arena, count * size);
  need(memory);
  memset(memory, 0, count * size);
  return memory;
}

const char *sample_text(bench_report *report, const char *text) {
  return vyre_arena_copy(&report->arena, text, strlen(text));
}

static void fill(bench_report *r, bench_series *s, double ns, const sample_options *o, uint64_t *state) {
  s->count = o->rounds;
  s->ns = room(r, o->rounds, sizeof *s->ns);
  for (uint32_t i = 0; i < o->rounds; i++) {
    double along = o->rounds > 1 ? (double)i / (o->rounds - 1) : 0;
    s->ns[i] = ns * o->machine * (1 + (o->drift - 1) * along) * exp(o->cv * noise(state));
  }
}

static void launch(bench_report *r, bench_contestant *c, uint64_t n) {
  c->launches = room(r, 1, sizeof *c->launches);
  c->launch_count = 1;
  *c->launches = (bench_launch){ .backend = "cuda", .device = "Sample GPU", .uuid = "GPU-0", .driver = "550.1",
                                 .entry = "main", .program = "00ff", .route = "elementwise.v4",
                                 .declared_workgroup = { 256, 1, 1 }, .workgroup = { 512, 1, 1 },
                                 .grid = { n / 512 + 1, 1, 1 }, .subgroup = 32, .registers = 24, .resident = 4,
                                 .has_subgroup = true, .has_registers = true, .has_resident = true };
}

static const bench_contestant people[SAMPLE_CONTESTANTS] = {
  { .name = "vyre", .class = BENCH_SELF, .version = "0.1.0" },
  { .name = "cub", .class = BENCH_GPU_SOTA, .version = "2.5", .build = "nvcc 13.0", .flags = "-O3 -arch=sm_90",
    .how = "DeviceTransform" },
  { .name = "cuda", .class = BENCH_GPU_SOTA, .version = "13.0", .flags = "-O3 -arch=sm_90" },
  { .name = "gcc", .class = BENCH_CPU_SOTA, .version = "12.2", .flags = "-O3 -march=native -fopenmp" },
  { .name = "clang", .class = BENCH_CPU_SOTA, .version = "14.0", .flags = "-O3 -march=native -fopenmp" },
  { .name = "pocl", .class = BENCH_NEAR, .difference = "no fma", .failure = "it was not built: no OpenCL here" },
  { .name = "vulkan", .class = BENCH_GPU_SOTA, .failure = "no driver" },
  { .name = "cublas", .class = BENCH_GPU_SOTA, .failure = "no library" },
};
static const double factors[SAMPLE_ABSENT] = { 1, 1.25, 1.1, 12, 13 };

static void contestants(bench_report *r, bench_case *c, double ns, const sample_options *o, uint64_t *state) {
  c->contestants = room(r, SAMPLE_CONTESTANTS, sizeof *c->contestants);
  c->contestant_count = SAMPLE_CONTESTANTS;
  memcpy(c->contestants, people, sizeof people);
  for (uint32_t i = 0; i < SAMPLE_ABSENT; i++) {
    bench_contestant *p = &c->contestants[i];
    double factor = factors[i] * (i == SAMPLE_VYRE ? o->vyre : 1);
    if (p->class != BENCH_CPU_SOTA) fill(r, &p->clocks[BENCH_DEVICE], ns * factor, o, state);
    fill(r, &p->clocks[BENCH_WALL_RESIDENT], ns * factor + 2000, o, state);
    fill(r, &p->clocks[BENCH_WALL_READBACK], ns * factor + 9000, o, state);
    fill(r, &p->cold, 40 * ns + 1e6, o, state);
    p->launches_per_sample = 20;
    p->buffer_sets = 2;
    p->output = (bench_digest){ true, 0xFEDCBA9876543210u + c->n };
    p->correct = true;
  }
  launch(r, &c->contestants[SAMPLE_VYRE], c->n);
}

static void one_case(bench_report *r, bench_case *c, const char *workload, const char *tier, uint64_t n,
                     const sample_options *o, uint64_t *state) {
  char id[64];
  snprintf(id, sizeof id, "%s.true.%s.%llu", workload, tier, (unsigned long long)n);
  *c = (bench_case){ .id = sample_text(r, id), .workload = workload, .variant = "true", .tier = tier,
                     .title = "a sum <of> \"two\" & more \xE2\x82\xAC", .n = n, .bytes = 12 * n, .ops = n,
                     .bound = "bw_copy", .check = "bit exact", .warmups = 300, .order = "ABBA" };
  c->inputs = room(r, 1, sizeof *c->inputs);
  c->input_count = 1;
  *c->inputs = (bench_input){ "a", { true, 0x0123456789ABCDEFu }, { true, 0x0123456789ABCDEFu } };
  c->counters = room(r, 2, sizeof *c->counters);
  c->counter_count = 2;
  c->counters[0] = (bench_counter){ "compile_cache_hits", "lookups", 99 };
  c->counters[1] = (bench_counter){ "compile_cache_lookups", "lookups", 100 };
  contestants(r, c, 0.0026 * (double)n + 500, o, state);
}

/* Of every peer by every clock that both have. */
static void ratios(bench_report *r, bench_case *c) {
  c->ratios = room(r, (size_t)BENCH_CLOCKS * c->contestant_count, sizeof *c->ratios);
  c->ratio_count = 0;
  for (uint32_t i = 1; i < c->contestant_count; i++)
    for (uint32_t clock = 0; clock < BENCH_CLOCKS; clock++) {
      const bench_series *a = &c->contestants[i].clocks[clock], *b = &c->contestants[0].clocks[clock];
      uint32_t rounds = a->count < b->count ? a->count : b->count;
      bench_interval interval;
      if (rounds == 0) continue;
      need(bench_ratio_paired(a->ns, b->ns, rounds, confidence, 1, &interval));
      c->ratios[c->ratio_count++] = (bench_ratio){ c->contestants[i].name, clock, interval.value, interval.low,
                                                   interval.high, bench_sign_test(a->ns, b->ns, rounds) };
    }
}

void sample_settle(bench_report *report) {
  for (uint32_t i = 0; i < report->case_count; i++) {
    bench_case *c = &report->cases[i];
    for (uint32_t p = 0; p < c->contestant_count; p++) {
      bench_contestant *who = &c->contestants[p];
      for (uint32_t clock = 0; clock < BENCH_CLOCKS; clock++)
        need(bench_stats_of(who->clocks[clock].ns, who->clocks[clock].count, &who->clocks[clock].stats));
      need(bench_stats_of(who->cold.ns, who->cold.count, &who->cold.stats));
    }
    if (report->suite) ratios(report, c);
    c->bound_ns = (double)c->bytes / report->probes[0].value * 1e9;
    c->phi = c->bound_ns / c->contestants[0].clocks[BENCH_DEVICE].stats.p50;
    c->has_phi = true;
    c->phi_clock = BENCH_DEVICE;
  }
}

static const bench_pair host[] = { { "cpu", "Sample CPU" }, { "cores", "2" }, { "os", "Debian 12" } };
static const bench_pair device[] = { { "name", "Sample GPU" }, { "backend", "cuda" }, { "clock_before_mhz", "1980" },
                                     { "clock_after_mhz", "1975" }, { "throttle", "none" } };
static const bench_probe probes[] = { { "bw_copy", "Sample GPU", "B/s", "1 GiB", 4.8e12, 0.01 },
                                      { "bw_read", "Sample GPU", "B/s", "2 GiB", 4.9e12, 0.01 },
                                      { "t_launch", "Sample GPU", "ns", NULL, 2500, 0.05 },
                                      { "bw_copy", "Sample CPU", "B/s", "all cores", 4.0e11, 0.02 } };
static const bench_backend backends[] = { { "cuda", "0.1", NULL }, { "vulkan", "0.1", "no device" } };

#define PUT(r, list, count, from)                     \
  (r)->list = room((r), sizeof(from) / sizeof *(from), sizeof *(from)); \
  memcpy((r)->list, (from), sizeof(from));            \
  (r)->count = sizeof(from) / sizeof *(from)

void sample_report(bench_report *report, const sample_options *options) {
  uint64_t state = options->seed;
  *report = (bench_report){ .run_id = "2026-11-30T03-40-00Z-0123456", .time = "2026-11-30T03:40:00Z",
                            .suite = options->bare ? NULL : "release",
                            .commit = "0123456789abcdef0123456789abcdef01234567", .compiler = "gcc 12.2.0",
                            .flags = "-O2", .seed = UINT64_MAX };
  PUT(report, host, host_count, host);
  PUT(report, device, device_count, device);
  PUT(report, probes, probe_count, probes);
  PUT(report, backends, backend_count, backends);
  report->cases = room(report, SAMPLE_CASES, sizeof *report->cases);
  report->case_count = options->bare ? 1 : SAMPLE_CASES;
  if (options->bare) {
    one_case(report, &report->cases[0], "elementwise.add", "H", 1 << 26, options, &state);
    sample_settle(report);
    return;
  }
  one_case(report, &report->cases[SAMPLE_ADD_S], "elementwise.add", "S", 1024, options, &state);
  one_case(report, &report->cases[SAMPLE_ADD_L], "elementwise.add", "L", 1 << 20, options, &state);
  one_case(report, &report->cases[SAMPLE_ADD_H], "elementwise.add", "H", 1 << 26, options, &state);
  one_case(report, &report->cases[SAMPLE_INTEGER], "integer.strength_reduction", "H", 1 << 26, options, &state);
  sample_settle(report);
}

char *sample_json(const bench_report *report, size_t *count) {
  char *text = NULL;
  FILE *file = open_memstream(&text, count);
  need(file);
  need(bench_json_write(file, report));
  fclose(file);
  return text;
}
