/* Building expressions: typing, hash-consing, and the rules that one expression alone can break. */
#include <stdio.h>
#include <string.h>

#include "ir/build_state.h"
#include "ir/check.h"

/* ---- The pool ------------------------------------------------------------------------------ */

bool build_reserve(vyre_builder *b, uint32_t more) {
  vyre_program *p = b->program;
  return vyre_vector_reserve(&p->exprs, more) && vyre_vector_reserve(&b->meta, p->exprs.capacity - b->meta.count);
}

/* What an operator reads that can change: not lets and loop variables, tables and read buffers. */
IR_INLINE uint16_t own_flags(const vyre_builder *b, vyre_op op, uint32_t what) {
  uint16_t flags = ir_op_effects[op];
  if ((flags & VYRE_EFFECT_READS) == 0) return flags;
  bool fixed;
  if (op == VYRE_OP_VAR) {
    fixed = b->program->vars.data[what].kind != VYRE_STMT_VAR;
  } else {
    uint8_t access = b->program->buffers.data[what].access;
    fixed = access == VYRE_ACCESS_READ || access == VYRE_ACCESS_TABLE;
  }
  return fixed ? flags & (uint16_t)~VYRE_EFFECT_READS : flags;
}

IR_INLINE void add_operand(ir_expr_meta *meta, const ir_expr_meta *operand) {
  if (__builtin_add_overflow(meta->uses, operand->uses, &meta->uses)) meta->uses = UINT32_MAX;
  if (operand->depth > meta->depth) meta->depth = operand->depth;
  if (operand->newest > meta->newest) meta->newest = operand->newest;
  meta->flags |= operand->flags;
}

IR_INLINE ir_expr_meta derive_meta(const vyre_builder *b, ir_words n, uint32_t arity) {
  const ir_expr_meta *all = b->meta.data;
  vyre_op op = (uint8_t)n.head;
  ir_expr_meta meta = { .uses = 1, .flags = own_flags(b, op, n.w) };
  if (op == VYRE_OP_VAR) meta.newest = n.w + 1;
  if (arity > 0) add_operand(&meta, &all[n.x]);
  if (arity > 1) add_operand(&meta, &all[n.y]);
  if (arity > 2) add_operand(&meta, &all[n.z]);
  if (arity > 3) add_operand(&meta, &all[n.w]);
  meta.depth++;
  return meta;
}

static vyre_expr refuse_depth(vyre_builder *b, uint32_t depth) {
  ir_builder_report(b, VYRE_V33, "it is %u deep here", depth);
  return 0;
}

static vyre_expr refuse_size(vyre_builder *b) {
  build_too_large(b);
  return 0;
}

static vyre_expr refuse_growth(vyre_builder *b) {
  b->out_of_memory = true;
  return 0;
}

/* Appends a node that is not there yet. */
IR_INLINE vyre_expr add_node(vyre_builder *b, ir_words n, uint32_t arity, ir_expr_place place) {
  vyre_program *p = b->program;
  vyre_expr e = p->exprs.count;
  ir_expr_meta meta = derive_meta(b, n, arity);
  if (meta.depth > VYRE_MAX_EXPR_DEPTH) return refuse_depth(b, meta.depth);
  if (e >= VYRE_MAX_PROGRAM_BYTES) return refuse_size(b);
  if (e == p->exprs.capacity && !build_reserve(b, 1)) return refuse_growth(b);
  p->exprs.data[e] = ir_expr_of(n);
  b->meta.data[e] = meta;
  p->exprs.count = b->meta.count = e + 1;
  if (!ir_expr_set_insert(&b->expr_set, p->exprs.data, place, e)) b->out_of_memory = true;
  return e;
}

/* Appends an expression of |arity| operands to the pool, or finds the equal one; 0 without memory or beyond a limit. It
 * is inlined where most expressions come from, so that what is known there is not found out again. */
IR_INLINE vyre_expr build_node(vyre_builder *b, uint32_t arity, ir_expr e) {
  if (b->out_of_memory) return 0; /* the set may lack what was built last */
  ir_words n = ir_words_of(&e);
  ir_expr_place place;
  vyre_expr known = ir_expr_set_find(&b->expr_set, b->program->exprs.data, n, &place);
  return known != 0 ? known : add_node(b, n, arity, place);
}

/* The same for all else. */
static vyre_expr build_any(vyre_builder *b, ir_expr e) { return build_node(b, ir_op_arity[e.op], e); }

vyre_expr build_new_leaf(vyre_builder *b, vyre_expr *known, ir_expr e) {
  if (!b->out_of_memory) *known = add_node(b, ir_words_of(&e), 0, (ir_expr_place){ 0 });
  return *known;
}

static bool is_visible(const vyre_builder *b, vyre_var var) {
  if (var >= b->closed) return true;
  const build_name *name = &b->names.data[b->program->vars.data[var].name];
  return name->kind == IR_SYMBOL_VAR && name->index == var;
}

static bool refuse_invisible(vyre_builder *b, vyre_var var) {
  ir_builder_report(b, VYRE_V66, "\"%s\" is not visible here", ir_builder_text(b, b->program->vars.data[var].name));
  return false;
}

bool build_look_closer(vyre_builder *b, vyre_expr e) {
  if (e == 0) return false;
  if (e >= b->program->exprs.count) {
    ir_builder_report(b, VYRE_V66, "expression %u is not one of this builder", e);
    return false;
  }
  uint32_t newest = b->meta.data[e].newest;
  return newest == 0 || is_visible(b, newest - 1) || refuse_invisible(b, newest - 1);
}

bool build_refuse_valueless(vyre_builder *b) {
  ir_builder_report(b, VYRE_V146, "an atomic store gives none");
  return false;
}

/* ---- Leaves -------------------------------------------------------------------------------- */

vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits) {
  if (!ir_check_literal(type, bits)) {
    ir_builder_report(b, VYRE_V145, "0x%llx is no literal of type %s", (unsigned long long)bits, build_type_name(type));
    return 0;
  }
  return build_node(b, 0, (ir_expr){ .op = VYRE_OP_LIT,
                                     .type = (uint8_t)type,
                                     .arg = { (uint32_t)bits, (uint32_t)(bits >> 32) } });
}

vyre_expr vyre_build_bool(vyre_builder *b, bool value) { return vyre_build_literal(b, VYRE_TYPE_BOOL, value); }
vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value) { return vyre_build_literal(b, VYRE_TYPE_U32, value); }
vyre_expr vyre_build_u64(vyre_builder *b, uint64_t value) { return vyre_build_literal(b, VYRE_TYPE_U64, value); }
vyre_expr vyre_build_i32(vyre_builder *b, int32_t value) {
  return vyre_build_literal(b, VYRE_TYPE_I32, (uint32_t)value);
}
vyre_expr vyre_build_i64(vyre_builder *b, int64_t value) {
  return vyre_build_literal(b, VYRE_TYPE_I64, (uint64_t)value);
}

vyre_expr vyre_build_f32(vyre_builder *b, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return vyre_build_literal(b, VYRE_TYPE_F32, value != value ? 0x7FC00000 : bits);
}

vyre_expr vyre_build_f64(vyre_builder *b, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return vyre_build_literal(b, VYRE_TYPE_F64, value != value ? 0x7FF8000000000000u : bits);
}

static vyre_type leaf_type(vyre_op op) {
  switch (op) {
    case VYRE_OP_GID:
    case VYRE_OP_WID:
    case VYRE_OP_LID:
    case VYRE_OP_NWG:
    case VYRE_OP_LANE:
    case VYRE_OP_SUBGROUP_SIZE:
    case VYRE_OP_SUBGROUP_ID:
    case VYRE_OP_NUM_SUBGROUPS: return VYRE_TYPE_U32;
    case VYRE_OP_CLOCK_NS: return VYRE_TYPE_U64;
    case VYRE_OP_SHOULD_STOP: return VYRE_TYPE_BOOL;
    default: return VYRE_TYPE_NONE;
  }
}

vyre_expr vyre_build_leaf(vyre_builder *b, vyre_op op, uint32_t axis) {
  if ((unsigned)op <= VYRE_OP_SHOULD_STOP && axis < 3 && b->leaves[op][axis] != 0) return b->leaves[op][axis];
  vyre_type type = leaf_type(op);
  if (type == VYRE_TYPE_NONE) {
    ir_builder_report(b, VYRE_V136, "operator %u is no leaf", (unsigned)op);
    return 0;
  }
  bool axes = op >= VYRE_OP_GID && op <= VYRE_OP_NWG;
  if (axis > (axes ? 2u : 0u)) {
    ir_builder_report(b, VYRE_V68, "axis %u of %s", axis, vyre_op_describe(op)->spelling);
    return 0;
  }
  ir_expr leaf = { .op = (uint8_t)op, .type = (uint8_t)type, .aux = (uint8_t)axis };
  return build_leaf(b, &b->leaves[op][axis], leaf);
}

vyre_expr vyre_build_var_value(vyre_builder *b, vyre_var var) {
  if (var >= b->program->vars.count) {
    if (var != VYRE_NO_VAR) ir_builder_report(b, VYRE_V66, "there is no variable %u", var);
    return 0;
  }
  if (!is_visible(b, var)) {
    refuse_invisible(b, var);
    return 0;
  }
  uint8_t type = b->program->vars.data[var].type;
  return build_leaf(b, &b->var_values.data[var], (ir_expr){ .op = VYRE_OP_VAR, .type = type, .arg[3] = var });
}

/* ---- Memory -------------------------------------------------------------------------------- */

vyre_expr vyre_build_len(vyre_builder *b, vyre_op op, vyre_binding binding) {
  if (!build_has_buffer(b, binding) || (op != VYRE_OP_LEN && op != VYRE_OP_LEN64)) {
    ir_builder_report(b, VYRE_V67, "there is no buffer %u", binding);
    return 0;
  }
  vyre_type type = op == VYRE_OP_LEN ? VYRE_TYPE_U32 : VYRE_TYPE_U64;
  return build_any(b, (ir_expr){ .op = (uint8_t)op, .type = (uint8_t)type, .arg[3] = binding });
}

bool build_check_index(vyre_builder *b, const ir_buffer *buffer, vyre_expr index, vyre_code code) {
  if (!build_usable(b, index)) return false;
  const ir_expr *e = build_expr_at(b, index);
  if (e->type != VYRE_TYPE_U32 && e->type != VYRE_TYPE_U64) {
    ir_builder_report(b, code, "the index is %s", build_type_name((vyre_type)e->type));
    return false;
  }
  if (e->op != VYRE_OP_LIT || buffer->length == 0 || ir_literal_bits(e) < buffer->length) return true;
  ir_builder_report(b, VYRE_V36, "index %llu of \"%s\", which has %llu elements",
                    (unsigned long long)ir_literal_bits(e), ir_builder_text(b, buffer->name),
                    (unsigned long long)buffer->length);
  return false;
}

vyre_expr vyre_build_load(vyre_builder *b, vyre_op op, vyre_binding binding, vyre_expr index) {
  if (!build_has_buffer(b, binding) || op < VYRE_OP_LOAD || op > VYRE_OP_WORKGROUP_UNIFORM_LOAD) {
    ir_builder_report(b, VYRE_V65, "there is no buffer %u", binding);
    return 0;
  }
  const ir_buffer *buffer = &b->program->buffers.data[binding];
  bool own = op == VYRE_OP_WORKGROUP_UNIFORM_LOAD && buffer->access == VYRE_ACCESS_LOCAL;
  if (buffer->access == VYRE_ACCESS_WRITE || own) {
    ir_builder_report(b, VYRE_V65, "\"%s\" is %s", ir_builder_text(b, buffer->name),
                      own ? "local: each invocation has its own" : "write-only");
    return 0;
  }
  if (!build_check_index(b, buffer, index, VYRE_V133)) return 0;
  vyre_type value = ir_type_at((vyre_type)buffer->element)->value;
  ir_expr load = { .op = (uint8_t)op, .type = (uint8_t)value, .arg = { [0] = index, [3] = binding } };
  return build_node(b, 1, load);
}

/* Whether |element| has atomic operator |op|. */
static bool has_atomic(vyre_op op, vyre_type element) {
  bool integer = element >= VYRE_TYPE_U32 && element <= VYRE_TYPE_I64;
  if (op == VYRE_OP_ATOMIC_ADD) return integer || element == VYRE_TYPE_F32;
  if (op == VYRE_OP_ATOMIC_LOAD) return integer || element == VYRE_TYPE_U32X4;
  return integer;
}

static bool check_operand(vyre_builder *b, vyre_expr e, vyre_type wanted, vyre_code code) {
  if (!build_usable(b, e)) return false;
  if (build_type_of(b, e) == wanted) return true;
  ir_builder_report(b, code, "wanted %s, found %s", build_type_name(wanted), build_type_name(build_type_of(b, e)));
  return false;
}

static bool check_atomic_buffer(vyre_builder *b, vyre_op op, vyre_binding binding) {
  if (!build_has_buffer(b, binding) || op < VYRE_OP_ATOMIC_ADD || op > VYRE_OP_ATOMIC_STORE) {
    ir_builder_report(b, VYRE_V61, "there is no buffer %u", binding);
    return false;
  }
  const ir_buffer *buffer = &b->program->buffers.data[binding];
  const char *name = ir_builder_text(b, buffer->name);
  if (buffer->access != VYRE_ACCESS_RW && buffer->access != VYRE_ACCESS_SHARED) {
    ir_builder_report(b, VYRE_V9, "\"%s\" is neither", name);
    return false;
  }
  if (has_atomic(op, (vyre_type)buffer->element)) return true;
  ir_builder_report(b, VYRE_V14, "%s of \"%s\", whose elements are %s", vyre_op_describe(op)->spelling, name,
                    build_type_name((vyre_type)buffer->element));
  return false;
}

vyre_expr vyre_build_atomic(vyre_builder *b, vyre_op op, vyre_binding binding, vyre_expr index, vyre_expr value,
                            vyre_expr desired, vyre_order order, vyre_scope scope) {
  if (!check_atomic_buffer(b, op, binding)) return 0;
  const ir_buffer *buffer = &b->program->buffers.data[binding];
  vyre_type element = (vyre_type)buffer->element;
  bool cas = op == VYRE_OP_ATOMIC_CAS;
  bool good = build_check_index(b, buffer, index, VYRE_V27);
  if (op != VYRE_OP_ATOMIC_LOAD) good &= check_operand(b, value, element, cas ? VYRE_V58 : VYRE_V57);
  if (cas) good &= check_operand(b, desired, element, VYRE_V57);
  if (!good) return 0;
  if (!ir_check_order(op, order) || (unsigned)scope > VYRE_SCOPE_DEFAULT) {
    ir_builder_report(b, VYRE_V42, "order %u, scope %u of %s", (unsigned)order, (unsigned)scope,
                      vyre_op_describe(op)->spelling);
    return 0;
  }
  if (scope == VYRE_SCOPE_DEFAULT)
    scope = buffer->access == VYRE_ACCESS_SHARED ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE;
  ir_expr node = { .op = (uint8_t)op,
                   .type = op == VYRE_OP_ATOMIC_STORE ? VYRE_TYPE_NONE : (uint8_t)element,
                   .aux = (uint8_t)order,
                   .aux2 = (uint8_t)scope,
                   .arg = { index, 0, 0, binding } };
  if (op != VYRE_OP_ATOMIC_LOAD) node.arg[1] = value;
  if (cas) node.arg[2] = desired;
  return build_any(b, node);
}

/* ---- Operators ----------------------------------------------------------------------------- */

/* A scalar beside a vector stands for the vector of equal components. For shifts the count is u32 whatever
 * the vector's component. */
static vyre_expr splat_to(vyre_builder *b, vyre_expr e, vyre_type beside) {
  vyre_type own = build_type_of(b, e);
  if (!ir_is_vector(beside) || ir_is_vector(own)) return e;
  vyre_type vector = ir_vector_of(own, ir_type_at(beside)->lanes);
  if (vector == VYRE_TYPE_NONE) return e;
  return build_any(b, (ir_expr){ .op = VYRE_OP_SPLAT, .type = (uint8_t)vector, .arg[0] = e });
}

static bool is_plain_number(vyre_type t) { return t >= VYRE_TYPE_U32 && t <= VYRE_TYPE_F64; }

/* How two numbers of different types come together; NULL if that is not what is wrong. */
static const char *conversion_fix(vyre_code code, vyre_type x, vyre_type y, char out[96]) {
  bool differ = code == VYRE_V88 || code == VYRE_V90 || code == VYRE_V93 || code == VYRE_V96;
  if (!differ || x == y || !is_plain_number(x) || !is_plain_number(y)) return NULL;
  snprintf(out, 96, "write %s(...) around the %s, or %s(...) around the %s; nothing is converted silently",
           build_type_name(x), build_type_name(y), build_type_name(y), build_type_name(x));
  return out;
}

static void report_types(vyre_builder *b, vyre_code code, vyre_op op, vyre_type x, vyre_type y, vyre_type z) {
  const char *spelling = vyre_op_describe(op)->spelling;
  uint32_t arity = vyre_op_describe(op)->arity;
  char fix[96];
  if (arity == 1) ir_builder_report(b, code, "%s of %s", spelling, build_type_name(x));
  else if (arity == 2)
    ir_builder_report_fix(b, code, conversion_fix(code, x, y, fix), "%s of %s and %s", spelling, build_type_name(x),
                          build_type_name(y));
  else
    ir_builder_report(b, code, "%s of %s, %s and %s", spelling, build_type_name(x), build_type_name(y),
                      build_type_name(z));
}

/* The integer value of a constant through conversions, as 64 bits; false if |e| is not one. */
static bool constant_value(const vyre_builder *b, vyre_expr e, uint64_t *bits) {
  uint8_t casts[VYRE_MAX_EXPR_DEPTH];
  uint32_t count = 0;
  const ir_expr *node = build_expr_at(b, e);
  for (; node->op == VYRE_OP_CAST || node->op == VYRE_OP_SPLAT; node = build_expr_at(b, node->arg[0]))
    if (node->op == VYRE_OP_CAST) casts[count++] = node->aux;
  if (node->op != VYRE_OP_LIT || ir_is_float((vyre_type)node->type)) return false;
  *bits = node->type == VYRE_TYPE_I32 ? (uint64_t)(int32_t)node->arg[0] : ir_literal_bits(node);
  while (count > 0) switch (casts[--count]) {
    case VYRE_TYPE_BOOL: *bits = *bits != 0; break;
    case VYRE_TYPE_U8: *bits = (uint8_t)*bits; break;
    case VYRE_TYPE_I8: *bits = (uint64_t)(int8_t)*bits; break;
    case VYRE_TYPE_U16: *bits = (uint16_t)*bits; break;
    case VYRE_TYPE_I16: *bits = (uint64_t)(int16_t)*bits; break;
    case VYRE_TYPE_U32: *bits = (uint32_t)*bits; break;
    case VYRE_TYPE_I32: *bits = (uint64_t)(int32_t)*bits; break;
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64: break;
    default: return false;
  }
  return true;
}

/* Whether an integer is divided by a constant 0 (V44). */
static bool divides_by_zero(vyre_builder *b, vyre_op op, vyre_expr y) {
  uint64_t bits;
  if (!ir_is_integer(build_type_of(b, y)) || !constant_value(b, y, &bits) || bits != 0) return false;
  ir_builder_report(b, VYRE_V44, "the right operand of %s is 0", vyre_op_describe(op)->spelling);
  return true;
}

IR_INLINE vyre_expr build_op(vyre_builder *b, vyre_op op, uint32_t arity, vyre_expr x, vyre_expr y, vyre_expr z) {
  vyre_code code;
  vyre_type tx = build_type_of(b, x), ty = build_type_of(b, y), tz = build_type_of(b, z);
  vyre_type type = ir_check_op(op, tx, ty, tz, &code);
  if (type == VYRE_TYPE_NONE) {
    report_types(b, code, op, tx, ty, tz);
    return 0;
  }
  if ((op == VYRE_OP_DIV || op == VYRE_OP_MOD) && divides_by_zero(b, op, y)) return 0;
  return build_node(b, arity, (ir_expr){ .op = (uint8_t)op, .type = (uint8_t)type, .arg = { x, y, z } });
}

static vyre_expr build_op_1(vyre_builder *b, vyre_op op, vyre_expr x) {
  return build_usable(b, x) ? build_op(b, op, 1, x, 0, 0) : 0;
}

static vyre_expr build_op_2(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y) {
  bool good = build_usable(b, x);
  return build_usable(b, y) && good ? build_op(b, op, 2, x, y, 0) : 0;
}

static vyre_expr build_op_3(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y, vyre_expr z) {
  bool good = build_usable(b, x);
  good &= build_usable(b, y);
  return build_usable(b, z) && good ? build_op(b, op, 3, x, y, z) : 0;
}

/* Operators with |arity| operands that have nothing but operands. */
static bool plain_operator(vyre_builder *b, vyre_op op, uint32_t arity) {
  bool plain = (op >= VYRE_OP_ADD && op <= VYRE_OP_UNPACK8HI) ||
               (op >= VYRE_OP_SUBGROUP_ADD && op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN);
  if (plain && ir_op_arity[op] == arity) return true;
  ir_builder_report(b, VYRE_V136, "operator %u is not one of %u operands", (unsigned)op, arity);
  return false;
}

vyre_expr ir_build_operator(vyre_builder *b, vyre_op op, const vyre_expr *x) {
  switch (ir_op_arity[op]) {
    case 1: return build_op_1(b, op, x[0]);
    case 2: return build_op_2(b, op, x[0], x[1]);
    default: return build_op_3(b, op, x[0], x[1], x[2]);
  }
}

vyre_expr vyre_build_unary(vyre_builder *b, vyre_op op, vyre_expr x) {
  return plain_operator(b, op, 1) ? build_op_1(b, op, x) : 0;
}

static bool is_elementwise(vyre_op op) {
  return (op >= VYRE_OP_ADD && op <= VYRE_OP_SHR) || op == VYRE_OP_MIN || op == VYRE_OP_MAX ||
         (op >= VYRE_OP_ROTL && op <= VYRE_OP_MULHI);
}

vyre_expr vyre_build_binary(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y) {
  if (!plain_operator(b, op, 2)) return 0;
  bool good = build_usable(b, x);
  if (!build_usable(b, y) || !good) return 0;
  bool mixed = ir_is_vector(build_type_of(b, x)) != ir_is_vector(build_type_of(b, y));
  if (mixed && is_elementwise(op)) {
    bool shift = op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR;
    y = splat_to(b, y, build_type_of(b, x));
    if (!shift) x = splat_to(b, x, build_type_of(b, y));
    if (x == 0 || y == 0) return 0;
  }
  return build_op_2(b, op, x, y);
}

vyre_expr vyre_build_select(vyre_builder *b, vyre_expr c, vyre_expr x, vyre_expr y) {
  return build_op_3(b, VYRE_OP_SELECT, c, x, y);
}

vyre_expr vyre_build_fma(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z) {
  bool good = build_usable(b, x);
  good &= build_usable(b, y);
  if (!build_usable(b, z) || !good) return 0;
  vyre_type vector = build_type_of(b, x);
  if (!ir_is_vector(vector)) vector = build_type_of(b, y);
  if (!ir_is_vector(vector)) vector = build_type_of(b, z);
  x = splat_to(b, x, vector);
  y = splat_to(b, y, vector);
  z = splat_to(b, z, vector);
  if (x == 0 || y == 0 || z == 0) return 0;
  return build_op_3(b, VYRE_OP_FMA, x, y, z);
}

/* ---- Conversions and vectors --------------------------------------------------------------- */

vyre_expr vyre_build_cast(vyre_builder *b, vyre_type type, vyre_expr x) {
  if (!build_usable(b, x)) return 0;
  vyre_type from = build_type_of(b, x);
  if (!ir_check_cast(from, type)) {
    ir_builder_report(b, VYRE_V12, "%s to %s", build_type_name(from), build_type_name(type));
    return 0;
  }
  vyre_type value = ir_type_at(type)->value;
  return build_node(b, 1, (ir_expr){ .op = VYRE_OP_CAST, .type = (uint8_t)value, .aux = (uint8_t)type, .arg[0] = x });
}

vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_expr x) {
  if (!build_usable(b, x)) return 0;
  vyre_type from = build_type_of(b, x);
  if (!ir_check_bitcast(from, type)) {
    ir_builder_report(b, VYRE_V12, "bitcast of %s to %s", build_type_name(from), build_type_name(type));
    return 0;
  }
  return build_any(b, (ir_expr){ .op = VYRE_OP_BITCAST, .type = (uint8_t)type, .arg[0] = x });
}

vyre_expr vyre_build_vector(vyre_builder *b, vyre_type type, const vyre_expr *components, uint32_t count) {
  uint32_t lanes = ir_type_at(type)->lanes;
  if (!ir_is_vector(type) || (count != 1 && count != lanes)) {
    ir_builder_report(b, VYRE_V148, "%s of %u values", build_type_name(type), count);
    return 0;
  }
  ir_expr node = { .op = count == 1 ? VYRE_OP_SPLAT : count == 2 ? VYRE_OP_VEC2 : VYRE_OP_VEC4, .type = (uint8_t)type };
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    good &= check_operand(b, components[i], ir_component(type), VYRE_V148);
    node.arg[i] = components[i];
  }
  return good ? build_any(b, node) : 0;
}

vyre_expr vyre_build_extract(vyre_builder *b, vyre_expr vector, uint32_t component) {
  if (!build_usable(b, vector)) return 0;
  vyre_type type = build_type_of(b, vector);
  if (!ir_is_vector(type) || component >= ir_type_at(type)->lanes) {
    ir_builder_report(b, VYRE_V68, "component %u of %s", component, build_type_name(type));
    return 0;
  }
  return build_any(b, (ir_expr){ .op = VYRE_OP_EXTRACT,
                                 .type = (uint8_t)ir_component(type),
                                 .aux = (uint8_t)component,
                                 .arg[0] = vector });
}
