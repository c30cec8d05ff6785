#include "hunt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/text.h>

#include "../gen/shrink.h"

/* ---- Programs -------------------------------------------------------------------------------- */

/* Most programs are short, so that many are tried; some are long. */
vyre_program *hunt_program(const hunt *h, uint64_t seed, vyre_error *error) {
  random_program_options options = h->options;
  vyre_program *p;
  if (options.statements == 0 && seed % 16 == 0) options.statements = 150;
  return random_program(seed, &options, NULL, &p, error) == VYRE_OK ? p : NULL;
}

void hunt_case(const hunt *h, uint64_t seed, const vyre_program *p, run_case *c) {
  static const uint32_t grids[][3] = { { 1, 1, 1 }, { 2, 1, 2 }, { 3, 1, 1 }, { 1, 2, 1 }, { 5, 1, 1 } };
  static const uint64_t lengths[] = { 40, 40, 37, 64, 300, 7, 1, 0 };
  random_source r = { seed ^ 0xCA5E };
  const uint32_t *grid = grids[random_below(&r, 5)];
  vyre_program_info info;
  vyre_program_describe(p, &info);
  *c = (run_case){ .grid = { grid[0], grid[1], grid[2] }, .ulp = info.ulp, .seed = seed, .mixed = true };
  c->subgroup = 1u << random_below(&r, 6);
  c->steps = random_chance(&r, 25) ? 1 + random_below(&r, 6) : 3000;
  c->work_budget = 1 + random_below(&r, 3);
  c->elements = lengths[random_below(&r, 8)];
  if (h->subgroup != 0) {
    c->subgroup = h->subgroup;
    c->steps = 1000000; /* behind a limit that is reached, flow may divide, and a device may hang there */
  }
  if (info.subgroup != 0) c->subgroup = info.subgroup;
}

/* ---- Shrinking ------------------------------------------------------------------------------- */

typedef struct question {
  const hunt *hunt;
  const variant *variant;
  run_case *input;
  bool crashed;
} question;

/* Time of the clock alone would end what waits for a busy machine; processor time, what sleeps for ever, never. */
void hunt_limit(uint32_t seconds) {
  struct itimerval own = { .it_value.tv_sec = seconds };
  setitimer(ITIMER_PROF, &own, NULL);
  alarm(30 * seconds);
}

/* In a process of its own: what does not come back is a crash, whether it ended or was ended. */
static bool fails_apart(const question *q, vyre_program *p) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    hunt_limit(HUNT_SECONDS);
    _exit(variants_fails(&q->hunt->room, q->variant, p, q->input));
  }
  if (waitpid(child, &status, 0) != child) return false;
  return q->crashed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static bool still_fails(vyre_program *p, void *ctx) {
  const question *q = ctx;
  vyre_program_info info;
  vyre_program_describe(p, &info);
  if (info.subgroup != 0) q->input->subgroup = info.subgroup;
  return q->hunt->isolate ? fails_apart(q, p) : variants_fails(&q->hunt->room, q->variant, p, q->input);
}

static char *describe(const vyre_program *p, const variant *v, const run_case *c, const char *what) {
  char line[256], *text, *all = NULL;
  if (vyre_text_print(p, &text, NULL) != VYRE_OK) return NULL;
  run_case_write(c, line, sizeof line);
  size_t room = strlen(text) + strlen(what) + sizeof line + HUNT_NAME;
  if ((all = malloc(room)) != NULL) snprintf(all, room, "// %s: %s\n// %s\n%s", v->name, what, line, text);
  free(text);
  return all;
}

static void keep(const hunt *h, const variant *v, const vyre_program *p, const run_case *c, const char *what,
                 const char *name) {
  char comment[1024];
  char line[256];
  run_case_write(c, line, sizeof line);
  snprintf(comment, sizeof comment, "%s: %.512s\n%s", v->name, what, line);
  vyre_error error = VYRE_ERROR_INIT;
  if (shrink_save(h->directory, name, comment, p, &error) != VYRE_OK)
    fprintf(stderr, "%s: %s\n", error.where, error.text);
}

void hunt_shrink(const hunt *h, const variant *v, vyre_program *p, const run_case *c, const char *what, bool crashed,
                 finding *out) {
  run_case input = *c;
  vyre_program *small = NULL;
  question q = { h, v, &input, crashed };
  const shrink_number numbers[] = { { &input.grid[0], 1 }, { &input.grid[1], 1 }, { &input.grid[2], 1 },
                                    { &input.elements, 0 }, { &input.work_budget, 0 } };
  shrink_options options = { .numbers = numbers, .number_count = sizeof numbers / sizeof *numbers,
                             .max_tests = crashed ? 500 : 0 };
  if (still_fails(p, &q)) shrink_program(p, still_fails, &q, &options, &small, NULL);
  vyre_program *kept = small != NULL ? small : p;
  verdict found;
  if (!crashed) {
    variants_check(&h->room, v, 1, kept, &input, NULL, &found);
    if (found.failed != NULL) what = found.text;
  }
  snprintf(out->name, sizeof out->name, "seed-%" PRIu64 "-%s", c->seed, v->name);
  out->text = describe(kept, v, &input, what);
  if (h->directory != NULL) keep(h, v, kept, &input, what, out->name);
  vyre_program_release(small);
}
