/* Normalizing: a loop from a literal above 0 counts from 0, and its variable is read with that literal added. */
#include "opt/pass.h"

typedef struct normalize {
  opt_context *c;
  opt_map map;
  uint32_t *shift; /* by variable: the expression that stands for it, or 0 */
} normalize;

static uint32_t shifted(void *context, uint32_t e) {
  normalize *n = context;
  const ir_expr *node = opt_at(n->c->unit, e);
  bool found = node->op == VYRE_OP_VAR && n->shift[node->arg[3]] != 0;
  return found ? n->shift[node->arg[3]] : e;
}

/* Both bounds are literals, 0 < from <= to. */
static bool normalizes(const opt_unit *u, const ir_stmt *s) {
  if (s->op != VYRE_STMT_FOR || !opt_is_literal(u, s->arg[0]) || !opt_is_literal(u, s->arg[1])) return false;
  uint64_t from = ir_literal_bits(opt_at(u, s->arg[0])), to = ir_literal_bits(opt_at(u, s->arg[1]));
  bool is_negative = !ir_is_unsigned(opt_type(u, s->arg[0])) && opt_signed_value(u, s->arg[0]) < 0;
  return !is_negative && from > 0 && (int64_t)from > 0 && from <= to;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  normalize *n = context;
  opt_unit *u = e->unit;
  (void)old;
  opt_map_operands(&n->map, s);
  if (!normalizes(u, opt_stmt(u, old))) return OPT_KEEP;
  vyre_type type = opt_type(u, s->arg[0]);
  uint64_t from = ir_literal_bits(opt_at(u, s->arg[0])), to = ir_literal_bits(opt_at(u, s->arg[1]));
  n->shift[s->arg[4]] = opt_add(u, opt_var_value(u, s->arg[4]), s->arg[0]);
  s->arg[0] = opt_literal(u, type, 0);
  s->arg[1] = opt_literal(u, type, to - from);
  opt_note(n->c, "counts_from_0", s->pos, 0);
  return OPT_KEEP;
}

bool opt_pass_loop_normalize(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  normalize n = { .c = c, .shift = calloc((size_t)c->unit->program->vars.count + 1, sizeof *n.shift) };
  if (n.shift == NULL) {
    c->unit->fault = OPT_NO_MEMORY;
    return false;
  }
  n.map = opt_map_begin(c->unit, shifted, &n);
  bool changed = opt_rewrite(c->unit, &rewriter, &n);
  opt_map_end(&n.map);
  free(n.shift);
  return changed;
}
