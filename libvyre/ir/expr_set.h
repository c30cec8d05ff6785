/* Where equal expressions are found while a program is built.
 *
 * Expressions are kept in lines of 16 slots, one cache line each, so that what belongs together is touched together:
 *   near   an expression lies in the line of the newest of its operands; 8 handles share a line. What was built last is
 *          used next, so a look-up touches the line of what was just built, where one hash table of all expressions
 *          would miss the caches nearly every time.
 *   far    a hash table of lines. Literals, which have no operand, lie here, 8 numbers that follow each other in one
 *          line; and what finds its near line full, such as the many users of one old leaf.
 * Nothing is ever taken out, so a line with a free slot ends a search. The hash has keys of its own in each process,
 * so that no input can choose where its expressions go. */
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
  ir_expr_line *far;              /* their number is a power of two, at least twice what they hold needs */
  uint32_t far_lines, far_count;
  uint64_t keys[IR_EXPR_KEYS];
} ir_expr_set;

/* Where an expression that was not found belongs, and the slot's upper bits. */
typedef struct ir_expr_place {
  uint32_t *slot, tag;
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
 * any two expressions share the upper half in 2^-32 of all cases. */
IR_INLINE uint64_t ir_words_hash(const uint64_t *keys, ir_words n) {
  return (keys[0] + n.x) * (keys[1] + n.y) + (keys[2] + n.z) * (keys[3] + n.w) + keys[4] * n.head;
}

/* Looks through a line from slot |start| on. False if it is full and the expression not in it; else *found is its
 * handle, or 0 and place->slot the free one. place->tag is given. */
IR_INLINE bool ir_line_find(ir_expr_line *line, uint32_t start, const ir_expr *pool, ir_words n,
                                ir_expr_place *place, uint32_t *found) {
  for (uint32_t i = 0; i < IR_LINE_SLOTS; i++) {
    uint32_t *slot = &line->slots[(start + i) % IR_LINE_SLOTS];
    place->slot = slot;
    *found = *slot & IR_HANDLE;
    if (*slot == 0 || ((*slot & ~IR_HANDLE) == place->tag && ir_is_words(&pool[*found], n))) return true;
  }
  return false;
}

/* What ir_expr_set_find does for literals, and where a near line is full. */
uint32_t ir_expr_set_find_far(const ir_expr_set *set, const ir_expr *pool, ir_expr_place *place, uint32_t head,
                              uint32_t x, uint32_t y, uint32_t z, uint32_t w);

/* The handle of an expression, whose operands are in |pool|; 0 if it is not there, and *place is where
 * ir_expr_set_insert puts it. */
IR_INLINE uint32_t ir_expr_set_find(const ir_expr_set *set, const ir_expr *pool, ir_words n, ir_expr_place *place) {
  uint32_t found;
  if ((uint8_t)n.head != VYRE_OP_LIT) {
    uint32_t newest = n.x > n.y ? n.x : n.y, hash = (uint32_t)(ir_words_hash(set->keys, n) >> 32);
    if (n.z > newest) newest = n.z;
    *place = (ir_expr_place){ .tag = hash & ~IR_HANDLE };
    if (ir_line_find(&set->near.data[newest / IR_LINE_HANDLES], hash, pool, n, place, &found)) return found;
  }
  ir_expr_place far; /* so that *place may stay in registers */
  found = ir_expr_set_find_far(set, pool, &far, n.head, n.x, n.y, n.z, n.w);
  *place = far;
  return found;
}

/* What ir_expr_set_insert does once in a while: makes more lines, and finds the place again. */
bool ir_expr_set_grow(ir_expr_set *set, const ir_expr *pool, uint32_t handle, ir_expr_place *place);

/* Puts in the expression |handle|, the last one of |pool|. Every one of the pool must be told, in order; one whose
 * place has no slot will not be found. False without memory, and then it is not in the set. */
IR_INLINE bool ir_expr_set_insert(ir_expr_set *set, const ir_expr *pool, ir_expr_place place, uint32_t handle) {
  bool new_line = (handle + 1) % IR_LINE_HANDLES == 0; /* for what has the next handle as its newest operand */
  bool full = (new_line && set->near.count == set->near.capacity) ||
              (place.far && set->far_count == set->far_lines * (IR_LINE_SLOTS / 2));
  if (full) {
    ir_expr_place moved = place;
    if (!ir_expr_set_grow(set, pool, handle, &moved)) return false;
    place = moved;
  }
  if (new_line) set->near.data[set->near.count++] = (ir_expr_line){ { 0 } };
  if (place.slot != NULL) *place.slot = place.tag | handle;
  set->far_count += place.far;
  return true;
}

#endif
