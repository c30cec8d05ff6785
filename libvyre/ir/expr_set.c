/* Two places to look: a line of slots by the newest operand, then a hash set. */
#include "ir/expr_set.h"

enum { HANDLE = (1u << IR_HANDLE_BITS) - 1 };

void ir_expr_set_init(ir_expr_set *set) {
  *set = (ir_expr_set){ 0 };
  vyre_hash_keys(set->keys, IR_EXPR_KEYS);
}

void ir_expr_set_free(ir_expr_set *set) {
  vyre_vector_free(&set->near);
  vyre_index_set_free(&set->far);
}

bool ir_expr_set_expect(ir_expr_set *set, uint32_t count) {
  return vyre_vector_reserve(&set->near, count / IR_LINE_HANDLES + 1);
}

/* Field by field: the node was just written in small stores, and wider loads would wait for them. */
static inline uint32_t head_of(const ir_expr *node) {
  return (uint32_t)node->op | (uint32_t)node->type << 8 | (uint32_t)node->aux << 16 | (uint32_t)node->aux2 << 24;
}

static inline bool same_node(const ir_expr *a, const ir_expr *b) {
  return head_of(a) == head_of(b) && a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] && a->arg[2] == b->arg[2] &&
         a->arg[3] == b->arg[3];
}

/* Pair-multiply-shift (Thorup, "High speed hashing for integers and strings", 2015, section 3.5): with random keys
 * any two nodes collide in 2^-32 of all cases. |first| stands for arg[0]. */
static inline uint32_t hash_node(const uint64_t *keys, const ir_expr *node, uint32_t first) {
  uint64_t h = (keys[0] + first) * (keys[1] + node->arg[1]) + (keys[2] + node->arg[2]) * (keys[3] + node->arg[3]) +
               keys[4] * head_of(node);
  return (uint32_t)(h >> 32);
}

static inline uint32_t newest_operand(const ir_expr *node) {
  uint32_t newest = node->arg[0] > node->arg[1] ? node->arg[0] : node->arg[1];
  return node->arg[2] > newest ? node->arg[2] : newest;
}

static uint32_t find_far(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node, ir_expr_place *place) {
  *place = (ir_expr_place){ .hash = place->hash, .cursor = place->hash };
  for (;;) {
    uint32_t e = vyre_index_set_next(&set->far, place->hash, &place->cursor);
    if (e == UINT32_MAX) return 0;
    if (same_node(&pool[e], node)) return e;
  }
}

uint32_t ir_expr_set_find(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node, ir_expr_place *place) {
  if (node->op == VYRE_OP_LIT) { /* numbers that follow each other stand beside each other */
    uint32_t value = node->arg[0];
    place->hash = hash_node(set->keys, node, value / 8) + value % 8;
    return find_far(set, pool, node, place);
  }
  uint32_t *line = set->near.data[newest_operand(node) / IR_LINE_HANDLES].slots;
  uint32_t hash = place->hash = hash_node(set->keys, node, node->arg[0]);
  for (uint32_t i = 0; i < IR_LINE_SLOTS; i++) {
    uint32_t *slot = &line[(hash + i) % IR_LINE_SLOTS];
    if (*slot == 0) {
      place->near = slot;
      return 0;
    }
    if (((*slot ^ hash) & ~HANDLE) == 0 && same_node(&pool[*slot & HANDLE], node)) return *slot & HANDLE;
  }
  return find_far(set, pool, node, place);
}

void ir_expr_set_insert(ir_expr_set *set, const ir_expr_place *place, uint32_t handle) {
  if (place->near != NULL) *place->near = (place->hash & ~HANDLE) | handle;
  else vyre_index_set_insert(&set->far, place->hash, place->cursor, handle);
}
