/* From a file to a working backend: open, ask, probe, start, list devices. A library that was opened is never
 * closed, refused ones included: code of it may have started threads or registered destructors. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

enum { MAX_DEVICES = 65536 };

/* The query function, which must be the file's own: dlsym looks into the libraries that it depends on, too. */
static vyre_status find_query(void *library, const char *path, vyre_backend_query_fn *out, vyre_error *error) {
  void *symbol = dlsym(library, VYRE_BACKEND_SYMBOL);
  if (symbol == NULL)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                     "The library does not export " VYRE_BACKEND_SYMBOL " (VBP-3). Fix: remove it, or export the "
                     "symbol.");
  struct link_map *own = NULL, *owner = NULL;
  Dl_info info;
  if (dlinfo(library, RTLD_DI_LINKMAP, &own) != 0 || dladdr1(symbol, &info, (void **)&owner, RTLD_DL_LINKMAP) == 0 ||
      own != owner)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                     VYRE_BACKEND_SYMBOL " comes from a library that this one depends on (VBP-3). Fix: a plugin "
                                         "exports its own and depends on no other plugin.");
  memcpy(out, &symbol, sizeof symbol);
  return VYRE_OK;
}

static vyre_status examine(vyre_plugin_file *file, vyre_error *error) {
  vyre_status status = vyre_elf_check(file->path, error);
  if (status != VYRE_OK) return status;
  void *library = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *why = dlerror();
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, file->path,
                     "The dynamic linker refuses it: %s (VBP-3). Fix: install what is missing, or build the plugin "
                     "again (a plugin links with -Wl,-z,defs).",
                     why != NULL ? why : "no reason given");
  }
  vyre_backend_query_fn query = NULL;
  status = find_query(library, file->path, &query, error);
  if (status != VYRE_OK) return status;
  vyre_backend_request request;
  vyre_backend_request_fill(&request);
  return vyre_negotiate(query(&request), file, error);
}

/* Whether the file is there is for the open; a plugin that is for other users is unreadable, not wrong. */
static vyre_verdict verdict_of(vyre_status status) {
  return status == VYRE_ERR_IO || status == VYRE_ERR_DENIED ? VYRE_VERDICT_UNREADABLE : VYRE_VERDICT_REFUSED;
}

void vyre_plugin_examine(vyre_plugin_file *file) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = examine(file, &error);
  if (status != VYRE_OK) vyre_judge(file, verdict_of(status), status, "%s", error.text);
}

static bool ends(const char *text, size_t capacity) { return strnlen(text, capacity) < capacity; }

static vyre_status check_record(const vyre_plugin_file *file, uint32_t index, const vyre_capabilities *caps,
                                vyre_error *error) {
  const char *wrong = NULL;
  if (!ends(caps->profile, sizeof caps->profile) || !ends(caps->name, sizeof caps->name) ||
      !ends(caps->driver, sizeof caps->driver))
    wrong = "a text without end";
  if (caps->binding_alignment < 16 || caps->binding_alignment > 256 ||
      (caps->binding_alignment & (caps->binding_alignment - 1)) != 0)
    wrong = "a binding_alignment that is no power of two from 16 to 256";
  if (caps->memory_type_count == 0 || caps->memory_type_count > VYRE_MAX_MEMORY_TYPES ||
      caps->memory_heap_count > VYRE_MAX_MEMORY_HEAPS)
    wrong = "no memory types, or too many";
  else
    for (uint32_t i = 0; i < caps->memory_type_count; i++)
      if (caps->memory_types[i].heap >= caps->memory_heap_count) wrong = "a memory type without heap";
  if (caps->subgroup_size == 0 || (caps->subgroup_sizes & caps->subgroup_size) == 0 || caps->subgroup_sizes > 63)
    wrong = "a subgroup_size that is not among its subgroup_sizes";
  if (wrong == NULL) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                   "The record of device %u has %s (VBP-17). Fix: report it to the plugin's author.", index, wrong);
}

static vyre_status list_devices(vyre_plugin_file *file, vyre_error *error) {
  uint32_t count = 0;
  vyre_status status = file->ops.device_count(file->plugin, &count, error);
  if (status != VYRE_OK) return status;
  if (count == 0)
    return vyre_fail(error, VYRE_ERR_NO_DEVICE, file->path,
                     "The backend works but has no device here. Fix: connect one, or make it visible to this process.");
  if (count > MAX_DEVICES)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                     "The plugin says that it has %u devices; more than %d are not believed (VBP-17). Fix: report it "
                     "to the plugin's author.",
                     count, MAX_DEVICES);
  file->devices = calloc(count, sizeof *file->devices);
  if (file->devices == NULL) return vyre_fail_memory(error, file->path);
  file->device_count = count;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
    file->devices[i].size = sizeof file->devices[i];
    status = file->ops.device_describe(file->plugin, i, &file->devices[i], error);
    if (status == VYRE_OK) status = check_record(file, i, &file->devices[i], error);
  }
  return status;
}

static vyre_status start(vyre_plugin_file *file, vyre_error *error) {
  vyre_host_init(file);
  vyre_status status = file->ops.probe(&file->host, error);
  if (status != VYRE_OK) return status;
  status = file->ops.open(&file->host, &file->plugin, error);
  if (status == VYRE_OK && file->plugin == NULL)
    status = vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                       "open succeeded without an instance (VBP-16). Fix: report it to the plugin's author.");
  if (status != VYRE_OK) {
    file->plugin = NULL;
    return status;
  }
  return list_devices(file, error);
}

void vyre_plugin_start(vyre_plugin_file *file) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = start(file, &error);
  if (status == VYRE_OK) {
    file->verdict = VYRE_VERDICT_USABLE;
    return;
  }
  status = vyre_plugin_answer(file->path, status, &error);
  if (file->plugin != NULL) file->ops.close(file->plugin);
  file->plugin = NULL;
  free(file->devices);
  file->devices = NULL;
  file->device_count = 0;
  vyre_judge(file, VYRE_VERDICT_UNAVAILABLE, status, "%s", error.text);
}
