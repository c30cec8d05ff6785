/* The CPU peer: takes a kernel, finds out how many threads and which way of storing do it fastest here, measures.
 *
 * Threads are bound to cores; of n threads, as few as can be share one. They spin while a sample runs and are gone
 * between samples, so they take nothing from whom is measured in between. Memory is in huge pages and first touched by
 * the thread that works on it. */
#include "cpu.h"

#include "peer_identity.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum { BLOCK = 4096, PART = 4096, PARTIAL_STRIDE = CPU_LINE / 8, MAX_SETS = 64 };

static struct {
  const cpu_kernel *kernel;
  const cpu_probe *probe;
  const peer_array *result;
  uint64_t n, out_bytes;
  cpu_data sets[MAX_SETS];
  uint32_t set_count, next, last;
  uint64_t *partial;
  int max_threads, threads;
  bool streaming;
} me;

uint64_t cpu_private_cache(void) {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Reads a file of one line by one format. */
static bool read_file(const char *path, const char *format, void *first) {
  FILE *file = fopen(path, "re");
  bool got = file && fscanf(file, format, first) == 1;
  if (file) fclose(file);
  return got;
}

/* How many processors a list such as "0-7,64-71" names. */
static uint32_t count_list(const char *list) {
  uint32_t count = 0, from, to;
  int used = 0;
  for (; sscanf(list, "%u%n", &from, &used) == 1; list += *list == ',') {
    list += used;
    to = from;
    if (*list == '-' && sscanf(list + 1, "%u%n", &to, &used) == 1) list += 1 + used;
    count += to >= from ? to - from + 1 : 0;
  }
  return count;
}

/* Each group of processors that share one has as much as the first. */
uint64_t cpu_shared_caches(void) {
  uint64_t kilobytes;
  char list[1024];
  if (!read_file("/sys/devices/system/cpu/cpu0/cache/index3/size", "%" SCNu64 "K", &kilobytes)) return 0;
  if (!read_file("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "%1023s", list)) return 0;
  uint32_t sharing = count_list(list), processors = (uint32_t)omp_get_num_procs();
  return sharing ? kilobytes * 1024 * ((processors + sharing - 1) / sharing) : 0;
}

/* ---- One launch ---- */

/* Past the caches, in whole lines; |to| is aligned to one. */
static void store_past_caches(void *to, const void *from, size_t bytes) {
  size_t at = 0;
#if defined __AVX512F__
  for (; at + 64 <= bytes; at += 64)
    _mm512_stream_si512((__m512i *)((char *)to + at), _mm512_load_si512((const char *)from + at));
#elif defined __SSE2__
  for (; at + 16 <= bytes; at += 16)
    _mm_stream_si128((__m128i *)((char *)to + at), _mm_load_si128((const __m128i *)((const char *)from + at)));
#endif
  memcpy((char *)to + at, (const char *)from + at, bytes - at);
}

static void run_streaming(const cpu_data *set, size_t begin, size_t end) {
  _Alignas(CPU_LINE) unsigned char block[BLOCK];
  const size_t element = me.kernel->element, step = BLOCK / element;
  for (size_t at = begin; at < end; at += step) {
    size_t count = end - at < step ? end - at : step;
    me.kernel->run(set, at, count, block);
    store_past_caches((char *)set->out + at * element, block, count * element);
  }
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/* What thread |t| of |threads| does: whole parts, so that no line is written by two. */
static void run_part(const cpu_data *set, int t, int threads) {
  size_t parts = (me.n + PART - 1) / PART;
  size_t begin = parts * (size_t)t / (size_t)threads * PART;
  size_t end = parts * ((size_t)t + 1) / (size_t)threads * PART;
  if (end > me.n) end = me.n;
  if (me.kernel->combine) me.kernel->run(set, begin, end - begin, &me.partial[t * PARTIAL_STRIDE]);
  else if (me.streaming) run_streaming(set, begin, end);
  else me.kernel->run(set, begin, end - begin, (char *)set->out + begin * me.kernel->element);
}

static void launch_kernel(const cpu_data *set) {
  if (me.threads == 1) {
    run_part(set, 0, 1);
  } else {
#pragma omp parallel num_threads(me.threads)
    run_part(set, omp_get_thread_num(), me.threads);
  }
  if (me.kernel->combine) me.kernel->combine(set->out, me.partial, PARTIAL_STRIDE, me.threads);
}

static void launch(void) {
  if (me.probe) {
    me.probe->launch(me.threads);
    return;
  }
  launch_kernel(&me.sets[me.next]);
  me.last = me.next;
  me.next = (me.next + 1) % me.set_count;
}

static void wake_threads(void) {
  if (me.threads == 1) return;
#pragma omp parallel num_threads(me.threads)
  __asm__ volatile("");
}

static void dismiss_threads(void) {
  if (me.threads > 1) omp_pause_resource(omp_pause_hard, omp_get_initial_device());
}

/* ---- Preparing ---- */

/* The shortest of some launches. */
static double try_out(int threads, bool streaming) {
  me.threads = threads;
  me.streaming = streaming;
  wake_threads();
  launch();
  double best = 1e300, begun = peer_now();
  for (int i = 0; i < 3 || (i < 1000 && peer_now() - begun < 3e6); i++) {
    double start = peer_now();
    launch();
    double took = peer_now() - start;
    if (took < best) best = took;
  }
  return best;
}

static void tune(void) {
  int best_threads = 1;
  bool best_streaming = false;
  double best = 1e300;
  bool may_stream = false;
#ifdef __SSE2__
  may_stream = !me.kernel->combine;
#endif
  for (int threads = 1;; threads = threads * 2 < me.max_threads ? threads * 2 : me.max_threads) {
    for (int streaming = 0; streaming <= may_stream; streaming++) {
      double took = try_out(threads, streaming);
      if (took >= best) continue;
      best = took;
      best_threads = threads;
      best_streaming = streaming;
    }
    if (threads == me.max_threads) break;
  }
  me.threads = best_threads;
  me.streaming = best_streaming;
}

/* Memory for |elements|, first touched as the kernel will, with |from| in it. */
static void *place(const void *from, uint64_t elements) {
  const size_t element = me.kernel->element;
  if (elements > SIZE_MAX / element) return NULL;
  char *to = peer_memory(elements * element);
  if (!to) return NULL;
  size_t parts = (elements + PART - 1) / PART;
#pragma omp parallel for schedule(static) num_threads(me.max_threads)
  for (size_t part = 0; part < parts; part++) {
    size_t begin = part * PART, end = begin + PART < elements ? begin + PART : elements;
    if (from) memcpy(to + begin * element, (const char *)from + begin * element, (end - begin) * element);
    else memset(to + begin * element, 1, (end - begin) * element);
  }
  return to;
}

/* Elements of a probe's arrays: four times the last cache, and at least 64 MiB, each. */
static uint64_t probe_elements(const peer_work *work) {
  uint64_t bytes = 4 * cpu_shared_caches();
  if (bytes < 64 << 20) bytes = 64 << 20;
  if (bytes > 1 << 30) bytes = 1 << 30;
  return (work->n ? work->n : bytes) / me.kernel->element;
}

static const char *take_arrays(const peer_work *work) {
  const cpu_kernel *kernel = me.kernel;
  me.result = peer_find(work, kernel->output);
  me.n = peer_find(work, kernel->inputs[0])->count;
  if (me.result->count != (kernel->combine ? 1 : me.n)) return "the output has not the input's length";
  for (int k = 0; k < CPU_MAX_INPUTS && kernel->inputs[k]; k++) {
    const peer_array *input = peer_find(work, kernel->inputs[k]);
    if (input->count != me.n || strcmp(input->type, kernel->type)) return "the inputs differ in length or type";
  }
  return NULL;
}

static const char *place_sets(const peer_work *work) {
  me.set_count = peer_buffer_sets(work, MAX_SETS);
  if (!me.set_count) return peer_reason("buffer_sets is not 1 to %d", MAX_SETS);
  me.partial = peer_memory((uint64_t)me.max_threads * CPU_LINE);
  if (!me.partial) return "out of memory";
  for (uint32_t s = 0; s < me.set_count; s++) {
    cpu_data *set = &me.sets[s];
    for (int k = 0; k < CPU_MAX_INPUTS && me.kernel->inputs[k]; k++) {
      const void *from = peer_is_probe(work) ? NULL : peer_find(work, me.kernel->inputs[k])->host;
      if (!(set->in[k] = place(from, me.n))) return "out of memory";
    }
    if (!(set->out = place(NULL, me.kernel->combine ? 1 : me.n))) return "out of memory";
  }
  return NULL;
}

static uint64_t bytes_of_launch(void) {
  uint64_t arrays = me.kernel->combine ? 0 : 1;
  for (int k = 0; k < CPU_MAX_INPUTS && me.kernel->inputs[k]; k++) arrays++;
  return arrays * me.n * me.kernel->element;
}

static const char *prepare_kernel(const peer_work *work, peer_identity *identity) {
  if (peer_is_probe(work)) {
    me.n = probe_elements(work);
  } else {
    const char *fault = take_arrays(work);
    if (fault) return fault;
  }
  if (me.n == 0) return "there is nothing to do";
  const char *fault = me.kernel->begin ? me.kernel->begin(work) : NULL;
  if (!fault) fault = place_sets(work);
  if (fault) return fault;

  tune();
  static char how[160];
  snprintf(how, sizeof how, "OpenMP, %d of %d threads bound to cores, %s; fastest of those tried", me.threads,
           me.max_threads, me.kernel->combine ? "partial sums" : me.streaming ? "streaming stores" : "plain stores");
  identity->how = how;
  identity->bytes = bytes_of_launch();
  return NULL;
}

static const char *prepare_probe(const peer_work *work, peer_identity *identity) {
  me.threads = me.max_threads;
  if (me.probe->prepare) {
    identity->bytes = me.probe->prepare(me.threads, work->n);
    if (!identity->bytes) return "the size of the cache is not known";
  }
  identity->how = me.probe->how;
  identity->parts = me.probe->parts;
  return NULL;
}

/* A work without arrays fits a kernel by its id alone. */
static bool fits(const cpu_kernel *kernel, const peer_work *work) {
  if (strcmp(kernel->id, work->id)) return false;
  return peer_is_probe(work) || !strcmp(kernel->type, peer_find(work, kernel->output)->type);
}

static const char *prepare(const peer_work *work, peer_identity *identity) {
  me.max_threads = omp_get_max_threads();
  for (uint32_t i = 0; i < cpu_kernel_count; i++)
    if (fits(&cpu_kernels[i], work)) me.kernel = &cpu_kernels[i];
  for (uint32_t i = 0; i < cpu_probe_count; i++)
    if (!strcmp(cpu_probes[i].id, work->id)) me.probe = &cpu_probes[i];
  if (!me.kernel && !me.probe) return peer_reason("%s has no \"%s\" of this type", PEER_NAME, work->id);

  identity->name = PEER_NAME;
  identity->version = __VERSION__;
  identity->build = PEER_BUILD;
  identity->flags = PEER_FLAGS;
  identity->device = peer_cpu();
  identity->kind = "cpu";
  const char *fault = me.kernel ? prepare_kernel(work, identity) : prepare_probe(work, identity);
  dismiss_threads();
  return fault;
}

/* ---- Measuring ---- */

/* The host's memory is the device's, so all clocks but the device's own are the same. */
static const char *sample(peer_clock clock, uint32_t launches, peer_times *times) {
  if (clock == PEER_DEVICE) return "a CPU has no clock of its own";
  wake_threads();
  double start = peer_now();
  for (uint32_t i = 0; i < launches; i++) launch();
  times->wall_ns = (peer_now() - start) / launches;
  dismiss_threads();
  return NULL;
}

static const char *output(void) {
  if (me.result) memcpy(me.result->host, me.sets[me.last].out, me.result->bytes);
  return NULL;
}

static const char *poison(void) {
  for (uint32_t s = 0; me.result && s < me.set_count; s++) memset(me.sets[s].out, 0xA5, me.result->bytes);
  return NULL;
}

/* The OpenMP runtime reads its environment before main: it is set, and the program begins anew. */
int main(int argc, char **argv) {
  (void)argc;
  if (!getenv("OMP_PLACES")) {
    setenv("OMP_PLACES", "threads", 1);
    setenv("OMP_PROC_BIND", "spread", 0);
    setenv("OMP_WAIT_POLICY", "active", 0);
    setenv("OMP_DYNAMIC", "false", 0);
    execv("/proc/self/exe", argv);
  }
  return peer_main(&(peer_program){prepare, sample, output, poison});
}
