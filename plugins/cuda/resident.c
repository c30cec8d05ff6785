/* Persistent launches, and the calls that would wait for them. The driver loads code, and takes pinned memory and code
 * back, behind everything that runs in a context; a persistent launch runs until somebody stops it, who may be waiting
 * for that very call. So both exclude each other on each GPU, whichever instance of the plugin they are of, since all
 * have its one primary context. */
#include "plugins/cuda/cuda.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for moments only, and inside of a device's lock */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

/* Of a GPU: persistent launches that were submitted and not seen to end, and waiting calls being made. GPUs whose
 * numbers meet share one, which is too careful and not wrong. */
typedef struct place {
  uint32_t residents, calls;
} place;
static place places[CUDA_MAX_DEVICES];

static place *place_of(const vyre_plugin_device *device) {
  return &places[(uint32_t)device->facts->device % CUDA_MAX_DEVICES];
}

void cuda_resident_begin(const vyre_plugin_device *device) {
  place *p = place_of(device);
  pthread_mutex_lock(&lock);
  p->residents++; /* from here on no call begins; those that have begun end by themselves */
  while (p->calls > 0) pthread_cond_wait(&ended, &lock);
  pthread_mutex_unlock(&lock);
}

void cuda_resident_end(const vyre_plugin_device *device) {
  pthread_mutex_lock(&lock);
  place_of(device)->residents--;
  pthread_mutex_unlock(&lock);
}

bool cuda_has_residents(const vyre_plugin_device *device) {
  pthread_mutex_lock(&lock);
  bool has = place_of(device)->residents > 0;
  pthread_mutex_unlock(&lock);
  return has;
}

bool cuda_waiting_begin(const vyre_plugin_device *device) {
  place *p = place_of(device);
  pthread_mutex_lock(&lock);
  bool may = p->residents == 0;
  if (may) p->calls++;
  pthread_mutex_unlock(&lock);
  return may;
}

void cuda_waiting_end(const vyre_plugin_device *device) {
  pthread_mutex_lock(&lock);
  place_of(device)->calls--;
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&lock);
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Under the device's lock: the program of one that it has; NULL if all are of other instances. */
static const char *find_name(const vyre_plugin_device *device) {
  for (const vyre_plugin_queue *q = device->queues; q != NULL; q = q->next) {
    const cuda_submission *s = q->first != NULL ? q->first : q->deferred;
    if (q->is_persistent && s != NULL) return s->batch->commands[0].u.dispatch.executable->name;
  }
  return NULL;
}

static vyre_status refuse(vyre_plugin_device *device, const char *name, vyre_error *error) {
  pthread_mutex_lock(&device->lock);
  const char *resident = find_name(device);
  vyre_status status = gpu_fail(error, VYRE_ERR_BUSY, name,
                                "a persistent launch of %s has not ended on %s, and the driver loads no code beside "
                                "one. Fix: load this before the persistent launch, or stop that first",
                                resident != NULL ? resident : "another instance", device->facts->record.name);
  pthread_mutex_unlock(&device->lock);
  return status;
}

vyre_status cuda_loading_begin(vyre_plugin_device *device, const char *name, vyre_error *error) {
  if (cuda_waiting_begin(device)) return VYRE_OK;
  pthread_mutex_lock(&device->lock);
  cuda_progress(device); /* one may have ended without anybody having looked */
  pthread_mutex_unlock(&device->lock);
  return cuda_waiting_begin(device) ? VYRE_OK : refuse(device, name, error);
}
