/* What becomes of each return of an arm that others follow. One behind which nothing of the arm runs is left out. An
 * `if` that does nothing else becomes the opposite one around what follows. For all others a variable says that the
 * invocation is done with the arm, loops are left, and what follows asks it. */
#include "ir/walk.h"
#include "plan/arm.h"

/* Whether nothing of the arm runs behind a block of |owner|, 0 for the whole. */
static bool is_last(const plan_arm *a, uint32_t owner) {
  if (owner == 0) return true;
  const ir_stmt *s = ir_stmt_at(a->p, owner);
  return (a->marks[owner] & PLAN_LAST) != 0 && s->next == 0 && !ir_is_loop(s);
}

static void mark(plan_arm *a, uint32_t stmt, uint32_t owner) {
  const ir_stmt *s = ir_stmt_at(a->p, stmt);
  uint8_t *to = &a->marks[stmt];
  if (is_last(a, owner)) *to |= PLAN_LAST;
  bool inverts = owner != 0 && (a->marks[owner] & PLAN_INVERTS) != 0;
  if (s->op == VYRE_STMT_RETURN && (*to & PLAN_LAST) == 0 && !inverts) *to |= PLAN_RETURNS;
  if ((*to & PLAN_LAST) != 0 && s->next != 0 && plan_only_returns(a->p, s)) *to |= PLAN_INVERTS;
  a->asks_ended |= (*to & PLAN_RETURNS) != 0;
}

bool plan_find_returns(plan_arm *a) {
  if (!plan_has_stmt(a->p, VYRE_STMT_RETURN)) return true;
  ir_walk w = ir_walk_begin(a->p);
  for (ir_walk_event event; (event = ir_walk_next(&w)) != IR_WALK_END;) {
    uint32_t owner = w.open.count > 0 ? w.open.data[w.open.count - 1] >> 1 : 0;
    if (event == IR_WALK_STMT) mark(a, w.stmt, owner);
    if (event == IR_WALK_STMT || event == IR_WALK_LEAVE) a->marks[owner] |= a->marks[w.stmt] & PLAN_RETURNS;
  }
  return ir_walk_finish(&w);
}
