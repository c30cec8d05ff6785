/* The CUDA plugin on the fake driver: its table, called directly, one small program, and C functions that run in place
 * of its kernels. A test has a process of its own. */
#ifndef TESTS_CUDA_RIG_H
#define TESTS_CUDA_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include <vyre/backend.h>

#include "tests/fake/cuda_abi.h"
#include "tests/fake/script.h"

/* What a test calls of the fake library. */
typedef struct rig_fake {
  __typeof__(fake_script) *script;
  __typeof__(fake_calls) *calls;
  __typeof__(fake_live) *live;
  __typeof__(fake_kernel) *kernel;
  CUresult (*current)(CUcontext *out);
  CUresult (*make_current)(CUcontext context);
  CUresult (*retain)(CUcontext *out, CUdevice device);
  CUresult (*release)(CUdevice device);
} rig_fake;
extern rig_fake fake;
extern const vyre_backend_ops *ops;
extern vyre_host host;
extern char rig_logged[4096]; /* the plugin's lines */

/* Opens fake library and plugin. Every test begins with it. */
void rig_load(const char *script);
/* Another script; all counts begin anew, and the C functions stay. */
void rig_script(const char *script);
/* `cuda.KEY` is VALUE for the plugin. */
void rig_set(const char *key, const char *value);

/* y[i] = x[i] * 3 + n */
extern const char rig_program[];
enum { RIG_ELEMENTS = 256, RIG_GROUP = 64, RIG_GROUPS = RIG_ELEMENTS / RIG_GROUP };
/* The blob of a program for the record of device 0; the caller frees data. */
vyre_bytes rig_compile(const vyre_capabilities *record, const char *text);

/* Everything that one run takes. Each member is NULL until it is made; what fails leaves the rest so. */
typedef struct rig {
  vyre_plugin *plugin;
  vyre_plugin_device *device;
  vyre_plugin_executable *executable;
  vyre_plugin_buffer *x, *y, *local; /* the last one is the device's alone */
  uint32_t *x_words, *y_words;
  vyre_plugin_set *set;
  vyre_plugin_batch *batch;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
  uint64_t value; /* that the last submission signals */
} rig;

/* Makes all of it on device |index|, with |count| dispatches in the batch and an ORDER between; where there are
 * several, x is copied to the device at the end. Gives the first status
 * that is not OK, with |error| filled and *step naming the call. */
vyre_status rig_make(rig *r, uint32_t index, const vyre_bytes *blob, uint32_t count, const char **step,
                     vyre_error *error);
/* The same for a test that wants no failure. */
void rig_open(rig *r, const char *text, uint32_t count);
/* Submits the batch; waits for its end; gives what submit, the wait or the record says. */
vyre_status rig_run(rig *r, vyre_plugin_batch *batch, vyre_completion *completion, vyre_error *error);
/* rig_run of its own batch, whose result has to be right. */
void rig_check(rig *r, uint32_t n);
/* Destroys what there is. */
void rig_close(rig *r);
/* No object of the driver lives but what did as rig_forget was called last. */
void rig_nothing_lives(const char *when);
void rig_forget(void);

/* A batch of one command. */
vyre_plugin_batch *rig_batch(rig *r, uint32_t kind, const void *record);
vyre_plugin_buffer *rig_buffer(rig *r, uint64_t bytes, void *words);

/* A failure that has a text with a fix. */
void rig_wants(const char *what, vyre_status found, vyre_status wanted, const vyre_error *error);

#endif
