/* Range folding: what can only have one value is that value, and what an operator would leave as it is goes without
 * it. */
#include "opt/pass.h"
#include "opt/range.h"

typedef struct folding {
  opt_context *c;
  opt_ranges *ranges;
  opt_map map;
  uint32_t position;
} folding;

static uint32_t note(folding *f, const char *rule, uint32_t e, uint32_t result) {
  opt_note(f->c, rule, f->position, opt_meta_of(f->c->unit, e)->cost - opt_meta_of(f->c->unit, result)->cost);
  return result;
}

/* A remainder by more than there is, a quotient of less than one divisor, a mask that takes nothing away, the smaller
 * of two of which one always is. */
static uint32_t without_effect(folding *f, const ir_expr *n) {
  opt_interval x = opt_range_of(f->ranges, n->arg[0]), y = opt_range_of(f->ranges, n->arg[1]);
  switch (n->op) {
    case VYRE_OP_MOD: return x.least >= 0 && x.most < y.least ? n->arg[0] : 0;
    case VYRE_OP_BITAND:
      if (y.least == y.most && (x.maybe & ~(uint64_t)y.least) == 0) return n->arg[0];
      return x.least == x.most && (y.maybe & ~(uint64_t)x.least) == 0 ? n->arg[1] : 0;
    case VYRE_OP_MIN: return x.most <= y.least ? n->arg[0] : y.most <= x.least ? n->arg[1] : 0;
    case VYRE_OP_MAX: return x.least >= y.most ? n->arg[0] : y.least >= x.most ? n->arg[1] : 0;
    default: return 0;
  }
}

static bool drops_the_other(const opt_unit *u, const ir_expr *n, uint32_t kept) {
  return opt_can_drop(u, n->arg[0] == kept ? n->arg[1] : n->arg[0]);
}

static uint32_t fold(void *context, uint32_t e) {
  folding *f = context;
  opt_unit *u = f->c->unit;
  const ir_expr n = *opt_at(u, e);
  vyre_type type = (vyre_type)n.type;
  bool value;
  if (n.op == VYRE_OP_LIT || ir_op_arity[n.op] == 0 || ir_is_vector(type) || !opt_can_drop(u, e)) return e;
  if (type == VYRE_TYPE_BOOL)
    return opt_range_decides(f->ranges, e, &value) ? note(f, "decided", e, opt_literal(u, type, value)) : e;
  if (!ir_is_integer(type)) return e;
  opt_interval x = opt_range_of(f->ranges, e);
  uint64_t bits = ir_type_at(type)->bytes == 8 ? (uint64_t)x.least : (uint32_t)(uint64_t)x.least;
  if (x.least == x.most) return note(f, "one_value", e, opt_literal(u, type, bits));
  uint32_t kept = ir_op_arity[n.op] == 2 ? without_effect(f, &n) : 0;
  return kept != 0 && drops_the_other(u, &n, kept) ? note(f, "no_effect", e, kept) : e;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  folding *f = context;
  (void)e;
  f->position = s->pos;
  opt_map_reset(&f->map); /* what holds has changed */
  opt_map_operands(&f->map, s);
  opt_ranges_event(f->ranges, IR_WALK_STMT, old);
  return OPT_KEEP;
}

static void block(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  folding *f = context;
  (void)e;
  if (owner != 0) opt_ranges_event(f->ranges, orelse ? IR_WALK_ORELSE : IR_WALK_BODY, owner);
}

static void leave(void *context, opt_edit *e, uint32_t old) {
  folding *f = context;
  (void)e;
  opt_ranges_event(f->ranges, IR_WALK_LEAVE, old);
}

bool opt_pass_range_fold(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .block = block, .leave = leave };
  folding f = { .c = c, .ranges = opt_ranges_create(c->unit->program) };
  bool changed = false;
  f.map = opt_map_begin(c->unit, fold, &f);
  if (f.ranges != NULL) changed = opt_rewrite(c->unit, &rewriter, &f);
  bool fine = f.ranges != NULL && opt_ranges_fine(f.ranges);
  if (!fine && c->unit->fault == OPT_FINE) c->unit->fault = OPT_NO_MEMORY;
  opt_map_end(&f.map);
  opt_ranges_free(f.ranges);
  return changed;
}
