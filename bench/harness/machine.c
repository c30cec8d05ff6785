/* Reads /proc and /sys, where a figure that is not there is left out. */
#include <config.h>

#include "machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

enum { MOST_PAIRS = 24 };

typedef struct pair_list {
  vyre_arena *arena;
  bench_pair *pairs;
  uint32_t count;
  bool failed;
} pair_list;

static char *copy(vyre_arena *arena, const char *text) {
  return vyre_arena_copy(arena, text, strlen(text));
}

__attribute__((format(printf, 3, 4))) static void add(pair_list *list, const char *key, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!text[0] || list->count == MOST_PAIRS) return;
  char *value = copy(list->arena, text);
  if (!value) list->failed = true;
  else list->pairs[list->count++] = (bench_pair){key, value};
}

static pair_list begin(vyre_arena *arena) {
  pair_list list = {.arena = arena, .pairs = vyre_arena_alloc(arena, MOST_PAIRS * sizeof(bench_pair))};
  list.failed = !list.pairs;
  return list;
}

/* ---- Host -------------------------------------------------------------------------------------- */

/* The first line of a file, or "". */
static const char *first_line(const char *path, char text[256]) {
  text[0] = '\0';
  FILE *file = fopen(path, "re");
  if (!file) return text;
  if (!fgets(text, 256, file)) text[0] = '\0';
  fclose(file);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

/* The value of "NAME : value" in a file of such lines, or "". */
static const char *value_of(const char *path, const char *name, char text[256]) {
  FILE *file = fopen(path, "re");
  size_t length = strlen(name);
  bool found = false;
  while (file && !found && fgets(text, 256, file)) {
    const char *behind = text + length + strspn(text + (strncmp(text, name, length) ? 0 : length), " \t");
    found = strncmp(text, name, length) == 0 && *behind == ':';
    if (!found) continue;
    behind += 1 + strspn(behind + 1, " \t");
    memmove(text, behind, strlen(behind) + 1);
  }
  if (file) fclose(file);
  if (!found) text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return text;
}

static unsigned usable_cores(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
}

static void add_caches(pair_list *list) {
  for (int i = 0; i < 8; i++) {
    char path[96], level[256], type[256], size[256];
    static const char *const keys[] = {"", "l1d", "l2", "l3", "l4"};
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
    int number = atoi(first_line(path, level));
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
    first_line(path, type);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    first_line(path, size);
    if (number >= 1 && number <= 4 && strcmp(type, "Instruction") != 0) add(list, keys[number], "%s", size);
  }
}

static void add_system(pair_list *list) {
  char text[256];
  struct utsname name;
  if (uname(&name) == 0) add(list, "kernel", "%s %s %s", name.sysname, name.release, name.machine);
  FILE *file = fopen("/etc/os-release", "re");
  while (file && fgets(text, sizeof text, file)) {
    if (strncmp(text, "PRETTY_NAME=", 12) != 0) continue;
    text[strcspn(text, "\n")] = '\0';
    size_t length = strlen(text);
    if (length > 13 && text[length - 1] == '"') text[length - 1] = '\0';
    add(list, "os", "%s", text + 12 + (text[12] == '"'));
    break;
  }
  if (file) fclose(file);
}

static bool describe_host(bench_report *report) {
  pair_list list = begin(&report->arena);
  if (list.failed) return false;
  char text[256];
  add(&list, "cpu", "%s", value_of("/proc/cpuinfo", "model name", text));
  add(&list, "cores", "%u", usable_cores());
  const char *smt = first_line("/sys/devices/system/cpu/smt/active", text);
  add(&list, "smt", "%s", strcmp(smt, "1") == 0 ? "on" : strcmp(smt, "0") == 0 ? "off" : "");
  add(&list, "numa", "%s", first_line("/sys/devices/system/node/online", text));
  add(&list, "memory", "%s", value_of("/proc/meminfo", "MemTotal", text));
  add_caches(&list);
  add(&list, "governor", "%s", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text));
  add(&list, "huge_pages", "%s", first_line("/sys/kernel/mm/transparent_hugepage/enabled", text));
  add(&list, "load", "%s", first_line("/proc/loadavg", text));
  add_system(&list);
  report->host = list.pairs;
  report->host_count = list.count;
  return !list.failed;
}

/* ---- Build and run ----------------------------------------------------------------------------- */

static bool describe_run(bench_report *report) {
  char text[64];
  time_t now = time(NULL);
  struct tm utc;
  uint32_t random = 0;
  if (!gmtime_r(&now, &utc)) return false;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = (uint32_t)clock();
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  report->time = copy(&report->arena, text);
  size_t length = strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  snprintf(text + length, sizeof text - length, "-%08" PRIx32, random);
  report->run_id = copy(&report->arena, text);
  return report->time && report->run_id;
}

bool bench_machine_describe(bench_report *report) {
  report->commit = bench_commit[0] ? bench_commit : NULL;
  report->dirty = bench_dirty;
#ifdef __clang__
  report->compiler = "clang " __clang_version__;
#else
  report->compiler = "gcc " __VERSION__;
#endif
  report->flags = BENCH_CFLAGS;
  return describe_run(report) && describe_host(report);
}

/* ---- Device ------------------------------------------------------------------------------------ */

static bool describe_device(bench_report *report, vyre_device *device) {
  static const struct {
    uint32_t bit;
    const char *name;
  } kinds[] = {{VYRE_DEVICE_CPU, "cpu"},
               {VYRE_DEVICE_INTEGRATED, "integrated"},
               {VYRE_DEVICE_DISCRETE, "discrete"},
               {VYRE_DEVICE_VIRTUAL, "virtual"}};
  const vyre_capabilities *c = vyre_device_capabilities(device);
  pair_list list = begin(&report->arena);
  if (list.failed) return false;
  char uuid[33] = "";
  bool has_uuid = false;
  for (size_t i = 0; i < sizeof c->uuid; i++) {
    snprintf(uuid + 2 * i, 3, "%02x", c->uuid[i]);
    has_uuid |= c->uuid[i] != 0;
  }
  add(&list, "name", "%s", c->name);
  add(&list, "backend", "%s", vyre_device_backend(device));
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (c->kind & kinds[i].bit) {
      add(&list, "kind", "%s", kinds[i].name);
      break;
    }
  add(&list, "profile", "%s", c->profile);
  add(&list, "driver", "%s", c->driver);
  add(&list, "uuid", "%s", has_uuid ? uuid : "");
  add(&list, "subgroup_size", "%" PRIu32, c->subgroup_size);
  add(&list, "max_workgroup_invocations", "%" PRIu32, c->max_workgroup_invocations);
  add(&list, "max_shared_bytes", "%" PRIu32, c->max_shared_bytes);
  add(&list, "max_buffer_bytes", "%" PRIu64, c->max_buffer_bytes);
  report->device = list.pairs;
  report->device_count = list.count;
  return !list.failed;
}

static bool describe_backend(bench_report *report, const vyre_backend_info *info, const char *used) {
  bench_backend *row = &report->backends[report->backend_count++];
  *row = (bench_backend){.name = copy(&report->arena, info->name),
                         .version = info->version[0] ? copy(&report->arena, info->version) : NULL};
  if (strcmp(info->name, used) == 0 && info->verdict == VYRE_VERDICT_USABLE) return row->name;
  const char *reason = info->reason[0] ? info->reason : "it was not asked for; each run measures one backend";
  row->reason = copy(&report->arena, reason);
  return row->name && row->reason;
}

static bool describe_backends(bench_report *report, vyre_context *context, const char *used) {
  vyre_backend_info info;
  uint32_t rows = 0;
  if (vyre_backends_load(context, NULL) != VYRE_OK) return true;
  while (vyre_backend_describe(context, rows, &info)) rows++;
  report->backends = vyre_arena_alloc(&report->arena, (rows + 1) * sizeof *report->backends);
  if (!report->backends) return false;
  for (uint32_t i = 0; i < rows && vyre_backend_describe(context, i, &info); i++)
    if (info.name[0] && info.verdict != VYRE_VERDICT_SHADOWED && !describe_backend(report, &info, used)) return false;
  return true;
}

bool bench_device_describe(bench_report *report, vyre_context *context, vyre_device *device) {
  return describe_device(report, device) && describe_backends(report, context, vyre_device_backend(device));
}
