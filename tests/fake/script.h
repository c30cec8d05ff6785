/* What both fake vendor libraries share: the script that says how they answer, the counts of their calls, and threads
 * that do queued work in order. README.md describes the script. */
#ifndef VYRE_TESTS_FAKE_SCRIPT_H
#define VYRE_TESTS_FAKE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that a test calls: it finds them by dlsym in the fake library, beside the vendor's. */
#define FAKE_EXPORT __attribute__((visibility("default")))

/* Puts another script in place of the present one and begins all counts anew. NULL, or what is wrong with it; then
 * nothing has changed. Not while another thread is inside the library. */
FAKE_EXPORT const char *fake_script(const char *text);
/* How often an entry point was called, by its name as in the vendor's documentation. Any thread. */
FAKE_EXPORT uint64_t fake_calls(const char *name);
/* Objects of a kind ("memory", "stream", ...) that live. Any thread. */
FAKE_EXPORT int64_t fake_live(const char *kind);

/* One launch of a kernel, as a C function sees it that runs in its place. */
typedef struct fake_launch {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  uint32_t argument_count;
  const void *arguments[64]; /* of parameters or bindings, in order */
  uint64_t sizes[64];        /* of each in bytes, 0 if unknown */
} fake_launch;
typedef void (*fake_kernel_fn)(const fake_launch *launch);
/* Has |fn| run in place of every kernel called |name|; NULL for none. It may be called on any thread. */
FAKE_EXPORT void fake_kernel(const char *name, fake_kernel_fn fn);

/* ---- For the libraries themselves ------------------------------------------------------------ */

/* A vendor's number by its name, for scripts. The list ends with a NULL name. */
typedef struct fake_code {
  const char *name;
  int64_t number;
} fake_code;
/* Must be called before anything else: the library's codes, and the variable that holds its script. */
void fake_begin(const char *variable, const fake_code *codes);

/* Whether the script takes an entry point away. */
bool fake_is_absent(const char *name);
/* Counts and traces a call. True if the script says that it fails, with *code. */
bool fake_enter(const char *name, int64_t *code);
/* Counts a submission. True if it is the one that loses the device, with *code: the script's, or else |otherwise|. */
bool fake_loses(int64_t otherwise, int64_t *code);
/* What `set KEY VALUE` says. */
const char *fake_text(const char *key, const char *otherwise);
uint64_t fake_number(const char *key, uint64_t otherwise);
void fake_born(const char *kind);
void fake_died(const char *kind);
/* The function that runs in place of a kernel, or NULL. */
fake_kernel_fn fake_find_kernel(const char *name);

/* ---- Work in order --------------------------------------------------------------------------- */

typedef struct fake_worker fake_worker;
fake_worker *fake_worker_new(void);
/* Runs run(ctx) on the worker's thread, after all before it. False without memory. */
bool fake_worker_put(fake_worker *worker, void (*run)(void *ctx), void *ctx);
bool fake_worker_is_idle(fake_worker *worker);
void fake_worker_wait(fake_worker *worker);
/* Ends once everything has been done; returns at once. NULL is allowed. */
void fake_worker_end(fake_worker *worker);

#endif
