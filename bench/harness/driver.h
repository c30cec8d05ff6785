/* Someone who can do the work of a case: vyre on a device (driver_vyre.c), a peer in its own process (driver_peer.c),
 * or a function of this process that a workload brings along. Whatever is not timed has happened when it exists. */
#ifndef VYRE_BENCH_DRIVER_H
#define VYRE_BENCH_DRIVER_H

#include <vyre/device.h>

#include "record.h"
#include "work.h"

typedef struct bench_times {
  double wall_ns, device_ns; /* a launch; negative if not known */
} bench_times;

typedef struct bench_driver bench_driver;
typedef struct bench_driver_table {
  /* Does the work |launches| times and measures. BENCH_DEVICE: launches back to back, between two events of the
   * device. The wall clocks: each launch is one operation and is waited for, with what its clock includes.
   * UNSUPPORTED: it does not have that clock. */
  vyre_status (*sample)(bench_driver *d, bench_clock clock, uint32_t launches, bench_times *out, vyre_error *error);
  /* Brings the outputs of the last launch to the work's arrays; spoils them where the device keeps them. */
  vyre_status (*output)(bench_driver *d, vyre_error *error);
  vyre_status (*poison)(bench_driver *d, vyre_error *error);
  /* Others are measured from here on (resting), or it is its turn again. NULL: it does nothing unasked. */
  void (*rest)(bench_driver *d, bool resting);
  /* Fills who it is, how it was built and its launches, with memory of |arena|. False without memory. */
  bool (*describe)(bench_driver *d, vyre_arena *arena, bench_contestant *out);
  void (*close)(bench_driver *d);
} bench_driver_table;

struct bench_driver {
  const bench_driver_table *table; /* NULL: not open */
  const bench_work *work;
  void *self;
  double cold_ns; /* from nothing to the first result in host memory; negative if not known */
};

/* What vyre's contestant runs on. */
typedef struct bench_setting {
  vyre_context *context;
  const char *device_name; /* as vyre_device_open takes it */
  vyre_device *device;     /* shared by all cases of a run */
  const vyre_compile_options *compile; /* or NULL */
} bench_setting;

/* |program| on the setting's device: every array is bound to the buffer of its name, every parameter to its own.
 * Measures |cold_ns| on a device that it opens for that. */
vyre_status bench_driver_vyre(const bench_setting *setting, const bench_work *work, const char *program,
                              bench_driver *out, vyre_error *error);
/* The peer in the file |path|. What goes wrong, whatever it is, is a reason in |error|. */
vyre_status bench_driver_peer(const char *path, const bench_work *work, bench_driver *out, vyre_error *error);

void bench_driver_close(bench_driver *d);

#endif
