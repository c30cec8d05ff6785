/* A peer: a program of its own that does the work of a case in its own best way, for the harness to measure beside
 * vyre. It is a child process, so a peer may use any library, fail to start, or crash, and costs nothing but its row.
 *
 * The harness makes one file of shared memory (memfd) that holds the case's inputs and room for its outputs, starts
 * the peer with that file as descriptor 3, and speaks with it by lines on stdin and stdout:
 *
 *   harness: case ID N                    the work and its size
 *   harness: array NAME in|out TYPE COUNT OFFSET    one line an array; OFFSET in the file, a multiple of 4096
 *   harness: param NAME VALUE             one line a number
 *   harness: ready
 *   peer:    ok NAME\tVERSION\tBUILD\tFLAGS\tHOW\tDEVICE\tKIND\tBYTES\tPARTS
 *                                         after all that is not timed (allocation, upload, plans), or
 *            no REASON                    and the peer ends
 *   harness: sample CLOCK LAUNCHES        device, resident, readback or e2e
 *   peer:    time WALL_NS DEVICE_NS       per launch; - for what it does not know
 *   harness: output                       write the outputs of the last sample to the file
 *   peer:    done
 *   harness: poison                       spoil the outputs where they are kept, so that a stale result shows
 *   peer:    done
 *   harness: quit, or the end of stdin    the peer ends with status 0
 *
 * A request after ready that cannot be met is answered with "no REASON", and the peer goes on.
 *
 * The names of the arrays and parameters of each work are listed in README.md. Two parameters mean the same in each:
 * buffer_sets R (default 1) asks for R copies of all arrays, which the launches go through in turn; graph 0 asks for
 * plain launches where the default would replay a recorded graph.
 *
 * A probe is a work with the id probe.NAME (bw_copy, t_launch, ...), without arrays; N is the size of its working set
 * in bytes, 0 if the peer chooses. Its value is BYTES / time if BYTES is not 0, else time / PARTS.
 *
 * A peer implements the functions below and calls peer_main; the protocol is in peer.c. Everything that a sample does
 * not have to do, such as choosing the best block size or thread count, happens in |prepare|. */
#ifndef VYRE_BENCH_PEER_H
#define VYRE_BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PEER_MAX_ARRAYS = 16, PEER_MAX_PARAMS = 16, PEER_MAX_NAME = 63 };

typedef enum peer_clock { PEER_DEVICE, PEER_RESIDENT, PEER_READBACK, PEER_E2E } peer_clock;

typedef struct peer_array {
  char name[PEER_MAX_NAME + 1], type[PEER_MAX_NAME + 1];
  bool output;
  uint64_t count, bytes;
  void *host; /* in the shared memory */
} peer_array;

typedef struct peer_param {
  char name[PEER_MAX_NAME + 1];
  double value;
} peer_param;

/* The work, as the harness stated it. */
typedef struct peer_work {
  char id[PEER_MAX_NAME + 1];
  uint64_t n;
  peer_array arrays[PEER_MAX_ARRAYS];
  peer_param params[PEER_MAX_PARAMS];
  uint32_t array_count, param_count;
} peer_work;

/* Who does it, and what one launch holds. */
typedef struct peer_identity {
  const char *name, *version, *build, *flags, *how;
  const char *device; /* what it runs on */
  const char *kind;   /* "cpu" or "gpu": which clocks it may be held against */
  uint64_t bytes;     /* read and written by a launch; 0: not stated */
  uint64_t parts;     /* equal parts of a launch, such as the nodes of a graph; at least 1 */
} peer_identity;

typedef struct peer_times {
  double wall_ns, device_ns; /* per launch; negative if not known */
} peer_times;

/* What a peer is. Each returns NULL, or why it cannot, in static storage or peer_reason's. */
typedef struct peer_program {
  /* Takes the work on, allocates, uploads inputs, tunes; fills |identity|. */
  const char *(*prepare)(const peer_work *work, peer_identity *identity);
  /* Does the work |launches| times and measures. */
  const char *(*sample)(peer_clock clock, uint32_t launches, peer_times *times);
  /* Brings the outputs to the shared memory; spoils them where they are kept. */
  const char *(*output)(void);
  const char *(*poison)(void);
} peer_program;

int peer_main(const peer_program *program);

/* The array or parameter of that name; ends the process with a message if there is none. */
const peer_array *peer_find(const peer_work *work, const char *name);
double peer_value(const peer_work *work, const char *name);
double peer_value_or(const peer_work *work, const char *name, double otherwise);
/* A text of printf's kind, valid until the next call. */
const char *peer_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The monotonic clock in ns. */
double peer_now(void);
/* Memory in huge pages where the system has them, aligned to one, zero, never freed; NULL if there is none. */
void *peer_memory(uint64_t bytes);
/* The processor's name. */
const char *peer_cpu(void);
/* Whether the work is a probe. */
bool peer_is_probe(const peer_work *work);
/* The parameter buffer_sets; 0 if it is not 1 to |most|. */
uint32_t peer_buffer_sets(const peer_work *work, uint32_t most);

#ifdef __cplusplus
}
#endif
#endif
