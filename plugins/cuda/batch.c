/* Batches: commands are taken and checked here. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static bool words_fit(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  return buffer == NULL || (cuda_in_buffer(buffer, offset, bytes) && offset % 4 == 0);
}

static bool take_dispatch(const void *record, vyre_dispatch *d) {
  gpu_take(d, sizeof *d, record);
  return (d->flags & ~(uint32_t)VYRE_DISPATCH_PERSISTENT) == 0 && d->set->executable == d->executable &&
         words_fit(d->grid_buffer, d->grid_offset, 12) && words_fit(d->stop_buffer, d->stop_offset, 4);
}

/* False for what is unknown or reaches beyond a buffer. */
static bool take_command(const vyre_command *from, cuda_command *to) {
  to->kind = from->kind;
  switch (from->kind) {
    case VYRE_COMMAND_ORDER: return true;
    case VYRE_COMMAND_TIMESTAMP: gpu_take(&to->u.timestamp, sizeof to->u.timestamp, from->record); return true;
    case VYRE_COMMAND_DISPATCH: return take_dispatch(from->record, &to->u.dispatch);
    case VYRE_COMMAND_COPY: {
      const vyre_copy *c = &to->u.copy;
      gpu_take(&to->u.copy, sizeof to->u.copy, from->record);
      return cuda_in_buffer(c->source, c->source_offset, c->bytes) &&
             cuda_in_buffer(c->target, c->target_offset, c->bytes);
    }
    case VYRE_COMMAND_FILL: {
      const vyre_fill *f = &to->u.fill;
      gpu_take(&to->u.fill, sizeof to->u.fill, from->record);
      return cuda_in_buffer(f->target, f->offset, f->bytes) && f->offset % 4 == 0 && f->bytes % 4 == 0;
    }
    default: return false;
  }
}

static vyre_status take_all(vyre_plugin_batch *b, const vyre_command *commands, uint64_t count, vyre_error *error) {
  b->commands = calloc(count > 0 ? count : 1, sizeof *b->commands);
  if (b->commands == NULL) return gpu_no_memory(error);
  for (; b->count < count; b->count++) {
    cuda_command *c = &b->commands[b->count];
    if (!take_command(&commands[b->count], c))
      return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                      "command %llu has an unknown kind or flag, or reaches beyond a buffer. Fix: correct its range",
                      (unsigned long long)b->count);
    b->is_persistent |= c->kind == VYRE_COMMAND_DISPATCH && (c->u.dispatch.flags & VYRE_DISPATCH_PERSISTENT) != 0;
  }
  if (!b->is_persistent || count == 1) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                  "a persistent dispatch is one of %llu commands. Fix: give it a batch of its own",
                  (unsigned long long)count);
}

static void free_batch(vyre_plugin_batch *b) {
  free(b->commands);
  free(b->steps);
  free(b->arguments);
  free(b->storage);
  free(b);
}

void cuda_batch_destroy(vyre_plugin_batch *b) {
  const cuda_api *api = &b->device->plugin->api;
  cuda_scope scope;
  bool may_call = cuda_enter_to_destroy(b->device, &scope);
  while (b->unused != NULL) {
    cuda_pinned *p = b->unused;
    b->unused = p->next;
    if (may_call) cuda_pinned_free(b->device, p->image, cuda_run_bytes(b));
    free(p);
  }
  if (may_call) {
    if (b->graph != NULL) api->cuGraphExecDestroy(b->graph);
    cuda_pinned_free(b->device, b->image, b->image_bytes);
    cuda_memory_free(b->device, b->memory);
    cuda_sweep(b->device);
    cuda_leave(&scope);
  }
  free_batch(b);
}

vyre_status cuda_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                              vyre_plugin_batch **out, vyre_error *error) {
  cuda_scope scope;
  *out = NULL;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_batch *b = calloc(1, sizeof *b);
  if (b != NULL) {
    b->device = device;
    status = take_all(b, commands, count, error);
    if (status == VYRE_OK) status = cuda_plan(b, error);
    if (status == VYRE_OK) *out = b;
    else cuda_batch_destroy(b);
  } else {
    status = gpu_no_memory(error);
  }
  cuda_leave(&scope);
  return status;
}
