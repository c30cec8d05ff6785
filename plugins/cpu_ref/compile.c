/* What this backend is, and the blob that it compiles to: a header and the program's wire bytes. */
#include "config.h"

#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "base/digest.h"
#include "base/error.h"

#include "cpu_limits.h"
#include "memory.h"

#define PROFILE "cpu_ref"

static const char magic[8] = "VYCPURF1";

typedef struct blob_header {
  char magic[8];
  char build_id[32];
  char profile[32];
  uint8_t digest[VYRE_DIGEST_BYTES]; /* of header and wire bytes, this member being 0 */
  uint64_t needs;          /* VYRE_NEED_* */
  uint64_t steps;
  uint64_t wire_bytes;
  uint32_t ulp;
  uint32_t subgroup;
} blob_header;

/* ---- Capabilities ---- */

static uint64_t satisfied_needs(void) {
  uint64_t all = ((uint64_t)VYRE_NEED_STORAGE16 << 1) - 1;
  return cpu_can_load128() ? all : all & ~(uint64_t)VYRE_NEED_ATOMIC_LOAD128;
}

void cpu_describe(const vyre_plugin *plugin, vyre_capabilities *out) {
  vyre_capabilities c = {
    .size = sizeof c,
    .kind = VYRE_DEVICE_CPU,
    .profile = PROFILE,
    .name = "reference interpreter",
    .driver = "cpu_ref " PACKAGE_VERSION,
    .driver_version = 1,
    .pci = UINT64_MAX,
    .numa_node = -1,
    .dlpack_type = 1, /* kDLCPU */
    .forward_progress = VYRE_PROGRESS_WORKGROUPS,
    .needs = satisfied_needs(),
    .numeric = VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_ZERO_ORDER,
    .subgroup_sizes = 1 + 2 + 4 + 8 + 16 + 32,
    .subgroup_size = plugin != NULL ? plugin->subgroup : CPU_DEFAULT_SUBGROUP,
    .max_workgroup_invocations = CPU_MAX_WORKGROUP,
    .max_workgroup = { CPU_MAX_WORKGROUP, CPU_MAX_WORKGROUP, CPU_MAX_WORKGROUP },
    .max_shared_bytes = CPU_MAX_SHARED_BYTES,
    .max_bindings = VYRE_MAX_DECLARATIONS,
    .max_param_bytes = VYRE_MAX_DECLARATIONS * 8,
  };
  if (plugin != NULL) {
    c.can = VYRE_CAN_DEVICE_LENGTH | VYRE_CAN_INDIRECT_GRID | VYRE_CAN_HOST_COHERENT_ATOMICS | VYRE_CAN_PERSISTENT |
            VYRE_CAN_TIMESTAMP;
    c.max_queues = BACKEND_MAX_QUEUES;
    c.max_persistent = BACKEND_MAX_PERSISTENT;
    c.max_buffer_bytes = plugin->memory_limit;
    c.binding_alignment = 16;
    c.import_kinds = c.export_kinds = 1u << VYRE_HANDLE_HOST_POINTER;
    c.memory_type_count = c.memory_heap_count = 1;
    c.memory_types[0].properties = backend_memory;
    c.memory_heaps[0] = (vyre_memory_heap){ plugin->memory_limit, VYRE_MEMORY_DEVICE_LOCAL, 0 };
  }
  backend_answer(out, &c, sizeof c);
}

/* ---- Blobs ---- */

/* Nothing that was changed in a blob is taken. */
static void digest_blob(const blob_header *header, const uint8_t *wire, uint8_t out[VYRE_DIGEST_BYTES]) {
  blob_header own = *header;
  vyre_digest digest;
  memset(own.digest, 0, sizeof own.digest);
  vyre_digest_begin(&digest);
  vyre_digest_add(&digest, &own, sizeof own);
  vyre_digest_add(&digest, wire, header->wire_bytes);
  vyre_digest_end(&digest, out);
}

/* Decodes and prepares, so that what is refused is refused when compiled. */
static vyre_status prepare(const uint8_t *wire, uint64_t bytes, const cpu_options *options, blob_header *header,
                           cpu_code **out, vyre_error *error) {
  vyre_program *program;
  *out = NULL;
  vyre_status status = vyre_wire_decode(wire, bytes, NULL, &program, error);
  if (status != VYRE_OK) return status;
  vyre_program_info info;
  vyre_program_describe(program, &info);
  header->needs = info.needs;
  uint64_t missing = info.needs & ~satisfied_needs();
  if (missing != 0)
    status = vyre_fail(error, VYRE_ERR_UNSUPPORTED, info.name,
                       "the program needs capabilities 0x%llx that this processor has not (atomic_load128 wants AVX). "
                       "Fix: run it on another backend",
                       (unsigned long long)missing);
  else
    status = cpu_code_create(program, options, out, error);
  vyre_program_release(program);
  return status;
}

/* Whether all spec constants are parameters. Their values come once more in the parameter block of each launch, and are
 * read there. */
static bool has_params(const vyre_program *program, const vyre_compile_request *request) {
  vyre_param_info info;
  for (uint64_t i = 0; i < request->spec_count; i++) {
    const vyre_spec_constant *spec = &request->spec[i];
    if (!vyre_program_param(program, spec->id, &info) || (uint32_t)info.type != spec->type) return false;
    if (i > 0 && spec->id <= request->spec[i - 1].id) return false;
  }
  return true;
}

vyre_status cpu_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *given,
                        vyre_bytes *blob, vyre_error *error) {
  const uint32_t known =
    VYRE_COMPILE_ULP | VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED | VYRE_COMPILE_STEPS;
  vyre_compile_request own, *request = &own;
  blob->data = NULL;
  blob->length = 0;
  backend_take(&own, sizeof own, given);
  vyre_status status = backend_check_flags("a compile request", request->flags, known, error);
  if (status != VYRE_OK) return status;
  cpu_options options = { .ulp = request->flags & VYRE_COMPILE_ULP ? request->ulp_budget : VYRE_ULP_UNSET,
                          .subgroup = request->subgroup_size,
                          .steps = request->flags & VYRE_COMPILE_STEPS ? request->steps : 0 };
  blob_header header = { .steps = options.steps, .wire_bytes = request->wire_bytes, .ulp = options.ulp };
  options.default_subgroup = target->subgroup_size;
  cpu_code *code;
  status = prepare(request->wire, request->wire_bytes, &options, &header, &code, error);
  if (status == VYRE_OK && !has_params(code->program, request)) {
    cpu_code_destroy(code);
    status = vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, PROFILE,
                       "spec constants were given that are no parameters of the program, or not by ascending number. "
                       "Fix: give numbers and types of its parameters");
  }
  if (status != VYRE_OK) return status;
  header.subgroup = code->subgroup;
  cpu_code_destroy(code);
  memcpy(header.magic, magic, sizeof magic);
  strncpy(header.build_id, cpu_build_id, sizeof header.build_id - 1);
  strncpy(header.profile, PROFILE, sizeof header.profile - 1);
  digest_blob(&header, request->wire, header.digest);
  uint8_t *bytes = host->alloc(host->ctx, sizeof header + request->wire_bytes, 16);
  if (bytes == NULL) return vyre_fail_memory(error, PROFILE);
  memcpy(bytes, &header, sizeof header);
  memcpy(bytes + sizeof header, request->wire, request->wire_bytes);
  blob->data = bytes;
  blob->length = sizeof header + request->wire_bytes;
  return VYRE_OK;
}

static vyre_status bad_blob(vyre_error *error, const char *what) {
  return vyre_fail(error, VYRE_ERR_INVALID_FILE, PROFILE, "the executable %s. Fix: compile the program again", what);
}

/* The header of a blob of this build. */
static vyre_status read_header(const void *blob, uint64_t bytes, blob_header *header, vyre_error *error) {
  if (bytes < sizeof *header) return bad_blob(error, "is cut off");
  memcpy(header, blob, sizeof *header);
  if (memcmp(header->magic, magic, sizeof magic) != 0) return bad_blob(error, "was not compiled by cpu_ref");
  if (header->wire_bytes != bytes - sizeof *header) return bad_blob(error, "has another length than it says");
  if (header->build_id[sizeof header->build_id - 1] != 0 || header->profile[sizeof header->profile - 1] != 0)
    return bad_blob(error, "is damaged");
  if (strcmp(header->build_id, cpu_build_id) == 0 && strcmp(header->profile, PROFILE) == 0) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, PROFILE,
                   "the executable was compiled by build %s for %s, this is build %s of %s. Fix: compile it again",
                   header->build_id, header->profile, cpu_build_id, PROFILE);
}

vyre_status cpu_load_blob(const void *blob, uint64_t bytes, cpu_code **out, vyre_error *error) {
  blob_header header;
  uint8_t digest[VYRE_DIGEST_BYTES];
  *out = NULL;
  vyre_status status = read_header(blob, bytes, &header, error);
  if (status != VYRE_OK) return status;
  cpu_options options = { .ulp = header.ulp, .subgroup = header.subgroup, .steps = header.steps };
  const uint8_t *wire = (const uint8_t *)blob + sizeof header;
  digest_blob(&header, wire, digest);
  if (!vyre_digest_equal(digest, header.digest)) return bad_blob(error, "is damaged");
  return prepare(wire, header.wire_bytes, &options, &header, out, error);
}

/* ---- As text: the program, which is what runs, under the options that it runs with ---- */

static vyre_status print_blob(const blob_header *header, const vyre_program *program, const vyre_host *host,
                              vyre_bytes *out, vyre_error *error) {
  char head[320], *text;
  size_t length;
  if (vyre_text_print(program, &text, &length) != VYRE_OK) return vyre_fail_memory(error, PROFILE);
  int used = snprintf(head, sizeof head, "// build %s, profile %s, subgroups of %u", header->build_id,
                      header->profile, header->subgroup);
  if (header->ulp != VYRE_ULP_UNSET) used += snprintf(head + used, sizeof head - (size_t)used, ", ulp %u", header->ulp);
  if (header->steps != 0)
    used += snprintf(head + used, sizeof head - (size_t)used, ", at most %" PRIu64 " steps", header->steps);
  head[used++] = '\n';
  char *data = host->alloc(host->ctx, (size_t)used + length, 16);
  if (data != NULL) {
    memcpy(data, head, (size_t)used);
    memcpy(data + used, text, length);
    out->data = data;
    out->length = (size_t)used + length;
  }
  free(text);
  return data != NULL ? VYRE_OK : vyre_fail_memory(error, PROFILE);
}

vyre_status cpu_disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *out,
                            vyre_error *error) {
  blob_header header;
  vyre_program *program;
  out->data = NULL;
  out->length = 0;
  vyre_status status = read_header(blob, bytes, &header, error);
  if (status == VYRE_OK)
    status = vyre_wire_decode((const uint8_t *)blob + sizeof header, header.wire_bytes, NULL, &program, error);
  if (status != VYRE_OK) return status;
  status = print_blob(&header, program, host, out, error);
  vyre_program_release(program);
  return status;
}
