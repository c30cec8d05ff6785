/* Intervals by operator, and what conditions add to them. */
#include "opt/range.h"

#include <stdlib.h>
#include <string.h>

enum {
  SAME_VALUE = 8,   /* through so many lets a value is followed that is one and the same, */
  LOOK_THROUGH = 2, /* intervals through so many, */
  STEPS = 3,        /* and proofs through so many relations, */
  TRIED = 4         /* of which so many are tried for an expression */
};

/* left < right, or left <= right, for as long as its scope is open. */
typedef struct relation {
  uint32_t left, right;
  uint32_t before; /* the relation of |left| that was the last one before, + 1 */
  bool strict;
} relation;

typedef struct narrowed {
  uint32_t expr;
  bool had;
  opt_interval before;
} narrowed;

typedef struct scope {
  uint32_t relations, narrowed; /* how many there were when it was opened */
} scope;

/* Of one expression. */
typedef struct entry {
  opt_interval narrow; /* what conditions say of it */
  opt_interval known;  /* answer under |epoch| */
  uint32_t epoch;
  uint32_t relation;   /* the last one with it at the left, + 1 */
  uint8_t narrow_set;
  uint8_t stable;      /* 1: its value can not change; 2: it can; 0: not looked at */
} entry;

typedef struct var_entry {
  opt_interval range; /* of a let, when it was declared; of a loop variable */
  uint32_t value;     /* of a let: its expression + 1; 0 for none */
  uint32_t handle;    /* an expression that is its value, 0 if there is none */
  uint8_t known;
  uint8_t changes;    /* a `var` that is assigned */
} var_entry;

struct opt_ranges {
  const vyre_program *p;
  VYRE_VECTOR(entry) exprs;
  VYRE_VECTOR(var_entry) vars;
  VYRE_VECTOR(relation) relations;
  VYRE_VECTOR(narrowed) narrowed;
  VYRE_VECTOR(scope) scopes;
  uint32_t *len[2];   /* of each buffer: an expression that is its len or len64, 0 if none was seen */
  uint32_t epoch;
  bool failed;
};

/* ---- Ground ---------------------------------------------------------------------------------- */

static opt_interval nothing_known(vyre_type type) {
  switch (type) {
    case VYRE_TYPE_BOOL: return (opt_interval){ 0, 1, 1 };
    case VYRE_TYPE_U32: return (opt_interval){ 0, UINT32_MAX, UINT32_MAX };
    case VYRE_TYPE_I32: return (opt_interval){ INT32_MIN, INT32_MAX, UINT32_MAX };
    case VYRE_TYPE_I64: return (opt_interval){ INT64_MIN, INT64_MAX, UINT64_MAX };
    default: return (opt_interval){ 0, UINT64_MAX, UINT64_MAX };
  }
}

static bool is_whole(vyre_type type) { return type >= VYRE_TYPE_BOOL && type <= VYRE_TYPE_I64; }
static uint32_t width_of(vyre_type type) { return ir_type_at(type)->bytes * 8u; }
static opt_wide smaller(opt_wide a, opt_wide b) { return a < b ? a : b; }
static opt_wide larger(opt_wide a, opt_wide b) { return a > b ? a : b; }
/* All ones up to the highest bit of |x|. */
static uint64_t filled(uint64_t x) { return x == 0 ? 0 : UINT64_MAX >> __builtin_clzll(x); }

static bool fits(vyre_type type, opt_interval x) {
  opt_interval all = nothing_known(type);
  return x.least >= all.least && x.most <= all.most;
}

/* An interval with the bits that follow from it, and the other way round for what is not negative. */
static opt_interval tidy(vyre_type type, opt_interval x) {
  opt_interval all = nothing_known(type);
  if (x.least < 0) return x;
  x.maybe &= all.maybe & filled((uint64_t)x.most);
  x.most = smaller(x.most, (opt_wide)x.maybe);
  return x;
}

/* What both say; one of them where they exclude each other, which only happens where nothing is ever reached. */
static opt_interval both(vyre_type type, opt_interval x, opt_interval y) {
  opt_interval z = { larger(x.least, y.least), smaller(x.most, y.most), x.maybe & y.maybe };
  return z.least <= z.most ? tidy(type, z) : x;
}

static opt_interval either(opt_interval x, opt_interval y) {
  return (opt_interval){ smaller(x.least, y.least), larger(x.most, y.most), x.maybe | y.maybe };
}

#define ensure(r, v, index) (((index) < (v)->count) || grow((r), (void **)&(v)->data, &(v)->count, &(v)->capacity, \
                                                            sizeof *(v)->data, (index)))

static bool grow(opt_ranges *r, void **data, uint32_t *count, uint32_t *capacity, size_t size, uint32_t index) {
  uint32_t more = index + 1 - *count;
  if (more > *capacity - *count && !vyre_vector_grow(data, *count, capacity, more, size)) {
    r->failed = true;
    return false;
  }
  memset((char *)*data + *count * size, 0, more * size);
  *count += more;
  return true;
}

static entry *entry_of(opt_ranges *r, uint32_t e) { return ensure(r, &r->exprs, e) ? &r->exprs.data[e] : NULL; }
static var_entry *var_of(opt_ranges *r, uint32_t v) { return ensure(r, &r->vars, v) ? &r->vars.data[v] : NULL; }

static void note_assignments(opt_ranges *r) {
  const vyre_program *p = r->p;
  for (uint32_t s = 1; s < p->stmts.count; s++)
    if (p->stmts.data[s].op == VYRE_STMT_ASSIGN) r->vars.data[p->stmts.data[s].arg[4]].changes = 1;
}

/* Remembers which expressions are lengths and variables. */
static void note_leaf(opt_ranges *r, uint32_t e) {
  const ir_expr *n = ir_expr_at(r->p, e);
  if (n->op == VYRE_OP_LEN || n->op == VYRE_OP_LEN64) r->len[n->op == VYRE_OP_LEN64][n->arg[3]] = e;
  if (n->op == VYRE_OP_VAR) r->vars.data[n->arg[3]].handle = e;
}

opt_ranges *opt_ranges_create(const vyre_program *p) {
  opt_ranges *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  *r = (opt_ranges){ .p = p, .epoch = 1 };
  r->len[0] = calloc((size_t)p->buffers.count + 1, sizeof *r->len[0]);
  r->len[1] = calloc((size_t)p->buffers.count + 1, sizeof *r->len[1]);
  bool fine = r->len[0] != NULL && r->len[1] != NULL && ensure(r, &r->exprs, p->exprs.count) &&
              ensure(r, &r->vars, p->vars.count);
  if (fine) {
    note_assignments(r);
    for (uint32_t e = 1; e < p->exprs.count; e++) note_leaf(r, e);
    return r;
  }
  opt_ranges_free(r);
  return NULL;
}

void opt_ranges_free(opt_ranges *r) {
  if (r == NULL) return;
  vyre_vector_free(&r->exprs);
  vyre_vector_free(&r->vars);
  vyre_vector_free(&r->relations);
  vyre_vector_free(&r->narrowed);
  vyre_vector_free(&r->scopes);
  free(r->len[0]);
  free(r->len[1]);
  free(r);
}

bool opt_ranges_fine(const opt_ranges *r) { return !r->failed; }

/* ---- What can not change --------------------------------------------------------------------- */

static bool is_stable_alone(opt_ranges *r, const ir_expr *n) {
  if (n->op == VYRE_OP_VAR) {
    const var_entry *v = var_of(r, n->arg[3]);
    return v != NULL && (r->p->vars.data[n->arg[3]].kind != VYRE_STMT_VAR || !v->changes);
  }
  if (n->op == VYRE_OP_LOAD || n->op == VYRE_OP_GRID_UNIFORM_LOAD) {
    uint8_t access = r->p->buffers.data[n->arg[3]].access;
    return access == VYRE_ACCESS_READ || access == VYRE_ACCESS_TABLE;
  }
  return (ir_op_effects[n->op] & (VYRE_EFFECT_READS | VYRE_EFFECT_EFFECT | VYRE_EFFECT_CONVERGENT)) == 0;
}

/* Whether every evaluation, as long as its variables live, gives the same. No deeper than expressions are. */
static bool is_stable(opt_ranges *r, uint32_t e) {
  entry *x = entry_of(r, e);
  if (x == NULL) return false;
  if (x->stable != 0) return x->stable == 1;
  const ir_expr *n = ir_expr_at(r->p, e);
  bool stable = is_stable_alone(r, n);
  for (uint32_t i = 0; stable && i < ir_op_arity[n->op]; i++) stable = is_stable(r, n->arg[i]);
  r->exprs.data[e].stable = stable ? 1 : 2;
  return stable;
}

/* What a let stands for, as far as that can not change: two names of one value become one expression. */
static uint32_t seen_through(opt_ranges *r, uint32_t e) {
  for (int i = 0; i < SAME_VALUE; i++) {
    const ir_expr *n = ir_expr_at(r->p, e);
    if (n->op != VYRE_OP_VAR) return e;
    const var_entry *v = var_of(r, n->arg[3]);
    if (v == NULL || v->value == 0 || v->changes || !is_stable(r, v->value - 1)) return e;
    e = v->value - 1;
  }
  return e;
}

/* The same without conversions that keep the value: u64(x) of a u32. */
static uint32_t without_widening(opt_ranges *r, uint32_t e) {
  for (int i = 0; i < SAME_VALUE; i++) {
    e = seen_through(r, e);
    const ir_expr *n = ir_expr_at(r->p, e);
    bool widens = n->op == VYRE_OP_CAST && n->aux == VYRE_TYPE_U64 &&
                  ir_expr_at(r->p, n->arg[0])->type == VYRE_TYPE_U32;
    if (!widens) return e;
    e = n->arg[0];
  }
  return e;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

static opt_interval range_at(opt_ranges *r, uint32_t e, int depth);

static opt_interval exact(vyre_type type, opt_wide x) {
  uint64_t mask = UINT64_MAX >> (64 - width_of(type));
  return (opt_interval){ x, x, (uint64_t)x & mask };
}

static opt_interval of_literal(const ir_expr *n) {
  uint64_t bits = ir_literal_bits(n);
  if (n->type == VYRE_TYPE_I32) return exact(VYRE_TYPE_I32, (int32_t)(uint32_t)bits);
  if (n->type == VYRE_TYPE_I64) return exact(VYRE_TYPE_I64, (int64_t)bits);
  return exact((vyre_type)n->type, (opt_wide)bits);
}

static opt_interval up_to(opt_wide most) { return (opt_interval){ 0, most, filled((uint64_t)most) }; }

static opt_interval of_leaf(const opt_ranges *r, const ir_expr *n) {
  const vyre_program *p = r->p;
  opt_wide invocations = (opt_wide)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
  switch (n->op) {
    case VYRE_OP_LID: return up_to((opt_wide)p->workgroup[n->aux] - 1);
    case VYRE_OP_LANE: return up_to(p->subgroup != 0 ? (opt_wide)p->subgroup - 1 : 31);
    case VYRE_OP_SUBGROUP_SIZE: return up_to(p->subgroup != 0 ? (opt_wide)p->subgroup : 32);
    case VYRE_OP_SUBGROUP_ID: return up_to(smaller(invocations - 1, UINT32_MAX));
    case VYRE_OP_NUM_SUBGROUPS: return up_to(smaller(invocations, UINT32_MAX));
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: {
      uint64_t length = p->buffers.data[n->arg[3]].length;
      bool fixed = length != 0 && (n->op == VYRE_OP_LEN64 || length <= UINT32_MAX);
      return fixed ? exact((vyre_type)n->type, (opt_wide)length) : nothing_known((vyre_type)n->type);
    }
    default: return nothing_known((vyre_type)n->type);
  }
}

static opt_interval of_element(const opt_ranges *r, const ir_expr *n) {
  switch (r->p->buffers.data[n->arg[3]].element) {
    case VYRE_TYPE_U8: return up_to(UINT8_MAX);
    case VYRE_TYPE_U16: return up_to(UINT16_MAX);
    case VYRE_TYPE_I8: return (opt_interval){ INT8_MIN, INT8_MAX, UINT32_MAX };
    case VYRE_TYPE_I16: return (opt_interval){ INT16_MIN, INT16_MAX, UINT32_MAX };
    default: return nothing_known((vyre_type)n->type);
  }
}

/* x op y where nothing wraps; all of the type where it may. */
static opt_interval if_it_fits(vyre_type type, opt_wide least, opt_wide most, uint64_t maybe) {
  opt_interval x = { least, most, maybe };
  return fits(type, x) ? tidy(type, x) : nothing_known(type);
}

static bool is_small(opt_interval x) { return x.least >= INT64_MIN && x.most <= INT64_MAX; }

static opt_interval of_product(vyre_type type, opt_interval x, opt_interval y) {
  if (!is_small(x) || !is_small(y)) return nothing_known(type);
  opt_wide a = x.least * y.least, b = x.least * y.most, c = x.most * y.least, d = x.most * y.most;
  return if_it_fits(type, smaller(smaller(a, b), smaller(c, d)), larger(larger(a, b), larger(c, d)), UINT64_MAX);
}

/* Only of what is not negative: what divides by 0 is another matter. */
static opt_interval of_division(vyre_type type, vyre_op op, opt_interval x, opt_interval y) {
  if (x.least < 0 || y.least < 0) return nothing_known(type);
  if (op == VYRE_OP_MOD && x.most < y.least) return x;
  if (op == VYRE_OP_MOD) return up_to(y.most > 0 ? smaller(x.most, y.most - 1) : 0); /* x % 0 is 0 */
  if (y.least == 0) return nothing_known(type);
  return tidy(type, (opt_interval){ x.least / y.most, x.most / y.least, UINT64_MAX });
}

/* By a count that is known. */
static opt_interval of_shift(vyre_type type, vyre_op op, opt_interval x, opt_interval count) {
  uint32_t width = width_of(type);
  if (x.least < 0) return nothing_known(type);
  if (count.least != count.most) return op == VYRE_OP_SHR ? up_to(x.most) : nothing_known(type);
  uint32_t by = (uint32_t)((uint64_t)count.least & (width - 1));
  if (op == VYRE_OP_SHR) return tidy(type, (opt_interval){ x.least >> by, x.most >> by, x.maybe >> by });
  if (x.most > (nothing_known(type).most >> by)) {
    opt_interval all = nothing_known(type);
    all.maybe = x.maybe << by & all.maybe;
    return all.least < 0 ? all : tidy(type, all);
  }
  return tidy(type, (opt_interval){ x.least << by, x.most << by, x.maybe << by });
}

static opt_interval of_bits(vyre_type type, vyre_op op, opt_interval x, opt_interval y) {
  opt_interval all = nothing_known(type);
  bool signless = x.least >= 0 && y.least >= 0;
  uint64_t maybe = op == VYRE_OP_BITAND ? x.maybe & y.maybe : x.maybe | y.maybe;
  if (op == VYRE_OP_BITAND && (x.least >= 0 || y.least >= 0)) {
    opt_wide most = x.least >= 0 && y.least >= 0 ? smaller(x.most, y.most) : x.least >= 0 ? x.most : y.most;
    return tidy(type, (opt_interval){ 0, most, maybe });
  }
  all.maybe = maybe & all.maybe;
  if (!signless) return all;
  opt_interval result = { 0, (opt_wide)filled(maybe), maybe };
  if (op == VYRE_OP_BITOR) result.least = larger(x.least, y.least);
  return tidy(type, result);
}

static opt_interval of_binary(vyre_type type, vyre_op op, opt_interval x, opt_interval y) {
  switch (op) {
    case VYRE_OP_ADD: return if_it_fits(type, x.least + y.least, x.most + y.most, UINT64_MAX);
    case VYRE_OP_SUB: return if_it_fits(type, x.least - y.most, x.most - y.least, UINT64_MAX);
    case VYRE_OP_MUL: return of_product(type, x, y);
    case VYRE_OP_DIV:
    case VYRE_OP_MOD: return of_division(type, op, x, y);
    case VYRE_OP_SHL:
    case VYRE_OP_SHR: return of_shift(type, op, x, y);
    case VYRE_OP_BITAND:
    case VYRE_OP_BITOR:
    case VYRE_OP_BITXOR: return of_bits(type, op, x, y);
    case VYRE_OP_MIN:
      return tidy(type, (opt_interval){ smaller(x.least, y.least), smaller(x.most, y.most), x.maybe | y.maybe });
    case VYRE_OP_MAX:
      return tidy(type, (opt_interval){ larger(x.least, y.least), larger(x.most, y.most), x.maybe | y.maybe });
    default: return nothing_known(type);
  }
}

static opt_interval as_bool(bool is_true, bool is_false) {
  return is_true ? exact(VYRE_TYPE_BOOL, 1) : is_false ? exact(VYRE_TYPE_BOOL, 0) : nothing_known(VYRE_TYPE_BOOL);
}

static opt_interval of_cast(opt_ranges *r, const ir_expr *n, int depth) {
  vyre_type from = (vyre_type)ir_expr_at(r->p, n->arg[0])->type, type = (vyre_type)n->type;
  opt_interval narrow = nothing_known(type);
  if (n->aux == VYRE_TYPE_U8) narrow = up_to(UINT8_MAX);
  if (n->aux == VYRE_TYPE_U16) narrow = up_to(UINT16_MAX);
  if (!is_whole(from) || n->aux == VYRE_TYPE_I8 || n->aux == VYRE_TYPE_I16) return narrow;
  opt_interval x = range_at(r, n->arg[0], depth);
  if (type == VYRE_TYPE_BOOL) return as_bool(x.least > 0 || x.most < 0, x.least == 0 && x.most == 0);
  if (x.least < narrow.least || x.most > narrow.most) return narrow;
  if (x.least < 0) x.maybe = nothing_known(type).maybe;
  return tidy(type, x);
}

static opt_interval of_counting(vyre_type type) { return up_to(width_of(type)); }

static opt_interval of_condition(opt_ranges *r, const ir_expr *n, int depth);

static opt_interval of_variable(opt_ranges *r, const ir_expr *n, int depth) {
  const var_entry *v = var_of(r, n->arg[3]);
  vyre_type type = (vyre_type)n->type;
  if (v == NULL || !v->known || v->changes) return nothing_known(type);
  opt_interval x = v->range;
  if (v->value == 0 || depth >= LOOK_THROUGH || !is_stable(r, v->value - 1)) return x;
  return both(type, x, range_at(r, r->vars.data[n->arg[3]].value - 1, depth + 1));
}

static opt_interval compute(opt_ranges *r, uint32_t e, int depth) {
  const ir_expr node = *ir_expr_at(r->p, e), *n = &node;
  vyre_type type = (vyre_type)n->type;
  if (n->op == VYRE_OP_LIT) return of_literal(n);
  if (n->op == VYRE_OP_VAR) return of_variable(r, n, depth);
  if (n->op <= VYRE_OP_SHOULD_STOP) return of_leaf(r, n);
  if (n->op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD) return of_element(r, n);
  if (type == VYRE_TYPE_BOOL && n->op != VYRE_OP_SELECT) return of_condition(r, n, depth);
  if (n->op == VYRE_OP_SELECT) return tidy(type, either(range_at(r, n->arg[1], depth), range_at(r, n->arg[2], depth)));
  if (n->op == VYRE_OP_CAST) return of_cast(r, n, depth);
  if (n->op == VYRE_OP_POPCOUNT || n->op == VYRE_OP_CLZ || n->op == VYRE_OP_CTZ) return of_counting(type);
  bool binary = ir_op_arity[n->op] == 2 && is_whole((vyre_type)ir_expr_at(r->p, n->arg[0])->type) &&
                is_whole((vyre_type)ir_expr_at(r->p, n->arg[1])->type);
  if (!binary) return nothing_known(type);
  opt_interval x = range_at(r, n->arg[0], depth);
  return of_binary(type, n->op, x, range_at(r, n->arg[1], depth));
}

/* No deeper than expressions are, times the lets that are looked through. */
static opt_interval range_at(opt_ranges *r, uint32_t e, int depth) {
  vyre_type type = (vyre_type)ir_expr_at(r->p, e)->type;
  entry *x = entry_of(r, e);
  if (x == NULL || !is_whole(type)) return nothing_known(type);
  if (x->epoch == r->epoch) return x->known;
  opt_interval result = compute(r, e, depth);
  x = &r->exprs.data[e];
  if (x->narrow_set) result = both(type, result, x->narrow);
  x->known = result;
  x->epoch = r->epoch;
  return result;
}

opt_interval opt_range_of(opt_ranges *r, uint32_t e) { return range_at(r, e, 0); }

/* ---- Relations ------------------------------------------------------------------------------- */

static bool knows(opt_ranges *r, uint32_t left, uint32_t right, bool strict, int steps);

static bool is_whole_expr(const opt_ranges *r, uint32_t e) { return is_whole((vyre_type)ir_expr_at(r->p, e)->type); }

/* Whether it follows from what the operator gives: results that are no larger than an operand. */
static bool knows_by_operator(opt_ranges *r, uint32_t left, uint32_t right, bool strict, int steps) {
  const ir_expr n = *ir_expr_at(r->p, left);
  uint32_t x = n.arg[0], y = n.arg[1];
  switch (n.op) {
    case VYRE_OP_BITAND:
    case VYRE_OP_MIN:
      if (n.op == VYRE_OP_BITAND && !ir_is_unsigned((vyre_type)n.type)) return false;
      return knows(r, x, right, strict, steps) || knows(r, y, right, strict, steps);
    case VYRE_OP_MOD:
      if (!ir_is_unsigned((vyre_type)n.type)) return false;
      return knows(r, x, right, strict, steps) || (range_at(r, y, 0).least > 0 && knows(r, y, right, false, steps));
    case VYRE_OP_DIV:
    case VYRE_OP_SHR: {
      bool divides = n.op == VYRE_OP_SHR || range_at(r, y, 0).least > 0;
      return ir_is_unsigned((vyre_type)n.type) && divides && knows(r, x, right, strict, steps);
    }
    case VYRE_OP_SUB: {
      bool wraps = range_at(r, x, 0).least < range_at(r, y, 0).most;
      return ir_is_unsigned((vyre_type)n.type) && !wraps && knows(r, x, right, strict, steps);
    }
    case VYRE_OP_SELECT: return knows(r, y, right, strict, steps) && knows(r, n.arg[2], right, strict, steps);
    default: return false;
  }
}

static bool knows_by_relation(opt_ranges *r, uint32_t left, uint32_t right, bool strict, int steps) {
  const entry *x = entry_of(r, left);
  uint32_t tried = 0;
  for (uint32_t i = x != NULL ? x->relation : 0; i != 0 && tried < TRIED; tried++) {
    relation known = r->relations.data[i - 1];
    if (knows(r, known.right, right, strict && !known.strict, steps)) return true;
    i = known.before;
  }
  return false;
}

/* left < right (strict) or left <= right, as integers. */
static bool knows(opt_ranges *r, uint32_t left, uint32_t right, bool strict, int steps) {
  left = without_widening(r, left);
  right = without_widening(r, right);
  if (left == right && is_stable(r, left)) return !strict;
  opt_wide most = range_at(r, left, 0).most, least = range_at(r, right, 0).least;
  if (strict ? most < least : most <= least) return true;
  if (steps == 0) return false;
  return knows_by_relation(r, left, right, strict, steps - 1) || knows_by_operator(r, left, right, strict, steps - 1);
}

static opt_interval of_comparison(opt_ranges *r, const ir_expr *n, int depth) {
  uint32_t x = n->arg[0], y = n->arg[1];
  if (!is_whole_expr(r, x)) return nothing_known(VYRE_TYPE_BOOL);
  opt_interval a = range_at(r, x, depth), b = range_at(r, y, depth);
  switch (n->op) {
    case VYRE_OP_LT: return as_bool(a.most < b.least, a.least >= b.most);
    case VYRE_OP_LE: return as_bool(a.most <= b.least, a.least > b.most);
    case VYRE_OP_GT: return as_bool(a.least > b.most, a.most <= b.least);
    case VYRE_OP_GE: return as_bool(a.least >= b.most, a.most < b.least);
    default: break;
  }
  bool apart = a.most < b.least || a.least > b.most || (a.least == a.most && ((uint64_t)a.least & ~b.maybe) != 0 &&
               b.least >= 0 && a.least >= 0);
  bool same = a.least == a.most && b.least == b.most && a.least == b.least;
  return n->op == VYRE_OP_EQ ? as_bool(same, apart) : as_bool(apart, same);
}

static opt_interval of_condition(opt_ranges *r, const ir_expr *n, int depth) {
  if (n->op >= VYRE_OP_EQ && n->op <= VYRE_OP_GE) return of_comparison(r, n, depth);
  bool logic = n->op == VYRE_OP_LAND || n->op == VYRE_OP_LOR || n->op == VYRE_OP_LNOT;
  if (!logic) return nothing_known(VYRE_TYPE_BOOL);
  opt_interval x = range_at(r, n->arg[0], depth);
  if (n->op == VYRE_OP_LNOT) return as_bool(x.most == 0, x.least == 1);
  opt_interval y = range_at(r, n->arg[1], depth);
  if (n->op == VYRE_OP_LAND) return as_bool(x.least == 1 && y.least == 1, x.most == 0 || y.most == 0);
  return as_bool(x.least == 1 || y.least == 1, x.most == 0 && y.most == 0);
}

bool opt_range_decides(opt_ranges *r, uint32_t condition, bool *value) {
  const ir_expr n = *ir_expr_at(r->p, condition);
  opt_interval x = range_at(r, condition, 0);
  *value = x.least == 1;
  if (x.least == x.most) return true;
  if (n.op < VYRE_OP_LT || n.op > VYRE_OP_GE || !is_whole_expr(r, n.arg[0])) return false;
  bool swapped = n.op == VYRE_OP_GT || n.op == VYRE_OP_GE, strict = n.op == VYRE_OP_LT || n.op == VYRE_OP_GT;
  uint32_t left = n.arg[swapped], right = n.arg[!swapped];
  *value = knows(r, left, right, strict, STEPS);
  return *value || knows(r, right, left, !strict, STEPS);
}

bool opt_range_proves(opt_ranges *r, uint32_t index, uint32_t binding) {
  uint64_t length = r->p->buffers.data[binding].length;
  if (length != 0) return range_at(r, index, 0).most < (opt_wide)length;
  for (int wide = 0; wide < 2; wide++)
    if (r->len[wide][binding] != 0 && knows(r, index, r->len[wide][binding], true, STEPS)) return true;
  return false;
}

/* ---- What conditions say --------------------------------------------------------------------- */

static void set_narrow(opt_ranges *r, uint32_t e, opt_interval x) {
  vyre_type type = (vyre_type)ir_expr_at(r->p, e)->type;
  entry *at = entry_of(r, e);
  if (at == NULL || !is_whole(type) || !is_stable(r, e)) return;
  at = &r->exprs.data[e];
  narrowed undo = { e, at->narrow_set, at->narrow };
  if (!vyre_vector_push(&r->narrowed, undo)) {
    r->failed = true;
    return;
  }
  at->narrow = at->narrow_set ? both(type, at->narrow, x) : both(type, nothing_known(type), x);
  at->narrow_set = 1;
  r->epoch++;
}

/* e lies in |x|; so do its other names, and what it is the sum of with a literal lies next to it. */
static void narrow(opt_ranges *r, uint32_t e, opt_interval x) {
  uint32_t value = without_widening(r, e);
  set_narrow(r, e, x);
  if (value != e) set_narrow(r, value, x);
  const ir_expr n = *ir_expr_at(r->p, value);
  if (n.op != VYRE_OP_ADD || ir_expr_at(r->p, n.arg[1])->op != VYRE_OP_LIT) return;
  opt_interval part = range_at(r, n.arg[0], 0), k = range_at(r, n.arg[1], 0);
  if (!fits((vyre_type)n.type, (opt_interval){ part.least + k.least, part.most + k.most, 0 })) return;
  opt_interval shifted = { x.least - k.least, x.most - k.most, UINT64_MAX };
  set_narrow(r, n.arg[0], shifted);
  set_narrow(r, without_widening(r, n.arg[0]), shifted);
}

static void relate(opt_ranges *r, uint32_t left, uint32_t right, bool strict) {
  if (!is_stable(r, left) || !is_stable(r, right)) return;
  left = without_widening(r, left);
  right = without_widening(r, right);
  entry *x = entry_of(r, left);
  if (x == NULL || left == right) return;
  if (!vyre_vector_push(&r->relations, ((relation){ left, right, x->relation, strict }))) {
    r->failed = true;
    return;
  }
  r->exprs.data[left].relation = r->relations.count;
}

/* left + k < right gives left < right where the sum can not wrap. */
static void relate_parts(opt_ranges *r, uint32_t left, uint32_t right, bool strict) {
  relate(r, left, right, strict);
  const ir_expr n = *ir_expr_at(r->p, seen_through(r, left));
  if (n.op != VYRE_OP_ADD || !is_whole((vyre_type)n.type)) return;
  opt_interval x = range_at(r, n.arg[0], 0), y = range_at(r, n.arg[1], 0);
  if (!fits((vyre_type)n.type, (opt_interval){ x.least + y.least, x.most + y.most, 0 })) return;
  if (y.least >= 0) relate(r, n.arg[0], right, strict || y.least > 0);
  if (x.least >= 0) relate(r, n.arg[1], right, strict || x.least > 0);
}

/* left < right, or left <= right. */
static void add_order(opt_ranges *r, uint32_t left, uint32_t right, bool strict) {
  opt_interval a = range_at(r, left, 0), b = range_at(r, right, 0);
  relate_parts(r, left, right, strict);
  narrow(r, left, (opt_interval){ a.least, smaller(a.most, b.most - strict), UINT64_MAX });
  narrow(r, right, (opt_interval){ larger(b.least, a.least + strict), b.most, UINT64_MAX });
}

static void add_equal(opt_ranges *r, uint32_t x, uint32_t y) {
  add_order(r, x, y, false);
  add_order(r, y, x, false);
}

/* Only where one of them is at the edge of the other. */
static void add_unequal(opt_ranges *r, uint32_t x, uint32_t y) {
  opt_interval a = range_at(r, x, 0), b = range_at(r, y, 0);
  if (b.least != b.most) return;
  if (a.least == b.least) narrow(r, x, (opt_interval){ a.least + 1, a.most, UINT64_MAX });
  else if (a.most == b.least) narrow(r, x, (opt_interval){ a.least, a.most - 1, UINT64_MAX });
}

static void add_comparison(opt_ranges *r, const ir_expr *n, bool holds) {
  uint32_t x = n->arg[0], y = n->arg[1];
  if (!is_whole_expr(r, x)) return; /* a NaN makes the opposite of < no >= */
  switch (n->op) {
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
      if ((n->op == VYRE_OP_EQ) == holds) add_equal(r, x, y);
      else add_unequal(r, x, y);
      return;
    case VYRE_OP_LT: holds ? add_order(r, x, y, true) : add_order(r, y, x, false); return;
    case VYRE_OP_LE: holds ? add_order(r, x, y, false) : add_order(r, y, x, true); return;
    case VYRE_OP_GT: holds ? add_order(r, y, x, true) : add_order(r, x, y, false); return;
    case VYRE_OP_GE: holds ? add_order(r, y, x, false) : add_order(r, x, y, true); return;
    default: return;
  }
}

/* No deeper than expressions are. */
static void add_condition(opt_ranges *r, uint32_t condition, bool holds) {
  condition = seen_through(r, condition);
  const ir_expr n = *ir_expr_at(r->p, condition);
  if (n.op >= VYRE_OP_EQ && n.op <= VYRE_OP_GE) add_comparison(r, &n, holds);
  if (n.op == VYRE_OP_LNOT) add_condition(r, n.arg[0], !holds);
  bool whole = n.op == VYRE_OP_LAND ? holds : n.op == VYRE_OP_LOR && !holds; /* both operands are so */
  if (whole) add_condition(r, n.arg[0], holds);
  if (whole) add_condition(r, n.arg[1], holds);
  if (ir_expr_at(r->p, condition)->type == VYRE_TYPE_BOOL) set_narrow(r, condition, exact(VYRE_TYPE_BOOL, holds));
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void open_scope(opt_ranges *r) {
  if (!vyre_vector_push(&r->scopes, ((scope){ r->relations.count, r->narrowed.count }))) r->failed = true;
}

static void close_scope(opt_ranges *r) {
  if (r->scopes.count == 0) return;
  scope s = r->scopes.data[--r->scopes.count];
  while (r->relations.count > s.relations) {
    relation last = r->relations.data[--r->relations.count];
    r->exprs.data[last.left].relation = last.before;
  }
  while (r->narrowed.count > s.narrowed) {
    narrowed undo = r->narrowed.data[--r->narrowed.count];
    r->exprs.data[undo.expr].narrow = undo.before;
    r->exprs.data[undo.expr].narrow_set = undo.had;
    r->epoch++;
  }
}

static void declare(opt_ranges *r, const ir_stmt *s) {
  var_entry *v = var_of(r, s->arg[4]);
  if (v == NULL || v->changes) return;
  opt_interval x = is_whole_expr(r, s->arg[0]) ? range_at(r, s->arg[0], 0) : nothing_known(VYRE_TYPE_NONE);
  v = &r->vars.data[s->arg[4]];
  v->range = x;
  v->value = s->arg[0] + 1;
  v->known = is_whole_expr(r, s->arg[0]);
}

/* From |from| on and below |to|. Steps of one size from one place lead to no others: their low bits stay, and the last
 * is the last of them. */
static opt_interval turns_of(opt_ranges *r, const ir_stmt *s) {
  opt_interval from = range_at(r, s->arg[0], 0), to = range_at(r, s->arg[1], 0);
  opt_interval inside = { from.least, to.most - 1, UINT64_MAX };
  if (s->arg[2] == 0) return inside;
  opt_interval step = range_at(r, s->arg[2], 0);
  if (step.least != step.most || step.least <= 0) return inside;
  uint64_t low = (uint64_t)step.least & -(uint64_t)step.least;
  inside.maybe = from.maybe | ~(low - 1);
  if (from.least == from.most && inside.most > from.most)
    inside.most -= (inside.most - from.most) % step.least;
  return inside;
}

static void enter_for(opt_ranges *r, const ir_stmt *s) {
  vyre_type type = (vyre_type)ir_expr_at(r->p, s->arg[0])->type;
  opt_interval inside = turns_of(r, s);
  var_entry *v = var_of(r, s->arg[4]);
  if (v == NULL) return;
  v->range = both(type, nothing_known(type), inside);
  v->known = 1;
  uint32_t handle = v->handle;
  if (handle == 0) return;
  relate(r, handle, s->arg[1], true);
  relate(r, s->arg[0], handle, false);
}

static bool ends_by_jump(const vyre_program *p, uint32_t first) {
  const ir_stmt *last = NULL;
  for (uint32_t s = first; s != 0; s = last->next) last = ir_stmt_at(p, s);
  if (last == NULL) return false;
  return last->op == VYRE_STMT_BREAK || last->op == VYRE_STMT_CONTINUE || last->op == VYRE_STMT_RETURN ||
         last->op == VYRE_STMT_TRAP;
}

/* Behind an if one of whose arms never comes here, the other one was taken. */
static void leave_if(opt_ranges *r, const ir_stmt *s) {
  bool then = ends_by_jump(r->p, s->body), orelse = ends_by_jump(r->p, s->orelse);
  if (then != orelse) add_condition(r, s->arg[0], orelse);
}

void opt_ranges_event(opt_ranges *r, ir_walk_event event, uint32_t stmt) {
  const ir_stmt s = *ir_stmt_at(r->p, stmt);
  switch (event) {
    case IR_WALK_STMT:
      if (s.op == VYRE_STMT_LET || s.op == VYRE_STMT_VAR) declare(r, &s);
      return;
    case IR_WALK_BODY:
      open_scope(r);
      if (s.op == VYRE_STMT_IF) add_condition(r, s.arg[0], true);
      if (s.op == VYRE_STMT_FOR) enter_for(r, &s);
      return;
    case IR_WALK_ORELSE:
      close_scope(r);
      open_scope(r);
      add_condition(r, s.arg[0], false);
      return;
    case IR_WALK_LEAVE:
      close_scope(r);
      if (s.op == VYRE_STMT_IF) leave_if(r, &s);
      return;
    default: return;
  }
}
