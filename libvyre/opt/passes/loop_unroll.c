/* Unrolling: a short loop with a known number of turns becomes its turns, one after another; a longer one that has no
 * loop inside takes several turns in one, and what is left over stands behind it. Copies have variables of their own, so
 * they need no scopes.
 *
 * Only loops that count by 1 are unrolled in part. What comes out counts by more, so nothing is unrolled twice. */
#include "opt/pass.h"

enum { MOST_TURNS = 16, MOST_SIZE = 256, MOST_SIZE_IN_PART = 128, FEWEST_PARTS = 4, MOST_PARTS = 8 };

typedef struct unroll {
  opt_context *c;
  const opt_facts *facts;
  uint64_t *size; /* by statement: sizes of all before it, added up */
  uint64_t room;  /* how much the program may still grow */
} unroll;

/* What a statement counts: optimizer.md, section 9. */
static uint64_t own_size(const opt_unit *u, const ir_stmt *s) {
  static const uint8_t base[VYRE_STMT_COUNT] = { [VYRE_STMT_STORE] = 2, [VYRE_STMT_IF] = 4, [VYRE_STMT_FOR] = 6,
                                                 [VYRE_STMT_LOOP] = 6 };
  uint32_t count;
  const uint32_t *operands = opt_operands(u, s, &count);
  uint64_t size = base[s->op] != 0 ? base[s->op] : 1;
  for (uint32_t i = 0; i < count; i++)
    if (operands[i] != 0) size += opt_meta_of(u, operands[i])->size;
  return size;
}

static bool add_sizes(unroll *r) {
  opt_unit *u = r->c->unit;
  uint32_t count = u->program->stmts.count;
  r->size = malloc(((size_t)count + 1) * sizeof *r->size);
  if (r->size == NULL) {
    u->fault = OPT_NO_MEMORY;
    return false;
  }
  r->size[0] = r->size[1] = 0;
  for (uint32_t s = 1; s < count; s++) r->size[s + 1] = r->size[s] + own_size(u, opt_stmt(u, s));
  r->room = r->size[count] * 2 + MOST_SIZE;
  if (r->room > r->c->room) r->room = r->c->room;
  return true;
}

static bool unrolls(const unroll *r, uint32_t stmt, uint64_t *trips, uint64_t *grows) {
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_HAS_BARRIER | OPT_HAS_ASYNC | OPT_HAS_CONVERGENT;
  const opt_unit *u = r->c->unit;
  const opt_stmt_facts *f = &r->facts->stmt[stmt];
  if (opt_stmt(u, stmt)->op != VYRE_STMT_FOR || (f->flags & forbidden) != 0) return false;
  if (!opt_trip_count(u, stmt, trips) || *trips == 0 || *trips > MOST_TURNS) return false;
  uint64_t body = r->size[f->last + 1] - r->size[stmt + 1];
  *grows = body * (*trips - 1);
  return *trips == 1 || (body * *trips <= MOST_SIZE && *grows <= r->room);
}

static bool has_loop_inside(const unroll *r, uint32_t stmt) {
  for (uint32_t s = stmt + 1; s <= r->facts->stmt[stmt].last; s++)
    if (ir_is_loop(opt_stmt(r->c->unit, s))) return true;
  return false;
}

/* The literal of a turn; no turn is beyond what the type holds. */
static uint32_t value_in_turn(opt_unit *u, const ir_stmt *loop, uint64_t turn) {
  vyre_type type = opt_type(u, loop->arg[0]);
  uint64_t step = loop->arg[2] != 0 ? ir_literal_bits(opt_at(u, loop->arg[2])) : 1;
  uint64_t value = ir_literal_bits(opt_at(u, loop->arg[0])) + turn * step;
  return opt_literal(u, type, ir_type_at(type)->bytes == 4 ? (uint32_t)value : value);
}

/* ---- In part --------------------------------------------------------------------------------- */

/* How many turns become one: the most that the size allows, rather fewer if then none is left over; 0 for none. Each
 * saves what a turn costs and, where the body reads the variable, adds an operator for each place. */
static uint32_t parts_of(const unroll *r, uint32_t stmt, uint64_t *trips, uint64_t *grows) {
  const opt_unit *u = r->c->unit;
  const ir_stmt *s = opt_stmt(u, stmt);
  const opt_stmt_facts *f = &r->facts->stmt[stmt];
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_HAS_BARRIER | OPT_HAS_ASYNC | OPT_HAS_CONVERGENT;
  uint32_t most = 0;
  if (s->op != VYRE_STMT_FOR || s->arg[2] != 0 || s->body == 0 || (f->flags & forbidden) != 0) return 0;
  uint64_t body = r->size[f->last + 1] - r->size[stmt + 1];
  if (FEWEST_PARTS * body > MOST_SIZE_IN_PART || !opt_trip_count(u, stmt, trips) || has_loop_inside(r, stmt)) return 0;
  if (r->facts->var[s->arg[4]].uses >= u->costs->stmt[VYRE_STMT_FOR]) return 0;
  for (uint32_t parts = FEWEST_PARTS; parts <= MOST_PARTS; parts *= 2) {
    uint64_t copies = parts - 1 + *trips % parts;
    if (parts * body > MOST_SIZE_IN_PART || *trips < 2 * parts || copies * body > r->room) break;
    if (most != 0 && *trips % parts != 0) break;
    most = parts;
    *grows = copies * body;
  }
  return most;
}

static bool unroll_in_part(unroll *r, opt_edit *e, uint32_t old, const ir_stmt *s) {
  opt_unit *u = e->unit;
  uint64_t trips, grows = 0;
  uint32_t parts = parts_of(r, old, &trips, &grows);
  if (parts == 0) return false;
  r->room -= grows;
  vyre_type type = opt_type(u, s->arg[0]);
  uint64_t whole = trips - trips % parts;
  ir_stmt loop = *s;
  loop.arg[1] = value_in_turn(u, s, whole);
  loop.arg[2] = opt_literal(u, type, parts);
  loop.arg[4] = opt_new_var(u, s->arg[4], type, VYRE_STMT_FOR);
  if (loop.arg[4] == UINT32_MAX) return true;
  uint32_t first = opt_var_value(u, loop.arg[4]);
  opt_open(e, opt_put(e, loop), false);
  opt_put_copy(e, s->body, s->arg[4], first);
  for (uint32_t part = 1; part < parts; part++)
    opt_put_turn(e, s->body, s->arg[4], opt_add(u, first, opt_literal(u, type, part)));
  opt_close(e);
  for (uint64_t turn = whole; turn < trips; turn++) opt_put_copy(e, s->body, s->arg[4], value_in_turn(u, s, turn));
  opt_note(r->c, "unrolled_in_part", s->pos, (trips - whole / parts) * u->costs->stmt[VYRE_STMT_FOR]);
  return true;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  unroll *r = context;
  uint64_t trips, grows;
  if (!unrolls(r, old, &trips, &grows)) return unroll_in_part(r, e, old, s) ? OPT_DROP : OPT_KEEP;
  r->room -= grows;
  uint32_t body = s->body, var = s->arg[4];
  for (uint64_t turn = 0; turn < trips && body != 0; turn++)
    opt_put_copy(e, body, var, value_in_turn(e->unit, s, turn));
  opt_note(r->c, "unrolled", s->pos, trips * r->c->unit->costs->stmt[VYRE_STMT_FOR]);
  return OPT_DROP;
}

bool opt_pass_loop_unroll(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  unroll r = { .c = c, .facts = opt_facts_of(c->unit) };
  if (r.facts == NULL || (r.facts->stmt[0].flags & OPT_HAS_LOOP) == 0 || !add_sizes(&r)) return false;
  bool changed = opt_rewrite(c->unit, &rewriter, &r);
  free(r.size);
  return changed;
}
