/* Branches: nested conditions become one, and what both arms of an `if` do alike at their beginning or end stands
 * before or behind it. */
#include "opt/pass.h"

#include <stdlib.h>

enum { CHEAP_CONDITION = 8, KEPT = 0, MERGED, INVERTED, GONE }; /* the latter are what becomes of a statement */

typedef struct branch {
  opt_context *c;
  opt_unit *unit;
  const opt_facts *facts;
  uint8_t *fate;      /* by statement */
  opt_map map;
  uint32_t *stands;   /* by variable: the one that stands for it, itself if 0 */
  VYRE_VECTOR(uint32_t) tails; /* pairs: an `if`, and a statement that goes behind it; inner ones are last */
  VYRE_VECTOR(uint32_t) block; /* the statements of an arm */
} branch;

static uint32_t mapped(branch *b, uint32_t e) { return opt_map_expr(&b->map, e); }

static uint32_t replace(void *context, uint32_t e) {
  branch *b = context;
  const ir_expr *node = opt_at(b->unit, e);
  return node->op == VYRE_OP_VAR && b->stands[node->arg[3]] != 0 ? b->stands[node->arg[3]] : e;
}

/* An `else if`: a statement beside it would open a block around it, and chains of them are as long as programs. */
static bool is_else_if(const branch *b, uint32_t stmt) {
  const opt_stmt_facts *f = &b->facts->stmt[stmt];
  const ir_stmt *s = opt_stmt(b->unit, stmt);
  return f->in_orelse && s->next == 0 && opt_stmt(b->unit, f->parent)->orelse == stmt;
}

/* ---- Nested conditions ----------------------------------------------------------------------- */

/* The second condition is asked more often then. */
static bool merges(const branch *b, const ir_stmt *outer) {
  static const uint32_t never = OPT_EFFECT | OPT_CONVERGENT | OPT_READS_MEMORY | OPT_READS_FIXED;
  const ir_stmt *inner = opt_stmt(b->unit, outer->body);
  if (outer->orelse != 0 || outer->body == 0 || inner->op != VYRE_STMT_IF) return false;
  return inner->next == 0 && inner->orelse == 0 && inner->body != 0 &&
         (opt_flags(b->unit, inner->arg[0]) & never) == 0 &&
         opt_meta_of(b->unit, inner->arg[0])->cost <= CHEAP_CONDITION;
}

static void merge(branch *b, uint32_t stmt, ir_stmt *s) {
  uint32_t both = s->arg[0], depth = opt_meta_of(b->unit, both)->depth;
  for (uint32_t at = stmt; merges(b, opt_stmt(b->unit, at)); depth = opt_meta_of(b->unit, both)->depth) {
    uint32_t inner = opt_stmt(b->unit, at)->body, condition = mapped(b, opt_stmt(b->unit, inner)->arg[0]);
    if (depth >= VYRE_MAX_EXPR_DEPTH || opt_meta_of(b->unit, condition)->depth >= VYRE_MAX_EXPR_DEPTH) break;
    both = opt_op(b->unit, VYRE_OP_LAND, both, condition, 0);
    if (both == 0) return;
    b->fate[inner] = MERGED;
    opt_note(b->c, "nested_if", opt_stmt(b->unit, inner)->pos, b->unit->costs->stmt[VYRE_STMT_IF]);
    at = inner;
  }
  s->arg[0] = both;
}

/* ---- What both arms begin with --------------------------------------------------------------- */

/* Values that are the same before the condition and behind it. */
static bool may_precede(const branch *b, uint32_t e, uint32_t condition) {
  uint32_t flags = opt_flags(b->unit, e);
  bool condition_acts = !opt_can_drop(b->unit, condition);
  return (flags & (OPT_EFFECT | OPT_CONVERGENT)) == 0 && !((flags & OPT_READS_MEMORY) && condition_acts);
}

static void hoist_values(branch *b, opt_edit *e, const ir_stmt *s) {
  for (uint32_t x = s->body, y = s->orelse, next_x, next_y; x != 0 && y != 0; x = next_x, y = next_y) {
    const ir_stmt *left = opt_stmt(b->unit, x), *right = opt_stmt(b->unit, y);
    next_x = left->next;
    next_y = right->next;
    if (left->op != VYRE_STMT_LET || right->op != VYRE_STMT_LET) return;
    uint32_t value = mapped(b, left->arg[0]);
    if (value == 0 || value != mapped(b, right->arg[0]) || !may_precede(b, value, s->arg[0])) return;
    b->fate[x] = b->fate[y] = GONE;
    b->stands[right->arg[4]] = opt_var_value(b->unit, left->arg[4]);
    opt_put_let(e, left->arg[4], value, left->pos);
    opt_note(b->c, "both_begin", left->pos, opt_meta_of(b->unit, value)->cost);
    e->changed = true;
  }
}

/* ---- What both arms end with ----------------------------------------------------------------- */

/* Stands behind the arms as well as in them: it can't read what is declared in one, or the other would not have it. */
static bool same_tail(const branch *b, uint32_t x, uint32_t y) {
  const ir_stmt *left = opt_stmt(b->unit, x), *right = opt_stmt(b->unit, y);
  if (left->op != right->op) return false;
  switch (left->op) {
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_RETURN: return true;
    case VYRE_STMT_ASSIGN:
    case VYRE_STMT_STORE:
      for (int i = 0; i < 5; i++)
        if (left->arg[i] != right->arg[i]) return false;
      for (int i = 0; i < ir_stmt_arity[left->op]; i++)
        if (opt_flags(b->unit, left->arg[i]) & (OPT_EFFECT | OPT_CONVERGENT)) return false;
      return true;
    default: return false;
  }
}

static void list_block(branch *b, uint32_t first) {
  for (; first != 0; first = opt_stmt(b->unit, first)->next)
    if (!vyre_vector_push(&b->block, first)) b->unit->fault = OPT_NO_MEMORY;
}

static void sink_tails(branch *b, uint32_t stmt, const ir_stmt *s) {
  b->block.count = 0;
  list_block(b, s->body);
  uint32_t middle = b->block.count;
  list_block(b, s->orelse);
  uint32_t left = middle, right = b->block.count;
  while (b->unit->fault == OPT_FINE && left > 0 && right > middle) {
    uint32_t x = b->block.data[--left], y = b->block.data[--right];
    if (b->fate[x] != KEPT || b->fate[y] != KEPT || !same_tail(b, x, y)) break;
    b->fate[x] = b->fate[y] = GONE;
    if (!vyre_vector_push(&b->tails, stmt) || !vyre_vector_push(&b->tails, x)) b->unit->fault = OPT_NO_MEMORY;
    opt_note(b->c, "both_end", opt_stmt(b->unit, x)->pos, b->facts->stmt[x].cost);
  }
}

/* ---- Nothing in the first arm ---------------------------------------------------------------- */

/* Not of an `else if`, for a chain of them would become a tower. */
static bool inverts(const branch *b, const ir_stmt *s) {
  const ir_stmt *other = opt_stmt(b->unit, s->orelse);
  return s->body == 0 && s->orelse != 0 && !(other->op == VYRE_STMT_IF && other->next == 0);
}

static opt_action invert(branch *b, opt_edit *e, uint32_t stmt, ir_stmt *s) {
  bool negated = opt_is(b->unit, s->arg[0], VYRE_OP_LNOT);
  uint32_t condition = negated ? opt_at(b->unit, s->arg[0])->arg[0] : opt_op(b->unit, VYRE_OP_LNOT, s->arg[0], 0, 0);
  opt_note(b->c, "empty_then", s->pos, 0);
  b->fate[stmt] = INVERTED;
  opt_open(e, opt_put(e, (ir_stmt){ .op = VYRE_STMT_IF, .arg = { condition }, .pos = s->pos }), false);
  return OPT_SPLICE_ORELSE;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* The tails were found from the last one on. */
static void leave(void *context, opt_edit *e, uint32_t old) {
  branch *b = context;
  if (b->fate[old] == INVERTED) opt_close(e);
  while (b->tails.count > 0 && b->tails.data[b->tails.count - 2] == old) {
    ir_stmt s = *opt_stmt(b->unit, b->tails.data[b->tails.count - 1]);
    b->tails.count -= 2;
    opt_map_operands(&b->map, &s);
    opt_put(e, s);
  }
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  branch *b = context;
  if (b->fate[old] == GONE) return OPT_DROP;
  if (b->fate[old] == MERGED) return OPT_SPLICE_BODY;
  opt_map_operands(&b->map, s);
  if (s->op != VYRE_STMT_IF) return OPT_KEEP;
  if (inverts(b, s)) return invert(b, e, old, s);
  merge(b, old, s);
  if (s->orelse == 0 || s->body == 0 || is_else_if(b, old)) return OPT_KEEP;
  hoist_values(b, e, s);
  sink_tails(b, old, s);
  return OPT_KEEP;
}

bool opt_pass_branch(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .leave = leave };
  branch b = { .c = c, .unit = c->unit, .facts = opt_facts_of(c->unit) };
  if (b.facts == NULL) return false;
  b.fate = calloc(c->unit->program->stmts.count, 1);
  b.stands = calloc((size_t)c->unit->program->vars.count + 1, sizeof *b.stands);
  b.map = opt_map_begin(c->unit, replace, &b);
  if (b.fate == NULL || b.stands == NULL) c->unit->fault = OPT_NO_MEMORY;
  bool changed = c->unit->fault == OPT_FINE && opt_rewrite(c->unit, &rewriter, &b);
  opt_map_end(&b.map);
  free(b.fate);
  free(b.stands);
  vyre_vector_free(&b.tails);
  vyre_vector_free(&b.block);
  return changed;
}
