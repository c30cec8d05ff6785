/* Entry points and liveness. Only what stands at the top level is visible on both sides of a top-level barrier, so one
 * walk that numbers the entry points and notes who is used where is all there is to it. */
#include "lower/split.h"

#include "base/checked.h"
#include "ir/walk.h"

/* A let that takes more operators than this is kept, not computed again. */
enum { MOST_COST = 64 };

/* ---- How many -------------------------------------------------------------------------------- */

/* The entry points: those between top-level barriers. One, if a barrier stands inside an if or loop. */
static bool count_entries(const vyre_program *p, uint32_t *entries) {
  uint32_t depth = 0;
  bool nested = false;
  ir_walk walk = ir_walk_begin(p);
  *entries = 1;
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    const ir_stmt *s = ir_stmt_at(p, walk.stmt);
    if (event == IR_WALK_STMT) depth += ir_is_conditional(s);
    if (event == IR_WALK_LEAVE) depth -= ir_is_conditional(s);
    if (event != IR_WALK_STMT || s->op != VYRE_STMT_GRID_BARRIER) continue;
    nested |= depth > 0;
    ++*entries;
  }
  if (nested) *entries = 1;
  return ir_walk_finish(&walk);
}

/* ---- Who is used where ----------------------------------------------------------------------- */

typedef struct analysis {
  lower_split *s;
  const vyre_program *p;
  uint32_t entry;
  uint32_t *seen; /* of each expression: entry point + 1 that has looked at it */
} analysis;

static void use_array(analysis *a, uint32_t binding, bool writes) {
  split_array *array = &a->s->arrays[binding];
  array->last_use = a->entry;
  if (writes && array->first_write == SPLIT_NOWHERE) array->first_write = a->entry;
}

static void use_expr(analysis *a, uint32_t e);

static void use_var(analysis *a, uint32_t var) {
  split_var *v = &a->s->vars[var];
  v->last_use = a->entry;
  if (v->value != 0 && v->declared != a->entry) use_expr(a, v->value); /* whose variables are used here, too */
}

static void use_expr(analysis *a, uint32_t e) {
  const ir_expr *x = ir_expr_at(a->p, e);
  if (e == 0 || a->seen[e] == a->entry + 1) return;
  a->seen[e] = a->entry + 1;
  if (x->op == VYRE_OP_VAR) use_var(a, x->arg[3]);
  bool is_atomic = x->op >= VYRE_OP_ATOMIC_ADD && x->op <= VYRE_OP_ATOMIC_STORE;
  if (x->op >= VYRE_OP_LOAD && x->op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD) use_array(a, x->arg[3], false);
  if (is_atomic) use_array(a, x->arg[3], x->op != VYRE_OP_ATOMIC_LOAD);
  for (uint32_t i = 0; i < ir_op_arity[x->op]; i++) use_expr(a, x->arg[i]);
}

/* Adds the operators of an expression to |cost|; false if it is too much, or not made of what is the same in each
 * entry point. */
static bool is_cheap(const analysis *a, uint32_t e, uint32_t *cost) {
  const ir_expr *x = ir_expr_at(a->p, e);
  if (x->op == VYRE_OP_VAR) {
    const split_var *v = &a->s->vars[x->arg[3]];
    *cost += v->cost;
    return v->value != 0 && *cost <= MOST_COST;
  }
  if (ir_op_effects[x->op] != 0 || ++*cost > MOST_COST) return false;
  for (uint32_t i = 0; i < ir_op_arity[x->op]; i++)
    if (!is_cheap(a, x->arg[i], cost)) return false;
  return true;
}

static void declare(analysis *a, const ir_stmt *s) {
  split_var *v = &a->s->vars[s->arg[4]];
  uint32_t cost = 0;
  *v = (split_var){ .declared = a->entry, .last_use = a->entry, .place = UINT64_MAX };
  if (s->op == VYRE_STMT_LET && is_cheap(a, s->arg[0], &cost)) {
    v->value = s->arg[0];
    v->cost = cost;
  }
}

static void visit(analysis *a, const ir_stmt *s) {
  uint32_t count;
  const uint32_t *operands = ir_operands(a->p, s, &count);
  for (uint32_t i = 0; i < count; i++) use_expr(a, operands[i]);
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
    case VYRE_STMT_FOR: declare(a, s); break;
    case VYRE_STMT_ASSIGN: use_var(a, s->arg[4]); break;
    case VYRE_STMT_STORE: use_array(a, s->arg[4], true); break;
    case VYRE_STMT_COPY_ASYNC:
      use_array(a, s->arg[3], true);
      use_array(a, s->arg[4], false);
      break;
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP:
      a->s->leaves[a->entry] = true;
      if (a->s->first_leaving == SPLIT_NOWHERE) a->s->first_leaving = a->entry;
      break;
    case VYRE_STMT_GRID_BARRIER: a->entry++; break;
    default: break;
  }
}

static bool analyse(analysis *a) {
  ir_walk walk = ir_walk_begin(a->p);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END;)
    if (event == IR_WALK_STMT) visit(a, ir_stmt_at(a->p, walk.stmt));
  return ir_walk_finish(&walk);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Takes room in a workgroup's part for |count| elements of |bytes| bytes; its place, a multiple of 16. */
static uint64_t take(lower_split *s, uint64_t count, uint32_t bytes) {
  uint64_t place = s->bytes, all;
  bool fits = vyre_mul_u64(count, bytes, &all) && vyre_add_u64(place, all, &all) && vyre_align_u64(all, 16, &all);
  s->bytes = fits ? all : UINT64_MAX;
  return place;
}

static uint32_t bytes_of(uint8_t type) { return vyre_type_describe((vyre_type)type)->bytes; }

static void place_all(lower_split *s, const vyre_program *p, uint32_t counter_bytes) {
  if (s->first_leaving != SPLIT_NOWHERE) s->ended = take(s, s->invocations, 4);
  if (counter_bytes != 0) {
    s->expired = take(s, s->invocations, 4);
    s->all_expired = take(s, s->invocations, 4);
    s->count = take(s, s->invocations, counter_bytes);
  }
  for (uint32_t i = 0; i < p->vars.count; i++) {
    split_var *v = &s->vars[i];
    if (v->value != 0 || v->last_use == v->declared) continue;
    v->place = take(s, s->invocations, bytes_of(p->vars.data[i].type));
  }
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *b = &p->buffers.data[i];
    split_array *array = &s->arrays[i];
    bool is_local = b->access == VYRE_ACCESS_LOCAL, is_shared = b->access == VYRE_ACCESS_SHARED;
    if ((!is_local && !is_shared) || array->first_write == SPLIT_NOWHERE || array->last_use == array->first_write)
      continue;
    uint64_t count = b->length;
    if (is_local && !vyre_mul_u64(count, s->invocations, &count)) count = UINT64_MAX;
    array->place = take(s, count, bytes_of(b->element));
  }
}

bool lower_split_create(lower_split *s, const vyre_program *p, uint32_t counter_bytes) {
  *s = (lower_split){ .entries = 1, .first_leaving = SPLIT_NOWHERE };
  s->invocations = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
  if ((p->info.stmt_kinds >> VYRE_STMT_GRID_BARRIER & 1) == 0) return true;
  if (!count_entries(p, &s->entries)) return false;
  if (s->entries == 1) return true;
  analysis a = { .s = s, .p = p };
  s->vars = calloc((size_t)p->vars.count + 1, sizeof *s->vars);
  s->arrays = calloc((size_t)p->buffers.count + 1, sizeof *s->arrays);
  s->leaves = calloc(s->entries, 1);
  a.seen = calloc((size_t)p->exprs.count + 1, sizeof *a.seen);
  bool good = s->vars != NULL && s->arrays != NULL && s->leaves != NULL && a.seen != NULL;
  for (uint32_t i = 0; good && i < p->buffers.count; i++)
    s->arrays[i] = (split_array){ .first_write = SPLIT_NOWHERE, .place = UINT64_MAX };
  good = good && analyse(&a);
  if (good) place_all(s, p, counter_bytes);
  free(a.seen);
  return good;
}

void lower_split_free(lower_split *s) {
  free(s->vars);
  free(s->arrays);
  free(s->leaves);
}
