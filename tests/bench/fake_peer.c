/* A peer for tests, that speaks the protocol by hand and breaks it as it is told. It adds two f32 arrays rightly, and
 * says that a launch takes FAKE_NS (1000) with noise that FAKE_SEED determines; or with FAKE_WORK it really computes
 * for so many steps, and measures that.
 *
 * What it does wrong stands in the variable FAKE_<its file's name>, one of the words below; nothing if it is not set.
 * Written by hand, so that the harness is not tested against the same library's idea of the protocol. */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *fault;
static uint64_t state;
static char *memory;
static float *a, *b, *o;
static uint64_t count;
static bool is_spoilt;

static bool has(const char *word) {
  return strcmp(fault, word) == 0;
}

static double number(const char *name, double fallback) {
  const char *text = getenv(name);
  return text ? atof(text) : fallback;
}

static double uniform(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

/* Reads the work up to "ready". */
static void read_work(void) {
  char line[512], name[64], way[8], type[64];
  struct stat info;
  uint64_t elements, offset;
  memory = fstat(3, &info) == 0 && S_ISREG(info.st_mode)
               ? mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0)
               : NULL;
  while (fgets(line, sizeof line, stdin) && strcmp(line, "ready\n") != 0) {
    if (sscanf(line, "array %63s %7s %63s %" SCNu64 " %" SCNu64, name, way, type, &elements, &offset) != 5) continue;
    float *at = (float *)(void *)(memory + offset);
    if (name[0] == 'a') a = at;
    if (name[0] == 'b') b = at;
    if (name[0] == 'o') o = at;
    count = elements;
  }
}

static void answer(const char *text) {
  printf("%s\n", text);
  fflush(stdout);
}

static void prepare(const char *name) {
  if (has("refuse")) {
    answer("no it does not know how");
    exit(0);
  }
  if (has("no-reason")) answer("no");
  if (has("crash-early")) raise(SIGKILL);
  if (has("exit-early")) {
    fputs("fake: a library is missing\n", stderr);
    exit(3);
  }
  if (has("silent")) sleep(60);
  if (has("greet")) answer("hello");
  if (has("nameless")) answer("ok \t1\tb\tf\th\td\tcpu\t0\t1");
  if (has("ten-fields")) answer("ok n\t1\tb\tf\th\td\tcpu\t0\t1\tx");
  if (has("no-parts")) answer("ok n\t1\tb\tf\th\td\tcpu\t0\t0");
  if (has("bad-bytes")) answer("ok n\t1\tb\tf\th\td\tcpu\t-5\t1");
  if (has("long-line")) {
    for (int i = 0; i < 20000; i++) putchar('x');
    answer("");
  }
  if (has("flood"))
    for (int i = 0; i < 20000; i++) fputs("a message of a library that likes to talk\n", stderr);
  if (has("babble") && fork() == 0)
    for (;;) fputs("a message of a library that never ends\n", stderr);
  if (has("shrinks") && ftruncate(3, 0) != 0) fputs("it keeps its size\n", stderr);
  if (has("deaf")) {
    printf("ok %s\n", name);
    for (int i = 0; i < 3000; i++) answer("time 1000 -");
    sleep(60);
  }
  if (has("short") || has("control")) {
    answer(has("short") ? "ok short" : "ok \033[31mn\t1\tb\tf\th\td\tcpu\t0\t1");
    return;
  }
  printf("ok %s\t1.0\tmake\t-O3\tby hand\tfake device\tcpu\t24\t1\n", name);
  fflush(stdout);
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* What a launch really takes, a chain of |steps| multiplications. */
static double work(uint64_t steps, uint32_t launches) {
  double start = now_ns();
  for (uint32_t launch = 0; launch < launches; launch++) {
    uint64_t x = launch + 1;
    for (uint64_t i = 0; i < steps; i++) {
      x = x * 6364136223846793005u + 1;
      __asm__ volatile("" : "+r"(x));
    }
  }
  return (now_ns() - start) / launches;
}

static void sample(uint32_t launches) {
  if (has("crash")) abort();
  if (has("stop-clock")) {
    answer("time - -");
    return;
  }
  static const char *const words[][2] = {
      {"negative", "time -3 -"}, {"nan", "time nan -"},   {"inf", "time inf -"},     {"zero", "time 0 -"},
      {"text", "time soon -"},   {"huge", "time 1e999 -"}, {"hex", "time 0x10 -"},   {"tail", "time 5 - more"},
      {"one-time", "time 5"},    {"done", "done"},        {"empty", ""},             {"late-no", "no not today"},
      {"never", "time 1e-300 -"}, {"ages", "time 1e200 -"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (has(words[i][0])) {
      answer(words[i][1]);
      return;
    }
  is_spoilt = false;
  uint64_t steps = (uint64_t)number("FAKE_WORK", 0);
  printf("time %.3f -\n", steps ? work(steps, launches) : number("FAKE_NS", 1000) * (1 + 0.02 * uniform()));
  fflush(stdout);
}

static void output(void) {
  for (uint64_t i = 0; i < count && o && a && b; i++) o[i] = is_spoilt ? 777 : a[i] + b[i];
  if (has("wrong") && o && count) o[count - 1] += 1;
  if (has("spoils-inputs") && a) a[0] += 1;
  answer("done");
}

int main(int argc, char **argv) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *name = slash ? slash + 1 : "fake";
  char variable[128], line[512];
  snprintf(variable, sizeof variable, "FAKE_%s", name);
  fault = getenv(variable) ? getenv(variable) : "";
  state = (uint64_t)number("FAKE_SEED", 1);
  read_work();
  prepare(name);
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "sample ", 7) == 0) {
      bool is_device = strstr(line, " device ") != NULL;
      const char *launches = strrchr(line, ' ');
      if (is_device) answer("no it has no clock of its own");
      else sample((uint32_t)strtoul(launches ? launches : "1", NULL, 10));
    } else if (strcmp(line, "output\n") == 0) {
      output();
    } else if (strcmp(line, "poison\n") == 0) {
      is_spoilt = true;
      answer("done");
    } else if (strcmp(line, "quit\n") == 0) {
      if (has("stays")) sleep(60);
      return 0;
    }
  }
  if (has("stays")) sleep(60);
  return 0;
}
