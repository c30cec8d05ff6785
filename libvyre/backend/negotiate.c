/* Is this plugin for this host? Both sides are asked: the plugin may decline the request, and the host believes no
 * descriptor before it has checked it. Everything here happens before any other function of the plugin runs. */
#include <inttypes.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

enum {
  FROZEN_BYTES = offsetof(vyre_backend_desc, opcodes),
  KNOWN_FLAGS = VYRE_BACKEND_TAKES_PROGRAM | VYRE_BACKEND_TAKES_KERNEL,
  MAX_TEXT = 256
};

void vyre_backend_request_fill(vyre_backend_request *request) {
  *request = (vyre_backend_request){
    .size = sizeof *request,
    .sanitizer = VYRE_ABI_SANITIZER,
    .host_major_min = VYRE_ABI_MAJOR,
    .host_major_max = VYRE_ABI_MAJOR,
    .host_minor = VYRE_ABI_MINOR,
    .fingerprint = VYRE_ABI_FINGERPRINT,
  };
}

static const char *sanitizer_name(uint32_t kind) {
  switch (kind) {
  case 0: return "no sanitizer";
  case VYRE_SANITIZER_ADDRESS: return "the address sanitizer";
  case VYRE_SANITIZER_THREAD: return "the thread sanitizer";
  case VYRE_SANITIZER_MEMORY: return "the memory sanitizer";
  default: return "an unknown sanitizer";
  }
}

static vyre_status check_version(const vyre_backend_desc *desc, const char *path, vyre_error *error) {
  if (desc->magic != VYRE_ABI_MAGIC)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                     "The descriptor begins with 0x%016" PRIX64 " where a plugin has 0x%016llX (VBP-6). Fix: remove "
                     "the file.",
                     desc->magic, VYRE_ABI_MAGIC);
  if (desc->size < FROZEN_BYTES)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, path,
                     "The descriptor says that it has %u bytes; the part that never changes has %d (VBP-6). Fix: "
                     "report it to the plugin's author.",
                     desc->size, FROZEN_BYTES);
  if (desc->abi_major != VYRE_ABI_MAJOR)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, path,
                     "The plugin speaks ABI %u.%u, this library ABI %u.%u, and the first numbers must be equal "
                     "(VBP-7). Fix: install the plugin that belongs to this library%s.",
                     desc->abi_major, desc->abi_minor, VYRE_ABI_MAJOR, VYRE_ABI_MINOR,
                     desc->abi_major > VYRE_ABI_MAJOR ? ", or a newer library" : "");
  if (desc->min_host_minor > VYRE_ABI_MINOR)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, path,
                     "The plugin needs a library with at least ABI %u.%u, and this one has ABI %u.%u (VBP-7). Fix: "
                     "install a newer library, or an older plugin.",
                     desc->abi_major, desc->min_host_minor, VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
  return VYRE_OK;
}

static vyre_status check_build(const vyre_backend_desc *desc, const char *path, vyre_error *error) {
  if (desc->sanitizer != VYRE_ABI_SANITIZER)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, path,
                     "The plugin was built with %s and this library with %s; in one process they would corrupt each "
                     "other (VBP-8). Fix: build both the same way.",
                     sanitizer_name(desc->sanitizer), sanitizer_name(VYRE_ABI_SANITIZER));
  if (desc->fingerprint != VYRE_ABI_FINGERPRINT)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, path,
                     "The plugin was built with a backend.h of fingerprint 0x%016" PRIX64 ", this library with one of "
                     "0x%016llX (VBP-7). Fix: build the plugin again with this library's headers.",
                     desc->fingerprint, VYRE_ABI_FINGERPRINT);
  if ((desc->flags & ~(uint32_t)KNOWN_FLAGS) != 0)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, path,
                     "The plugin sets descriptor flags 0x%X that this library does not know (VBP-9). Fix: install a "
                     "newer library, or an older plugin.",
                     desc->flags & ~(uint32_t)KNOWN_FLAGS);
  if ((desc->flags & KNOWN_FLAGS) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, path,
                     "The plugin takes neither programs nor the kernel form (VBP-9). Fix: report it to the plugin's "
                     "author.");
  return VYRE_OK;
}

static bool is_text(const char *text) {
  return text != NULL && text[0] != 0 && strnlen(text, MAX_TEXT) < MAX_TEXT;
}

static vyre_status check_names(const vyre_backend_desc *desc, const vyre_plugin_file *file, vyre_error *error) {
  if (!is_text(desc->name) || !is_text(desc->version) || !is_text(desc->build_id) || desc->ops == NULL)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                     "The descriptor lacks a name, a version, a build id or the table (VBP-10). Fix: report it to the "
                     "plugin's author.");
  if (strcmp(desc->name, file->name) != 0)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, file->path,
                     "The file is named for backend %s and holds backend %s (VBP-1). Fix: rename it to "
                     "%s%s%s.", file->name,
                     desc->name, VYRE_BACKEND_PREFIX, desc->name, VYRE_BACKEND_SUFFIX);
  return VYRE_OK;
}

vyre_status vyre_negotiate(const vyre_backend_desc *desc, vyre_plugin_file *file, vyre_error *error) {
  if (desc == NULL)
    return vyre_fail(error, VYRE_ERR_ABI_MISMATCH, file->path,
                     "The plugin declines: it does not serve a library with ABI %u.%u (VBP-5). Fix: install the "
                     "plugin that belongs to this library.",
                     VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
  vyre_status status = check_version(desc, file->path, error);
  if (status == VYRE_OK) status = check_build(desc, file->path, error);
  if (status == VYRE_OK) status = check_names(desc, file, error);
  if (status != VYRE_OK) return status;
  const char *cpu = vyre_host_cpu_lacks(desc->cpu_features);
  if (cpu != NULL)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, file->path,
                     "The plugin was built for processors with %s, which this one or its system lacks (VBP-11). Fix: "
                     "install a build of the plugin for this processor.",
                     cpu);
  status = vyre_slots_copy(desc->ops, file->path, &file->ops, error);
  if (status != VYRE_OK) return status;
  file->desc = (vyre_backend_desc){ 0 };
  memcpy(&file->desc, desc, desc->size < sizeof file->desc ? desc->size : sizeof file->desc);
  return VYRE_OK;
}
