/* Printing expressions so that parsing gives the same ones back: brackets where precedence or a C reader needs them,
 * suffixes where no place gives a literal its type.
 *
 * What is printed for an operator always has a type of its own: if all operands that ask each other are literals, the
 * first has its suffix. Otherwise the parser would compute them, or give them another type. */
#include <string.h>

#include "ir/text_const.h"
#include "ir/text_print.h"

/* Precedence as in the parser; what is at least PRIMARY needs no brackets anywhere. */
enum { LOOSE = 0, TERNARY = 0, COMPARE = 4, UNARY = 11, PRIMARY = 12 };

static const uint8_t precedences[VYRE_OP_COUNT] = {
  [VYRE_OP_MUL] = 10, [VYRE_OP_DIV] = 10, [VYRE_OP_MOD] = 10, [VYRE_OP_ADD] = 9, [VYRE_OP_SUB] = 9,
  [VYRE_OP_SHL] = 8, [VYRE_OP_SHR] = 8, [VYRE_OP_BITAND] = 7, [VYRE_OP_BITXOR] = 6, [VYRE_OP_BITOR] = 5,
  [VYRE_OP_LT] = COMPARE, [VYRE_OP_GT] = COMPARE, [VYRE_OP_LE] = COMPARE, [VYRE_OP_GE] = COMPARE,
  [VYRE_OP_EQ] = 3, [VYRE_OP_NE] = 3, [VYRE_OP_LAND] = 2, [VYRE_OP_LOR] = 1,
};

typedef struct printer {
  vyre_writer *w;
  const vyre_program *p;
} printer;

static void print(const printer *t, uint32_t expr, vyre_type place, uint32_t least);

/* ---- Literals ------------------------------------------------------------------------------ */

static bool is_infinite_or_nan(vyre_type type, uint64_t bits) {
  return type == VYRE_TYPE_F32 ? (bits & 0x7F800000) == 0x7F800000
                               : (bits & 0x7FF0000000000000u) == 0x7FF0000000000000u;
}

static bool is_negative_float(vyre_type type, uint64_t bits) {
  return (bits >> (type == VYRE_TYPE_F32 ? 31 : 63)) != 0;
}

static void print_special(vyre_writer *w, vyre_type type, uint64_t bits, bool typed) {
  bool nan = type == VYRE_TYPE_F32 ? (bits & 0x7FFFFF) != 0 : (bits & 0xFFFFFFFFFFFFFu) != 0;
  const char *word = nan ? "nan" : is_negative_float(type, bits) ? "-inf" : "inf";
  if (typed) vyre_write(w, "%s(%s)", vyre_type_describe(type)->spelling, word);
  else vyre_write_text(w, word);
}

/* Whether a literal without suffix gets |type| in a place that asks for |place|. */
static bool place_gives(vyre_type type, uint64_t bits, vyre_type place) {
  vyre_type component = ir_component(place);
  if (component != VYRE_TYPE_NONE) return component == type;
  if (type == VYRE_TYPE_I32) return bits >> 31 != 0;
  return type == VYRE_TYPE_U32 || type == VYRE_TYPE_F32;
}

void text_print_literal(vyre_writer *w, vyre_type type, uint64_t bits, vyre_type place) {
  char number[TEXT_NUMBER_BYTES];
  bool bare = place_gives(type, bits, place);
  if (type == VYRE_TYPE_BOOL) {
    vyre_write_text(w, bits != 0 ? "true" : "false");
    return;
  }
  if (type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64) {
    if (is_infinite_or_nan(type, bits)) {
      print_special(w, type, bits, !bare);
      return;
    }
    text_write_float(number, type, bits);
  } else {
    text_write_int(number, text_int_value(type, bits));
  }
  vyre_write_text(w, number);
  if (!bare) vyre_write_text(w, vyre_type_describe(type)->spelling);
}

/* ---- Types that the text gives ------------------------------------------------------------- */

static bool is_literal(const vyre_program *p, uint32_t expr) {
  const ir_expr *e = ir_expr_at(p, expr);
  return e->op == VYRE_OP_LIT && e->type != VYRE_TYPE_BOOL;
}

/* A place that no untyped literal fits, so that it gets its suffix. */
static const vyre_type NO_LITERAL = VYRE_TYPE_BOOL;

/* The type that operand |i| finds: that of the first other one that is no literal; if all are, the first has a suffix
 * and the others find its type. */
static vyre_type place_among(const vyre_program *p, const uint32_t *exprs, uint32_t count, uint32_t i) {
  for (uint32_t k = 0; k < count; k++)
    if (!is_literal(p, exprs[k])) return (vyre_type)ir_expr_at(p, exprs[k])->type;
  return i == 0 ? NO_LITERAL : (vyre_type)ir_expr_at(p, exprs[0])->type;
}

void text_print_together(vyre_writer *w, const vyre_program *p, const uint32_t *exprs, uint32_t count,
                         const char *const *separators) {
  bool plain = true; /* literals alone that all are u32 without being asked */
  for (uint32_t i = 0; i < count; i++)
    plain &= is_literal(p, exprs[i]) && ir_expr_at(p, exprs[i])->type == VYRE_TYPE_U32;
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) vyre_write_text(w, separators[i - 1]);
    text_print_expr(w, p, exprs[i], plain ? VYRE_TYPE_NONE : place_among(p, exprs, count, i));
  }
}

/* ---- Operators ----------------------------------------------------------------------------- */

static bool is_elementwise(vyre_op op) {
  return (op >= VYRE_OP_ADD && op <= VYRE_OP_SHR) || op == VYRE_OP_MIN || op == VYRE_OP_MAX ||
         (op >= VYRE_OP_ROTL && op <= VYRE_OP_MULHI) || op == VYRE_OP_FMA;
}

static bool is_shift(vyre_op op) {
  return op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR;
}

/* A splat beside a vector is what the parser makes of a scalar there, so the scalar is printed. */
static void unsplat(const vyre_program *p, const ir_expr *e, uint32_t *operands) {
  uint32_t arity = ir_op_arity[e->op];
  bool vector = false;
  if (!is_elementwise((vyre_op)e->op) || !ir_is_vector((vyre_type)e->type)) return;
  for (uint32_t i = 0; i < arity; i++) vector |= ir_expr_at(p, operands[i])->op != VYRE_OP_SPLAT;
  if (is_shift((vyre_op)e->op)) vector = true;
  for (uint32_t i = is_shift((vyre_op)e->op) ? 1 : 0; vector && i < arity; i++) {
    const ir_expr *operand = ir_expr_at(p, operands[i]);
    if (operand->op == VYRE_OP_SPLAT) operands[i] = operand->arg[0];
  }
}

/* The place of operand |i| of an operator whose printed operands are |operands|. */
static vyre_type operand_place(const vyre_program *p, const ir_expr *e, const uint32_t *operands, uint32_t i) {
  uint32_t arity = ir_op_arity[e->op];
  vyre_op op = (vyre_op)e->op;
  if (op == VYRE_OP_SELECT) return i == 0 ? VYRE_TYPE_NONE : place_among(p, operands + 1, 2, i - 1);
  if (op >= VYRE_OP_SUBGROUP_ADD) return i == 0 ? VYRE_TYPE_NONE : VYRE_TYPE_U32;
  if (!is_shift(op)) return place_among(p, operands, arity, i);
  if (i == 1) return VYRE_TYPE_U32;
  return is_literal(p, operands[1]) ? NO_LITERAL : (vyre_type)ir_expr_at(p, operands[1])->type;
}

static void print_arguments(const printer *t, const ir_expr *e, const uint32_t *operands) {
  vyre_write_text(t->w, "(");
  for (uint32_t i = 0; i < ir_op_arity[e->op]; i++) {
    if (i > 0) vyre_write_text(t->w, ", ");
    print(t, operands[i], operand_place(t->p, e, operands, i), LOOSE);
  }
  vyre_write_text(t->w, ")");
}

static bool is_bitwise(const vyre_program *p, uint32_t expr) {
  uint8_t op = ir_expr_at(p, expr)->op;
  return op >= VYRE_OP_BITAND && op <= VYRE_OP_BITXOR;
}

static void print_infix(const printer *t, const ir_expr *e, const uint32_t *operands) {
  uint32_t own = precedences[e->op];
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t least = own + i; /* the left one may be of the same precedence */
    bool compares = e->op >= VYRE_OP_EQ && e->op <= VYRE_OP_GE;
    if (compares && is_bitwise(t->p, operands[i])) least = PRIMARY; /* C reads a & b == c otherwise */
    if (i == 1) vyre_write(t->w, " %s ", vyre_op_describe((vyre_op)e->op)->spelling);
    print(t, operands[i], operand_place(t->p, e, operands, i), least);
  }
}

static void print_prefix(const printer *t, const ir_expr *e, const uint32_t *operands) {
  const ir_expr *operand = ir_expr_at(t->p, operands[0]);
  /* A minus before a number would belong to the number. */
  bool brackets = e->op == VYRE_OP_NEG && (operand->op == VYRE_OP_LIT || operand->op == VYRE_OP_NEG);
  vyre_write_text(t->w, vyre_op_describe((vyre_op)e->op)->spelling);
  if (brackets) vyre_write_text(t->w, "(");
  print(t, operands[0], operand_place(t->p, e, operands, 0), brackets ? LOOSE : UNARY);
  if (brackets) vyre_write_text(t->w, ")");
}

static void print_select(const printer *t, const uint32_t *operands, const ir_expr *e) {
  print(t, operands[0], VYRE_TYPE_NONE, TERNARY + 1);
  vyre_write_text(t->w, " ? ");
  print(t, operands[1], operand_place(t->p, e, operands, 1), TERNARY + 1);
  vyre_write_text(t->w, " : ");
  print(t, operands[2], operand_place(t->p, e, operands, 2), TERNARY);
}

/* ---- Memory and conversions ---------------------------------------------------------------- */

static const char *buffer_name(const vyre_program *p, uint32_t binding) {
  return ir_text(p, p->buffers.data[binding].name);
}

static void print_element(const printer *t, const ir_expr *e) {
  vyre_write(t->w, "%s[", buffer_name(t->p, e->arg[3]));
  print(t, e->arg[0], VYRE_TYPE_U32, LOOSE);
  vyre_write_text(t->w, "]");
}

static void print_atomic(const printer *t, const ir_expr *e) {
  static const char orders[][8] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst" };
  static const char scopes[][10] = { "workgroup", "device", "system" };
  const ir_buffer *buffer = &t->p->buffers.data[e->arg[3]];
  uint8_t usual = buffer->access == VYRE_ACCESS_SHARED ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE;
  vyre_write(t->w, "%s(", vyre_op_describe((vyre_op)e->op)->spelling);
  print_element(t, e);
  for (uint32_t i = 1; i < ir_op_arity[e->op]; i++) {
    vyre_write_text(t->w, ", ");
    print(t, e->arg[i], (vyre_type)buffer->element, LOOSE);
  }
  if (e->aux != VYRE_ORDER_RELAXED || e->aux2 != usual) vyre_write(t->w, ", %s", orders[e->aux]);
  if (e->aux2 != usual) vyre_write(t->w, ", %s", scopes[e->aux2]);
  vyre_write_text(t->w, ")");
}

/* `type(operands)`: operands of vectors are components, and those of conversions keep their type. */
static void print_constructor(const printer *t, const ir_expr *e, vyre_type type, vyre_type place) {
  vyre_write(t->w, "%s(", vyre_type_describe(type)->spelling);
  for (uint32_t i = 0; i < ir_op_arity[e->op]; i++) {
    if (i > 0) vyre_write_text(t->w, ", ");
    print(t, e->arg[i], place, LOOSE);
  }
  vyre_write_text(t->w, ")");
}

static void print_extract(const printer *t, const ir_expr *e) {
  print(t, e->arg[0], VYRE_TYPE_NONE, PRIMARY);
  vyre_write(t->w, ".%c", "xyzw"[e->aux]);
}

/* ---- Any expression ------------------------------------------------------------------------ */

static void print_operator(const printer *t, const ir_expr *e, uint32_t least) {
  uint32_t operands[IR_MAX_OPERANDS];
  memcpy(operands, e->arg, sizeof operands);
  unsplat(t->p, e, operands);
  bool infix = precedences[e->op] != 0, prefix = e->op >= VYRE_OP_NEG && e->op <= VYRE_OP_LNOT;
  uint32_t own = e->op == VYRE_OP_SELECT ? TERNARY : prefix ? UNARY : infix ? precedences[e->op] : PRIMARY;
  if (own < least) vyre_write_text(t->w, "(");
  if (e->op == VYRE_OP_SELECT) print_select(t, operands, e);
  else if (infix) print_infix(t, e, operands);
  else if (prefix) print_prefix(t, e, operands);
  else {
    vyre_write_text(t->w, vyre_op_describe((vyre_op)e->op)->spelling);
    print_arguments(t, e, operands);
  }
  if (own < least) vyre_write_text(t->w, ")");
}

/* Recursion ends at VYRE_MAX_EXPR_DEPTH. */
static void print(const printer *t, uint32_t expr, vyre_type place, uint32_t least) {
  const ir_expr *e = ir_expr_at(t->p, expr);
  const char *spelling = vyre_op_describe((vyre_op)e->op)->spelling;
  if (t->w->failed) return;
  switch (e->op) {
    case VYRE_OP_LIT: text_print_literal(t->w, (vyre_type)e->type, ir_literal_bits(e), place); return;
    case VYRE_OP_VAR: vyre_write_text(t->w, ir_text(t->p, t->p->vars.data[e->arg[3]].name)); return;
    case VYRE_OP_PARAM: vyre_write_text(t->w, ir_text(t->p, t->p->params.data[e->arg[3]].name)); return;
    case VYRE_OP_GID:
    case VYRE_OP_WID:
    case VYRE_OP_LID:
    case VYRE_OP_NWG: vyre_write(t->w, "%s.%c", spelling, "xyz"[e->aux]); return;
    case VYRE_OP_LANE:
    case VYRE_OP_SUBGROUP_SIZE:
    case VYRE_OP_SUBGROUP_ID:
    case VYRE_OP_NUM_SUBGROUPS: vyre_write_text(t->w, spelling); return;
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: vyre_write(t->w, "%s(%s)", spelling, buffer_name(t->p, e->arg[3])); return;
    case VYRE_OP_LOAD: print_element(t, e); return;
    case VYRE_OP_GRID_UNIFORM_LOAD:
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD:
      vyre_write(t->w, "%s(", spelling);
      print_element(t, e);
      vyre_write_text(t->w, ")");
      return;
    case VYRE_OP_CAST: print_constructor(t, e, (vyre_type)e->aux, NO_LITERAL); return;
    case VYRE_OP_SPLAT:
    case VYRE_OP_VEC2:
    case VYRE_OP_VEC4: print_constructor(t, e, (vyre_type)e->type, ir_component((vyre_type)e->type)); return;
    case VYRE_OP_BITCAST:
      vyre_write(t->w, "%s<%s>(", spelling, vyre_type_describe((vyre_type)e->type)->spelling);
      print(t, e->arg[0], VYRE_TYPE_NONE, LOOSE);
      vyre_write_text(t->w, ")");
      return;
    case VYRE_OP_EXTRACT: print_extract(t, e); return;
    default: break;
  }
  if (e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE) print_atomic(t, e);
  else print_operator(t, e, least);
}

void text_print_expr(vyre_writer *w, const vyre_program *p, uint32_t expr, vyre_type place) {
  print(&(printer){ w, p }, expr, place, LOOSE);
}
