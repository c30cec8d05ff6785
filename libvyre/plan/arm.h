/* What fusion knows of one of its programs. Everything is found once, in a few sweeps, before programs are compared. */
#ifndef VYRE_PLAN_ARM_H
#define VYRE_PLAN_ARM_H

#include "ir/program.h"
#include "ir/uniform.h"

/* Which element of a buffer each invocation touches: gid.axis, or that with a value that all have in common. Two equal
 * ones are the same element for each invocation. */
typedef struct plan_footprint {
  enum { PLAN_TOUCHES_NOTHING, PLAN_TOUCHES_OWN, PLAN_TOUCHES_ANY } kind;
  uint8_t axis, op, type;  /* op: ADD SUB BITXOR, or NONE for gid alone */
  uint64_t bits;           /* of a literal ... */
  const char *param;       /* ... or the name of a parameter; NULL */
} plan_footprint;

/* What an arm does to one of its buffers. */
typedef struct plan_use {
  bool reads, writes;
  bool is_constant; /* it writes by one store, which all workgroups make alike: the same value to the same element */
  uint32_t stores;  /* store statements; anything else that writes counts as more than one */
  plan_footprint footprint;
} plan_use;

/* What becomes of a statement where returns are put into structured form (returns.c). */
enum {
  PLAN_LAST = 1 << 0,    /* of the arm nothing runs behind the block in which it stands */
  PLAN_RETURNS = 1 << 1, /* it is, or holds, a return that what follows must ask about */
  PLAN_INVERTS = 1 << 2  /* `if (c) { return; }` becomes `if (!c)` around what follows */
};

typedef struct plan_arm {
  const vyre_program *p;
  uint64_t threads[3];  /* invocations along each axis; 0 where the grid is not known */
  ir_uniformity uniformity;
  uint32_t *roots;      /* by variable: of a let, the expression that it stands for, lets followed; 0 for others */
  uint8_t *constants;   /* by expression: 1 if the whole grid has one value that no memory gives, 2 if not, 0 unknown */
  bool *constant_vars;  /* by variable: a let of such a value */
  plan_use *uses;       /* by binding */
  uint8_t *marks;       /* by statement: PLAN_LAST ... */
  bool asks_ended;      /* a statement is PLAN_RETURNS */
  uint32_t guarded;     /* bit of each axis along which all effects are under gid.axis < n */
} plan_arm;

/* Looks at |p|; NO_MEMORY gives false. Free it all the same. */
bool plan_arm_create(plan_arm *a, const vyre_program *p);
void plan_arm_free(plan_arm *a);

/* The expression behind the lets that |e| may name. */
uint32_t plan_root(const plan_arm *a, uint32_t e);
/* Whether it is gid along an axis, widened or not; then *axis is that. */
bool plan_is_gid(const plan_arm *a, uint32_t e, uint8_t *axis);
/* Whether the whole grid has one value for it that no memory gives. */
bool plan_is_constant(plan_arm *a, uint32_t e);

/* `if (c) { return; }`: whoever comes behind it had c false. */
static inline bool plan_only_returns(const vyre_program *p, const ir_stmt *s) {
  return s->op == VYRE_STMT_IF && s->orelse == 0 && s->body != 0 && ir_stmt_at(p, s->body)->op == VYRE_STMT_RETURN;
}

static inline bool plan_has_stmt(const vyre_program *p, vyre_stmt_op op) { return p->info.stmt_kinds >> op & 1; }
/* A word of the arm that a larger workgroup or grid gives another meaning, NULL if there is none. */
const char *plan_word_of_geometry(const plan_arm *a);
/* Whether invocations meet in it. */
bool plan_has_barrier(const plan_arm *a);
/* Whether it has memory of workgroups. */
bool plan_has_shared(const plan_arm *a);

/* The parts of plan_arm_create. */
void plan_find_uses(plan_arm *a);    /* footprint.c */
bool plan_find_guard(plan_arm *a);   /* guard.c */
bool plan_find_returns(plan_arm *a); /* returns.c */

bool plan_same_footprint(const plan_footprint *x, const plan_footprint *y);

#endif
