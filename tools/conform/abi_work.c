/* Buffers, batches, timelines and completion records, by the plugin's own table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "world.h"

static const uint64_t long_ns = 60000000000u;

/* ---- Buffers --------------------------------------------------------------------------------- */

static void check_size(raw *r, uint64_t bytes) {
  char what[48];
  snprintf(what, sizeof what, "a buffer of %" PRIu64 " bytes", bytes);
  kit_doing(r->k, "%s", what);
  vyre_plugin_buffer *buffer = raw_buffer(r, bytes);
  uint8_t *map = buffer != NULL ? raw_map(r, buffer) : NULL;
  if (map == NULL) return;
  raw_invalidate(r, buffer, bytes);
  if ((uintptr_t)map % 16 != 0) kit_fail(r->k, "%s: its map is not aligned to 16 bytes", what);
  for (uint64_t i = 0; i < bytes; i++) {
    if (map[i] == 0) continue;
    kit_fail(r->k, "%s: new memory is zero, and byte %" PRIu64 " is 0x%02x", what, i, map[i]);
    break;
  }
  memset(map, 0xEE, bytes); /* all of it is there, and the next one does not begin with it */
  raw_flush(r, buffer, bytes);
  if (raw_map(r, buffer) != map) kit_fail(r->k, "%s: its address changes", what);
  r->ops.buffer_destroy(buffer);
}

static void check_huge(raw *r, uint64_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  vyre_buffer_request request = {
      .size = sizeof request, .bytes = bytes, .properties = r->caps.memory_types[0].properties};
  kit_doing(r->k, "a buffer of %" PRIu64 " bytes", bytes);
  vyre_status status = r->ops.buffer_create(r->device, &request, &buffer, &error);
  if (!raw_wants_refusal(r, "a buffer above max_buffer_bytes", status, &error)) return;
  if (status != VYRE_ERR_LIMIT && status != VYRE_ERR_NO_MEMORY)
    kit_fail(r->k, "a buffer above max_buffer_bytes: wanted VYRE_ERR_LIMIT or VYRE_ERR_NO_MEMORY, found %s",
             vyre_status_name(status));
}

void check_buffers(kit *k) {
  static const uint64_t sizes[] = {16, 32, 48, 4080, 4096, 4112, 65520, 1u << 20};
  raw r;
  if (!raw_open(k, &r)) return;
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !kit_is_over(k); i++) check_size(&r, sizes[i]);
  check_huge(&r, UINT64_MAX - 15);
  if (r.caps.max_buffer_bytes < UINT64_MAX - 31) check_huge(&r, (r.caps.max_buffer_bytes & ~(uint64_t)15) + 16);
  raw_close(&r);
}

/* Each kind of memory that the record lists can be had. */
void check_memory_types(kit *k) {
  raw r;
  if (!raw_open(k, &r)) return;
  for (uint32_t i = 0; i < r.caps.memory_type_count; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_plugin_buffer *buffer = NULL;
    vyre_buffer_request request = {
        .size = sizeof request, .bytes = 4096, .properties = r.caps.memory_types[i].properties};
    char what[64];
    snprintf(what, sizeof what, "a buffer of memory type %u, properties 0x%x", i, request.properties);
    kit_doing(k, "%s", what);
    if (!raw_wants(&r, what, r.ops.buffer_create(r.device, &request, &buffer, &error), VYRE_OK, &error)) continue;
    void *map = NULL;
    bool is_mapped = (request.properties & (VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE)) != 0;
    vyre_status status = is_mapped ? r.ops.buffer_map(buffer, &map, &error) : VYRE_OK;
    if (status != VYRE_OK || (is_mapped && map == NULL)) kit_fail(k, "%s can't be mapped: %s", what, error.text);
    r.ops.buffer_destroy(buffer);
  }
  raw_close(&r);
}

/* Memory of the host's own, used by the device and given back as it is. */
static void import_host(world *w) {
  static _Alignas(4096) uint32_t words[1024];
  raw *r = &w->r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  vyre_buffer_request request = {.size = sizeof request,
                                 .properties = r->caps.memory_types[0].properties,
                                 .bytes = sizeof words,
                                 .kind = VYRE_HANDLE_HOST_POINTER,
                                 .handle = (uint64_t)(uintptr_t)words};
  for (uint32_t i = 0; i < 1024; i++) words[i] = i * 7;
  vyre_status status = r->ops.buffer_create(r->device, &request, &buffer, &error);
  if (!raw_wants(r, "importing a host pointer", status, VYRE_OK, &error)) return;
  vyre_plugin_buffer *usual = w->y;
  vyre_plugin_set *set = NULL;
  w->y = buffer;
  if (world_make_set(w, 9, &set)) {
    vyre_completion completion;
    vyre_plugin_batch *batch = raw_dispatch(r, w->executable, set, WORLD_GROUPS);
    raw_wants(r, "a run on imported memory", raw_run(r, &w->queue, batch, &completion, &error), VYRE_OK, &error);
    raw_invalidate(r, buffer, sizeof words);
    for (uint32_t i = 0; i < 1024; i++) {
      uint32_t wanted = i < WORLD_ELEMENTS ? i * 0x9E3779B1u * 3 + 9 : i * 7;
      if (words[i] == wanted) continue;
      kit_fail(r->k, "imported memory: word %u: wanted %u, found %u", i, wanted, words[i]);
      break;
    }
    r->ops.batch_destroy(batch);
    r->ops.set_destroy(set);
  }
  w->y = usual;
  r->ops.buffer_destroy(buffer);
  words[0] = 1; /* still ours */
}

static void refuse_kind(world *w, uint32_t kind, const char *name, uint64_t handle) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  char what[64];
  vyre_buffer_request request = {.size = sizeof request,
                                 .properties = w->r.caps.memory_types[0].properties,
                                 .bytes = 4096,
                                 .kind = kind,
                                 .handle = handle};
  snprintf(what, sizeof what, "importing %s, which is not claimed", name);
  kit_doing(w->r.k, "%s", what);
  raw_wants_refusal(&w->r, what, w->r.ops.buffer_create(w->r.device, &request, &buffer, &error), &error);
}

void check_import(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  bool takes_pointers = (w.r.caps.import_kinds >> VYRE_HANDLE_HOST_POINTER & 1) != 0;
  if (takes_pointers)
    import_host(&w);
  else
    refuse_kind(&w, VYRE_HANDLE_HOST_POINTER, "a host pointer", 4096);
  if ((w.r.caps.import_kinds >> VYRE_HANDLE_FD & 1) == 0) refuse_kind(&w, VYRE_HANDLE_FD, "a file descriptor", 0);
  if ((w.r.caps.import_kinds >> VYRE_HANDLE_DEVICE_POINTER & 1) == 0)
    refuse_kind(&w, VYRE_HANDLE_DEVICE_POINTER, "a device pointer", 4096);
  world_close(&w);
}

void check_export(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  for (uint32_t kind = VYRE_HANDLE_HOST_POINTER; kind <= VYRE_HANDLE_DEVICE_POINTER && w.r.ops.buffer_export != NULL;
       kind++) {
    vyre_error error = VYRE_ERROR_INIT;
    uint64_t handle = 0;
    char what[48];
    snprintf(what, sizeof what, "exporting a handle of kind %u", kind);
    kit_doing(k, "%s", what);
    vyre_status status = w.r.ops.buffer_export(w.x, kind, &handle, &error);
    bool is_claimed = (w.r.caps.export_kinds >> kind & 1) != 0;
    if (!is_claimed)
      raw_wants_refusal(&w.r, what, status, &error);
    else if (raw_wants(&w.r, what, status, VYRE_OK, &error) && kind == VYRE_HANDLE_HOST_POINTER &&
             handle != (uint64_t)(uintptr_t)w.x_words)
      kit_fail(k, "%s: wanted the address of its map, found 0x%" PRIx64, what, handle);
  }
  if (w.r.ops.buffer_export == NULL && w.r.caps.export_kinds != 0)
    kit_fail(k, "export_kinds 0x%x are claimed, and the slot buffer_export is empty", w.r.caps.export_kinds);
  world_close(&w);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static vyre_plugin_batch *record(world *w, const char *what, const vyre_command *commands, uint64_t count) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  kit_doing(w->r.k, "%s", what);
  raw_wants(&w->r, what, w->r.ops.batch_create(w->r.device, commands, count, &batch, &error), VYRE_OK, &error);
  return batch;
}

static bool run_commands(world *w, const char *what, const vyre_command *commands, uint64_t count) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  vyre_plugin_batch *batch = record(w, what, commands, count);
  if (batch == NULL) return false;
  vyre_status status = raw_run(&w->r, &w->queue, batch, &completion, &error);
  w->r.ops.batch_destroy(batch);
  return status == VYRE_OK || kit_fail(w->r.k, "%s: %s: %s", what, vyre_status_name(status), completion.text);
}

static bool expect_words(world *w, const char *what, const uint32_t *wanted) {
  raw_invalidate(&w->r, w->y, 4 * WORLD_ELEMENTS);
  for (uint32_t i = 0; i < WORLD_ELEMENTS; i++)
    if (w->y_words[i] != wanted[i])
      return kit_fail(w->r.k, "%s: word %u: wanted 0x%x, found 0x%x", what, i, wanted[i], w->y_words[i]);
  return true;
}

/* Fills and copies at every kind of place, one after another. */
void check_fill_and_copy(kit *k) {
  world w;
  uint32_t wanted[WORLD_ELEMENTS] = {0};
  if (!world_open(k, &w)) return;
  static const struct {
    uint32_t first, count;
  } ranges[] = {{0, WORLD_ELEMENTS}, {0, 1}, {1, 1}, {3, 5}, {WORLD_ELEMENTS - 1, 1}, {17, 0}, {16, 64}, {7, 100}};
  world_clear(&w);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    char what[64];
    vyre_fill fill = {sizeof fill, 0xC0DE0000u + (uint32_t)i, w.y, 4 * ranges[i].first, 4 * ranges[i].count};
    snprintf(what, sizeof what, "filling %u words from word %u on", ranges[i].count, ranges[i].first);
    for (uint32_t n = 0; n < ranges[i].count; n++) wanted[ranges[i].first + n] = fill.pattern;
    if (!run_commands(&w, what, &(vyre_command){VYRE_COMMAND_FILL, 0, &fill}, 1) || !expect_words(&w, what, wanted))
      return;
    vyre_copy copy = {sizeof copy,         0,   w.x,
                      4 * ranges[i].first, w.y, 4 * (WORLD_ELEMENTS - ranges[i].first - ranges[i].count),
                      4 * ranges[i].count};
    snprintf(what, sizeof what, "copying %u words from word %u on", ranges[i].count, ranges[i].first);
    for (uint32_t n = 0; n < ranges[i].count; n++) wanted[copy.target_offset / 4 + n] = w.x_words[ranges[i].first + n];
    if (!run_commands(&w, what, &(vyre_command){VYRE_COMMAND_COPY, 0, &copy}, 1) || !expect_words(&w, what, wanted))
      return;
  }
  /* Single bytes: a copy has no alignment. */
  uint8_t *bytes = (uint8_t *)wanted;
  vyre_copy copy = {sizeof copy, 0, w.x, 5, w.y, 11, 7};
  memcpy(bytes + 11, (const uint8_t *)w.x_words + 5, 7);
  if (run_commands(&w, "copying 7 bytes from byte 5 to byte 11", &(vyre_command){VYRE_COMMAND_COPY, 0, &copy}, 1))
    expect_words(&w, "copying 7 bytes from byte 5 to byte 11", wanted);
  world_close(&w);
}

/* A chain in which each command needs the one before: y = fill, x * 3 + 5 into y, y to the end of x's copy, ... */
void check_order(kit *k) {
  enum { CHAIN = 40 };
  world w;
  uint32_t wanted[WORLD_ELEMENTS];
  if (!world_open(k, &w)) return;
  vyre_fill fills[CHAIN];
  vyre_copy copies[CHAIN];
  vyre_command commands[4 * CHAIN];
  vyre_plugin_buffer *between = raw_buffer(&w.r, 4 * WORLD_ELEMENTS);
  if (between == NULL) return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < CHAIN; i++) {
    fills[i] = (vyre_fill){sizeof fills[i], i, between, 0, 4 * WORLD_ELEMENTS};
    copies[i] = (vyre_copy){sizeof copies[i], 0, between, 0, w.y, 4 * i, 4 * (WORLD_ELEMENTS - i)};
    commands[count++] = (vyre_command){VYRE_COMMAND_FILL, 0, &fills[i]};
    commands[count++] = (vyre_command){VYRE_COMMAND_ORDER, 0, NULL};
    commands[count++] = (vyre_command){VYRE_COMMAND_COPY, 0, &copies[i]};
    commands[count++] = (vyre_command){VYRE_COMMAND_ORDER, 0, NULL};
  }
  for (uint32_t i = 0; i < WORLD_ELEMENTS; i++) wanted[i] = i < CHAIN ? i : CHAIN - 1;
  for (int round = 0; round < 20 && !kit_is_over(k); round++)
    if (run_commands(&w, "a chain of fills and copies with orders between", commands, count))
      expect_words(&w, "a chain of fills and copies with orders between", wanted);
  w.r.ops.buffer_destroy(between);
  world_close(&w);
}

void check_empty_batches(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  run_commands(&w, "a batch without commands", NULL, 0);
  run_commands(&w, "a batch of one order", &(vyre_command){VYRE_COMMAND_ORDER, 0, NULL}, 1);
  for (int axis = 0; axis < 3; axis++) {
    vyre_dispatch none = {.size = sizeof none, .executable = w.executable, .set = w.set, .grid = {4, 1, 1}};
    uint32_t wanted[WORLD_ELEMENTS] = {0};
    none.grid[axis] = 0;
    world_clear(&w);
    if (run_commands(&w, "a grid with an axis of 0", &(vyre_command){VYRE_COMMAND_DISPATCH, 0, &none}, 1))
      expect_words(&w, "a grid with an axis of 0", wanted);
  }
  world_run(&w, "after empty batches");
  world_close(&w);
}

/* Recorded once, submitted many times, also while it is pending. */
void check_resubmit(kit *k) {
  enum { TIMES = 50 };
  world w;
  static vyre_completion completions[TIMES];
  if (!world_open(k, &w)) return;
  world_clear(&w);
  kit_doing(k, "submitting one batch %d times", TIMES);
  for (int i = 0; i < TIMES; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    completions[i] = (vyre_completion){.size = sizeof completions[i]};
    vyre_point end = {w.queue.timeline, ++w.queue.value};
    vyre_submit submit = {
        .size = sizeof submit, .batch = w.batch, .signals = &end, .signal_count = 1, .completion = &completions[i]};
    if (!raw_wants(&w.r, "submit", w.r.ops.submit(w.queue.queue, &submit, &error), VYRE_OK, &error)) return;
  }
  w.r.ops.timeline_wait(w.queue.timeline, w.queue.value, long_ns, NULL);
  world_check(&w, "one batch submitted many times", 5);
  vyre_launch_report report = {.size = sizeof report};
  w.r.ops.executable_report(w.executable, &report, NULL);
  if (report.launches != TIMES) kit_fail(k, "launches: wanted %d, found %" PRIu64, TIMES, report.launches);
  world_close(&w);
}

/* ---- What comes with the submit -------------------------------------------------------------- */

void check_late(kit *k) {
  world w;
  vyre_error error = VYRE_ERROR_INIT;
  if (!world_open(k, &w)) return;
  uint32_t step = w.r.caps.binding_alignment, room = 4 * WORLD_ELEMENTS + 4 * step;
  vyre_plugin_buffer *wide = raw_buffer(&w.r, room);
  uint8_t *map = wide != NULL ? raw_map(&w.r, wide) : NULL;
  if (map == NULL) return;
  vyre_bind binds[2] = {
      {.buffer = w.x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN | VYRE_BIND_LATE,
       .buffer = wide,
       .bytes = 4 * WORLD_ELEMENTS,
       .elements = WORLD_ELEMENTS},
  };
  vyre_set_request request = {
      .size = sizeof request, .bind_count = 2, .binds = binds, .param_bytes = 4, .late_params = 1};
  vyre_plugin_set *set = NULL;
  if (!raw_wants(&w.r, "a set with late values", w.r.ops.set_create(w.executable, &request, &set, &error), VYRE_OK,
                 &error))
    return;
  vyre_plugin_batch *batch = raw_dispatch(&w.r, w.executable, set, WORLD_GROUPS);
  for (uint32_t i = 0; i < 4 && batch != NULL; i++) {
    uint32_t n = 100 + i;
    uint64_t offsets[2] = {0, (uint64_t)i * step};
    vyre_late late = {.command = 0, .params = &n, .offsets = offsets};
    vyre_completion completion = {.size = sizeof completion};
    vyre_point end = {w.queue.timeline, ++w.queue.value};
    vyre_submit submit = {.size = sizeof submit,
                          .batch = batch,
                          .signals = &end,
                          .signal_count = 1,
                          .late = &late,
                          .late_count = 1,
                          .completion = &completion};
    memset(map, 0xA5, room);
    raw_flush(&w.r, wide, room);
    kit_doing(k, "late parameter %u, late offset %" PRIu64, n, offsets[1]);
    if (!raw_wants(&w.r, "a submit with late values", w.r.ops.submit(w.queue.queue, &submit, &error), VYRE_OK, &error))
      return;
    offsets[1] = n = 0xFFFFFFFF; /* they are copied */
    w.r.ops.timeline_wait(w.queue.timeline, w.queue.value, long_ns, NULL);
    raw_invalidate(&w.r, wide, room);
    for (uint32_t at = 0; at < room / 4; at++) {
      uint32_t first = i * step / 4, word, wanted = 0xA5A5A5A5u;
      memcpy(&word, map + 4 * (uint64_t)at, 4);
      if (at >= first && at - first < WORLD_ELEMENTS) wanted = (at - first) * 0x9E3779B1u * 3 + 100 + i;
      if (word == wanted) continue;
      kit_fail(k, "a late offset of %u bytes and a late parameter of %u: word %u: wanted 0x%x, found 0x%x", i * step,
               100 + i, at, wanted, word);
      return;
    }
  }
  w.r.ops.batch_destroy(batch);
  w.r.ops.set_destroy(set);
  w.r.ops.buffer_destroy(wide);
  world_close(&w);
}

/* VYRE_BIND_ZERO: a part of each dispatch, and of no byte more than is bound. */
void check_bind_zero(kit *k) {
  world w;
  vyre_error error = VYRE_ERROR_INIT;
  if (!world_open(k, &w)) return;
  enum { WRITTEN = 64, BOUND = 100 }; /* one workgroup leaves the rest as it is */
  vyre_bind binds[2] = {
      {.buffer = w.x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN | VYRE_BIND_ZERO, .buffer = w.y, .bytes = 4 * BOUND, .elements = BOUND},
  };
  uint32_t n = 1, wanted[WORLD_ELEMENTS];
  vyre_set_request request = {.size = sizeof request, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
  vyre_plugin_set *set = NULL;
  if (!raw_wants(&w.r, "a set", w.r.ops.set_create(w.executable, &request, &set, &error), VYRE_OK, &error)) return;
  vyre_dispatch dispatch = {.size = sizeof dispatch, .executable = w.executable, .set = set, .grid = {0, 1, 1}};
  for (uint32_t groups = 0; groups < 2; groups++) {
    dispatch.grid[0] = groups;
    for (uint32_t i = 0; i < WORLD_ELEMENTS; i++) {
      w.y_words[i] = 0xBADu + i;
      wanted[i] = i >= BOUND ? 0xBADu + i : i < WRITTEN && groups > 0 ? i * 0x9E3779B1u * 3 + n : 0;
    }
    raw_flush(&w.r, w.y, 4 * WORLD_ELEMENTS);
    if (!run_commands(&w, "a binding that is zero first", &(vyre_command){VYRE_COMMAND_DISPATCH, 0, &dispatch}, 1))
      return;
    /* Where nothing runs, both are right: as it was, or zero. */
    raw_invalidate(&w.r, w.y, 4 * WORLD_ELEMENTS);
    for (uint32_t i = 0; groups == 0 && i < BOUND; i++) wanted[i] = w.y_words[i] == 0 ? 0 : 0xBADu + i;
    if (!expect_words(&w, "a binding that is zero first", wanted)) return;
  }
  w.r.ops.set_destroy(set);
  world_close(&w);
}

/* ---- Numbers from the device ----------------------------------------------------------------- */

void check_indirect_grid(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  if ((w.r.caps.can & VYRE_CAN_INDIRECT_GRID) == 0) {
    kit_skip(k, "indirect_grid is not claimed");
    return;
  }
  vyre_plugin_buffer *counts = raw_buffer(&w.r, 64);
  uint32_t *map = counts != NULL ? (uint32_t *)(void *)raw_map(&w.r, counts) : NULL;
  if (map == NULL) return;
  static const struct {
    uint32_t on_device, most, runs, clamped;
  } cases[] = {{4, 4, 4, 0}, {1, 4, 1, 0}, {0, 4, 0, 0}, {9, 3, 3, 1}, {UINT32_MAX, 2, 2, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases && !kit_is_over(k); i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_completion completion;
    uint32_t wanted[WORLD_ELEMENTS];
    char what[96];
    snprintf(what, sizeof what, "a grid of %u workgroups from the device, at most %u", cases[i].on_device,
             cases[i].most);
    memcpy(map + 1, (uint32_t[3]){cases[i].on_device, 1, 1}, 12);
    raw_flush(&w.r, counts, 64);
    world_clear(&w);
    vyre_dispatch dispatch = {.size = sizeof dispatch,
                              .executable = w.executable,
                              .set = w.set,
                              .grid = {cases[i].most, 1, 1},
                              .grid_buffer = counts,
                              .grid_offset = 4};
    vyre_plugin_batch *batch = record(&w, what, &(vyre_command){VYRE_COMMAND_DISPATCH, 0, &dispatch}, 1);
    if (batch == NULL) return;
    raw_wants(&w.r, what, raw_run(&w.r, &w.queue, batch, &completion, &error), VYRE_OK, &error);
    for (uint32_t n = 0; n < WORLD_ELEMENTS; n++) wanted[n] = n < 64 * cases[i].runs ? n * 0x9E3779B1u * 3 + 5 : 0;
    expect_words(&w, what, wanted);
    if (completion.clamped_extents != cases[i].clamped)
      kit_fail(k, "%s: clamped_extents: wanted %u, found %" PRIu64, what, cases[i].clamped, completion.clamped_extents);
    w.r.ops.batch_destroy(batch);
  }
  w.r.ops.buffer_destroy(counts);
  world_close(&w);
}

void check_timestamps(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  if ((w.r.caps.can & VYRE_CAN_TIMESTAMP) == 0) {
    kit_skip(k, "timestamp is not claimed");
    return;
  }
  vyre_error error = VYRE_ERROR_INIT;
  vyre_timestamp first = {sizeof first, 0}, last = {sizeof last, 1};
  vyre_dispatch dispatch = {.size = sizeof dispatch, .executable = w.executable, .set = w.set, .grid = {4, 1, 1}};
  const vyre_command commands[] = {{VYRE_COMMAND_TIMESTAMP, 0, &first},
                                   {VYRE_COMMAND_ORDER, 0, NULL},
                                   {VYRE_COMMAND_DISPATCH, 0, &dispatch},
                                   {VYRE_COMMAND_ORDER, 0, NULL},
                                   {VYRE_COMMAND_TIMESTAMP, 0, &last}};
  vyre_plugin_batch *batch = record(&w, "a batch with timestamps", commands, 5);
  if (batch == NULL) return;
  for (int i = 0; i < 20; i++) {
    uint64_t times[3] = {UINT64_MAX, UINT64_MAX, 0xC0FFEE};
    vyre_completion completion = {.size = sizeof completion};
    vyre_point end = {w.queue.timeline, ++w.queue.value};
    vyre_submit submit = {.size = sizeof submit,
                          .batch = batch,
                          .signals = &end,
                          .signal_count = 1,
                          .timestamps = times,
                          .timestamp_count = 2,
                          .completion = &completion};
    if (!raw_wants(&w.r, "submit", w.r.ops.submit(w.queue.queue, &submit, &error), VYRE_OK, &error)) return;
    w.r.ops.timeline_wait(w.queue.timeline, w.queue.value, long_ns, NULL);
    if (times[0] == UINT64_MAX || times[1] == UINT64_MAX)
      kit_fail(k, "a timestamp is not there when its submission has ended");
    else if (times[0] > times[1])
      kit_fail(k, "the clock goes back: %" PRIu64 " ns before a dispatch, %" PRIu64 " ns behind it", times[0],
               times[1]);
    if (times[2] != 0xC0FFEE) kit_fail(k, "a timestamp is written that nobody asked for");
    if (kit_is_over(k)) return;
  }
  w.r.ops.batch_destroy(batch);
  world_close(&w);
}
