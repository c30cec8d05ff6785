/* Every operator over every type that it takes, scalar and vector, on the edges of the types and on random bits: one
 * program for each, derived from ops.def and types.def. A typing rule that is not known here does not build. */
#include <stdio.h>
#include <string.h>

#include "numeric.h"

/* ---- Which types a rule takes ------------------------------------------------------------------ */

#define T(name) (1u << VYRE_TYPE_##name)

enum {
  UNSIGNED = T(U32) | T(U64),
  INTEGERS = UNSIGNED | T(I32) | T(I64),
  INTEGER_VECTORS = T(U32X2) | T(U32X4) | T(I32X2) | T(I32X4),
  SIGNED_VECTORS = T(I32X2) | T(I32X4),
  FLOATS = T(F32) | T(F64),
  FLOAT_VECTORS = T(F32X2) | T(F32X4),
  NUMBERS = INTEGERS | FLOATS,
  VECTORS = INTEGER_VECTORS | FLOAT_VECTORS
};

/* Types of operands and result, from the type that a row is about. */
typedef enum pattern {
  ELSEWHERE, /* checked by another file: memory, conversions, atomics, collectives */
  SAME,      /* operands and result of the type */
  COUNTED,   /* the second operand is a count: u32 in as many lanes */
  TRUTH,     /* the result is a bool */
  WORD,      /* the result is a u32 */
  CHOICE     /* the first operand is a bool */
} pattern;

typedef struct rule_row {
  uint32_t types;
  pattern pattern;
} rule_row;

#define RULE_ARITH { NUMBERS | VECTORS, SAME }
#define RULE_INTEGER { INTEGERS | INTEGER_VECTORS, SAME }
#define RULE_BITS { INTEGERS | INTEGER_VECTORS, SAME }
#define RULE_SHIFT { INTEGERS | INTEGER_VECTORS, COUNTED }
#define RULE_EQUAL { NUMBERS | T(BOOL), TRUTH }
#define RULE_ORDER { NUMBERS, TRUTH }
#define RULE_LOGIC { T(BOOL), SAME }
#define RULE_UNSIGNED_ABSDIFF { UNSIGNED, SAME }
#define RULE_UNSIGNED_SAT { UNSIGNED, SAME }
#define RULE_NEGATE { NUMBERS | VECTORS, SAME }
#define RULE_BIT { INTEGERS | INTEGER_VECTORS, SAME }
#define RULE_LNOT { T(BOOL), SAME }
#define RULE_SIGNED { T(I32) | T(I64) | FLOATS | SIGNED_VECTORS | FLOAT_VECTORS, SAME }
#define RULE_FLOAT { FLOATS | FLOAT_VECTORS, SAME }
#define RULE_FCLASS { FLOATS, TRUTH }
#define RULE_FSCALAR { FLOATS, SAME }
#define RULE_UNPACK { T(U32) | T(I32), WORD }
#define RULE_SELECT { NUMBERS | VECTORS | T(BOOL), CHOICE }
#define RULE_FMA { FLOATS | FLOAT_VECTORS, SAME }
#define RULE_LEAF { 0, ELSEWHERE }
#define RULE_LEN { 0, ELSEWHERE }
#define RULE_LOAD { 0, ELSEWHERE }
#define RULE_CAST { 0, ELSEWHERE }
#define RULE_BITCAST { 0, ELSEWHERE }
#define RULE_SPLAT { 0, ELSEWHERE }
#define RULE_VECTOR { 0, ELSEWHERE }
#define RULE_EXTRACT { 0, ELSEWHERE }
#define RULE_ATOMIC { 0, ELSEWHERE }
#define RULE_ATOMIC_ADD { 0, ELSEWHERE }
#define RULE_ATOMIC_LOAD { 0, ELSEWHERE }
#define RULE_SUBGROUP { 0, ELSEWHERE }
#define RULE_SUBGROUP_BITS { 0, ELSEWHERE }
#define RULE_SUBGROUP_VOTE { 0, ELSEWHERE }
#define RULE_SUBGROUP_BALLOT { 0, ELSEWHERE }
#define RULE_SUBGROUP_SHUFFLE { 0, ELSEWHERE }

/* How an operator is written around operands a, b and c. */
typedef enum form {
  FORM_LEAF,
  FORM_INFIX,
  FORM_PREFIX,
  FORM_FUNC,
  FORM_AXIS,
  FORM_BUF,
  FORM_ACCESS,
  FORM_SPECIAL
} form;

typedef struct operator_row {
  vyre_op op;
  const char *spelling;
  form form;
  uint32_t arity;
  rule_row rule;
} operator_row;

static const operator_row operators[] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) \
  {VYRE_OP_##name, spelling, FORM_##form, arity, RULE_##rule},
#include <vyre/ops.def>
#undef X
};

/* ---- One operator over one type ---------------------------------------------------------------- */

/* An operator around operands, as text. */
static void write_use(const operator_row *op, const char *const operands[3], char out[160]) {
  switch (op->form) {
    case FORM_INFIX: snprintf(out, 160, "%s %s %s", operands[0], op->spelling, operands[1]); break;
    case FORM_PREFIX: snprintf(out, 160, "%s%s", op->spelling, operands[0]); break;
    default:
      snprintf(out, 160, op->arity == 1 ? "%s(%s)" : op->arity == 2 ? "%s(%s, %s)" : "%s(%s, %s, %s)", op->spelling,
               operands[0], operands[1], operands[2]);
  }
}

static vyre_type counts_for(vyre_type type) {
  uint32_t lanes = vyre_type_describe(type)->lanes;
  return lanes == 1 ? VYRE_TYPE_U32 : lanes == 2 ? VYRE_TYPE_U32X2 : VYRE_TYPE_U32X4;
}

/* Moves, negation and abs keep the bits of a NaN, so these are compared as words. */
static bool keeps_bits(const operator_row *op) {
  return op->op == VYRE_OP_NEG || op->op == VYRE_OP_ABS || op->op == VYRE_OP_SELECT;
}

static void operand_types(const operator_row *op, vyre_type type, vyre_type operands[3]) {
  operands[0] = op->rule.pattern == CHOICE ? VYRE_TYPE_BOOL : type;
  operands[1] = op->rule.pattern == COUNTED ? counts_for(type) : type;
  operands[2] = type;
}

static vyre_type result_type(const operator_row *op, vyre_type type) {
  if (op->rule.pattern == TRUTH) return VYRE_TYPE_BOOL;
  return op->rule.pattern == WORD ? VYRE_TYPE_U32 : type;
}

static bool check_operator(kit *k, const operator_row *op, vyre_type type) {
  static const char *const names[] = {"a", "b", "c"};
  static const char *const loads[] = {"a[i]", "b[i]", "c[i]"};
  vyre_type types[3], result = result_type(op, type), stored = keeps_bits(op) ? numeric_words(result) : result;
  char text[NUMERIC_TEXT], use[160], name[64], declared[160] = "";
  operand_types(op, type, types);
  write_use(op, loads, use);
  for (uint32_t n = 0; n < op->arity; n++)
    snprintf(declared + strlen(declared), sizeof declared - strlen(declared), " read %s: %s[];", names[n],
             numeric_spelling(types[n]));
  numeric_print(text, "program p workgroup(64) {%s write r: %s[]; let i = gid.x; if (i < len(r)) { r[i] = ", declared,
                numeric_spelling(stored));
  snprintf(text + strlen(text), NUMERIC_TEXT - strlen(text), stored == result ? "%s%s; } }" : "bitcast<%s>(%s); } }",
           stored == result ? "" : numeric_spelling(stored), use);
  snprintf(name, sizeof name, "%s%s %s", op->form == FORM_PREFIX ? "unary " : "", op->spelling, numeric_spelling(type));
  numeric_column columns[3];
  kit_buffer buffers[4];
  if (!numeric_cross(types, op->arity, op->arity < 3 ? UINT32_MAX : 24, 2048, kit_random(k), columns))
    return kit_fail(k, "memory is exhausted");
  for (uint32_t n = 0; n < op->arity; n++) buffers[n] = numeric_input(names[n], &columns[n]);
  buffers[op->arity] = numeric_output("r", columns[0].count);
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = op->arity + 1};
  numeric_outcome outcome = numeric_try(k, &c, false);
  numeric_columns_free(columns, op->arity);
  return outcome != NUMERIC_DIFFERS;
}

/* Functions with a budget have checks of their own. */
static bool is_checked(const operator_row *op, vyre_type type) {
  bool has_budget = (vyre_op_describe(op->op)->effects & VYRE_EFFECT_ULP) != 0;
  return op->rule.pattern != ELSEWHERE && (op->rule.types >> type & 1) != 0 && !has_budget;
}

static void check_type(kit *k, vyre_type type) {
  for (uint32_t n = 0; n < sizeof operators / sizeof *operators && !kit_is_full(k); n++)
    if (is_checked(&operators[n], type)) check_operator(k, &operators[n], type);
  numeric_conclude(k);
}

#define OPERATORS_OF(name, TYPE) \
  void check_operators_##name(kit *k) { check_type(k, VYRE_TYPE_##TYPE); }
OPERATORS_OF(bool, BOOL)
OPERATORS_OF(u32, U32)
OPERATORS_OF(i32, I32)
OPERATORS_OF(u64, U64)
OPERATORS_OF(i64, I64)
OPERATORS_OF(f32, F32)
OPERATORS_OF(f64, F64)
OPERATORS_OF(u32x2, U32X2)
OPERATORS_OF(u32x4, U32X4)
OPERATORS_OF(i32x2, I32X2)
OPERATORS_OF(i32x4, I32X4)
OPERATORS_OF(f32x2, F32X2)
OPERATORS_OF(f32x4, F32X4)

/* A new type of values needs a line above and a row in checks.def. */
enum {
  VALUE_TYPES = 0
#define X(name, spelling, bytes, lanes, component, value, wire) \
  | (VYRE_TYPE_##name == VYRE_TYPE_##value ? T(name) : 0)
#include <vyre/types.def>
#undef X
};
_Static_assert(VALUE_TYPES == (NUMBERS | VECTORS | T(BOOL)), "a type of values is in no check of operators");
