/* The plugin, the fake driver, and one program between. */
#include "tests/cuda/rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "plugins/cuda/extents.h"
#include "tests/fake/open.h"

rig_fake fake;
const vyre_backend_ops *ops;
char rig_logged[4096];
static const vyre_backend_desc *desc;
static char setting_key[64], setting_value[64];

const char rig_program[] = "program world workgroup(64) {\n"
                           "  param n: u32;\n"
                           "  read x: u32[];\n"
                           "  rw y: u32[];\n"
                           "  let i = gid.x;\n"
                           "  if (i < len(y)) {\n"
                           "    y[i] = x[i] * 3 + n;\n"
                           "  }\n"
                           "}\n";

/* ---- Host services --------------------------------------------------------------------------- */

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  void *p;
  return posix_memalign(&p, align > sizeof p ? align : sizeof p, bytes > 0 ? bytes : 1) == 0 ? p : NULL;
}

static void host_free(void *ctx, void *p, uint64_t bytes) {
  (void)ctx, (void)bytes;
  free(p);
}

static void host_log(void *ctx, uint32_t level, const char *subsystem, const char *text) {
  (void)ctx, (void)level;
  size_t used = strlen(rig_logged);
  snprintf(rig_logged + used, sizeof rig_logged - used, "%s: %s\n", subsystem, text);
}

static vyre_status host_config(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  (void)ctx;
  if (strcmp(key, setting_key) != 0) return VYRE_ERR_NOT_FOUND;
  *length = strlen(setting_value);
  snprintf(text, capacity, "%s", setting_value);
  return VYRE_OK;
}

vyre_host host = { .size = sizeof host, .alloc = host_alloc, .free = host_free, .log = host_log,
                   .config_get = host_config };

void rig_set(const char *key, const char *value) {
  snprintf(setting_key, sizeof setting_key, "cuda.%s", key);
  snprintf(setting_value, sizeof setting_value, "%s", value);
}

/* ---- In place of kernels --------------------------------------------------------------------- */

/* Launch block of rig_program: n, then the lengths of x and y, then grid and origin. */
typedef struct block {
  uint32_t n, zero;
  uint64_t x, y;
  uint32_t grid[3], origin[3];
} block;

static void run_world(const fake_launch *l) {
  block b;
  uint64_t pointers[2];
  memcpy(&b, l->arguments[0], sizeof b);
  memcpy(pointers, l->arguments[1], sizeof pointers);
  const uint32_t *x = (const uint32_t *)(uintptr_t)pointers[0];
  uint32_t *y = (uint32_t *)(uintptr_t)pointers[1];
  for (uint64_t group = 0; group < l->grid[0] && group + b.origin[0] < b.grid[0]; group++)
    for (uint64_t i = (group + b.origin[0]) * RIG_GROUP, end = i + RIG_GROUP; i < end && i < b.y; i++)
      y[i] = (i < b.x ? x[i] : 0) * 3 + b.n;
}

/* What the text in extents.c does. */
static void run_begin(const fake_launch *l) {
  const cuda_patch *patches = l->arguments[0];
  uint32_t count;
  memcpy(&count, l->arguments[1], sizeof count);
  for (uint32_t i = 0; i < count; i++) {
    const cuda_patch *p = &patches[i];
    uint64_t word = 0;
    static uint64_t clock;
    if (p->kind == CUDA_PATCH_CLOCK) word = ++clock;
    else memcpy(&word, (const void *)(uintptr_t)p->from, p->kind == CUDA_PATCH_LENGTH64 ? 8 : 4);
    if (p->kind != CUDA_PATCH_CLOCK && word > p->limit) {
      word = p->limit;
      if (p->clamped != 0) ++*(uint64_t *)(uintptr_t)p->clamped;
    }
    memcpy((void *)(uintptr_t)p->to, &word, p->kind == CUDA_PATCH_AXIS ? 4 : 8);
  }
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void load_plugin(void) {
  char path[4096];
  const char *backends = getenv("VYRE_TEST_BACKENDS");
  vyre_backend_query_fn query;
  snprintf(path, sizeof path, "%s/vyre_backend_cuda.so", backends != NULL ? backends : ".libs/vyre/backends-0");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(library != NULL, "%s", dlerror());
  fake_take(library, &query, VYRE_BACKEND_SYMBOL);
  desc = query(&(vyre_backend_request){ .size = sizeof(vyre_backend_request) });
  ops = desc->ops;
}

static void take_kernels(void) {
  fake.kernel("world_0", run_world);
  fake.kernel("vyre_begin", run_begin);
}

void rig_script(const char *script) {
  const char *wrong = fake.script(script);
  ck_assert_msg(wrong == NULL, "%s: %s", script, wrong);
  take_kernels();
}

void rig_load(const char *script) {
  void *library = fake_open("libcuda.so.1", "FAKE_CUDA", script);
  fake_take(library, &fake.script, "fake_script");
  fake_take(library, &fake.calls, "fake_calls");
  fake_take(library, &fake.live, "fake_live");
  fake_take(library, &fake.kernel, "fake_kernel");
  fake_take(library, &fake.current, "cuCtxGetCurrent");
  fake_take(library, &fake.make_current, "cuCtxSetCurrent");
  fake_take(library, &fake.retain, "cuDevicePrimaryCtxRetain");
  fake_take(library, &fake.release, "cuDevicePrimaryCtxRelease_v2");
  take_kernels();
  load_plugin();
}

/* ---- Programs -------------------------------------------------------------------------------- */

vyre_bytes rig_compile(const vyre_capabilities *record, const char *text) {
  vyre_program *program = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error), VYRE_OK);
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.opcodes = desc->opcodes;
  options.opcode_count = desc->opcode_count;
  vyre_compile_request request = { .size = sizeof request };
  uint8_t *kernel;
  size_t bytes;
  ck_assert_msg(vyre_lower(program, &options, &kernel, &bytes, &error) == VYRE_OK, "%s", error.text);
  request.kernel = kernel;
  request.kernel_bytes = bytes;
  vyre_bytes blob = { .size = sizeof blob };
  ck_assert_msg(ops->compile(&host, record, &request, &blob, &error) == VYRE_OK, "%s", error.text);
  free(kernel);
  vyre_program_release(program);
  return blob;
}

/* ---- Making and running ---------------------------------------------------------------------- */

static vyre_status make_buffer(rig *r, uint64_t bytes, vyre_plugin_buffer **out, void *words, vyre_error *error) {
  vyre_buffer_request request = { .size = sizeof request, .bytes = bytes };
  request.properties = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE;
  void *map = NULL;
  vyre_status status = ops->buffer_create(r->device, &request, out, error);
  if (status == VYRE_OK) status = ops->buffer_map(*out, &map, error);
  memcpy(words, &map, sizeof map);
  return status;
}

vyre_plugin_buffer *rig_buffer(rig *r, uint64_t bytes, void *words) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  ck_assert_msg(make_buffer(r, bytes, &buffer, words, &error) == VYRE_OK, "%s", error.text);
  return buffer;
}

static vyre_status make_local(rig *r, vyre_error *error) {
  vyre_buffer_request request = { .size = sizeof request, .bytes = 4 * RIG_ELEMENTS };
  request.properties = VYRE_MEMORY_DEVICE_LOCAL;
  return ops->buffer_create(r->device, &request, &r->local, error);
}

static vyre_status make_set(rig *r, vyre_error *error) {
  static const uint32_t n = 5;
  vyre_bind binds[2] = { { .buffer = r->x, .bytes = 4 * RIG_ELEMENTS, .elements = RIG_ELEMENTS },
                         { .flags = VYRE_BIND_WRITTEN, .buffer = r->y, .bytes = 4 * RIG_ELEMENTS,
                           .elements = RIG_ELEMENTS } };
  vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds, .params = &n,
                               .param_bytes = 4 };
  return ops->set_create(r->executable, &request, &r->set, error);
}

static vyre_status make_batch(rig *r, uint32_t count, vyre_error *error) {
  vyre_command commands[64];
  vyre_dispatch d = { .size = sizeof d, .executable = r->executable, .set = r->set, .grid = { RIG_GROUPS, 1, 1 } };
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) commands[used++] = (vyre_command){ VYRE_COMMAND_ORDER, 0, NULL };
    commands[used++] = (vyre_command){ VYRE_COMMAND_DISPATCH, 0, &d };
  }
  vyre_copy copy = { sizeof copy, 0, r->x, 0, r->local, 0, 4 * RIG_ELEMENTS };
  if (count > 1) commands[used++] = (vyre_command){ VYRE_COMMAND_COPY, 0, &copy };
  return ops->batch_create(r->device, commands, used, &r->batch, error);
}

vyre_status rig_make(rig *r, uint32_t index, const vyre_bytes *blob, uint32_t count, const char **step,
                     vyre_error *error) {
  *r = (rig){ 0 };
  vyre_status status = VYRE_OK;
#define STEP(name, call) \
  if (status == VYRE_OK) { \
    *step = name; \
    status = call; \
  }
  STEP("open", ops->open(&host, &r->plugin, error))
  STEP("device_open", ops->device_open(r->plugin, index, &r->device, error))
  STEP("executable_load", ops->executable_load(r->device, blob->data, blob->length, &r->executable, error))
  STEP("buffer_create", make_buffer(r, 4 * RIG_ELEMENTS, &r->x, &r->x_words, error))
  STEP("buffer_create", make_buffer(r, 4 * RIG_ELEMENTS, &r->y, &r->y_words, error))
  STEP("buffer_create", make_local(r, error))
  STEP("set_create", make_set(r, error))
  STEP("batch_create", make_batch(r, count, error))
  STEP("queue_create", ops->queue_create(r->device, 0, &r->queue, error))
  STEP("timeline_create", ops->timeline_create(r->device, 0, &r->timeline, error))
#undef STEP
  for (uint32_t i = 0; status == VYRE_OK && i < RIG_ELEMENTS; i++) r->x_words[i] = i * 0x9E3779B1u;
  return status;
}

void rig_open(rig *r, const char *text, uint32_t count) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_capabilities record = { .size = sizeof record };
  const char *step = "";
  ck_assert_int_eq(ops->profile(&host, 0, &record, NULL), VYRE_OK);
  vyre_bytes blob = rig_compile(&record, text);
  vyre_status status = rig_make(r, 0, &blob, count, &step, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", step, error.text);
  free(blob.data);
}

vyre_status rig_run(rig *r, vyre_plugin_batch *batch, vyre_completion *completion, vyre_error *error) {
  *completion = (vyre_completion){ .size = sizeof *completion, .status = -1 };
  vyre_point end = { r->timeline, ++r->value };
  vyre_submit submit = { .size = sizeof submit, .batch = batch, .signals = &end, .signal_count = 1,
                         .completion = completion };
  vyre_status status = ops->submit(r->queue, &submit, error);
  if (status != VYRE_OK) return status;
  status = ops->timeline_wait(r->timeline, r->value, 60000000000u, error);
  return status != VYRE_OK ? status : completion->status;
}

void rig_check(rig *r, uint32_t n) {
  vyre_completion completion;
  vyre_error error = VYRE_ERROR_INIT;
  memset(r->y_words, 0xEE, 4 * RIG_ELEMENTS);
  vyre_status status = rig_run(r, r->batch, &completion, &error);
  ck_assert_msg(status == VYRE_OK, "%d: %s%s", status, error.text, completion.text);
  for (uint32_t i = 0; i < RIG_ELEMENTS; i++) ck_assert_uint_eq(r->y_words[i], i * 0x9E3779B1u * 3 + n);
}

vyre_plugin_batch *rig_batch(rig *r, uint32_t kind, const void *record) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  vyre_command command = { kind, 0, record };
  ck_assert_msg(ops->batch_create(r->device, &command, 1, &batch, &error) == VYRE_OK, "%s", error.text);
  return batch;
}

void rig_close(rig *r) {
  if (r->queue != NULL) ops->queue_destroy(r->queue);
  if (r->timeline != NULL) ops->timeline_destroy(r->timeline);
  if (r->batch != NULL) ops->batch_destroy(r->batch);
  if (r->set != NULL) ops->set_destroy(r->set);
  if (r->local != NULL) ops->buffer_destroy(r->local);
  if (r->y != NULL) ops->buffer_destroy(r->y);
  if (r->x != NULL) ops->buffer_destroy(r->x);
  if (r->executable != NULL) ops->executable_destroy(r->executable);
  if (r->device != NULL) ops->device_close(r->device);
  if (r->plugin != NULL) ops->close(r->plugin);
  *r = (rig){ 0 };
}

static const char *const kinds[] = { "memory", "stream", "event", "module", "link", "graph", "graph exec", "context" };
enum { KINDS = sizeof kinds / sizeof *kinds };
static int64_t forgotten[KINDS];

void rig_forget(void) {
  for (size_t i = 0; i < KINDS; i++) forgotten[i] = fake.live(kinds[i]);
}

void rig_nothing_lives(const char *when) {
  for (size_t i = 0; i < KINDS; i++) {
    int64_t live = fake.live(kinds[i]) - forgotten[i];
    ck_assert_msg(live == 0, "%s: %lld of kind %s live", when, (long long)live, kinds[i]);
  }
}

void rig_wants(const char *what, vyre_status found, vyre_status wanted, const vyre_error *error) {
  ck_assert_msg(found == wanted, "%s: wanted %d, found %d: %s", what, wanted, found, error->text);
  if (wanted != VYRE_OK) ck_assert_msg(strstr(error->text, "Fix: ") != NULL, "%s: no fix in: %s", what, error->text);
}
