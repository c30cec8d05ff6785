/* Where equal expressions are found while a program is built.
 *
 * What was built last is what is used next. So an expression is kept near the newest of its operands: each 8 handles
 * have a line of 16 slots, one cache line, and a look-up touches the line of what was just built, where one table of
 * all expressions would miss the caches nearly every time. Literals, which have no operand, and expressions whose line
 * is full (those of a leaf that everything uses, say) are kept far, in a hash set. Nothing is ever taken out, so a
 * line with a free slot is all that must be looked at.
 *
 * The hash has keys of its own in each process, so that no input can choose where its expressions go. */
#ifndef VYRE_IR_EXPR_SET_H
#define VYRE_IR_EXPR_SET_H

#include "base/index_set.h"
#include "ir/program.h"

enum {
  IR_LINE_HANDLES = 8,
  IR_LINE_SLOTS = 16,
  IR_HANDLE_BITS = 26, /* a slot's lower bits are a handle, the upper ones of its expression's hash; 0 is free */
  IR_EXPR_KEYS = 5
};

/* More expressions than that have no wire form. */
_Static_assert(VYRE_MAX_PROGRAM_BYTES <= 1u << IR_HANDLE_BITS, "a slot holds every handle");

typedef struct ir_expr_line {
  uint32_t slots[IR_LINE_SLOTS];
} ir_expr_line;

typedef struct ir_expr_set {
  VYRE_VECTOR(ir_expr_line) near; /* by handle / IR_LINE_HANDLES */
  vyre_index_set far;
  uint64_t keys[IR_EXPR_KEYS];
} ir_expr_set;

/* Where an expression that was not found belongs. */
typedef struct ir_expr_place {
  uint32_t *near; /* NULL: it is far, at |cursor| */
  uint32_t hash, cursor;
} ir_expr_place;

void ir_expr_set_init(ir_expr_set *set);
void ir_expr_set_free(ir_expr_set *set);

/* The handle of the expression in |pool| that equals |node|, whose operands are in the pool; else 0 and, in *place,
 * where ir_expr_set_insert puts it. */
uint32_t ir_expr_set_find(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node, ir_expr_place *place);

/* Makes room for the expression that will have |handle|, one more than the last; false without memory. To be called
 * before the look-up that may insert it. */
static inline bool ir_expr_set_reserve(ir_expr_set *set, uint32_t handle) {
  bool lined = handle / IR_LINE_HANDLES < set->near.count || vyre_vector_push(&set->near, ((ir_expr_line){ { 0 } }));
  return lined && vyre_index_set_reserve(&set->far);
}
void ir_expr_set_insert(ir_expr_set *set, const ir_expr_place *place, uint32_t handle);

/* Makes room ahead for |count| expressions; false without memory. */
bool ir_expr_set_expect(ir_expr_set *set, uint32_t count);

#endif
