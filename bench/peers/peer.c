/* The protocol of peer.h: reads requests, checks them, calls the peer, answers.
 *
 * What the harness says is checked as if it came from anyone, since a peer can also be started by hand. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHARED_FD = 3, PAGE = 4096, HUGE_PAGE = 2 << 20, LINE_SIZE = 1024 };

typedef struct shared_memory {
  unsigned char *start;
  uint64_t size;
} shared_memory;

static const struct {
  const char *name;
  uint32_t bytes;
} types[] = {{"bool", 1}, {"u8", 1},  {"i8", 1},  {"u16", 2}, {"i16", 2}, {"f16", 2}, {"bf16", 2},
             {"u32", 4},  {"i32", 4}, {"f32", 4}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

double peer_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

const char *peer_reason(const char *format, ...) {
  static char text[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

void *peer_memory(uint64_t bytes) {
  if (bytes > SIZE_MAX - 2 * HUGE_PAGE) return NULL;
  size_t size = (bytes / HUGE_PAGE + 2) * HUGE_PAGE;
  char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  start += -(uintptr_t)start % HUGE_PAGE;
  madvise(start, size - HUGE_PAGE, MADV_HUGEPAGE);
  return start;
}

const char *peer_cpu(void) {
  static char line[256];
  FILE *file = fopen("/proc/cpuinfo", "re");
  char *name = NULL;
  while (!name && file && fgets(line, sizeof line, file))
    if (!strncmp(line, "model name", 10)) name = strchr(line, ':');
  if (file) fclose(file);
  if (!name) return "CPU";
  name[strcspn(name, "\n")] = '\0';
  return name + 1 + strspn(name + 1, " ");
}

_Noreturn static void missing(const char *what, const char *name) {
  fprintf(stderr, "peer: the work has no %s \"%s\"\n", what, name);
  exit(2);
}

const peer_array *peer_find(const peer_work *work, const char *name) {
  for (uint32_t i = 0; i < work->array_count; i++)
    if (!strcmp(work->arrays[i].name, name)) return &work->arrays[i];
  missing("array", name);
}

static const peer_param *param_of(const peer_work *work, const char *name) {
  for (uint32_t i = 0; i < work->param_count; i++)
    if (!strcmp(work->params[i].name, name)) return &work->params[i];
  return NULL;
}

double peer_value(const peer_work *work, const char *name) {
  const peer_param *found = param_of(work, name);
  if (!found) missing("parameter", name);
  return found->value;
}

double peer_value_or(const peer_work *work, const char *name, double otherwise) {
  const peer_param *found = param_of(work, name);
  return found ? found->value : otherwise;
}

bool peer_is_probe(const peer_work *work) {
  return !strncmp(work->id, "probe.", 6);
}

uint32_t peer_buffer_sets(const peer_work *work, uint32_t most) {
  double sets = peer_value_or(work, "buffer_sets", 1);
  return sets >= 1 && sets <= most ? (uint32_t)sets : 0;
}

/* ---- What the harness says before "ready" ---- */

static bool end_of(const char *text) {
  return text[strspn(text, " \n")] == '\0';
}

/* Each takes the rest of a line after its first word; NULL or what is wrong with it. */

static const char *read_case(peer_work *work, const char *rest) {
  int used = 0;
  if (sscanf(rest, "%63s %" SCNu64 "%n", work->id, &work->n, &used) != 2 || !end_of(rest + used))
    return "case takes an id and a size";
  return NULL;
}

static const char *read_array(peer_work *work, const shared_memory *shared, const char *rest) {
  if (work->array_count == PEER_MAX_ARRAYS) return "too many arrays";
  peer_array *array = &work->arrays[work->array_count];
  char direction[8];
  uint64_t offset;
  int used = 0;
  if (sscanf(rest, "%63s %7s %63s %" SCNu64 " %" SCNu64 "%n", array->name, direction, array->type, &array->count,
             &offset, &used) != 5 ||
      !end_of(rest + used))
    return "array takes a name, in or out, a type, a count and an offset";

  array->output = !strcmp(direction, "out");
  if (!array->output && strcmp(direction, "in")) return "an array is in or out";
  uint64_t element = 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(array->type, types[i].name)) element = types[i].bytes;
  if (!element) return "an array has a type that is not known";
  if (array->count > UINT64_MAX / element) return "an array is too large";
  array->bytes = array->count * element;
  if (offset % PAGE) return "an array's offset is no multiple of 4096";
  if (offset > shared->size || array->bytes > shared->size - offset) return "an array ends behind the shared memory";
  array->host = shared->start + offset;
  work->array_count++;
  return NULL;
}

static const char *read_param(peer_work *work, const char *rest) {
  if (work->param_count == PEER_MAX_PARAMS) return "too many parameters";
  peer_param *param = &work->params[work->param_count];
  int used = 0;
  if (sscanf(rest, "%63s %lf%n", param->name, &param->value, &used) != 2 || !end_of(rest + used))
    return "param takes a name and a number";
  work->param_count++;
  return NULL;
}

/* The part of |line| behind |word| and a space or the end; NULL if it begins otherwise. */
static const char *after(const char *line, const char *word) {
  size_t length = strlen(word);
  if (strncmp(line, word, length)) return NULL;
  return line[length] == ' ' || line[length] == '\n' || line[length] == '\0' ? line + length : NULL;
}

/* Reads up to "ready". NULL, or why the work was not understood. */
static const char *read_work(peer_work *work, const shared_memory *shared, FILE *in) {
  char line[LINE_SIZE];
  while (fgets(line, sizeof line, in)) {
    const char *rest, *fault;
    if ((rest = after(line, "case"))) fault = read_case(work, rest);
    else if ((rest = after(line, "array"))) fault = read_array(work, shared, rest);
    else if ((rest = after(line, "param"))) fault = read_param(work, rest);
    else if (after(line, "ready")) return work->id[0] ? NULL : "there was no case before ready";
    else fault = "a line is not of the protocol";
    if (fault) return fault;
  }
  return "the harness ended before it said ready";
}

/* Without a descriptor 3 there is no shared memory, which is enough for a work without arrays. */
static const char *map_shared(shared_memory *shared) {
  struct stat status;
  *shared = (shared_memory){0};
  if (fstat(SHARED_FD, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0) return NULL;
  void *start = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
  if (start == MAP_FAILED) return peer_reason("the shared memory can't be mapped: %s", strerror(errno));
  *shared = (shared_memory){start, (uint64_t)status.st_size};
  return NULL;
}

/* ---- Answers ---- */

/* A field of a line: without what would end the field or the line. */
static void put_field(FILE *out, const char *text, char end) {
  for (const char *c = text ? text : ""; *c; c++) fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
  fputc(end, out);
}

static void refuse(FILE *out, const char *reason) {
  fputs("no ", out);
  put_field(out, reason, '\n');
}

static void agree(FILE *out, const peer_identity *who) {
  fputs("ok ", out);
  const char *fields[] = {who->name, who->version, who->build, who->flags, who->how, who->device, who->kind};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) put_field(out, fields[i], '\t');
  fprintf(out, "%" PRIu64 "\t%" PRIu64 "\n", who->bytes, who->parts);
}

static void put_ns(FILE *out, double ns) {
  if (ns < 0 || !isfinite(ns)) fputs(" -", out);
  else fprintf(out, " %.3f", ns);
}

static const char *take_sample(const peer_program *program, FILE *out, const char *rest) {
  static const char *const clocks[] = {"device", "resident", "readback", "e2e"};
  char name[16];
  uint32_t launches;
  int used = 0;
  if (sscanf(rest, "%15s %" SCNu32 "%n", name, &launches, &used) != 2 || !end_of(rest + used) || launches == 0)
    return "sample takes a clock and a number of launches above 0";
  for (uint32_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
    if (strcmp(name, clocks[i])) continue;
    peer_times times = {-1, -1};
    const char *reason = program->sample((peer_clock)i, launches, &times);
    if (reason) return reason;
    fputs("time", out);
    put_ns(out, times.wall_ns);
    put_ns(out, times.device_ns);
    fputc('\n', out);
    return NULL;
  }
  return "a clock is device, resident, readback or e2e";
}

/* One request; NULL, or why it can't be met. */
static const char *serve(const peer_program *program, FILE *out, const char *line) {
  const char *rest, *reason;
  if ((rest = after(line, "sample"))) return take_sample(program, out, rest);
  if (after(line, "output")) reason = program->output();
  else if (after(line, "poison")) reason = program->poison();
  else return "a request is sample, output, poison or quit";
  if (!reason) fputs("done\n", out);
  return reason;
}

/* Libraries may print to descriptor 1; the protocol keeps a descriptor of its own. */
static FILE *own_output(void) {
  int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, SHARED_FD + 1);
  if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
  return fdopen(own, "w");
}

int peer_main(const peer_program *program) {
  static peer_work work;
  static shared_memory shared;
  FILE *out = own_output();
  if (!out) return 2;
  peer_identity identity = {.parts = 1};
  const char *reason = map_shared(&shared);
  if (!reason) reason = read_work(&work, &shared, stdin);
  if (!reason) reason = program->prepare(&work, &identity);
  if (reason) {
    refuse(out, reason);
    fclose(out);
    return 0;
  }
  agree(out, &identity);
  fflush(out);

  char line[LINE_SIZE];
  while (fgets(line, sizeof line, stdin) && !after(line, "quit")) {
    reason = serve(program, out, line);
    if (reason) refuse(out, reason);
    if (fflush(out)) break; /* nobody listens any more */
  }
  fclose(out);
  return 0;
}
