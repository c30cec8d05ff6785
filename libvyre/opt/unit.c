/* The unit's expressions: how they are made, what is known of each, and how whole ones are mapped. */
#include "opt/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ir/check.h"
#include "opt/facts.h"

/* ---- What is known of an expression ---------------------------------------------------------- */

static uint64_t add_saturating(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static uint16_t flags_of_load(const opt_unit *u, const ir_expr *e) {
  uint8_t access = u->program->buffers.data[e->arg[3]].access;
  uint16_t reads = access == VYRE_ACCESS_READ || access == VYRE_ACCESS_TABLE ? OPT_READS_FIXED : OPT_READS_MEMORY;
  return e->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD ? reads | OPT_EFFECT | OPT_CONVERGENT | OPT_BARRIER : reads;
}

static bool is_load(vyre_op op) { return op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD; }
static bool is_atomic(vyre_op op) { return op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE; }

/* Of the operator alone. */
static uint16_t own_flags(const opt_unit *u, const ir_expr *e) {
  vyre_op op = e->op;
  if (op == VYRE_OP_VAR) return u->program->vars.data[e->arg[3]].kind == VYRE_STMT_VAR ? OPT_READS_VAR : 0;
  if (is_load(op)) return flags_of_load(u, e);
  if (is_atomic(op)) return OPT_EFFECT | OPT_ATOMIC | (e->aux != VYRE_ORDER_RELAXED ? OPT_FENCE : 0);
  uint16_t flags = 0;
  if (ir_op_effects[op] & VYRE_EFFECT_EFFECT) flags |= OPT_EFFECT;
  if (ir_op_effects[op] & VYRE_EFFECT_CONVERGENT) flags |= OPT_CONVERGENT;
  if (op == VYRE_OP_SHOULD_STOP) flags |= OPT_BARRIER;
  return flags;
}

static uint64_t own_cost(const opt_unit *u, const ir_expr *e) {
  const opt_cost_table *costs = u->costs;
  vyre_op op = e->op;
  uint64_t cost = costs->op[op];
  vyre_type type = (vyre_type)e->type;
  if (is_load(op) || is_atomic(op)) {
    const ir_buffer *b = &u->program->buffers.data[e->arg[3]];
    bool near = b->access == VYRE_ACCESS_SHARED || b->access == VYRE_ACCESS_LOCAL;
    return near && is_load(op) ? costs->shared_access : cost;
  }
  if (op == VYRE_OP_MUL && ir_is_float(type)) cost = costs->float_mul;
  if (op == VYRE_OP_DIV && ir_is_float(type)) cost = costs->float_div;
  uint64_t lanes = ir_type_at(type)->lanes, wide = ir_type_at(ir_component(type))->bytes == 8;
  return cost * (lanes > 1 ? lanes : 1) << wide;
}

static void add_operand(opt_meta *m, const opt_meta *x) {
  m->cost = add_saturating(m->cost, x->cost);
  m->size = m->size > UINT32_MAX - x->size ? UINT32_MAX : m->size + x->size;
  if (x->depth > m->depth) m->depth = x->depth;
  m->flags |= x->flags;
  m->reads |= x->reads;
  m->writes |= x->writes;
}

static opt_meta derive_meta(const opt_unit *u, const ir_expr *e) {
  opt_meta m = { .cost = own_cost(u, e), .size = 1, .flags = own_flags(u, e) };
  for (uint32_t i = 0; i < ir_op_arity[e->op]; i++) add_operand(&m, opt_meta_of(u, e->arg[i]));
  if (is_load(e->op) || is_atomic(e->op)) m.reads |= opt_binding_bit(e->arg[3]);
  if (is_atomic(e->op)) m.writes |= opt_binding_bit(e->arg[3]);
  m.depth++;
  return m;
}

/* ---- The pool -------------------------------------------------------------------------------- */

static uint32_t fail(opt_unit *u, opt_fault fault) {
  if (u->fault == OPT_FINE) u->fault = fault;
  return 0;
}

static bool reserve(opt_unit *u) {
  vyre_program *p = u->program;
  return vyre_vector_reserve(&p->exprs, 1) && vyre_vector_reserve(&u->meta, p->exprs.capacity - u->meta.count);
}

static uint32_t find_or_add(opt_unit *u, ir_expr node) {
  vyre_program *p = u->program;
  ir_words n = ir_words_of(&node);
  ir_expr_place place;
  uint32_t e = ir_expr_set_find(&u->set, p->exprs.data, n, &place);
  if (e != 0) return e;
  opt_meta meta = derive_meta(u, &node);
  e = p->exprs.count;
  if (meta.depth > VYRE_MAX_EXPR_DEPTH || e >= VYRE_MAX_PROGRAM_BYTES) return fail(u, OPT_LIMIT);
  if (!reserve(u)) return fail(u, OPT_NO_MEMORY);
  p->exprs.data[e] = node;
  u->meta.data[e] = meta;
  p->exprs.count = u->meta.count = e + 1;
  return ir_expr_set_insert(&u->set, p->exprs.data, place, e) ? e : fail(u, OPT_NO_MEMORY);
}

static bool copy_pool(opt_unit *u, const vyre_program *source) {
  vyre_program *p = u->program;
  if (!vyre_vector_reserve(&p->exprs, source->exprs.count) ||
      !vyre_vector_reserve(&u->meta, p->exprs.capacity) ||
      !ir_expr_set_expect(&u->set, p->exprs.data, source->exprs.count))
    return false;
  p->exprs.data[0] = source->exprs.data[0];
  u->meta.data[0] = (opt_meta){ 0 };
  p->exprs.count = u->meta.count = 1;
  for (uint32_t e = 1; e < source->exprs.count; e++)
    if (find_or_add(u, source->exprs.data[e]) != e) return false; /* a sealed pool has each expression once */
  return true;
}

/* ---- The unit -------------------------------------------------------------------------------- */

#define copy_vector(to, from)                                                      \
  (vyre_vector_reserve((to), (from)->count) &&                                     \
   (((from)->count > 0 ? memcpy((to)->data, (from)->data, (from)->count * sizeof *(from)->data) : NULL), \
    (to)->count = (from)->count, true))

/* Names keep their numbers: the strings are interned in the same order. */
static bool copy_strings(vyre_strings *to, const vyre_strings *from) {
  for (uint32_t i = 0; i < from->table.count; i++) {
    const vyre_string *s = &from->table.data[i];
    if (vyre_strings_intern(to, s->text, s->bytes) != i) return false;
  }
  return true;
}

bool opt_unit_create(opt_unit *u, const vyre_program *source, const opt_cost_table *costs) {
  *u = (opt_unit){ .source = source, .costs = costs, .program = calloc(1, sizeof *u->program) };
  vyre_program *p = u->program;
  if (p == NULL) return false;
  *p = (vyre_program){ .references = 1, .name = source->name, .op_id = source->op_id,
                       .attributes = source->attributes, .ulp = source->ulp, .subgroup = source->subgroup,
                       .info = source->info };
  memcpy(p->workgroup, source->workgroup, sizeof p->workgroup);
  memcpy(p->op_kinds, source->op_kinds, sizeof p->op_kinds);
  return copy_strings(&p->strings, &source->strings) && copy_vector(&p->params, &source->params) &&
         copy_vector(&p->buffers, &source->buffers) && copy_vector(&p->vars, &source->vars) &&
         copy_vector(&p->stmts, &source->stmts) && copy_vector(&p->lists, &source->lists) &&
         ir_expr_set_init(&u->set) && copy_pool(u, source);
}

void opt_unit_free(opt_unit *u) {
  opt_facts_free(u->facts);
  opt_unit_forget_before(u);
  free(u->dropped);
  ir_expr_set_free(&u->set);
  vyre_vector_free(&u->meta);
  if (u->program != NULL) ir_program_free(u->program);
  *u = (opt_unit){ 0 };
}

/* ---- Undoing --------------------------------------------------------------------------------- */

void opt_unit_keep_before(opt_unit *u) {
  vyre_program *p = u->program;
  if (u->has_before) {
    vyre_vector_free(&p->stmts);
    vyre_vector_free(&p->lists);
    return;
  }
  memcpy(&u->before_stmts, &p->stmts, sizeof u->before_stmts);
  memcpy(&u->before_lists, &p->lists, sizeof u->before_lists);
  memset(&p->stmts, 0, sizeof p->stmts);
  memset(&p->lists, 0, sizeof p->lists);
  u->has_before = true;
}

void opt_unit_forget_before(opt_unit *u) {
  vyre_vector_free(&u->before_stmts);
  vyre_vector_free(&u->before_lists);
  u->has_before = false;
}

void opt_unit_undo(opt_unit *u) {
  vyre_program *p = u->program;
  u->fault = OPT_FINE;
  if (!u->has_before) return;
  vyre_vector_free(&p->stmts);
  vyre_vector_free(&p->lists);
  memcpy(&p->stmts, &u->before_stmts, sizeof p->stmts);
  memcpy(&p->lists, &u->before_lists, sizeof p->lists);
  memset(&u->before_stmts, 0, sizeof u->before_stmts);
  memset(&u->before_lists, 0, sizeof u->before_lists);
  u->has_before = false;
  u->generation++;
}

/* ---- Making expressions ---------------------------------------------------------------------- */

uint32_t opt_literal(opt_unit *u, vyre_type type, uint64_t bits) {
  return find_or_add(u, (ir_expr){ .op = VYRE_OP_LIT, .type = (uint8_t)type,
                                   .arg = { (uint32_t)bits, (uint32_t)(bits >> 32) } });
}

static uint32_t filled(opt_unit *u, vyre_type type, uint64_t bits) {
  uint32_t literal = opt_literal(u, ir_component(type), bits);
  if (!ir_is_vector(type)) return literal;
  return find_or_add(u, (ir_expr){ .op = VYRE_OP_SPLAT, .type = (uint8_t)type, .arg = { literal } });
}

static uint32_t zero_of(opt_unit *u, vyre_type type) { return filled(u, type, 0); }

/* A literal index that a buffer of fixed length does not have: the language refuses to write one. */
bool opt_is_beyond(const opt_unit *u, uint32_t index, uint32_t binding) {
  uint64_t length = u->program->buffers.data[binding].length;
  return length != 0 && opt_is_literal(u, index) && ir_literal_bits(opt_at(u, index)) >= length;
}

uint32_t opt_hide_literal(opt_unit *u, uint32_t literal) {
  uint32_t zero = opt_literal(u, opt_type(u, literal), 0);
  return find_or_add(u, (ir_expr){ .op = VYRE_OP_BITOR, .type = opt_at(u, literal)->type, .arg = { literal, zero } });
}

/* Whether an integer is a literal 0, through conversions, too. */
static bool is_zero(const opt_unit *u, uint32_t e) {
  uint64_t mask = UINT64_MAX;
  const ir_expr *node = opt_at(u, e);
  for (; node->op == VYRE_OP_CAST || node->op == VYRE_OP_SPLAT; node = opt_at(u, node->arg[0])) {
    if (node->op == VYRE_OP_SPLAT) continue;
    if (node->aux == VYRE_TYPE_BOOL) mask = UINT64_MAX;
    else mask &= UINT64_MAX >> (64 - 8 * ir_type_at((vyre_type)node->aux)->bytes);
  }
  return node->op == VYRE_OP_LIT && !ir_is_float((vyre_type)node->type) && (ir_literal_bits(node) & mask) == 0;
}

static uint32_t legal_access(opt_unit *u, ir_expr node) {
  bool drops = true;
  for (uint32_t i = 1; i < ir_op_arity[node.op]; i++) drops &= opt_can_drop(u, node.arg[i]);
  if (drops && node.op != VYRE_OP_WORKGROUP_UNIFORM_LOAD)
    return zero_of(u, node.type != VYRE_TYPE_NONE ? (vyre_type)node.type : VYRE_TYPE_U32);
  node.arg[0] = opt_hide_literal(u, node.arg[0]);
  return node.arg[0] != 0 ? find_or_add(u, node) : 0;
}

/* x/0 is all ones or 0, x%0 is 0; x is evaluated all the same. */
static uint32_t legal_division(opt_unit *u, ir_expr node) {
  bool ones = node.op == VYRE_OP_DIV && ir_is_unsigned((vyre_type)node.type);
  vyre_type type = (vyre_type)node.type;
  uint64_t all = UINT64_MAX >> (64 - 8 * ir_type_at(ir_component(type))->bytes);
  node.op = ones ? VYRE_OP_BITOR : VYRE_OP_BITAND;
  node.arg[1] = filled(u, type, ones ? all : 0);
  return node.arg[1] != 0 ? find_or_add(u, node) : 0;
}

uint32_t opt_expr(opt_unit *u, ir_expr node) {
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++)
    if (node.arg[i] == 0) return 0;
  if ((is_load(node.op) || is_atomic(node.op)) && opt_is_beyond(u, node.arg[0], node.arg[3]))
    return legal_access(u, node);
  bool divides = node.op == VYRE_OP_DIV || node.op == VYRE_OP_MOD;
  if (divides && ir_is_integer((vyre_type)node.type) && is_zero(u, node.arg[1])) return legal_division(u, node);
  return find_or_add(u, node);
}

uint32_t opt_op(opt_unit *u, vyre_op op, uint32_t x, uint32_t y, uint32_t z) {
  vyre_code code;
  vyre_type type = ir_check_op(op, opt_type(u, x), opt_type(u, y), opt_type(u, z), &code);
  if (type == VYRE_TYPE_NONE) return fail(u, OPT_LIMIT);
  return opt_expr(u, (ir_expr){ .op = (uint8_t)op, .type = (uint8_t)type, .arg = { x, y, z } });
}

uint32_t opt_cast(opt_unit *u, vyre_type to, uint32_t x) {
  vyre_type type = (vyre_type)ir_type_at(to)->value;
  return opt_expr(u, (ir_expr){ .op = VYRE_OP_CAST, .type = (uint8_t)type, .aux = (uint8_t)to, .arg = { x } });
}

uint32_t opt_var_value(opt_unit *u, uint32_t var) {
  if (var >= u->program->vars.count) return 0;
  return find_or_add(u, (ir_expr){ .op = VYRE_OP_VAR, .type = u->program->vars.data[var].type,
                                   .arg = { 0, 0, 0, var } });
}

static uint32_t add_var(opt_unit *u, uint32_t name, vyre_type type, vyre_stmt_op kind) {
  ir_var v = { .name = name, .type = (uint8_t)type, .kind = (uint8_t)kind };
  bool added = name != UINT32_MAX && vyre_vector_push(&u->program->vars, v);
  if (!added) fail(u, OPT_NO_MEMORY);
  return added ? u->program->vars.count - 1 : UINT32_MAX;
}

uint32_t opt_new_var(opt_unit *u, uint32_t like, vyre_type type, vyre_stmt_op kind) {
  return add_var(u, u->program->vars.data[like].name, type, kind);
}

uint32_t opt_new_named_var(opt_unit *u, const char *name, vyre_type type, vyre_stmt_op kind) {
  return add_var(u, vyre_strings_intern(&u->program->strings, name, (uint32_t)strlen(name)), type, kind);
}

/* ---- Mapping --------------------------------------------------------------------------------- */

static bool known(const opt_map *m, uint32_t e, uint32_t *result) {
  if (e >= m->known.count || (uint32_t)(m->known.data[e] >> 32) != m->epoch) return false;
  *result = (uint32_t)m->known.data[e];
  return true;
}

static bool remember(opt_map *m, uint32_t e, uint32_t result) {
  uint32_t want = m->unit->program->exprs.count;
  if (e >= m->known.count) {
    if (!vyre_vector_reserve(&m->known, want - m->known.count)) return false;
    memset(m->known.data + m->known.count, 0, (want - m->known.count) * sizeof *m->known.data);
    m->known.count = want;
  }
  m->known.data[e] = (uint64_t)m->epoch << 32 | result;
  return true;
}

/* No deeper than expressions are: VYRE_MAX_EXPR_DEPTH. */
uint32_t opt_map_expr(opt_map *m, uint32_t e) {
  uint32_t result;
  if (e == 0 || m->unit->fault != OPT_FINE) return 0;
  if (known(m, e, &result)) return result;
  ir_expr node = *opt_at(m->unit, e);
  bool changed = false;
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) {
    uint32_t operand = opt_map_expr(m, node.arg[i]);
    changed |= operand != node.arg[i];
    node.arg[i] = operand;
  }
  result = changed ? opt_expr(m->unit, node) : e;
  if (result != 0) result = m->rewrite(m->context, result);
  if (!remember(m, e, result)) return fail(m->unit, OPT_NO_MEMORY);
  return result;
}
