/* New statements for a unit, and the walk over the old ones that writes them. */
#include "opt/edit.h"

#include <string.h>

#include "opt/facts.h"

static opt_open_block *top(const opt_edit *e) { return &e->open.data[e->open.count - 1]; }

static void out_of_memory(opt_edit *e) {
  if (e->unit->fault == OPT_FINE) e->unit->fault = OPT_NO_MEMORY;
}

static bool is_jump(vyre_stmt_op op) {
  return op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE || op == VYRE_STMT_RETURN;
}

/* ---- Putting --------------------------------------------------------------------------------- */

void opt_edit_begin(opt_edit *e, opt_unit *u) {
  *e = (opt_edit){ .unit = u, .copies = opt_map_begin(u, NULL, NULL) };
  bool fine = vyre_vector_reserve(&e->stmts, u->program->stmts.count) && vyre_vector_push(&e->stmts, (ir_stmt){ 0 }) &&
              vyre_vector_push(&e->open, (opt_open_block){ 0 });
  if (!fine) out_of_memory(e);
}

bool opt_ended(const opt_edit *e) { return e->unit->fault != OPT_FINE || top(e)->ended; }

/* A statement that the language has no form for, or that does nothing. */
static bool is_void(opt_edit *e, ir_stmt *s) {
  opt_unit *u = e->unit;
  if (s->op == VYRE_STMT_EVAL)
    return opt_at(u, s->arg[0])->op < VYRE_OP_ATOMIC_ADD || opt_at(u, s->arg[0])->op > VYRE_OP_ATOMIC_STORE;
  if (s->op != VYRE_STMT_STORE || !opt_is_beyond(u, s->arg[0], s->arg[4])) return false;
  if (opt_can_drop(u, s->arg[1])) return true;
  s->arg[0] = opt_hide_literal(u, s->arg[0]);
  return false;
}

static bool has_operands(const opt_edit *e, const ir_stmt *s) {
  uint32_t required = s->op == VYRE_STMT_FOR ? 2 : ir_stmt_arity[s->op];
  for (uint32_t i = 0; i < required; i++)
    if (s->arg[i] == 0) return false;
  return e->unit->fault == OPT_FINE;
}

/* PRINT's arguments move over with it. */
static bool take_list(opt_edit *e, ir_stmt *s) {
  uint32_t count = s->arg[2], from = s->arg[3];
  if (s->op != VYRE_STMT_PRINT || count == 0) return true;
  if (!vyre_vector_reserve(&e->lists, count)) return false;
  memcpy(e->lists.data + e->lists.count, e->unit->program->lists.data + from, count * sizeof *e->lists.data);
  s->arg[3] = e->lists.count;
  e->lists.count += count;
  return true;
}

uint32_t opt_put(opt_edit *e, ir_stmt s) {
  if (opt_ended(e)) {
    e->changed = true;
    return 0;
  }
  if (!has_operands(e, &s)) return 0;
  if (is_void(e, &s)) {
    e->changed = true;
    return 0;
  }
  s.next = s.body = s.orelse = 0;
  uint32_t handle = e->stmts.count;
  if (!take_list(e, &s) || !vyre_vector_push(&e->stmts, s)) {
    out_of_memory(e);
    return 0;
  }
  opt_open_block *block = top(e);
  if (block->last != 0) e->stmts.data[block->last].next = handle;
  else if (block->orelse) e->stmts.data[block->owner].orelse = handle;
  else e->stmts.data[block->owner].body = handle;
  block->last = handle;
  block->ended = is_jump(s.op);
  return handle;
}

void opt_open(opt_edit *e, uint32_t owner, bool orelse) {
  opt_open_block block = { .owner = owner, .orelse = orelse, .ended = owner == 0 };
  if (!vyre_vector_push(&e->open, block)) out_of_memory(e);
}

void opt_close(opt_edit *e) {
  if (e->open.count > 1) e->open.count--;
}

bool opt_edit_commit(opt_edit *e) {
  opt_unit *u = e->unit;
  bool take = e->changed && u->fault == OPT_FINE;
  vyre_vector_free(&e->open);
  opt_map_end(&e->copies);
  if (take) {
    opt_unit_keep_before(u);
    memcpy(&u->program->stmts, &e->stmts, sizeof e->stmts);
    memcpy(&u->program->lists, &e->lists, sizeof e->lists);
    u->generation++;
  } else {
    vyre_vector_free(&e->stmts);
    vyre_vector_free(&e->lists);
  }
  return take;
}

uint32_t opt_put_let(opt_edit *e, uint32_t var, uint32_t value, uint32_t pos) {
  uint8_t kind = e->unit->program->vars.data[var].kind;
  return opt_put(e, (ir_stmt){ .op = kind, .arg = { value, 0, 0, 0, var }, .pos = pos });
}

uint32_t opt_put_store(opt_edit *e, uint32_t binding, uint32_t index, uint32_t value, uint32_t pos) {
  return opt_put(e, (ir_stmt){ .op = VYRE_STMT_STORE, .arg = { index, value, 0, 0, binding }, .pos = pos });
}

uint32_t opt_put_block(opt_edit *e, uint32_t pos) {
  uint32_t block = opt_put(e, (ir_stmt){ .op = VYRE_STMT_BLOCK, .pos = pos });
  opt_open(e, block, false);
  return block;
}

/* ---- Rewriting ------------------------------------------------------------------------------- */

typedef struct opt_pass_over {
  const opt_rewriter *rewriter;
  void *context;
  opt_edit edit;
  VYRE_VECTOR(uint8_t) actions; /* of the open statements: opt_action */
} opt_pass_over;

static bool has_blocks(const ir_stmt *s) {
  return ir_is_conditional(s) || s->op == VYRE_STMT_BLOCK || s->op == VYRE_STMT_REGION;
}

/* Whether a statement that was put is the old one, blocks aside: a pass may have made it anew as it was. */
static bool is_same(const opt_edit *e, uint32_t old, uint32_t put) {
  const ir_stmt *a = opt_stmt(e->unit, old), *b = &e->stmts.data[put];
  if (a->op != b->op || a->aux != b->aux || a->aux2 != b->aux2) return false;
  if (a->op != VYRE_STMT_PRINT) return memcmp(a->arg, b->arg, sizeof a->arg) == 0;
  if (a->arg[2] != b->arg[2] || a->arg[4] != b->arg[4]) return false;
  if (a->arg[2] == 0) return true;
  const uint32_t *from = e->unit->program->lists.data + a->arg[3], *to = e->lists.data + b->arg[3];
  return memcmp(from, to, a->arg[2] * sizeof *from) == 0;
}

static uint32_t keep_statement(opt_edit *e, uint32_t old, ir_stmt s) {
  uint32_t put = opt_put(e, s);
  if (put == 0 || !is_same(e, old, put)) e->changed = true;
  return put;
}

/* Leaves out all inside of a statement: the walk goes on behind its last one. */
static void skip_blocks(ir_walk *walk) { walk->enter = false; }

static void begin_statement(opt_pass_over *r, ir_walk *walk) {
  ir_stmt s = *opt_stmt(r->edit.unit, walk->stmt);
  bool blocks = has_blocks(&s);
  if (opt_ended(&r->edit)) { /* behind a jump */
    r->edit.changed = true;
    skip_blocks(walk);
    return;
  }
  opt_action action = r->rewriter->enter(r->context, &r->edit, walk->stmt, &s);
  if (action != OPT_KEEP) r->edit.changed = true;
  uint32_t kept = action == OPT_KEEP ? keep_statement(&r->edit, walk->stmt, s) : 0;
  if (!blocks) return;
  bool inside = action == OPT_KEEP ? kept != 0 : action != OPT_DROP;
  if (!inside) {
    skip_blocks(walk);
    return;
  }
  if (!vyre_vector_push(&r->actions, (uint8_t)action)) out_of_memory(&r->edit);
  if (action == OPT_KEEP) opt_open(&r->edit, kept, false);
}

static void end_block(opt_pass_over *r, uint32_t owner, bool orelse) {
  if (r->rewriter->end != NULL) r->rewriter->end(r->context, &r->edit, owner, orelse);
}

/* Whether the block is walked through: of a spliced `if` only one of the two is. */
static bool walks(opt_action action, bool orelse) {
  return action == OPT_KEEP || (action == OPT_SPLICE_BODY) == !orelse;
}

static void begin_block(opt_pass_over *r, ir_walk *walk, bool orelse) {
  opt_action action = (opt_action)r->actions.data[r->actions.count - 1];
  if (orelse && walks(action, false)) {
    end_block(r, walk->stmt, false);
    if (action == OPT_KEEP) opt_close(&r->edit);
  }
  if (!walks(action, orelse)) {
    walk->next = 0;
    return;
  }
  if (orelse && action == OPT_KEEP) opt_open(&r->edit, top(&r->edit)->last, true);
  if (r->rewriter->block != NULL) r->rewriter->block(r->context, &r->edit, walk->stmt, orelse);
}

static void leave_statement(opt_pass_over *r, uint32_t stmt) {
  opt_action action = (opt_action)r->actions.data[--r->actions.count];
  bool orelse = opt_stmt(r->edit.unit, stmt)->orelse != 0;
  if (walks(action, orelse)) end_block(r, stmt, orelse);
  if (action == OPT_KEEP) opt_close(&r->edit);
  if (r->rewriter->leave != NULL) r->rewriter->leave(r->context, &r->edit, stmt);
}

bool opt_rewrite(opt_unit *u, const opt_rewriter *rewriter, void *context) {
  opt_pass_over r = { .rewriter = rewriter, .context = context };
  opt_edit_begin(&r.edit, u);
  ir_walk walk = ir_walk_begin(u->program);
  if (u->fault == OPT_FINE && rewriter->block != NULL) rewriter->block(context, &r.edit, 0, false);
  for (ir_walk_event event; u->fault == OPT_FINE && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    switch (event) {
      case IR_WALK_STMT: begin_statement(&r, &walk); break;
      case IR_WALK_BODY: begin_block(&r, &walk, false); break;
      case IR_WALK_ORELSE: begin_block(&r, &walk, true); break;
      default: leave_statement(&r, walk.stmt); break;
    }
  }
  if (u->fault == OPT_FINE) end_block(&r, 0, false);
  if (!ir_walk_finish(&walk)) out_of_memory(&r.edit);
  vyre_vector_free(&r.actions);
  return opt_edit_commit(&r.edit);
}

/* ---- Operands -------------------------------------------------------------------------------- */

/* PRINT's arguments stand in the lists: changed ones are added at the end of those. */
static bool map_list(opt_unit *u, opt_map *m, ir_stmt *s) {
  vyre_program *p = u->program;
  uint32_t count = s->arg[2], from = s->arg[3], to = p->lists.count;
  bool changed = false;
  if (!vyre_vector_reserve(&p->lists, count)) {
    u->fault = OPT_NO_MEMORY;
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t e = p->lists.data[from + i];
    p->lists.data[to + i] = opt_map_expr(m, e);
    changed |= p->lists.data[to + i] != e;
  }
  if (!changed) return false;
  p->lists.count += count;
  s->arg[3] = to;
  return true;
}

bool opt_map_operands(opt_map *m, ir_stmt *s) {
  if (s->op == VYRE_STMT_PRINT) return map_list(m->unit, m, s);
  bool changed = false;
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) {
    uint32_t e = s->arg[i];
    s->arg[i] = opt_map_expr(m, e);
    changed |= s->arg[i] != e;
  }
  return changed;
}

static opt_action map_statement(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)e, (void)old;
  opt_map_operands(context, s);
  return OPT_KEEP;
}

bool opt_rewrite_operands(opt_unit *u, opt_map *m) {
  static const opt_rewriter rewriter = { .enter = map_statement };
  return opt_rewrite(u, &rewriter, m);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

typedef struct copying {
  opt_edit *edit;
  VYRE_VECTOR(uint64_t) renamed; /* old variable << 32 | expression; few, in order of declaration */
  uint32_t var, replace;
  bool lifts; /* literals out of sums and products */
} copying;

/* x + literal: then *x and *literal are its parts. */
static bool is_sum(const opt_unit *u, uint32_t e, uint32_t *x, uint64_t *literal) {
  const ir_expr *n = opt_at(u, e);
  if (n->op != VYRE_OP_ADD || !opt_is_literal(u, n->arg[1])) return false;
  *x = n->arg[0];
  *literal = ir_literal_bits(opt_at(u, n->arg[1]));
  return true;
}

/* An integer operator one of whose operands is x + literal, with a literal added last instead: all of it modulo the
 * width, so that no bit changes. */
static uint32_t lifted(opt_unit *u, uint32_t e) {
  const ir_expr n = *opt_at(u, e);
  vyre_type type = (vyre_type)n.type;
  uint32_t x = n.arg[0], y = n.arg[1];
  uint64_t literal;
  if ((n.op != VYRE_OP_ADD && n.op != VYRE_OP_SUB && n.op != VYRE_OP_MUL && n.op != VYRE_OP_SHL) ||
      !ir_is_integer(type) || ir_is_vector(type))
    return e;
  bool scales = n.op == VYRE_OP_MUL || n.op == VYRE_OP_SHL, by_literal = opt_is_literal(u, y);
  uint32_t width = 8 * ir_type_at(type)->bytes;
  if (scales != by_literal) return e; /* the sum of a sum and a literal is left to the rules */
  bool right = !scales && is_sum(u, y, &y, &literal);
  if (!right && !is_sum(u, x, &x, &literal)) return e;
  if (right && n.op == VYRE_OP_SUB) literal = -literal;
  if (n.op == VYRE_OP_MUL) literal *= ir_literal_bits(opt_at(u, y));
  if (n.op == VYRE_OP_SHL) literal <<= ir_literal_bits(opt_at(u, y)) & (width - 1);
  return opt_add(u, opt_op(u, n.op, x, y, 0), opt_literal(u, type, width == 64 ? literal : (uint32_t)literal));
}

static uint32_t renamed(void *context, uint32_t e) {
  copying *c = context;
  const ir_expr *node = opt_at(c->edit->unit, e);
  if (node->op != VYRE_OP_VAR) return c->lifts ? lifted(c->edit->unit, e) : e;
  if (node->arg[3] == c->var) return c->replace;
  uint32_t low = 0, high = c->renamed.count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (c->renamed.data[middle] >> 32 < node->arg[3]) low = middle + 1;
    else high = middle;
  }
  bool found = low < c->renamed.count && c->renamed.data[low] >> 32 == node->arg[3];
  return found ? (uint32_t)c->renamed.data[low] : e;
}

static uint32_t new_name_of(copying *c, uint32_t var) {
  return opt_at(c->edit->unit, renamed(c, opt_var_value(c->edit->unit, var)))->arg[3];
}

/* Keeps the list sorted; variables are nearly always declared in the order of their numbers. */
static bool rename_var(copying *c, uint32_t var, uint32_t value) {
  if (!vyre_vector_push(&c->renamed, (uint64_t)var << 32 | value)) return false;
  for (uint32_t i = c->renamed.count - 1; i > 0 && c->renamed.data[i - 1] > c->renamed.data[i]; i--) {
    uint64_t swap = c->renamed.data[i];
    c->renamed.data[i] = c->renamed.data[i - 1];
    c->renamed.data[i - 1] = swap;
  }
  return true;
}

static void copy_statement(copying *c, const ir_stmt *old, uint32_t *put) {
  opt_unit *u = c->edit->unit;
  ir_stmt s = *old;
  opt_map_operands(&c->edit->copies, &s);
  bool declares = s.op == VYRE_STMT_LET || s.op == VYRE_STMT_VAR || s.op == VYRE_STMT_FOR;
  if (declares) {
    ir_var v = u->program->vars.data[s.arg[4]];
    s.arg[4] = opt_new_var(u, old->arg[4], (vyre_type)v.type, (vyre_stmt_op)v.kind);
    if (s.arg[4] == UINT32_MAX || !rename_var(c, old->arg[4], opt_var_value(u, s.arg[4]))) out_of_memory(c->edit);
  } else if (s.op == VYRE_STMT_ASSIGN) {
    s.arg[4] = new_name_of(c, s.arg[4]);
  }
  *put = opt_put(c->edit, s);
}

static void copy_block(copying *c, uint32_t first) {
  opt_unit *u = c->edit->unit;
  VYRE_VECTOR(uint32_t) open = { 0 }; /* old statements whose blocks are being copied; << 1 | in the second */
  for (uint32_t at = first; u->fault == OPT_FINE;) {
    while (at == 0 && open.count > 0) {
      uint32_t *owner = &open.data[open.count - 1];
      const ir_stmt *s = opt_stmt(u, *owner >> 1);
      opt_close(c->edit);
      if ((*owner & 1) == 0 && s->orelse != 0) {
        *owner |= 1;
        opt_open(c->edit, top(c->edit)->last, true);
        at = s->orelse;
        break;
      }
      open.count--;
      at = s->next;
    }
    if (at == 0) break;
    ir_stmt s = *opt_stmt(u, at);
    uint32_t put;
    copy_statement(c, &s, &put);
    if (!has_blocks(&s) || put == 0) {
      at = s.next;
      continue;
    }
    if (!vyre_vector_push(&open, at << 1)) out_of_memory(c->edit);
    opt_open(c->edit, put, false);
    at = s.body;
  }
  vyre_vector_free(&open);
}

static void put_copy(opt_edit *e, uint32_t first, uint32_t var, uint32_t replace, bool lifts) {
  copying c = { .edit = e, .var = var, .replace = replace, .lifts = lifts };
  e->copies.rewrite = renamed;
  e->copies.context = &c;
  opt_map_reset(&e->copies);
  copy_block(&c, first);
  vyre_vector_free(&c.renamed);
  e->changed = true;
}

void opt_put_copy(opt_edit *e, uint32_t first, uint32_t var, uint32_t replace) {
  put_copy(e, first, var, replace, false);
}

void opt_put_turn(opt_edit *e, uint32_t first, uint32_t var, uint32_t replace) {
  put_copy(e, first, var, replace, true);
}
