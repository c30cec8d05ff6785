/* The driver's compiler, and what it writes. */
#include "plugins/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS = 2 };

static void log_options(cuda_log *log, int names[OPTIONS], void *values[OPTIONS]) {
  log->text[0] = 0;
  names[0] = CU_JIT_ERROR_LOG_BUFFER;
  values[0] = log->text;
  names[1] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
  values[1] = (void *)(uintptr_t)(sizeof log->text - 1); /* the value itself, not its address */
}

/* The compiler writes no more than it was told, but nobody promises an end. */
static void end_log(cuda_log *log) { log->text[sizeof log->text - 1] = 0; }

CUresult cuda_jit_load(const cuda_api *api, const cuda_image *image, CUmodule *out, cuda_log *log) {
  int names[OPTIONS];
  void *values[OPTIONS];
  *out = NULL;
  log_options(log, names, values);
  CUresult code = api->cuModuleLoadDataEx(out, image->data, OPTIONS, names, values);
  end_log(log);
  return code;
}

CUresult cuda_jit_link(const cuda_api *api, const cuda_image *image, gpu_bytes *out, cuda_log *log) {
  int names[OPTIONS];
  void *values[OPTIONS], *machine = NULL;
  size_t bytes = 0;
  CUlinkState state = NULL;
  log_options(log, names, values);
  CUresult code = api->cuLinkCreate(OPTIONS, names, values, &state);
  if (code != CUDA_SUCCESS) return code;
  code = api->cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)image->data, image->bytes, image->name, 0, NULL,
                            NULL); /* what it writes goes where the linker was told */
  if (code == CUDA_SUCCESS) code = api->cuLinkComplete(state, &machine, &bytes);
  if (code == CUDA_SUCCESS) gpu_bytes_add(out, machine, bytes);
  api->cuLinkDestroy(state);
  end_log(log);
  return code;
}

/* ---- Complaints ------------------------------------------------------------------------------ */

/* Line |number| of a text, counted from 1; NULL if there is none. */
static const char *find_line(const cuda_image *image, unsigned long number) {
  const char *at = image->data;
  for (unsigned long line = 1; at != NULL && line < number; line++) {
    at = strchr(at, '\n');
    if (at != NULL) at++;
  }
  return at;
}

/* The number behind the first "line " of a log; 0 if it names none. */
static unsigned long line_of(const char *log) {
  const char *at = strstr(log, "line ");
  return at != NULL ? strtoul(at + 5, NULL, 10) : 0;
}

vyre_status cuda_jit_fail(const cuda_api *api, CUresult code, const cuda_image *image, const cuda_log *log,
                          vyre_error *error) {
  char words[CUDA_WORDS], complaint[200], line[120] = "";
  unsigned long number = image->is_text ? line_of(log->text) : 0;
  const char *text = number > 0 ? find_line(image, number) : NULL;
  snprintf(complaint, sizeof complaint, "%.*s", (int)strcspn(log->text, "\n"), log->text);
  if (text != NULL)
    snprintf(line, sizeof line, "; line %lu of the PTX is `%.*s`", number, (int)strcspn(text, "\n"), text);
  vyre_status status = gpu_fail_vendor(error, cuda_status_of(code), code, image->name,
                                       "the driver does not take the program's %s: %s%s%s%s. Fix: %s",
                                       image->is_text ? "PTX" : "machine code", cuda_words(api, code, words),
                                       complaint[0] != 0 ? ": " : "", complaint, line, cuda_fix_of(code));
  gpu_attach_log(error, log->text, strlen(log->text));
  return status;
}
