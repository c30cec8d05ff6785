/* Where equal expressions are found while a program is built.
 *
 * They hang in chains:
 *   near   on the newest of their operands, at most 8. What was built last is used next, so most of these chains are
 *          empty or short, and what a look-up touches was touched a moment ago; it needs no hash.
 *   far    on a hash: literals, which have no operand, and what finds its near chain full, such as the many users of
 *          one old leaf. Literals that follow each other have chains that do.
 * Nothing is ever taken out, so a near chain with room ends a search. The hash has keys of its own in each process, so
 * that no input can choose where its expressions go. */
#ifndef VYRE_IR_EXPR_SET_H
#define VYRE_IR_EXPR_SET_H

#include "base/index_set.h"
#include "ir/program.h"

enum { IR_NEAR_MOST = 8, IR_LITERAL_ROW = 8, IR_EXPR_KEYS = 5 };

/* The chain that hangs on an expression, and what is next in the chain that it hangs in; 0 ends both. */
typedef struct ir_expr_links {
  uint32_t users, next;
} ir_expr_links;

typedef struct ir_expr_set {
  VYRE_VECTOR(ir_expr_links) links; /* by handle */
  uint32_t *far;                    /* the first of each far chain */
  uint32_t far_chains, far_count;   /* chains: a power of two, at least what hangs in them */
  uint64_t keys[IR_EXPR_KEYS];
} ir_expr_set;

/* The chain to which an expression that was not found belongs; NULL if it is not to be found. */
typedef struct ir_expr_place {
  uint32_t *chain;
  bool far;
} ir_expr_place;

/* False without memory; free it all the same. */
bool ir_expr_set_init(ir_expr_set *set);
void ir_expr_set_free(ir_expr_set *set);
/* Makes room ahead for |count| expressions; false without memory. */
bool ir_expr_set_expect(ir_expr_set *set, const ir_expr *pool, uint32_t count);

/* ---- Looking ------------------------------------------------------------------------------- */

/* An expression as words. They are handed on in registers, and what takes them whole is inlined: a node that is written
 * to memory in parts and read as a whole waits for its own stores, which costs more than all else here. */
#define IR_INLINE static inline __attribute__((always_inline))
typedef struct ir_words {
  uint32_t head, x, y, z, w; /* op, type, aux and aux2; arg */
} ir_words;

IR_INLINE ir_words ir_words_of(const ir_expr *e) {
  uint32_t head = (uint32_t)e->op | (uint32_t)e->type << 8 | (uint32_t)e->aux << 16 | (uint32_t)e->aux2 << 24;
  return (ir_words){ head, e->arg[0], e->arg[1], e->arg[2], e->arg[3] };
}

IR_INLINE ir_expr ir_expr_of(ir_words n) {
  return (ir_expr){ (uint8_t)n.head, (uint8_t)(n.head >> 8), (uint8_t)(n.head >> 16), (uint8_t)(n.head >> 24),
                    { n.x, n.y, n.z, n.w } };
}

IR_INLINE bool ir_is_words(const ir_expr *e, ir_words n) {
  ir_words m = ir_words_of(e);
  return ((m.head ^ n.head) | (m.x ^ n.x) | (m.y ^ n.y) | (m.z ^ n.z) | (m.w ^ n.w)) == 0;
}

/* Pair-multiply-shift (Thorup, "High speed hashing for integers and strings", 2015, section 3.5): with random keys
 * any two expressions share n bits of the result in 2^-n of all cases. */
IR_INLINE uint32_t ir_words_hash(const uint64_t *keys, ir_words n) {
  return (uint32_t)(((keys[0] + n.x) * (keys[1] + n.y) + (keys[2] + n.z) * (keys[3] + n.w) + keys[4] * n.head) >> 32);
}

IR_INLINE uint32_t *ir_far_chain(const ir_expr_set *set, ir_words n) {
  uint32_t in_row = 0;
  if ((uint8_t)n.head == VYRE_OP_LIT) {
    in_row = n.x % IR_LITERAL_ROW;
    n.x /= IR_LITERAL_ROW;
  }
  return &set->far[(ir_words_hash(set->keys, n) * IR_LITERAL_ROW + in_row) & (set->far_chains - 1)];
}

/* Looks through a chain; |*passed| counts what was there. */
IR_INLINE uint32_t ir_chain_find(const ir_expr_set *set, const ir_expr *pool, uint32_t first, ir_words n,
                                 uint32_t *passed) {
  for (uint32_t e = first; e != 0; e = set->links.data[e].next, ++*passed)
    if (ir_is_words(&pool[e], n)) return e;
  return 0;
}

IR_INLINE uint32_t ir_far_find(const ir_expr_set *set, const ir_expr *pool, ir_words n, ir_expr_place *place) {
  uint32_t passed = 0;
  *place = (ir_expr_place){ ir_far_chain(set, n), true };
  return ir_chain_find(set, pool, *place->chain, n, &passed);
}

/* The handle of an expression, whose operands are in |pool|; 0 if it is not there, and *place is where
 * ir_expr_set_insert puts it. */
IR_INLINE uint32_t ir_expr_set_find(const ir_expr_set *set, const ir_expr *pool, ir_words n, ir_expr_place *place) {
  if ((uint8_t)n.head == VYRE_OP_LIT) return ir_far_find(set, pool, n, place);
  uint32_t newest = n.x > n.y ? n.x : n.y, passed = 0;
  if (n.z > newest) newest = n.z;
  uint32_t *near = &set->links.data[newest].users, found = ir_chain_find(set, pool, *near, n, &passed);
  *place = (ir_expr_place){ near, false };
  return passed < IR_NEAR_MOST ? found : ir_far_find(set, pool, n, place);
}

/* What ir_expr_set_insert does once in a while: makes room for one more, and finds the place again. */
bool ir_expr_set_grow(ir_expr_set *set, const ir_expr *pool, uint32_t handle, ir_expr_place *place);

/* Puts in the expression |handle|, the last one of |pool|. Every one of the pool must be told, in order. False without
 * memory, and then it is not in the set. */
IR_INLINE bool ir_expr_set_insert(ir_expr_set *set, const ir_expr *pool, ir_expr_place place, uint32_t handle) {
  if (set->links.count == set->links.capacity || (place.far && set->far_count == set->far_chains)) {
    ir_expr_place moved = place;
    if (!ir_expr_set_grow(set, pool, handle, &moved)) return false;
    place = moved;
  }
  ir_expr_links links = { 0, 0 };
  if (place.chain != NULL) {
    links.next = *place.chain;
    *place.chain = handle;
  }
  set->links.data[set->links.count++] = links;
  set->far_count += place.far;
  return true;
}

#endif
