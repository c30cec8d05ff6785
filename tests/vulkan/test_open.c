/* Opening on the fake Vulkan: what is absent, too old or failing is named and leaves nothing, and devices are described by
 * what they have. */
#include <stdio.h>

#include <vyre/ir.h>

#include "../suite.h"
#include "rig.h"

static rig_fake fake;

static const char *const names[] = {
#define X(name, level, since) #name,
#include "../fake/vulkan_entries.def"
#undef X
};
enum { NAMES = sizeof names / sizeof *names };

/* Plugin, device 0 and a buffer in each kind of memory, as far as it goes. */
static vyre_status try_buffers(rig *r) {
  for (uint32_t i = 0; i < r->caps.memory_type_count; i++) {
    vyre_plugin_buffer *buffer = (vyre_plugin_buffer *)(void *)r;
    const vyre_buffer_request request = { .size = sizeof request,
                                          .bytes = 4096,
                                          .properties = r->caps.memory_types[i].properties };
    vyre_status status = r->ops->buffer_create(r->device, &request, &buffer, &r->error);
    if (status != VYRE_OK) {
      ck_assert_ptr_null(buffer);
      return status;
    }
    r->ops->buffer_destroy(buffer);
  }
  return VYRE_OK;
}

static vyre_status try_device(rig *r) {
  uint32_t count = 0;
  vyre_status status = r->ops->device_count(r->plugin, &count, &r->error);
  r->caps.size = sizeof r->caps;
  if (status == VYRE_OK) status = r->ops->device_describe(r->plugin, 0, &r->caps, &r->error);
  if (status == VYRE_OK) status = r->ops->device_open(r->plugin, 0, &r->device, &r->error);
  if (status != VYRE_OK) {
    ck_assert_ptr_null(r->device);
    return status;
  }
  status = try_buffers(r);
  r->ops->device_close(r->device);
  return status;
}

static vyre_status try_all(rig *r) {
  rig_load_plugin(r);
  vyre_status status = r->ops->probe(rig_host(), &r->error);
  if (status == VYRE_OK) status = r->ops->open(rig_host(), &r->plugin, &r->error);
  if (status != VYRE_OK) {
    ck_assert_ptr_null(r->plugin);
    return status;
  }
  status = try_device(r);
  r->ops->close(r->plugin);
  return status;
}

/* The whole way fails with |wanted|, a text that has |text|, and a fix. */
static void refuses(const char *script, vyre_status wanted, const char *text) {
  rig r;
  fake = rig_use_fake(script);
  vyre_status status = try_all(&r);
  ck_assert_msg(status == wanted, "`%s`: wanted %d, found %d: %s", script, wanted, status, r.error.text);
  ck_assert_msg(strstr(r.error.text, text) != NULL, "`%s`: %s", script, r.error.text);
  ck_assert_msg(strstr(r.error.text, "Fix: ") != NULL, "`%s`: %s", script, r.error.text);
  rig_nothing_lives(&fake);
}

/* ---- The library ----------------------------------------------------------------------------- */

START_TEST(no_library) {
  rig r;
  rig_setting("library", "libnonesuch.so.7");
  ck_assert_int_eq(try_all(&r), VYRE_ERR_LIBRARY_ABSENT);
  ck_assert_ptr_nonnull(strstr(r.error.text, "libnonesuch.so.7"));
}
END_TEST

START_TEST(a_library_that_is_none) {
  rig r;
  rig_setting("library", "libm.so.6");
  ck_assert_int_eq(try_all(&r), VYRE_ERR_BROKEN_PLUGIN);
  ck_assert_ptr_nonnull(strstr(r.error.text, "vkGetInstanceProcAddr"));
}
END_TEST

START_TEST(a_loader_that_is_too_old) { refuses("set api 10", VYRE_ERR_TOO_OLD, "1.0"); }
END_TEST

START_TEST(an_entry_of_the_instance_is_absent) {
  refuses("absent vkEnumeratePhysicalDevices", VYRE_ERR_BROKEN_PLUGIN, "vkEnumeratePhysicalDevices");
}
END_TEST

START_TEST(an_entry_of_devices_is_absent) {
  refuses("absent vkCmdDispatch", VYRE_ERR_BROKEN_PLUGIN, "vkCmdDispatch");
}
END_TEST

START_TEST(no_driver) {
  refuses("fail vkCreateInstance VK_ERROR_INCOMPATIBLE_DRIVER", VYRE_ERR_NO_DEVICE, "VK_ERROR_INCOMPATIBLE_DRIVER");
}
END_TEST

START_TEST(no_device) { refuses("set devices 0", VYRE_ERR_NO_DEVICE, "no driver offers a device"); }
END_TEST

START_TEST(a_driver_that_can_not_start) {
  refuses("fail vkCreateDevice VK_ERROR_INITIALIZATION_FAILED", VYRE_ERR_UNSUPPORTED, "vkCreateDevice");
}
END_TEST

/* Calls that answer what no VkResult means. */
START_TEST(a_number_that_is_no_result) { refuses("fail vkCreateDevice -77", VYRE_ERR_INTERNAL, "-77"); }
END_TEST

/* ---- Every call ------------------------------------------------------------------------------ */

/* The n-th call of |name| answers |code|, for n until all goes well without it. */
static void fail_each(const char *name, const char *code, const char *more) {
  for (uint32_t n = 1;; n++) {
    char script[256];
    rig r;
    snprintf(script, sizeof script, "%s; fail %s %s at %u", more, name, code, n);
    ck_assert_ptr_null(fake.script(script));
    vyre_status status = try_all(&r);
    rig_nothing_lives(&fake);
    if (fake.calls(name) < n) {
      ck_assert_msg(status == VYRE_OK, "`%s`: %s", script, r.error.text);
      return;
    }
    if (status != VYRE_OK)
      ck_assert_msg(strstr(r.error.text, "Fix: ") != NULL && r.error.status == status, "`%s`: %s", script, r.error.text);
    ck_assert_msg(status != VYRE_ERR_BROKEN_PLUGIN, "`%s`", script);
  }
}

static void fail_all(const char *code, const char *more) {
  rig r;
  fake = rig_use_fake(more);
  ck_assert_int_eq(try_all(&r), VYRE_OK);
  for (int i = 0; i < NAMES; i++) fail_each(names[i], code, more);
}

/* Small heaps make small blocks, which the fake fills each time. */
#define SMALL "set memory 4194304; set host 4194304"
static const char small[] = SMALL;

START_TEST(each_call_may_find_no_host_memory) { fail_all("VK_ERROR_OUT_OF_HOST_MEMORY", small); }
END_TEST

START_TEST(each_call_may_find_no_device_memory) { fail_all("VK_ERROR_OUT_OF_DEVICE_MEMORY", small); }
END_TEST

START_TEST(each_call_may_lose_the_device) { fail_all("VK_ERROR_DEVICE_LOST", small); }
END_TEST

START_TEST(each_call_may_fail_on_an_old_device) {
  fail_all("VK_ERROR_OUT_OF_HOST_MEMORY", SMALL "; set api 11; set features none");
}
END_TEST

/* ---- What devices are ------------------------------------------------------------------------ */

START_TEST(a_device_without_features) {
  rig r;
  fake = rig_use_fake("set api 11; set features none");
  ck_assert_int_eq(try_all(&r), VYRE_OK);
  ck_assert_uint_eq(r.caps.needs & (VYRE_NEED_INT64 | VYRE_NEED_FLOAT64 | VYRE_NEED_ATOMIC64 | VYRE_NEED_SUBGROUP), 0);
  ck_assert_uint_eq(r.caps.api_version >> 12 & 0x3FF, 1);
  ck_assert_uint_eq(r.caps.subgroup_size, 1);
  rig_nothing_lives(&fake);
}
END_TEST

/* The fake computes nothing, so that u64 itself is not promised of it. */
START_TEST(features_that_a_setting_takes_away) {
  rig r;
  fake = rig_use_fake("");
  ck_assert_int_eq(try_all(&r), VYRE_OK);
  ck_assert_uint_ne(r.caps.needs & VYRE_NEED_ATOMIC64, 0);
  rig_setting("without", "int64, nonesuch timeline_semaphore");
  ck_assert_int_eq(try_all(&r), VYRE_OK);
  ck_assert_uint_eq(r.caps.needs & (VYRE_NEED_INT64 | VYRE_NEED_ATOMIC64), 0);
  ck_assert(rig_logged("`nonesuch`"));
}
END_TEST

START_TEST(several_devices_are_told_apart) {
  rig r;
  vyre_capabilities caps[3];
  uint32_t count;
  vyre_plugin_device *devices[3];
  fake = rig_use_fake("set devices 3; set memory 4194304");
  rig_open_plugin(&r);
  rig_must(&r, r.ops->device_count(r.plugin, &count, &r.error));
  ck_assert_uint_eq(count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    caps[i].size = sizeof caps[i];
    rig_must(&r, r.ops->device_describe(r.plugin, i, &caps[i], &r.error));
    rig_must(&r, r.ops->device_open(r.plugin, i, &devices[i], &r.error));
    for (uint32_t k = 0; k < i; k++) ck_assert(memcmp(caps[i].uuid, caps[k].uuid, sizeof caps[i].uuid) != 0);
  }
  vyre_plugin_device *none = devices[0];
  ck_assert_int_eq(r.ops->device_open(r.plugin, 3, &none, &r.error), VYRE_ERR_NOT_FOUND);
  ck_assert_ptr_null(none);
  for (uint32_t i = 0; i < 3; i++) r.ops->device_close(devices[i]);
  r.ops->close(r.plugin);
  rig_nothing_lives(&fake);
}
END_TEST

/* Flags are VkMemoryPropertyFlagBits; wanted are VYRE_MEMORY_* of the record, best first. */
static void memory_kinds(const char *script, const uint32_t *wanted, uint32_t count) {
  rig r;
  fake = rig_use_fake(script);
  ck_assert_int_eq(try_all(&r), VYRE_OK);
  ck_assert_uint_eq(r.caps.memory_type_count, count);
  for (uint32_t i = 0; i < count; i++) ck_assert_uint_eq(r.caps.memory_types[i].properties, wanted[i]);
}
enum {
  LOCAL = VYRE_MEMORY_DEVICE_LOCAL,
  READ = VYRE_MEMORY_HOST_READ,
  WRITE = VYRE_MEMORY_HOST_WRITE,
  COHERENT = VYRE_MEMORY_COHERENT
};

/* Its own memory first, then what the host caches; the window into its own comes last. */
START_TEST(memory_of_a_card) {
  const uint32_t wanted[] = { LOCAL, READ | WRITE | COHERENT, WRITE | COHERENT, LOCAL | WRITE | COHERENT };
  memory_kinds("set types \"1 6 14 7\"", wanted, 4);
}
END_TEST

/* Both use the same memory, so that the kind which the host caches is best. */
START_TEST(memory_of_a_processor) {
  const uint32_t wanted[] = { LOCAL | READ | WRITE | COHERENT, LOCAL | WRITE | COHERENT, LOCAL };
  memory_kinds("set kind 4; set types \"1 7 15\"", wanted, 3);
}
END_TEST

/* Uncached memory is read where nothing is better; kinds that look the same are one. */
START_TEST(memory_that_is_not_cached) {
  const uint32_t wanted[] = { LOCAL, READ | WRITE | COHERENT };
  memory_kinds("set types \"1 6 1 6\"", wanted, 2);
}
END_TEST

START_TEST(memory_that_is_not_coherent) {
  const uint32_t wanted[] = { LOCAL, READ | WRITE, WRITE | COHERENT };
  memory_kinds("set types \"1 10 6\"", wanted, 3);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    no_library,
    a_library_that_is_none,
    a_loader_that_is_too_old,
    an_entry_of_the_instance_is_absent,
    an_entry_of_devices_is_absent,
    no_driver,
    no_device,
    a_driver_that_can_not_start,
    a_number_that_is_no_result,
    each_call_may_find_no_host_memory,
    each_call_may_find_no_device_memory,
    each_call_may_lose_the_device,
    each_call_may_fail_on_an_old_device,
    a_device_without_features,
    features_that_a_setting_takes_away,
    several_devices_are_told_apart,
    memory_of_a_card,
    memory_of_a_processor,
    memory_that_is_not_cached,
    memory_that_is_not_coherent,
    NULL,
  };
  return run_suite("vulkan, opening", 300, tests);
}
