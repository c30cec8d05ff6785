/* Buffers: zero, mapped, copied, imported; few allocations whatever is made; on the fake Vulkan and on a real driver. */
#include <stdio.h>

#include "../suite.h"
#include "rig.h"

static rig_fake fake;

static vyre_plugin_buffer *make(rig *r, uint32_t properties, uint64_t bytes) {
  vyre_plugin_buffer *buffer;
  const vyre_buffer_request request = { .size = sizeof request, .bytes = bytes, .properties = properties };
  rig_must(r, r->ops->buffer_create(r->device, &request, &buffer, &r->error));
  return buffer;
}

static uint8_t *map(rig *r, vyre_plugin_buffer *buffer) {
  void *host;
  rig_must(r, r->ops->buffer_map(buffer, &host, &r->error));
  return host;
}

/* Commands that are over when this returns. */
static void run(rig *r, const vyre_command *commands, uint64_t count) {
  vyre_completion completion;
  vyre_plugin_batch *batch;
  rig_must(r, r->ops->batch_create(r->device, commands, count, &batch, &r->error));
  rig_must(r, rig_run(r, batch, &completion));
  r->ops->batch_destroy(batch);
}

static void copy(rig *r, vyre_plugin_buffer *from, vyre_plugin_buffer *to, uint64_t bytes) {
  const vyre_copy record = { .size = sizeof record, .source = from, .target = to, .bytes = bytes };
  const vyre_command command = { VYRE_COMMAND_COPY, 0, &record };
  run(r, &command, 1);
}

static uint32_t host_kind(const rig *r) {
  const uint32_t wanted = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE;
  for (uint32_t i = 0; i < r->caps.memory_type_count; i++)
    if ((r->caps.memory_types[i].properties & wanted) == wanted) return r->caps.memory_types[i].properties;
  ck_abort_msg("no memory that the host reads and writes");
}

/* ---- Contents -------------------------------------------------------------------------------- */

static bool is_all(const uint8_t *bytes, uint64_t count, uint8_t value) {
  for (uint64_t i = 0; i < count; i++)
    if (bytes[i] != value) return false;
  return true;
}

/* New memory is zero, also where other bytes were before; what the host puts in comes out by a copy through each kind. */
static void contents(rig *r) {
  enum { BYTES = 48 * 1024 };
  uint64_t state = 3;
  uint8_t *bytes = malloc(BYTES);
  ck_assert_ptr_nonnull(bytes);
  for (int i = 0; i < BYTES; i++) bytes[i] = (uint8_t)(rig_random(&state) | 1);
  vyre_plugin_buffer *host = make(r, host_kind(r), BYTES), *back = make(r, host_kind(r), BYTES);
  for (uint32_t i = 0; i < r->caps.memory_type_count * 2; i++) {
    vyre_plugin_buffer *middle = make(r, r->caps.memory_types[i / 2].properties, BYTES);
    memset(map(r, back), 0xFF, BYTES);
    rig_must(r, r->ops->buffer_flush(back, 0, BYTES, &r->error));
    copy(r, middle, back, BYTES);
    rig_must(r, r->ops->buffer_invalidate(back, 0, BYTES, &r->error));
    ck_assert(is_all(map(r, back), BYTES, 0));
    memcpy(map(r, host), bytes, BYTES);
    rig_must(r, r->ops->buffer_flush(host, 0, BYTES, &r->error));
    copy(r, host, middle, BYTES);
    copy(r, middle, back, BYTES);
    rig_must(r, r->ops->buffer_invalidate(back, 0, BYTES, &r->error));
    ck_assert_mem_eq(map(r, back), bytes, BYTES);
    r->ops->buffer_destroy(middle);
  }
  r->ops->buffer_destroy(host);
  r->ops->buffer_destroy(back);
  free(bytes);
}

START_TEST(contents_on_the_fake) {
  rig r;
  fake = rig_use_fake("");
  rig_open(&r, 0);
  contents(&r);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

START_TEST(contents_in_memory_that_is_not_coherent) {
  rig r;
  fake = rig_use_fake("set types \"1 10 6\"");
  rig_open(&r, 0);
  contents(&r);
  ck_assert_uint_gt(fake.calls("vkFlushMappedMemoryRanges"), 0);
  ck_assert_uint_gt(fake.calls("vkInvalidateMappedMemoryRanges"), 0);
  rig_close(&r);
}
END_TEST

START_TEST(contents_on_a_real_device) {
  rig r;
  if (!rig_has_device()) return;
  rig_setting("validation", "2");
  rig_open(&r, 0);
  contents(&r);
  rig_close(&r);
  ck_assert(!rig_logged("validation: Validation"));
}
END_TEST

/* ---- Allocations ----------------------------------------------------------------------------- */

enum { BUFFERS = 600 };

/* Buffers come and go at random. None reaches into another, and they take few allocations. */
static void many(rig *r, uint64_t *allocations) {
  static struct {
    vyre_plugin_buffer *buffer;
    uint32_t bytes;
    uint8_t mark;
  } all[BUFFERS];
  uint64_t state = 11;
  for (int round = 0; round < 4 * BUFFERS; round++) {
    uint32_t i = rig_random(&state) % BUFFERS;
    if (all[i].buffer != NULL) {
      ck_assert(is_all(map(r, all[i].buffer), all[i].bytes, all[i].mark));
      r->ops->buffer_destroy(all[i].buffer);
      all[i].buffer = NULL;
      continue;
    }
    all[i].bytes = (1 + rig_random(&state) % 2000) * 16;
    all[i].mark = (uint8_t)(1 + rig_random(&state) % 255);
    all[i].buffer = make(r, host_kind(r), all[i].bytes);
    ck_assert(is_all(map(r, all[i].buffer), all[i].bytes, 0));
    memset(map(r, all[i].buffer), all[i].mark, all[i].bytes);
  }
  if (allocations != NULL) *allocations = (uint64_t)fake.live("memory");
  for (int i = 0; i < BUFFERS; i++)
    if (all[i].buffer != NULL) r->ops->buffer_destroy(all[i].buffer);
}

START_TEST(many_buffers_share_few_allocations) {
  rig r;
  uint64_t allocations;
  fake = rig_use_fake("");
  rig_open(&r, 0);
  many(&r, &allocations);
  ck_assert_uint_le(allocations, 4);
  uint64_t before = fake.calls("vkAllocateMemory");
  for (int i = 0; i < 50; i++) r.ops->buffer_destroy(make(&r, host_kind(&r), 256));
  ck_assert_uint_le(fake.calls("vkAllocateMemory"), before + 1);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

START_TEST(many_buffers_on_a_real_device) {
  rig r;
  if (!rig_has_device()) return;
  rig_open(&r, 0);
  many(&r, NULL);
  rig_close(&r);
}
END_TEST

static vyre_status try_make(rig *r, uint32_t properties, uint64_t bytes, vyre_plugin_buffer **out) {
  const vyre_buffer_request request = { .size = sizeof request, .bytes = bytes, .properties = properties };
  return r->ops->buffer_create(r->device, &request, out, &r->error);
}

/* Two thirds of the device's memory fit once; then it is full, until some is given back. */
START_TEST(memory_runs_out_and_comes_back) {
  rig r;
  vyre_plugin_buffer *first, *second;
  fake = rig_use_fake("set memory 67108864; set types \"1 6\"");
  rig_open(&r, 0);
  rig_must(&r, try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, 40 << 20, &first));
  ck_assert_int_eq(try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, 40 << 20, &second), VYRE_ERR_NO_MEMORY);
  ck_assert_ptr_null(second);
  ck_assert_ptr_nonnull(strstr(r.error.text, "Fix: "));
  rig_must(&r, try_make(&r, VYRE_MEMORY_HOST_WRITE, 40 << 20, &second)); /* another heap */
  r.ops->buffer_destroy(second);
  r.ops->buffer_destroy(first);
  rig_must(&r, try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, 40 << 20, &first));
  r.ops->buffer_destroy(first);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

/* The driver's limit on allocations is a limit with a name and a number. */
START_TEST(allocations_run_out) {
  enum { MOST = 64, LARGE = 9 << 20 };
  rig r;
  vyre_plugin_buffer *buffers[MOST];
  vyre_status status = VYRE_OK;
  uint32_t count = 0;
  fake = rig_use_fake("set allocations 12; set types \"1 6\"");
  rig_open(&r, 0);
  while (count < MOST && status == VYRE_OK) {
    status = try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, LARGE, &buffers[count]);
    if (status == VYRE_OK) count++;
  }
  ck_assert_int_eq(status, VYRE_ERR_LIMIT);
  ck_assert_ptr_nonnull(strstr(r.error.text, "12 allocations"));
  ck_assert_uint_gt(count, 4);
  while (count > 0) r.ops->buffer_destroy(buffers[--count]);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

START_TEST(absurd_buffers_are_refused) {
  rig r;
  vyre_plugin_buffer *buffer;
  fake = rig_use_fake("");
  rig_open(&r, 0);
  ck_assert_int_eq(try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, 0, &buffer), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_int_eq(try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, 24, &buffer), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_int_eq(try_make(&r, VYRE_MEMORY_DEVICE_LOCAL, UINT64_MAX - 15, &buffer), VYRE_ERR_LIMIT);
  ck_assert_int_eq(try_make(&r, 1u << 20, 64, &buffer), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(try_make(&r, VYRE_MEMORY_CONCURRENT, 64, &buffer), VYRE_ERR_UNSUPPORTED);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

/* ---- From outside ---------------------------------------------------------------------------- */

static vyre_status import(rig *r, void *pointer, uint64_t bytes, vyre_plugin_buffer **out) {
  const vyre_buffer_request request = { .size = sizeof request,
                                        .bytes = bytes,
                                        .properties = host_kind(r),
                                        .kind = VYRE_HANDLE_HOST_POINTER,
                                        .handle = (uint64_t)(uintptr_t)pointer };
  return r->ops->buffer_create(r->device, &request, out, &r->error);
}

/* Memory of the host is copied from and to; one that does not begin at a page too. */
static void host_pointers(rig *r) {
  enum { PAGE = 4096 };
  uint8_t *memory = aligned_alloc(PAGE, 3 * PAGE);
  uint64_t state = 5;
  ck_assert_ptr_nonnull(memory);
  for (int i = 0; i < 3 * PAGE; i++) memory[i] = (uint8_t)rig_random(&state);
  const uint32_t places[] = { 0, 1024 };
  for (int i = 0; i < 2; i++) {
    vyre_plugin_buffer *outside, *inside = make(r, host_kind(r), PAGE);
    rig_must(r, import(r, memory + places[i], PAGE, &outside));
    copy(r, outside, inside, PAGE);
    ck_assert_mem_eq(map(r, inside), memory + places[i], PAGE);
    ck_assert_ptr_eq(map(r, outside), memory + places[i]);
    memset(map(r, inside), 0x5A, PAGE);
    copy(r, inside, outside, PAGE);
    ck_assert(is_all(memory + places[i], PAGE, 0x5A));
    r->ops->buffer_destroy(outside);
    r->ops->buffer_destroy(inside);
  }
  vyre_plugin_buffer *none;
  ck_assert_int_eq(import(r, memory + 8, 64, &none), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_ptr_null(none);
  free(memory);
}

START_TEST(host_pointers_on_the_fake) {
  rig r;
  fake = rig_use_fake("");
  rig_open(&r, 0);
  host_pointers(&r);
  rig_close(&r);
  rig_nothing_lives(&fake);
}
END_TEST

START_TEST(host_pointers_on_a_real_device) {
  rig r;
  if (!rig_has_device()) return;
  rig_open(&r, 0);
  if ((r.caps.import_kinds >> VYRE_HANDLE_HOST_POINTER & 1) != 0) host_pointers(&r);
  rig_close(&r);
}
END_TEST

/* What one buffer has, a second one over the same memory sees. */
START_TEST(a_file_descriptor_on_a_real_device) {
  rig r;
  uint64_t fd = 0;
  vyre_plugin_buffer *second;
  if (!rig_has_device()) return;
  rig_setting("exports", "1");
  rig_open(&r, 0);
  if ((r.caps.export_kinds & r.caps.import_kinds) >> VYRE_HANDLE_FD & 1) {
    vyre_plugin_buffer *first = make(&r, host_kind(&r), 4096);
    memset(map(&r, first), 0x77, 4096);
    rig_must(&r, r.ops->buffer_export(first, VYRE_HANDLE_FD, &fd, &r.error));
    const vyre_buffer_request request = { .size = sizeof request,
                                          .bytes = 4096,
                                          .properties = host_kind(&r),
                                          .kind = VYRE_HANDLE_FD,
                                          .handle = fd };
    rig_must(&r, r.ops->buffer_create(r.device, &request, &second, &r.error));
    ck_assert_uint_eq(map(&r, second)[4095], 0x77);
    r.ops->buffer_destroy(second);
    r.ops->buffer_destroy(first);
  }
  rig_close(&r);
}
END_TEST

/* Without the setting no memory is prepared for it, and the record says so. */
START_TEST(nothing_leaves_without_the_setting) {
  rig r;
  if (!rig_has_device()) return;
  rig_open(&r, 0);
  ck_assert_uint_eq(r.caps.export_kinds >> VYRE_HANDLE_FD & 1, 0);
  rig_close(&r);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    contents_on_the_fake,
    contents_in_memory_that_is_not_coherent,
    contents_on_a_real_device,
    many_buffers_share_few_allocations,
    many_buffers_on_a_real_device,
    memory_runs_out_and_comes_back,
    allocations_run_out,
    absurd_buffers_are_refused,
    host_pointers_on_the_fake,
    host_pointers_on_a_real_device,
    a_file_descriptor_on_a_real_device,
    nothing_leaves_without_the_setting,
    NULL,
  };
  return run_suite("vulkan, buffers", 60, tests);
}
