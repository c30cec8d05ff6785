/* Every peer that was built does every work rightly: on random bits, at sizes that no vector divides, with several
 * sets of buffers; and its probes find something. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "harness/peer_host.h"
#include "harness/workload.h"

static const char *const peers[] = {"gcc", "clang", "pocl", "vulkan", "cuda", "cub", "cublas"};
enum { PEERS = sizeof peers / sizeof *peers };

static char path[4096];

/* Whether the peer was built, with its path in |path|. */
static bool built(const char *peer) {
  const char *top = getenv("top_builddir");
  snprintf(path, sizeof path, "%s/bench/peers/%s", top ? top : ".", peer);
  return access(path, X_OK) == 0;
}

static uint64_t state = 1;

static uint32_t random_bits(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

/* Random bits but infinities and NaN, which add up to a NaN whose bits are the implementation's own. */
static void fill(bench_array *array) {
  unsigned char *bytes = array->host;
  for (uint64_t i = 0; i < array->bytes; i++) bytes[i] = (unsigned char)random_bits();
  if (array->type == VYRE_TYPE_U8 || array->type == VYRE_TYPE_U32) return;
  uint64_t width = array->bytes / array->count;
  for (uint64_t i = 0; i < array->count; i++) bytes[i * width + width - 1] &= 0xBF;
}

/* What is right, in a copy of the output. */
static void *expected(const bench_workload *workload, bench_work *work, const bench_array *output) {
  void *right = malloc(output->bytes);
  ck_assert_ptr_nonnull(right);
  workload->expect(work);
  memcpy(right, output->host, output->bytes);
  memset(output->host, 0, output->bytes);
  return right;
}

static bool all_poison(const bench_array *output) {
  const unsigned char *bytes = output->host;
  for (uint64_t i = 0; i < output->bytes; i++)
    if (bytes[i] != 0xA5) return false;
  return true;
}

/* Whether the peer took the work; if it did, it was right in each turn. */
static bool try_work(const bench_workload *workload, uint64_t n, uint32_t sets) {
  bench_work work = {.id = workload->peer_id ? workload->peer_id : workload->id, .n = n, .buffer_sets = sets};
  vyre_error error = VYRE_ERROR_INIT;
  workload->declare(&work);
  ck_assert_int_eq(bench_work_allocate(&work, &error), VYRE_OK);
  for (uint32_t i = 0; i < work.array_count; i++)
    if (!work.arrays[i].output) fill(&work.arrays[i]);
  bench_array *output = bench_work_find(&work, "o");
  void *right = expected(workload, &work, output);

  bench_peer peer;
  vyre_status status = bench_peer_begin(&peer, path, &work, &error);
  ck_assert_msg(status == VYRE_OK || status == VYRE_ERR_UNSUPPORTED, "%s: %s: %s", path, work.id, error.text);
  for (int clock = 0; status == VYRE_OK && clock < BENCH_CLOCKS; clock++) {
    bench_times times;
    ck_assert_int_eq(bench_peer_do(&peer, "poison", &error), VYRE_OK);
    ck_assert_int_eq(bench_peer_do(&peer, "output", &error), VYRE_OK);
    ck_assert_msg(all_poison(output), "%s: %s keeps what it was told to spoil", path, work.id);
    vyre_status sampled = bench_peer_sample(&peer, (bench_clock)clock, sets + 1, &times, &error);
    ck_assert_msg(sampled == VYRE_OK || (clock == BENCH_DEVICE && sampled == VYRE_ERR_UNSUPPORTED), "%s: %s: %s", path,
                  work.id, error.text);
    if (sampled != VYRE_OK) continue;
    ck_assert_msg((clock == BENCH_DEVICE ? times.device_ns : times.wall_ns) > 0, "%s: no time", path);
    ck_assert_int_eq(bench_peer_do(&peer, "output", &error), VYRE_OK);
    ck_assert_msg(memcmp(right, output->host, output->bytes) == 0, "%s: %s.%s of %" PRIu64 " is wrong", path, work.id,
                  workload->variant, n);
  }
  bench_peer_end(&peer);
  free(right);
  bench_work_free(&work);
  return status == VYRE_OK;
}

/* A peer that takes no work at all has no device; one that is on a CPU takes at least one. */
START_TEST(right_answers) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (int p = 0; p < PEERS; p++) {
    if (!built(peers[p])) continue;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
      const bench_workload *workload = rows[i].workload;
      if (!workload->program || (i > 0 && rows[i - 1].workload == workload)) continue;
      if (!try_work(workload, 1, 1)) continue;
      try_work(workload, 1003, 3);
      try_work(workload, 70001, 2);
      taken++;
    }
    printf("%s: %u workloads\n", peers[p], taken);
    if (!strcmp(peers[p], "gcc") || !strcmp(peers[p], "clang")) ck_assert_uint_gt(taken, 0);
  }
}
END_TEST

static const char *const probes[] = {"probe.bw_copy",  "probe.bw_triad",     "probe.bw_read",   "probe.bw_cache",
                                     "probe.bw_h2d",   "probe.bw_d2h",       "probe.t_launch",  "probe.t_barrier",
                                     "probe.t_event",  "probe.t_graph_node", "probe.unheard_of"};

START_TEST(probes_find_something) {
  for (int p = 0; p < PEERS; p++) {
    uint32_t taken = 0;
    if (!built(peers[p])) continue;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
      bench_work work = {.id = probes[i], .n = 1 << 20, .file = -1};
      vyre_error error = VYRE_ERROR_INIT;
      bench_times times;
      bench_peer peer;
      vyre_status status = bench_peer_begin(&peer, path, &work, &error);
      ck_assert_msg(status == VYRE_OK || status == VYRE_ERR_UNSUPPORTED, "%s: %s: %s", path, probes[i], error.text);
      if (status != VYRE_OK) continue;
      taken++;
      status = bench_peer_sample(&peer, BENCH_DEVICE, 2, &times, &error);
      if (status == VYRE_ERR_UNSUPPORTED) status = bench_peer_sample(&peer, BENCH_WALL_RESIDENT, 2, &times, &error);
      ck_assert_msg(status == VYRE_OK, "%s: %s: %s", path, probes[i], error.text);
      ck_assert(isgreater(times.device_ns, 0) || isgreater(times.wall_ns, 0));
      ck_assert_uint_ge(peer.who.parts, 1);
      ck_assert(strncmp(probes[i], "probe.bw", 8) != 0 || peer.who.bytes > 0);
      bench_peer_end(&peer);
    }
    printf("%s: %u probes\n", peers[p], taken);
    if (!strcmp(peers[p], "gcc") || !strcmp(peers[p], "clang")) ck_assert_uint_eq(taken, 6);
  }
}
END_TEST

int main(void) {
  int found = 0;
  for (int p = 0; p < PEERS; p++) found += built(peers[p]);
  if (!found) {
    puts("no peer was built; bench/peers/build --why says why");
    return 77;
  }
  const TTest *const tests[] = {right_answers, probes_find_something, NULL};
  return run_suite("peers", 300, tests);
}
