/* Operands: how untyped literals find their type (docs/language.md, "Literals").
 *
 * Untyped integers are computed exactly as long as they meet only each other. What else is made of untyped operands
 * alone is built once for each type that it can have, and the place then takes one of them. */
#include <stdio.h>
#include <string.h>

#include "ir/check.h"
#include "ir/text_parser.h"

static const char *type_name(vyre_type type) { return vyre_type_describe(type)->spelling; }

/* ---- The operand stack --------------------------------------------------------------------- */

bool text_push(text_parser *p, operand x) {
  if (vyre_vector_push(&p->operands, x)) return true;
  text_no_memory(p);
  return false;
}

void text_drop(text_parser *p, uint32_t count) {
  p->operands.count -= count;
  if (p->settled > p->operands.count) p->settled = p->operands.count;
}

operand text_pop(text_parser *p) {
  operand x = p->operands.data[p->operands.count - 1];
  text_drop(p, 1);
  return x;
}

/* ---- Literals ------------------------------------------------------------------------------ */

operand text_number(text_parser *p) {
  const text_token *t = &p->token;
  operand x = { .type = t->suffix, .bare = true, .pos = t->start };
  if (t->malformed) return operand_failed(t->start);
  if (t->kind == TEXT_INTEGER) {
    x.kind = OPERAND_INT;
    x.value = (text_int)t->value;
  } else {
    x.kind = OPERAND_FLOAT;
    x.digits.text = p->lex.text + t->start;
    x.digits.bytes = t->digits_end - t->start;
  }
  return x;
}

static bool report_range(text_parser *p, const operand *x, vyre_type type) {
  char number[TEXT_NUMBER_BYTES];
  if (x->kind == OPERAND_INT) text_write_int(number, x->value);
  bool real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  if (x->kind == OPERAND_INT)
    text_report(p, VYRE_V145, x->pos, "%s is not %s", number, real ? "exact in that float type" : type_name(type));
  else text_report(p, VYRE_V145, x->pos, "the number is beyond the range of %s", type_name(type));
  return false;
}

/* The bits of an INT or FLOAT in a scalar type other than bool; says why not. */
static bool literal_bits(text_parser *p, const operand *x, vyre_type type, uint64_t *bits) {
  if (x->kind == OPERAND_INT) return text_int_bits(type, x->value, bits) || report_range(p, x, type);
  if (type != VYRE_TYPE_F32 && type != VYRE_TYPE_F64) {
    text_report(p, VYRE_V145, x->pos, "a float literal is no value of type %s", type_name(type));
    return false;
  }
  switch (text_operand_float(x, type, bits)) {
    case TEXT_FLOAT_OK: return true;
    case TEXT_FLOAT_RANGE: return report_range(p, x, type);
    default: text_no_memory(p); return false;
  }
}

static bool is_number(const operand *x) { return x->kind == OPERAND_INT || x->kind == OPERAND_FLOAT; }

void text_firm(text_parser *p, operand *x) {
  if (!is_number(x)) return;
  x->bare = false;
  if (x->type == VYRE_TYPE_NONE) return;
  uint64_t bits;
  bool fits = literal_bits(p, x, (vyre_type)x->type, &bits);
  uint16_t height = x->height;
  *x = fits ? operand_literal((vyre_type)x->type, bits, x->pos) : operand_failed(x->pos);
  x->height = height;
}

operand text_negate(text_parser *p, operand x, uint32_t pos) {
  bool whole = x.kind == OPERAND_INT && x.bare;
  bool real = x.kind == OPERAND_FLOAT && (x.bare || x.type == VYRE_TYPE_NONE) && x.word != FLOAT_NAN;
  if (!whole && !real) return text_apply(p, VYRE_OP_NEG, &x, pos);
  x.pos = pos;
  if (whole) x.value = -x.value; /* a token is below 2^127, so that nothing overflows */
  else x.negative = !x.negative;
  text_firm(p, &x);
  return x;
}

/* ---- Types that places give ---------------------------------------------------------------- */

vyre_type text_operand_type(const text_parser *p, const operand *x) {
  if (x->kind == OPERAND_EXPR) return vyre_build_type_of(p->b, x->expr);
  return x->kind == OPERAND_OPEN ? VYRE_TYPE_NONE : (vyre_type)x->type;
}

static bool is_negative(const operand *x) { return x->kind == OPERAND_INT ? x->value < 0 : x->negative; }
static bool is_real(const operand *x) { return x->kind == OPERAND_FLOAT || (x->kind == OPERAND_OPEN && x->real); }

/* The type of untyped operands where no place asks. */
static vyre_type default_type(const text_parser *p, const operand *x, uint32_t count) {
  bool negative = false, real = false;
  for (uint32_t i = 0; i < count; i++) {
    negative |= is_negative(&x[i]);
    real |= is_real(&x[i]);
  }
  if (real) return p->constant && p->constant_type == VYRE_TYPE_F64 ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
  return negative ? VYRE_TYPE_I32 : VYRE_TYPE_U32;
}

static bool is_open_type(vyre_type type) { return type >= VYRE_TYPE_U32 && type <= VYRE_TYPE_F64; }

/* The type that an untyped operand takes in a place. */
static vyre_type placed_type(const text_parser *p, const operand *x, vyre_type place) {
  vyre_type component = ir_component(place);
  bool fits = is_open_type(component);
  if (x->kind == OPERAND_FLOAT) fits = component == VYRE_TYPE_F32 || component == VYRE_TYPE_F64;
  if (x->kind == OPERAND_OPEN) fits = fits && x->open[component - OPEN_FIRST] != 0;
  return fits ? component : default_type(p, x, 1);
}

static vyre_expr resolve_open(text_parser *p, const operand *x, vyre_type place) {
  vyre_type type = placed_type(p, x, place);
  vyre_expr e = x->open[type - OPEN_FIRST];
  if (e == 0) text_report(p, VYRE_V145, x->pos, "it has no value of type %s", type_name(type));
  return e;
}

/* The literal that a number is in a place. */
static vyre_expr resolve_number(text_parser *p, const operand *x, vyre_type place) {
  vyre_type type = x->type != VYRE_TYPE_NONE ? (vyre_type)x->type : placed_type(p, x, place);
  uint64_t bits;
  return literal_bits(p, x, type, &bits) ? vyre_build_literal(p->b, type, bits) : 0;
}

vyre_expr text_resolve(text_parser *p, const operand *x, vyre_type place) {
  vyre_build_position(p->b, x->pos);
  switch (x->kind) {
    case OPERAND_EXPR:
      if ((ir_builder_meta(p->b, x->expr)->flags & VYRE_EFFECT_EFFECT) != 0) p->effects++;
      return x->expr;
    case OPERAND_LITERAL: return vyre_build_literal(p->b, (vyre_type)x->type, x->bits);
    case OPERAND_OPEN: return resolve_open(p, x, place);
    case OPERAND_INT:
    case OPERAND_FLOAT: return resolve_number(p, x, place);
    case OPERAND_VOID: text_report(p, VYRE_V146, x->pos, "the call gives none"); return 0;
    case OPERAND_BUFFER: text_report(p, VYRE_S5, x->pos, "wanted [ and an index after the name of a buffer"); return 0;
    default: return 0;
  }
}

/* Scalars that convert into each other. */
static bool is_plain(vyre_type type) { return type >= VYRE_TYPE_BOOL && type <= VYRE_TYPE_F64; }

vyre_expr text_resolve_to(text_parser *p, const operand *x, vyre_type place, vyre_code code, const char *what) {
  vyre_expr e = text_resolve(p, x, place);
  vyre_type type = vyre_build_type_of(p->b, e);
  if (e == 0 || type == place) return e;
  char fix[80];
  bool converts = is_plain(type) && is_plain(place) && place != VYRE_TYPE_BOOL;
  snprintf(fix, sizeof fix, "write %s(...) around it; nothing is converted silently", type_name(place));
  text_report_fix(p, code, x->pos, converts ? fix : NULL, "%s is %s, found %s", what, type_name(place),
                  type == VYRE_TYPE_NONE ? "no value" : type_name(type));
  return 0;
}

/* The type of the first operand that has one. */
static vyre_type common_type(const text_parser *p, const operand *x, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    vyre_type type = text_operand_type(p, &x[i]);
    if (type != VYRE_TYPE_NONE) return type;
  }
  return VYRE_TYPE_NONE;
}

void text_resolve_together(text_parser *p, const operand *x, uint32_t count, vyre_expr *out) {
  vyre_type type = common_type(p, x, count);
  if (type == VYRE_TYPE_NONE) type = default_type(p, x, count);
  for (uint32_t i = 0; i < count; i++) out[i] = text_resolve(p, &x[i], type);
}

/* ---- Constants ----------------------------------------------------------------------------- */

bool text_constant_bits(text_parser *p, operand x, vyre_type type, uint64_t *bits) {
  text_firm(p, &x);
  if (x.kind == OPERAND_FAILED) return false;
  if (is_number(&x) && type != VYRE_TYPE_BOOL) return literal_bits(p, &x, type, bits);
  *bits = x.bits;
  if (x.kind == OPERAND_LITERAL && x.type == type) return true;
  if (x.kind == OPERAND_LITERAL || is_number(&x))
    text_report(p, VYRE_V145, x.pos, "wanted %s, found %s", type_name(type),
                x.kind == OPERAND_LITERAL ? type_name((vyre_type)x.type) : "a number");
  else text_report(p, VYRE_S7, x.pos, "it is not constant");
  return false;
}

static operand fold_fault(text_parser *p, const char *fault, uint32_t pos) {
  text_report(p, fault == text_zero_divisor ? VYRE_V44 : VYRE_S7, pos, "%s", fault);
  return operand_failed(pos);
}

static operand fold_untyped(text_parser *p, vyre_op op, const operand *x, uint32_t pos) {
  operand result = { .kind = OPERAND_INT, .pos = pos };
  text_int right = vyre_op_describe(op)->arity == 2 ? x[1].value : 0, value;
  const char *fault = text_fold(op, x[0].value, right, &value);
  if (fault != NULL) return fold_fault(p, fault, pos);
  result.value = value;
  return result;
}

static bool is_shift(vyre_op op) {
  return op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR;
}

/* An operator in a constant expression with a type. */
static operand fold_typed(text_parser *p, vyre_op op, const operand *x, uint32_t pos) {
  uint32_t arity = vyre_op_describe(op)->arity;
  vyre_type type = common_type(p, x, is_shift(op) ? 1 : arity);
  if (type == VYRE_TYPE_NONE) type = default_type(p, x, arity);
  uint64_t bits[2] = { 0 }, result;
  for (uint32_t i = 0; i < arity && i < 2; i++) {
    vyre_type own = text_operand_type(p, &x[i]);
    bool count = i == 1 && is_shift(op);
    if (!text_constant_bits(p, x[i], !count ? type : own != VYRE_TYPE_NONE ? own : VYRE_TYPE_U32, &bits[i]))
      return operand_failed(pos);
  }
  if (type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64) {
    if (text_fold_float(op, type, bits[0], bits[1], &result)) return operand_literal(type, result, pos);
  } else if (text_folds(op) && ir_is_integer(type)) {
    text_int value, left = text_int_value(type, bits[0]),
                    right = text_int_value(is_shift(op) ? VYRE_TYPE_I64 : type, bits[1]);
    const char *fault = text_fold(op, left, right, &value);
    if (fault == NULL && text_int_bits(type, value, &result)) return operand_literal(type, result, pos);
    return fold_fault(p, fault != NULL ? fault : "the result does not fit its type", pos);
  }
  return fold_fault(p, "this operator does not stand in constant expressions", pos);
}

/* ---- Operators ----------------------------------------------------------------------------- */

/* Which operands ask each other for their type. */
typedef enum op_class {
  CLASS_NONE, /* each takes its own; a second one is u32 */
  CLASS_SAME, /* all */
  CLASS_SHIFT, /* the first; the count is u32 */
  CLASS_SELECT /* all but the first */
} op_class;

#define RULE_LEAF CLASS_NONE
#define RULE_LEN CLASS_NONE
#define RULE_LOAD CLASS_NONE
#define RULE_CAST CLASS_NONE
#define RULE_BITCAST CLASS_NONE
#define RULE_SPLAT CLASS_NONE
#define RULE_VECTOR CLASS_NONE
#define RULE_EXTRACT CLASS_NONE
#define RULE_ATOMIC CLASS_NONE
#define RULE_ATOMIC_ADD CLASS_NONE
#define RULE_ATOMIC_LOAD CLASS_NONE
#define RULE_LOGIC CLASS_SAME
#define RULE_LNOT CLASS_SAME
#define RULE_ARITH CLASS_SAME
#define RULE_INTEGER CLASS_SAME
#define RULE_BITS CLASS_SAME
#define RULE_SHIFT CLASS_SHIFT
#define RULE_EQUAL CLASS_SAME
#define RULE_ORDER CLASS_SAME
#define RULE_UNSIGNED_ABSDIFF CLASS_SAME
#define RULE_UNSIGNED_SAT CLASS_SAME
#define RULE_NEGATE CLASS_SAME
#define RULE_BIT CLASS_SAME
#define RULE_SIGNED CLASS_SAME
#define RULE_FLOAT CLASS_SAME
#define RULE_FCLASS CLASS_SAME
#define RULE_FSCALAR CLASS_SAME
#define RULE_UNPACK CLASS_SAME
#define RULE_SELECT CLASS_SELECT
#define RULE_FMA CLASS_SAME
#define RULE_SUBGROUP CLASS_NONE
#define RULE_SUBGROUP_BITS CLASS_NONE
#define RULE_SUBGROUP_VOTE CLASS_NONE
#define RULE_SUBGROUP_BALLOT CLASS_NONE
#define RULE_SUBGROUP_SHUFFLE CLASS_NONE

static const uint8_t op_classes[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = RULE_##rule,
#include <vyre/ops.def>
#undef X
};

/* The operands that ask each other are x[first] to x[end - 1]. */
typedef struct op_group {
  uint32_t first, end;
} op_group;

static op_group group_of(vyre_op op) {
  uint32_t arity = vyre_op_describe(op)->arity;
  switch (op_classes[op]) {
    case CLASS_SAME: return (op_group){ 0, arity };
    case CLASS_SHIFT: return (op_group){ 0, 1 };
    case CLASS_SELECT: return (op_group){ 1, arity };
    default: return (op_group){ 0, 0 };
  }
}

static vyre_expr build(text_parser *p, vyre_op op, const vyre_expr *e, uint32_t pos) {
  vyre_build_position(p->b, pos);
  if (op == VYRE_OP_SELECT) return vyre_build_select(p->b, e[0], e[1], e[2]);
  if (op == VYRE_OP_FMA) return vyre_build_fma(p->b, e[0], e[1], e[2]);
  if (vyre_op_describe(op)->arity == 1) return vyre_build_unary(p->b, op, e[0]);
  return vyre_build_binary(p->b, op, e[0], e[1]);
}

/* The expression of an untyped operand in |type|, 0 without a word if it has none. */
static vyre_expr open_in(text_parser *p, const operand *x, vyre_type type) {
  uint64_t bits;
  bool real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  if (x->kind == OPERAND_OPEN) return x->open[type - OPEN_FIRST];
  bool fits = x->kind == OPERAND_INT ? text_int_bits(type, x->value, &bits)
                                     : real && text_operand_float(x, type, &bits) == TEXT_FLOAT_OK;
  return fits ? vyre_build_literal(p->b, type, bits) : 0;
}

/* Builds |op| on untyped operands for every type in which its result is of that type too. Gives false if there is
 * none: its operands are then as where no place asks. */
static bool build_open(text_parser *p, vyre_op op, const operand *x, vyre_expr *e, uint32_t pos, operand *out) {
  op_group group = group_of(op);
  uint32_t arity = vyre_op_describe(op)->arity, faults = vyre_builder_errors(p->b);
  *out = (operand){ .kind = OPERAND_OPEN, .pos = pos };
  bool any = false;
  for (uint32_t i = group.first; i < group.end; i++) {
    out->negative |= is_negative(&x[i]);
    out->real |= is_real(&x[i]);
  }
  for (vyre_type type = VYRE_TYPE_U32; type <= VYRE_TYPE_F64; type++) {
    bool built = true;
    for (uint32_t i = group.first; i < group.end; i++) built = (e[i] = open_in(p, &x[i], type)) != 0 && built;
    vyre_type types[3] = { 0 };
    for (uint32_t i = 0; i < arity; i++) types[i] = vyre_build_type_of(p->b, e[i]);
    vyre_code code;
    if (!built || ir_check_op(op, types[0], types[1], types[2], &code) != type) continue;
    out->open[type - OPEN_FIRST] = build(p, op, e, pos);
    any = true;
  }
  if (vyre_builder_errors(p->b) != faults) *out = operand_failed(pos);
  return any;
}

static bool all_untyped_ints(const operand *x, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (x[i].kind != OPERAND_INT || x[i].type != VYRE_TYPE_NONE) return false;
  return true;
}

/* What operands outside of the group take: a condition its own type, counts, lanes, masks and distances u32. */
static vyre_type outer_place(vyre_op op, uint32_t i) {
  return i == 1 && op != VYRE_OP_SELECT ? VYRE_TYPE_U32 : VYRE_TYPE_NONE;
}

static operand build_operator(text_parser *p, vyre_op op, const operand *x, uint32_t pos) {
  vyre_expr e[3] = { 0 };
  uint32_t arity = vyre_op_describe(op)->arity;
  op_group group = group_of(op);
  uint32_t members = group.end - group.first;
  vyre_type place = common_type(p, x + group.first, members);
  if (place == VYRE_TYPE_NONE && op_classes[op] == CLASS_SHIFT) place = ir_component(text_operand_type(p, &x[1]));
  for (uint32_t i = 0; i < arity; i++)
    if (i < group.first || i >= group.end) e[i] = text_resolve(p, &x[i], outer_place(op, i));
  operand open;
  if (members > 0 && place == VYRE_TYPE_NONE) {
    for (uint32_t i = 0; i < arity; i++)
      if ((i < group.first || i >= group.end) && e[i] == 0) return operand_failed(pos);
    if (build_open(p, op, x, e, pos, &open)) return open;
    place = default_type(p, x + group.first, members);
  }
  for (uint32_t i = group.first; i < group.end; i++) e[i] = text_resolve(p, &x[i], place);
  return operand_expr(build(p, op, e, pos), pos);
}

operand text_apply(text_parser *p, vyre_op op, operand *x, uint32_t pos) {
  uint32_t arity = vyre_op_describe(op)->arity;
  bool failed = false;
  for (uint32_t i = 0; i < arity; i++) {
    text_firm(p, &x[i]);
    if (x[i].kind == OPERAND_VOID) text_report(p, VYRE_V146, x[i].pos, "the call gives none");
    failed |= x[i].kind == OPERAND_FAILED || x[i].kind == OPERAND_VOID;
  }
  if (failed) return operand_failed(pos);
  if (text_folds(op) && all_untyped_ints(x, arity)) return fold_untyped(p, op, x, pos);
  if (p->constant) return arity <= 2 ? fold_typed(p, op, x, pos) : fold_fault(p, "it is not constant", pos);
  return build_operator(p, op, x, pos);
}

/* ---- Conversions --------------------------------------------------------------------------- */

operand text_convert(text_parser *p, vyre_type type, operand x, uint32_t pos) {
  uint64_t bits;
  text_firm(p, &x);
  bool real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  if (is_open_type(type) && (x.kind == OPERAND_INT || (x.kind == OPERAND_FLOAT && real)))
    return literal_bits(p, &x, type, &bits) ? operand_literal(type, bits, pos) : operand_failed(pos);
  if (x.kind == OPERAND_OPEN && is_open_type(type) && x.open[type - OPEN_FIRST] != 0)
    return operand_expr(x.open[type - OPEN_FIRST], pos);
  if (p->constant) {
    if (x.kind == OPERAND_LITERAL && x.type == type) return x;
    return x.kind == OPERAND_FAILED ? x : fold_fault(p, "a conversion does not stand in constant expressions", pos);
  }
  vyre_expr e = text_resolve(p, &x, ir_is_narrow(type) ? vyre_type_describe(type)->value : VYRE_TYPE_NONE);
  vyre_build_position(p->b, pos);
  return operand_expr(vyre_build_cast(p->b, type, e), pos);
}

vyre_expr text_zero(text_parser *p, vyre_type type) {
  vyre_expr zero = vyre_build_literal(p->b, ir_component(type), 0);
  return ir_is_vector(type) ? vyre_build_vector(p->b, type, &zero, 1) : zero;
}

/* ---- Keeping values ------------------------------------------------------------------------ */

vyre_expr text_bind(text_parser *p, vyre_expr value) {
  if (value == 0) return 0;
  uint32_t name = text_fresh_name(p, 't');
  vyre_var var = ir_build_declare(p->b, VYRE_STMT_LET, name, value);
  return var != VYRE_NO_VAR ? vyre_build_var_value(p->b, var) : 0;
}

static bool is_stable(const text_parser *p, const operand *x) {
  if (x->kind == OPERAND_EXPR) return ir_builder_stable(p->b, x->expr);
  if (x->kind != OPERAND_OPEN) return true;
  for (uint32_t i = 0; i < OPEN_TYPES; i++)
    if (x->open[i] != 0 && !ir_builder_stable(p->b, x->open[i])) return false;
  return true;
}

void text_settle(text_parser *p, uint32_t count) {
  for (; p->settled < count; p->settled++) {
    operand *x = &p->operands.data[p->settled];
    if (is_stable(p, x)) continue;
    uint32_t pos = x->pos;
    vyre_expr value = text_resolve(p, x, VYRE_TYPE_NONE);
    p->operands.data[p->settled] = operand_expr(text_bind(p, value), pos);
  }
}
