/* libcuda, opened at run time, and its answers in words. */
#ifndef CUDA_API_H
#define CUDA_API_H

#include "plugins/cuda/driver.h"
#include "plugins/gpu/answer.h"

/* The functions that entries.def lists; those that are optional may be NULL. */
typedef struct cuda_api {
#define X(name, symbol, since, need, parameters) CUresult(*name) parameters;
#include "plugins/cuda/entries.def"
#undef X
  int version; /* of the driver: 1000 * major + 10 * minor of the CUDA that it is made for */
} cuda_api;

/* The oldest driver that has everything required. */
enum { CUDA_OLDEST_DRIVER = 11040 };

/* Opens the library that cuda.library names, else libcuda.so.1, and finds its functions. Starts nothing. The library is
 * never closed: it has threads of its own.
 * Errors: LIBRARY_ABSENT (not there, unloadable, or the toolkit's stub), TOO_OLD, FORKED, DENIED. */
vyre_status cuda_api_open(const vyre_host *host, cuda_api *out, vyre_error *error);
/* cuInit, once more. Errors: NO_DEVICE, FORKED, TOO_OLD, DENIED, BROKEN_PLUGIN. */
vyre_status cuda_api_start(const cuda_api *api, vyre_error *error);
/* Whether that has worked in this process. */
bool cuda_api_is_started(void);

/* What the library said, for people: "CUDA_ERROR_X (its words)". |out| has room for CUDA_WORDS bytes. */
enum { CUDA_WORDS = 160 };
const char *cuda_words(const cuda_api *api, CUresult code, char *out);

/* Whether the code is one that a context never leaves again. */
bool cuda_is_sticky(CUresult code);
/* The status that a code stands for, and what a user can do about it. */
vyre_status cuda_status_of(CUresult code);
const char *cuda_fix_of(CUresult code);
/* Fills |error| with "what: words. Fix: ..." for a code that is no success. |what| names what was wanted. */
vyre_status cuda_fail(const cuda_api *api, CUresult code, const char *where, const char *what, vyre_error *error);

#endif
