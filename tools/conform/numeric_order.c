/* Memory order between invocations: what release and acquire, fences, seq_cst and barriers of the grid forbid, at each
 * scope; and programs that wait for workgroups which started before, where a device claims that they run on. */
#include <stdio.h>
#include <string.h>

#include "numeric.h"

enum { ACROSS = 1, WITHIN = 2, TOTAL = 4, STORE = 8 };

enum { PAIRS = 32, ROUNDS = 128, SIZE = 128 };

typedef struct litmus {
  const char *name;
  uint32_t flags;
  const char *text;
} litmus;

static const litmus tests[] = {
#define X(name, flags, text) {#name, flags, text},
#include "litmus.def"
#undef X
};

/* What publishes and what receives. */
static const char *const pairings[][2] = {{"release", "acquire"}, {"seq_cst", "seq_cst"}, {"acq_rel", "acq_rel"}};
static const char *const scopes[] = {"workgroup", "device", "system"};

/* The second pairing is seq_cst, the third acq_rel. */
static bool takes_pairing(const litmus *t, size_t pairing) {
  if ((t->flags & TOTAL) != 0) return pairing == 1;
  return pairing != 2 || (t->flags & STORE) == 0;
}

static bool takes_scope(const litmus *t, size_t scope) {
  return scope > 0 || (t->flags & WITHIN) != 0;
}

static const char across_head[] = "program p { const ROUNDS = 128; const SIZE = 1; rw a: u32[]; rw b: u32[]; rw c: "
                                  "u32[]; rw bad: u32[1]; rw seen: u32[1];"
                                  "shared s: u32[1024]; let side = wid.x % 2; let base = wid.x / 2 * ROUNDS;";
static const char within_head[] =
    "program p workgroup(128) { const ROUNDS = 8; const SIZE = 128; rw a: u32[]; rw b: u32[]; rw c: u32[]; rw bad: "
    "u32[1];"
    "rw seen: u32[1]; shared s: u32[1024]; let side = u32(lid.x >= 64); let base = (wid.x * 64 + lid.x % 64) * ROUNDS;";

static bool try_litmus(kit *k, const litmus *t, size_t pairing, size_t scope) {
  char pattern[NUMERIC_TEXT], text[NUMERIC_TEXT], name[128];
  bool across = (t->flags & ACROSS) != 0;
  numeric_print(pattern, "%s%s }", across ? across_head : within_head, t->text);
  numeric_expand(text, pattern, (const char *const[]){pairings[pairing][0], pairings[pairing][1], scopes[scope]});
  snprintf(name, sizeof name, "%s, %s and %s, %s", t->name, pairings[pairing][0], pairings[pairing][1], scopes[scope]);
  kit_buffer buffers[] = {numeric_output("a", PAIRS * ROUNDS), numeric_output("b", PAIRS * ROUNDS),
                          numeric_output("c", 2 * PAIRS * ROUNDS), numeric_output("bad", 1), numeric_output("seen", 1)};
  kit_case c = {.name = name, .buffers = buffers, .buffer_count = 5, .grid = {across ? 2 * PAIRS : 8, 1, 1}};
  c.program = numeric_claimed(k, text, NULL);
  if (!c.program) return !kit_is_over(k);
  kit_result found;
  bool same = kit_run(k, k->device, &c, &found);
  uint32_t bad = 0;
  if (same && found.status != VYRE_OK) same = kit_fail(k, "%s: %s", name, found.error.text);
  if (same) memcpy(&bad, found.data[3], sizeof bad);
  if (same && bad != 0)
    same = kit_fail(k,
                    "%s: wanted that what was published is seen by who has seen its flag, found %u violations in %u "
                    "questions; %s; in between: %s",
                    name, bad, *(const uint32_t *)(const void *)found.data[4],
                    across ? "between workgroups" : "within a workgroup", t->text);
  kit_result_free(&found);
  vyre_program_release(c.program);
  return same;
}

void check_litmus(kit *k) {
  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    for (size_t pairing = 0; pairing < 3; pairing++)
      for (size_t scope = 0; scope < 3 && !kit_is_full(k); scope++)
        if (takes_pairing(&tests[t], pairing) && takes_scope(&tests[t], scope))
          try_litmus(k, &tests[t], pairing, scope);
  numeric_conclude(k);
}

/* ---- Waiting for workgroups that started earlier -------------------------------------------------- */

typedef struct waiting_row {
  const char *name, *text; /* $1 scope */
} waiting_row;

/* The number of a workgroup is drawn, since workgroups need not start in their order. */
static const waiting_row waiting[] = {
    {"a chain of workgroups",
     "program p workgroup(32) progress(workgroups) {"
     "rw drawn: u32[1]; rw flag: u32[]; rw data: u32[]; rw r: u32[]; shared m: u32[2];"
     "if (lid.x == 0) { m[0] = atomic_add(drawn[0], 1); }"
     "let me = workgroup_uniform_load(m[0]);"
     "if (lid.x == 0) {"
     "  if (me > 0) {"
     "    loop { if (atomic_load(flag[me - 1], acquire, $1) != 0) { break; } }"
     "    m[1] = data[me - 1];"
     "  }"
     "  data[me] = m[1] * 3 + me;"
     "  atomic_store(flag[me], 1, release, $1);"
     "}"
     "barrier;"
     "r[me * 32 + lid.x] = m[1] + lid.x; }"},
    {"a scan that looks back",
     "program p workgroup(32) progress(workgroups) {"
     "rw drawn: u32[1]; rw flag: u32[]; rw data: u32[]; rw r: u32[]; shared m: u32[34];"
     "if (lid.x == 0) { m[32] = atomic_add(drawn[0], 1); }"
     "let me = workgroup_uniform_load(m[32]);"
     "m[lid.x] = me * 7 + lid.x;"
     "barrier;"
     "for (k in 0..5) {"
     "  var v = m[lid.x];"
     "  if (lid.x >= 1u32 << k) { v += m[lid.x - (1u32 << k)]; }"
     "  barrier; m[lid.x] = v; barrier;"
     "}"
     "if (lid.x == 0) {"
     "  var at = me;"
     "  var sum = 0;"
     "  if (me > 0) { data[me * 2] = m[31]; fence(release, $1); atomic_store(flag[me], 1); }"
     "  loop {"
     "    if (at == 0) { break; }"
     "    at -= 1;"
     "    var f = 0;"
     "    loop { f = atomic_load(flag[at]); if (f != 0) { break; } }"
     "    fence(acquire, $1);"
     "    if (f == 2) { sum += data[at * 2 + 1]; break; }"
     "    sum += data[at * 2];"
     "  }"
     "  data[me * 2 + 1] = sum + m[31];"
     "  fence(release, $1);"
     "  atomic_store(flag[me], 2);"
     "  m[33] = sum;"
     "}"
     "barrier;"
     "r[me * 32 + lid.x] = m[33] + m[lid.x]; }"},
};

void check_progress(kit *k) {
  char text[NUMERIC_TEXT], name[96];
  for (size_t n = 0; n < sizeof waiting / sizeof *waiting; n++)
    for (size_t scope = 1; scope < 3 && !kit_is_full(k); scope++) {
      vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
      options.steps = 1u << 30;
      numeric_expand(text, waiting[n].text, &scopes[scope]);
      snprintf(name, sizeof name, "%s, %s", waiting[n].name, scopes[scope]);
      kit_buffer buffers[] = {numeric_output("drawn", 1), numeric_output("flag", 300), numeric_output("data", 600),
                              numeric_output("r", 9600)};
      kit_case c = {
          .name = name, .text = text, .buffers = buffers, .buffer_count = 4, .grid = {300, 1, 1}, .compile = &options};
      numeric_try(k, &c, false);
    }
  numeric_conclude(k);
}
