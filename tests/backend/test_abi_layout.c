/* The layout of every record of the ABI against tests/backend/abi_layout.golden, and the fingerprint against that.
 * Each record is listed member by member; that the members lie without gap and fill the record proves that none is
 * forgotten here and that there is no hidden padding. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/backend.h>

#include "base/digest.h"
#include "base/writer.h"
#include "../suite.h"

#define RECORDS(R)                                                                                                   \
  R(vyre_backend_request, M(size) M(sanitizer) M(host_major_min) M(host_major_max) M(host_minor) M(zero)             \
                              M(fingerprint))                                                                        \
  R(vyre_opcode_support, M(opcode) M(ulp) M(types))                                                                  \
  R(vyre_backend_desc, M(magic) M(size) M(abi_major) M(abi_minor) M(min_host_minor) M(flags) M(sanitizer)            \
                           M(fingerprint) M(cpu_features) M(name) M(version) M(build_id) M(ops) M(opcodes)           \
                               M(opcode_count))                                                                      \
  R(vyre_bytes, M(size) M(zero) M(data) M(length))                                                                   \
  R(vyre_host, M(size) M(zero) M(ctx) M(alloc) M(realloc) M(free) M(log) M(config_get) M(now_ns) M(cache_get)        \
                   M(cache_put))                                                                                     \
  R(vyre_memory_type, M(properties) M(heap))                                                                         \
  R(vyre_memory_heap, M(bytes) M(properties) M(zero))                                                                \
  R(vyre_capabilities, M(size) M(kind) M(profile) M(name) M(driver) M(uuid) M(driver_version) M(pci) M(api_version)  \
                           M(vendor_id) M(device_id) M(partition) M(numa_node) M(dlpack_type) M(dlpack_id)           \
                               M(forward_progress) M(needs) M(numeric) M(subgroup_sizes) M(subgroup_size)            \
                                   M(max_workgroup_invocations) M(max_workgroup) M(max_shared_bytes)                 \
                                       M(max_bindings) M(max_param_bytes) M(can) M(max_queues) M(max_persistent)     \
                                           M(conformance) M(time_limit_ns) M(max_buffer_bytes) M(binding_alignment)  \
                                               M(import_kinds) M(export_kinds) M(memory_type_count)                  \
                                                   M(memory_heap_count) M(zero) M(memory_types) M(memory_heaps)      \
                                                       M(vendor))                                                    \
  R(vyre_spec_constant, M(id) M(type) M(bits))                                                                       \
  R(vyre_compile_request, M(size) M(flags) M(wire) M(wire_bytes) M(kernel) M(kernel_bytes) M(fingerprint)            \
                              M(ulp_budget) M(subgroup_size) M(steps) M(spec) M(spec_count) M(remark) M(remark_ctx)) \
  R(vyre_launch_report, M(size) M(flags) M(declared_workgroup) M(planned_workgroup) M(launched_grid)                 \
                            M(subgroup_size) M(registers) M(entry_points) M(shared_bytes) M(scratch_bytes)           \
                                M(spill_bytes) M(max_resident) M(launches))                                          \
  R(vyre_buffer_request, M(size) M(properties) M(bytes) M(kind) M(zero) M(handle))                                   \
  R(vyre_bind, M(flags) M(length_bits) M(buffer) M(offset) M(bytes) M(elements) M(length_buffer) M(length_offset))   \
  R(vyre_set_request, M(size) M(bind_count) M(binds) M(params) M(param_bytes) M(late_params) M(zero))                \
  R(vyre_command, M(kind) M(zero) M(record))                                                                         \
  R(vyre_dispatch, M(size) M(flags) M(executable) M(set) M(grid) M(zero) M(grid_buffer) M(grid_offset)               \
                       M(stop_buffer) M(stop_offset) M(time_budget_ns) M(work_budget))                               \
  R(vyre_copy, M(size) M(zero) M(source) M(source_offset) M(target) M(target_offset) M(bytes))                       \
  R(vyre_fill, M(size) M(pattern) M(target) M(offset) M(bytes))                                                      \
  R(vyre_timestamp, M(size) M(index))                                                                                \
  R(vyre_point, M(timeline) M(value))                                                                                \
  R(vyre_late, M(command) M(zero) M(params) M(offsets))                                                              \
  R(vyre_completion, M(size) M(status) M(vendor_code) M(trap_count) M(trap_code) M(trap_gid) M(masked_loads)         \
                         M(masked_stores) M(masked_atomics) M(prints_written) M(prints_dropped) M(clamped_extents)   \
                             M(device_ns) M(text))                                                                   \
  R(vyre_print_record, M(site) M(arg_count) M(gid) M(command))                                                       \
  R(vyre_submit, M(size) M(flags) M(batch) M(waits) M(signals) M(late) M(wait_count) M(signal_count) M(late_count)   \
                     M(timestamp_count) M(timestamps) M(prints) M(print_words) M(completion))                        \
  R(vyre_backend_ops, M(size) M(zero) M(probe) M(profile) M(compile) M(finalize) M(disassemble) M(open) M(close)     \
                          M(device_count) M(device_describe) M(device_open) M(device_close) M(executable_load)       \
                              M(executable_destroy) M(executable_report) M(max_resident) M(buffer_create)            \
                                  M(buffer_destroy) M(buffer_map) M(buffer_flush) M(buffer_invalidate)               \
                                      M(buffer_export) M(set_create) M(set_destroy) M(batch_create)                  \
                                          M(batch_destroy) M(queue_create) M(queue_destroy) M(submit)                \
                                              M(timeline_create) M(timeline_destroy) M(timeline_value)               \
                                                  M(timeline_signal) M(timeline_wait) M(storage_read) M(native))     \
  R(vyre_error, M(size) M(status) M(vendor_code) M(reaction) M(reserved) M(where) M(text) M(log) M(log_capacity)     \
                    M(log_length))

typedef struct member {
  const char *name;
  size_t offset, bytes;
} member;

/* Writes one record and checks that its members follow each other. */
static void write_record(vyre_writer *w, const char *name, size_t bytes, const member *members) {
  size_t end = 0;
  vyre_write(w, "%s %zu\n", name, bytes);
  for (const member *m = members; m->name != NULL; m++) {
    ck_assert_msg(m->offset == end, "%s.%s stands at %zu, the member before ends at %zu", name, m->name, m->offset,
                  end);
    end = m->offset + m->bytes;
    vyre_write(w, "  %s %zu %zu\n", m->name, m->offset, m->bytes);
  }
  ck_assert_msg(end == bytes, "%s has %zu bytes; its listed members end at %zu", name, bytes, end);
}

static char *layout(void) {
  vyre_writer w = { 0 };
#define M(f) { #f, offsetof(record, f), sizeof(((record *)0)->f) },
#define R(type, members)                                                \
  {                                                                     \
    typedef type record;                                                \
    const member list[] = { members { NULL, 0, 0 } };                   \
    write_record(&w, #type, sizeof(record), list);                      \
  }
  RECORDS(R)
#undef R
#undef M
  return vyre_writer_take(&w);
}

/* To take a new layout: copy what the failing test prints into the golden file, and the fingerprint into backend.h. */
static char *read_golden(void) {
  const char *root = getenv("top_srcdir");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/backend/abi_layout.golden", root != NULL ? root : ".");
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s can't be read", path);
  char *text = calloc(1, 65536);
  size_t bytes = fread(text, 1, 65535, file);
  ck_assert(bytes > 0);
  fclose(file);
  return text;
}

START_TEST(layout_is_golden) {
  char *now = layout(), *golden = read_golden();
  if (strcmp(now, golden) != 0) fprintf(stderr, "The layout is now:\n%s", now);
  ck_assert_msg(strcmp(now, golden) == 0, "The layout differs from tests/backend/abi_layout.golden");
  free(golden);
  free(now);
}
END_TEST

START_TEST(fingerprint_is_that_of_the_layout) {
  char *now = layout();
  uint8_t digest[VYRE_DIGEST_BYTES];
  uint64_t first = 0;
  vyre_digest_of(now, strlen(now), digest);
  for (int i = 0; i < 8; i++) first = first << 8 | digest[i];
  ck_assert_msg(first == VYRE_ABI_FINGERPRINT, "VYRE_ABI_FINGERPRINT should be 0x%016" PRIX64, first);
  free(now);
}
END_TEST

/* The part of the descriptor that never changes, in any version. */
START_TEST(frozen_prefix) {
  ck_assert_uint_eq(offsetof(vyre_backend_desc, magic), 0);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, size), 8);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, abi_major), 12);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, abi_minor), 16);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, min_host_minor), 20);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, flags), 24);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, sanitizer), 28);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, fingerprint), 32);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, cpu_features), 40);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, name), 48);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, version), 56);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, build_id), 64);
  ck_assert_uint_eq(offsetof(vyre_backend_desc, ops), 72);
  ck_assert_uint_eq(VYRE_ABI_MAGIC, 0x315F444E45425956ull);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { layout_is_golden, fingerprint_is_that_of_the_layout, frozen_prefix, NULL };
  return run_suite("abi_layout", 10, tests);
}
