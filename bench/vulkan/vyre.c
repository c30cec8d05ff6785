/* vyre's side, through the public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/diagnostic.h>
#include <vyre/text.h>

#include "vulkan/contest.h"

#define VYRE_TRY(call)                                                \
  do {                                                                \
    vyre_error error = VYRE_ERROR_INIT;                               \
    if ((call) != VYRE_OK) return peer_reason("%s", error.text);      \
  } while (0)

const char *vyre_side_open(const vyre_config *config, vyre_log *log, vyre_side *out) {
  *out = (vyre_side){0};
  VYRE_TRY(vyre_context_create(config, log, &out->context, &error));
  VYRE_TRY(vyre_device_open(out->context, "vulkan", &out->device, &error));
  VYRE_TRY(vyre_queue_create(out->device, &out->queue, &error));
  return NULL;
}

void vyre_side_close(vyre_side *side) {
  vyre_queue_destroy(side->queue);
  if (side->device) vyre_device_close(side->device, VYRE_FOREVER, NULL);
  vyre_context_destroy(side->context);
}

bool vyre_side_promises(const vyre_side *side, uint32_t numeric) {
  return (vyre_device_capabilities(side->device)->numeric & numeric) == numeric;
}

/* ---- Programs ---- */

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  ssize_t length = file ? getdelim(&text, &room, '\0', file) : -1;
  if (file) fclose(file);
  *bytes = length < 0 ? 0 : (size_t)length;
  return text;
}

static const char *parse(const char *program, vyre_program **out) {
  char path[1024];
  size_t bytes;
  snprintf(path, sizeof path, "%s/%s", BENCH_DIR, program);
  char *text = read_file(path, &bytes);
  if (!text || bytes == 0) return peer_reason("%s can't be read", path);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_text_parse(text, bytes, NULL, NULL, out, &error);
  free(text);
  return status == VYRE_OK ? NULL : peer_reason("%s: %s", path, error.text);
}

const char *vyre_job_compile(const vyre_side *side, const contest_kernel *kernel, bool unchecked, vyre_job *out) {
  *out = (vyre_job){.side = side};
  const char *fault = parse(kernel->program, &out->program);
  if (fault) return fault;
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  if (unchecked) options.flags |= VYRE_OPTION_UNCHECKED;
  if (kernel->is_float && !vyre_side_promises(side, VYRE_NUMERIC_SUBNORMALS)) options.flags |= VYRE_OPTION_FLUSH;
  VYRE_TRY(vyre_compile(side->device, out->program, &options, &out->executable, &error));
  return NULL;
}

/* ---- Buffers and batches ---- */

static const char *make_buffer(vyre_job *job, const contest_kernel *kernel, uint32_t i) {
  const size_t bytes = (size_t)kernel->buffers[i].count * sizeof(uint32_t);
  VYRE_TRY(vyre_buffer_create(job->side->device, bytes, 0, &job->buffers[i], &error));
  uint32_t *words = contest_contents(kernel, i);
  if (!words) return "memory is exhausted";
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_buffer_write(job->buffers[i], 0, words, bytes, &error);
  free(words);
  return status == VYRE_OK ? NULL : peer_reason("%s", error.text);
}

static const char *make_set(vyre_job *job, const contest_kernel *kernel) {
  vyre_arg args[CONTEST_PARAMS + CONTEST_BUFFERS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < CONTEST_PARAMS && kernel->params[i].name; i++) {
    const contest_param *p = &kernel->params[i];
    if (!p->shader_only) args[count++] = vyre_arg_value(p->name, p->type, p->bits);
  }
  for (uint32_t i = 0; i < CONTEST_BUFFERS && kernel->buffers[i].name; i++) {
    const char *fault = make_buffer(job, kernel, i);
    if (fault) return fault;
    args[count++] = vyre_arg_buffer(kernel->buffers[i].name, job->buffers[i]);
  }
  VYRE_TRY(vyre_set_create(job->executable, args, count, &job->set, &error));
  return NULL;
}

const char *vyre_job_bind(vyre_job *job, const contest_kernel *kernel, uint32_t launches) {
  const uint64_t grid[3] = {kernel->groups[0], kernel->groups[1], 1};
  const char *fault = make_set(job, kernel);
  if (fault) return fault;
  VYRE_TRY(vyre_batch_create(job->side->device, &job->batch, &error));
  for (uint32_t i = 0; i < launches; i++) {
    if (i > 0) VYRE_TRY(vyre_batch_order(job->batch, &error));
    VYRE_TRY(vyre_batch_dispatch(job->batch, job->set, grid, &error));
  }
  return NULL;
}

const char *vyre_job_run(void *given) {
  vyre_job *job = given;
  vyre_submission *submission;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_queue_submit(job->side->queue, job->batch, NULL, &submission, &error);
  if (status != VYRE_OK) return peer_reason("%s", error.text);
  status = vyre_submission_wait(submission, VYRE_FOREVER, &error);
  vyre_submission_destroy(submission);
  return status == VYRE_OK ? NULL : peer_reason("%s", error.text);
}

const char *vyre_job_read(vyre_job *job, uint32_t buffer, void *to, size_t bytes) {
  VYRE_TRY(vyre_buffer_read(job->buffers[buffer], 0, to, bytes, &error));
  return NULL;
}

void vyre_job_destroy(vyre_job *job) {
  vyre_batch_destroy(job->batch);
  vyre_set_destroy(job->set);
  for (uint32_t i = 0; i < CONTEST_BUFFERS; i++) vyre_buffer_destroy(job->buffers[i]);
  vyre_executable_destroy(job->executable);
  vyre_program_release(job->program);
}
