/* A device of the fake plugin, or of the oracle, for one test. */
#ifndef VYRE_TESTS_BACKEND_DEVICE_FOR_H
#define VYRE_TESTS_BACKEND_DEVICE_FOR_H

#include <check.h>
#include <string.h>

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

/* |call| goes well; it may name |error|. */
#define OK(call)                                                                                            \
  do {                                                                                                      \
    vyre_error error = VYRE_ERROR_INIT;                                                                     \
    vyre_status got = (call);                                                                               \
    ck_assert_msg(got == VYRE_OK, "%s: %s: %s", #call, vyre_status_name(got), error.text);                  \
  } while (0)

/* It ends with this status, and says that and what would help. */
#define REFUSED(call, wanted, says)                                                                         \
  do {                                                                                                      \
    vyre_error error = VYRE_ERROR_INIT;                                                                     \
    vyre_status got = (call);                                                                               \
    ck_assert_msg(got == (wanted), "%s: %s", vyre_status_name(got), error.text);                            \
    ck_assert_int_eq(error.status, (wanted));                                                               \
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" is not in: %s", says, error.text);              \
    ck_assert_msg(strstr(error.text, "Fix: ") != NULL, "no fix: %s", error.text);                           \
  } while (0)

/* y[i] += x[i] * a */
#define SAXPY                                                                       \
  "program saxpy workgroup(64) { param a: f32; read x: f32[]; rw y: f32[];\n"      \
  "  let i = gid.x; if (i < len(y)) { y[i] = fma(a, x[i], y[i]); } }"

#endif
