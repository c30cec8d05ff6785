/* Handing a batch over: late values, points to wait for and to signal, and the plugin's submit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/arena.h"
#include "base/error.h"

enum { FEW_SIGNALS = 4 };

/* What the plugin is given, in one arena that lives for the call. A plain submission takes nothing from it. */
typedef struct handover {
  vyre_arena arena;
  vyre_submit submit;
  vyre_point few[FEW_SIGNALS], *signals; /* signals: few, or in the arena */
} handover;

static vyre_status no_memory(vyre_error *error) { return vyre_fail_memory(error, "submit"); }

static vyre_status add_waits(handover *h, const vyre_device *device, const vyre_submit_options *options,
                             vyre_error *error) {
  if (options->wait_count == 0) return VYRE_OK;
  vyre_point *points = vyre_arena_alloc(&h->arena, options->wait_count * sizeof *points);
  if (points == NULL) return no_memory(error);
  for (uint32_t i = 0; i < options->wait_count; i++) {
    const vyre_timeline_point *point = &options->waits[i];
    if (vyre_timeline_device(point->timeline) != device)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submit",
                       "A timeline to wait for belongs to another device. Fix: wait for it on the host.");
    points[i] = (vyre_point){ vyre_timeline_plugin(point->timeline), point->value };
  }
  h->submit.waits = points;
  h->submit.wait_count = options->wait_count;
  return VYRE_OK;
}

static vyre_status add_late(handover *h, const vyre_batch *batch, const vyre_submit_options *options,
                            vyre_error *error) {
  if (options->late_count == 0) return VYRE_OK;
  vyre_late *late = vyre_arena_alloc(&h->arena, options->late_count * sizeof *late);
  if (late == NULL) return no_memory(error);
  uint32_t count = 0;
  for (uint32_t i = 0; i < options->late_count; i++) {
    const vyre_late_args *given = &options->late[i];
    bool is_dispatch = given->command < batch->commands.count && batch->commands.data[given->command].set != NULL;
    if (!is_dispatch || (i > 0 && given->command <= options->late[i - 1].command))
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submit",
                       "Late values are given for command %u, which is no dispatch of the batch or comes after a "
                       "later one. Fix: name each dispatch once, in order.",
                       given->command);
    const vyre_batch_command *command = &batch->commands.data[given->command];
    const vyre_set *set = command->set;
    uint8_t *block = vyre_arena_alloc(&h->arena, set->block_bytes + 1);
    uint64_t *offsets = vyre_arena_alloc(&h->arena, (set->slot_count + 1u) * sizeof *offsets);
    if (block == NULL || offsets == NULL) return no_memory(error);
    vyre_status status = vyre_set_late(set, given->args, given->count, block, offsets, error);
    if (status != VYRE_OK) return status;
    if (command->kind == 0 || !vyre_set_is_late(set)) continue;
    late[count++] = (vyre_late){
      .command = command->index,
      .params = set->late_param_count > 0 ? block : NULL,
      .offsets = set->late_slot_count > 0 ? offsets : NULL,
    };
  }
  h->submit.late = late;
  h->submit.late_count = count;
  return VYRE_OK;
}

/* The queue's own point first, so that whoever sees another one finds the submission ended. */
static vyre_status add_signals(handover *h, const vyre_queue *queue, const vyre_submit_options *options,
                               vyre_error *error) {
  vyre_point *points = h->few;
  if (options->signal_count >= FEW_SIGNALS)
    points = vyre_arena_alloc(&h->arena, (options->signal_count + 1u) * sizeof *points);
  if (points == NULL) return no_memory(error);
  h->signals = points;
  points[0] = (vyre_point){ queue->timeline, 0 };
  for (uint32_t i = 0; i < options->signal_count; i++) {
    const vyre_timeline_point *point = &options->signals[i];
    if (vyre_timeline_device(point->timeline) != queue->device)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submit",
                       "A timeline to signal belongs to another device. Fix: signal it from the host.");
    points[i + 1] = (vyre_point){ vyre_timeline_plugin(point->timeline), point->value };
  }
  h->submit.signals = points;
  h->submit.signal_count = options->signal_count + 1;
  return VYRE_OK;
}

static vyre_status prepare(handover *h, const vyre_queue *queue, const vyre_batch *batch,
                           const vyre_submit_options *options, vyre_error *error) {
  vyre_status status = add_waits(h, queue->device, options, error);
  if (status == VYRE_OK) status = add_signals(h, queue, options, error);
  if (status == VYRE_OK) status = add_late(h, batch, options, error);
  if (status == VYRE_OK && h->submit.late_count != batch->late)
    status = vyre_fail(error, VYRE_ERR_MISSING_BINDING, "submit",
                       "%u dispatches of the batch wait for late values, and %u get them. Fix: give them for each.",
                       batch->late, h->submit.late_count);
  h->submit.size = sizeof h->submit;
  h->submit.flags = options->overlap != 0 ? VYRE_SUBMIT_OVERLAP : 0;
  return status;
}

static vyre_status expect_signals(const vyre_submit_options *options, vyre_submission *submission,
                                  vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < options->signal_count && status == VYRE_OK; i++)
    status = vyre_timeline_expect(options->signals[i].timeline, options->signals[i].value, submission, error);
  return status;
}

static void forget_signals(const vyre_submit_options *options, vyre_submission *submission) {
  for (uint32_t i = 0; i < options->signal_count; i++)
    vyre_timeline_forget(options->signals[i].timeline, submission);
}

/* The plugin's batch is made after everything that can be refused: once it is there, the batch takes no commands. */
static vyre_status call_plugin(handover *h, const vyre_queue *queue, vyre_batch *batch, vyre_error *error) {
  vyre_device *device = queue->device;
  vyre_status status = vyre_batch_prepare(batch, error);
  if (status != VYRE_OK) return status;
  h->submit.batch = batch->plugin;
  return vyre_device_answer(device, device->ops->submit(queue->plugin, &h->submit, error), error);
}

/* Hands over and lists the submission, as one step for the queue. */
static vyre_status hand_over(handover *h, vyre_queue *queue, const vyre_submit_options *options,
                             vyre_submission *submission, vyre_error *error) {
  pthread_mutex_lock(&queue->order);
  submission->value = queue->last + 1;
  h->signals[0].value = submission->value;
  vyre_status status = expect_signals(options, submission, error);
  if (status == VYRE_OK) status = call_plugin(h, queue, submission->batch, error);
  if (status == VYRE_OK) {
    vyre_refs_take(&submission->refs);
    pthread_mutex_lock(&queue->lock);
    queue->last = submission->value;
    *queue->end = submission;
    queue->end = &submission->next;
    pthread_mutex_unlock(&queue->lock);
  } else {
    forget_signals(options, submission);
  }
  pthread_mutex_unlock(&queue->order);
  return status;
}

vyre_status vyre_submit_batch(vyre_queue *queue, vyre_batch *batch, vyre_set *set, const vyre_submit_options *options,
                              vyre_submission **out, vyre_error *error) {
  if (batch->device != queue->device)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submit",
                     "The batch belongs to another device than the queue. Fix: use a queue of its device.");
  static const vyre_submit_options none = { .size = sizeof none };
  if (options == NULL) options = &none;
  handover h = { 0 };
  vyre_queue_retire(queue);
  vyre_batch_begin_submit(batch);
  vyre_status status = prepare(&h, queue, batch, options, error);
  vyre_submission *submission = status == VYRE_OK ? vyre_submission_new(queue, batch, set) : NULL;
  if (status == VYRE_OK && submission == NULL) status = no_memory(error);
  if (status == VYRE_OK) status = vyre_submission_hold(submission, options, error);
  if (status == VYRE_OK) {
    h.submit.timestamp_count = submission->timestamp_count;
    h.submit.timestamps = submission->timestamps;
    h.submit.prints = submission->prints;
    h.submit.print_words = submission->prints != NULL ? VYRE_PRINT_WORDS : 0;
    h.submit.completion = &submission->completion;
    status = hand_over(&h, queue, options, submission, error);
  }
  vyre_batch_end_submit(batch);
  vyre_arena_free(&h.arena);
  if (status == VYRE_OK && out != NULL)
    *out = submission;
  else
    vyre_submission_destroy(submission);
  return status;
}

vyre_status vyre_queue_submit(vyre_queue *queue, vyre_batch *batch, const vyre_submit_options *options,
                              vyre_submission **out, vyre_error *error) {
  if (out != NULL) *out = NULL;
  vyre_status status = vyre_device_check_open(queue->device, error);
  if (status != VYRE_OK) return status;
  if (options != NULL && options->size != sizeof *options)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submit", "The options have size %u; %zu is known. Fix: set it.",
                     options->size, sizeof *options);
  return vyre_submit_batch(queue, batch, NULL, options, out, error);
}

vyre_status vyre_queue_dispatch(vyre_queue *queue, vyre_set *set, const uint64_t grid[3], vyre_submission **out,
                                vyre_error *error) {
  if (out != NULL) *out = NULL;
  vyre_batch *batch;
  vyre_status status = vyre_device_check_open(queue->device, error);
  if (status == VYRE_OK) status = vyre_batch_ready(set, grid, &batch, error);
  if (status != VYRE_OK) return status;
  status = vyre_submit_batch(queue, batch, set, NULL, out, error);
  vyre_batch_destroy(batch);
  return status;
}

/* ---- Persistent launches --------------------------------------------------------------------- */

static vyre_status check_persistent(vyre_set *set, const vyre_launch *launch, vyre_error *error) {
  vyre_device *device = set->executable->device;
  if ((device->caps.can & VYRE_CAN_PERSISTENT) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, device->name,
                     "The device lacks the capability persistent. Fix: choose another, or launch step by step.");
  uint64_t resident, workgroups;
  vyre_status status = vyre_executable_max_resident(set->executable, &resident, error);
  if (status != VYRE_OK) return status;
  bool fits = !__builtin_mul_overflow(launch->grid[0], launch->grid[1], &workgroups) &&
              !__builtin_mul_overflow(workgroups, launch->grid[2], &workgroups);
  if (!fits) workgroups = UINT64_MAX;
  if (workgroups <= resident) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_LIMIT, device->name,
                   "A persistent launch of %" PRIu64 " workgroups is asked for, and %" PRIu64 " fit on the device at "
                   "the same time (max_resident). Fix: launch no more than that.",
                   workgroups, resident);
}

vyre_status vyre_launch_persistent(vyre_set *set, const vyre_launch *launch, vyre_submission **out,
                                   vyre_error *error) {
  if (out != NULL) *out = NULL;
  vyre_device *device = set->executable->device;
  vyre_queue *queue;
  vyre_batch *batch = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  if (status == VYRE_OK) status = check_persistent(set, launch, error);
  if (status == VYRE_OK) status = vyre_queue_make(device, VYRE_QUEUE_PERSISTENT, &queue, error);
  if (status != VYRE_OK) return status;
  vyre_buffer *stop = NULL;
  const uint32_t memory = VYRE_MEMORY_CONCURRENT | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT;
  status = vyre_buffer_create(device, sizeof(uint32_t), memory, &stop, error);
  if (status == VYRE_OK) status = vyre_batch_persistent(set, launch, stop, &batch, error);
  if (status == VYRE_OK) {
    pthread_mutex_lock(&device->lock); /* vyre_device_close looks for stop words under it */
    queue->stop = stop;
    pthread_mutex_unlock(&device->lock);
    stop = NULL;
    status = vyre_submit_batch(queue, batch, NULL, NULL, out, error);
  }
  vyre_buffer_destroy(stop);
  vyre_batch_destroy(batch);
  vyre_queue_destroy(queue); /* a thread sees the launch to its end */
  return status;
}
