/* Atomics of two queues at the same time. What one dispatch does may run on one thread, so an atomic whose scope is
 * ignored shows only where something else is at the same memory meanwhile. */
#include <inttypes.h>
#include <string.h>

#include "numeric.h"

enum { QUEUES = 2, ROUNDS = 4, GROUP = 64, GROUPS = 4, TURNS = 256, ELEMENTS = 2 };

/* What each invocation does TURNS times to an element of |t|, which both queues have. $1 is the type, $2 the scope. */
typedef struct action {
  const char *name, *statement;
  uint64_t each; /* what a turn adds to an element, in all */
} action;

static const action actions[] = {
    {"atomic_add", "atomic_add(t[e], 1$1, relaxed, $2);", 1},
    {"atomic_sub", "atomic_sub(t[e], 1$1, relaxed, $2);", UINT64_MAX},
    {"atomic_xor", "atomic_xor(t[e], 1$1 << (i % 32), relaxed, $2);", 0}, /* each bit an even number of times */
    {"atomic_cas",
     "loop { let old = atomic_load(t[e], relaxed, $2); "
     "if (atomic_cas(t[e], old, old + 1$1, relaxed, $2) == old) { break; } }",
     1},
};

/* What one try holds. Whoever ends the check early leaves it to the end of the process. */
typedef struct meeting {
  vyre_executable *executable;
  vyre_buffer *buffer;
  vyre_set *set;
  vyre_queue *queues[QUEUES];
  vyre_submission *submissions[ROUNDS * QUEUES];
} meeting;

static bool prepare(kit *k, vyre_program *program, const void *start, uint64_t bytes, meeting *m, vyre_error *error) {
  bool made = vyre_compile(k->device, program, NULL, &m->executable, error) == VYRE_OK &&
              vyre_buffer_create(k->device, bytes, 0, &m->buffer, error) == VYRE_OK &&
              vyre_buffer_write(m->buffer, 0, start, bytes, error) == VYRE_OK;
  if (!made) return false;
  vyre_arg arg = vyre_arg_buffer("t", m->buffer);
  made = vyre_set_create(m->executable, &arg, 1, &m->set, error) == VYRE_OK;
  for (int q = 0; q < QUEUES && made; q++) made = vyre_queue_create(k->device, &m->queues[q], error) == VYRE_OK;
  return made;
}

static bool run(meeting *m, vyre_error *error) {
  const uint64_t grid[3] = {GROUPS, 1, 1}, timeout_ns = 60000000000u;
  for (int i = 0; i < ROUNDS * QUEUES; i++)
    if (vyre_queue_dispatch(m->queues[i % QUEUES], m->set, grid, &m->submissions[i], error) != VYRE_OK) return false;
  for (int i = 0; i < ROUNDS * QUEUES; i++)
    if (vyre_submission_wait(m->submissions[i], timeout_ns, error) != VYRE_OK) return false;
  return true;
}

static void release(const meeting *m) {
  for (int i = 0; i < ROUNDS * QUEUES; i++) vyre_submission_destroy(m->submissions[i]);
  for (int q = 0; q < QUEUES; q++) vyre_queue_destroy(m->queues[q]);
  vyre_set_destroy(m->set);
  vyre_buffer_destroy(m->buffer);
  vyre_executable_destroy(m->executable);
}

/* A word of 4 or 8 bytes as it lies in memory, little endian. */
static uint64_t word_at(const uint8_t *memory, uint64_t element, uint64_t width) {
  uint64_t word = 0;
  memcpy(&word, memory + element * width, width);
  return word;
}

static void compare(kit *k, const action *a, const char *type, const char *scope, const uint8_t *memory,
                    uint64_t start, uint64_t width) {
  uint64_t turns = (uint64_t)QUEUES * ROUNDS * GROUPS * GROUP * TURNS / ELEMENTS;
  uint64_t wanted = start + a->each * turns;
  if (width == 4) wanted = (uint32_t)wanted;
  for (uint64_t e = 0; e < ELEMENTS; e++) {
    uint64_t found = word_at(memory, e, width);
    if (found == wanted) continue;
    kit_fail(k, "%s of %s, scope %s, from two queues at the same time: t[%" PRIu64 "]: wanted %" PRIu64
             " (0x%" PRIX64 ") after %" PRIu64 " updates, found %" PRIu64 " (0x%" PRIX64 "): updates were lost, as if "
             "the scope were a smaller one", a->name, type, scope, e, wanted, wanted, turns, found, found);
    return;
  }
}

static void try_action(kit *k, const action *a, const char *type, const char *scope, uint64_t width) {
  char text[NUMERIC_TEXT], statement[NUMERIC_TEXT];
  numeric_expand(statement, a->statement, (const char *const[]){type, scope});
  numeric_print(text,
                "program meet workgroup(%d) {\n  rw t: %s[%d];\n  let e = gid.x %% %du32;\n"
                "  for (i in 0..%d) {\n    %s\n  }\n}\n", GROUP, type, ELEMENTS, ELEMENTS, TURNS, statement);
  vyre_program *program = numeric_claimed(k, text, NULL);
  if (!program) return;
  const uint64_t start = 1000;
  uint8_t memory[8 * ELEMENTS];
  for (uint64_t e = 0; e < ELEMENTS; e++) memcpy(memory + e * width, &start, width);
  meeting m = {0};
  vyre_error error = VYRE_ERROR_INIT;
  kit_doing(k, "%s of %s, scope %s, from two queues", a->name, type, scope);
  bool done = prepare(k, program, memory, width * ELEMENTS, &m, &error) && run(&m, &error) &&
              vyre_buffer_read(m.buffer, 0, memory, width * ELEMENTS, &error) == VYRE_OK;
  kit_count_programs(k, 1);
  if (done) compare(k, a, type, scope, memory, start, width);
  else kit_fail(k, "%s of %s, scope %s, from two queues: wanted VYRE_OK, found %s: %s", a->name, type, scope,
                vyre_status_name(error.status), error.text);
  if (!done && error.status == VYRE_ERR_TIMEOUT) kit_end(k);
  release(&m);
  vyre_program_release(program);
}

void check_atomics_queues(kit *k) {
  static const struct {
    const char *name;
    uint64_t width;
  } types[] = {{"u32", 4}, {"u64", 8}};
  static const char *const scopes[] = {"device", "system"};
  if (k->caps->max_queues < QUEUES) {
    kit_skip(k, "the device has %u queue", k->caps->max_queues);
    return;
  }
  for (size_t a = 0; a < sizeof actions / sizeof *actions; a++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      for (size_t s = 0; s < sizeof scopes / sizeof *scopes && !kit_is_full(k); s++)
        try_action(k, &actions[a], types[t].name, scopes[s], types[t].width);
  numeric_conclude(k);
}
