/* A check's process is a fork of the kit's, without exec: the kit has one thread and no plugin open when it forks, so
 * everything works in the child, and it has all settings without passing them. What it finds lies in shared memory, so
 * that it outlives a crash; what the plugin prints goes to a file without name, whose end is told with a crash. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"
#include "tools/output.h"

enum { PRINTED_BYTES = 800 };

/* ---- The child ------------------------------------------------------------------------------- */

/* Dies with its parent, leaves no core file, and keeps what is printed. */
static void settle_in(int printed) {
  const struct rlimit none = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
}

/* Settings of nobody, or those of --config, with one plugin. Programs reach it as they are written: the optimizer would
 * leave it less to do, and count accesses and steps of another program than the oracle's. */
static vyre_config *settings_for(kit *k, const char *plugin, const char *file, const char *lanes) {
  vyre_config_options options = {.size = sizeof options, .path = file, .no_file = file == NULL, .no_environment = true};
  vyre_error error = VYRE_ERROR_INIT;
  vyre_config *config;
  vyre_status status = vyre_config_load(&options, &config, &error);
  if (status == VYRE_OK) status = vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, plugin, "vyre conform", &error);
  if (status == VYRE_OK) status = vyre_config_set(config, VYRE_CONFIG_BACKENDS_ENABLE, "", "vyre conform", &error);
  if (status == VYRE_OK) status = vyre_config_set(config, VYRE_CONFIG_CACHE_ENABLE, "off", "vyre conform", &error);
  if (status == VYRE_OK) status = vyre_config_set(config, VYRE_CONFIG_OPTIMIZER_LEVEL, "0", "vyre conform", &error);
  if (status == VYRE_OK && lanes != NULL)
    status = vyre_config_set(config, VYRE_CONFIG_CPU_REF_LANE_ORDER, lanes, "vyre conform", &error);
  if (status == VYRE_OK) return config;
  kit_fail(k, "settings: %s", error.text);
  return NULL;
}

static vyre_device *open_device(kit *k, const char *plugin, const char *name, const char *file, const char *lanes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_context *context;
  vyre_device *device;
  vyre_config *config = settings_for(k, plugin, file, lanes);
  if (config == NULL) return NULL;
  kit_doing(k, "opening %s", name);
  vyre_status status = vyre_context_create(config, NULL, &context, &error);
  if (status == VYRE_OK) status = vyre_device_open(context, name, &device, &error);
  if (status == VYRE_OK) return device;
  kit_fail(k, "%s can't be opened: %s", name, error.text);
  return NULL;
}

static bool open_devices(kit *k) {
  const kit_settings *s = k->settings;
  char name[64];
  snprintf(name, sizeof name, "%s:%u", s->name, s->device);
  k->oracle = open_device(k, s->oracle, "cpu_ref:0", NULL, "forward");
  k->reversed = open_device(k, s->oracle, "cpu_ref:0", NULL, "reversed");
  k->device = open_device(k, s->plugin, name, s->config, NULL);
  if (k->oracle == NULL || k->reversed == NULL || k->device == NULL) return false;
  k->caps = vyre_device_capabilities(k->device);
  return true;
}

/* FNV-1a of the id, so that what a check draws does not hang on which others run. */
static uint64_t start_of_random(uint64_t seed, const char *id) {
  uint64_t hash = 0xCBF29CE484222325u ^ seed;
  for (; *id != '\0'; id++) hash = (hash ^ (uint8_t)*id) * 0x100000001B3u;
  return hash;
}

_Noreturn static void be_child(const kit_settings *settings, const check_row *row, kit_outcome *outcome, int printed) {
  settle_in(printed);
  kit k = {
      .settings = settings, .check = row->id, .random = start_of_random(settings->seed, row->id), .outcome = outcome};
  bool needs_devices = row->group == GROUP_NUMERIC || row->group == GROUP_RANDOM;
  if (!needs_devices || open_devices(&k)) row->function(&k);
  fflush(stdout);
  kit_end(&k);
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* False when the time is over. The child is there to be reaped in both cases. */
static bool await_end(pid_t child, uint64_t deadline) {
  const struct timespec pause = {0, 1000000};
  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == child) return true;
    if (kit_now_ns() >= deadline) return false;
    nanosleep(&pause, NULL);
  }
}

/* Whatever the plugin started goes with it. */
static int end_child(pid_t child) {
  int ended = 0;
  kill(-child, SIGKILL);
  kill(child, SIGKILL); /* it may not have come to be a group of its own */
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return ended;
}

/* The end of what was printed, without the last line ends; "" for nothing at all. A NUL is shown as '?'. */
static void read_printed(int printed, char text[PRINTED_BYTES]) {
  off_t size = lseek(printed, 0, SEEK_END), at = size < PRINTED_BYTES ? 0 : size - PRINTED_BYTES + 1;
  ssize_t got = pread(printed, text, PRINTED_BYTES - 1, at);
  text[got > 0 ? got : 0] = '\0';
  while (got > 1 && text[got - 1] == '\n') text[--got] = '\0';
  for (ssize_t i = 0; i < got; i++)
    if (text[i] == '\0') text[i] = '?';
}

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  int length = vasprintf(&text, format, args);
  va_end(args);
  return length < 0 ? NULL : text;
}

/* What the process did that no check may do. */
static char *crash_text(const kit_outcome *o, int ended, const char *printed) {
  const char *doing = o->doing[0] != '\0' ? o->doing : "starting";
  const char *begin = printed[0] != '\0' ? "\nit printed: " : "";
  const char *before = o->text[0] != '\0' ? "\nbefore that: " : "";
  if (WIFSIGNALED(ended))
    return text_of("it ended the process by signal %d (%s) while: %s (VBP-27)%s%s%s%s", WTERMSIG(ended),
                   strsignal(WTERMSIG(ended)), doing, before, o->text, begin, printed);
  return text_of("it ended the process with exit status %d while: %s (VBP-27)%s%s%s%s", WEXITSTATUS(ended), doing,
                 before, o->text, begin, printed);
}

static char *failure_text(const kit_outcome *o, const char *printed) {
  if (o->failures > KIT_MOST_FAILURES)
    return text_of("%s\nand %u more%s%s", o->text, o->failures - KIT_MOST_FAILURES,
                   printed[0] != '\0' ? "\nit printed: " : "", printed);
  return text_of("%s%s%s", o->text, printed[0] != '\0' ? "\nit printed: " : "", printed);
}

static void judge(const kit_outcome *o, bool is_late, int ended, uint64_t limit_ns, const char *printed,
                  check_result *out) {
  out->programs = o->programs;
  out->note = text_of("%s", o->note);
  if (is_late) {
    out->verdict = KIT_TIMEOUT;
    out->text = text_of("it had not ended after %.3g s, while: %s%s%s%s%s", (double)limit_ns / 1e9, o->doing,
                        o->text[0] != '\0' ? "\nbefore that: " : "", o->text,
                        printed[0] != '\0' ? "\nit printed: " : "", printed);
  } else if (WIFSIGNALED(ended) || WEXITSTATUS(ended) != 0 || o->has_ended != 1) {
    out->verdict = KIT_CRASH;
    out->text = crash_text(o, ended, printed);
  } else if (o->verdict == KIT_FAIL) {
    out->verdict = KIT_FAIL;
    out->text = failure_text(o, printed);
  } else if (printed[0] != '\0') {
    out->verdict = KIT_FAIL;
    out->text = text_of("a plugin prints nothing, and this one printed (VBP-27): %s", printed);
  } else {
    out->verdict = o->verdict == KIT_SKIP ? KIT_SKIP : KIT_PASS;
    out->text = text_of("%s", o->text);
  }
}

static void end_texts(kit_outcome *o) {
  o->text[sizeof o->text - 1] = o->note[sizeof o->note - 1] = o->doing[sizeof o->doing - 1] = '\0';
  o->version[sizeof o->version - 1] = o->build_id[sizeof o->build_id - 1] = '\0';
}

/* Memory that is shared and a file for prints; the rest is run_in. */
typedef struct cell {
  kit_outcome *outcome;
  int printed;
} cell;

static bool cell_open(cell *c) {
  c->outcome = mmap(NULL, sizeof *c->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  c->printed = memfd_create("printed", MFD_CLOEXEC);
  if (c->outcome != MAP_FAILED && c->printed >= 0) return true;
  output_complain("conform: %s. Fix: let this process have more memory and files.", strerror(errno));
  if (c->outcome != MAP_FAILED) munmap(c->outcome, sizeof *c->outcome);
  if (c->printed >= 0) close(c->printed);
  return false;
}

static void cell_close(cell *c) {
  munmap(c->outcome, sizeof *c->outcome);
  close(c->printed);
}

static bool run_in(cell *c, const kit_settings *settings, const check_row *row, check_result *out) {
  uint64_t limit = settings->limit_ns + (row->group == GROUP_RANDOM ? settings->budget_ns : 0), began = kit_now_ns();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) be_child(settings, row, c->outcome, c->printed);
  if (child < 0) {
    output_complain("conform: %s. Fix: let this user have more processes.", strerror(errno));
    return false;
  }
  bool is_late = !await_end(child, began + limit);
  int ended = end_child(child);
  end_texts(c->outcome);
  char printed[PRINTED_BYTES];
  read_printed(c->printed, printed);
  *out = (check_result){.row = row, .ns = kit_now_ns() - began};
  judge(c->outcome, is_late, ended, limit, printed, out);
  if (out->text != NULL && out->note != NULL) return true;
  output_complain("memory is exhausted");
  return false;
}

bool check_run(const kit_settings *settings, const check_row *row, check_result *out) {
  cell c;
  *out = (check_result){.row = row};
  if (!cell_open(&c)) return false;
  bool is_done = run_in(&c, settings, row, out);
  cell_close(&c);
  return is_done;
}

/* ---- Whose file it is ------------------------------------------------------------------------ */

static void identify(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  kit_outcome *o = k->outcome;
  snprintf(o->version, sizeof o->version, "%s", r.desc->version);
  snprintf(o->build_id, sizeof o->build_id, "%s", r.desc->build_id);
  o->abi_major = r.desc->abi_major;
  o->abi_minor = r.desc->abi_minor;
  o->fingerprint = r.desc->fingerprint;
}

bool check_identify(const kit_settings *settings, plugin_identity *out) {
  static const check_row row = {"identify", GROUP_STATIC, 0, identify, "what the descriptor says"};
  cell c;
  check_result result;
  *out = (plugin_identity){0};
  if (!cell_open(&c)) return false;
  bool is_done = run_in(&c, settings, &row, &result);
  if (is_done) {
    const kit_outcome *o = c.outcome;
    *out = (plugin_identity){.abi_major = o->abi_major, .abi_minor = o->abi_minor, .fingerprint = o->fingerprint};
    memcpy(out->version, o->version, sizeof out->version);
    memcpy(out->build_id, o->build_id, sizeof out->build_id);
  }
  free(result.text);
  free(result.note);
  cell_close(&c);
  return is_done;
}

const char *check_verdict_name(kit_verdict verdict) {
  static const char *const names[] = {"pass", "fail", "skip", "crash", "timeout"};
  return names[verdict];
}
