/* Strip mining: a long loop becomes one over tiles and one over the turns of a tile. Where the tiles do not come out
 * even, a guard leaves out the turns that there are not. */
#include "opt/pass.h"

enum { TILE = 8, FEWEST_TURNS = 16 };

static bool mines(const opt_unit *u, const opt_facts *f, uint32_t stmt, uint64_t *trips) {
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_HAS_BARRIER | OPT_HAS_ASYNC | OPT_HAS_CONVERGENT;
  const ir_stmt *s = opt_stmt(u, stmt);
  if (s->op != VYRE_STMT_FOR || s->arg[2] != 0 || (f->stmt[stmt].flags & forbidden) != 0) return false;
  return opt_trip_count(u, stmt, trips) && *trips >= FEWEST_TURNS && *trips <= INT32_MAX - TILE;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  opt_context *c = context;
  opt_unit *u = e->unit;
  uint64_t trips;
  if (!mines(u, opt_facts_of(u), old, &trips)) return OPT_KEEP;
  vyre_type type = opt_type(u, s->arg[0]);
  uint32_t zero = opt_literal(u, type, 0), tiles = opt_literal(u, type, (trips + TILE - 1) / TILE);
  uint32_t tile = opt_new_var(u, s->arg[4], type, VYRE_STMT_FOR), lane = opt_new_var(u, s->arg[4], type, VYRE_STMT_FOR);
  uint32_t offset = opt_new_var(u, s->arg[4], type, VYRE_STMT_LET), body = s->body;
  if (tile == UINT32_MAX || lane == UINT32_MAX || offset == UINT32_MAX) return OPT_DROP;
  uint32_t width = opt_literal(u, type, TILE);
  ir_stmt loop = { .op = VYRE_STMT_FOR, .arg = { zero, tiles, 0, 0, tile }, .pos = s->pos };
  opt_open(e, opt_put(e, loop), false);
  loop = (ir_stmt){ .op = VYRE_STMT_FOR, .arg = { zero, width, 0, 0, lane }, .pos = s->pos };
  opt_open(e, opt_put(e, loop), false);
  opt_put_let(e, offset, opt_add(u, opt_mul(u, opt_var_value(u, tile), width), opt_var_value(u, lane)), s->pos);
  uint32_t at = opt_var_value(u, offset);
  bool guarded = trips % TILE != 0;
  if (guarded) {
    uint32_t inside = opt_op(u, VYRE_OP_LT, at, opt_literal(u, type, trips), 0);
    opt_open(e, opt_put(e, (ir_stmt){ .op = VYRE_STMT_IF, .arg = { inside }, .pos = s->pos }), false);
  }
  if (body != 0) opt_put_copy(e, body, s->arg[4], opt_add(u, s->arg[0], at));
  for (int open = guarded ? 3 : 2; open > 0; open--) opt_close(e);
  opt_note(c, "tiled", s->pos, 0);
  return OPT_DROP;
}

bool opt_pass_strip_mine(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  const opt_facts *f = opt_facts_of(c->unit);
  return f != NULL && (f->stmt[0].flags & OPT_HAS_LOOP) != 0 && opt_rewrite(c->unit, &rewriter, c);
}
