/* A child process that is spoken to by lines: started with one socket as its stdin and stdout and one file as its
 * descriptor 3, never trusted. What it writes on stderr is kept, a little of it, to say why it ended. */
#ifndef VYRE_BENCH_CHILD_H
#define VYRE_BENCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <vyre/status.h>

enum { BENCH_LINE_BYTES = 8192, BENCH_TAIL_BYTES = 240 };

typedef struct bench_child {
  char path[VYRE_ERROR_WHERE_BYTES]; /* for messages, cut at its room */
  pid_t pid;        /* its process group as well; 0 if it does not run */
  int line, errors; /* the socket, and what it writes on stderr */
  char buffer[BENCH_LINE_BYTES]; /* read, and not yet taken */
  uint32_t buffered;
  char tail[BENCH_TAIL_BYTES + 1]; /* of stderr */
} bench_child;

/* Starts |path|; |file| becomes its descriptor 3 unless it is -1. Errors: IO, NOT_FOUND. */
vyre_status bench_child_start(bench_child *child, const char *path, int file, vyre_error *error);
/* Sends a formatted text. Errors: IO, with the reason why it ended, or if it does not read. */
__attribute__((format(printf, 3, 4))) vyre_status bench_child_say(bench_child *child, vyre_error *error,
                                                                  const char *format, ...);
/* Its next line without the line's end, control characters but tabs as blanks, to |line|. Errors: IO (it ended, the
 * line is too long), TIMEOUT. */
vyre_status bench_child_hear(bench_child *child, uint64_t timeout_ns, char line[BENCH_LINE_BYTES], vyre_error *error);
/* Stops its process group, or lets it go on. */
void bench_child_rest(bench_child *child, bool resting);
/* Ends it: by the end of its input if it goes within |grace_ns|, else by a signal. */
void bench_child_end(bench_child *child, uint64_t grace_ns);

#endif
