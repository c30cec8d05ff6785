/* Batches: commands are checked as they are recorded and handed to the plugin as the first submit needs them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

void vyre_batch_retain(vyre_batch *batch) { vyre_refs_take(&batch->refs); }

vyre_status vyre_batch_create(vyre_device *device, vyre_batch **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  if (status != VYRE_OK) return status;
  vyre_batch *batch = calloc(1, sizeof *batch);
  if (batch == NULL) return vyre_fail_memory(error, "batch");
  batch->refs = 1;
  batch->device = device;
  vyre_device_retain(device);
  pthread_mutex_init(&batch->lock, NULL);
  *out = batch;
  return VYRE_OK;
}

void vyre_batch_destroy(vyre_batch *batch) {
  if (batch == NULL || !vyre_refs_drop(&batch->refs)) return;
  vyre_device *device = batch->device;
  if (batch->plugin != NULL && vyre_device_may_destroy(device)) device->ops->batch_destroy(batch->plugin);
  for (uint32_t i = 0; i < batch->commands.count; i++) {
    const vyre_batch_command *command = &batch->commands.data[i];
    if (!batch->is_ready) vyre_set_destroy(command->set);
    vyre_buffer_destroy(command->buffers[0]);
    vyre_buffer_destroy(command->buffers[1]);
  }
  vyre_vector_free(&batch->commands);
  pthread_mutex_destroy(&batch->lock);
  free(batch);
  vyre_device_release(device);
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* What submissions need to know of all commands together. The lock is held. */
static void add_up(vyre_batch *batch, vyre_batch_command *command) {
  if (command->kind == 0) return;
  command->index = batch->plugin_commands++;
  if (command->kind == VYRE_COMMAND_TIMESTAMP) command->record.timestamp.index = batch->timestamps++;
  if (command->set == NULL) return;
  const vyre_executable *executable = command->set->executable;
  batch->late += vyre_set_is_late(command->set);
  batch->prints |= (executable->info.needs & VYRE_NEED_PRINT) != 0;
  batch->has_steps |= executable->steps != 0;
}

/* Appends a command and counts what it uses. */
static vyre_status append(vyre_batch *batch, const vyre_batch_command *command, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&batch->lock);
  if (batch->plugin != NULL || batch->submitting > 0)
    status = vyre_fail(error, VYRE_ERR_BUSY, "batch",
                       "The batch was submitted already and takes no more commands. Fix: record them before, or make "
                       "another batch.");
  else if (!vyre_vector_push(&batch->commands, *command))
    status = vyre_fail_memory(error, "batch");
  else
    add_up(batch, &batch->commands.data[batch->commands.count - 1]);
  pthread_mutex_unlock(&batch->lock);
  if (status != VYRE_OK) return status;
  if (command->set != NULL && !batch->is_ready) vyre_set_retain(command->set);
  if (command->buffers[0] != NULL) vyre_buffer_retain(command->buffers[0]);
  if (command->buffers[1] != NULL) vyre_buffer_retain(command->buffers[1]);
  return VYRE_OK;
}

static vyre_status check_grid(const vyre_set *set, const uint64_t grid[3], vyre_error *error) {
  const vyre_program_info *info = &set->executable->info;
  for (uint32_t i = 0; i < 3; i++) {
    /* Ids go up to grid * workgroup - 1, and the number of workgroups itself is a u32 for the program. */
    uint64_t most = ((uint64_t)UINT32_MAX + 1) / info->workgroup[i];
    if (most > UINT32_MAX) most = UINT32_MAX;
    if (grid[i] > most)
      return vyre_fail(error, VYRE_ERR_OUT_OF_RANGE, info->name,
                       "A grid of %" PRIu64 " workgroups of %u along %c is asked for, and ids are u32: at most %" PRIu64
                       ". Fix: run it in several launches.",
                       grid[i], info->workgroup[i], "xyz"[i], most);
  }
  return VYRE_OK;
}

/* A u32 aligned place for |words| words in a buffer of the batch's device. */
static vyre_status check_words(const vyre_device *device, const vyre_buffer *buffer, uint64_t offset, uint32_t words,
                               const char *what, vyre_error *error) {
  if (buffer->device != device || offset % 4 != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, what,
                     "The %s is not at a multiple of 4 in a buffer of the same device. Fix: place it there.", what);
  return vyre_buffer_check_range(buffer, offset, 4u * words, what, error);
}

static vyre_status check_launch(const vyre_set *set, const vyre_launch *launch, vyre_error *error) {
  const vyre_device *device = set->executable->device;
  if (launch->size != sizeof *launch)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "launch",
                     "The record has size %u; %zu is known. Fix: start from VYRE_LAUNCH_INIT.", launch->size,
                     sizeof *launch);
  vyre_status status = check_grid(set, launch->grid, error);
  if (status == VYRE_OK && launch->grid_buffer != NULL) {
    if ((device->caps.can & VYRE_CAN_INDIRECT_GRID) == 0)
      return vyre_fail(error, VYRE_ERR_UNSUPPORTED, device->name,
                       "The grid is in a buffer, and the device lacks the capability indirect_grid. Fix: read it and "
                       "give it as numbers.");
    status = check_words(device, launch->grid_buffer, launch->grid_offset, 3, "grid", error);
  }
  if (status == VYRE_OK && launch->stop_buffer != NULL)
    status = check_words(device, launch->stop_buffer, launch->stop_offset, 1, "stop word", error);
  return status;
}

static vyre_status dispatch(vyre_batch *batch, vyre_set *set, const vyre_launch *launch, uint32_t flags,
                            vyre_error *error) {
  if (set->executable->device != batch->device)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "batch",
                     "The batch and the binding set belong to different devices. Fix: record it on its own device.");
  vyre_status status = check_launch(set, launch, error);
  if (status != VYRE_OK) return status;
  vyre_batch_command command = { .kind = VYRE_COMMAND_DISPATCH, .set = set };
  vyre_dispatch *d = &command.record.dispatch;
  *d = (vyre_dispatch){ .size = sizeof *d, .flags = flags };
  d->executable = set->executable->plugin;
  d->set = set->plugin;
  for (uint32_t i = 0; i < 3; i++) {
    d->grid[i] = (uint32_t)launch->grid[i];
    if (launch->grid[i] == 0) command.kind = 0; /* a launch that does nothing */
  }
  d->time_budget_ns = launch->time_budget_ns;
  d->work_budget = launch->work_budget;
  command.buffers[0] = launch->grid_buffer;
  command.buffers[1] = launch->stop_buffer;
  if (launch->grid_buffer != NULL) {
    d->grid_buffer = launch->grid_buffer->plugin;
    d->grid_offset = launch->grid_offset;
  }
  if (launch->stop_buffer != NULL) {
    d->stop_buffer = launch->stop_buffer->plugin;
    d->stop_offset = launch->stop_offset;
  }
  return append(batch, &command, error);
}

vyre_status vyre_batch_launch(vyre_batch *batch, vyre_set *set, const vyre_launch *launch, vyre_error *error) {
  vyre_status status = vyre_device_check_open(batch->device, error);
  return status == VYRE_OK ? dispatch(batch, set, launch, 0, error) : status;
}

vyre_status vyre_batch_dispatch(vyre_batch *batch, vyre_set *set, const uint64_t grid[3], vyre_error *error) {
  vyre_launch launch = VYRE_LAUNCH_INIT;
  memcpy(launch.grid, grid, sizeof launch.grid);
  return vyre_batch_launch(batch, set, &launch, error);
}

static vyre_status check_peer(const vyre_batch *batch, const vyre_buffer *source, const vyre_buffer *target,
                              vyre_error *error) {
  const vyre_device *a = source->device, *b = target->device, *own = batch->device;
  if (a == own && b == own) return VYRE_OK;
  bool can = (a->caps.can & VYRE_CAN_PEER_COPY) != 0 && (b->caps.can & VYRE_CAN_PEER_COPY) != 0;
  if (can && a->file == b->file && (a == own || b == own)) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, "copy",
                   "A copy from device %s to device %s in a batch of device %s is asked for; it needs one plugin with "
                   "the capability peer_copy, and one of the two in the batch. Fix: go through the host with "
                   "vyre_buffer_read and vyre_buffer_write.",
                   a->name, b->name, own->name);
}

static vyre_status check_copy(const vyre_buffer *source, uint64_t source_offset, const vyre_buffer *target,
                              uint64_t target_offset, uint64_t bytes, vyre_error *error) {
  const vyre_range ranges[] = { { source, source_offset, bytes, false }, { target, target_offset, bytes, true } };
  const vyre_range *a, *b;
  vyre_status status = vyre_find_overlap(ranges, 2, &a, &b, error);
  if (status != VYRE_ERR_ALIASED) return status;
  return vyre_fail(error, VYRE_ERR_ALIASED, "copy",
                   "Source and target of a copy overlap. Fix: copy through another buffer.");
}

vyre_status vyre_batch_copy(vyre_batch *batch, vyre_buffer *source, uint64_t source_offset, vyre_buffer *target,
                            uint64_t target_offset, uint64_t bytes, vyre_error *error) {
  vyre_status status = vyre_device_check_open(batch->device, error);
  if (status == VYRE_OK) status = check_peer(batch, source, target, error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(source, source_offset, bytes, "source of the copy", error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(target, target_offset, bytes, "target of the copy", error);
  if (status != VYRE_OK) return status;
  status = check_copy(source, source_offset, target, target_offset, bytes, error);
  if (status != VYRE_OK) return status;
  vyre_batch_command command = { .kind = bytes > 0 ? VYRE_COMMAND_COPY : 0, .buffers = { source, target } };
  command.record.copy = (vyre_copy){
    .size = sizeof command.record.copy,
    .source = source->plugin,
    .source_offset = source_offset,
    .target = target->plugin,
    .target_offset = target_offset,
    .bytes = bytes,
  };
  return append(batch, &command, error);
}

vyre_status vyre_batch_fill(vyre_batch *batch, vyre_buffer *target, uint64_t offset, uint64_t bytes, uint32_t pattern,
                            vyre_error *error) {
  vyre_status status = vyre_device_check_open(batch->device, error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(target, offset, bytes, "target of the fill", error);
  if (status != VYRE_OK) return status;
  if (target->device != batch->device || offset % 4 != 0 || bytes % 4 != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "fill",
                     "%" PRIu64 " bytes from byte %" PRIu64 " on are not whole words of a buffer of the same device. "
                     "Fix: fill multiples of 4.",
                     bytes, offset);
  vyre_batch_command command = { .kind = bytes > 0 ? VYRE_COMMAND_FILL : 0, .buffers = { target } };
  command.record.fill = (vyre_fill){
    .size = sizeof command.record.fill, .pattern = pattern, .target = target->plugin, .offset = offset, .bytes = bytes
  };
  return append(batch, &command, error);
}

vyre_status vyre_batch_timestamp(vyre_batch *batch, vyre_error *error) {
  vyre_status status = vyre_device_check_open(batch->device, error);
  if (status != VYRE_OK) return status;
  if ((batch->device->caps.can & VYRE_CAN_TIMESTAMP) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, batch->device->name,
                     "The device lacks the capability timestamp. Fix: measure on the host.");
  vyre_batch_command command = { .kind = VYRE_COMMAND_TIMESTAMP };
  command.record.timestamp = (vyre_timestamp){ .size = sizeof command.record.timestamp };
  return append(batch, &command, error);
}

vyre_status vyre_batch_order(vyre_batch *batch, vyre_error *error) {
  vyre_status status = vyre_device_check_open(batch->device, error);
  vyre_batch_command command = { .kind = VYRE_COMMAND_ORDER };
  return status == VYRE_OK ? append(batch, &command, error) : status;
}

/* ---- Handing over ---------------------------------------------------------------------------- */

static vyre_status make_plugin_batch(vyre_batch *batch, vyre_error *error) {
  vyre_command *commands = calloc(batch->plugin_commands + 1u, sizeof *commands);
  if (commands == NULL) return vyre_fail_memory(error, "batch");
  for (uint32_t i = 0; i < batch->commands.count; i++) {
    const vyre_batch_command *command = &batch->commands.data[i];
    if (command->kind == 0) continue;
    bool has_record = command->kind != VYRE_COMMAND_ORDER;
    commands[command->index] = (vyre_command){ .kind = command->kind, .record = has_record ? &command->record : NULL };
  }
  vyre_device *device = batch->device;
  vyre_status status =
      device->ops->batch_create(device->plugin, commands, batch->plugin_commands, &batch->plugin, error);
  status = vyre_device_made(device, status, batch->plugin, error);
  if (status != VYRE_OK) batch->plugin = NULL;
  free(commands);
  return status;
}

void vyre_batch_begin_submit(vyre_batch *batch) {
  pthread_mutex_lock(&batch->lock);
  batch->submitting++;
  pthread_mutex_unlock(&batch->lock);
}

void vyre_batch_end_submit(vyre_batch *batch) {
  pthread_mutex_lock(&batch->lock);
  batch->submitting--;
  pthread_mutex_unlock(&batch->lock);
}

vyre_status vyre_batch_prepare(vyre_batch *batch, vyre_error *error) {
  pthread_mutex_lock(&batch->lock);
  vyre_status status = batch->plugin == NULL ? make_plugin_batch(batch, error) : VYRE_OK;
  pthread_mutex_unlock(&batch->lock);
  return status;
}

vyre_status vyre_batch_persistent(vyre_set *set, const vyre_launch *launch, vyre_buffer *stop, vyre_batch **out,
                                  vyre_error *error) {
  *out = NULL;
  if (launch->stop_buffer != NULL)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "launch",
                     "A persistent launch has a stop word of its own, and a stop_buffer is given. Fix: leave it NULL "
                     "and call vyre_submission_stop.");
  vyre_launch stopped = *launch;
  stopped.stop_buffer = stop;
  stopped.stop_offset = 0;
  vyre_status status = vyre_batch_create(set->executable->device, out, error);
  if (status != VYRE_OK) return status;
  status = dispatch(*out, set, &stopped, VYRE_DISPATCH_PERSISTENT, error);
  if (status == VYRE_OK) return VYRE_OK;
  vyre_batch_destroy(*out);
  *out = NULL;
  return status;
}

/* The ready batch is the set's child: it lives in the set and so can't count it. */
static vyre_status make_ready(vyre_set *set, const uint64_t grid[3], vyre_batch **out, vyre_error *error) {
  vyre_launch launch = VYRE_LAUNCH_INIT;
  memcpy(launch.grid, grid, sizeof launch.grid);
  vyre_status status = vyre_batch_create(set->executable->device, out, error);
  if (status != VYRE_OK) return status;
  (*out)->is_ready = true;
  status = dispatch(*out, set, &launch, 0, error);
  if (status == VYRE_OK) return VYRE_OK;
  vyre_batch_destroy(*out);
  *out = NULL;
  return status;
}

vyre_status vyre_batch_ready(vyre_set *set, const uint64_t grid[3], vyre_batch **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = VYRE_OK;
  vyre_batch *old = NULL;
  pthread_mutex_lock(&set->lock);
  if (set->ready == NULL || memcmp(set->ready_grid, grid, sizeof set->ready_grid) != 0) {
    vyre_batch *made;
    status = make_ready(set, grid, &made, error);
    if (status == VYRE_OK) {
      old = set->ready;
      set->ready = made;
      memcpy(set->ready_grid, grid, sizeof set->ready_grid);
    }
  }
  if (status == VYRE_OK) {
    *out = set->ready;
    vyre_batch_retain(*out);
  }
  pthread_mutex_unlock(&set->lock);
  vyre_batch_destroy(old);
  return status;
}
