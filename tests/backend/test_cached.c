/* What libvyre and its plugins keep in the disk cache: keys that tell apart what differs, and executables. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "backend/objects.h"
#include "device_for.h"
#include "places.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

static const vyre_host *fake_host(vyre_context *context, const char *name) {
  vyre_plugin_file *file;
  ck_assert_int_eq(vyre_backend_use(context, name, &file, NULL), VYRE_OK);
  return &file->host;
}

static bool same(const vyre_cache_id *a, const vyre_cache_id *b) { return memcmp(a->key, b->key, sizeof a->key) == 0; }

START_TEST(each_part_of_a_key_counts) {
  const vyre_backend_desc plugin = { .name = "fake", .version = "1.0", .build_id = "build" };
  vyre_capabilities target = { .profile = "fake:1", .driver = "driver 1", .name = "Device" };
  uint8_t kernel[] = "kernel";
  vyre_spec_constant spec = { 1, 2, 3 };
  vyre_compile_request request = { .kernel = kernel, .kernel_bytes = sizeof kernel, .spec = &spec, .spec_count = 1 };
  vyre_cache_id first, other;
  vyre_cache_id_of_executable(&plugin, &target, &request, &first);
  vyre_cache_id_of_executable(&plugin, &target, &request, &other);
  ck_assert(same(&first, &other) && memcmp(first.owner, other.owner, sizeof first.owner) == 0);
#define COUNTS(change, undo)                                      \
  do {                                                            \
    change;                                                       \
    vyre_cache_id_of_executable(&plugin_, &target, &request, &other); \
    ck_assert_msg(!same(&first, &other), #change);                \
    undo;                                                         \
  } while (0)
  vyre_backend_desc plugin_ = plugin;
  COUNTS(plugin_.name = "fak", plugin_ = plugin);
  COUNTS(plugin_.version = "1.1", plugin_ = plugin);
  COUNTS(plugin_.build_id = "build 2", plugin_ = plugin);
  const vyre_capabilities target_ = target;
  COUNTS(target.profile[5] = '2', target = target_);
  COUNTS(target.driver[7] = '2', target = target_);
  COUNTS(target.driver_version++, target = target_);
  COUNTS(target.api_version++, target = target_);
  COUNTS(target.needs++, target = target_);
  COUNTS(target.numeric++, target = target_);
  COUNTS(target.subgroup_sizes++, target = target_);
  COUNTS(target.subgroup_size++, target = target_);
  COUNTS(target.max_workgroup_invocations++, target = target_);
  COUNTS(target.max_workgroup[2]++, target = target_);
  COUNTS(target.max_shared_bytes++, target = target_);
  COUNTS(target.max_bindings++, target = target_);
  COUNTS(target.max_param_bytes++, target = target_);
  COUNTS(target.can++, target = target_);
  COUNTS(target.vendor[7]++, target = target_);
  const vyre_compile_request request_ = request;
  COUNTS(request.fingerprint[31]++, request = request_);
  COUNTS(kernel[0]++, kernel[0]--);
  COUNTS(request.kernel_bytes--, request = request_);
  COUNTS(request.flags++, request = request_);
  COUNTS(request.flags ^= VYRE_COMPILE_ULP, request = request_); /* a budget of 0 is not none */
  COUNTS(request.ulp_budget++, request = request_);
  COUNTS(request.subgroup_size++, request = request_);
  COUNTS(request.steps++, request = request_);
  COUNTS(request.spec_count = 0, request = request_);
  COUNTS(spec.id++, spec.id--);
  COUNTS(spec.type++, spec.type--);
  COUNTS(spec.bits++, spec.bits--);
#undef COUNTS
  target.uuid[0]++; /* two devices of one kind share what was compiled */
  target.memory_heaps[0].bytes++;
  vyre_cache_id_of_executable(&plugin, &target, &request, &other);
  ck_assert(same(&first, &other));
}
END_TEST

START_TEST(plugins_reach_it_and_not_each_other) {
  const char *root = place();
  copy_fake(below("vyre_backend_alpha.so"));
  copy_fake(below("vyre_backend_beta.so"));
  vyre_config *config = config_for(root);
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_CACHE_DIRECTORY, below("cache"), NULL, NULL), VYRE_OK);
  vyre_context *context = context_for(config);
  ck_assert_int_eq(vyre_backends_load(context, NULL), VYRE_OK);
  const vyre_host *alpha = fake_host(context, "alpha"), *beta = fake_host(context, "beta");
  vyre_bytes out;
  ck_assert_int_eq(alpha->cache_get(alpha->ctx, "key", 3, &out), VYRE_ERR_NOT_FOUND);
  ck_assert(out.data == NULL && out.length == 0);
  ck_assert_int_eq(alpha->cache_put(alpha->ctx, "key", 3, "value", 5), VYRE_OK);
  ck_assert_int_eq(alpha->cache_get(alpha->ctx, "key", 3, &out), VYRE_OK);
  ck_assert(out.length == 5 && memcmp(out.data, "value", 5) == 0 && (uintptr_t)out.data % 16 == 0);
  alpha->free(alpha->ctx, out.data, out.length);
  ck_assert_int_eq(alpha->cache_get(alpha->ctx, "key", 2, &out), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(beta->cache_get(beta->ctx, "key", 3, &out), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(alpha->cache_put(alpha->ctx, NULL, 0, NULL, 0), VYRE_OK);
  ck_assert_int_eq(alpha->cache_get(alpha->ctx, NULL, 0, &out), VYRE_OK);
  ck_assert_uint_eq(out.length, 0);
  alpha->free(alpha->ctx, out.data, out.length);
  vyre_context_destroy(context);
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

/* ---- Executables ----------------------------------------------------------------------------- */

typedef struct compiler {
  vyre_config *config;
  vyre_context *context;
  vyre_device *device;
} compiler;

/* A device of the fake plugin, with a context of its own each time. */
static compiler open_compiler(const char *fault) {
  compiler c = { .config = config_for(below(".")) };
  ck_assert_int_eq(vyre_config_set(c.config, VYRE_CONFIG_CACHE_DIRECTORY, below("cache"), NULL, NULL), VYRE_OK);
  c.context = context_for(c.config);
  ck_assert_int_eq(vyre_device_open(c.context, fault, &c.device, NULL), VYRE_OK);
  return c;
}

static uint64_t compilations(const compiler *c) {
  uint64_t count = 0;
  ck_assert_int_eq(vyre_device_native(c->device, 2, &count, NULL), VYRE_OK);
  return count;
}

/* Compiles in a new context, and says how often the plugin had to. */
static uint64_t compile_anew(const char *fault, const vyre_compile_options *options, vyre_status wanted) {
  compiler c = open_compiler(fault);
  uint64_t before = compilations(&c);
  vyre_program *program = program_of(SAXPY);
  vyre_executable *executable;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_compile(c.device, program, options, &executable, &error);
  ck_assert_msg(status == wanted, "%s", error.text);
  uint64_t count = compilations(&c) - before;
  vyre_executable_destroy(executable);
  vyre_program_release(program);
  ck_assert_int_eq(vyre_device_close(c.device, VYRE_FOREVER, NULL), VYRE_OK);
  vyre_context_destroy(c.context);
  vyre_config_destroy(c.config);
  return count;
}

static unsigned entries(void) {
  uint64_t total;
  return access(below("cache"), F_OK) == 0 ? count_files(below("cache"), "", ".bin", &total) : 0;
}

static void remark(void *ctx, vyre_log_level severity, uint32_t code, uint32_t statement, const char *text) {
  (void)severity, (void)code, (void)statement, (void)text;
  ++*(int *)ctx;
}

START_TEST(machine_code_is_compiled_once) {
  place();
  copy_fake(below("vyre_backend_finalizes.so"));
  ck_assert_uint_eq(compile_anew("finalizes", NULL, VYRE_OK), 1);
  ck_assert_uint_eq(entries(), 1);
  ck_assert_uint_eq(compile_anew("finalizes", NULL, VYRE_OK), 0);
  vyre_compile_options other = VYRE_COMPILE_OPTIONS_INIT;
  other.steps = 1000;
  ck_assert_uint_eq(compile_anew("finalizes", &other, VYRE_OK), 1);
  ck_assert_uint_eq(compile_anew("finalizes", &other, VYRE_OK), 0);
  ck_assert_uint_eq(entries(), 2);
  int remarks = 0;
  other.remark = remark;
  other.remark_ctx = &remarks;
  ck_assert_uint_eq(compile_anew("finalizes", &other, VYRE_OK), 1); /* who asks for remarks gets them */
  ck_assert_int_eq(remarks, 1);
  remove_place();
}
END_TEST

START_TEST(only_machine_code_is_kept) {
  place();
  copy_fake(below("vyre_backend_sound.so"));
  copy_fake(below("vyre_backend_finalfails.so"));
  ck_assert_uint_eq(compile_anew("sound", NULL, VYRE_OK), 1);
  ck_assert_uint_eq(compile_anew("sound", NULL, VYRE_OK), 1);
  ck_assert_uint_eq(compile_anew("finalfails", NULL, VYRE_ERR_IO), 1);
  ck_assert_uint_eq(compile_anew("finalfails", NULL, VYRE_ERR_IO), 1);
  ck_assert_uint_eq(entries(), 0);
  copy_fake(below("vyre_backend_halffinal.so")); /* it does not finalize for this device */
  ck_assert_uint_eq(compile_anew("halffinal", NULL, VYRE_OK), 1);
  remove_place();
}
END_TEST

START_TEST(machine_code_that_does_not_load_is_made_again) {
  place();
  copy_fake(below("vyre_backend_finalizes.so"));
  ck_assert_uint_eq(compile_anew("finalizes", NULL, VYRE_OK), 1);
  DIR *stream = opendir(below("cache"));
  char path[512] = "";
  for (struct dirent *e; (e = readdir(stream)) != NULL;)
    if (e->d_name[0] != '.') snprintf(path, sizeof path, "%s", below("cache/%s", e->d_name));
  closedir(stream);
  /* An entry that is sound in itself, with data that the plugin refuses. */
  size_t bytes;
  unsigned char *frame = read_file(path, &bytes);
  uint8_t head[VYRE_CACHE_HEAD_BYTES], foot[VYRE_CACHE_FOOT_BYTES];
  vyre_cache_id id;
  memcpy(id.key, frame + 6, sizeof id.key);
  memcpy(id.owner, frame + 38, sizeof id.owner);
  memset(frame + VYRE_CACHE_HEAD_BYTES, '?', 6);
  uint64_t data_bytes = bytes - VYRE_CACHE_HEAD_BYTES - VYRE_CACHE_FOOT_BYTES;
  vyre_cache_frame_wrap(&id, frame + VYRE_CACHE_HEAD_BYTES, data_bytes, head, foot);
  memcpy(frame + bytes - sizeof foot, foot, sizeof foot);
  write_file(path, frame, bytes);
  free(frame);
  ck_assert_uint_eq(compile_anew("finalizes", NULL, VYRE_OK), 1);
  ck_assert_uint_eq(compile_anew("finalizes", NULL, VYRE_OK), 0); /* the sound one took its place */
  remove_place();
}
END_TEST

int main(void) {
  const TTest *const tests[] = { each_part_of_a_key_counts,
                                 plugins_reach_it_and_not_each_other,
                                 machine_code_is_compiled_once,
                                 only_machine_code_is_kept,
                                 machine_code_that_does_not_load_is_made_again,
                                 NULL };
  return run_suite("cached", 120, tests);
}
