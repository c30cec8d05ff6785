/* Kernels become blobs, and blobs text. No device is needed. */
#include "plugins/vulkan/compile.h"

#include <stdio.h>
#include <string.h>

#include "plugins/gpu/blob.h"
#include "plugins/vulkan/spirv.h"
#include "plugins/vulkan/vulkan.h"

/* ---- Compiling ------------------------------------------------------------------------------- */

static bool is_float(vyre_kernel_type type) { return type.cls == VYRE_KERNEL_CLASS_FLOAT; }

/* The promises that an instruction rests on. */
static uint32_t promises_of(uint32_t op, bool flushes) {
  uint32_t promises = flushes ? 0 : VYRE_NUMERIC_SUBNORMALS;
  switch (op) {
    case VYRE_KERNEL_FMA: return promises | VYRE_NUMERIC_FMA;
    case VYRE_KERNEL_DIV:
    case VYRE_KERNEL_SQRT:
    case VYRE_KERNEL_RSQRT: return promises | VYRE_NUMERIC_DIVISION;
    case VYRE_KERNEL_ADD:
    case VYRE_KERNEL_SUB:
    case VYRE_KERNEL_MUL:
    case VYRE_KERNEL_EQ:
    case VYRE_KERNEL_NE:
    case VYRE_KERNEL_LT:
    case VYRE_KERNEL_LE:
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX:
    case VYRE_KERNEL_FLOOR:
    case VYRE_KERNEL_CEIL:
    case VYRE_KERNEL_REFLOAT: return promises;
    default: return 0;
  }
}

/* What the target promises and the kernel makes use of: another device has to promise it too. */
static uint32_t numeric_of(const vyre_kernel_header *kernel, uint32_t promised) {
  bool flushes = (kernel->flags & VYRE_KERNEL_FLUSH) != 0;
  uint32_t numeric = 0;
  for (uint32_t i = 0; i < kernel->insns.count; i++) {
    const vyre_kernel_insn *insn = gpu_insn(kernel, i);
    if (promises_of(insn->op, flushes) != 0 && is_float(gpu_value(kernel, insn->arg[0])->type))
      numeric |= promises_of(insn->op, flushes);
  }
  return numeric & promised;
}

/* The kernel has the values of spec constants already; a request that names others was not lowered for it. */
static vyre_status check_specs(const vyre_kernel_header *kernel, const vyre_compile_request *request,
                               vyre_error *error) {
  for (uint64_t i = 0; i < request->spec_count; i++) {
    bool found = false;
    for (uint32_t k = 0; k < kernel->specs.count && !found; k++) {
      const vyre_kernel_spec *spec = VYRE_KERNEL_AT(vyre_kernel_spec, kernel, specs, k);
      found = spec->id == request->spec[i].id && spec->bits == request->spec[i].bits;
    }
    if (!found)
      return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                      "A value is given for spec constant %u, and the kernel has no such constant of that value. Fix: "
                      "lower the kernel with the spec constants of the request.",
                      request->spec[i].id);
  }
  return VYRE_OK;
}

vyre_status vulkan_emit(const vyre_host *host, const vyre_capabilities *target, const vyre_kernel_header *kernel,
                        vyre_bytes *out, vyre_error *error) {
  const spirv_target t = spirv_target_of(target);
  spirv_facts facts;
  gpu_bytes code = { .data = NULL };
  gpu_blob blob = { .needs = kernel->needs, .kernel = kernel };
  snprintf(blob.build_id, sizeof blob.build_id, "%s", vulkan_build_id);
  vyre_status status = spirv_emit(kernel, &t, &code, &facts, error);
  if (status == VYRE_OK) {
    memcpy(blob.profile, target->profile, sizeof blob.profile - 1);
    gpu_digest(kernel, kernel->bytes, blob.kernel_digest);
    blob.numeric = numeric_of(kernel, target->numeric);
    blob.subgroup = facts.subgroup;
    spirv_facts_keep(&facts, blob.facts);
    blob.code = code.data;
    blob.code_bytes = code.count;
    status = gpu_blob_write(host, &blob, out, error);
  }
  gpu_bytes_free(&code);
  return status;
}

vyre_status vulkan_compile(const vyre_host *host, const vyre_capabilities *given_target,
                           const vyre_compile_request *given, vyre_bytes *blob, vyre_error *error) {
  const uint32_t known =
    VYRE_COMPILE_ULP | VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED | VYRE_COMPILE_STEPS;
  vyre_compile_request request;
  vyre_capabilities target;
  const vyre_kernel_header *kernel;
  blob->data = NULL;
  blob->length = 0;
  gpu_take(&request, sizeof request, given);
  gpu_take(&target, sizeof target, given_target);
  vyre_status status = gpu_check_flags("A compile request", request.flags, known, error);
  if (status == VYRE_OK) status = gpu_kernel_open(request.kernel, request.kernel_bytes, &kernel, error);
  if (status == VYRE_OK)
    status = gpu_check_needs(kernel->needs, target.needs, VYRE_KERNEL_TEXT(kernel, kernel->name), error);
  if (status == VYRE_OK) status = check_specs(kernel, &request, error);
  return status == VYRE_OK ? vulkan_emit(host, &target, kernel, blob, error) : status;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static vyre_status list_modules(const gpu_blob *blob, gpu_bytes *text, vyre_error *error) {
  static const char *const modes[SPIRV_MODES] = { "buffers bound in set 0", "buffers by address" };
  spirv_facts facts;
  if (!spirv_facts_read(blob->facts, blob->code_bytes, &facts))
    return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name, "The executable is damaged. Fix: compile it again.");
  gpu_bytes_format(text, "; build %s, profile %s, %llu bytes of code\n", blob->build_id, blob->profile,
                   (unsigned long long)blob->code_bytes);
  vyre_status status = VYRE_OK;
  for (uint32_t mode = 0; mode < SPIRV_MODES && status == VYRE_OK; mode++) {
    if (facts.module_bytes[mode] == 0) continue;
    gpu_bytes_format(text, "; module: %s\n", modes[mode]);
    status = spirv_list((const uint8_t *)blob->code + facts.module_offset[mode], facts.module_bytes[mode], text, error);
  }
  return status;
}

static vyre_status give_text(const vyre_host *host, const gpu_bytes *text, vyre_bytes *out, vyre_error *error) {
  void *data = text->failed ? NULL : host->alloc(host->ctx, text->count, 16);
  if (data == NULL) return gpu_no_memory(error);
  memcpy(data, text->data, text->count);
  out->data = data;
  out->length = text->count;
  return VYRE_OK;
}

vyre_status vulkan_disassemble(const vyre_host *host, const void *data, uint64_t bytes, vyre_bytes *out,
                               vyre_error *error) {
  gpu_blob blob;
  gpu_bytes text = { .data = NULL };
  out->data = NULL;
  out->length = 0;
  vyre_status status = gpu_blob_read(vulkan_build_id, data, bytes, &blob, error);
  if (status == VYRE_OK) status = list_modules(&blob, &text, error);
  if (status == VYRE_OK) status = give_text(host, &text, out, error);
  gpu_bytes_free(&text);
  return status;
}
