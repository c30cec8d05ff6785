/* Faults of the process around the library: it was loaded locally, twice, beside strangers with its names, and the
 * process ends at an awkward moment. test_faults.c has the list. This program links no libvyre; it opens the one of the
 * build as a scripting language does. */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "../suite.h"

/* Objects that live on to the end are what is tried here. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) { return "detect_leaks=0"; }
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void) { return "report_thread_leaks=0"; }

/* ---- The library, opened --------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                                          \
  X(vyre_config_load) X(vyre_config_set) X(vyre_config_destroy) X(vyre_context_create) X(vyre_context_destroy) \
  X(vyre_device_open) X(vyre_device_close) X(vyre_device_name) X(vyre_buffer_create) X(vyre_buffer_destroy)   \
  X(vyre_buffer_write) X(vyre_queue_create) X(vyre_queue_destroy) X(vyre_timeline_create) X(vyre_timeline_wait) \
  X(vyre_text_parse) X(vyre_program_release) X(vyre_run)

typedef struct library {
  void *handle;
#define X(name) __typeof__(name) *name;
  FUNCTIONS(X)
#undef X
} library;

static const char *environment(const char *name) {
  const char *value = getenv(name);
  ck_assert_msg(value != NULL, "%s is not set; run `make check`", name);
  return value;
}

static const char *built(const char *directory, const char *file) {
  static char paths[4][4096];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s%s/%s", environment("top_builddir"), directory, environment("objdir"), file);
  return path;
}

static void load(library *l, const char *path, int flags) {
  l->handle = dlopen(path, RTLD_NOW | flags);
  ck_assert_msg(l->handle != NULL, "%s", dlerror());
#define X(name)                                                                       \
  void *name##_at = dlsym(l->handle, #name);                                          \
  ck_assert_msg(name##_at != NULL, #name);                                            \
  memcpy(&l->name, &name##_at, sizeof name##_at);
  FUNCTIONS(X)
#undef X
}

static void load_built(library *l) { load(l, built("", "libvyre.so"), RTLD_LOCAL); }

/* The settings of nobody: neither files nor variables but the plugins' directory. */
static vyre_config *settings(const library *l, const char *path) {
  vyre_config_options options = { .size = sizeof options, .no_file = true, .no_environment = true };
  vyre_config *config;
  ck_assert_int_eq(l->vyre_config_load(&options, &config, NULL), VYRE_OK);
  ck_assert_int_eq(l->vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, path, "test", NULL), VYRE_OK);
  return config;
}

/* Runs a program that the library parses, and wants these results. */
static void run(const library *l, vyre_device *device, float wanted_first) {
  static const char text[] = "program p workgroup(64) { param a: f32; read x: f32[]; rw y: f32[];\n"
                             "  let i = gid.x; if (i < len(y)) { y[i] = fma(a, x[i], y[i]); } }";
  float x[3] = { 1, 2, 3 }, y[3] = { 10, 20, 30 };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  ck_assert_msg(l->vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) == VYRE_OK, "%s", error.text);
  vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_in("x", x, 3), vyre_arg_inout("y", y, 3) };
  ck_assert_msg(l->vyre_run(device, program, args, 3, NULL, &error) == VYRE_OK, "%s", error.text);
  ck_assert_float_eq(y[0], wanted_first);
  ck_assert_float_eq(y[2] - y[0], wanted_first == 12 ? 24 : 20);
  l->vyre_program_release(program);
}

static void run_oracle(const library *l) {
  vyre_config *config = settings(l, environment("VYRE_TEST_BACKENDS"));
  vyre_context *context;
  vyre_device *device;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(l->vyre_context_create(config, NULL, &context, NULL), VYRE_OK);
  ck_assert_msg(l->vyre_device_open(context, "cpu_ref", &device, &error) == VYRE_OK, "%s", error.text);
  run(l, device, 12);
  ck_assert_int_eq(l->vyre_device_close(device, VYRE_FOREVER, NULL), VYRE_OK);
  l->vyre_context_destroy(context);
  l->vyre_config_destroy(config);
}

static void copy(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  ck_assert_msg(in != NULL && out != NULL, "%s, %s", from, to);
  char block[65536];
  for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;) ck_assert_uint_eq(fwrite(block, 1, got, out), got);
  fclose(in);
  ck_assert_int_eq(fclose(out), 0);
}

static char root[256];

static const char *place(void) {
  snprintf(root, sizeof root, "%s/vyre-test-XXXXXX", P_tmpdir);
  ck_assert_ptr_nonnull(mkdtemp(root));
  return root;
}

static const char *below(const char *name) {
  static char paths[4][512];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", root, name);
  return path;
}

/* ---- 3, 5 ------------------------------------------------------------------------------------ */

START_TEST(without_settings_the_oracle_runs) {
  setenv("HOME", place(), 1);
  unsetenv("XDG_CONFIG_HOME");
  library l;
  load_built(&l);
  vyre_context *context;
  vyre_device *device;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(l.vyre_context_create(NULL, NULL, &context, &error) == VYRE_OK, "%s", error.text);
  ck_assert_msg(l.vyre_device_open(context, NULL, &device, &error) == VYRE_OK, "%s", error.text);
  run(&l, device, 12);
  ck_assert_int_eq(l.vyre_device_close(device, VYRE_FOREVER, NULL), VYRE_OK);
  l.vyre_context_destroy(context);
  rmdir(root);
}
END_TEST

START_TEST(a_library_that_was_loaded_locally) {
  place();
  copy(built("tests/backend/", "fake.so"), below("vyre_backend_sound.so"));
  library l;
  load_built(&l);
  ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "vyre_device_open")); /* nobody sees its names */
  run_oracle(&l);
  vyre_config *config = settings(&l, root);
  vyre_context *context;
  vyre_device *device;
  ck_assert_int_eq(l.vyre_context_create(config, NULL, &context, NULL), VYRE_OK);
  ck_assert_int_eq(l.vyre_device_open(context, "sound", &device, NULL), VYRE_OK);
  ck_assert_str_eq(l.vyre_device_name(device), "sound:0");
  ck_assert_int_eq(l.vyre_device_close(device, VYRE_FOREVER, NULL), VYRE_OK);
  l.vyre_context_destroy(context);
  l.vyre_config_destroy(config);
  remove(below("vyre_backend_sound.so"));
  rmdir(root);
}
END_TEST

/* ---- 9, 19 ----------------------------------------------------------------------------------- */

START_TEST(two_libraries_at_once) {
  place();
  copy(built("", "libvyre.so"), below("libvyre.so"));
  library first, second;
  load(&first, built("", "libvyre.so"), RTLD_GLOBAL); /* the second one must not be bound to it */
  load(&second, below("libvyre.so"), RTLD_LOCAL);
  ck_assert(first.vyre_run != second.vyre_run);
  for (int i = 0; i < 3; i++) {
    run_oracle(&first);
    run_oracle(&second);
  }
  remove(below("libvyre.so"));
  rmdir(root);
}
END_TEST

START_TEST(clashing_symbols) {
  void *stranger = dlopen(built("tests/backend/", "clash.so"), RTLD_NOW | RTLD_GLOBAL);
  ck_assert_msg(stranger != NULL, "%s", dlerror());
  ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "vyre_compile"), dlsym(stranger, "vyre_compile"));
  library l;
  load_built(&l);
  run_oracle(&l);
}
END_TEST

/* ---- 23 -------------------------------------------------------------------------------------- */

enum { RIGHT = 7 };

/* A context, a device, a buffer with bytes, a queue and a timeline, all alive. */
typedef struct living {
  library l;
  vyre_context *context;
  vyre_device *device;
  vyre_buffer *buffer;
  vyre_queue *queue;
  vyre_timeline *timeline;
} living;

static living live;

static void make_live(void) {
  load_built(&live.l);
  vyre_config *config = settings(&live.l, environment("VYRE_TEST_BACKENDS"));
  bool is_made = live.l.vyre_context_create(config, NULL, &live.context, NULL) == VYRE_OK &&
                 live.l.vyre_device_open(live.context, "cpu_ref", &live.device, NULL) == VYRE_OK &&
                 live.l.vyre_buffer_create(live.device, 64, 0, &live.buffer, NULL) == VYRE_OK &&
                 live.l.vyre_buffer_write(live.buffer, 0, "abcd", 4, NULL) == VYRE_OK &&
                 live.l.vyre_queue_create(live.device, &live.queue, NULL) == VYRE_OK &&
                 live.l.vyre_timeline_create(live.device, 0, &live.timeline, NULL) == VYRE_OK;
  if (!is_made) _exit(1);
  run(&live.l, live.device, 12);
}

static void exit_plainly(void) { exit(RIGHT); }

static void *wait_forever(void *ctx) {
  (void)ctx;
  live.l.vyre_timeline_wait(live.timeline, 1, VYRE_FOREVER, NULL);
  _exit(2); /* nobody signals it */
}

static void exit_while_a_thread_waits(void) {
  pthread_t id;
  if (pthread_create(&id, NULL, wait_forever, NULL) != 0) _exit(1);
  exit(RIGHT);
}

static void *call_exit(void *ctx) {
  (void)ctx;
  exit(RIGHT);
}

static void exit_from_a_thread(void) {
  pthread_t id;
  if (pthread_create(&id, NULL, call_exit, NULL) != 0) _exit(1);
  wait_forever(NULL);
}

static void end_live(void) {
  live.l.vyre_buffer_destroy(live.buffer);
  live.l.vyre_queue_destroy(live.queue);
  run(&live.l, live.device, 12);
  if (live.l.vyre_device_close(live.device, VYRE_FOREVER, NULL) != VYRE_OK) _exit(1);
  live.l.vyre_context_destroy(live.context);
}

static void use_it_in_atexit(void) {
  if (atexit(end_live) != 0) _exit(1);
  exit(RIGHT);
}

static void close_the_library_first(void) {
  dlclose(live.l.handle);
  pid_t child = fork(); /* nothing of it is called when the process forks, either */
  int status;
  if (child == 0) exit(RIGHT);
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) _exit(1);
  exit(WEXITSTATUS(status));
}

START_TEST(exits) {
  static void (*const ways[])(void) = { exit_plainly, exit_while_a_thread_waits, exit_from_a_thread, use_it_in_atexit,
                                        close_the_library_first };
  pid_t child = fork();
  if (child == 0) {
    alarm(50);
    make_live();
    ways[_i]();
    _exit(1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == RIGHT, "way %d ended with 0x%x", _i, status);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("faults of the host");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 60);
  suite_add_tcase(suite, all);
  tcase_add_test(all, without_settings_the_oracle_runs);
  tcase_add_test(all, a_library_that_was_loaded_locally);
  tcase_add_test(all, two_libraries_at_once);
  tcase_add_test(all, clashing_symbols);
  tcase_add_loop_test(all, exits, 0, 5);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
