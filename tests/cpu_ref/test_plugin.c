/* The plugin as a host sees it: the shared object, its one export, and every slot of its table. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vyre/backend.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "../suite.h"

/* ---- A host ---- */

static const char *configured_order, *configured_subgroup, *configured_limit;

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  return aligned_alloc(align, (bytes + align - 1) / align * align);
}
static void host_free(void *ctx, void *p, uint64_t bytes) {
  (void)ctx, (void)bytes;
  free(p);
}
static vyre_status host_config(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  (void)ctx;
  const char *value = strcmp(key, "cpu_ref.lane_order") == 0      ? configured_order
                      : strcmp(key, "cpu_ref.subgroup_size") == 0 ? configured_subgroup
                      : strcmp(key, "cpu_ref.memory_limit") == 0  ? configured_limit
                                                                  : NULL;
  if (value == NULL) return VYRE_ERR_NOT_FOUND;
  *length = strlen(value);
  snprintf(text, capacity, "%s", value);
  return VYRE_OK;
}
static uint64_t host_now(void *ctx) {
  (void)ctx;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const vyre_host host = { .size = sizeof host,
                                .alloc = host_alloc,
                                .free = host_free,
                                .config_get = host_config,
                                .now_ns = host_now };

/* Everything that most tests need. */
typedef struct rig {
  const vyre_backend_ops *ops;
  vyre_plugin *plugin;
  vyre_plugin_device *device;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
  vyre_plugin_executable *executable;
  vyre_capabilities caps;
  uint64_t point; /* the last that was asked for */
  vyre_error error;
} rig;

static const vyre_backend_desc *load_plugin(void) {
  char path[4096];
  const char *directory = getenv("VYRE_TEST_BACKENDS");
  snprintf(path, sizeof path, "%s/vyre_backend_cpu_ref.so", directory != NULL ? directory : "plugins/cpu_ref/.libs");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) ck_abort_msg("%s", dlerror());
  vyre_backend_query_fn query;
  *(void **)&query = dlsym(library, VYRE_BACKEND_SYMBOL);
  ck_assert_ptr_nonnull(query);
  vyre_backend_request request = { .size = sizeof request, .fingerprint = VYRE_ABI_FINGERPRINT };
  return query(&request);
}

static void must(rig *r, vyre_status status) {
  if (status != VYRE_OK) ck_abort_msg("status %d: %s", status, r->error.text);
}

static void rig_open(rig *r) {
  *r = (rig){ .error = VYRE_ERROR_INIT, .caps = { .size = sizeof r->caps } };
  r->ops = load_plugin()->ops;
  must(r, r->ops->probe(&host, &r->error));
  must(r, r->ops->open(&host, &r->plugin, &r->error));
  must(r, r->ops->device_describe(r->plugin, 0, &r->caps, &r->error));
  must(r, r->ops->device_open(r->plugin, 0, &r->device, &r->error));
  must(r, r->ops->queue_create(r->device, 0, &r->queue, &r->error));
  must(r, r->ops->timeline_create(r->device, 0, &r->timeline, &r->error));
}

static void rig_close(rig *r) {
  r->ops->timeline_destroy(r->timeline);
  r->ops->queue_destroy(r->queue);
  if (r->executable != NULL) r->ops->executable_destroy(r->executable);
  r->ops->device_close(r->device);
  r->ops->close(r->plugin);
}

static vyre_status compile(rig *r, const char *text, vyre_compile_request request, vyre_bytes *blob) {
  vyre_program *program;
  vyre_error error = VYRE_ERROR_INIT;
  uint8_t *wire;
  size_t length;
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  ck_assert_int_eq(vyre_wire_encode(program, &wire, &length), VYRE_OK);
  vyre_program_release(program);
  request.size = sizeof request;
  request.wire = wire;
  request.wire_bytes = length;
  *blob = (vyre_bytes){ .size = sizeof *blob };
  vyre_status status = r->ops->compile(&host, &r->caps, &request, blob, &r->error);
  free(wire);
  return status;
}

static void rig_load(rig *r, const char *text) {
  vyre_bytes blob;
  must(r, compile(r, text, (vyre_compile_request){ 0 }, &blob));
  must(r, r->ops->executable_load(r->device, blob.data, blob.length, &r->executable, &r->error));
  free(blob.data);
}

static vyre_plugin_buffer *make_buffer(rig *r, uint64_t bytes, void *map) {
  vyre_plugin_buffer *buffer;
  vyre_buffer_request request = { .size = sizeof request, .bytes = bytes, .properties = VYRE_MEMORY_HOST_READ };
  must(r, r->ops->buffer_create(r->device, &request, &buffer, &r->error));
  must(r, r->ops->buffer_map(buffer, map, &r->error));
  return buffer;
}

static vyre_plugin_set *make_set(rig *r, const vyre_bind *binds, uint32_t count, const void *params, uint64_t bytes) {
  vyre_plugin_set *set;
  vyre_set_request request = { .size = sizeof request, .bind_count = count, .binds = binds, .params = params, .param_bytes = bytes };
  must(r, r->ops->set_create(r->executable, &request, &set, &r->error));
  return set;
}

static vyre_bind bind_all_of(vyre_plugin_buffer *buffer, uint64_t bytes, uint64_t elements) {
  return (vyre_bind){ .buffer = buffer, .bytes = bytes, .elements = elements };
}

static vyre_dispatch dispatch_of(rig *r, vyre_plugin_set *set, uint32_t x) {
  return (vyre_dispatch){ .size = sizeof(vyre_dispatch), .executable = r->executable, .set = set, .grid = { x, 1, 1 } };
}

/* Submits commands and waits; the completion record is the caller's. */
static void submit_all(rig *r, const vyre_command *commands, uint64_t count, vyre_submit submit, vyre_completion *completion) {
  vyre_plugin_batch *batch;
  must(r, r->ops->batch_create(r->device, commands, count, &batch, &r->error));
  *completion = (vyre_completion){ .size = sizeof *completion };
  vyre_point point = { r->timeline, ++r->point };
  submit.size = sizeof submit;
  submit.batch = batch;
  submit.signals = &point;
  submit.signal_count = 1;
  submit.completion = completion;
  must(r, r->ops->submit(r->queue, &submit, &r->error));
  must(r, r->ops->timeline_wait(r->timeline, r->point, UINT64_MAX, &r->error));
  r->ops->batch_destroy(batch);
}

static void run(rig *r, vyre_plugin_set *set, uint32_t x, vyre_completion *completion) {
  vyre_dispatch dispatch = dispatch_of(r, set, x);
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &dispatch };
  submit_all(r, &command, 1, (vyre_submit){ 0 }, completion);
}

/* ---- Negotiation ---- */

START_TEST(the_descriptor_says_what_it_is) {
  const vyre_backend_desc *desc = load_plugin();
  ck_assert(desc->magic == VYRE_ABI_MAGIC);
  ck_assert_uint_eq(desc->size, sizeof *desc);
  ck_assert_uint_eq(desc->abi_major, VYRE_ABI_MAJOR);
  ck_assert(desc->fingerprint == VYRE_ABI_FINGERPRINT);
  ck_assert_uint_eq(desc->sanitizer, VYRE_ABI_SANITIZER);
  ck_assert_uint_eq(desc->flags, VYRE_BACKEND_TAKES_PROGRAM);
  ck_assert_str_eq(desc->name, "cpu_ref");
  ck_assert_uint_gt(strlen(desc->build_id), 16);
  ck_assert_uint_eq(desc->ops->size, sizeof *desc->ops);
  ck_assert_ptr_eq(load_plugin(), desc);
}
END_TEST

START_TEST(there_is_one_profile_and_one_device) {
  rig r;
  rig_open(&r);
  vyre_capabilities profile = { .size = sizeof profile };
  uint32_t count;
  must(&r, r.ops->profile(&host, 0, &profile, &r.error));
  ck_assert_str_eq(profile.profile, "cpu_ref");
  ck_assert_int_eq(r.ops->profile(&host, 1, &profile, &r.error), VYRE_ERR_NOT_FOUND);
  must(&r, r.ops->device_count(r.plugin, &count, &r.error));
  ck_assert_uint_eq(count, 1);
  ck_assert_int_eq(r.ops->device_describe(r.plugin, 1, &profile, &r.error), VYRE_ERR_NOT_FOUND);
  vyre_plugin_device *device = r.device;
  ck_assert_int_eq(r.ops->device_open(r.plugin, 7, &device, &r.error), VYRE_ERR_NOT_FOUND);
  ck_assert_ptr_null(device);
  ck_assert_uint_eq(r.caps.subgroup_size, 32);
  ck_assert_uint_ge(r.caps.max_workgroup_invocations, 1024);
  ck_assert_uint_ge(r.caps.max_shared_bytes, 65536);
  ck_assert_uint_eq(r.caps.binding_alignment, 16);
  rig_close(&r);
}
END_TEST

START_TEST(records_of_a_smaller_host_are_not_overrun) {
  rig r;
  rig_open(&r);
  union {
    vyre_capabilities caps;
    uint8_t bytes[sizeof(vyre_capabilities)];
  } u;
  memset(&u, 0xAB, sizeof u);
  u.caps.size = 100;
  must(&r, r.ops->device_describe(r.plugin, 0, &u.caps, &r.error));
  ck_assert_uint_eq(u.caps.size, 100);
  for (size_t i = 100; i < sizeof u; i++) ck_assert_uint_eq(u.bytes[i], 0xAB);
  rig_close(&r);
}
END_TEST

START_TEST(several_instances_may_be_open) {
  rig a, b;
  rig_open(&a);
  rig_open(&b);
  rig_close(&a);
  rig_load(&b, "program p { }");
  rig_close(&b);
}
END_TEST

/* ---- Compiling ---- */

START_TEST(compiling_is_pure_and_loading_checks_the_blob) {
  rig r;
  vyre_bytes a, b;
  rig_open(&r);
  const char *text = "program p { rw n: u32[1]; n[0] += 1; }";
  must(&r, compile(&r, text, (vyre_compile_request){ 0 }, &a));
  must(&r, compile(&r, text, (vyre_compile_request){ 0 }, &b));
  ck_assert_uint_eq(a.length, b.length);
  ck_assert_mem_eq(a.data, b.data, a.length);
  vyre_plugin_executable *executable;
  for (uint64_t cut = 0; cut < a.length; cut++) {
    ck_assert_int_ne(r.ops->executable_load(r.device, a.data, cut, &executable, &r.error), VYRE_OK);
    ck_assert_ptr_null(executable);
  }
  uint8_t *bytes = a.data;
  bytes[0] ^= 1;
  ck_assert_int_eq(r.ops->executable_load(r.device, bytes, a.length, &executable, &r.error), VYRE_ERR_INVALID_FILE);
  bytes[0] ^= 1;
  bytes[9] ^= 1; /* in the build id */
  ck_assert_int_eq(r.ops->executable_load(r.device, bytes, a.length, &executable, &r.error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(r.error.text, load_plugin()->build_id));
  bytes[9] ^= 1;
  bytes[a.length - 1] ^= 1;
  ck_assert_int_ne(r.ops->executable_load(r.device, bytes, a.length, &executable, &r.error), VYRE_OK);
  free(a.data);
  free(b.data);
  rig_close(&r);
}
END_TEST

START_TEST(refusals_come_when_compiling) {
  rig r;
  vyre_bytes blob;
  rig_open(&r);
  const char *text = "program p { write y: f32[1]; y[0] = sin(1.5); }";
  ck_assert_int_eq(compile(&r, text, (vyre_compile_request){ 0 }, &blob), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_null(blob.data);
  must(&r, compile(&r, text, (vyre_compile_request){ .flags = VYRE_COMPILE_ULP }, &blob));
  free(blob.data);
  ck_assert_int_eq(compile(&r, "program p subgroup(4) { }", (vyre_compile_request){ .subgroup_size = 8 }, &blob), VYRE_ERR_UNSUPPORTED);
  vyre_spec_constant specs[2] = { { 1, VYRE_TYPE_F32, 0 }, { 0, VYRE_TYPE_U32, 7 } };
  const char *params = "program p { param a: u32; param b: f32; }";
  vyre_compile_request with = { .spec = specs, .spec_count = 1 };
  ck_assert_int_eq(compile(&r, "program p { param a: u32; }", with, &blob), VYRE_ERR_INVALID_ARGUMENT);
  must(&r, compile(&r, params, with, &blob));
  free(blob.data);
  with.spec_count = 2; /* not ascending */
  ck_assert_int_eq(compile(&r, params, with, &blob), VYRE_ERR_INVALID_ARGUMENT);
  specs[0] = (vyre_spec_constant){ 0, VYRE_TYPE_I32, 7 };
  with.spec_count = 1; /* another type */
  ck_assert_int_eq(compile(&r, params, with, &blob), VYRE_ERR_INVALID_ARGUMENT);
  rig_close(&r);
}
END_TEST

/* ---- Running ---- */

START_TEST(saxpy) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program saxpy workgroup(64) { param on: bool; param a: f32; param big: u64; read x: f32[]; rw y: f32[];"
               "if (gid.x < len(y) && on && big == 0x123456789A) { y[gid.x] = fma(a, x[gid.x], y[gid.x]); } }");
  float *x, *y;
  vyre_plugin_buffer *bx = make_buffer(&r, 4096, &x), *by = make_buffer(&r, 4096, &y);
  for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
  struct {
    uint32_t on;
    float a;
    uint64_t big;
  } params = { 1, 2, 0x123456789A };
  vyre_bind binds[2] = { bind_all_of(bx, 4000, 1000), bind_all_of(by, 4000, 1000) };
  vyre_plugin_set *set = make_set(&r, binds, 2, &params, sizeof params);
  vyre_completion done;
  run(&r, set, 16, &done);
  ck_assert_int_eq(done.status, VYRE_OK);
  for (int i = 0; i < 1000; i++) ck_assert_float_eq(y[i], 2 * (float)i + 1);
  ck_assert_uint_eq(done.masked_loads, 0);
  vyre_launch_report report = { .size = sizeof report };
  must(&r, r.ops->executable_report(r.executable, &report, &r.error));
  ck_assert_uint_eq(report.declared_workgroup[0], 64);
  ck_assert_uint_eq(report.launched_grid[0], 16);
  ck_assert_uint_eq(report.subgroup_size, 32);
  ck_assert_uint_eq(report.launches, 1);
  uint64_t resident;
  must(&r, r.ops->max_resident(r.executable, &resident, &r.error));
  ck_assert_uint_ge(resident, 1);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(bx);
  r.ops->buffer_destroy(by);
  rig_close(&r);
}
END_TEST

START_TEST(a_batch_does_its_commands_in_order) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { rw n: u32[4]; for (i in 0..4) { n[i] *= 3; } }");
  uint32_t *n, *m;
  vyre_plugin_buffer *bn = make_buffer(&r, 16, &n), *bm = make_buffer(&r, 32, &m);
  vyre_bind bind = bind_all_of(bn, 16, 4);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 1);
  vyre_fill fill = { .size = sizeof fill, .pattern = 5, .target = bn, .offset = 0, .bytes = 12 };
  vyre_copy copy = { .size = sizeof copy, .source = bn, .source_offset = 4, .target = bm, .target_offset = 8, .bytes = 12 };
  vyre_timestamp before = { sizeof before, 0 }, after = { sizeof after, 1 };
  vyre_command commands[] = { { VYRE_COMMAND_TIMESTAMP, 0, &before }, { VYRE_COMMAND_FILL, 0, &fill },
                              { VYRE_COMMAND_ORDER, 0, NULL },        { VYRE_COMMAND_DISPATCH, 0, &dispatch },
                              { VYRE_COMMAND_ORDER, 0, NULL },        { VYRE_COMMAND_DISPATCH, 0, &dispatch },
                              { VYRE_COMMAND_ORDER, 0, NULL },        { VYRE_COMMAND_COPY, 0, &copy },
                              { VYRE_COMMAND_TIMESTAMP, 0, &after } };
  uint64_t times[2] = { 0 };
  n[3] = 1;
  vyre_completion done;
  submit_all(&r, commands, 9, (vyre_submit){ .timestamps = times, .timestamp_count = 2 }, &done);
  ck_assert_int_eq(done.status, VYRE_OK);
  static const uint32_t want[] = { 0, 0, 45, 45, 9, 0, 0, 0 };
  ck_assert_mem_eq(m, want, sizeof want);
  ck_assert(times[0] > 0 && times[1] >= times[0]);
  vyre_plugin_batch *batch;
  copy.bytes = 16;
  ck_assert_int_eq(r.ops->batch_create(r.device, commands, 9, &batch, &r.error), VYRE_ERR_INVALID_ARGUMENT);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(bn);
  r.ops->buffer_destroy(bm);
  rig_close(&r);
}
END_TEST

START_TEST(lengths_and_grids_may_come_from_the_device) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { rw a: u32[]; write out: u64[4]; atomic_add(a[0], 1); if (gid.x == 0) { out[0] = len64(a); out[1] = u64(nwg.x); out[2] = u64(nwg.y); } }");
  uint32_t *a, *count;
  uint64_t *out;
  vyre_plugin_buffer *ba = make_buffer(&r, 64, &a), *bo = make_buffer(&r, 32, &out), *bc = make_buffer(&r, 64, &count);
  vyre_bind binds[2] = { bind_all_of(ba, 64, 16), bind_all_of(bo, 32, 4) };
  binds[0].length_bits = 32;
  binds[0].length_buffer = bc;
  binds[0].length_offset = 4;
  binds[1].flags = VYRE_BIND_ZERO | VYRE_BIND_WRITTEN;
  vyre_plugin_set *set = make_set(&r, binds, 2, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 8);
  dispatch.grid_buffer = bc;
  dispatch.grid_offset = 16;
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &dispatch };
  vyre_completion done;
  count[1] = 9, count[4] = 3, count[5] = 1, count[6] = 1, out[3] = 77;
  submit_all(&r, &command, 1, (vyre_submit){ 0 }, &done);
  ck_assert_uint_eq(out[0], 9);
  ck_assert_uint_eq(out[1], 3);
  ck_assert_uint_eq(out[3], 0);
  ck_assert_uint_eq(a[0], 3);
  ck_assert_uint_eq(done.clamped_extents, 0);
  count[1] = 99, count[4] = 1000, count[5] = 2;
  submit_all(&r, &command, 1, (vyre_submit){ 0 }, &done);
  ck_assert_uint_eq(out[0], 16);
  ck_assert_uint_eq(out[1], 8);
  ck_assert_uint_eq(out[2], 1);
  ck_assert_uint_eq(done.clamped_extents, 3);
  count[1] = 0, count[4] = 0;
  submit_all(&r, &command, 1, (vyre_submit){ 0 }, &done);
  ck_assert_int_eq(done.status, VYRE_OK);
  ck_assert_uint_eq(a[0], 11);
  ck_assert_uint_eq(out[0], 0);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(ba);
  r.ops->buffer_destroy(bo);
  r.ops->buffer_destroy(bc);
  rig_close(&r);
}
END_TEST

START_TEST(offsets_and_parameters_may_be_late) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { param k: u32; rw a: u32[4]; a[0] = k; }");
  uint32_t *a;
  vyre_plugin_buffer *ba = make_buffer(&r, 64, &a);
  vyre_bind bind = bind_all_of(ba, 16, 4);
  bind.flags = VYRE_BIND_LATE;
  vyre_plugin_set *set;
  vyre_set_request request = { .size = sizeof request, .bind_count = 1, .binds = &bind, .late_params = 1 };
  must(&r, r.ops->set_create(r.executable, &request, &set, &r.error));
  vyre_dispatch dispatch = dispatch_of(&r, set, 1);
  vyre_command commands[] = { { VYRE_COMMAND_DISPATCH, 0, &dispatch }, { VYRE_COMMAND_ORDER, 0, NULL }, { VYRE_COMMAND_DISPATCH, 0, &dispatch } };
  uint32_t first = 11, second = 22;
  uint64_t offsets[2] = { 16, 48 };
  vyre_late late[] = { { 0, 0, &first, &offsets[0] }, { 2, 0, &second, &offsets[1] } };
  vyre_completion done;
  submit_all(&r, commands, 3, (vyre_submit){ .late = late, .late_count = 2 }, &done);
  ck_assert_int_eq(done.status, VYRE_OK);
  ck_assert_uint_eq(a[4], 11);
  ck_assert_uint_eq(a[12], 22);
  offsets[1] = 64;
  submit_all(&r, commands, 3, (vyre_submit){ .late = late, .late_count = 2 }, &done);
  ck_assert_int_eq(done.status, VYRE_ERR_INVALID_ARGUMENT);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(ba);
  rig_close(&r);
}
END_TEST

START_TEST(sets_that_do_not_fit_are_refused) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { param k: u32; rw a: u32[]; a[0] = k; }");
  uint32_t *a, k = 0;
  vyre_plugin_buffer *ba = make_buffer(&r, 64, &a);
  vyre_bind bind = bind_all_of(ba, 64, 16);
  vyre_plugin_set *set;
  vyre_set_request request = { .size = sizeof request, .bind_count = 1, .binds = &bind, .params = &k, .param_bytes = 4 };
  bind.elements = 17;
  ck_assert_int_eq(r.ops->set_create(r.executable, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_str_eq(r.error.where, "a");
  bind.elements = 4, bind.offset = 8, bind.bytes = 16;
  ck_assert_int_eq(r.ops->set_create(r.executable, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT);
  bind.offset = 0;
  request.bind_count = 0;
  ck_assert_int_eq(r.ops->set_create(r.executable, &request, &set, &r.error), VYRE_ERR_MISSING_BINDING);
  request.bind_count = 1;
  request.param_bytes = 8;
  ck_assert_int_eq(r.ops->set_create(r.executable, &request, &set, &r.error), VYRE_ERR_MISSING_BINDING);
  r.ops->buffer_destroy(ba);
  rig_close(&r);
}
END_TEST

START_TEST(a_trap_is_in_the_completion_record_and_ends_the_batch) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p workgroup(4) { rw a: u32[]; a[gid.x + 4] = 1; if (gid.x >= 2) { trap(40 + gid.x); } }");
  uint32_t *a;
  vyre_plugin_buffer *ba = make_buffer(&r, 32, &a);
  vyre_bind bind = bind_all_of(ba, 32, 8);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 2);
  vyre_fill fill = { .size = sizeof fill, .pattern = 5, .target = ba, .bytes = 4 };
  vyre_command commands[] = { { VYRE_COMMAND_DISPATCH, 0, &dispatch }, { VYRE_COMMAND_FILL, 0, &fill } };
  vyre_completion done;
  submit_all(&r, commands, 2, (vyre_submit){ 0 }, &done);
  ck_assert_int_eq(done.status, VYRE_ERR_TRAP);
  ck_assert_uint_eq(done.trap_count, 6);
  ck_assert_uint_eq(done.trap_code, 42);
  ck_assert_uint_eq(done.trap_gid[0], 2);
  ck_assert_uint_eq(done.masked_stores, 4);
  ck_assert_ptr_nonnull(strstr(done.text, "code 42"));
  ck_assert_uint_eq(a[0], 0);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(ba);
  rig_close(&r);
}
END_TEST

START_TEST(prints_reach_the_host) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p workgroup(2) { print(\"{}\", gid.x + 5); }");
  vyre_plugin_set *set = make_set(&r, NULL, 0, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 1);
  vyre_command commands[] = { { VYRE_COMMAND_DISPATCH, 0, &dispatch }, { VYRE_COMMAND_DISPATCH, 0, &dispatch } };
  uint64_t words[12];
  vyre_completion done;
  submit_all(&r, commands, 2, (vyre_submit){ .prints = words, .print_words = 12 }, &done);
  ck_assert_uint_eq(done.prints_written, 3);
  ck_assert_uint_eq(done.prints_dropped, 1);
  ck_assert_uint_eq(words[3], 5);
  ck_assert_uint_eq(words[7], 6);
  ck_assert_uint_eq(words[11], 5);
  vyre_print_record record;
  memcpy(&record, words + 8, sizeof record);
  ck_assert_uint_eq(record.command, 1);
  r.ops->set_destroy(set);
  rig_close(&r);
}
END_TEST

START_TEST(the_configuration_counts) {
  rig r;
  configured_order = "reversed";
  configured_subgroup = "8";
  configured_limit = "1048576";
  rig_open(&r);
  ck_assert_uint_eq(r.caps.subgroup_size, 8);
  rig_load(&r, "program p workgroup(16) { rw a: u32[4]; a[0] = lid.x; a[1] = subgroup_size; }");
  uint32_t *a;
  vyre_plugin_buffer *ba = make_buffer(&r, 16, &a);
  vyre_bind bind = bind_all_of(ba, 16, 4);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_completion done;
  run(&r, set, 1, &done);
  ck_assert_uint_eq(a[0], 0);
  ck_assert_uint_eq(a[1], 8);
  vyre_plugin_buffer *big;
  vyre_buffer_request request = { .size = sizeof request, .bytes = 1048576 };
  ck_assert_int_eq(r.ops->buffer_create(r.device, &request, &big, &r.error), VYRE_ERR_LIMIT);
  ck_assert_ptr_null(big);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(ba);
  must(&r, r.ops->buffer_create(r.device, &request, &big, &r.error));
  r.ops->buffer_destroy(big);
  rig_close(&r);
}
END_TEST

START_TEST(host_memory_can_be_imported_and_exported) {
  rig r;
  rig_open(&r);
  uint8_t *memory = aligned_alloc(16, 64);
  vyre_buffer_request request = { .size = sizeof request, .bytes = 64, .kind = VYRE_HANDLE_HOST_POINTER, .handle = (uint64_t)(uintptr_t)memory };
  vyre_plugin_buffer *buffer;
  uint64_t handle;
  void *map;
  must(&r, r.ops->buffer_create(r.device, &request, &buffer, &r.error));
  must(&r, r.ops->buffer_map(buffer, &map, &r.error));
  ck_assert_ptr_eq(map, memory);
  must(&r, r.ops->buffer_export(buffer, VYRE_HANDLE_HOST_POINTER, &handle, &r.error));
  ck_assert(handle == request.handle);
  ck_assert_int_eq(r.ops->buffer_export(buffer, VYRE_HANDLE_FD, &handle, &r.error), VYRE_ERR_UNSUPPORTED);
  must(&r, r.ops->native(VYRE_OBJECT_BUFFER, buffer, 1, &handle, &r.error));
  ck_assert(handle == request.handle);
  ck_assert_int_eq(r.ops->native(VYRE_OBJECT_QUEUE, r.queue, 1, &handle, &r.error), VYRE_ERR_NOT_FOUND);
  must(&r, r.ops->buffer_flush(buffer, 0, 64, &r.error));
  r.ops->buffer_destroy(buffer);
  request.handle += 8;
  ck_assert_int_eq(r.ops->buffer_create(r.device, &request, &buffer, &r.error), VYRE_ERR_INVALID_ARGUMENT);
  request.kind = VYRE_HANDLE_FD;
  ck_assert_int_eq(r.ops->buffer_create(r.device, &request, &buffer, &r.error), VYRE_ERR_UNSUPPORTED);
  free(memory);
  rig_close(&r);
}
END_TEST

/* ---- Queues ---- */

START_TEST(a_submission_waits_for_points_that_lie_in_the_future) {
  rig r;
  rig_open(&r);
  uint32_t *a;
  vyre_plugin_buffer *ba = make_buffer(&r, 16, &a);
  vyre_fill fill = { .size = sizeof fill, .pattern = 5, .target = ba, .bytes = 4 };
  vyre_command command = { VYRE_COMMAND_FILL, 0, &fill };
  vyre_plugin_batch *batch;
  vyre_plugin_timeline *gate;
  must(&r, r.ops->batch_create(r.device, &command, 1, &batch, &r.error));
  must(&r, r.ops->timeline_create(r.device, 10, &gate, &r.error));
  vyre_completion done = { .size = sizeof done };
  vyre_point wait = { gate, 12 }, signal = { r.timeline, 3 };
  vyre_submit submit = { .size = sizeof submit, .batch = batch, .waits = &wait, .wait_count = 1, .signals = &signal, .signal_count = 1, .completion = &done };
  must(&r, r.ops->submit(r.queue, &submit, &r.error));
  uint64_t value;
  must(&r, r.ops->timeline_signal(gate, 11, &r.error));
  ck_assert_int_eq(r.ops->timeline_wait(r.timeline, 3, 0, &r.error), VYRE_ERR_TIMEOUT);
  ck_assert_int_eq(r.ops->timeline_wait(r.timeline, 3, 2000000, &r.error), VYRE_ERR_TIMEOUT);
  must(&r, r.ops->timeline_value(gate, &value, &r.error));
  ck_assert_uint_eq(value, 11);
  must(&r, r.ops->timeline_signal(gate, 12, &r.error));
  must(&r, r.ops->timeline_wait(r.timeline, 3, UINT64_MAX, &r.error));
  ck_assert_uint_eq(a[0], 5);
  /* Destroying the queue ends what never can begin, and signals it. */
  wait.value = 100, signal.value = 4;
  must(&r, r.ops->submit(r.queue, &submit, &r.error));
  r.ops->queue_destroy(r.queue);
  must(&r, r.ops->timeline_wait(r.timeline, 4, 0, &r.error));
  ck_assert_int_eq(done.status, VYRE_ERR_CLOSED);
  must(&r, r.ops->queue_create(r.device, 0, &r.queue, &r.error));
  r.ops->batch_destroy(batch);
  r.ops->timeline_destroy(gate);
  r.ops->buffer_destroy(ba);
  rig_close(&r);
}
END_TEST

START_TEST(a_persistent_launch_talks_to_the_host_and_stops) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p workgroup(4) { rw ring: u32[4]; loop { if (should_stop()) { break; } if (gid.x == 7) {"
               "let n = atomic_load(ring[0], acquire, system); if (n != ring[2]) { ring[2] = n; atomic_store(ring[1], n * 2, release, system); } } pause(1000); } }");
  uint32_t *ring, *stop;
  vyre_plugin_buffer *br = make_buffer(&r, 16, &ring), *bs = make_buffer(&r, 16, &stop);
  vyre_bind bind = bind_all_of(br, 16, 4);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 2);
  dispatch.flags = VYRE_DISPATCH_PERSISTENT;
  dispatch.stop_buffer = bs;
  dispatch.stop_offset = 8;
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &dispatch };
  vyre_plugin_batch *batch;
  vyre_plugin_queue *queue;
  must(&r, r.ops->queue_create(r.device, VYRE_QUEUE_PERSISTENT, &queue, &r.error));
  must(&r, r.ops->batch_create(r.device, &command, 1, &batch, &r.error));
  vyre_completion done = { .size = sizeof done };
  vyre_point signal = { r.timeline, 1 };
  vyre_submit submit = { .size = sizeof submit, .batch = batch, .signals = &signal, .signal_count = 1, .completion = &done };
  must(&r, r.ops->submit(queue, &submit, &r.error));
  for (uint32_t n = 1; n < 20; n++) {
    __atomic_store_n(&ring[0], n, __ATOMIC_RELEASE);
    while (__atomic_load_n(&ring[1], __ATOMIC_ACQUIRE) != 2 * n) sched_yield();
  }
  __atomic_store_n(&stop[2], 1, __ATOMIC_RELEASE);
  must(&r, r.ops->timeline_wait(r.timeline, 1, UINT64_MAX, &r.error));
  ck_assert_int_eq(done.status, VYRE_OK);
  r.ops->queue_destroy(queue);
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(br);
  r.ops->buffer_destroy(bs);
  rig_close(&r);
}
END_TEST

START_TEST(budgets_reach_should_stop) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { rw n: u32[4]; loop { if (should_stop()) { break; } n[0] += 1; } }");
  uint32_t *n;
  vyre_plugin_buffer *bn = make_buffer(&r, 16, &n);
  vyre_bind bind = bind_all_of(bn, 16, 4);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 1);
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &dispatch };
  vyre_completion done;
  dispatch.work_budget = 7;
  submit_all(&r, &command, 1, (vyre_submit){ 0 }, &done);
  ck_assert_uint_eq(n[0], 7);
  dispatch.work_budget = 0;
  dispatch.time_budget_ns = 1000000;
  submit_all(&r, &command, 1, (vyre_submit){ 0 }, &done);
  ck_assert_int_eq(done.status, VYRE_OK);
  ck_assert_uint_ge(done.device_ns, 1000000);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(bn);
  rig_close(&r);
}
END_TEST

START_TEST(destroying_a_queue_gives_up_an_endless_launch) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { loop { pause(1000); } }");
  vyre_plugin_set *set = make_set(&r, NULL, 0, NULL, 0);
  vyre_dispatch dispatch = dispatch_of(&r, set, 1);
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &dispatch };
  vyre_plugin_batch *batch;
  must(&r, r.ops->batch_create(r.device, &command, 1, &batch, &r.error));
  vyre_completion done = { .size = sizeof done };
  vyre_submit submit = { .size = sizeof submit, .batch = batch, .completion = &done };
  must(&r, r.ops->submit(r.queue, &submit, &r.error));
  r.ops->queue_destroy(r.queue);
  ck_assert_int_eq(done.status, VYRE_ERR_CLOSED);
  must(&r, r.ops->queue_create(r.device, 0, &r.queue, &r.error));
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  rig_close(&r);
}
END_TEST

START_TEST(there_is_a_limit_of_queues) {
  rig r;
  rig_open(&r);
  vyre_plugin_queue *queues[64];
  uint32_t count = 0;
  vyre_status status;
  while ((status = r.ops->queue_create(r.device, VYRE_QUEUE_PERSISTENT, &queues[count], &r.error)) == VYRE_OK) count++;
  ck_assert_int_eq(status, VYRE_ERR_LIMIT);
  ck_assert_uint_eq(count, r.caps.max_persistent);
  r.ops->queue_destroy(queues[--count]);
  must(&r, r.ops->queue_create(r.device, VYRE_QUEUE_PERSISTENT, &queues[count++], &r.error));
  while (count > 0) r.ops->queue_destroy(queues[--count]);
  rig_close(&r);
}
END_TEST

static void *submit_many(void *argument) {
  rig *shared = argument, r = *shared;
  uint32_t *n;
  must(&r, r.ops->queue_create(r.device, 0, &r.queue, &r.error));
  must(&r, r.ops->timeline_create(r.device, 0, &r.timeline, &r.error));
  vyre_plugin_buffer *bn = make_buffer(&r, 16, &n);
  vyre_bind bind = bind_all_of(bn, 16, 4);
  vyre_plugin_set *set = make_set(&r, &bind, 1, NULL, 0);
  vyre_completion done;
  for (int i = 0; i < 50; i++) run(&r, set, 4, &done);
  ck_assert_uint_eq(n[0], 200);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(bn);
  r.ops->timeline_destroy(r.timeline);
  r.ops->queue_destroy(r.queue);
  return NULL;
}

START_TEST(several_threads_use_one_device_and_executable) {
  rig r;
  pthread_t threads[4];
  rig_open(&r);
  rig_load(&r, "program p { rw n: u32[4]; n[0] += 1; }");
  for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, submit_many, &r), 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  vyre_launch_report report = { .size = sizeof report };
  must(&r, r.ops->executable_report(r.executable, &report, &r.error));
  ck_assert_uint_eq(report.launches, 200);
  rig_close(&r);
}
END_TEST

START_TEST(a_child_process_gets_an_error_and_no_hang) {
  rig r;
  rig_open(&r);
  rig_load(&r, "program p { }");
  pid_t child = fork();
  if (child == 0) {
    uint64_t value;
    vyre_plugin_queue *queue;
    vyre_submit submit = { .size = sizeof submit };
    int good = r.ops->timeline_wait(r.timeline, 5, UINT64_MAX, NULL) == VYRE_ERR_FORKED &&
               r.ops->timeline_value(r.timeline, &value, NULL) == VYRE_ERR_FORKED &&
               r.ops->queue_create(r.device, 0, &queue, NULL) == VYRE_ERR_FORKED &&
               r.ops->submit(r.queue, &submit, NULL) == VYRE_ERR_FORKED;
    rig_close(&r);
#if !defined(__SANITIZE_THREAD__) /* which allows no threads in such a child */
    rig_open(&r); /* a device of its own */
    rig_close(&r);
#endif
    _exit(good ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  rig_close(&r);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { the_descriptor_says_what_it_is,
                                 there_is_one_profile_and_one_device,
                                 records_of_a_smaller_host_are_not_overrun,
                                 several_instances_may_be_open,
                                 compiling_is_pure_and_loading_checks_the_blob,
                                 refusals_come_when_compiling,
                                 saxpy,
                                 a_batch_does_its_commands_in_order,
                                 lengths_and_grids_may_come_from_the_device,
                                 offsets_and_parameters_may_be_late,
                                 sets_that_do_not_fit_are_refused,
                                 a_trap_is_in_the_completion_record_and_ends_the_batch,
                                 prints_reach_the_host,
                                 the_configuration_counts,
                                 host_memory_can_be_imported_and_exported,
                                 a_submission_waits_for_points_that_lie_in_the_future,
                                 a_persistent_launch_talks_to_the_host_and_stops,
                                 budgets_reach_should_stop,
                                 destroying_a_queue_gives_up_an_endless_launch,
                                 there_is_a_limit_of_queues,
                                 several_threads_use_one_device_and_executable,
                                 a_child_process_gets_an_error_and_no_hang,
                                 NULL };
  return run_suite("cpu_ref/plugin", 60, tests);
}
