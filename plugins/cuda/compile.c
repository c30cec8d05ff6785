/* From the kernel form to a blob, machine code for a blob, and a blob as text. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The highest version of PTX that a driver of that CUDA version reads, times 10; 0, which is any, for a profile. */
static uint32_t ptx_version_of(uint32_t cuda) {
  uint32_t major = cuda / 1000, minor = cuda % 1000 / 10;
  if (cuda == 0) return 0;
  if (major == 11) return 70 + minor;
  if (major == 12) return minor <= 5 ? 80 + minor : 79 + minor; /* 12.6 brought none */
  return (major - 4) * 10 + minor;
}

static ptx_target target_of(const vyre_capabilities *record) {
  enum { LARGE_PARAMETERS_SINCE = 12010 };
  return (ptx_target){
    .sm = cuda_architecture_of(record),
    .version = ptx_version_of(record->api_version),
    .shared_limit = record->max_shared_bytes,
    .param_limit = record->api_version >= LARGE_PARAMETERS_SINCE ? PTX_PARAM_LIMIT_LARGE : PTX_PARAM_LIMIT,
  };
}

/* The kernel has values of its spec constants; those of the request win. */
static vyre_status fix_specs(void *kernel, const vyre_compile_request *request, vyre_error *error) {
  const vyre_kernel_header *h = kernel;
  for (uint64_t i = 0; i < request->spec_count; i++) {
    vyre_kernel_spec *found = NULL;
    for (uint32_t k = 0; k < h->specs.count; k++) {
      const vyre_kernel_spec *s = VYRE_KERNEL_AT(vyre_kernel_spec, h, specs, k);
      if (s->id == request->spec[i].id) found = (vyre_kernel_spec *)(uintptr_t)s;
    }
    if (found == NULL)
      return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                      "a value is given for spec constant %u, which the kernel does not have. Fix: lower the kernel "
                      "with the spec constants of the request",
                      request->spec[i].id);
    found->bits = request->spec[i].bits;
  }
  return VYRE_OK;
}

/* Both variants behind one header. The second is left out where the first has its block in memory anyway. */
static vyre_status emit(const vyre_kernel_header *kernel, const vyre_capabilities *record, gpu_bytes *out,
                        vyre_error *error) {
  ptx_target target = target_of(record);
  cuda_code code = { 0 };
  gpu_bytes_add(out, &code, sizeof code);
  for (uint32_t v = 0; v < CUDA_VARIANTS; v++) {
    if (v > 0 && code.facts[0].flags & PTX_BLOCK_IN_MEMORY) break;
    target.flags = v > 0 ? PTX_BLOCK_IN_MEMORY : 0;
    gpu_bytes_align(out, 16);
    code.offset[v] = (uint32_t)out->count;
    vyre_status status = ptx_emit(kernel, &target, out, &code.facts[v], error);
    if (status != VYRE_OK) return status;
    gpu_bytes_add(out, "", 1);
    code.bytes[v] = (uint32_t)(out->count - code.offset[v]);
  }
  if (out->failed) return gpu_no_memory(error);
  memcpy(out->data, &code, sizeof code);
  return VYRE_OK;
}

static vyre_status compile_kernel(const vyre_host *host, const vyre_capabilities *record, const void *kernel,
                                  uint64_t bytes, const vyre_compile_request *request, vyre_bytes *out,
                                  vyre_error *error) {
  const vyre_kernel_header *h;
  vyre_status status = gpu_kernel_open(kernel, bytes, &h, error);
  if (status != VYRE_OK) return status;
  status = gpu_check_needs(h->needs, record->needs, VYRE_KERNEL_TEXT(h, h->name), error);
  if (status != VYRE_OK) return status;
  gpu_blob blob = { .needs = h->needs, .numeric = record->numeric, .subgroup = request->subgroup_size, .kernel = h };
  memcpy(blob.build_id, cuda_build_id, strnlen(cuda_build_id, sizeof blob.build_id - 1));
  memcpy(blob.profile, record->profile, strnlen(record->profile, sizeof blob.profile - 1));
  gpu_digest(kernel, bytes, blob.kernel_digest);
  gpu_bytes code = { 0 };
  status = emit(h, record, &code, error);
  blob.code = code.data;
  blob.code_bytes = code.count;
  if (status == VYRE_OK) status = gpu_blob_write(host, &blob, out, error);
  gpu_bytes_free(&code);
  return status;
}

vyre_status cuda_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *given,
                         vyre_bytes *blob, vyre_error *error) {
  const uint32_t known =
    VYRE_COMPILE_ULP | VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED | VYRE_COMPILE_STEPS;
  vyre_compile_request request;
  vyre_capabilities record;
  blob->data = NULL;
  blob->length = 0;
  gpu_take(&request, sizeof request, given);
  gpu_take(&record, sizeof record, target);
  vyre_status status = gpu_check_flags("a compile request", request.flags, known, error);
  if (status != VYRE_OK) return status;
  if (cuda_architecture_of(&record) == 0)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                    "profile `%.63s` is none of this backend. Fix: compile for one that `vyre backends` lists, such as "
                    "cuda:sm_90",
                    record.profile);
  if (request.spec_count == 0 || request.kernel == NULL)
    return compile_kernel(host, &record, request.kernel, request.kernel_bytes, &request, blob, error);
  void *copy = malloc(request.kernel_bytes);
  if (copy == NULL) return gpu_no_memory(error);
  memcpy(copy, request.kernel, request.kernel_bytes);
  const vyre_kernel_header *h;
  status = gpu_kernel_open(copy, request.kernel_bytes, &h, error);
  if (status == VYRE_OK) status = fix_specs(copy, &request, error);
  if (status == VYRE_OK) status = compile_kernel(host, &record, copy, request.kernel_bytes, &request, blob, error);
  free(copy);
  return status;
}

/* ---- Machine code ---------------------------------------------------------------------------- */

/* The context of the device that a record describes, if this process has one: making one for a compiler would cost more
 * than it saves. */
static bool find_context(const cuda_api *api, const vyre_capabilities *record, CUdevice *device, CUcontext *context) {
  int count = 0, is_active = 0;
  unsigned flags = 0;
  static const uint8_t none[16] = { 0 };
  if (memcmp(record->uuid, none, sizeof none) == 0 || api->cuDeviceGetCount(&count) != CUDA_SUCCESS) return false;
  for (int i = 0; i < count; i++) {
    CUuuid uuid;
    if (api->cuDeviceGet(device, i) != CUDA_SUCCESS || api->cuDeviceGetUuid(&uuid, *device) != CUDA_SUCCESS) continue;
    if (memcmp(uuid.bytes, record->uuid, sizeof record->uuid) != 0) continue;
    return api->cuDevicePrimaryCtxGetState(*device, &flags, &is_active) == CUDA_SUCCESS && is_active != 0 &&
           api->cuDevicePrimaryCtxRetain(context, *device) == CUDA_SUCCESS;
  }
  return false;
}

static vyre_status link_text(const cuda_api *api, CUcontext context, const cuda_image *image, gpu_bytes *out,
                             vyre_error *error) {
  CUcontext own;
  cuda_log *log = malloc(sizeof *log);
  if (log == NULL) return gpu_no_memory(error);
  CUresult code = api->cuCtxPushCurrent(context);
  if (code == CUDA_SUCCESS) {
    code = cuda_jit_link(api, image, out, log);
    api->cuCtxPopCurrent(&own);
  } else {
    log->text[0] = 0;
  }
  vyre_status status = code != CUDA_SUCCESS ? cuda_jit_fail(api, code, image, log, error) : VYRE_OK;
  if (status == VYRE_OK && out->failed) status = gpu_no_memory(error);
  free(log);
  return status;
}

vyre_status cuda_finalize(const vyre_host *host, const vyre_capabilities *target, const void *data, uint64_t bytes,
                          vyre_bytes *out, vyre_error *error) {
  vyre_capabilities record;
  cuda_api api;
  CUdevice device;
  CUcontext context;
  gpu_blob blob;
  const cuda_code *code;
  out->data = NULL;
  out->length = 0;
  gpu_take(&record, sizeof record, target);
  vyre_status status = cuda_blob_open(data, bytes, &blob, &code, error);
  if (status == VYRE_OK) status = cuda_api_open(host, &api, error);
  if (status != VYRE_OK) return status;
  if (!cuda_api_is_started() || !find_context(&api, &record, &device, &context))
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                    "machine code is made where the device is open. Fix: open it, or load the blob as it is");
  cuda_image image = { (const uint8_t *)blob.code + code->offset[0], code->bytes[0], true,
                       VYRE_KERNEL_TEXT(blob.kernel, blob.kernel->name) };
  gpu_bytes machine = { 0 };
  status = link_text(&api, context, &image, &machine, error);
  blob.machine = machine.data;
  blob.machine_bytes = machine.count;
  if (status == VYRE_OK) status = gpu_blob_write(host, &blob, out, error);
  gpu_bytes_free(&machine);
  api.cuDevicePrimaryCtxRelease(device);
  return status;
}

/* ---- Text ------------------------------------------------------------------------------------ */

vyre_status cuda_disassemble(const vyre_host *host, const void *data, uint64_t bytes, vyre_bytes *out,
                             vyre_error *error) {
  gpu_blob blob;
  const cuda_code *code;
  out->data = NULL;
  out->length = 0;
  vyre_status status = cuda_blob_open(data, bytes, &blob, &code, error);
  if (status != VYRE_OK) return status;
  gpu_bytes text = { 0 };
  gpu_bytes_format(&text, "// build %s, profile %s, %llu bytes\n", blob.build_id, blob.profile,
                   (unsigned long long)bytes);
  gpu_bytes_add(&text, (const uint8_t *)blob.code + code->offset[0], code->bytes[0] - 1);
  out->data = text.failed ? NULL : host->alloc(host->ctx, text.count, 16);
  if (out->data == NULL) {
    status = gpu_no_memory(error);
  } else {
    memcpy(out->data, text.data, text.count);
    out->length = text.count;
  }
  gpu_bytes_free(&text);
  return status;
}
