/* What handing work over costs: one dispatch, and a batch of many that is replayed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "gpu/gpu.h"
#include "harness/targets.h"

enum { SAMPLES = 41, NODES = 100, WORDS = 256, REPLAYS = 20 };
/* How many are handed over before the first is waited for. All fit in what the driver queues without waiting. */
static const uint32_t bursts[] = {8, 256};
enum { BURSTS = sizeof bursts / sizeof *bursts };

static const char text[] =
  "program increment workgroup(%u) {\n"
  "  rw words: u32[];\n"
  "  let i = gid.x;\n"
  "  if (i < len(words)) {\n"
  "    words[i] += 1;\n"
  "  }\n"
  "}\n";

/* A batch of |nodes| dispatches, one after another. */
typedef struct counter {
  vyre_program *program;
  vyre_executable *executable;
  vyre_buffer *words;
  vyre_set *set;
  vyre_batch *batch;
} counter;

static bool make_counter(const gpu_bench *bench, uint32_t width, uint32_t words, uint32_t nodes, counter *out) {
  vyre_error error = VYRE_ERROR_INIT;
  const uint64_t grid[3] = {words / width + (words % width != 0), 1, 1};
  char source[256];
  *out = (counter){0};
  int length = snprintf(source, sizeof source, text, width);
  vyre_status status = vyre_text_parse(source, (size_t)length, NULL, NULL, &out->program, &error);
  if (status == VYRE_OK) status = vyre_compile(bench->device, out->program, NULL, &out->executable, &error);
  if (status == VYRE_OK) status = vyre_buffer_create(bench->device, 4 * words, 0, &out->words, &error);
  if (status == VYRE_OK) {
    const vyre_arg arg = vyre_arg_buffer("words", out->words);
    status = vyre_set_create(out->executable, &arg, 1, &out->set, &error);
  }
  if (status == VYRE_OK) status = vyre_batch_create(bench->device, &out->batch, &error);
  for (uint32_t i = 0; i < nodes && status == VYRE_OK; i++) {
    if (i > 0) status = vyre_batch_order(out->batch, &error);
    if (status == VYRE_OK) status = vyre_batch_dispatch(out->batch, out->set, grid, &error);
  }
  return gpu_good(status, "increment", &error);
}

static void free_counter(counter *c) {
  vyre_batch_destroy(c->batch);
  vyre_set_destroy(c->set);
  vyre_buffer_destroy(c->words);
  vyre_executable_destroy(c->executable);
  vyre_program_release(c->program);
}

/* All words count the dispatches that ran. */
static bool is_right(const counter *c, uint32_t words, uint32_t wanted) {
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t found[WORDS];
  if (!gpu_good(vyre_buffer_read(c->words, 0, found, 4 * words, &error), "increment", &error)) return false;
  for (uint32_t i = 0; i < words; i++) {
    if (found[i] == wanted) continue;
    printf("WRONG    word %u counts %u dispatches, and %u ran\n", i, found[i], wanted);
    return false;
  }
  return true;
}

/* ---- One dispatch ------------------------------------------------------------------------------ */

static bool time_submits(const gpu_bench *bench, const counter *c, uint32_t burst, double *ns) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = VYRE_OK;
  double from = gpu_cpu_ns();
  for (uint32_t i = 0; i < burst && status == VYRE_OK; i++)
    status = vyre_queue_submit(bench->queue, c->batch, NULL, NULL, &error);
  *ns = (gpu_cpu_ns() - from) / burst;
  if (status == VYRE_OK) status = vyre_queue_wait(bench->queue, VYRE_FOREVER, &error);
  return gpu_good(status, "a submit", &error);
}

static bool time_burst(const gpu_bench *bench, const counter *c, uint32_t burst, void *word, double *vyre,
                       double *peer) {
  double samples[2][SAMPLES];
  *peer = 0;
  for (int i = 0; i < SAMPLES; i++) {
    if (!time_submits(bench, c, burst, &samples[0][i])) return false;
    if (bench->strict != NULL && !gpu_peer_good(bench->strict->submit(word, burst, &samples[1][i]), "submit"))
      return false;
  }
  *vyre = gpu_median(samples[0], SAMPLES);
  if (bench->strict != NULL) *peer = gpu_median(samples[1], SAMPLES);
  return true;
}

static void report_burst(const gpu_bench *bench, uint32_t burst, double vyre, double peer) {
  printf("bursts of %-3u  vyre_queue_submit %7.0f ns of processor time", burst, vyre);
  if (bench->strict == NULL) {
    puts("");
    return;
  }
  printf(", cuLaunchKernel %7.0f ns\n", peer);
  gpu_target("submit over a bare cuLaunchKernel", (vyre - peer) / 1e3, bench_limits_get()->gpu_submit_us, false,
             " us");
}

bool gpu_run_submit(const gpu_bench *bench) {
  uint32_t submits = 0;
  double vyre, peer;
  void *word = NULL;
  counter c;
  bool good = make_counter(bench, 32, 1, 1, &c);
  if (good && bench->strict != NULL) good = gpu_address(c.words, &word);
  for (int i = 0; i < BURSTS && good; i++) {
    good = time_burst(bench, &c, bursts[i], word, &vyre, &peer);
    if (good) report_burst(bench, bursts[i], vyre, peer);
    submits += SAMPLES * bursts[i];
  }
  good = good && is_right(&c, 1, (bench->strict != NULL ? 2 : 1) * submits);
  free_counter(&c);
  return good;
}

/* ---- A replayed batch -------------------------------------------------------------------------- */

/* REPLAYS in a row by the wall clock, and one by the device's. */
static bool time_replays(const gpu_bench *bench, const counter *c, double *device_ns, double *wall_ns) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_submission *submission = NULL;
  vyre_completion completion = {.size = sizeof completion};
  vyre_status status = VYRE_OK;
  double from = gpu_wall_ns();
  for (int i = 0; i < REPLAYS && status == VYRE_OK; i++)
    status = vyre_queue_submit(bench->queue, c->batch, NULL, NULL, &error);
  if (status == VYRE_OK) status = vyre_queue_wait(bench->queue, VYRE_FOREVER, &error);
  *wall_ns = (gpu_wall_ns() - from) / REPLAYS;
  if (status == VYRE_OK) status = vyre_queue_submit(bench->queue, c->batch, NULL, &submission, &error);
  if (status == VYRE_OK) status = vyre_submission_wait(submission, VYRE_FOREVER, &error);
  if (status == VYRE_OK) status = vyre_submission_completion(submission, &completion, &error);
  vyre_submission_destroy(submission);
  *device_ns = (double)completion.device_ns;
  return gpu_good(status, "a replay", &error);
}

static bool time_peer_replays(const gpu_bench *bench, void *words, double *device_ns, double *wall_ns) {
  double unused;
  return gpu_peer_good(bench->strict->graph(words, WORDS, NODES, REPLAYS, &unused, wall_ns), "graph") &&
         gpu_peer_good(bench->strict->graph(words, WORDS, NODES, 1, device_ns, &unused), "graph");
}

bool gpu_run_graph(const gpu_bench *bench) {
  double vyre[2][SAMPLES], peer[2][SAMPLES];
  uint32_t replays = SAMPLES * (REPLAYS + 1);
  void *words = NULL;
  counter c;
  bool good = make_counter(bench, 256, WORDS, NODES, &c);
  if (good && bench->strict != NULL) good = gpu_address(c.words, &words);
  for (int i = 0; i < SAMPLES && good; i++) {
    good = time_replays(bench, &c, &vyre[0][i], &vyre[1][i]);
    if (good && bench->strict != NULL) good = time_peer_replays(bench, words, &peer[0][i], &peer[1][i]);
  }
  if (bench->strict != NULL) replays += SAMPLES * (REPLAYS + 3); /* each of its two graphs runs once to warm up */
  good = good && is_right(&c, WORDS, replays * NODES);
  free_counter(&c);
  if (!good) return false;
  static const char *const clocks[] = {"device", "wall"};
  printf("a batch of %d dispatches; wall time in rows of %d\n", NODES, REPLAYS);
  for (int k = 0; k < 2; k++) {
    double ns = gpu_median(vyre[k], SAMPLES);
    printf("vyre, %-6s %9.1f us\n", clocks[k], ns / 1e3);
    if (bench->strict == NULL) continue;
    double other = gpu_median(peer[k], SAMPLES);
    printf("CUDA, %-6s %9.1f us\n", clocks[k], other / 1e3);
    gpu_target(k == 0 ? "a replay over a captured graph, device" : "a replay over a captured graph, wall",
               100 * (ns / other - 1), 100 * bench_limits_get()->gpu_replay, false, " %");
  }
  return true;
}
