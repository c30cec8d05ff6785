/* The kernels that are compared, and the table of their times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/contest.h"
#include "vulkan/shaders.h"

#define SHADER(name) {spv_##name, sizeof spv_##name}

enum { LENGTH = 1 << 17, SIDE = 512, ORDER = 256, WORDS = 1 << 20 };
enum { THREE_SEVENTHS = 0x3EDB6DB7 /* as f32 */ };
#define SAXPY_DATA                                                                       \
  {{"a", VYRE_TYPE_F32, THREE_SEVENTHS, false}, {"n", VYRE_TYPE_U32, LENGTH, true}},     \
    {{"x", LENGTH, FILL_SIGNED}, {"y", LENGTH, FILL_SIGNED}, {"z", LENGTH, FILL_POISON}}
#define MATMUL_DATA                                                                      \
  {{"n", VYRE_TYPE_U32, ORDER, false}},                                                  \
    {{"a", ORDER * ORDER, FILL_SIGNED}, {"b", ORDER * ORDER, FILL_SIGNED}, {"c", ORDER * ORDER, FILL_POISON}}

const contest_kernel contest_kernels[] = {
  {"saxpy_fma", "vulkan/saxpy_fma.vyre", SHADER(saxpy_fma), SHADER(saxpy_emulated), true, {LENGTH / 256, 1},
   SAXPY_DATA},
  {"saxpy", "vulkan/saxpy.vyre", SHADER(saxpy), {0}, true, {LENGTH / 256, 1},
   SAXPY_DATA},
  {"reduce_sum", "kernels/reduce_sum.vyre", SHADER(reduce), {0}, false, {64, 1},
   {{"n", VYRE_TYPE_U32, 4 * WORDS, true}},
   {{"v", 4 * WORDS, FILL_BITS}, {"total", 1, FILL_ZERO}}},
  {"mandelbrot", "vulkan/mandelbrot.vyre", SHADER(mandelbrot), {0}, true, {SIDE / 16, SIDE / 16},
   {{"width", VYRE_TYPE_U32, SIDE, false}, {"height", VYRE_TYPE_U32, SIDE, false}},
   {{"steps", SIDE * SIDE, FILL_POISON}}},
  {"histogram", "vulkan/histogram.vyre", SHADER(histogram), {0}, false, {64, 1},
   {{"n", VYRE_TYPE_U32, WORDS, true}},
   {{"words", WORDS, FILL_BITS}, {"counts", 256, FILL_ZERO}}},
  {"matmul_fma", "kernels/matmul.vyre", SHADER(matmul_fma), SHADER(matmul_emulated), true, {ORDER / 16, ORDER / 16},
   MATMUL_DATA},
  {"matmul", "vulkan/matmul_apart.vyre", SHADER(matmul), {0}, true, {ORDER / 16, ORDER / 16},
   MATMUL_DATA},
};
const uint32_t contest_kernel_count = sizeof contest_kernels / sizeof *contest_kernels;

const contest_kernel contest_small = {
  "small", "vulkan/small.vyre", SHADER(small), {0}, false, {4, 1},
  {{"n", VYRE_TYPE_U32, 256, true}}, {{"v", 256, FILL_BITS}}};

/* ---- One kernel ---- */

/* A sample of the peer takes at least this long, so that launching it does not count. */
#define SAMPLE_NS 2e7
enum { MOST_LAUNCHES = 500 };

typedef enum contender { CHECKED, UNCHECKED, PEER, CONTENDERS } contender;

typedef struct match {
  const contest_kernel *kernel;
  vyre_job checked, unchecked;
  peer_job peer;
  contestant contestants[CONTENDERS];
  uint32_t launches; /* in one run */
} match;

static const char *compile(match *m, const vyre_side *side) {
  const char *fault = vyre_job_compile(side, m->kernel, false, &m->checked);
  if (!fault) fault = vyre_job_compile(side, m->kernel, true, &m->unchecked);
  if (!fault) fault = peer_job_compile(m->kernel, !vyre_side_promises(side, VYRE_NUMERIC_FMA), &m->peer);
  return fault;
}

/* How many launches a sample has: found on a job of its own, which counts nothing. */
static const char *choose_launches(match *m, const vyre_side *side) {
  peer_job probe;
  contestant c = {peer_job_run, &probe, 0, 0};
  const char *fault = peer_job_compile(m->kernel, !vyre_side_promises(side, VYRE_NUMERIC_FMA), &probe);
  if (!fault) fault = peer_job_bind(&probe, m->kernel, 1);
  if (!fault) fault = contest_measure(&c, 1, 1, 0);
  peer_job_destroy(&probe);
  double wanted = fault ? 1 : ceil(SAMPLE_NS / c.wall_ns);
  m->launches = wanted < MOST_LAUNCHES ? (uint32_t)wanted : MOST_LAUNCHES;
  return fault;
}

static const char *bind(match *m) {
  const char *fault = vyre_job_bind(&m->checked, m->kernel, m->launches);
  if (!fault) fault = vyre_job_bind(&m->unchecked, m->kernel, m->launches);
  if (!fault) fault = peer_job_bind(&m->peer, m->kernel, m->launches);
  m->contestants[CHECKED] = (contestant){vyre_job_run, &m->checked, 0, 0};
  m->contestants[UNCHECKED] = (contestant){vyre_job_run, &m->unchecked, 0, 0};
  m->contestants[PEER] = (contestant){peer_job_run, &m->peer, 0, 0};
  return fault;
}

static const char *compare_words(const match *m, uint32_t buffer, const char *whose, const uint32_t *own,
                                 const uint32_t *peer) {
  const contest_buffer *b = &m->kernel->buffers[buffer];
  for (uint32_t i = 0; i < b->count; i++)
    if (own[i] != peer[i])
      return peer_reason("%s[%u] is 0x%08x of vyre %s and 0x%08x of the peer", b->name, i, own[i], whose, peer[i]);
  return NULL;
}

static const char *compare_buffer(match *m, uint32_t buffer, uint32_t *own, uint32_t *peer) {
  const size_t bytes = m->kernel->buffers[buffer].count * sizeof *own;
  const char *fault = peer_job_read(&m->peer, buffer, peer, bytes);
  if (!fault) fault = vyre_job_read(&m->checked, buffer, own, bytes);
  if (!fault) fault = compare_words(m, buffer, "with checks", own, peer);
  if (!fault) fault = vyre_job_read(&m->unchecked, buffer, own, bytes);
  return fault ? fault : compare_words(m, buffer, "without checks", own, peer);
}

/* All have run equally often, so that sums over all runs are equal too. */
static const char *compare(match *m) {
  const char *fault = NULL;
  for (uint32_t i = 0; !fault && i < CONTEST_BUFFERS && m->kernel->buffers[i].name; i++) {
    const uint32_t count = m->kernel->buffers[i].count;
    uint32_t *words = malloc(2 * sizeof *words * count);
    fault = words ? compare_buffer(m, i, words, words + count) : "memory is exhausted";
    free(words);
  }
  return fault;
}

static const char *run_once(match *m) {
  const char *fault = NULL;
  for (int i = 0; !fault && i < CONTENDERS; i++) fault = m->contestants[i].run(m->contestants[i].job);
  return fault;
}

static const char *play(match *m, const vyre_side *side, double seconds) {
  const char *fault = compile(m, side);
  if (!fault) fault = choose_launches(m, side);
  if (!fault) fault = bind(m);
  if (!fault) fault = run_once(m);
  if (!fault) fault = compare(m);
  if (!fault) fault = contest_measure(m->contestants, CONTENDERS, 1, seconds);
  return fault ? fault : compare(m);
}

static void destroy(match *m) {
  vyre_job_destroy(&m->checked);
  vyre_job_destroy(&m->unchecked);
  peer_job_destroy(&m->peer);
}

/* ---- The table ---- */

enum { RATIOS = 4 }; /* by wall time and by processor time, each with checks and without */

typedef struct totals {
  double logarithms[RATIOS];
  double worst; /* by wall time, with checks */
  uint32_t count;
} totals;

static void print_match(const match *m, totals *t) {
  const contestant *checked = &m->contestants[CHECKED], *unchecked = &m->contestants[UNCHECKED];
  const contestant *peer = &m->contestants[PEER];
  const double per = 1e3 * m->launches;
  const double ratios[RATIOS] = {checked->wall_ns / peer->wall_ns, unchecked->wall_ns / peer->wall_ns,
                                 checked->processor_ns / peer->processor_ns,
                                 unchecked->processor_ns / peer->processor_ns};
  printf("%-12s %8u %10.1f %10.1f %10.1f", m->kernel->name, m->launches, peer->wall_ns / per, checked->wall_ns / per,
         unchecked->wall_ns / per);
  for (int i = 0; i < (vk.cpu ? RATIOS : RATIOS / 2); i++) printf(" %10.3f", ratios[i]);
  putchar('\n');
  fflush(stdout);
  for (int i = 0; i < RATIOS; i++) t->logarithms[i] += log(ratios[i]);
  t->worst = ratios[0] > t->worst ? ratios[0] : t->worst;
  t->count++;
}

static void print_head(const vyre_side *side) {
  const vyre_capabilities *caps = vyre_device_capabilities(side->device);
  printf("%s, %s\n", caps->name, caps->driver);
  printf("fma: %s; subnormals: %s\n\n",
         vyre_side_promises(side, VYRE_NUMERIC_FMA) ? "the device's" : "made of other operations, by both",
         vyre_side_promises(side, VYRE_NUMERIC_SUBNORMALS) ? "kept" : "may be zero (flush)");
  printf("%-12s %8s %10s %10s %10s %10s %10s", "us", "launches", "GLSL", "vyre", "unchecked", "ratio", "unchecked");
  puts(vk.cpu ? "  processor  unchecked" : "");
}

static void print_totals(const totals *t) {
  if (t->count == 0) return;
  printf("%-12s %41s", "mean", "");
  for (int i = 0; i < (vk.cpu ? RATIOS : RATIOS / 2); i++) printf(" %10.3f", exp(t->logarithms[i] / t->count));
  printf("\nlargest ratio %.3f; outputs are equal to the bit\n", t->worst);
}

static bool is_wanted(const char *name, const char *const *names, int name_count) {
  for (int i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return name_count == 0;
}

int contest_run_kernels(const vyre_side *side, const char *const *names, int name_count, double seconds) {
  totals t = {0};
  int status = 0;
  print_head(side);
  for (uint32_t i = 0; i < contest_kernel_count; i++) {
    match m = {.kernel = &contest_kernels[i]};
    if (!is_wanted(m.kernel->name, names, name_count)) continue;
    const char *fault = play(&m, side, seconds);
    if (fault) status = contest_complain(m.kernel->name, fault);
    else print_match(&m, &t);
    destroy(&m);
  }
  print_totals(&t);
  return status;
}
