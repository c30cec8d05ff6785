/* The disk cache: what was put is got again, and whatever is wrong is a miss. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "backend/objects.h"
#include "device_for.h"
#include "places.h"

/* ---- A cache in a place of its own ----------------------------------------------------------- */

typedef struct cache_bench {
  vyre_config *config;
  vyre_log *log;
  vyre_cache cache;
  char told[8192];
  unsigned lines;
} cache_bench;

static void keep(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  cache_bench *b = ctx;
  (void)subsystem;
  size_t used = strlen(b->told);
  snprintf(b->told + used, sizeof b->told - used, "%s: %s\n", vyre_log_level_name(level), text);
  b->lines++;
}

static void set(cache_bench *b, vyre_config_key key, const char *text) {
  ck_assert_int_eq(vyre_config_set(b->config, key, text, "test", NULL), VYRE_OK);
}

static void open_bench(cache_bench *b, const char *directory) {
  vyre_config_options options = { .size = sizeof options, .no_file = true, .no_environment = true };
  *b = (cache_bench){ 0 };
  ck_assert_int_eq(vyre_config_load(&options, &b->config, NULL), VYRE_OK);
  if (directory != NULL) set(b, VYRE_CONFIG_CACHE_DIRECTORY, directory);
  ck_assert_int_eq(vyre_log_create(&b->log), VYRE_OK);
  ck_assert_int_eq(vyre_log_set(b->log, VYRE_LOG_INFO, keep, b), VYRE_OK);
  vyre_cache_init(&b->cache, b->config, b->log);
}

static void close_bench(cache_bench *b) {
  vyre_log_destroy(b->log);
  vyre_config_destroy(b->config);
}

static void bench_in_place(cache_bench *b) {
  place();
  open_bench(b, below("cache"));
}

static void end(cache_bench *b) {
  close_bench(b);
  remove_place();
}

static vyre_cache_id id_of(uint8_t number) {
  vyre_cache_id id;
  memset(id.key, number, sizeof id.key);
  memset(id.owner, 0xA5, sizeof id.owner);
  return id;
}

static const char *path_of(uint8_t number) {
  char name[VYRE_CACHE_NAME_BYTES];
  vyre_cache_id id = id_of(number);
  vyre_cache_name(id.key, name);
  return below("cache/%s", name);
}

static vyre_status put(cache_bench *b, uint8_t number, const char *text) {
  vyre_cache_id id = id_of(number);
  return vyre_cache_put(&b->cache, &id, text, strlen(text));
}

/* Whether the entry is there, and then is this text. */
static bool has(cache_bench *b, uint8_t number, const char *text) {
  vyre_cache_id id = id_of(number);
  void *data;
  uint64_t bytes;
  vyre_status status = vyre_cache_get(&b->cache, &id, &data, &bytes);
  if (status != VYRE_OK) {
    ck_assert_int_eq(status, VYRE_ERR_NOT_FOUND);
    ck_assert(data == NULL && bytes == 0);
    return false;
  }
  ck_assert_uint_eq(bytes, strlen(text));
  ck_assert_int_eq(memcmp(data, text, bytes), 0);
  free(data);
  return true;
}

/* Root may do everything, so that permissions are tried as somebody else. */
static void become_nobody(void) {
  if (geteuid() == 0) ck_assert_int_eq(seteuid(65534), 0);
}

static void become_oneself(void) {
  if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
}

/* ---- Keeping --------------------------------------------------------------------------------- */

START_TEST(what_was_put_is_got) {
  cache_bench b;
  bench_in_place(&b);
  ck_assert(!has(&b, 1, "anything"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(put(&b, 2, ""), VYRE_OK);
  ck_assert(has(&b, 1, "one") && has(&b, 2, "") && !has(&b, 3, ""));
  ck_assert_int_eq(put(&b, 1, "another"), VYRE_OK);
  ck_assert(has(&b, 1, "another"));
  cache_bench later;
  open_bench(&later, below("cache"));
  ck_assert(has(&later, 1, "another"));
  close_bench(&later);
  ck_assert_str_eq(b.told, "");
  end(&b);
}
END_TEST

START_TEST(large_data) {
  cache_bench b;
  bench_in_place(&b);
  vyre_cache_id id = id_of(7);
  void *data;
  uint64_t bytes;
  uint8_t *large = malloc(VYRE_CACHE_MAX_BYTES + 1u);
  ck_assert_ptr_nonnull(large);
  for (uint32_t i = 0, x = 1; i <= VYRE_CACHE_MAX_BYTES; i++, x = x * 1664525u + 1013904223u)
    large[i] = (uint8_t)(x >> 24);
  ck_assert_int_eq(vyre_cache_put(&b.cache, &id, large, VYRE_CACHE_MAX_BYTES + 1u), VYRE_ERR_LIMIT);
  ck_assert_int_eq(vyre_cache_put(&b.cache, &id, large, UINT64_MAX), VYRE_ERR_LIMIT);
  ck_assert_int_eq(vyre_cache_put(&b.cache, &id, large, VYRE_CACHE_MAX_BYTES), VYRE_OK);
  ck_assert_int_eq(vyre_cache_get(&b.cache, &id, &data, &bytes), VYRE_OK);
  ck_assert_uint_eq(bytes, VYRE_CACHE_MAX_BYTES);
  ck_assert_int_eq(memcmp(data, large, bytes), 0);
  free(data);
  free(large);
  end(&b);
}
END_TEST

START_TEST(everything_is_private) {
  struct stat info;
  cache_bench b;
  place();
  ck_assert_int_eq(setenv("XDG_CACHE_HOME", below("xdg"), 1), 0);
  open_bench(&b, NULL);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert(has(&b, 1, "one"));
  static const char *const made[] = { "xdg", "xdg/vyre", "xdg/vyre/pipelines" };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    ck_assert_int_eq(stat(below("%s", made[i]), &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0700);
  }
  char name[VYRE_CACHE_NAME_BYTES];
  vyre_cache_id id = id_of(1);
  vyre_cache_name(id.key, name);
  ck_assert_int_eq(stat(below("xdg/vyre/pipelines/%s", name), &info), 0);
  ck_assert_uint_eq(info.st_mode & 07777, 0600);
  ck_assert_int_eq(unsetenv("XDG_CACHE_HOME"), 0);
  ck_assert_int_eq(setenv("HOME", below("home"), 1), 0);
  make_directory(below("home"));
  ck_assert_int_eq(put(&b, 1, "at home"), VYRE_OK);
  ck_assert_int_eq(stat(below("home/.cache/vyre/pipelines/%s", name), &info), 0);
  end(&b);
}
END_TEST

START_TEST(it_can_be_off) {
  cache_bench b;
  bench_in_place(&b);
  set(&b, VYRE_CONFIG_CACHE_ENABLE, "off");
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_ERR_UNSUPPORTED);
  ck_assert(!has(&b, 1, "one"));
  ck_assert_int_ne(access(below("cache"), F_OK), 0);
  set(&b, VYRE_CONFIG_CACHE_ENABLE, "on");
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  set(&b, VYRE_CONFIG_CACHE_ENABLE, "off");
  ck_assert(!has(&b, 1, "one"));
  ck_assert_str_eq(b.told, "");
  end(&b);
}
END_TEST

/* ---- The frame ------------------------------------------------------------------------------- */

static void from_hex(const char *hex, uint8_t *out) {
  for (size_t i = 0; hex[2 * i] != 0; i++) ck_assert_int_eq(sscanf(hex + 2 * i, "%2hhx", &out[i]), 1);
}

START_TEST(the_keyless_schema_is_read) {
  static const char text[] = "VPC0\1\0compiled-artifact";
  uint8_t frame[55];
  memcpy(frame, text, 23);
  from_hex("e3db272539be134e5a38fddc61d557e5aa000395728b4b7814a49f2642ce2ba8", frame + 23);
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "something"), VYRE_OK); /* makes the directory */
  write_file(path_of(9), frame, sizeof frame);
  ck_assert_int_eq(chmod(path_of(9), 0600), 0);
  ck_assert(has(&b, 9, "compiled-artifact"));
  frame[54] ^= 1;
  write_file(path_of(9), frame, sizeof frame);
  ck_assert(!has(&b, 9, ""));
  frame[4] = 0; /* schema 0 with a checksum that fits */
  vyre_digest_of(frame, 23, frame + 23);
  write_file(path_of(9), frame, sizeof frame);
  ck_assert(!has(&b, 9, ""));
  frame[4] = 3;
  vyre_digest_of(frame, 23, frame + 23);
  write_file(path_of(9), frame, sizeof frame);
  ck_assert(!has(&b, 9, ""));
  end(&b);
}
END_TEST

START_TEST(every_flipped_bit_and_every_length_is_a_miss) {
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "some machine code"), VYRE_OK);
  size_t bytes;
  unsigned char *frame = read_file(path_of(1), &bytes);
  ck_assert_uint_eq(bytes, VYRE_CACHE_HEAD_BYTES + 17 + VYRE_CACHE_FOOT_BYTES);
  for (size_t bit = 0; bit < bytes * 8; bit++) {
    frame[bit / 8] ^= (unsigned char)(1u << bit % 8);
    write_file(path_of(1), frame, bytes);
    ck_assert_msg(!has(&b, 1, ""), "bit %zu", bit);
    frame[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  for (size_t cut = 0; cut < bytes; cut++) {
    write_file(path_of(1), frame, cut);
    ck_assert_msg(!has(&b, 1, ""), "%zu bytes", cut);
  }
  unsigned char *longer = calloc(1, bytes + 1);
  memcpy(longer, frame, bytes);
  write_file(path_of(1), longer, bytes + 1);
  ck_assert(!has(&b, 1, ""));
  write_file(path_of(1), frame, bytes);
  ck_assert(has(&b, 1, "some machine code"));
  free(longer);
  free(frame);
  ck_assert_str_eq(b.told, ""); /* damage is worth a line of debugging, no more */
  end(&b);
}
END_TEST

START_TEST(a_file_too_large_is_not_even_read) {
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(truncate(path_of(1), (off_t)1 << 40), 0); /* no memory would do for it */
  ck_assert(!has(&b, 1, "one"));
  end(&b);
}
END_TEST

START_TEST(an_entry_answers_to_its_own_key_alone) {
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(rename(path_of(1), path_of(2)), 0);
  ck_assert(!has(&b, 1, "one") && !has(&b, 2, "one"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  vyre_cache_id id = id_of(1);
  id.owner[31] ^= 1;
  void *data;
  uint64_t bytes;
  ck_assert_int_eq(vyre_cache_get(&b.cache, &id, &data, &bytes), VYRE_ERR_NOT_FOUND);
  ck_assert_ptr_null(data);
  end(&b);
}
END_TEST

/* ---- Files that are none --------------------------------------------------------------------- */

START_TEST(other_things_in_an_entrys_place) {
  cache_bench b;
  bench_in_place(&b);
  const char *entry = path_of(1);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(rename(entry, below("elsewhere")), 0);
  ck_assert_int_eq(symlink(below("elsewhere"), path_of(1)), 0);
  ck_assert(!has(&b, 1, "one")); /* a link is not followed, to a sound entry neither */
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert(has(&b, 1, "one")); /* it is replaced, and what it led to is as it was */
  struct stat info;
  ck_assert_int_eq(lstat(path_of(1), &info), 0);
  ck_assert(S_ISREG(info.st_mode));
  ck_assert_int_eq(unlink(path_of(1)), 0);
  ck_assert_int_eq(mkfifo(path_of(1), 0600), 0);
  ck_assert(!has(&b, 1, "one")); /* and nobody waits for a writer */
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert(has(&b, 1, "one"));
  ck_assert_int_eq(chmod(path_of(1), 0620), 0); /* somebody else may have written it */
  ck_assert(!has(&b, 1, "one"));
  ck_assert_int_eq(unlink(path_of(1)), 0);
  make_directory(path_of(1));
  write_file(below("cache/%s/x", strrchr(path_of(1), '/') + 1), "", 0);
  ck_assert(!has(&b, 1, "one"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_ERR_IO);
  ck_assert(!has(&b, 1, "one"));
  uint64_t total;
  ck_assert_uint_eq(count_files(below("cache"), "tmp-", "", &total), 0);
  end(&b);
}
END_TEST

START_TEST(an_entry_of_another_user_is_not_believed) {
  if (geteuid() != 0) return; /* only root can give files away */
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(chown(path_of(1), 65534, 65534), 0);
  ck_assert(!has(&b, 1, "one"));
  end(&b);
}
END_TEST

START_TEST(an_unreadable_entry) {
  cache_bench b;
  place();
  ck_assert_int_eq(chmod(below("."), 0777), 0);
  become_nobody();
  open_bench(&b, below("cache"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(chmod(path_of(1), 0), 0);
  ck_assert(!has(&b, 1, "one"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert(has(&b, 1, "one"));
  become_oneself();
  end(&b);
}
END_TEST

/* ---- Directories that won't do --------------------------------------------------------------- */

/* Nothing is kept, whoever asks again is answered as before, and one line says so. */
static void is_useless(cache_bench *b, const char *says) {
  for (int i = 0; i < 3; i++) {
    ck_assert_int_ne(put(b, 1, "one"), VYRE_OK);
    ck_assert(!has(b, 1, "one"));
  }
  ck_assert_msg(b->lines == 1 && strstr(b->told, says) != NULL && strncmp(b->told, "info: ", 6) == 0, "%s", b->told);
  ck_assert_msg(strstr(b->told, "Fix: ") != NULL, "%s", b->told);
  close_bench(b);
}

START_TEST(directories_that_are_not_safe) {
  cache_bench b;
  place();
  make_directory(below("real"));
  ck_assert_int_eq(symlink(below("real"), below("link")), 0);
  open_bench(&b, below("link"));
  is_useless(&b, "Not a directory");
  make_directory(below("open"));
  ck_assert_int_eq(chmod(below("open"), 0777), 0);
  open_bench(&b, below("open"));
  is_useless(&b, "Operation not permitted");
  write_file(below("file"), "x", 1);
  open_bench(&b, below("file"));
  is_useless(&b, "Not a directory");
  open_bench(&b, below("no/parent"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_ERR_UNSUPPORTED);
  ck_assert(!has(&b, 1, "one"));
  ck_assert_msg(strstr(b.told, "No such file") != NULL, "%s", b.told);
  close_bench(&b);
  open_bench(&b, "relative/cache");
  is_useless(&b, "Invalid argument");
  open_bench(&b, "/");
  is_useless(&b, "Invalid argument");
  if (geteuid() == 0) {
    make_directory(below("others"));
    ck_assert_int_eq(chown(below("others"), 65534, 65534), 0);
    open_bench(&b, below("others"));
    is_useless(&b, "Operation not permitted");
  }
  /* The base may be a link of the user's making, what lies below may not. */
  ck_assert_int_eq(setenv("XDG_CACHE_HOME", below("link"), 1), 0);
  open_bench(&b, NULL);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert(has(&b, 1, "one"));
  ck_assert_int_eq(rename(below("real/vyre"), below("real/moved")), 0);
  ck_assert_int_eq(symlink("moved", below("real/vyre")), 0);
  ck_assert(!has(&b, 1, "one"));
  close_bench(&b);
  ck_assert_int_eq(unsetenv("XDG_CACHE_HOME"), 0);
  ck_assert_int_eq(unsetenv("HOME"), 0);
  open_bench(&b, NULL);
  is_useless(&b, "no directory is known");
  remove_place();
}
END_TEST

START_TEST(a_directory_that_can_not_be_written) {
  cache_bench b;
  place();
  ck_assert_int_eq(chmod(below("."), 0777), 0);
  become_nobody();
  open_bench(&b, below("cache"));
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  ck_assert_int_eq(chmod(below("cache"), 0500), 0);
  for (int i = 0; i < 3; i++) ck_assert_int_ne(put(&b, 2, "two"), VYRE_OK);
  ck_assert(has(&b, 1, "one") && !has(&b, 2, "two")); /* what is there is still good */
  ck_assert_msg(b.lines == 1 && strstr(b.told, "Permission denied") != NULL, "%s", b.told);
  close_bench(&b);
  ck_assert_int_eq(chmod(below("cache"), 0), 0);
  open_bench(&b, below("cache"));
  is_useless(&b, "Permission denied");
  ck_assert_int_eq(chmod(below("cache"), 0700), 0);
  become_oneself();
  remove_place();
}
END_TEST

START_TEST(a_limit_of_file_sizes_ends_nobody) {
  cache_bench b;
  bench_in_place(&b);
  ck_assert_int_eq(put(&b, 1, "one"), VYRE_OK);
  struct rlimit old, low;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
  low = (struct rlimit){ VYRE_CACHE_HEAD_BYTES + VYRE_CACHE_FOOT_BYTES + 3, old.rlim_max };
  int lowered = setrlimit(RLIMIT_FSIZE, &low); /* Check writes a file too: not a word to it until this is over */
  vyre_status tight = put(&b, 2, "two"), over = put(&b, 3, "four");
  int raised = setrlimit(RLIMIT_FSIZE, &old);
  ck_assert(lowered == 0 && raised == 0);
  ck_assert_int_eq(tight, VYRE_OK);
  ck_assert_int_eq(over, VYRE_ERR_LIMIT);
  ck_assert(has(&b, 1, "one") && has(&b, 2, "two") && !has(&b, 3, "four"));
  end(&b);
}
END_TEST

/* A disk of 64 KiB of this process alone, where the system lets one be made. */
static bool mount_small_disk(const char *path) {
  bool is_own = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  return is_own && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("none", path, "tmpfs", 0, "size=65536,mode=0777") == 0;
}

START_TEST(a_full_disk) {
  cache_bench b;
  bench_in_place(&b);
  make_directory(below("disk"));
  if (!mount_small_disk(below("disk"))) {
    printf("a_full_disk: this system lets nobody mount a disk of their own; not tried\n");
    end(&b);
    return;
  }
  set(&b, VYRE_CONFIG_CACHE_DIRECTORY, below("disk/cache"));
  char text[20001];
  memset(text, 'x', 20000);
  text[20000] = 0;
  vyre_status status = VYRE_OK;
  for (uint8_t i = 0; i < 8; i++) {
    status = put(&b, i, text);
    ck_assert_int_eq(status, has(&b, i, text) ? VYRE_OK : VYRE_ERR_IO);
  }
  ck_assert_int_eq(status, VYRE_ERR_IO);
  ck_assert(has(&b, 0, text));
  ck_assert_msg(b.lines == 1 && strstr(b.told, "No space left") != NULL, "%s", b.told);
  uint64_t total;
  ck_assert_uint_eq(count_files(below("disk/cache"), "tmp-", "", &total), 0);
  ck_assert_int_eq(put(&b, 100, "small"), VYRE_OK); /* there may be room again at any time */
  ck_assert_int_eq(umount(below("disk")), 0);
  end(&b);
}
END_TEST

/* ---- Size ------------------------------------------------------------------------------------ */

static void set_age(const char *path, time_t second) {
  struct timespec times[2] = { { .tv_sec = second }, { .tv_sec = second } };
  ck_assert_int_eq(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

START_TEST(the_oldest_go_first) {
  enum { LIMIT = 65536, FITTING = LIMIT / 4096 };
  cache_bench b;
  bench_in_place(&b);
  set(&b, VYRE_CONFIG_CACHE_SIZE, "64 KiB");
  for (uint8_t i = 0; i < FITTING; i++) {
    ck_assert_int_eq(put(&b, i, "text"), VYRE_OK);
    set_age(path_of(i), 1000000000 + (i * 7 % FITTING)); /* in another order than they were written in */
  }
  uint64_t total;
  ck_assert_uint_eq(count_files(below("cache"), "", ".bin", &total), FITTING);
  write_file(below("cache/README"), "not ours", 8);
  set_age(below("cache/README"), 1);
  write_file(below("cache/tmp-1-dead"), "", 0);
  set_age(below("cache/tmp-1-dead"), 1);
  write_file(below("cache/tmp-2-living"), "", 0);
  ck_assert_int_eq(put(&b, 200, "text"), VYRE_OK); /* one too many */
  ck_assert_uint_le(count_files(below("cache"), "", ".bin", &total), FITTING - 1);
  ck_assert(has(&b, 200, "text"));
  unsigned left = count_files(below("cache"), "", ".bin", &total);
  for (uint8_t i = 0; i < FITTING; i++) ck_assert_int_eq(has(&b, i, "text"), i * 7u % FITTING + left > FITTING);
  ck_assert_int_eq(access(below("cache/README"), F_OK), 0);
  ck_assert_int_ne(access(below("cache/tmp-1-dead"), F_OK), 0);
  ck_assert_int_eq(access(below("cache/tmp-2-living"), F_OK), 0);
  ck_assert_int_eq(unlink(below("cache/tmp-2-living")), 0);
  char large[LIMIT];
  memset(large, 'x', sizeof large);
  large[sizeof large - 1] = 0;
  ck_assert_int_eq(put(&b, 201, large), VYRE_ERR_LIMIT);
  large[LIMIT - 4096] = 0;
  ck_assert_int_eq(put(&b, 201, large), VYRE_OK); /* alone it fits */
  ck_assert(has(&b, 201, large));
  end(&b);
}
END_TEST

START_TEST(the_limit_holds_over_many_entries) {
  cache_bench b;
  bench_in_place(&b);
  set(&b, VYRE_CONFIG_CACHE_SIZE, "256 KiB");
  for (int i = 0; i < 2000; i++) {
    vyre_cache_id id = id_of(0);
    memcpy(id.key, &i, sizeof i);
    ck_assert_int_eq(vyre_cache_put(&b.cache, &id, &i, sizeof i), VYRE_OK);
    if (i % 50 != 0) continue;
    uint64_t total;
    count_files(below("cache"), "", "", &total);
    ck_assert_uint_le(total, 256 << 10);
  }
  end(&b);
}
END_TEST

/* ---- All at once ----------------------------------------------------------------------------- */

enum { KEYS = 8, LONGEST = 30000 };

/* Data that says which entry it is of; its length differs from one writer to the next. */
static void make_text(char *out, uint8_t key, uint32_t writer) {
  size_t bytes = 1 + (writer * 7919u + key * 104729u) % (LONGEST - 1);
  memset(out, 'a' + key, bytes);
  out[bytes] = 0;
}

/* False if something was got that nobody can have put. */
static bool put_and_get(vyre_cache *cache, uint32_t writer, int rounds) {
  char *text = malloc(LONGEST + 1);
  bool is_right = text != NULL;
  for (int i = 0; i < rounds && is_right; i++) {
    uint8_t key = (uint8_t)((writer + (uint32_t)i) % KEYS);
    vyre_cache_id id = id_of(key);
    void *data;
    uint64_t bytes;
    make_text(text, key, writer);
    is_right = vyre_cache_put(cache, &id, text, strlen(text)) == VYRE_OK;
    if (vyre_cache_get(cache, &id, &data, &bytes) != VYRE_OK) continue;
    const char *c = data;
    for (uint64_t at = 0; at < bytes; at++) is_right = is_right && c[at] == 'a' + key;
    free(data);
  }
  free(text);
  return is_right;
}

static void check_after(cache_bench *b) {
  uint64_t total;
  ck_assert_uint_eq(count_files(below("cache"), "tmp-", "", &total), 0);
  ck_assert_uint_eq(count_files(below("cache"), "", ".bin", &total), KEYS);
  for (uint8_t key = 0; key < KEYS; key++) {
    vyre_cache_id id = id_of(key);
    void *data;
    uint64_t bytes;
    ck_assert_int_eq(vyre_cache_get(&b->cache, &id, &data, &bytes), VYRE_OK);
    free(data);
  }
}

START_TEST(sixty_four_processes_at_once) {
  enum { PROCESSES = 64, ROUNDS = 40 };
  cache_bench b;
  bench_in_place(&b);
  pid_t children[PROCESSES];
  for (uint32_t i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    ck_assert_int_ge(children[i], 0);
    if (children[i] > 0) continue;
    bool is_right = put_and_get(&b.cache, i, ROUNDS);
    close_bench(&b);
    _exit(is_right ? 0 : 1);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d ended with 0x%x", i, status);
  }
  check_after(&b);
  end(&b);
}
END_TEST

typedef struct thread {
  pthread_t id;
  vyre_cache *cache;
  uint32_t number;
  bool is_right;
} thread;

static void *run_thread(void *ctx) {
  thread *t = ctx;
  t->is_right = put_and_get(t->cache, t->number, 100);
  return NULL;
}

START_TEST(threads_share_one_cache) {
  enum { THREADS = 8 };
  cache_bench b;
  bench_in_place(&b);
  thread threads[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    threads[i] = (thread){ .cache = &b.cache, .number = i };
    ck_assert_int_eq(pthread_create(&threads[i].id, NULL, run_thread, &threads[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(threads[i].id, NULL), 0);
    ck_assert(threads[i].is_right);
  }
  check_after(&b);
  end(&b);
}
END_TEST

START_TEST(each_allocation_may_fail) {
  cache_bench b;
  bench_in_place(&b);
  vyre_cache_id id = id_of(1);
  bool failed = true;
  for (uint64_t n = 1; failed; n++) {
    void *data;
    uint64_t bytes;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_cache_put(&b.cache, &id, "one", 3);
    atomic_store(&b.cache.off, false);
    vyre_status got = vyre_cache_get(&b.cache, &id, &data, &bytes);
    failed = fail_malloc_end();
    free(data);
    ck_assert(got == VYRE_OK || (failed && got == VYRE_ERR_NOT_FOUND));
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    what_was_put_is_got, large_data, everything_is_private, it_can_be_off, the_keyless_schema_is_read,
    every_flipped_bit_and_every_length_is_a_miss, a_file_too_large_is_not_even_read,
    an_entry_answers_to_its_own_key_alone, other_things_in_an_entrys_place, an_entry_of_another_user_is_not_believed, an_unreadable_entry,
    directories_that_are_not_safe, a_directory_that_can_not_be_written, a_limit_of_file_sizes_ends_nobody,
    a_full_disk, the_oldest_go_first, the_limit_holds_over_many_entries, sixty_four_processes_at_once,
    threads_share_one_cache, each_allocation_may_fail, NULL
  };
  return run_suite("cache", 120, tests);
}
