/* Probes of the CPU that are not one pass over arrays: bandwidth of the cache, cost of threads. */
#include "cpu.h"

#include <omp.h>

enum { BARRIERS = 1000, READS_OF_CACHE = 1000 };

static uint32_t *lines[1024];
static size_t line_words;
static volatile uint32_t sink;

/* Each thread reads half of its own second-level cache, again and again. */
static uint64_t prepare_cache(int threads, uint64_t n) {
  uint64_t bytes = n ? n : cpu_private_cache() / 2;
  if (threads > 1024 || bytes < 4096) return 0;
  line_words = bytes / sizeof(uint32_t) / 64 * 64;
  uint32_t made = 0;
#pragma omp parallel num_threads(threads) reduction(+ : made)
  {
    int t = omp_get_thread_num();
    lines[t] = peer_memory(line_words * sizeof(uint32_t));
    made += lines[t] != NULL;
    for (size_t i = 0; lines[t] && i < line_words; i++) lines[t][i] = (uint32_t)i * 2654435761u;
  }
  return made == (uint32_t)threads ? (uint64_t)threads * line_words * sizeof(uint32_t) * READS_OF_CACHE : 0;
}

static void launch_cache(int threads) {
#pragma omp parallel num_threads(threads)
  {
    const uint32_t *words = lines[omp_get_thread_num()];
    uint32_t sum = 0;
    for (uint32_t round = 0; round < READS_OF_CACHE; round++) {
      __asm__ volatile("" : "+r"(words) : : "memory"); /* each round reads anew */
      for (size_t i = 0; i < line_words; i++) sum += words[i];
    }
    sink = sum;
  }
}

static void launch_nothing(int threads) {
#pragma omp parallel num_threads(threads)
  __asm__ volatile("");
}

static void launch_barriers(int threads) {
#pragma omp parallel num_threads(threads)
  for (uint32_t i = 0; i < BARRIERS; i++) {
#pragma omp barrier
  }
}

const cpu_probe cpu_probes[] = {
  {"probe.bw_cache", "each thread sums half of its second-level cache 1000 times", prepare_cache, launch_cache, 1},
  {"probe.t_launch", "a parallel region of all threads without work", NULL, launch_nothing, 1},
  {"probe.t_barrier", "1000 OpenMP barriers in one parallel region", NULL, launch_barriers, BARRIERS},
};
const uint32_t cpu_probe_count = sizeof cpu_probes / sizeof *cpu_probes;
