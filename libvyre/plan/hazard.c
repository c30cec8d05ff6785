/* Which arms must wait for which, and how: two arms of which one writes what the other touches are kept apart by a
 * barrier. It is one of the grid, unless no workgroup needs what another one does:
 *   - the grid is one workgroup, or
 *   - each invocation touches the same element of the buffer in both arms, and no other invocation touches it, or
 *   - the first arm's one store is made alike by every workgroup, and the second arm only reads: a workgroup reads what
 *     it wrote itself, and whatever another one writes meanwhile is the same.
 * A barrier stands as late as it may, so that it serves as many pairs as possible. */
#include "plan/fuse.h"

static bool is_one_workgroup(const plan_fusion *f) {
  return f->grid[0] == 1 && f->grid[1] == 1 && f->grid[2] == 1;
}

/* Whether the arm runs with the ids that it was written for. */
static bool is_unchanged(const plan_fusion *f, const plan_arm *a) {
  for (uint32_t i = 0; i < 3; i++)
    if (a->p->workgroup[i] != f->workgroup[i] || a->threads[i] != (uint64_t)f->grid[i] * f->workgroup[i]) return false;
  return true;
}

/* Whether no two invocations have the same gid along |axis|. */
static bool tells_apart(const plan_fusion *f, uint32_t axis) {
  for (uint32_t i = 0; i < 3; i++)
    if (i != axis && (uint64_t)f->grid[i] * f->workgroup[i] != 1) return false;
  return true;
}

static bool stays_in_place(const plan_fusion *f, uint32_t first, uint32_t second, const plan_use *x,
                           const plan_use *y) {
  return plan_same_footprint(&x->footprint, &y->footprint) && tells_apart(f, x->footprint.axis) &&
         is_unchanged(f, &f->arms[first]) && is_unchanged(f, &f->arms[second]);
}

static plan_barrier between(const plan_fusion *f, const plan_user *first, const plan_user *second) {
  const plan_use *x = plan_use_of(f, first), *y = plan_use_of(f, second);
  if (!x->writes && !y->writes) return PLAN_NO_BARRIER;
  if (!(x->reads || x->writes) || !(y->reads || y->writes)) return PLAN_NO_BARRIER;
  if (is_one_workgroup(f) || stays_in_place(f, first->arm, second->arm, x, y)) return PLAN_WORKGROUP_BARRIER;
  return x->is_constant && !y->writes ? PLAN_WORKGROUP_BARRIER : PLAN_GRID_BARRIER;
}

/* Keeps an arm apart from those before it that use the same buffer, the nearest first. */
static void order_user(plan_fusion *f, const plan_user *user) {
  if (!plan_is_storage(f->entries.data[user->entry].access)) return;
  uint32_t looked_at = user->arm;
  plan_barrier standing = PLAN_NO_BARRIER; /* the strongest one from |looked_at| on */
  for (uint32_t k = user->before; k != 0; k = f->users.data[k - 1].before) {
    const plan_user *first = &f->users.data[k - 1];
    while (looked_at > first->arm)
      if (f->barriers[--looked_at] > standing) standing = f->barriers[looked_at];
    plan_barrier wanted = between(f, first, user);
    if (wanted > standing) standing = f->barriers[user->arm - 1] = wanted;
  }
}

void plan_order(plan_fusion *f) {
  for (uint32_t i = 0; i < f->users.count; i++) order_user(f, &f->users.data[i]);
}
