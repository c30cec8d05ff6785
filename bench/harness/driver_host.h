/* A contestant that is a function of this process: compiling a program, making a buffer. */
#ifndef VYRE_BENCH_DRIVER_HOST_H
#define VYRE_BENCH_DRIVER_HOST_H

#include "driver.h"

typedef struct bench_host_work {
  const char *how;
  /* Does it once, and frees what the time before left, so that every run costs the same. */
  vyre_status (*run)(void *ctx, vyre_error *error);
  /* OK if the last run's result is right; else the error says what is not. After |spoil| it is not right. */
  vyre_status (*check)(void *ctx, vyre_error *error);
  void (*spoil)(void *ctx);
  void (*destroy)(void *ctx);
} bench_host_work;

/* Takes |ctx| on: it is destroyed with the driver, or at once if there is no memory. It is measured by the wall clock,
 * resident. |host| stays the caller's and is constant. */
vyre_status bench_driver_host(const bench_host_work *host, void *ctx, const bench_work *work, bench_driver *out,
                              vyre_error *error);

#endif
