/* Two places to look: a line of slots by the newest operand, then a hash set. */
#include "ir/expr_set.h"

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

uint32_t ir_expr_set_find_far(const ir_expr_set *set, const ir_expr *pool, const ir_expr *node, ir_expr_place *place) {
  place->near = NULL;
  place->cursor = place->hash;
  for (;;) {
    uint32_t e = vyre_index_set_next(&set->far, place->hash, &place->cursor);
    if (e == UINT32_MAX) return 0;
    if (ir_same_expr(&pool[e], node)) return e;
  }
}
