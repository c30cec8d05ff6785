/* Counting what a process has: by /proc, by the allocator, by the list of libraries. */
#include "process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <float.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vyre/backend.h>

/* There in builds with a sanitizer, whose allocator mallinfo2 knows nothing of. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

uint64_t process_allocated(void) {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
#ifdef __GLIBC__
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

static uint32_t count_entries(const char *path) {
  uint32_t count = 0;
  DIR *directory = opendir(path);
  if (directory == NULL) return 0;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

static uint32_t count_children(void) {
  uint32_t count = 0;
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t got = fread(text, 1, sizeof text, file);
  for (size_t i = 0; i < got; i++) count += text[i] == ' ';
  fclose(file);
  return count;
}

static int count_library(struct dl_phdr_info *info, size_t bytes, void *ctx) {
  (void)info, (void)bytes;
  ++*(uint32_t *)ctx;
  return 0;
}

static uint64_t blocked_signals(void) {
  sigset_t set;
  uint64_t bits = 0;
  if (sigprocmask(SIG_BLOCK, NULL, &set) != 0) return 0;
  for (int number = 1; number <= 64; number++)
    if (sigismember(&set, number) == 1) bits |= 1ull << (number - 1);
  return bits;
}

static bool flushes_subnormals(void) {
  volatile float least = FLT_MIN;
  return least / 2 == 0;
}

void process_look(process_state *out) {
  struct stat here = {0};
  *out = (process_state){.threads = count_entries("/proc/self/task"),
                         .files = count_entries("/proc/self/fd"),
                         .children = count_children()};
  dl_iterate_phdr(count_library, &out->libraries);
  out->allocated = process_allocated();
  out->blocked = blocked_signals();
  if (stat(".", &here) == 0) out->place[0] = here.st_dev, out->place[1] = here.st_ino;
  out->mode_mask = umask(0);
  umask(out->mode_mask);
  out->rounding = fegetround();
  out->flushes = flushes_subnormals();
}

static void compare(kit *k, const char *call, const char *what, uint64_t before, uint64_t after) {
  if (after > before)
    kit_fail(k, "%s leaves %llu more %s than there were", call, (unsigned long long)(after - before), what);
}

bool process_compare(kit *k, const char *call, const process_state *before, const process_state *after, uint32_t what) {
  if ((what & PROCESS_THREADS) != 0) compare(k, call, "threads", before->threads, after->threads);
  if ((what & PROCESS_FILES) != 0) compare(k, call, "open files", before->files, after->files);
  if ((what & PROCESS_CHILDREN) != 0) compare(k, call, "processes", before->children, after->children);
  if ((what & PROCESS_LIBRARIES) != 0) compare(k, call, "loaded libraries", before->libraries, after->libraries);
  if ((what & PROCESS_MEMORY) != 0) compare(k, call, "allocated bytes", before->allocated, after->allocated);
  return !kit_is_over(k);
}

static void expect_same(kit *k, const char *call, const char *what, uint64_t before, uint64_t after) {
  if (before != after)
    kit_fail(k, "%s changes %s of its host: wanted 0x%llx as before, found 0x%llx (VBP-27)", call, what,
             (unsigned long long)before, (unsigned long long)after);
}

bool process_is_kept(kit *k, const char *call, const process_state *before, const process_state *after) {
  if (after->files < before->files)
    kit_fail(k, "%s closes %u files of its host (VBP-27)", call, before->files - after->files);
  expect_same(k, call, "the blocked signals", before->blocked, after->blocked);
  for (int i = 0; i < 2; i++) expect_same(k, call, "the current directory", before->place[i], after->place[i]);
  expect_same(k, call, "the mode mask", before->mode_mask, after->mode_mask);
  expect_same(k, call, "the rounding of floats", (uint64_t)before->rounding, (uint64_t)after->rounding);
  expect_same(k, call, "the flushing of subnormals", before->flushes, after->flushes);
  return !kit_is_over(k);
}

void *process_end_of_page(uint64_t bytes) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
  uint8_t *block = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED || mprotect(block + room, page, PROT_NONE) != 0) return NULL;
  return block + room - bytes;
}

void *process_symbol(void *library, const char *name) {
  return dlsym(library, name);
}
