/* Atomics: each operator with each type, order and scope, on elements that nobody else touches, under contention, and
 * in the old values, of which each may be given once. Derived from ops.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
static const char *const scopes[] = {"workgroup", "device", "system"};

static bool is_atomic(vyre_op op) {
  return strncmp(vyre_op_describe(op)->spelling, "atomic_", 7) == 0;
}

static bool takes_type(vyre_op op, vyre_type type) {
  if (type == VYRE_TYPE_F32) return op == VYRE_OP_ATOMIC_ADD;
  if (type == VYRE_TYPE_U32X4) return op == VYRE_OP_ATOMIC_LOAD;
  return type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32 || type == VYRE_TYPE_U64 || type == VYRE_TYPE_I64;
}

static bool takes_order(vyre_op op, int order) {
  if (op == VYRE_OP_ATOMIC_LOAD)
    return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_ACQUIRE || order == VYRE_ORDER_SEQ_CST;
  if (op == VYRE_OP_ATOMIC_STORE)
    return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_RELEASE || order == VYRE_ORDER_SEQ_CST;
  return true;
}

/* Operands of the call behind the element. */
static const char *operands_of(vyre_op op) {
  static const char *const operands[] = {"", "", ", v[i]", ", v[i], w[i]"};
  return operands[vyre_op_describe(op)->arity];
}

/* ---- Elements of one's own ---------------------------------------------------------------------- */

/* Floats that add up exactly in any order, and no subnormals: float atomics may be less than exact. */
static void put_small_floats(numeric_column *column) {
  for (uint64_t i = 0; i < column->count; i++) {
    float value = (float)(int)(i * 37 % 201) - 100;
    memcpy(column->bytes + i * sizeof value, &value, sizeof value);
  }
}

typedef struct operands {
  numeric_column c, v, w;
} operands;

static bool make_operands(kit *k, vyre_type type, operands *out) {
  numeric_column columns[3];
  vyre_type types[] = {type, type, type};
  if (!numeric_cross(types, 3, 9, 200, kit_random(k), columns)) return kit_fail(k, "memory is exhausted");
  *out = (operands){columns[0], columns[1], columns[2]};
  if (type == VYRE_TYPE_F32)
    for (int n = 0; n < 3; n++) put_small_floats(&columns[n]);
  return true;
}

static void free_operands(operands *o) {
  numeric_columns_free(&o->c, 1);
  numeric_columns_free(&o->v, 1);
  numeric_columns_free(&o->w, 1);
}

/* $1 type, $2 call with element, $3 "old[i] = " or nothing */
static const char storage_text[] =
    "program p workgroup(32) { rw c: $1[]; read v: $1[]; read w: $1[]; write old: $1[]; let i = gid.x;"
    "if (i < len(v)) { $3$2; } }";
static const char shared_text[] = "program p workgroup(32) { rw c: $1[]; read v: $1[]; read w: $1[]; write old: $1[]; "
                                  "shared m: $1[32]; let i = gid.x;"
                                  "m[lid.x] = c[i]; barrier; if (i < len(v)) { $3$2; } barrier; c[i] = m[lid.x]; }";

static bool try_own(kit *k, vyre_op op, const operands *o, bool shared, int order, int scope) {
  char text[NUMERIC_TEXT], call[128], name[128];
  const char *spelling = vyre_op_describe(op)->spelling, *type = vyre_type_describe(o->c.type)->spelling;
  snprintf(call, sizeof call, "%s(%s%s, %s, %s)", spelling, shared ? "m[lid.x]" : "c[i]", operands_of(op),
           orders[order], scopes[scope]);
  numeric_expand(text, shared ? shared_text : storage_text,
                 (const char *const[]){type, call, op == VYRE_OP_ATOMIC_STORE ? "" : "old[i] = "});
  snprintf(name, sizeof name, "%s of %s %s, %s, %s", spelling, shared ? "shared" : "bound", type, orders[order],
           scopes[scope]);
  kit_buffer buffers[] = {numeric_input("c", &o->c), numeric_input("v", &o->v), numeric_input("w", &o->w),
                          numeric_output("old", o->c.count)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 4};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

static void try_orders(kit *k, vyre_op op, const operands *o) {
  for (int order = 0; order < 5; order++)
    for (int scope = 0; scope < 3 && takes_order(op, order) && !kit_is_full(k); scope++)
      for (int shared = 0; shared < 2; shared++) try_own(k, op, o, shared, order, scope);
}

void check_atomics(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++) {
    operands o;
    if (!takes_type(VYRE_OP_ATOMIC_LOAD, type) && !takes_type(VYRE_OP_ATOMIC_ADD, type)) continue;
    if (!make_operands(k, type, &o)) return;
    for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT && !kit_is_full(k); op++)
      if (is_atomic(op) && takes_type(op, type)) try_orders(k, op, &o);
    free_operands(&o);
  }
  numeric_conclude(k);
}

/* ---- Out of range ------------------------------------------------------------------------------- */

void check_atomic_range(kit *k) {
  char text[NUMERIC_TEXT], name[96], call[128];
  static const char pattern[] =
      "program p workgroup(16) { rw c: $1[]; read v: $1[]; read w: $1[]; rw old: $1[]; read at: u32[]; shared m: $1[5];"
      "let i = gid.x; let at_i = at[i]; $3$2; }";
  static const uint32_t at[16] = {5, 6, 7, 0x40000000, 0x40000001, 0x20000000,   0x80000000, 0xFFFFFFFF,
                                  0, 1, 2, 3,          4,          1u << 29 | 2, 1u << 28,   UINT32_MAX - 1};
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT && !kit_is_full(k); op++)
      for (int n = 0; n < 3 && is_atomic(op) && takes_type(op, type); n++) {
        operands o;
        if (!make_operands(k, type, &o)) return;
        const char *spelling = vyre_op_describe(op)->spelling, *element = n == 2 ? "m" : "c";
        snprintf(call, sizeof call, "%s(%s[at_i]%s)", spelling, element, operands_of(op));
        numeric_expand(text, pattern,
                       (const char *const[]){vyre_type_describe(type)->spelling, call,
                                             op == VYRE_OP_ATOMIC_STORE ? "" : "old[i] = "});
        snprintf(name, sizeof name, "%s of %s out of range", spelling, vyre_type_describe(type)->spelling);
        /* old starts with other values, so that an atomic that gives no 0 is seen. */
        kit_buffer buffers[] = {{.name = "c", .in = o.c.bytes, .elements = n == 1 ? 0 : 5},
                                numeric_input("v", &o.v),
                                numeric_input("w", &o.w),
                                {.name = "old", .in = o.v.bytes, .elements = 16},
                                {.name = "at", .in = at, .elements = 16}};
        kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 5, .grid = {1, 1, 1}};
        numeric_try(k, &c, false);
        free_operands(&o);
      }
  numeric_conclude(k);
}

/* ---- Contention: the sum of all is the same in every order --------------------------------------- */

static bool is_commutative(vyre_op op) {
  switch (op) {
  case VYRE_OP_ATOMIC_ADD:
  case VYRE_OP_ATOMIC_SUB:
  case VYRE_OP_ATOMIC_AND:
  case VYRE_OP_ATOMIC_OR:
  case VYRE_OP_ATOMIC_XOR:
  case VYRE_OP_ATOMIC_MIN:
  case VYRE_OP_ATOMIC_MAX:
    return true;
  default:
    return false;
  }
}

static const char *const contended[] = {
    "program p workgroup(64) { rw total: $1[3]; read v: $1[]; let i = gid.x; if (i < len(v)) { $2(total[i % 3], v[i]); "
    "} }",
    "program p workgroup(64) { rw total: $1[3]; read v: $1[]; let i = gid.x; if (i < len(v)) { $2(total[0], v[i], "
    "acq_rel); } }",
    "program p workgroup(64) { rw total: $1[3]; read v: $1[]; shared m: $1[3]; let i = gid.x; if (lid.x < 3) {"
    "m[lid.x] = atomic_load(total[lid.x]); } barrier; if (i < len(v)) { $2(m[i % 3], v[i]); } barrier; if (lid.x < 3) {"
    "$2(total[lid.x], m[lid.x]); } }",
};

static bool try_contended(kit *k, vyre_op op, vyre_type type, const char *pattern) {
  char text[NUMERIC_TEXT], name[96];
  operands o;
  if (!make_operands(k, type, &o)) return false;
  const char *spelling = vyre_op_describe(op)->spelling, *type_name = vyre_type_describe(type)->spelling;
  numeric_expand(text, pattern, (const char *const[]){type_name, spelling});
  snprintf(name, sizeof name, "%s of %s by many invocations", spelling, type_name);
  kit_buffer buffers[] = {{.name = "total", .in = o.w.bytes, .elements = 3}, numeric_input("v", &o.v)};
  kit_case c = {
      .name = name, .text = text, .buffers = buffers, .buffer_count = 2, .grid = {(o.v.count + 63) / 64, 1, 1}};
  numeric_outcome outcome = numeric_try(k, &c, true);
  free_operands(&o);
  return outcome != NUMERIC_DIFFERS;
}

/* Workgroups read the totals of others in the third text, where only some operators do not mind. */
static bool forgives_repetition(vyre_op op) {
  return op == VYRE_OP_ATOMIC_AND || op == VYRE_OP_ATOMIC_OR || op == VYRE_OP_ATOMIC_MIN || op == VYRE_OP_ATOMIC_MAX;
}

void check_contention(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) {
      if (!is_atomic(op) || !is_commutative(op) || !takes_type(op, type)) continue;
      for (int n = 0; n < (forgives_repetition(op) ? 3 : 2) && !kit_is_full(k); n++)
        try_contended(k, op, type, contended[n]);
    }
  numeric_conclude(k);
}

/* ---- Old values: each is given once -------------------------------------------------------------- */

enum { TICKETS = 63 * 97 };

typedef struct ticket_row {
  const char *name, *text; /* $1 type; old[] and the element in the end have each number 0, |step|, 2 |step| ... once */
  int64_t step;
} ticket_row;

static const ticket_row tickets[] = {
    {"atomic_add", "old[i] = atomic_add(c[0], 1);", 1},
    {"atomic_sub", "old[i] = atomic_sub(c[0], 1);", -1},
    {"atomic_xchg", "old[i] = atomic_xchg(c[0], $1(i) + 1);", 1},
    {"atomic_cas",
     "var e = atomic_load(c[0]); loop { let o = atomic_cas(c[0], e, e + 1); if (o == e) { old[i] = o; break; }"
     "e = o; }",
     1},
    {"atomic_add of workgroups",
     "if (lid.x == 0) { m[0] = atomic_add(c[0], 63); } barrier; old[i] = m[0] + atomic_add(m[1], 1);", 1},
};

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t element_of(vyre_type type, const uint8_t *bytes, uint64_t index) {
  int32_t narrow;
  int64_t wide;
  if (vyre_type_describe(type)->bytes == 4) {
    memcpy(&narrow, bytes + index * 4, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, bytes + index * 8, sizeof wide);
  return wide;
}

static void judge_tickets(kit *k, const kit_case *c, const ticket_row *row, vyre_type type, const kit_result *found) {
  int64_t *numbers = malloc((TICKETS + 1) * sizeof *numbers);
  if (!numbers) {
    kit_fail(k, "memory is exhausted");
    return;
  }
  for (uint64_t i = 0; i < TICKETS; i++) numbers[i] = element_of(type, found->data[1], i) * row->step;
  numbers[TICKETS] = element_of(type, found->data[0], 0) * row->step;
  qsort(numbers, TICKETS + 1, sizeof *numbers, by_value);
  for (int64_t i = 0; i <= TICKETS && !kit_is_full(k); i++)
    if (numbers[i] != i) {
      kit_fail(k,
               "%s: of %d invocations, each must get an old value of its own, and one is left over: wanted %lld, "
               "found %lld in its place",
               c->name, TICKETS, (long long)(i * row->step), (long long)(numbers[i] * row->step));
      break;
    }
  free(numbers);
}

static void try_tickets(kit *k, const ticket_row *row, vyre_type type) {
  char pattern[NUMERIC_TEXT], text[NUMERIC_TEXT], name[96];
  const char *spelling = vyre_type_describe(type)->spelling;
  numeric_print(pattern, "program p workgroup(63) { rw c: $1[1]; rw old: $1[]; shared m: $1[2]; let i = gid.x; %s }",
                row->text);
  numeric_expand(text, pattern, &spelling);
  snprintf(name, sizeof name, "old values of %s of %s", row->name, spelling);
  kit_buffer buffers[] = {numeric_output("c", 1), numeric_output("old", TICKETS)};
  kit_case c = {.name = name, .buffers = buffers, .buffer_count = 2, .grid = {TICKETS / 63, 1, 1}};
  c.program = numeric_claimed(k, text, NULL);
  kit_result found;
  if (!c.program) return;
  if (kit_run(k, k->device, &c, &found)) {
    if (found.status != VYRE_OK)
      kit_fail(k, "%s: %s", name, found.error.text);
    else
      judge_tickets(k, &c, row, type, &found);
    kit_result_free(&found);
  }
  vyre_program_release(c.program);
}

void check_old_values(kit *k) {
  static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64, VYRE_TYPE_I64};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t n = 0; n < sizeof tickets / sizeof *tickets && !kit_is_full(k); n++)
      try_tickets(k, &tickets[n], types[t]);
  numeric_conclude(k);
}
