/* Timelines. A wait for a point answers with the status of the submission that signalled it, each time it is asked; so
 * a timeline remembers who signals what. Those that ended well are forgotten when the list grows. */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/objects.h"
#include "base/error.h"

enum { MANY_SIGNALS = 64 };

/* The points above |from|, up to |value|, are reached by |submission| (counted), or by the host (NULL). */
typedef struct expected_signal {
  uint64_t from, value;
  vyre_submission *submission;
} expected_signal;

struct vyre_timeline {
  vyre_refs refs;
  vyre_device *device;
  vyre_plugin_timeline *plugin;
  pthread_mutex_t lock;
  pthread_mutex_t signalling;            /* held while the host signals: its values reach the plugin in order */
  uint64_t settled;                      /* the highest value whose signal ended well and was forgotten */
  VYRE_VECTOR(expected_signal) expected; /* ascending */
};

vyre_plugin_timeline *vyre_timeline_plugin(const vyre_timeline *timeline) { return timeline->plugin; }
vyre_device *vyre_timeline_device(const vyre_timeline *timeline) { return timeline->device; }

vyre_status vyre_timeline_create(vyre_device *device, uint64_t value, vyre_timeline **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  if (status != VYRE_OK) return status;
  vyre_timeline *timeline = calloc(1, sizeof *timeline);
  if (timeline == NULL) return vyre_fail_memory(error, "timeline");
  status = device->ops->timeline_create(device->plugin, value, &timeline->plugin, error);
  status = vyre_device_made(device, status, timeline->plugin, error);
  if (status != VYRE_OK) {
    free(timeline);
    return status;
  }
  timeline->refs = 1;
  timeline->device = device;
  vyre_device_retain(device);
  timeline->settled = value;
  pthread_mutex_init(&timeline->lock, NULL);
  pthread_mutex_init(&timeline->signalling, NULL);
  *out = timeline;
  return VYRE_OK;
}

void vyre_timeline_retain(vyre_timeline *timeline) { vyre_refs_take(&timeline->refs); }

void vyre_timeline_destroy(vyre_timeline *timeline) {
  if (timeline == NULL || !vyre_refs_drop(&timeline->refs)) return;
  vyre_device *device = timeline->device;
  if (vyre_device_may_destroy(device)) device->ops->timeline_destroy(timeline->plugin);
  for (uint32_t i = 0; i < timeline->expected.count; i++)
    vyre_submission_destroy(timeline->expected.data[i].submission);
  vyre_vector_free(&timeline->expected);
  pthread_mutex_destroy(&timeline->signalling);
  pthread_mutex_destroy(&timeline->lock);
  free(timeline);
  vyre_device_release(device);
}

/* ---- Who signals what; the lock is held ------------------------------------------------------ */

static bool ended_well(const expected_signal *e) {
  const vyre_submission *s = e->submission;
  if (s == NULL) return true;
  return atomic_load_explicit(&s->done, memory_order_acquire) && s->completion.status == VYRE_OK;
}

/* Moves those that ended well behind |count| and gives their number: they are released without the lock. */
static uint32_t set_aside(vyre_timeline *timeline, vyre_submission **aside) {
  uint32_t kept = 0, moved = 0;
  for (uint32_t i = 0; i < timeline->expected.count; i++) {
    expected_signal e = timeline->expected.data[i];
    if (moved < MANY_SIGNALS && ended_well(&e)) {
      if (e.value > timeline->settled) timeline->settled = e.value;
      aside[moved++] = e.submission;
    } else {
      timeline->expected.data[kept++] = e;
    }
  }
  timeline->expected.count = kept;
  return moved;
}

/* The highest value that anybody has signalled or will. */
static uint64_t highest(const vyre_timeline *timeline) {
  uint32_t count = timeline->expected.count;
  uint64_t last = count > 0 ? timeline->expected.data[count - 1].value : 0;
  return last > timeline->settled ? last : timeline->settled;
}

static bool insert(vyre_timeline *timeline, uint64_t value, vyre_submission *submission) {
  if (!vyre_vector_reserve(&timeline->expected, 1)) return false;
  expected_signal *data = timeline->expected.data;
  uint32_t at = timeline->expected.count++;
  for (; at > 0 && data[at - 1].value >= value; at--) data[at] = data[at - 1];
  uint64_t from = at > 0 ? data[at - 1].value : 0;
  /* What was known to reach a stretch of points does so no more for the part below. */
  if (at + 1 < timeline->expected.count) {
    if (data[at + 1].from > from) from = data[at + 1].from;
    data[at + 1].from = value;
  }
  data[at] = (expected_signal){ from, value, submission };
  return true;
}

vyre_status vyre_timeline_expect(vyre_timeline *timeline, uint64_t value, vyre_submission *submission,
                                 vyre_error *error) {
  vyre_submission *aside[MANY_SIGNALS];
  uint32_t moved = 0;
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&timeline->lock);
  if (timeline->expected.count >= MANY_SIGNALS) moved = set_aside(timeline, aside);
  if (value <= highest(timeline))
    status = vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "timeline",
                       "Value %" PRIu64 " is to be signalled, and %" PRIu64 " was signalled or promised before. Fix: "
                       "only signal higher values.",
                       value, highest(timeline));
  else if (!insert(timeline, value, submission))
    status = vyre_fail_memory(error, "timeline");
  else
    vyre_refs_take(&submission->refs);
  pthread_mutex_unlock(&timeline->lock);
  for (uint32_t i = 0; i < moved; i++) vyre_submission_destroy(aside[i]);
  return status;
}

/* The submission was refused; the caller still counts it. Each of its points goes to whoever reaches the next one. */
void vyre_timeline_forget(vyre_timeline *timeline, vyre_submission *submission) {
  pthread_mutex_lock(&timeline->lock);
  uint32_t kept = 0, removed = 0;
  uint64_t from = UINT64_MAX;
  for (uint32_t i = 0; i < timeline->expected.count; i++) {
    expected_signal e = timeline->expected.data[i];
    if (e.submission == submission) {
      if (e.from < from) from = e.from;
      removed++;
      continue;
    }
    if (from < e.from) e.from = from;
    from = UINT64_MAX;
    timeline->expected.data[kept++] = e;
  }
  timeline->expected.count = kept;
  pthread_mutex_unlock(&timeline->lock);
  for (; removed > 0; removed--) vyre_submission_destroy(submission);
}

/* The submission that reaches |value|, counted; NULL if it is the host. */
static vyre_submission *find_submission(vyre_timeline *timeline, uint64_t value) {
  vyre_submission *found = NULL;
  pthread_mutex_lock(&timeline->lock);
  for (uint32_t i = 0; i < timeline->expected.count; i++) {
    const expected_signal *e = &timeline->expected.data[i];
    if (value <= e->from || value > e->value) continue;
    found = e->submission;
    break;
  }
  if (found != NULL) vyre_refs_take(&found->refs);
  pthread_mutex_unlock(&timeline->lock);
  return found;
}

/* ---- Asking, signalling, waiting ------------------------------------------------------------- */

vyre_status vyre_timeline_value(vyre_timeline *timeline, uint64_t *value, vyre_error *error) {
  *value = 0;
  vyre_device *device = timeline->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  return vyre_device_answer(device, device->ops->timeline_value(timeline->plugin, value, error), error);
}

/* Notes that the host reaches |value|, coming from |now|: what submissions were to signal in between is the host's
 * now. False without memory. */
static bool note_host(vyre_timeline *timeline, uint64_t now, uint64_t value) {
  vyre_submission *aside[MANY_SIGNALS];
  uint32_t moved = 0;
  pthread_mutex_lock(&timeline->lock);
  if (timeline->expected.count >= MANY_SIGNALS) moved = set_aside(timeline, aside);
  for (uint32_t i = 0; i < timeline->expected.count && moved < MANY_SIGNALS; i++) {
    expected_signal *e = &timeline->expected.data[i];
    if (e->value <= now || e->value > value || e->submission == NULL) continue;
    aside[moved++] = e->submission;
    e->submission = NULL;
  }
  bool is_noted = insert(timeline, value, NULL);
  pthread_mutex_unlock(&timeline->lock);
  for (uint32_t i = 0; i < moved; i++) vyre_submission_destroy(aside[i]);
  return is_noted;
}

static vyre_status signal_in_order(vyre_timeline *timeline, uint64_t value, vyre_error *error) {
  uint64_t now;
  vyre_device *device = timeline->device;
  vyre_status status = vyre_timeline_value(timeline, &now, error);
  if (status != VYRE_OK) return status;
  if (value <= now)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "timeline",
                     "Value %" PRIu64 " is to be signalled, and the timeline has reached %" PRIu64 ". Fix: only signal "
                     "higher values.",
                     value, now);
  if (!note_host(timeline, now, value)) return vyre_fail_memory(error, "timeline");
  return vyre_device_answer(device, device->ops->timeline_signal(timeline->plugin, value, error), error);
}

vyre_status vyre_timeline_signal(vyre_timeline *timeline, uint64_t value, vyre_error *error) {
  vyre_status status = vyre_device_check(timeline->device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&timeline->signalling);
  status = signal_in_order(timeline, value, error);
  pthread_mutex_unlock(&timeline->signalling);
  return status;
}

vyre_status vyre_timeline_wait(vyre_timeline *timeline, uint64_t value, uint64_t timeout_ns, vyre_error *error) {
  vyre_device *device = timeline->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  status = vyre_device_await(device, timeline->plugin, value, timeout_ns, error);
  if (status == VYRE_ERR_TIMEOUT)
    return vyre_fail(error, VYRE_ERR_TIMEOUT, "timeline",
                     "It had not reached %" PRIu64 " when %.3f s had passed. Fix: allow more time, or see who should "
                     "signal it.",
                     value, (double)timeout_ns * 1e-9);
  if (status != VYRE_OK) return status;
  vyre_submission *submission = find_submission(timeline, value);
  if (submission == NULL) return VYRE_OK;
  vyre_queue_retire(submission->queue);
  if (atomic_load_explicit(&submission->done, memory_order_acquire)) status = vyre_submission_result(submission, error);
  vyre_submission_destroy(submission);
  return status;
}
