/* Modules of a device: loaded once for each image, with what launching has to know of their functions. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- Functions ------------------------------------------------------------------------------- */

static CUresult ask(const cuda_api *api, CUfunction function, int attribute, uint32_t *out) {
  int value = 0;
  CUresult code = api->cuFuncGetAttribute(&value, attribute, function);
  *out = value > 0 ? (uint32_t)value : 0;
  return code;
}

/* Asking makes the driver load the code, which it may leave for later: nothing is left to be loaded when a persistent
 * launch runs, behind which it would have to wait. */
static CUresult learn(const vyre_plugin_device *device, cuda_entry *e) {
  const cuda_api *api = &device->plugin->api;
  int blocks = 0, threads = (int)(e->block[0] * e->block[1] * e->block[2]);
  CUresult code = CUDA_SUCCESS;
  if (e->dynamic_shared > 0)
    code = api->cuFuncSetAttribute(e->function, CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)e->dynamic_shared);
  if (code == CUDA_SUCCESS && api->cuFuncLoad != NULL) code = api->cuFuncLoad(e->function);
  if (code == CUDA_SUCCESS) code = ask(api, e->function, CU_FUNC_NUM_REGS, &e->registers);
  if (code == CUDA_SUCCESS) code = ask(api, e->function, CU_FUNC_SHARED_SIZE_BYTES, &e->shared_bytes);
  if (code == CUDA_SUCCESS) code = ask(api, e->function, CU_FUNC_LOCAL_SIZE_BYTES, &e->scratch_bytes);
  if (code == CUDA_SUCCESS)
    code = api->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, e->function, threads, e->dynamic_shared);
  e->per_unit = blocks > 0 ? (uint32_t)blocks : 0;
  return code;
}

static vyre_status check_shared(const vyre_plugin_executable *x, const cuda_entry *e, vyre_error *error) {
  if (e->dynamic_shared <= x->device->facts->shared_limit) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_LIMIT, x->name,
                  "the program needs %u bytes of workgroup memory, and a workgroup gets at most %u on %s. Fix: use "
                  "fewer elements, a smaller workgroup, or a buffer",
                  e->dynamic_shared, x->device->facts->shared_limit, x->device->facts->record.name);
}

static vyre_status fill_entry(const vyre_plugin_executable *x, uint32_t variant, uint32_t i, cuda_module *m,
                              vyre_error *error) {
  const vyre_kernel_entry *entry = gpu_entry(x->blob.kernel, i);
  cuda_entry *e = &m->entries[i];
  char name[PTX_NAME_ROOM];
  ptx_entry_name(x->blob.kernel, i, name);
  memcpy(e->block, entry->workgroup, sizeof e->block);
  if (x->code->facts[variant].flags & PTX_SHARED_DYNAMIC) e->dynamic_shared = (uint32_t)entry->shared_bytes;
  vyre_status status = check_shared(x, e, error);
  if (status != VYRE_OK) return status;
  CUresult code = x->device->plugin->api.cuModuleGetFunction(&e->function, m->module, name);
  if (code == CUDA_SUCCESS) code = learn(x->device, e);
  status = cuda_answer(x->device, code, "finding a function of the program", error);
  if (status != VYRE_OK || e->per_unit > 0) return status;
  return gpu_fail(error, VYRE_ERR_LIMIT, x->name,
                  "no workgroup of %u x %u x %u with %u registers an invocation fits on %s. Fix: use a smaller one",
                  e->block[0], e->block[1], e->block[2], e->registers, x->device->facts->record.name);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void unload(const vyre_plugin_device *device, cuda_module *m, bool may_call) {
  if (may_call && m->module != NULL) device->plugin->api.cuModuleUnload(m->module);
  free(m);
}

/* Machine code of another architecture, or that a newer driver does not take, is no loss: the text is there. */
static vyre_status load_image(const vyre_plugin_executable *x, uint32_t variant, const cuda_image *text, cuda_module *m,
                              vyre_error *error) {
  const cuda_api *api = &x->device->plugin->api;
  cuda_image machine = { x->blob.machine, x->blob.machine_bytes, false, x->name };
  cuda_log *log = malloc(sizeof *log);
  if (log == NULL) return gpu_no_memory(error);
  CUresult code = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (variant == 0 && machine.data != NULL) code = cuda_jit_load(api, &machine, &m->module, log);
  if (code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_INVALID_IMAGE)
    code = cuda_jit_load(api, text, &m->module, log);
  vyre_status status = cuda_is_sticky(code)   ? cuda_answer(x->device, code, "loading the program", error)
                       : code != CUDA_SUCCESS ? cuda_jit_fail(api, code, text, log, error)
                                              : VYRE_OK;
  free(log);
  return status;
}

static vyre_status load(const vyre_plugin_executable *x, uint32_t variant, const cuda_image *text, cuda_module **out,
                        vyre_error *error) {
  uint32_t count = x->blob.kernel->entries.count;
  cuda_module *m = calloc(1, sizeof *m + count * sizeof *m->entries);
  if (m == NULL) return gpu_no_memory(error);
  m->refs = 1;
  m->entry_count = count;
  vyre_status status = load_image(x, variant, text, m, error);
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) status = fill_entry(x, variant, i, m, error);
  if (status == VYRE_OK) *out = m;
  else unload(x->device, m, true);
  return status;
}

/* Under the lock: the loaded module of that key, counted; NULL if there is none. */
static cuda_module *find(const vyre_plugin_device *device, const uint8_t key[32]) {
  for (cuda_module *m = device->modules; m != NULL; m = m->next)
    if (memcmp(m->key, key, sizeof m->key) == 0) return m->refs++, m;
  return NULL;
}

/* Puts what was loaded into the list; gives the one of that key, which another thread may have loaded meanwhile. */
static cuda_module *enlist(vyre_plugin_device *device, cuda_module *made, const uint8_t key[32]) {
  memcpy(made->key, key, sizeof made->key);
  pthread_mutex_lock(&device->lock);
  cuda_module *first = find(device, key);
  if (first == NULL) {
    made->next = device->modules;
    device->modules = made;
  }
  pthread_mutex_unlock(&device->lock);
  if (first == NULL) return made;
  unload(device, made, true);
  return first;
}

vyre_status cuda_module_get(vyre_plugin_executable *x, uint32_t variant, cuda_module **out, vyre_error *error) {
  vyre_plugin_device *device = x->device;
  const uint8_t *text = (const uint8_t *)x->blob.code + x->code->offset[variant];
  cuda_image image = { text, x->code->bytes[variant], true, x->name };
  uint8_t key[32];
  gpu_digest(image.data, image.bytes, key);
  pthread_mutex_lock(&device->lock);
  *out = find(device, key);
  pthread_mutex_unlock(&device->lock);
  if (*out != NULL) return VYRE_OK;
  cuda_module *made = NULL;
  vyre_status status = cuda_loading_begin(device, x->name, error);
  if (status != VYRE_OK) return status;
  status = load(x, variant, &image, &made, error);
  if (status == VYRE_OK) *out = enlist(device, made, key);
  cuda_waiting_end(device);
  return status;
}

void cuda_module_drop(vyre_plugin_device *device, cuda_module *module) {
  if (module == NULL) return;
  pthread_mutex_lock(&device->lock);
  module->refs--;
  pthread_mutex_unlock(&device->lock);
}

/* The first that nobody uses, off the list. */
static cuda_module *take_unused(vyre_plugin_device *device) {
  pthread_mutex_lock(&device->lock);
  cuda_module **link = &device->modules;
  while (*link != NULL && (*link)->refs > 0) link = &(*link)->next;
  cuda_module *m = *link;
  if (m != NULL) *link = m->next;
  pthread_mutex_unlock(&device->lock);
  return m;
}

void cuda_modules_sweep(vyre_plugin_device *device, bool may_call) {
  for (cuda_module *m; (m = take_unused(device)) != NULL;) unload(device, m, may_call);
}

uint64_t cuda_resident(const vyre_plugin_device *device, const cuda_module *module) {
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < module->entry_count; i++) {
    uint64_t fit = (uint64_t)module->entries[i].per_unit * device->facts->units;
    if (fit < least) least = fit;
  }
  return least;
}
