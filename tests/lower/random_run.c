/* Random programs in bulk: each seed makes a program and a case, which the oracle runs in both orders of lanes and the
 * engine for each table of opcodes, and devices that are named. What differs is made small, kept and printed. Workers
 * are processes, so that a crash or a program that does not end is a finding like any other. */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vyre/text.h>

#include "hunt.h"

enum { MAX_JOBS = 256, MAX_VARIANTS = 32, MAX_DEVICES = 8, FOUND_ENOUGH = 40 };

static const char usage[] =
  "usage: random_run [OPTION...] [FILE...]\n"
  "\n"
  "Runs random programs in several ways that must agree, or the kept programs in FILEs.\n"
  "  --from SEED        first seed (1)\n"
  "  --count N          seeds to take (1000)\n"
  "  --seconds S        take no new seed after so long\n"
  "  --jobs J           processes (1)\n"
  "  --target A,B       variants to run (all: those that --list marks with *)\n"
  "  --device NAME      a device of libvyre besides, as `vyre run --backend` takes it; may be repeated\n"
  "  --backend-path DIR where its plugin lies\n"
  "  --statements N     about how many in each program; as the seed says if left out\n"
  "  --reuse P          take expressions that stand before again, P times in 100 (0)\n"
  "  --save DIR         keep small programs that differ there\n"
  "  --list             name the variants\n"
  "Ends with 0 where all agree, 1 where something differs, 2 for wrong usage.\n";

/* What a worker and its parent both see. */
typedef struct worker {
  _Atomic uint64_t seed; /* that it works on */
  volatile uint32_t running; /* number of the variant that runs, UINT32_MAX for the oracle */
  uint64_t programs, runs, refused, trapped;
} worker;

typedef struct shared {
  _Atomic uint64_t next;  /* seed that nobody has taken */
  _Atomic uint64_t found; /* differences */
  worker workers[MAX_JOBS];
} shared;

typedef struct run {
  hunt hunt;
  variant variants[MAX_VARIANTS];
  const char *devices[MAX_DEVICES];
  uint32_t device_count;
  uint64_t from, count;
  double seconds;
  uint32_t jobs;
  shared *shared;
  pid_t pids[MAX_JOBS];
  vyre_config *config;
  double begun;
} run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "random_run: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  exit(2);
}

/* ---- Differences ----------------------------------------------------------------------------- */

static void report(run *r, const variant *v, vyre_program *p, const run_case *c, const char *what, bool crashed) {
  finding found;
  if (atomic_fetch_add(&r->shared->found, 1) >= FOUND_ENOUGH) return;
  hunt_shrink(&r->hunt, v, p, c, what, crashed, &found);
  printf("== %s\n%s\n", found.name, found.text != NULL ? found.text : "no memory for its text");
  fflush(stdout);
  free(found.text);
}

/* ---- Workers --------------------------------------------------------------------------------- */

static const variant oracle = { .name = "oracle", .where = RUN_ORACLE };

/* A seed whose run ended the worker before this one. */
static void look_at_crash(run *r, uint64_t seed, uint32_t running, const char *what) {
  static const variant generator = { .name = "generator", .where = RUN_NOTHING };
  vyre_error error = VYRE_ERROR_INIT;
  run_case c;
  vyre_program *p = hunt_program(&r->hunt, seed, &error);
  if (p == NULL) return;
  hunt_case(&r->hunt, seed, p, &c);
  const variant *v = running == UINT32_MAX ? &oracle : &generator;
  if (running < r->hunt.variant_count) v = &r->variants[running];
  report(r, v, p, &c, what, true);
  vyre_program_release(p);
}

static void work_on(run *r, worker *w, uint64_t seed) {
  vyre_error error = VYRE_ERROR_INIT;
  verdict found;
  run_case c;
  vyre_program *p = hunt_program(&r->hunt, seed, &error);
  w->programs++;
  if (p == NULL) {
    atomic_fetch_add(&r->shared->found, 1);
    printf("== seed-%" PRIu64 ": no program: %s\n", seed, error.text);
    return;
  }
  hunt_case(&r->hunt, seed, p, &c);
  variants_check(&r->hunt.room, r->variants, r->hunt.variant_count, p, &c, &w->running, &found);
  w->runs += found.runs;
  w->refused += found.refused;
  w->trapped += found.trapped;
  hunt_limit(0);
  if (found.failed != NULL) report(r, found.failed, p, &c, found.text, false);
  vyre_program_release(p);
}

static void open_devices(run *r) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_context *context;
  if (r->device_count == 0) return;
  if (vyre_context_create(r->config, NULL, &context, &error) != VYRE_OK) die("%s", error.text);
  for (uint32_t i = 0; i < r->device_count; i++) {
    vyre_device *device;
    if (vyre_device_open(context, r->devices[i], &device, &error) != VYRE_OK) die("%s: %s", r->devices[i], error.text);
    const vyre_capabilities *has = vyre_device_capabilities(device);
    r->hunt.options.avoid |= ~(uint32_t)has->needs | VYRE_NEED_SHOULD_STOP;
    r->hunt.options.subgroups = has->subgroup_sizes;
    r->hunt.subgroup = has->subgroup_size;
    for (uint32_t k = 0; k < r->hunt.variant_count; k++)
      if (r->variants[k].where == RUN_DEVICE && r->variants[k].name == r->devices[i]) r->variants[k].device = device;
  }
}

__attribute__((noreturn)) static void work(run *r, worker *w) {
  open_devices(r);
  if (!variants_open(&r->hunt.room)) die("no memory");
  uint64_t last = r->from + r->count;
  while (r->seconds == 0 || now() - r->begun < r->seconds) {
    uint64_t seed = atomic_fetch_add(&r->shared->next, 1);
    if (seed >= last || atomic_load(&r->shared->found) >= FOUND_ENOUGH) break;
    atomic_store(&w->seed, seed);
    w->running = UINT32_MAX - 1;
    hunt_limit(HUNT_SECONDS);
    work_on(r, w, seed);
  }
  fflush(NULL);
  _exit(0);
}

/* Starts a worker; after a crash of the one before with what that left. */
static void start(run *r, uint32_t number, int status) {
  worker *w = &r->shared->workers[number];
  uint64_t seed = atomic_load(&w->seed);
  uint32_t running = w->running;
  fflush(NULL);
  r->pids[number] = fork();
  if (r->pids[number] < 0) die("fork: no process");
  if (r->pids[number] > 0) return;
  if (status != 0) {
    char what[64];
    int sign = WTERMSIG(status);
    bool late = sign == SIGALRM || sign == SIGPROF;
    if (late) snprintf(what, sizeof what, "no end after %d s", HUNT_SECONDS);
    else snprintf(what, sizeof what, "ended by signal %d (%s)", sign, strsignal(sign));
    if (!variants_open(&r->hunt.room)) die("no memory");
    look_at_crash(r, seed, running, what);
    variants_close(&r->hunt.room);
  }
  work(r, w);
}

static bool show_progress(const run *r, double *shown) {
  uint64_t done = 0;
  if (!isatty(2) || now() - *shown < 2) return false;
  for (uint32_t i = 0; i < r->jobs; i++) done += r->shared->workers[i].programs;
  fprintf(stderr, "\r%" PRIu64 " programs, %" PRIu64 " differences, %.0f s ", done, atomic_load(&r->shared->found),
          now() - r->begun);
  *shown = now();
  return true;
}

static void run_workers(run *r) {
  uint32_t alive = r->jobs;
  double shown = now();
  bool any = false;
  for (uint32_t i = 0; i < r->jobs; i++) start(r, i, 0);
  while (alive > 0) {
    int status;
    pid_t pid = waitpid(-1, &status, isatty(2) ? WNOHANG : 0);
    any |= show_progress(r, &shown);
    if (pid == 0) nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    for (uint32_t i = 0; pid > 0 && i < r->jobs; i++) {
      if (r->pids[i] != pid) continue;
      if (WIFSIGNALED(status)) start(r, i, status);
      else alive--;
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0) exit(WEXITSTATUS(status));
    }
    if (pid < 0) break;
  }
  if (any) fprintf(stderr, "\n");
}

static int show_sum(const run *r) {
  worker sum = { 0 };
  double seconds = now() - r->begun;
  for (uint32_t i = 0; i < r->jobs; i++) {
    const worker *w = &r->shared->workers[i];
    sum.programs += w->programs;
    sum.runs += w->runs;
    sum.refused += w->refused;
    sum.trapped += w->trapped;
  }
  uint64_t found = atomic_load(&r->shared->found);
  printf("seeds %" PRIu64 "..: %" PRIu64 " programs, %" PRIu64 " runs, %" PRIu64 " refused, %" PRIu64 " trapped, "
         "%" PRIu64 " differences, %.1f s, %.0f programs/s\n",
         r->from, sum.programs, sum.runs, sum.refused, sum.trapped, found, seconds, (double)sum.programs / seconds);
  return found > 0;
}

/* ---- Kept programs --------------------------------------------------------------------------- */

static char *read_file(const char *path) {
  char *text = NULL;
  FILE *f = fopen(path, "rb");
  size_t count = 0, room = 1 << 22;
  if (f != NULL && (text = malloc(room)) != NULL) count = fread(text, 1, room - 1, f);
  if (f != NULL) fclose(f);
  if (text == NULL) die("%s can't be read. Fix: name a kept program", path);
  text[count] = 0;
  return text;
}

/* True if it differs. */
static bool replay(run *r, const char *path) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  run_case c;
  verdict found;
  char *text = read_file(path), *line = strstr(text, "// case ");
  if (line == NULL || !run_case_read(&c, line + 3)) die("%s has no line `// case ...`. Fix: name a kept program", path);
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &p, &error) != VYRE_OK) die("%s: %s", path, error.text);
  free(text);
  variants_check(&r->hunt.room, r->variants, r->hunt.variant_count, p, &c, NULL, &found);
  if (found.failed != NULL) printf("%s: %s: %s\n", path, found.failed->name, found.text);
  else if (found.runs == 0) printf("%s: refused: %s\n", path, found.text);
  vyre_program_release(p);
  return found.failed != NULL || found.runs == 0;
}

static int replay_all(run *r, char **paths, int count) {
  int differ = 0;
  open_devices(r);
  if (!variants_open(&r->hunt.room)) die("no memory");
  for (int i = 0; i < count; i++) differ += replay(r, paths[i]);
  printf("%d kept programs, %d differ\n", count, differ);
  variants_close(&r->hunt.room);
  if (r->device_count == 0) vyre_config_destroy(r->config);
  return differ > 0;
}

/* ---- Options --------------------------------------------------------------------------------- */

static void choose_variants(run *r, const char *names) {
  char list[256];
  snprintf(list, sizeof list, "%s", names);
  for (char *rest, *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
    uint32_t before = r->hunt.variant_count;
    for (uint32_t i = 0; i < variants_plain_count; i++)
      if (strcmp(name, variants_plain[i].name) == 0 || (strcmp(name, "all") == 0 && !variants_plain[i].asked))
        r->variants[r->hunt.variant_count++ % MAX_VARIANTS] = variants_plain[i];
    if (r->hunt.variant_count == before || r->hunt.variant_count + MAX_DEVICES > MAX_VARIANTS)
      die("no variant %s. Fix: --list names them", name);
  }
}

static void add_device(run *r, const char *name) {
  if (r->device_count == MAX_DEVICES) die("more than %d devices. Fix: name fewer", MAX_DEVICES);
  r->devices[r->device_count++] = name;
  r->hunt.isolate = false;
}

static uint64_t number(const char *option, const char *text) {
  char *end;
  uint64_t value = strtoull(text, &end, 0);
  if (*text < '0' || *text > '9' || *end != 0) die("--%s takes a number, not %s. Fix: write digits", option, text);
  return value;
}

static int list_variants(void) {
  for (uint32_t i = 0; i < variants_plain_count; i++)
    printf("%s%s\n", variants_plain[i].name, variants_plain[i].asked ? "" : " *");
  return 0;
}

static void set_backend_path(run *r, const char *path) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_config_set(r->config, VYRE_CONFIG_BACKENDS_PATH, path, "--backend-path", &error) != VYRE_OK)
    die("%s", error.text);
}

static void parse_options(run *r, int argc, char **argv) {
  static const struct option options[] = {
    { "from", 1, 0, 'f' },    { "count", 1, 0, 'c' },        { "seconds", 1, 0, 's' },    { "jobs", 1, 0, 'j' },
    { "target", 1, 0, 't' },  { "device", 1, 0, 'd' },       { "backend-path", 1, 0, 'b' },
    { "save", 1, 0, 'o' },    { "reuse", 1, 0, 'r' },
    { "list", 0, 0, 'l' },    { "statements", 1, 0, 'n' },   { "help", 0, 0, 'h' },       { 0, 0, 0, 0 },
  };
  const char *targets = "all";
  for (int o, at; (o = getopt_long(argc, argv, "", options, &at)) != -1;) switch (o) {
    case 'f': r->from = number("from", optarg); break;
    case 'c': r->count = number("count", optarg); break;
    case 's': r->seconds = (double)number("seconds", optarg); break;
    case 'j': r->jobs = (uint32_t)number("jobs", optarg); break;
    case 't': targets = optarg; break;
    case 'd': add_device(r, optarg); break;
    case 'b': set_backend_path(r, optarg); break;
    case 'o': r->hunt.directory = optarg; break;
    case 'n': r->hunt.options.statements = (uint32_t)number("statements", optarg); break;
    case 'r': r->hunt.options.reuse = (uint32_t)number("reuse", optarg); break;
    case 'l': exit(list_variants());
    case 'h': exit(fputs(usage, stdout) < 0);
    default: fputs(usage, stderr); exit(2);
  }
  if (r->jobs == 0 || r->jobs > MAX_JOBS) die("--jobs takes 1 to %d. Fix: say how many processes", MAX_JOBS);
  choose_variants(r, targets);
  for (uint32_t i = 0; i < r->device_count; i++)
    r->variants[r->hunt.variant_count++] = (variant){ .name = r->devices[i], .where = RUN_DEVICE };
}

int main(int argc, char **argv) {
  vyre_error error = VYRE_ERROR_INIT;
  run r = { .from = 1, .count = 1000, .jobs = 1, .begun = now(),
            .hunt = { .isolate = true, .options = { .reproducible = true } } };
  r.hunt.variants = r.variants;
  if (vyre_config_load(NULL, &r.config, &error) != VYRE_OK) die("%s", error.text);
  parse_options(&r, argc, argv);
  r.shared = mmap(NULL, sizeof *r.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (r.shared == MAP_FAILED) die("no memory");
  if (optind < argc) return replay_all(&r, argv + optind, argc - optind);
  atomic_store(&r.shared->next, r.from);
  run_workers(&r);
  vyre_config_destroy(r.config);
  return show_sum(&r);
}
