/* Contexts, and the services that they give to plugins. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/objects.h"
#include "base/config.h"
#include "base/error.h"

uint64_t vyre_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t vyre_deadline_after(uint64_t timeout_ns) {
  uint64_t now = vyre_now_ns();
  return timeout_ns > VYRE_FOREVER - now ? VYRE_FOREVER : now + timeout_ns;
}

uint64_t vyre_deadline_left(uint64_t deadline) {
  if (deadline == VYRE_FOREVER) return VYRE_FOREVER;
  uint64_t now = vyre_now_ns();
  return deadline > now ? deadline - now : 0;
}

/* How often this process and its parents forked since they first made a context. Every call compares it, which must
 * not cost a system call. */
static atomic_uint forks;
static int watch_failed;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }
static void watch_forks(void) { watch_failed = pthread_atfork(NULL, NULL, count_fork); }

static bool is_child(const vyre_context *context) {
  return atomic_load_explicit(&forks, memory_order_relaxed) != context->forks;
}

vyre_status vyre_context_create(const vyre_config *config, vyre_log *log, vyre_context **out, vyre_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  *out = NULL;
  pthread_once(&once, watch_forks);
  vyre_context *context = watch_failed == 0 ? calloc(1, sizeof *context) : NULL;
  if (context == NULL) return vyre_fail_memory(error, "context");
  if (config == NULL) {
    vyre_status status = vyre_config_load(NULL, &context->own_config, error);
    if (status != VYRE_OK) {
      free(context);
      return status;
    }
    config = context->own_config;
  }
  context->refs = 1;
  context->process = getpid();
  context->forks = atomic_load(&forks);
  context->config = config;
  context->log = log;
  vyre_cache_init(&context->cache, config, log);
  pthread_mutex_init(&context->lock, NULL);
  pthread_cond_init(&context->changed, NULL);
  *out = context;
  return VYRE_OK;
}

static void free_file(vyre_plugin_file *file, bool may_call) {
  if (file->plugin != NULL && may_call) file->ops.close(file->plugin);
  free(file->devices);
  free(file->reason);
  free(file->name);
  free(file->path);
  free(file);
}

void vyre_context_release(vyre_context *context) {
  if (!vyre_refs_drop(&context->refs)) return;
  bool is_parent = !is_child(context); /* a child frees its copy, but calls no plugin of the parent */
  for (uint32_t i = 0; i < context->files.count; i++) free_file(context->files.data[i], is_parent);
  for (uint32_t i = 0; i < context->backends.count; i++) vyre_vector_free(&context->backends.data[i].files);
  vyre_search_forget(context);
  vyre_vector_free(&context->files);
  vyre_vector_free(&context->backends);
  vyre_config_destroy(context->own_config);
  if (is_parent) {
    pthread_cond_destroy(&context->changed);
    pthread_mutex_destroy(&context->lock);
  }
  free(context);
}

void vyre_context_destroy(vyre_context *context) {
  if (context != NULL) vyre_context_release(context);
}

vyre_status vyre_context_check(const vyre_context *context, vyre_error *error) {
  if (!is_child(context)) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_FORKED, "context",
                   "The context was made by process %ld, of which this one is a child. Fix: create a context after "
                   "the fork.",
                   (long)context->process);
}

/* ---- Host services; ctx is the plugin's file ------------------------------------------------- */

enum { MALLOC_ALIGN = 16 };

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  if (bytes == 0) bytes = 1;
  if (align == 0 || (align & (align - 1)) != 0 || bytes > SIZE_MAX / 2) return NULL;
  if (align <= MALLOC_ALIGN) return malloc(bytes);
  void *p = NULL;
  return posix_memalign(&p, align, bytes) == 0 ? p : NULL;
}

static void host_free(void *ctx, void *p, uint64_t bytes) {
  (void)ctx;
  (void)bytes;
  free(p);
}

static void *host_realloc(void *ctx, void *p, uint64_t old_bytes, uint64_t bytes, uint64_t align) {
  if (p == NULL) return host_alloc(ctx, bytes, align);
  void *moved = host_alloc(ctx, bytes, align);
  if (moved == NULL) return NULL;
  memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
  free(p);
  return moved;
}

static void host_log(void *ctx, uint32_t level, const char *subsystem, const char *text) {
  const vyre_plugin_file *file = ctx;
  if (level == VYRE_LOG_OFF || level > VYRE_LOG_TRACE) level = VYRE_LOG_TRACE;
  vyre_log_write(file->context->log, (vyre_log_level)level, file->name, "%s: %s", subsystem, text);
}

/* Numbers are given plain, however the user wrote them: a plugin reads no units. */
static void value_text(vyre_config_key key, const vyre_config_value *value, char *out, size_t capacity) {
  switch (vyre_config_describe(key)->type) {
  case VYRE_CONFIG_INTEGER:
  case VYRE_CONFIG_POWER:
  case VYRE_CONFIG_BOOL:
  case VYRE_CONFIG_DURATION:
  case VYRE_CONFIG_SIZE: snprintf(out, capacity, "%" PRIu64, value->number); break;
  case VYRE_CONFIG_STRING:
  case VYRE_CONFIG_PATHS:
  case VYRE_CONFIG_NAMES:
  case VYRE_CONFIG_CHOICE: snprintf(out, capacity, "%s", value->text); break;
  }
}

/* What users wrote for the plugin, whose keys nobody else knows; NULL for the keys of others. */
static const char *own_setting(const vyre_plugin_file *file, const char *key) {
  size_t bytes = strlen(file->name);
  if (strncmp(key, file->name, bytes) != 0 || key[bytes] != '.') return NULL;
  return vyre_config_backend_get(file->context->config, file->name, key + bytes + 1);
}

static vyre_status host_config_get(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  const vyre_plugin_file *file = ctx;
  vyre_config_key number;
  vyre_config_value value = { 0 };
  char buffer[1024] = "";
  const char *own = own_setting(file, key);
  if (vyre_config_find(key, &number)) vyre_config_get(file->context->config, number, &value);
  if (value.is_set) value_text(number, &value, buffer, sizeof buffer);
  else if (own != NULL) snprintf(buffer, sizeof buffer, "%s", own);
  *length = strlen(buffer);
  if (capacity > 0) snprintf(text, capacity, "%s", buffer);
  return value.is_set || own != NULL ? VYRE_OK : VYRE_ERR_NOT_FOUND;
}

static uint64_t host_now_ns(void *ctx) {
  (void)ctx;
  return vyre_now_ns();
}

static vyre_status host_cache_get(void *ctx, const void *key, uint64_t key_bytes, vyre_bytes *out) {
  vyre_plugin_file *file = ctx;
  vyre_cache_id id;
  *out = (vyre_bytes){ .size = sizeof *out };
  vyre_cache_id_of(&file->desc, key, key_bytes, &id);
  return vyre_cache_get(&file->context->cache, &id, &out->data, &out->length);
}

static vyre_status host_cache_put(void *ctx, const void *key, uint64_t key_bytes, const void *data, uint64_t bytes) {
  vyre_plugin_file *file = ctx;
  vyre_cache_id id;
  vyre_cache_id_of(&file->desc, key, key_bytes, &id);
  return vyre_cache_put(&file->context->cache, &id, data, bytes);
}

void vyre_host_init(vyre_plugin_file *file) {
  file->host = (vyre_host){
    .size = sizeof file->host,
    .ctx = file,
    .alloc = host_alloc,
    .realloc = host_realloc,
    .free = host_free,
    .log = host_log,
    .config_get = host_config_get,
    .now_ns = host_now_ns,
    .cache_get = host_cache_get,
    .cache_put = host_cache_put,
  };
}
