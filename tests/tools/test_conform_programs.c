/* What the numeric checks of the conformance kit hold: every operator over every type that it takes, every conversion,
 * atomic, order and scope, statement, capability, kind of memory and parameter. The checks run here with a kit that
 * looks at their programs and says that all is well. */
#define check_fork check_fork_of_the_kit /* the library of tests has one, too */
#include "../../tools/conform/numeric.h"
#undef check_fork

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "ir/check.h"
#include "ir/program.h"

#include "../suite.h"

enum { ORDERS = 5, SCOPES = 3 };

static struct {
  bool op[VYRE_OP_COUNT][VYRE_TYPE_COUNT]; /* by the type of the first operand, of a leaf by its own */
  bool cast[VYRE_TYPE_COUNT][VYRE_TYPE_COUNT], bitcast[VYRE_TYPE_COUNT][VYRE_TYPE_COUNT];
  bool atomic[VYRE_OP_COUNT][VYRE_TYPE_COUNT][ORDERS][SCOPES][2]; /* bound, shared */
  bool fence[ORDERS][SCOPES];
  bool memory[VYRE_ACCESS_LOCAL + 1][VYRE_TYPE_COUNT], param[VYRE_TYPE_COUNT];
  bool subgroup[33];
  uint64_t stmts;
  uint32_t needs;
  uint32_t programs;
} seen;

/* ---- A kit that looks ---------------------------------------------------------------------------- */

static void look_at_expr(const vyre_program *p, const ir_expr *e) {
  vyre_type first = ir_op_arity[e->op] > 0 ? (vyre_type)ir_expr_at(p, e->arg[0])->type : (vyre_type)e->type;
  if (e->op == VYRE_OP_SELECT) first = (vyre_type)e->type;
  seen.op[e->op][first] = true;
  if (e->op == VYRE_OP_CAST) seen.cast[first][e->aux] = true;
  if (e->op == VYRE_OP_BITCAST) seen.bitcast[first][e->type] = true;
  if (e->op < VYRE_OP_ATOMIC_ADD || e->op > VYRE_OP_ATOMIC_STORE) return;
  const ir_buffer *b = &p->buffers.data[e->arg[3]];
  seen.atomic[e->op][b->element][e->aux][e->aux2][b->access == VYRE_ACCESS_SHARED] = true;
}

static void look_at(const vyre_program *p) {
  seen.programs++;
  seen.stmts |= p->info.stmt_kinds;
  seen.needs |= p->info.needs;
  seen.subgroup[p->subgroup] = true;
  for (uint32_t i = 1; i < p->exprs.count; i++) look_at_expr(p, ir_expr_at(p, i));
  for (uint32_t i = 0; i < p->buffers.count; i++)
    seen.memory[p->buffers.data[i].access][p->buffers.data[i].element] = true;
  for (uint32_t i = 0; i < p->params.count; i++) seen.param[p->params.data[i].type] = true;
  for (uint32_t i = 1; i < p->stmts.count; i++) {
    const ir_stmt *s = ir_stmt_at(p, i);
    if (s->op == VYRE_STMT_FENCE) seen.fence[s->aux][s->aux2] = true;
  }
}

vyre_program *kit_parse(kit *k, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  (void)k;
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) != VYRE_OK)
    ck_abort_msg("%s: %s\n%s", error.where, error.text, text);
  return program;
}

bool kit_compare(kit *k, const kit_case *c) {
  vyre_program *program = c->program ? vyre_program_retain(c->program) : kit_parse(k, c->text);
  look_at(program);
  vyre_program_release(program);
  return true;
}

bool kit_compare_reversed(kit *k, const kit_case *c) {
  return kit_compare(k, c);
}

bool kit_run(kit *k, vyre_device *on, const kit_case *c, kit_result *out) {
  (void)on;
  *out = (kit_result){.status = VYRE_ERR_INTERNAL};
  kit_compare(k, c);
  return false;
}

bool kit_compare_results(kit *k, const kit_case *c, const kit_result *found, const kit_result *wanted) {
  (void)k, (void)c, (void)found, (void)wanted;
  return true;
}

void kit_result_free(kit_result *r) {
  (void)r;
}

vyre_status kit_plugin_compile(kit *k, const vyre_program *program, const vyre_compile_options *options,
                               vyre_error *error) {
  (void)k, (void)program, (void)options, (void)error;
  return VYRE_ERR_UNSUPPORTED;
}

bool kit_fail(kit *k, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ck_abort_msg("%s: %s", k->check, text);
  return false;
}

bool kit_skip(kit *k, const char *format, ...) {
  return kit_fail(k, "skipped: %s", format);
}

void kit_note(kit *k, const char *format, ...) {
  (void)k, (void)format;
}

void kit_doing(kit *k, const char *format, ...) {
  (void)k, (void)format;
}

bool kit_is_over(const kit *k) {
  (void)k;
  return false;
}

bool kit_is_full(const kit *k) {
  (void)k;
  return false;
}

uint64_t kit_random(kit *k) {
  return numeric_random(&k->random);
}

void kit_element_text(vyre_type type, const void *element, char text[KIT_ELEMENT_BYTES]) {
  (void)type, (void)element;
  text[0] = '\0';
}

/* These work on a device, not on programs alone. */
void check_atomics_queues(kit *k) {
  (void)k;
}
void check_specs(kit *k) {
  (void)k;
}

static void run_all_checks(void) {
  vyre_capabilities caps = {.size = sizeof caps,
                            .needs = UINT32_MAX,
                            .numeric = UINT32_MAX,
                            .forward_progress = VYRE_PROGRESS_INVOCATIONS,
                            .subgroup_sizes = 63,
                            .subgroup_size = 32,
                            .max_workgroup_invocations = 1024,
                            .max_workgroup = {1024, 1024, 1024},
                            .max_shared_bytes = 1 << 16,
                            .max_bindings = 1024,
                            .max_param_bytes = 1024,
                            .can = UINT32_MAX};
  kit k = {.caps = &caps, .random = 1};
#define RUN_STATIC(id, function)
#define RUN_ABI(id, function)
#define RUN_RESOURCE(id, function)
#define RUN_RANDOM(id, function)
#define RUN_NUMERIC(id, function) k.check = id, function(&k);
#define X(id, group, policy, function, what) RUN_##group(id, function)
#include "../../tools/conform/checks.def"
#undef X
}

/* ---- What there must be -------------------------------------------------------------------------- */

static const char *type_name(vyre_type type) {
  return vyre_type_describe(type)->spelling;
}

static bool is_value(vyre_type type) {
  return vyre_type_describe(type)->value == type;
}

/* Whether an operator takes |type| first, by the typing rules: any second and third operand will do. */
static bool takes(vyre_op op, vyre_type type) {
  vyre_code code;
  uint32_t arity = ir_op_arity[op];
  if (op == VYRE_OP_SELECT) return ir_check_op(op, VYRE_TYPE_BOOL, type, type, &code) != VYRE_TYPE_NONE;
  for (vyre_type y = VYRE_TYPE_NONE; y < VYRE_TYPE_COUNT; y++) {
    if ((arity > 1) != (y != VYRE_TYPE_NONE)) continue;
    if (ir_check_op(op, type, y, arity > 2 ? y : VYRE_TYPE_NONE, &code) != VYRE_TYPE_NONE) return true;
  }
  return false;
}

static void check_ops(void) {
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) {
    bool any = false;
    for (vyre_type type = VYRE_TYPE_NONE; type < VYRE_TYPE_COUNT; type++) {
      any |= seen.op[op][type];
      if (is_value(type) && takes(op, type))
        ck_assert_msg(seen.op[op][type], "%s of %s is in no program", vyre_op_describe(op)->name, type_name(type));
    }
    ck_assert_msg(any, "%s is in no program", vyre_op_describe(op)->name);
  }
}

static void check_casts(void) {
  for (vyre_type from = VYRE_TYPE_NONE + 1; from < VYRE_TYPE_COUNT; from++)
    for (vyre_type to = VYRE_TYPE_NONE + 1; to < VYRE_TYPE_COUNT; to++) {
      ck_assert_msg(seen.cast[from][to] == ir_check_cast(from, to), "%s(%s)", type_name(to), type_name(from));
      ck_assert_msg(seen.bitcast[from][to] || !ir_check_bitcast(from, to) || !is_value(from) || !is_value(to),
                    "bitcast<%s>(%s)", type_name(to), type_name(from));
    }
}

static bool takes_atomic(vyre_op op, vyre_type type) {
  if (type == VYRE_TYPE_F32) return op == VYRE_OP_ATOMIC_ADD;
  if (type == VYRE_TYPE_U32X4) return op == VYRE_OP_ATOMIC_LOAD;
  return type >= VYRE_TYPE_U32 && type <= VYRE_TYPE_I64;
}

static void check_atomic_orders(void) {
  for (vyre_op op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_STORE; op++)
    for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
      for (int order = 0; order < ORDERS; order++)
        for (int scope = 0; scope < SCOPES && takes_atomic(op, type) && ir_check_order(op, (vyre_order)order); scope++)
          for (int shared = 0; shared < 2; shared++)
            ck_assert_msg(seen.atomic[op][type][order][scope][shared], "%s of %s, order %d, scope %d, shared %d",
                          vyre_op_describe(op)->name, type_name(type), order, scope, shared);
  for (int order = VYRE_ORDER_ACQUIRE; order < ORDERS; order++)
    for (int scope = 0; scope < SCOPES; scope++) ck_assert_msg(seen.fence[order][scope], "fence(%d, %d)", order, scope);
}

static void check_memory(void) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++) {
    for (int access = 0; access <= VYRE_ACCESS_LOCAL; access++)
      ck_assert_msg(seen.memory[access][type], "memory of %s, access %d", type_name(type), access);
    ck_assert_msg(seen.param[type] == (type <= VYRE_TYPE_F64), "a parameter of %s", type_name(type));
  }
  for (uint32_t size = 1; size <= 32; size *= 2) ck_assert_msg(seen.subgroup[size], "subgroup(%u)", size);
  ck_assert(seen.subgroup[0]);
}

static void check_statements_and_needs(void) {
#define X(name, spelling, arity, blocks, tag, doc)                                                                     \
  ck_assert_msg((seen.stmts >> VYRE_STMT_##name & 1) != 0, "%s is in no program", #name);
#include <vyre/stmts.def>
#undef X
#define X(name, bit, spelling, use) ck_assert_msg((seen.needs >> (bit)&1) != 0, "nothing needs %s", spelling);
#include <vyre/needs.def>
#undef X
}

START_TEST(the_programs_hold_everything) {
  run_all_checks();
  check_ops();
  check_casts();
  check_atomic_orders();
  check_memory();
  check_statements_and_needs();
  ck_assert_uint_gt(seen.programs, 5000);
}
END_TEST

/* ---- Operands ------------------------------------------------------------------------------------- */

START_TEST(edges_are_crossed) {
  vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32};
  numeric_column c[2];
  uint32_t edges = numeric_edge_count(VYRE_TYPE_U32), pairs = 0;
  ck_assert(numeric_cross(types, 2, UINT32_MAX, 100, 7, c));
  ck_assert_uint_eq(c[0].count, edges * edges + 100);
  for (uint32_t i = 0; i < edges; i++)
    for (uint32_t j = 0; j < edges; j++) {
      uint64_t a, b;
      ck_assert(numeric_edge(VYRE_TYPE_U32, i, &a) && numeric_edge(VYRE_TYPE_I32, j, &b));
      for (uint64_t row = 0; row < c[0].count; row++)
        if (((const uint32_t *)(const void *)c[0].bytes)[row] == a &&
            ((const uint32_t *)(const void *)c[1].bytes)[row] == b) {
          pairs++;
          break;
        }
    }
  ck_assert_uint_eq(pairs, edges * edges);
  numeric_columns_free(c, 2);
}
END_TEST

START_TEST(edges_differ_from_each_other) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (uint32_t i = 0; i < numeric_edge_count(type); i++)
      for (uint32_t j = 0; j < i; j++) {
        uint64_t a, b;
        ck_assert(numeric_edge(type, i, &a) && numeric_edge(type, j, &b));
        ck_assert_msg(a != b, "edges %u and %u of %s", i, j, type_name(type));
      }
}
END_TEST

START_TEST(the_same_seed_gives_the_same_operands) {
  vyre_type types[] = {VYRE_TYPE_F32X4, VYRE_TYPE_F32X4, VYRE_TYPE_F32X4};
  numeric_column a[3], b[3];
  ck_assert(numeric_cross(types, 3, 5, 1001, 42, a) && numeric_cross(types, 3, 5, 1001, 42, b));
  ck_assert_uint_eq(a[0].count, (125 + 1001 + 3) / 4);
  for (int i = 0; i < 3; i++) ck_assert_mem_eq(a[i].bytes, b[i].bytes, a[i].count * 16);
  ck_assert_mem_ne(a[0].bytes, a[1].bytes, a[0].count * 16);
  numeric_columns_free(a, 3);
  numeric_columns_free(b, 3);
}
END_TEST

START_TEST(words_are_put_into_patterns) {
  char text[NUMERIC_TEXT];
  numeric_expand(text, "$1[$2] = $1$3; $", (const char *const[]){"a", "", "long word"});
  ck_assert_str_eq(text, "a[] = along word; $");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_programs_hold_everything, edges_are_crossed,
                                edges_differ_from_each_other, the_same_seed_gives_the_same_operands,
                                words_are_put_into_patterns,  NULL};
  return run_suite("tools/conform_programs", 60, tests);
}
