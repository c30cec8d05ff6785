/* What belongs to the identity of an entry. Each member is hashed with its length before it, so that no two lists of
 * members make the same bytes. */
#include <string.h>

#include "backend/cache.h"
#include "config.h"

static void add(vyre_digest *digest, const void *bytes, uint64_t count) {
  uint8_t length[8];
  for (unsigned i = 0; i < sizeof length; i++) length[i] = (uint8_t)(count >> 8 * i);
  vyre_digest_add(digest, length, sizeof length);
  vyre_digest_add(digest, bytes, count);
}

static void add_text(vyre_digest *digest, const char *text) { add(digest, text, strlen(text)); }

static void add_number(vyre_digest *digest, uint64_t value) {
  uint8_t bytes[8];
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(value >> 8 * i);
  add(digest, bytes, sizeof bytes);
}

/* This library and the plugin, as built. */
static void add_makers(vyre_digest *digest, const vyre_backend_desc *plugin) {
  add_text(digest, PACKAGE_VERSION);
  add_number(digest, VYRE_ABI_FINGERPRINT);
  add_text(digest, plugin->name);
  add_text(digest, plugin->version);
  add_text(digest, plugin->build_id);
}

void vyre_cache_id_of(const vyre_backend_desc *plugin, const void *key, uint64_t key_bytes, vyre_cache_id *out) {
  vyre_digest digest;
  vyre_digest_begin(&digest);
  add_text(&digest, "vyre cache owner: plugin");
  add_makers(&digest, plugin);
  vyre_digest_end(&digest, out->owner);
  vyre_digest_begin(&digest);
  add_text(&digest, "vyre cache key: plugin");
  add(&digest, out->owner, sizeof out->owner);
  add(&digest, key, key_bytes);
  vyre_digest_end(&digest, out->key);
}

/* What compiling depends on of a device or profile: not who the device is, and not its memory. */
static void add_target(vyre_digest *digest, const vyre_capabilities *target) {
  add_text(digest, target->profile);
  add_number(digest, target->api_version);
  add_number(digest, target->vendor_id);
  add_number(digest, target->device_id);
  add_number(digest, target->forward_progress);
  add_number(digest, target->needs);
  add_number(digest, target->numeric);
  add_number(digest, target->subgroup_sizes);
  add_number(digest, target->subgroup_size);
  add_number(digest, target->max_workgroup_invocations);
  for (unsigned axis = 0; axis < 3; axis++) add_number(digest, target->max_workgroup[axis]);
  add_number(digest, target->max_shared_bytes);
  add_number(digest, target->max_bindings);
  add_number(digest, target->max_param_bytes);
  add_number(digest, target->can);
  for (unsigned i = 0; i < sizeof target->vendor / sizeof *target->vendor; i++) add_number(digest, target->vendor[i]);
}

static void add_request(vyre_digest *digest, const vyre_compile_request *request) {
  add(digest, request->fingerprint, sizeof request->fingerprint);
  add(digest, request->kernel, request->kernel != NULL ? request->kernel_bytes : 0); /* its form version is in it */
  add_number(digest, request->flags);
  add_number(digest, request->ulp_budget);
  add_number(digest, request->subgroup_size);
  add_number(digest, request->steps);
  add_number(digest, request->spec_count);
  for (uint64_t i = 0; i < request->spec_count; i++) {
    add_number(digest, request->spec[i].id);
    add_number(digest, request->spec[i].type);
    add_number(digest, request->spec[i].bits);
  }
}

void vyre_cache_id_of_executable(const vyre_backend_desc *plugin, const vyre_capabilities *target,
                                 const vyre_compile_request *request, vyre_cache_id *out) {
  vyre_digest digest;
  vyre_digest_begin(&digest);
  add_text(&digest, "vyre cache owner: executable");
  add_makers(&digest, plugin);
  add_text(&digest, target->driver);
  add_number(&digest, target->driver_version);
  vyre_digest_end(&digest, out->owner);
  vyre_digest_begin(&digest);
  add_text(&digest, "vyre cache key: executable");
  add(&digest, out->owner, sizeof out->owner);
  add_target(&digest, target);
  add_request(&digest, request);
  vyre_digest_end(&digest, out->key);
}
