/* A device of the fake plugin, or of the oracle, for one test. */
#ifndef VYRE_TESTS_BACKEND_DEVICE_FOR_H
#define VYRE_TESTS_BACKEND_DEVICE_FOR_H

#include <vyre/vyre.h>

typedef struct bench {
  vyre_config *config;
  vyre_context *context;
  vyre_device *device;
} bench;

/* The fake plugin under the name of a fault ("sound" for none). */
bench bench_fake(const char *fault);
bench bench_cpu_ref(void);
/* Closes the device, which must go well, and removes the rest. */
void bench_end(bench *b);
/* Objects of the fake device that live. */
uint64_t live_objects(vyre_device *device);
/* Parses a program; fails the test with its diagnostics. */
vyre_program *program_of(const char *text);
vyre_executable *compile(const bench *b, const char *text);

/* y[i] += x[i] * a */
#define SAXPY                                                                       \
  "program saxpy workgroup(64) { param a: f32; read x: f32[]; rw y: f32[];\n"      \
  "  let i = gid.x; if (i < len(y)) { y[i] = fma(a, x[i], y[i]); } }"

#endif
