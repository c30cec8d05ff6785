/* Faults that plugin loaders of other projects really had, and where each is tested here. Those of the loader itself
 * that no other test covers are in this file; HOST is test_faults_host.c, SHELL is test_outside.sh.
 *
 *  no  the fault elsewhere                                  here
 *   1  similar files were opened and frightened users       stray_objects_are_left_alone
 *   2  the linker's reason was lost                         the_linkers_reason_is_told
 *   3  nothing was loaded without a call to do so           HOST without_settings_the_oracle_runs
 *   4  no way to build a backend outside the tree           SHELL, by the public headers alone
 *   5  plugins needed symbols of a host not in view         HOST a_library_that_was_loaded_locally
 *   6  illegal instructions before a plugin could say no    test_loader "cpu"; house/plugin_shape.sh (no constructors)
 *   7  what was not chosen was started all the same         test_loader disabled_plugins_are_never_opened
 *   8  one device under two names, four under one           equal_identities_are_told_apart
 *   9  stale plugins, two copies of the library             a_stale_plugin_beside_a_good_one;
 *                                                           HOST two_libraries_at_once
 *  10  one backend that failed made the list fail           a_list_with_one_good_row
 *  11  too many file accesses                               files_are_opened_few_times
 *  12  two plugins of one name                              test_loader the_higher_version_wins and the next two
 *  13  a probe started processes and threads                looking_starts_nothing (contexts are for GPU plugins)
 *  14  use after fork                                       test_loader a_child_process_gets_an_error, test_objects
 *                                                           every_object_answers_forked_in_a_child
 *  15  reload, half-made objects, truncated files, slots    every_step_of_starting_may_fail; test_loader
 *                                                           truncated_files, a_context_can_be_made_again,
 *                                                           every_fault_has_its_row (each slot)
 *  16  plugins without devices spoiled the rest             a_plugin_without_devices_between_others,
 *                                                           every_allocation_of_a_list_may_fail
 *  17  a log was called after it was taken away             a_log_that_is_taken_away; base/test_log
 *  18  deep binding defeated malloc and sanitizers          plugins_use_the_programs_malloc; the sanitizer builds
 *  19  clashing symbols of two libraries                    HOST clashing_symbols
 *  20  linked to the vendor's library, or found a stub      house/needed.sh; stubs: fake/test_fake_cuda.c
 *  21  caches that aborted, raced, could not be written     test_cache, all of it
 *  22  enumeration from within enumeration                  test_loader a_plugin_that_calls_back_gets_an_error
 *  23  hangs and crashes at exit                            HOST exits
 *  24  a lost device woke nobody                            test_objects loss_wakes_everyone_and_stays
 *  25  privilege was claimed wrongly, a variable forgotten  house/environment.sh; privileged_processes_ignore_variables
 *  26  io_uring forbidden in a container                    not here: nothing uses io_uring
 *  27  no real unloading on musl                            a_library_stays_loaded
 *  28  untrue answers about support                         test_bindings capabilities_that_are_absent
 *  29  a plugin needed a sibling                            SHELL, a plugin that borrows its entry; house/install.sh
 *  30  older installation, bad directories, strict owners   a_stale_plugin_beside_a_good_one; test_loader
 *                                                           bad_places_do_not_spoil_the_search; any_owner_will_do
 *
 * Plugins that crash, hang or exit as they are opened, asked or probed: SHELL, each by its verdict. There are no
 * manifests, so none is empty or without its file; one that lies about is a stray file (1). */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "backend/objects.h"
#include "places.h"

#define PLUGIN(name) below("vyre_backend_%s.so", name)

/* ---- A context whose messages are kept ------------------------------------------------------- */

typedef struct bench {
  vyre_config *config;
  vyre_log *log;
  vyre_context *context;
  pthread_mutex_t lock;
  char told[16384];
} bench;

static void keep(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  bench *b = ctx;
  pthread_mutex_lock(&b->lock);
  size_t used = strlen(b->told);
  snprintf(b->told + used, sizeof b->told - used, "%s|%s|%s\n", vyre_log_level_name(level), subsystem, text);
  pthread_mutex_unlock(&b->lock);
}

static void start(bench *b, const char *path) {
  *b = (bench){ .lock = PTHREAD_MUTEX_INITIALIZER, .config = config_for(path) };
  ck_assert_int_eq(vyre_log_create(&b->log), VYRE_OK);
  ck_assert_int_eq(vyre_log_set(b->log, VYRE_LOG_DEBUG, keep, b), VYRE_OK);
  ck_assert_int_eq(vyre_context_create(b->config, b->log, &b->context, NULL), VYRE_OK);
}

static void load(bench *b, const char *path) {
  start(b, path);
  ck_assert_int_eq(vyre_backends_load(b->context, NULL), VYRE_OK);
}

static void end(bench *b) {
  vyre_context_destroy(b->context);
  vyre_log_destroy(b->log);
  vyre_config_destroy(b->config);
  remove_place();
}

static unsigned count_lines(const char *text, const char *with) {
  unsigned count = 0;
  for (const char *line = text; *line != 0;) {
    const char *line_end = strchr(line, '\n'), *found = strstr(line, with);
    count += found != NULL && found < line_end;
    line = line_end + 1;
  }
  return count;
}

/* ---- 1, 2 ------------------------------------------------------------------------------------ */

START_TEST(stray_objects_are_left_alone) {
  static const char *const strays[] = { "vyre_backend-base.so", "vyre_backend_sound.so.0", "vyre_backend_Sound.so",
                                        "libvyre_backend_sound.so", "sound.so", "vyre_backend_sound.vbm" };
  const char *root = place();
  for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) copy_fake(below("%s", strays[i]));
  copy_fake(PLUGIN("sound"));
  bench b;
  load(&b, root);
  for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
    ck_assert_msg(!is_mapped(below("%s", strays[i])), "%s", strays[i]);
    char line[64];
    snprintf(line, sizeof line, "/%s is left alone", strays[i]);
    ck_assert_uint_eq(count_lines(b.told, line), strncmp(strays[i], "vyre_backend", 12) == 0);
  }
  ck_assert_msg(strstr(b.told, "warning|") == NULL && strstr(b.told, "error|") == NULL, "%s", b.told);
  ck_assert_int_eq(row_of(b.context, PLUGIN("sound")).verdict, VYRE_VERDICT_USABLE);
  end(&b);
}
END_TEST

START_TEST(the_linkers_reason_is_told) {
  const char *root = place();
  size_t bytes;
  unsigned char *fake = read_fake(&bytes);
  for (size_t i = 0; i + 8 <= bytes; i++) /* a function that it takes from libc gets a name that libc lacks */
    if (memcmp(fake + i, "\0dladdr", 8) == 0) fake[i + 6] = 'q';
  write_file(PLUGIN("undefined"), fake, bytes);
  free(fake);
  bench b;
  load(&b, root);
  vyre_backend_info info = row_of(b.context, PLUGIN("undefined"));
  ck_assert_int_eq(info.verdict, VYRE_VERDICT_REFUSED);
  ck_assert_msg(strstr(info.reason, "dladdq") != NULL && strstr(info.reason, "-z,defs") != NULL, "%s", info.reason);
  ck_assert_msg(strstr(info.reason, PLUGIN("undefined")) != NULL, "%s", info.reason);
  ck_assert_uint_eq(count_lines(b.told, "warning|"), 1);
  ck_assert_msg(strstr(b.told, "dladdq") != NULL, "%s", b.told);
  end(&b);
}
END_TEST

/* ---- 8 --------------------------------------------------------------------------------------- */

static void opens_as(bench *b, const char *name, const char *real_name, const char *device_name) {
  vyre_device *device = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_device_open(b->context, name, &device, &error) == VYRE_OK, "%s", error.text);
  ck_assert_str_eq(vyre_device_name(device), real_name);
  ck_assert_str_eq(vyre_device_capabilities(device)->name, device_name);
  ck_assert_int_eq(vyre_device_close(device, VYRE_FOREVER, NULL), VYRE_OK);
}

START_TEST(equal_identities_are_told_apart) {
  place();
  make_directory(below("uuids"));
  make_directory(below("sameuuid"));
  copy_fake(below("uuids/vyre_backend_alpha.so"));
  copy_fake(below("uuids/vyre_backend_beta.so"));
  copy_fake(below("sameuuid/vyre_backend_gamma.so"));
  char path[1024];
  snprintf(path, sizeof path, "%s:%s", below("uuids"), below("sameuuid"));
  bench b;
  load(&b, path);
  /* The same hardware through two backends: both offer it, each under its own name. */
  opens_as(&b, "alpha:a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0", "alpha:a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0", "Fake device 0");
  opens_as(&b, "beta:a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", "beta:a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", "Fake device 1");
  /* Two devices of one backend that give the same identity, parts of one say: neither is lost, and the name that a
   * device has leads back to it. */
  ck_assert_uint_eq(row_of(b.context, below("sameuuid/vyre_backend_gamma.so")).device_count, 2);
  opens_as(&b, "gamma:0", "gamma:0", "Fake device 0");
  opens_as(&b, "gamma:1", "gamma:1", "Fake device 1");
  end(&b);
}
END_TEST

/* ---- 9, 10, 30 ------------------------------------------------------------------------------- */

START_TEST(a_stale_plugin_beside_a_good_one) {
  static const char *const stale[] = { "oldermajor", "fingerprint", "sanitizer", "misnamed" };
  for (size_t i = 0; i < sizeof stale / sizeof *stale; i++) {
    place();
    make_directory(below("%s", stale[i]));
    make_directory(below("1.0"));
    copy_fake(below("%s/vyre_backend_alpha.so", stale[i]));
    copy_fake(below("1.0/vyre_backend_alpha.so"));
    char path[1024];
    snprintf(path, sizeof path, "%s:%s", below("%s", stale[i]), below("1.0")); /* the former installation first */
    bench b;
    load(&b, path);
    vyre_backend_info old = row_of(b.context, below("%s/vyre_backend_alpha.so", stale[i]));
    ck_assert_int_eq(old.verdict, VYRE_VERDICT_REFUSED);
    ck_assert_msg(strstr(old.reason, "Fix: ") != NULL, "%s", old.reason);
    ck_assert_int_eq(row_of(b.context, below("1.0/vyre_backend_alpha.so")).verdict, VYRE_VERDICT_USABLE);
    opens_as(&b, "alpha", "alpha:0", "Fake device 0");
    end(&b);
  }
}
END_TEST

START_TEST(a_list_with_one_good_row) {
  static const char *const bad[] = {"absent", "tooold", "noaccess", "openfails", "nodevices", "wrongmagic", "shrinks"};
  const char *root = place();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) copy_fake(PLUGIN(bad[i]));
  copy_fake(PLUGIN("good"));
  bench b;
  load(&b, root);
  vyre_backend_info info;
  unsigned usable = 0, rows = 0;
  for (; vyre_backend_describe(b.context, rows, &info); rows++) {
    usable += info.verdict == VYRE_VERDICT_USABLE;
    ck_assert_msg((info.verdict == VYRE_VERDICT_USABLE) == (info.reason[0] == 0), "%s: %s", info.name, info.reason);
  }
  ck_assert_uint_eq(rows, sizeof bad / sizeof *bad + 1);
  ck_assert_uint_eq(usable, 1);
  opens_as(&b, "auto", "good:0", "Fake device 0");
  end(&b);
}
END_TEST

START_TEST(any_owner_will_do) {
  if (geteuid() != 0) return; /* only root can give files away */
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  ck_assert_int_eq(chown(PLUGIN("sound"), 65534, 65534), 0);
  ck_assert_int_eq(chmod(PLUGIN("sound"), 0777), 0);
  bench b;
  load(&b, root);
  ck_assert_int_eq(row_of(b.context, PLUGIN("sound")).verdict, VYRE_VERDICT_USABLE);
  end(&b);
}
END_TEST

/* ---- 11 -------------------------------------------------------------------------------------- */

/* How often a file or directory was opened since the last call, by anyone. Opens and closes are watched, so that the
 * kernel does not melt two opens into one. */
static unsigned opened(int watcher, const char *name) {
  _Alignas(struct inotify_event) char buffer[65536];
  unsigned count = 0;
  for (ssize_t got; (got = read(watcher, buffer, sizeof buffer)) > 0;)
    for (char *at = buffer; at < buffer + got;) {
      const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
      const char *what = e->len > 0 ? e->name : "";
      count += (e->mask & IN_OPEN) != 0 && strcmp(what, name) == 0;
      at += sizeof *e + e->len;
    }
  return count;
}

START_TEST(files_are_opened_few_times) {
  const char *root = place();
  char name[32];
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "p%d", i);
    copy_fake(PLUGIN(name));
  }
  bench b;
  start(&b, root);
  int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ck_assert_int_ge(watcher, 0);
  ck_assert_int_ge(inotify_add_watch(watcher, root, IN_OPEN | IN_CLOSE), 0);
  vyre_device *device;
  ck_assert_int_eq(vyre_device_open(b.context, "p7", &device, NULL), VYRE_OK);
  ck_assert_uint_le(opened(watcher, "vyre_backend_p7.so"), 3); /* a look at its headers, and the linker */
  vyre_device_close(device, VYRE_FOREVER, NULL);
  ck_assert_int_eq(vyre_device_open(b.context, "p7", &device, NULL), VYRE_OK);
  vyre_device_close(device, VYRE_FOREVER, NULL);
  ck_assert_int_eq(vyre_device_open(b.context, "nonesuch", &device, NULL), VYRE_ERR_NOT_FOUND);
  ck_assert_uint_eq(opened(watcher, "vyre_backend_p7.so") + opened(watcher, ""), 0);
  ck_assert_int_eq(vyre_backends_load(b.context, NULL), VYRE_OK);
  ck_assert_uint_eq(opened(watcher, ""), 0); /* the directory was read once, at first */
  close(watcher);
  end(&b);
}
END_TEST

START_TEST(a_directory_is_read_once) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  bench b;
  start(&b, root);
  int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ck_assert_int_ge(watcher, 0);
  ck_assert_int_ge(inotify_add_watch(watcher, root, IN_OPEN | IN_CLOSE), 0);
  for (int i = 0; i < 5; i++) ck_assert_int_eq(vyre_backends_load(b.context, NULL), VYRE_OK);
  ck_assert_uint_eq(opened(watcher, ""), 1);
  close(watcher);
  end(&b);
}
END_TEST

/* ---- 13, 27 ---------------------------------------------------------------------------------- */

static unsigned threads(void) {
  DIR *stream = opendir("/proc/self/task");
  unsigned count = 0;
  for (struct dirent *e; (e = readdir(stream)) != NULL;) count += e->d_name[0] != '.';
  closedir(stream);
  return count;
}

START_TEST(looking_starts_nothing) {
  const char *oracle = getenv("VYRE_TEST_BACKENDS"), *root = place();
  ck_assert_msg(oracle != NULL, "VYRE_TEST_BACKENDS is not set; run `make check`");
  copy_fake(PLUGIN("sound"));
  char path[8192];
  snprintf(path, sizeof path, "%s:%s", root, oracle);
  unsigned before = threads();
  bench b;
  load(&b, path);
  ck_assert_int_eq(row_of(b.context, PLUGIN("sound")).verdict, VYRE_VERDICT_USABLE);
  ck_assert_uint_eq(threads(), before);
  ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
  end(&b);
}
END_TEST

START_TEST(a_library_stays_loaded) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  copy_fake(PLUGIN("wrongmagic"));
  bench b;
  load(&b, root);
  vyre_context_destroy(b.context);
  ck_assert(is_mapped(PLUGIN("sound")) && is_mapped(PLUGIN("wrongmagic")));
  ck_assert_int_eq(vyre_context_create(b.config, b.log, &b.context, NULL), VYRE_OK);
  opens_as(&b, "sound", "sound:0", "Fake device 0");
  end(&b);
}
END_TEST

/* ---- 15, 16 ---------------------------------------------------------------------------------- */

START_TEST(every_step_of_starting_may_fail) {
  static const char *const steps[] = {"declines",  "absent",  "openfails", "opennull",
                                      "nodevices", "shrinks", "badrecord"};
  const char *root = place();
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) copy_fake(PLUGIN(steps[i]));
  bench b;
  start(&b, root);
  for (int again = 0; again < 3; again++) { /* what failed is kept, and fails no other way later */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
      vyre_device *device = (vyre_device *)(void *)&b;
      ck_assert_int_ne(vyre_device_open(b.context, steps[i], &device, NULL), VYRE_OK);
      ck_assert_ptr_null(device);
      vyre_plugin_file *file;
      ck_assert_int_ne(vyre_backend_use(b.context, steps[i], &file, NULL), VYRE_OK);
      ck_assert_ptr_null(file);
    }
    vyre_context_destroy(b.context);
    ck_assert_int_eq(vyre_context_create(b.config, b.log, &b.context, NULL), VYRE_OK);
  }
  end(&b);
}
END_TEST

START_TEST(a_plugin_without_devices_between_others) {
  const char *root = place();
  copy_fake(PLUGIN("alpha"));
  copy_fake(PLUGIN("nodevices"));
  copy_fake(PLUGIN("omega"));
  bench b;
  load(&b, root);
  vyre_capabilities caps;
  for (uint32_t row = 0; row < 3; row++)
    ck_assert_int_eq(vyre_backend_device(b.context, row, 0, &caps, NULL), row == 1 ? VYRE_ERR_NOT_FOUND : VYRE_OK);
  opens_as(&b, "alpha:1", "alpha:1", "Fake device 1");
  opens_as(&b, "omega:1", "omega:1", "Fake device 1");
  end(&b);
}
END_TEST

START_TEST(every_allocation_of_a_list_may_fail) {
  const char *root = place();
  static const char *const names[] = { "alpha", "nodevices", "manydevices", "omega" };
  for (size_t i = 0; i < 4; i++) copy_fake(PLUGIN(names[i]));
  vyre_config *config = config_for(root);
  bool failed = true;
  vyre_context *context = context_for(config); /* what the linker opens for the first time it keeps */
  ck_assert_int_eq(vyre_backends_load(context, NULL), VYRE_OK);
  vyre_context_destroy(context);
  for (uint64_t n = 1; failed; n++) {
    vyre_backend_info info;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_context_create(config, NULL, &context, NULL);
    if (status == VYRE_OK) status = vyre_backends_load(context, NULL);
    failed = fail_malloc_end();
    unsigned usable = 0;
    for (uint32_t i = 0; context != NULL && vyre_backend_describe(context, i, &info); i++)
      usable += info.verdict == VYRE_VERDICT_USABLE;
    vyre_context_destroy(context);
    bool is_right = failed ? status == VYRE_ERR_NO_MEMORY || (status == VYRE_OK && usable >= 2)
                           : status == VYRE_OK && usable == 3;
    ck_assert_msg(is_right, "allocation %llu: %s, %u usable", (unsigned long long)n, vyre_status_name(status), usable);
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

/* ---- 17 -------------------------------------------------------------------------------------- */

typedef struct writer {
  pthread_t id;
  const vyre_host *host;
  atomic_bool stop;
  _Atomic uint64_t lines;
} writer;

static void *write_lines(void *ctx) {
  writer *w = ctx;
  while (!atomic_load(&w->stop)) {
    w->host->log(w->host->ctx, VYRE_LOG_WARNING, "loop", "a line");
    atomic_fetch_add(&w->lines, 1);
  }
  return NULL;
}

static void count_line(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  (void)level, (void)subsystem, (void)text;
  ++*(uint64_t *)ctx; /* in memory that is freed as soon as the sink is gone */
}

START_TEST(a_log_that_is_taken_away) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  bench b;
  load(&b, root);
  vyre_plugin_file *file;
  ck_assert_int_eq(vyre_backend_use(b.context, "sound", &file, NULL), VYRE_OK);
  writer w = { .host = &file->host };
  ck_assert_int_eq(pthread_create(&w.id, NULL, write_lines, &w), 0);
  for (int i = 0; i < 200; i++) {
    uint64_t *counter = calloc(1, sizeof *counter);
    ck_assert_int_eq(vyre_log_set(b.log, VYRE_LOG_WARNING, count_line, counter), VYRE_OK);
    for (uint64_t from = atomic_load(&w.lines); atomic_load(&w.lines) < from + 3;) sched_yield();
    ck_assert_int_eq(vyre_log_set(b.log, VYRE_LOG_OFF, NULL, NULL), VYRE_OK);
    ck_assert_uint_gt(*counter, 0);
    free(counter);
  }
  atomic_store(&w.stop, true);
  pthread_join(w.id, NULL);
  end(&b);
}
END_TEST

/* ---- 18 -------------------------------------------------------------------------------------- */

START_TEST(plugins_use_the_programs_malloc) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  bench b;
  load(&b, root);
  vyre_device *device = NULL;
  vyre_plugin_file *file;
  ck_assert_int_eq(vyre_backend_use(b.context, "sound", &file, NULL), VYRE_OK);
  bool works = fail_malloc_works();
  vyre_plugin_device *plugin = NULL;
  fail_malloc_at(1); /* the plugin's own */
  vyre_status status = file->ops.device_open(file->plugin, 0, &plugin, NULL);
  bool failed = fail_malloc_end();
  ck_assert_int_eq(failed, works);
  ck_assert_int_eq(status, works ? VYRE_ERR_NO_MEMORY : VYRE_OK);
  if (plugin != NULL) file->ops.device_close(plugin);
  ck_assert_int_eq(vyre_device_open(b.context, "sound", &device, NULL), VYRE_OK);
  vyre_device_close(device, VYRE_FOREVER, NULL);
  end(&b);
}
END_TEST

/* ---- 25 -------------------------------------------------------------------------------------- */

/* What a process with more rights than its user sees of the environment: its status says it. */
enum { PRIVILEGED_IGNORES = 40, PRIVILEGED_OBEYS = 41, NOT_PRIVILEGED = 42 };

static int look_as_privileged(void) {
  if (getauxval(AT_SECURE) == 0) return NOT_PRIVILEGED;
  vyre_config *config;
  vyre_config_options options = { .size = sizeof options, .no_file = true };
  vyre_config_value path;
  if (vyre_config_load(&options, &config, NULL) != VYRE_OK) return 1;
  vyre_config_get(config, VYRE_CONFIG_BACKENDS_PATH, &path);
  const char *warning = vyre_config_warning(config, 0);
  bool is_said_once =
      warning != NULL && strstr(warning, "environment") != NULL && vyre_config_warning(config, 1) == NULL;
  /* The user's cache is not this process's either. */
  vyre_cache cache;
  vyre_cache_id id = { { 0 }, { 0 } };
  vyre_cache_init(&cache, config, NULL);
  bool is_off = vyre_cache_put(&cache, &id, "x", 1) == VYRE_ERR_UNSUPPORTED;
  vyre_config_destroy(config);
  return !path.is_set && is_said_once && is_off ? PRIVILEGED_IGNORES : PRIVILEGED_OBEYS;
}

START_TEST(privileged_processes_ignore_variables) {
  if (geteuid() != 0) return; /* only root can make a file of another user that runs as that user */
  place();
  FILE *self = fopen("/proc/self/exe", "rb");
  ck_assert_ptr_nonnull(self);
  fseek(self, 0, SEEK_END);
  size_t bytes = (size_t)ftell(self);
  rewind(self);
  char *image = malloc(bytes);
  ck_assert_uint_eq(fread(image, 1, bytes, self), bytes);
  fclose(self);
  write_file(below("other"), image, bytes);
  free(image);
  ck_assert_int_eq(chmod(below("."), 0755), 0);
  ck_assert_int_eq(chown(below("other"), 65534, 65534), 0);
  ck_assert_int_eq(chmod(below("other"), 04755), 0);
  pid_t child = fork();
  if (child == 0) {
    setenv("VYRE_BACKEND_PATH", below("."), 1);
    setenv("VYRE_BACKENDS", "none", 1);
    setenv("XDG_CACHE_HOME", below("."), 1);
    execl(below("other"), "other", "--look-as-privileged", (char *)NULL);
    _exit(1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  if (WEXITSTATUS(status) == NOT_PRIVILEGED) printf("privileged_processes: set-user-ID is off here; not tried\n");
  else ck_assert_int_eq(WEXITSTATUS(status), PRIVILEGED_IGNORES);
  remove_place();
}
END_TEST

int main(int argc, char **argv) {
  /* No exit handler: leak checkers can not look into such a process. */
  if (argc == 2 && strcmp(argv[1], "--look-as-privileged") == 0) _exit(look_as_privileged());
  const TTest *const tests[] = {
    stray_objects_are_left_alone, the_linkers_reason_is_told, equal_identities_are_told_apart,
    a_stale_plugin_beside_a_good_one, a_list_with_one_good_row, any_owner_will_do, files_are_opened_few_times,
    a_directory_is_read_once, looking_starts_nothing, a_library_stays_loaded, every_step_of_starting_may_fail,
    a_plugin_without_devices_between_others, every_allocation_of_a_list_may_fail, a_log_that_is_taken_away,
    plugins_use_the_programs_malloc, privileged_processes_ignore_variables, NULL
  };
  return run_suite("faults", 60, tests);
}
