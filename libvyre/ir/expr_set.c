/* How the far chains become more. */
#include "ir/expr_set.h"

enum { FIRST_CHAINS = 64 };

bool ir_expr_set_init(ir_expr_set *set) {
  *set = (ir_expr_set){ .far = calloc(FIRST_CHAINS, sizeof *set->far), .far_chains = FIRST_CHAINS };
  vyre_hash_keys(set->keys, IR_EXPR_KEYS);
  return set->far != NULL && vyre_vector_push(&set->links, ((ir_expr_links){ 0, 0 }));
}

void ir_expr_set_free(ir_expr_set *set) {
  vyre_vector_free(&set->links);
  free(set->far);
}

/* Makes the far chains |chains|. */
static bool spread(ir_expr_set *set, const ir_expr *pool, uint32_t chains) {
  ir_expr_set wide = *set;
  wide.far = calloc(chains, sizeof *wide.far);
  if (wide.far == NULL) return false;
  wide.far_chains = chains;
  for (uint32_t i = 0; i < set->far_chains; i++) {
    for (uint32_t e = set->far[i], next; e != 0; e = next) {
      uint32_t *chain = ir_far_chain(&wide, ir_words_of(&pool[e]));
      next = wide.links.data[e].next;
      wide.links.data[e].next = *chain;
      *chain = e;
    }
  }
  free(set->far);
  *set = wide;
  return true;
}

bool ir_expr_set_grow(ir_expr_set *set, const ir_expr *pool, uint32_t handle, ir_expr_place *place) {
  if (!vyre_vector_reserve(&set->links, 1)) return false;
  if (place->far && set->far_count == set->far_chains && !spread(set, pool, set->far_chains * 2)) return false;
  if (place->chain != NULL) ir_expr_set_find(set, pool, ir_words_of(&pool[handle]), place);
  return true;
}

/* Of the programs that people write, about an eighth are literals. */
bool ir_expr_set_expect(ir_expr_set *set, const ir_expr *pool, uint32_t count) {
  uint32_t chains = set->far_chains;
  while (chains < count / 4) chains *= 2;
  return vyre_vector_reserve(&set->links, count) && (chains == set->far_chains || spread(set, pool, chains));
}
