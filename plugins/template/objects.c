/* Devices, buffers, sets and batches. */
#include "backend.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NATIVE_POINTER = 1 }; /* tag: the host's address of a buffer */

/* ---- Errors and small things ----------------------------------------------------------------- */

static uint32_t reaction_of(vyre_status status) {
  switch (status) {
#define X(name, number, reaction, text) \
  case number: return VYRE_REACTION_##reaction;
#include <vyre/status.def>
#undef X
    default: return VYRE_REACTION_INTERNAL;
  }
}

vyre_status backend_fail(vyre_error *error, vyre_status status, const char *where, const char *format, ...) {
  if (error == NULL || error->size < sizeof *error) return status;
  va_list args;
  error->status = status;
  error->reaction = reaction_of(status);
  error->vendor_code = 0;
  snprintf(error->where, sizeof error->where, "%s", where);
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  error->log_length = 0;
  return status;
}

vyre_status backend_no_memory(vyre_error *error) {
  return backend_fail(error, VYRE_ERR_NO_MEMORY, backend_name, "memory is used up. Fix: free some");
}

void backend_answer(void *out, void *record, uint32_t bytes) {
  uint32_t room;
  memcpy(&room, out, sizeof room);
  if (room > bytes) room = bytes;
  memcpy(record, &room, sizeof room);
  memcpy(out, record, room);
}

void backend_take(void *own, uint32_t bytes, const void *record) {
  uint32_t given;
  memcpy(&given, record, sizeof given);
  if (given > bytes) given = bytes;
  memset(own, 0, bytes);
  memcpy(own, record, given);
}

vyre_status backend_check_flags(const char *what, uint32_t flags, uint32_t known, vyre_error *error) {
  if ((flags & ~known) == 0) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_UNSUPPORTED, backend_name,
                      "%s has bits 0x%x, of which 0x%x are known here. Fix: leave the others out, or use a newer plugin",
                      what, flags, known);
}

vyre_status backend_check_process(const vyre_plugin_device *device, vyre_error *error) {
  if (device->process == getpid()) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_FORKED, backend_name,
                      "the device was opened by process %ld, this is its child %ld. Fix: open a device after fork",
                      (long)device->process, (long)getpid());
}

bool backend_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  uint64_t size = buffer != NULL ? buffer->bytes : 0;
  return offset <= size && bytes <= size - offset;
}

bool backend_setting(const vyre_host *host, const char *key, char *text, uint64_t room) {
  char name[64];
  uint64_t length = 0;
  snprintf(name, sizeof name, "%s.%s", backend_name, key);
  return host->size >= offsetof(vyre_host, now_ns) && host->config_get != NULL &&
         host->config_get(host->ctx, name, text, room, &length) == VYRE_OK;
}

uint64_t backend_configured(const vyre_host *host, const char *key, uint64_t otherwise) {
  char text[32], *end;
  if (!backend_setting(host, key, text, sizeof text)) return otherwise;
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0) return number;
  char line[192];
  snprintf(line, sizeof line, "the setting %s.%s is `%s`, not a plain number: %llu is taken. Fix: correct it, or remove it.",
           backend_name, key, text, (unsigned long long)otherwise);
  host->log(host->ctx, VYRE_LOG_WARNING, "settings", line);
  return otherwise;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* A lock, and a condition whose waits are timed by the monotonic clock. */
static bool make_locks(vyre_plugin_device *device) {
  pthread_condattr_t attributes;
  if (pthread_mutex_init(&device->lock, NULL) != 0) return false;
  bool made = false;
  if (pthread_condattr_init(&attributes) == 0) {
    made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&device->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
  }
  if (!made) pthread_mutex_destroy(&device->lock);
  return made;
}

vyre_status backend_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error) {
  *out = NULL;
  if (index != 0)
    return backend_fail(error, VYRE_ERR_NOT_FOUND, backend_name, "There is one device, number 0. Fix: ask for that.");
  vyre_plugin_device *device = calloc(1, sizeof *device);
  if (device == NULL || !make_locks(device)) {
    free(device);
    return backend_no_memory(error);
  }
  device->plugin = plugin;
  device->process = getpid();
  *out = device;
  return VYRE_OK;
}

void backend_device_close(vyre_plugin_device *device) {
  if (device->process == getpid()) {
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
  }
  free(device);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static uint64_t rounded(uint64_t bytes) { return (bytes + 15) & ~(uint64_t)15; }

/* |used| gets what others use. */
static bool take_memory(vyre_plugin_device *device, uint64_t bytes, uint64_t *used) {
  pthread_mutex_lock(&device->lock);
  *used = device->memory_used;
  bool fits = bytes <= device->plugin->memory_limit - *used;
  if (fits) device->memory_used += bytes;
  pthread_mutex_unlock(&device->lock);
  return fits;
}

static void give_memory(vyre_plugin_device *device, uint64_t bytes) {
  if (device->process != getpid()) return;
  pthread_mutex_lock(&device->lock);
  device->memory_used -= bytes;
  pthread_mutex_unlock(&device->lock);
}

static vyre_status allocate(vyre_plugin_device *device, vyre_plugin_buffer *buffer, vyre_error *error) {
  uint64_t used = 0;
  if (buffer->bytes > UINT64_MAX - 15 || !take_memory(device, rounded(buffer->bytes), &used))
    return backend_fail(error, VYRE_ERR_LIMIT, backend_name,
                        "a buffer of %llu bytes does not fit, %llu of the limit of %llu bytes are in use. Fix: free "
                        "buffers, or raise %s.memory_limit",
                        (unsigned long long)buffer->bytes, (unsigned long long)used,
                        (unsigned long long)device->plugin->memory_limit, backend_name);
  buffer->data = calloc(rounded(buffer->bytes) / 16, 16);
  if (buffer->data != NULL) return VYRE_OK;
  give_memory(device, rounded(buffer->bytes));
  return backend_no_memory(error);
}

static vyre_status import(const vyre_buffer_request *request, vyre_plugin_buffer *buffer, vyre_error *error) {
  if (request->kind != VYRE_HANDLE_HOST_POINTER)
    return backend_fail(error, VYRE_ERR_UNSUPPORTED, backend_name,
                        "handles of kind %u can not be imported, only host pointers. Fix: copy the data",
                        request->kind);
  if (request->handle == 0 || request->handle % 16 != 0)
    return backend_fail(error, VYRE_ERR_INVALID_ARGUMENT, backend_name,
                        "the address 0x%llx is not one of 16-byte aligned memory. Fix: align it to 16 bytes",
                        (unsigned long long)request->handle);
  buffer->data = (uint8_t *)(uintptr_t)request->handle;
  buffer->imported = true;
  return VYRE_OK;
}

vyre_status backend_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                                  vyre_plugin_buffer **out, vyre_error *error) {
  vyre_buffer_request wanted;
  *out = NULL;
  backend_take(&wanted, sizeof wanted, request);
  vyre_status status = backend_check_process(device, error);
  if (status == VYRE_OK) status = backend_check_flags("a buffer's properties", wanted.properties, backend_memory, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) return backend_no_memory(error);
  buffer->device = device;
  buffer->bytes = wanted.bytes;
  status = wanted.kind == VYRE_HANDLE_NONE ? allocate(device, buffer, error) : import(&wanted, buffer, error);
  if (status == VYRE_OK) *out = buffer;
  else free(buffer);
  return status;
}

void backend_buffer_destroy(vyre_plugin_buffer *buffer) {
  if (!buffer->imported) {
    give_memory(buffer->device, rounded(buffer->bytes));
    free(buffer->data);
  }
  free(buffer);
}

vyre_status backend_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error) {
  (void)error;
  *out = buffer->data;
  return VYRE_OK;
}

/* The memory is coherent: nothing to do. */
vyre_status backend_buffer_sync(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  (void)buffer, (void)offset, (void)bytes, (void)error;
  return VYRE_OK;
}

vyre_status backend_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  *handle = (uint64_t)(uintptr_t)buffer->data;
  if (kind == VYRE_HANDLE_HOST_POINTER) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_UNSUPPORTED, backend_name,
                      "handles of kind %u do not exist here, only host pointers. Fix: export a host pointer", kind);
}

vyre_status backend_native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  if (kind == VYRE_OBJECT_BUFFER && tag == NATIVE_POINTER) {
    *out = (uint64_t)(uintptr_t)((const vyre_plugin_buffer *)object)->data;
    return VYRE_OK;
  }
  return backend_fail(error, VYRE_ERR_NOT_FOUND, backend_name, "object kind %u has no tag %u. Fix: buffers have tag 1",
                      kind, tag);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static vyre_status check_counts(const vyre_plugin_executable *e, const vyre_set_request *request, vyre_error *error) {
  if (request->bind_count != e->binding_count)
    return backend_fail(error, VYRE_ERR_MISSING_BINDING, e->name,
                        "the program binds %u buffers, %u were given. Fix: bind each", e->binding_count,
                        request->bind_count);
  if (!request->late_params && request->param_bytes != e->param_bytes)
    return backend_fail(error, VYRE_ERR_MISSING_BINDING, e->name,
                        "the parameters take %u bytes, %llu were given. Fix: give each in its type", e->param_bytes,
                        (unsigned long long)request->param_bytes);
  return VYRE_OK;
}

/* The range, its length in elements and the place of a device's count. */
static vyre_status check_bind(const backend_binding *binding, const vyre_bind *bind, vyre_error *error) {
  const uint32_t known = VYRE_BIND_WRITTEN | VYRE_BIND_ZERO | VYRE_BIND_LATE;
  vyre_status status = backend_check_flags("a binding", bind->flags, known, error);
  if (status != VYRE_OK) return status;
  bool fits = backend_in_buffer(bind->buffer, bind->offset, bind->bytes) && bind->offset % 16 == 0 &&
              bind->elements <= bind->bytes / binding->element_bytes;
  fits = fits && (bind->length_bits == 0 || bind->length_bits == 32 || bind->length_bits == 64);
  if (fits && bind->length_bits != 0)
    fits = bind->length_buffer != NULL && bind->length_offset % (bind->length_bits / 8) == 0 &&
           backend_in_buffer(bind->length_buffer, bind->length_offset, bind->length_bits / 8);
  if (fits) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_INVALID_ARGUMENT, binding->name,
                      "what is bound to `%s` does not lie in its buffer, aligned to 16 bytes. Fix: bind a range of it",
                      binding->name);
}

void backend_set_destroy(vyre_plugin_set *set) {
  free(set->binds);
  free(set->params);
  free(set);
}

vyre_status backend_set_create(vyre_plugin_executable *executable, const vyre_set_request *given,
                               vyre_plugin_set **out, vyre_error *error) {
  vyre_set_request own, *request = &own;
  *out = NULL;
  backend_take(&own, sizeof own, given);
  vyre_status status = check_counts(executable, request, error);
  for (uint32_t i = 0; i < executable->binding_count && status == VYRE_OK; i++)
    status = check_bind(&executable->bindings[i], &request->binds[i], error);
  if (status != VYRE_OK) return status;
  vyre_plugin_set *set = calloc(1, sizeof *set);
  if (set == NULL) return backend_no_memory(error);
  set->executable = executable;
  set->binds = calloc((size_t)request->bind_count + 1, sizeof *set->binds);
  set->params = calloc((size_t)executable->param_bytes + 1, 1);
  if (set->binds == NULL || set->params == NULL) {
    backend_set_destroy(set);
    return backend_no_memory(error);
  }
  if (request->bind_count > 0) memcpy(set->binds, request->binds, request->bind_count * sizeof *set->binds);
  if (!request->late_params && request->param_bytes > 0) memcpy(set->params, request->params, request->param_bytes);
  *out = set;
  return VYRE_OK;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static bool word_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  return buffer == NULL || (backend_in_buffer(buffer, offset, bytes) && offset % 4 == 0);
}

/* False for what is unknown or reaches beyond a buffer. */
static bool take_command(const vyre_command *from, backend_command *to) {
  to->kind = from->kind;
  switch (from->kind) {
    case VYRE_COMMAND_ORDER: return true;
    case VYRE_COMMAND_TIMESTAMP: backend_take(&to->u.timestamp, sizeof to->u.timestamp, from->record); return true;
    case VYRE_COMMAND_DISPATCH: {
      const vyre_dispatch *d = &to->u.dispatch;
      backend_take(&to->u.dispatch, sizeof to->u.dispatch, from->record);
      return (d->flags & ~(uint32_t)VYRE_DISPATCH_PERSISTENT) == 0 &&
             word_in_buffer(d->grid_buffer, d->grid_offset, 12) && word_in_buffer(d->stop_buffer, d->stop_offset, 4);
    }
    case VYRE_COMMAND_COPY: {
      const vyre_copy *c = &to->u.copy;
      backend_take(&to->u.copy, sizeof to->u.copy, from->record);
      return backend_in_buffer(c->source, c->source_offset, c->bytes) &&
             backend_in_buffer(c->target, c->target_offset, c->bytes);
    }
    case VYRE_COMMAND_FILL: {
      const vyre_fill *f = &to->u.fill;
      backend_take(&to->u.fill, sizeof to->u.fill, from->record);
      return backend_in_buffer(f->target, f->offset, f->bytes) && f->offset % 4 == 0 && f->bytes % 4 == 0;
    }
    default: return false;
  }
}

void backend_batch_destroy(vyre_plugin_batch *batch) {
  free(batch->commands);
  free(batch);
}

vyre_status backend_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                 vyre_plugin_batch **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = backend_check_process(device, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_batch *batch = calloc(1, sizeof *batch);
  if (batch != NULL) batch->commands = calloc(count > 0 ? count : 1, sizeof *batch->commands);
  if (batch == NULL || batch->commands == NULL) {
    free(batch);
    return backend_no_memory(error);
  }
  for (; batch->count < count; batch->count++) {
    if (take_command(&commands[batch->count], &batch->commands[batch->count])) continue;
    status = backend_fail(error, VYRE_ERR_INVALID_ARGUMENT, backend_name,
                          "command %llu has an unknown kind or flag, or reaches beyond a buffer. Fix: correct its range",
                          (unsigned long long)batch->count);
    backend_batch_destroy(batch);
    return status;
  }
  *out = batch;
  return VYRE_OK;
}
