/* Launches of a kernel by vyre or by a peer, on the same arrays of the device. */
#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"

enum { WARM_UP = 2, SWEEP_SAMPLES = 3 };

/* ---- Arrays ------------------------------------------------------------------------------------ */

static bool make_buffer(const gpu_bench *bench, const gpu_arrays *a, uint32_t i, vyre_buffer **out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_buffer_create(bench->device, a->bytes[i], 0, out, &error);
  if (status == VYRE_OK && a->begin[i] != NULL) status = vyre_buffer_write(*out, 0, a->begin[i], a->bytes[i], &error);
  return gpu_good(status, a->names[i], &error);
}

static bool copy_pristine(const gpu_bench *bench, gpu_arrays *a) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_batch_create(bench->device, &a->reset, &error);
  for (uint32_t l = 0; l < a->launches; l++)
    for (uint32_t i = 0; i < a->count && status == VYRE_OK; i++)
      if (a->written[i])
        status = vyre_batch_copy(a->reset, a->pristine[i], 0, a->buffers[l][i], 0, a->bytes[i], &error);
  return gpu_good(status, "a batch of copies", &error);
}

/* What nothing writes is shared by all launches. */
static bool make_one(const gpu_bench *bench, gpu_arrays *a, uint32_t i) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_buffer *shared;
  if (!make_buffer(bench, a, i, &shared)) return false;
  if (a->written[i]) a->pristine[i] = shared;
  for (uint32_t l = 0; l < a->launches; l++) {
    a->buffers[l][i] = shared;
    if (a->written[i]) {
      vyre_status status = vyre_buffer_create(bench->device, a->bytes[i], 0, &a->buffers[l][i], &error);
      if (!gpu_good(status, a->names[i], &error)) return false;
    }
    if (bench->strict != NULL && !gpu_address(a->buffers[l][i], &a->addresses[l][i])) return false;
  }
  return true;
}

bool gpu_arrays_make(const gpu_bench *bench, gpu_arrays *a) {
  for (uint32_t i = 0; i < a->count; i++)
    if (!make_one(bench, a, i)) return false;
  return copy_pristine(bench, a) && gpu_arrays_reset(bench, a);
}

void gpu_arrays_free(gpu_arrays *a) {
  vyre_batch_destroy(a->reset);
  for (uint32_t i = 0; i < a->count; i++) {
    for (uint32_t l = 0; l < a->launches; l++)
      if (a->written[i] || l == 0) vyre_buffer_destroy(a->buffers[l][i]);
    vyre_buffer_destroy(a->pristine[i]);
  }
}

static bool run_batch(const gpu_bench *bench, vyre_batch *batch, double *device_ns) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_submission *submission;
  vyre_completion completion = {.size = sizeof completion};
  vyre_status status = vyre_queue_submit(bench->queue, batch, NULL, &submission, &error);
  if (status == VYRE_OK) {
    status = vyre_submission_wait(submission, VYRE_FOREVER, &error);
    if (status == VYRE_OK) status = vyre_submission_completion(submission, &completion, &error);
    vyre_submission_destroy(submission);
  }
  *device_ns = (double)completion.device_ns;
  return gpu_good(status, "a batch", &error);
}

bool gpu_arrays_reset(const gpu_bench *bench, const gpu_arrays *arrays) {
  double ns;
  return run_batch(bench, arrays->reset, &ns);
}

/* ---- Vyre -------------------------------------------------------------------------------------- */

static vyre_status make_set(gpu_side *side, uint32_t launch, const vyre_arg *params, uint32_t param_count,
                            vyre_error *error) {
  const gpu_arrays *a = side->arrays;
  vyre_arg args[2 * GPU_MAX_ARRAYS];
  uint32_t used = 0;
  for (uint32_t i = 0; i < a->count; i++)
    args[used++] = vyre_arg_range(a->names[i], a->buffers[launch][i], 0, a->counts[i]);
  for (uint32_t i = 0; i < param_count; i++) args[used++] = params[i];
  return vyre_set_create(side->executable, args, used, &side->sets[launch], error);
}

bool gpu_side_vyre(const gpu_bench *bench, vyre_program *program, uint32_t flags, const vyre_arg *params,
                   uint32_t param_count, const uint64_t grid[3], const gpu_arrays *arrays, gpu_side *out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.flags = flags;
  *out = (gpu_side){.arrays = arrays};
  vyre_status status = vyre_compile(bench->device, program, &options, &out->executable, &error);
  if (status == VYRE_OK) status = vyre_batch_create(bench->device, &out->batch, &error);
  for (uint32_t l = 0; l < arrays->launches && status == VYRE_OK; l++) {
    status = make_set(out, l, params, param_count, &error);
    if (status == VYRE_OK && l > 0) status = vyre_batch_order(out->batch, &error);
    if (status == VYRE_OK) status = vyre_batch_dispatch(out->batch, out->sets[l], grid, &error);
  }
  return gpu_good(status, "vyre", &error);
}

void gpu_side_free(gpu_side *side) {
  vyre_batch_destroy(side->batch);
  for (uint32_t l = 0; l < GPU_LAUNCHES; l++) vyre_set_destroy(side->sets[l]);
  vyre_executable_destroy(side->executable);
  *side = (gpu_side){0};
}

/* ---- A peer ------------------------------------------------------------------------------------ */

static bool time_peer(const gpu_side *side, double *ns) {
  const gpu_arrays *a = side->arrays;
  peer_launch launches[GPU_LAUNCHES];
  for (uint32_t l = 0; l < a->launches; l++)
    launches[l] = (peer_launch){a->addresses[l], a->counts, side->params};
  return gpu_peer_good(side->peer->time(side->kernel, side->config, launches, a->launches, ns), side->kernel);
}

/* The shortest of some. */
static bool try_config(const gpu_bench *bench, gpu_side *side, double *best) {
  double ns;
  *best = 1e300;
  for (int i = 0; i < SWEEP_SAMPLES; i++) {
    if (!gpu_arrays_reset(bench, side->arrays) || !time_peer(side, &ns)) return false;
    if (ns < *best) *best = ns;
  }
  return true;
}

bool gpu_side_peer(const gpu_bench *bench, const peer_kernels *peer, const char *kernel, const uint64_t *params,
                   const gpu_arrays *arrays, gpu_side *out) {
  double best = 1e300, ns;
  uint32_t block, width;
  gpu_side tried = {.arrays = arrays, .kernel = kernel, .peer = peer, .params = params};
  *out = tried;
  for (; peer->config(kernel, tried.config, &block, &width); tried.config++) {
    if (!try_config(bench, &tried, &ns)) return false;
    if (ns >= best) continue;
    best = ns;
    *out = tried;
    out->block = block;
    out->width = width;
  }
  return best < 1e300 || gpu_peer_good("the library has no such kernel", kernel);
}

/* ---- Turns ------------------------------------------------------------------------------------- */

bool gpu_side_time(const gpu_bench *bench, gpu_side *side, double *ns) {
  if (side->peer != NULL) return time_peer(side, ns);
  if (!run_batch(bench, side->batch, ns)) return false;
  *ns /= side->arrays->launches;
  return true;
}

static bool take(const gpu_bench *bench, gpu_side *side, bool counts) {
  double ns;
  if (!gpu_arrays_reset(bench, side->arrays) || !gpu_side_time(bench, side, &ns)) return false;
  if (counts && side->sample_count < GPU_MAX_SAMPLES) side->samples[side->sample_count++] = ns;
  return true;
}

bool gpu_sides_measure(const gpu_bench *bench, gpu_side *const *sides, uint32_t count) {
  for (uint32_t round = 0; round < WARM_UP + bench->rounds; round++)
    for (uint32_t i = 0; i < count; i++)
      if (!take(bench, sides[round % 2 == 0 ? i : count - 1 - i], round >= WARM_UP)) return false;
  return true;
}

double gpu_side_median(const gpu_side *side) {
  double samples[GPU_MAX_SAMPLES];
  memcpy(samples, side->samples, sizeof samples);
  return gpu_median(samples, side->sample_count);
}
