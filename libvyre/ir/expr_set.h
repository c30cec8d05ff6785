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
  IR_HANDLE = (1 << IR_HANDLE_BITS) - 1,
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

/* Makes room for the expression that will have |handle|, one more than the last; false without memory. To be called
 * before the look-up that may insert it. */
static inline bool ir_expr_set_reserve(ir_expr_set *set, uint32_t handle) {
  bool lined = handle / IR_LINE_HANDLES < set->near.count || vyre_vector_push(&set->near, ((ir_expr_line){ { 0 } }));
  return lined && vyre_index_set_reserve(&set->far);
}
/* Makes room ahead for |count| expressions; false without memory. */
bool ir_expr_set_expect(ir_expr_set *set, uint32_t count);

/* What ir_expr_set_find does where there is no line, or it is full. |place| has the hash. */
uint32_t ir_expr_set_find_far(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node, ir_expr_place *place);

/* Field by field: the node was just written in small stores, and wider loads would wait for them. */
static inline uint32_t ir_expr_head(const ir_expr *node) {
  return (uint32_t)node->op | (uint32_t)node->type << 8 | (uint32_t)node->aux << 16 | (uint32_t)node->aux2 << 24;
}

static inline bool ir_same_expr(const ir_expr *a, const ir_expr *b) {
  return ir_expr_head(a) == ir_expr_head(b) && a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] &&
         a->arg[2] == b->arg[2] && a->arg[3] == b->arg[3];
}

/* Pair-multiply-shift (Thorup, "High speed hashing for integers and strings", 2015, section 3.5): with random keys
 * any two nodes collide in 2^-32 of all cases. |first| stands for arg[0]. */
static inline uint32_t ir_expr_hash(const uint64_t *keys, const ir_expr *node, uint32_t first) {
  uint64_t h = (keys[0] + first) * (keys[1] + node->arg[1]) + (keys[2] + node->arg[2]) * (keys[3] + node->arg[3]) +
               keys[4] * ir_expr_head(node);
  return (uint32_t)(h >> 32);
}

static inline uint32_t ir_newest_operand(const ir_expr *node) {
  uint32_t newest = node->arg[0] > node->arg[1] ? node->arg[0] : node->arg[1];
  return node->arg[2] > newest ? node->arg[2] : newest;
}

/* The handle of the expression in |pool| that equals |node|, whose operands are in the pool; else 0 and, in *place,
 * where ir_expr_set_insert puts it. */
static inline uint32_t ir_expr_set_find(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node,
                                        ir_expr_place *place) {
  if (node->op == VYRE_OP_LIT) { /* numbers that follow each other stand beside each other */
    uint32_t value = node->arg[0];
    place->hash = ir_expr_hash(set->keys, node, value / 8) + value % 8;
    return ir_expr_set_find_far(set, pool, node, place);
  }
  uint32_t *line = set->near.data[ir_newest_operand(node) / IR_LINE_HANDLES].slots;
  uint32_t hash = place->hash = ir_expr_hash(set->keys, node, node->arg[0]);
  for (uint32_t i = 0; i < IR_LINE_SLOTS; i++) {
    uint32_t *slot = &line[(hash + i) % IR_LINE_SLOTS];
    if (*slot == 0) {
      place->near = slot;
      return 0;
    }
    if (((*slot ^ hash) & ~IR_HANDLE) == 0 && ir_same_expr(&pool[*slot & IR_HANDLE], node)) return *slot & IR_HANDLE;
  }
  return ir_expr_set_find_far(set, pool, node, place);
}

static inline void ir_expr_set_insert(ir_expr_set *set, const ir_expr_place *place, uint32_t handle) {
  if (place->near != NULL) *place->near = (place->hash & ~IR_HANDLE) | handle;
  else vyre_index_set_insert(&set->far, place->hash, place->cursor, handle);
}

#endif
