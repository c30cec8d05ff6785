/* The plugin's table, a host for it, and the fake library. */
#include "rig.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <vyre/lower.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "../fake/open.h"

/* ---- A host ---------------------------------------------------------------------------------- */

enum { MOST_SETTINGS = 8, MOST_ENTRIES = 64, LOG_BYTES = 1 << 16 };

static struct {
  char key[64], value[512];
} settings[MOST_SETTINGS];

typedef struct entry {
  uint8_t key[512];
  uint64_t key_bytes;
  void *data;
  uint64_t bytes;
} entry;
static entry entries[MOST_ENTRIES];
static unsigned entry_count;
unsigned rig_cache_hits, rig_cache_puts;
static char log_text[LOG_BYTES];
static size_t log_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rig_setting(const char *key, const char *value) {
  int slot = 0;
  for (int i = MOST_SETTINGS - 1; i >= 0; i--)
    if (settings[i].key[0] == 0 || strcmp(settings[i].key + 7, key) == 0) slot = i;
  settings[slot].key[0] = 0;
  if (value == NULL) return;
  snprintf(settings[slot].key, sizeof settings[slot].key, "vulkan.%s", key);
  snprintf(settings[slot].value, sizeof settings[slot].value, "%s", value);
}

bool rig_logged(const char *text) { return strstr(log_text, text) != NULL; }

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  return aligned_alloc(align, (bytes + align - 1) / align * align);
}
static void host_free(void *ctx, void *p, uint64_t bytes) {
  (void)ctx, (void)bytes;
  free(p);
}
static void host_log(void *ctx, uint32_t level, const char *subsystem, const char *text) {
  (void)ctx, (void)level;
  pthread_mutex_lock(&lock);
  int put = snprintf(log_text + log_length, LOG_BYTES - log_length, "%s: %s\n", subsystem, text);
  if (put > 0 && (size_t)put < LOG_BYTES - log_length) log_length += (size_t)put;
  pthread_mutex_unlock(&lock);
}
static vyre_status host_config(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  (void)ctx;
  for (int i = 0; i < MOST_SETTINGS; i++) {
    if (strcmp(settings[i].key, key) != 0) continue;
    *length = strlen(settings[i].value);
    snprintf(text, capacity, "%s", settings[i].value);
    return VYRE_OK;
  }
  return VYRE_ERR_NOT_FOUND;
}
static uint64_t host_now(void *ctx) {
  (void)ctx;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static entry *find_entry(const void *key, uint64_t bytes) {
  for (unsigned i = 0; i < entry_count; i++)
    if (entries[i].key_bytes == bytes && memcmp(entries[i].key, key, bytes) == 0) return &entries[i];
  return NULL;
}

static vyre_status host_cache_get(void *ctx, const void *key, uint64_t key_bytes, vyre_bytes *out) {
  vyre_status status = VYRE_ERR_NOT_FOUND;
  pthread_mutex_lock(&lock);
  const entry *e = find_entry(key, key_bytes);
  out->data = NULL;
  out->length = 0;
  if (e != NULL && (out->data = host_alloc(ctx, e->bytes, 16)) != NULL) {
    memcpy(out->data, e->data, e->bytes);
    out->length = e->bytes;
    rig_cache_hits++;
    status = VYRE_OK;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static vyre_status host_cache_put(void *ctx, const void *key, uint64_t key_bytes, const void *data, uint64_t bytes) {
  (void)ctx;
  vyre_status status = VYRE_ERR_NO_MEMORY;
  pthread_mutex_lock(&lock);
  entry *e = find_entry(key, key_bytes);
  if (e == NULL && entry_count < MOST_ENTRIES && key_bytes <= sizeof entries->key) e = &entries[entry_count++];
  if (e != NULL) {
    memcpy(e->key, key, key_bytes);
    e->key_bytes = key_bytes;
    free(e->data);
    e->data = malloc(bytes);
    ck_assert_ptr_nonnull(e->data);
    memcpy(e->data, data, bytes);
    e->bytes = bytes;
    rig_cache_puts++;
    status = VYRE_OK;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static const vyre_host host = { .size = sizeof host,
                                .alloc = host_alloc,
                                .free = host_free,
                                .log = host_log,
                                .config_get = host_config,
                                .now_ns = host_now,
                                .cache_get = host_cache_get,
                                .cache_put = host_cache_put };

/* ---- Opening --------------------------------------------------------------------------------- */

void rig_must(rig *r, vyre_status status) {
  if (status != VYRE_OK) ck_abort_msg("status %d: %s: %s", status, r->error.where, r->error.text);
}

/* NULL if it can't be loaded. Nothing of Check: main calls it, too. */
static const vyre_backend_desc *load_plugin(void) {
  char path[4096];
  const char *directory = getenv("VYRE_TEST_BACKENDS");
  snprintf(path, sizeof path, "%s/vyre_backend_vulkan.so", directory != NULL ? directory : "plugins/vulkan/.libs");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library != NULL ? dlsym(library, VYRE_BACKEND_SYMBOL) : NULL;
  vyre_backend_query_fn query = NULL;
  const vyre_backend_request request = { .size = sizeof request, .fingerprint = VYRE_ABI_FINGERPRINT };
  memcpy(&query, &symbol, sizeof query);
  if (query == NULL) printf("%s\n", dlerror());
  return query != NULL ? query(&request) : NULL;
}

rig_fake rig_use_fake(const char *script) {
  char path[4096];
  const char *build = getenv("top_builddir"), *objdir = getenv("objdir");
  rig_fake fake;
  void *library = fake_open("libvulkan.so.1", "FAKE_VULKAN", script);
  snprintf(path, sizeof path, "%s/tests/fake/%s/libvulkan.so.1", build != NULL ? build : ".",
           objdir != NULL ? objdir : ".libs");
  rig_setting("library", path);
  fake_take(library, &fake.script, "fake_script");
  fake_take(library, &fake.calls, "fake_calls");
  fake_take(library, &fake.live, "fake_live");
  fake_take(library, &fake.kernel, "fake_kernel");
  ck_assert(fake.script != NULL && fake.calls != NULL && fake.live != NULL && fake.kernel != NULL);
  return fake;
}

void rig_nothing_lives(const rig_fake *fake) {
  static const char *const kinds[] = { "instance", "device", "memory", "buffer", "shader", "layout", "pipeline",
                                       "pipeline cache", "descriptor pool", "descriptor set", "command pool",
                                       "command buffer", "fence", "semaphore", "query pool" };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    ck_assert_msg(fake->live(kinds[i]) == 0, "%lld of kind %s live", (long long)fake->live(kinds[i]), kinds[i]);
}

/* The leak sanitizer asks for this, where there is one. A real driver and its layers keep memory for ever, and once
 * unloaded they have no name to leave out; tests that ask for no device are looked at. */
static bool meets_a_driver;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return meets_a_driver; }

bool rig_has_device(void) {
  meets_a_driver = true;
  rig r = { .error = VYRE_ERROR_INIT };
  uint32_t count = 0;
  r.desc = load_plugin();
  if (r.desc == NULL) return true; /* the tests say so */
  r.ops = r.desc->ops;
  if (r.ops->probe(&host, &r.error) != VYRE_OK || r.ops->open(&host, &r.plugin, &r.error) != VYRE_OK) {
    printf("%s\n", r.error.text);
    return false;
  }
  if (r.ops->device_count(r.plugin, &count, &r.error) != VYRE_OK) count = 0;
  r.ops->close(r.plugin);
  if (count == 0) printf("There is no Vulkan device.\n");
  return count > 0;
}

const vyre_host *rig_host(void) { return &host; }

void rig_load_plugin(rig *r) {
  *r = (rig){ .error = VYRE_ERROR_INIT, .caps = { .size = sizeof r->caps } };
  r->desc = load_plugin();
  ck_assert_msg(r->desc != NULL, "the plugin can't be loaded");
  r->ops = r->desc->ops;
}

void rig_open_plugin(rig *r) {
  rig_load_plugin(r);
  rig_must(r, r->ops->probe(&host, &r->error));
  rig_must(r, r->ops->open(&host, &r->plugin, &r->error));
}

void rig_open(rig *r, uint32_t number) {
  rig_open_plugin(r);
  rig_must(r, r->ops->device_describe(r->plugin, number, &r->caps, &r->error));
  rig_must(r, r->ops->device_open(r->plugin, number, &r->device, &r->error));
  rig_must(r, r->ops->queue_create(r->device, 0, &r->queue, &r->error));
  rig_must(r, r->ops->timeline_create(r->device, 0, &r->timeline, &r->error));
}

void rig_close(rig *r) {
  r->ops->timeline_destroy(r->timeline);
  r->ops->queue_destroy(r->queue);
  r->ops->device_close(r->device);
  r->ops->close(r->plugin);
}

/* ---- Programs -------------------------------------------------------------------------------- */

vyre_status rig_compile(rig *r, const char *text, vyre_bytes *blob) {
  vyre_program *program;
  uint8_t *wire, *kernel;
  size_t wire_bytes, kernel_bytes;
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.opcodes = r->desc->opcodes;
  options.opcode_count = r->desc->opcode_count;
  options.needs = r->caps.needs;
  options.numeric = r->caps.numeric;
  options.subgroup_size = r->subgroup;
  rig_must(r, vyre_text_parse(text, strlen(text), NULL, NULL, &program, &r->error));
  rig_must(r, vyre_wire_encode(program, &wire, &wire_bytes));
  rig_must(r, vyre_lower(program, &options, &kernel, &kernel_bytes, &r->error));
  vyre_compile_request request = { .size = sizeof request,
                                   .wire = wire,
                                   .wire_bytes = wire_bytes,
                                   .kernel = kernel,
                                   .kernel_bytes = kernel_bytes };
  memcpy(request.fingerprint, vyre_program_fingerprint(program), sizeof request.fingerprint);
  *blob = (vyre_bytes){ .size = sizeof *blob };
  vyre_status status = r->ops->compile(&host, &r->caps, &request, blob, &r->error);
  vyre_program_release(program);
  free(wire);
  free(kernel);
  return status;
}

vyre_plugin_executable *rig_load(rig *r, const char *text) {
  vyre_bytes blob;
  vyre_plugin_executable *e;
  rig_must(r, rig_compile(r, text, &blob));
  rig_must(r, r->ops->executable_load(r->device, blob.data, blob.length, &e, &r->error));
  free(blob.data);
  return e;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static uint32_t host_properties(const rig *r) {
  const uint32_t wanted = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT;
  for (uint32_t i = 0; i < r->caps.memory_type_count; i++)
    if ((r->caps.memory_types[i].properties & wanted) == wanted) return r->caps.memory_types[i].properties;
  ck_abort_msg("no memory that the host reads and writes");
}

vyre_plugin_buffer *rig_buffer(rig *r, uint64_t bytes, void *map) {
  vyre_plugin_buffer *buffer;
  void *address;
  const vyre_buffer_request request = { .size = sizeof request,
                                        .bytes = (bytes + 15) & ~(uint64_t)15,
                                        .properties = host_properties(r) };
  rig_must(r, r->ops->buffer_create(r->device, &request, &buffer, &r->error));
  rig_must(r, r->ops->buffer_map(buffer, &address, &r->error));
  memcpy(map, &address, sizeof address);
  return buffer;
}

vyre_bind rig_bind(vyre_plugin_buffer *buffer, uint64_t bytes, uint64_t elements) {
  return (vyre_bind){ .flags = VYRE_BIND_WRITTEN, .buffer = buffer, .bytes = bytes, .elements = elements };
}

vyre_plugin_set *rig_set(rig *r, vyre_plugin_executable *e, const vyre_bind *binds, uint32_t count, const void *params,
                         uint64_t bytes) {
  vyre_plugin_set *set;
  const vyre_set_request request = { .size = sizeof request,
                                     .bind_count = count,
                                     .binds = binds,
                                     .params = params,
                                     .param_bytes = bytes };
  rig_must(r, r->ops->set_create(e, &request, &set, &r->error));
  return set;
}

vyre_dispatch rig_dispatch(vyre_plugin_executable *e, vyre_plugin_set *set, uint32_t x, uint32_t y, uint32_t z) {
  return (vyre_dispatch){ .size = sizeof(vyre_dispatch), .executable = e, .set = set, .grid = { x, y, z } };
}

vyre_plugin_batch *rig_batch(rig *r, const vyre_dispatch *dispatch) {
  vyre_plugin_batch *batch;
  const vyre_command command = { VYRE_COMMAND_DISPATCH, 0, dispatch };
  rig_must(r, r->ops->batch_create(r->device, &command, 1, &batch, &r->error));
  return batch;
}

vyre_submit rig_submit(rig *r, vyre_plugin_batch *batch, vyre_point *point, vyre_completion *completion) {
  *completion = (vyre_completion){ .size = sizeof *completion };
  *point = (vyre_point){ r->timeline, ++r->point };
  return (vyre_submit){ .size = sizeof(vyre_submit),
                        .batch = batch,
                        .signals = point,
                        .signal_count = 1,
                        .completion = completion };
}

vyre_status rig_run(rig *r, vyre_plugin_batch *batch, vyre_completion *completion) {
  vyre_point point;
  const vyre_submit submit = rig_submit(r, batch, &point, completion);
  vyre_status status = r->ops->submit(r->queue, &submit, &r->error);
  if (status != VYRE_OK) {
    r->point--; /* nothing was submitted */
    return status;
  }
  status = r->ops->timeline_wait(r->timeline, r->point, UINT64_MAX, &r->error);
  return status == VYRE_OK ? completion->status : status;
}

uint32_t rig_random(uint64_t *state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)(z >> 32);
}
