/* Control flow: every shape of flow_shapes.def where invocations go together, where they part, and where they part and
 * meet again; every statement; sizes that compilers have limits for; traps, prints and step limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

enum { WORKGROUP = 32, GROUPS = 33, INVOCATIONS = WORKGROUP * GROUPS };

enum { LEAVES = 1, ALIKE = 2, WIDE = 4 };

typedef struct shape {
  const char *name;
  uint32_t flags;
  const char *body;
} shape;

static const shape shapes[] = {
#define X(name, flags, body) {#name, flags, body},
#include "flow_shapes.def"
#undef X
};

/* How the selector is made, and what stands behind the shape. */
typedef struct form {
  const char *name, *selector, *tail;
  uint32_t excluded; /* flags of shapes that have not this form */
} form;

static const form forms[] = {
    {"uniform over the grid", "n", "", 0},
    {"uniform over the workgroup", "wid.x % 32", "", 0},
    {"divergent", "x[i] % 32", "", ALIKE},
    {"divergent in pairs", "lid.x / 2 + n", "", ALIKE},
    {"met by a barrier", "x[i] % 32", "m[lid.x] = r; barrier; r = mix(r, m[31 - lid.x]);", ALIKE | LEAVES},
    {"met by a subgroup", "x[i] % 32", "r = mix(subgroup_add(r), subgroup_shuffle_xor(r, 1));", ALIKE | LEAVES},
};

#define DECLARATIONS                                                                                                   \
  "param n: u32; read x: u32[]; rw y: u32[]; rw z: u32[]; shared m: u32[32]; local t: u32[8];"                         \
  "fn mix(a: u32, b: u32) -> u32 { return (a ^ b) * 0x9E3779B1 + rotl(a, 5); }"

/* |text| on random selectors, with the parameter n. */
static numeric_outcome try_flow(kit *k, const char *name, const char *text, uint32_t n,
                                const vyre_compile_options *options) {
  uint32_t x[INVOCATIONS];
  for (uint32_t i = 0; i < INVOCATIONS; i++) x[i] = (uint32_t)(kit_random(k) >> 32);
  vyre_arg params[] = {vyre_arg_u32("n", n)};
  kit_buffer buffers[] = {{.name = "x", .in = x, .elements = INVOCATIONS},
                          {.name = "y", .elements = INVOCATIONS},
                          {.name = "z", .elements = INVOCATIONS}};
  kit_case c = {.name = name,
                .text = text,
                .params = params,
                .param_count = 1,
                .buffers = buffers,
                .buffer_count = 3,
                .compile = options};
  return numeric_try(k, &c, true);
}

static bool try_shape(kit *k, const shape *s, const form *f, uint32_t n) {
  char text[NUMERIC_TEXT], name[128];
  numeric_print(text,
                "program p workgroup(32) { " DECLARATIONS "let i = gid.x; let s = %s; var r = 1; %s %s y[i] = r; }",
                f->selector, s->body, f->tail);
  snprintf(name, sizeof name, "%s, %s, n = %u", s->name, f->name, n);
  return try_flow(k, name, text, n, NULL) != NUMERIC_DIFFERS;
}

void check_flow_shapes(kit *k) {
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes && !kit_is_full(k); s++) {
      if (shapes[s].flags & forms[f].excluded) continue;
      bool same = true;
      /* The first form has one selector for all, so that it needs several runs. */
      for (uint32_t n = 0; n < (f == 0 ? 32u : 1u) && same; n += 1 + n / 4)
        same = try_shape(k, &shapes[s], &forms[f], n);
    }
  numeric_conclude(k);
}

/* ---- Every statement --------------------------------------------------------------------------- */

#define STATEMENT_LET "let a = s + 1; let b = a * a; r = b;"
#define STATEMENT_VAR "var a = s; var b: f32 = 0.5; b = b + f32(a); r = bitcast<u32>(b);"
#define STATEMENT_ASSIGN "r = s; r += 3; r -= 1; r *= 5; r /= 2; r %= 100; r &= 127; r |= 64; r ^= s; r <<= 3; r >>= 1;"
#define STATEMENT_STORE "z[i] = s; z[i] += 2; z[i + 100000] = 7; r = z[i];"
#define STATEMENT_EVAL "atomic_add(z[i], s); atomic_store(y[i], 4); r = z[i];"
#define STATEMENT_IF "if (s > 7) { r = 1; } else if (s > 3) { r = 2; } else { r = 3; }"
#define STATEMENT_FOR "for (k in 3..s step 2) { r = mix(r, k); }"
#define STATEMENT_LOOP "var k = s; loop { k += 7; if (k > 40) { break; } } r = k;"
#define STATEMENT_BREAK "for (k in 0..100) { if (k * k > s * 5) { r = k; break; } }"
#define STATEMENT_CONTINUE "for (k in 0..s) { if (k % 2 == 1) { continue; } r += k; }"
#define STATEMENT_RETURN "if (s % 3 == 0) { y[i] = 99; return; } r = s;"
#define STATEMENT_BLOCK "{ let a = s; { r = a; } } { let a = r + 1; r = a; }"
#define STATEMENT_REGION "region \"one\" { let a = s; region \"one\" { r = a + 1; } }"
#define STATEMENT_BARRIER "m[lid.x] = i; barrier; r = m[31 - lid.x]; barrier; m[lid.x] = r; barrier; r += m[0];"
#define STATEMENT_GRID_BARRIER "z[i] = i * 3; grid_barrier; r = z[nwg.x * 32 - 1 - i]; grid_barrier; z[i] = r;"
#define STATEMENT_FENCE                                                                                                \
  "z[i] = s; fence(acquire, workgroup); fence(release, workgroup); fence(acq_rel, device);"                            \
  "fence(release, system); fence(acquire, device); r = z[i];"
#define STATEMENT_TRAP "if (gid.x == 77) { trap(s + 5); } r = s;"
#define STATEMENT_PRINT "if (gid.x % 9 == 4) { print(\"{} of {} is {} or {}\\n\", i, s, f32(s) / 2, s > 5); } r = s;"
#define STATEMENT_COPY_ASYNC "copy_async z[i], x[i], 1; commit; wait 0; r = z[i];"
#define STATEMENT_COMMIT "commit; copy_async t[0], x[i], 5; commit; commit; wait 0; r = mix(t[0], t[4]);"
#define STATEMENT_WAIT                                                                                                 \
  "copy_async t[0], x[i], 1; commit; copy_async t[1], x[i + 1], 1; commit; wait 1; r = t[0]; wait 0;"                  \
  "r = mix(r, t[1]);"
#define STATEMENT_PAUSE "pause(s * 10); pause(0); r = s;"

/* A statement without a line above does not build. */
static const shape statements[] = {
#define X(name, spelling, arity, blocks, tag, doc) {#name, 0, STATEMENT_##name},
#include <vyre/stmts.def>
#undef X
};

void check_statements(kit *k) {
  for (size_t s = 0; s < sizeof statements / sizeof *statements && !kit_is_full(k); s++) {
    try_shape(k, &statements[s], &forms[1], 3);
    /* The divergent form of what must not diverge has uniform flow, and other values. */
    try_shape(k, &statements[s], &forms[2], 3);
  }
  numeric_conclude(k);
}

/* ---- Sizes ------------------------------------------------------------------------------------- */

typedef void (*size_writer)(FILE *out, uint32_t n);

static void nested_ifs(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) fprintf(out, "if (s >= %u) { r += %u; ", d % 32, d);
  for (uint32_t d = 0; d < n; d++) fputs("} ", out);
}

static void nested_loops(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++)
    fprintf(out, "for (k%u in %u..s %% %u + %u) { r = mix(r, k%u); ", d, d, 1 + (d % 12 == 5), d + 1, d);
  for (uint32_t d = 0; d < n; d++) fputs("} ", out);
}

static void long_chain(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) fprintf(out, "%sif (s * 7 %% %u == %u) { r = %u; } ", d ? "else " : "", n, d, d * 3);
}

/* What is made between two links is used behind it, far from there, too. */
static void chain_with_values(FILE *out, uint32_t n) {
  uint32_t made = 0;
  fputs("let v0 = s * 3;", out);
  for (uint32_t d = 0; d < n; d++) {
    if (d != 0) fputs("else ", out);
    if (d % 4 == 3) fprintf(out, "{ let v%u = mix(v%u, %u); ", made + 1, made / 2, d);
    made += d % 4 == 3;
    fprintf(out, "if (s * 7 %% %u == %u) { r = mix(v%u, v%u); } ", n, d, made, made / 3);
  }
  fprintf(out, "else { r = v%u; } ", made);
  for (; made != 0; made--) fputs("} ", out);
}

static void deep_expression(FILE *out, uint32_t n) {
  fputs("r = ", out);
  for (uint32_t d = 0; d < n; d++) fprintf(out, "(%u ^ (", d);
  fputs("s", out);
  for (uint32_t d = 0; d < n; d++) fputs(") * 3)", out);
  fputs(";", out);
}

static void many_statements(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) fprintf(out, "r = r * %u + (s ^ %u);", d | 1, d);
}

/* All of them are alive at once. */
static void many_values(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) fprintf(out, "let v%u = mix(x[i + %u], s);", d, d);
  for (uint32_t d = n; d-- > 0;) fprintf(out, "r = mix(r, v%u);", d);
}

static void many_variables(FILE *out, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) fprintf(out, "var v%u = s + %u;", d, d);
  fputs("for (k in 0..s % 5) {", out);
  for (uint32_t d = 0; d < n; d++) fprintf(out, "v%u = v%u * 3 + k;", d, (d + 7) % n);
  fputs("}", out);
  for (uint32_t d = 0; d < n; d++) fprintf(out, "r = mix(r, v%u);", d);
}

typedef struct size_row {
  const char *name;
  size_writer write;
  uint32_t n;
} size_row;

static const size_row sizes[] = {
    {"ifs in each other", nested_ifs, 100},     {"loops in each other", nested_loops, 60},
    {"a chain of else ifs", long_chain, 300},   {"a chain with values between", chain_with_values, 200},
    {"a deep expression", deep_expression, 400}, {"many statements", many_statements, 3000},
    {"many values", many_values, 300},          {"many variables", many_variables, 120}};

void check_flow_sizes(kit *k) {
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes && !kit_is_full(k); n++) {
    char *text = NULL, name[64];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
      kit_fail(k, "memory is exhausted");
      return;
    }
    fputs("program p workgroup(32) { " DECLARATIONS "let i = gid.x; let s = x[i] % 32; var r = 1;", out);
    sizes[n].write(out, sizes[n].n);
    fputs("y[i] = r; }", out);
    bool whole = !ferror(out) && fclose(out) == 0;
    snprintf(name, sizeof name, "%s: %u", sizes[n].name, sizes[n].n);
    if (whole) try_flow(k, name, text, 0, NULL);
    free(text);
    if (!whole) kit_fail(k, "memory is exhausted");
  }
  numeric_conclude(k);
}

/* ---- Limits of steps and budgets ---------------------------------------------------------------- */

static const shape stepped[] = {
    {"endless loop", 0, "loop { r += 1; }"},
    {"endless where it diverges", 0, "loop { r += 1; if (s != 5) { break; } }"},
    {"loops in a row", 0, "for (k in 0..6) { r += k; } for (k in 0..6) { r += k; } z[i] = r;"},
    {"loops in each other", 0, "for (k in 0..4) { for (l in 0..4) { r += l; } } z[i] = r;"},
    {"data decides", 0, "for (k in 0..s) { r = mix(r, k); }"},
    {"a loop with a barrier", 0,
     "var l = 0; loop { m[lid.x] = l; barrier; r += m[0]; l += 1; if (l == 12) { break; } barrier; }"},
    {"endless with a barrier", 0, "loop { m[lid.x] = r; barrier; r = m[31 - lid.x] + 1; barrier; }"},
};

/* At and around the numbers of back edges that these make. */
void check_steps(kit *k) {
  static const uint64_t limits[] = {1, 2, 5, 9, 10, 11, 12, 13, 15, 16, 17, 31, 32, 1000};
  char text[NUMERIC_TEXT], name[128];
  for (size_t s = 0; s < sizeof stepped / sizeof *stepped; s++)
    for (size_t n = 0; n < sizeof limits / sizeof *limits && !kit_is_full(k); n++) {
      vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
      options.steps = limits[n];
      numeric_print(text,
                    "program p workgroup(32) { " DECLARATIONS
                    "let i = gid.x; let s = x[i] %% 32; var r = 1; %s y[i] = r; }",
                    stepped[s].body);
      snprintf(name, sizeof name, "%s, steps(%llu)", stepped[s].name, (unsigned long long)limits[n]);
      if (try_flow(k, name, text, 0, &options) == NUMERIC_DIFFERS) break;
    }
  numeric_conclude(k);
}

/* ---- Budgets ------------------------------------------------------------------------------------- */

static const char stopping[] =
    "program p workgroup(32) { rw total: u32[1]; rw rounds: u32[]; loop { if (should_stop()) { break; }"
    "if (lid.x == 0) { atomic_add(total[0], 1); } rounds[gid.x] += 1; } }";

/* Which workgroup takes how many rounds of the budget is the device's affair; all of them together take what it is. */
static void judge_rounds(kit *k, const kit_case *c) {
  kit_result found;
  uint32_t total = 0;
  if (kit_run(k, k->device, c, &found)) {
    if (found.status != VYRE_OK)
      kit_fail(k, "%s: %s", c->name, found.error.text);
    else
      memcpy(&total, found.data[0], sizeof total);
    if (found.status == VYRE_OK && total != c->work_budget)
      kit_fail(k, "%s: wanted %llu rounds, one for each call that the budget allows, found %u", c->name,
               (unsigned long long)c->work_budget, total);
  }
  kit_result_free(&found);
}

/* A budget of n lets n calls of the whole launch go on. */
void check_should_stop(kit *k) {
  static const uint64_t budgets[] = {1, 2, 7, 64, 1000};
  vyre_program *program = numeric_claimed(k, stopping, NULL);
  for (size_t n = 0; n < 2 * sizeof budgets / sizeof *budgets && program && !kit_is_full(k); n++) {
    char name[96];
    uint64_t budget = budgets[n / 2], groups = n % 2 ? 5 : 1;
    kit_buffer buffers[] = {{.name = "total", .elements = 1}, {.name = "rounds", .elements = 32 * 5}};
    kit_case c = {.name = name,
                  .program = program,
                  .buffers = buffers,
                  .buffer_count = 2,
                  .grid = {groups, 1, 1},
                  .work_budget = budget};
    snprintf(name, sizeof name, "should_stop with a work budget of %llu, %llu workgroups", (unsigned long long)budget,
             (unsigned long long)groups);
    if (groups == 1)
      numeric_try(k, &c, true);
    else
      judge_rounds(k, &c);
  }
  vyre_program_release(program);
  numeric_conclude(k);
}

/* ---- Traps --------------------------------------------------------------------------------------- */

/* Of many traps one is told, and it is one that happened. */
void check_traps(kit *k) {
  static const char text[] =
      "program p workgroup(32) { rw y: u32[]; let i = gid.x; if (i % 7 == 3) { if (i > 20) { trap(i + 1000); } }"
      "y[i] = i; }";
  kit_buffer buffers[] = {{.name = "y", .elements = INVOCATIONS}};
  kit_case c = {.name = "traps of many invocations", .text = text, .buffers = buffers, .buffer_count = 1};
  if (numeric_try(k, &c, false) == NUMERIC_SAME) {
    kit_result found;
    if (kit_run(k, k->device, &c, &found)) {
      const vyre_completion *done = &found.completion;
      if (done->trap_code != done->trap_gid[0] + 1000 || done->trap_gid[0] % 7 != 3 || done->trap_gid[0] <= 20)
        kit_fail(k,
                 "traps: invocation i with i %% 7 == 3 traps with i + 1000, and the completion record has code %u of "
                 "invocation %u",
                 done->trap_code, done->trap_gid[0]);
      kit_result_free(&found);
    }
  }
  numeric_conclude(k);
}
