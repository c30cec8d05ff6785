/* The far lines, and how they become more. */
#include "ir/expr_set.h"

enum { FIRST_LINES = 8 };

bool ir_expr_set_init(ir_expr_set *set) {
  *set = (ir_expr_set){ .far = calloc(FIRST_LINES, sizeof *set->far), .far_lines = FIRST_LINES };
  vyre_hash_keys(set->keys, IR_EXPR_KEYS);
  return set->far != NULL && vyre_vector_push(&set->near, ((ir_expr_line){ { 0 } }));
}

void ir_expr_set_free(ir_expr_set *set) {
  vyre_vector_free(&set->near);
  free(set->far);
}

/* Going on from line to line takes more of a hash than that two of them are seldom equal: hence a second mixing. */
uint32_t ir_expr_set_find_far(const ir_expr_set *set, const ir_expr *pool, ir_expr_place *place, uint32_t head,
                              uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  ir_words n = { head, x, y, z, w }, neighbours = n;
  uint32_t start, found;
  if ((uint8_t)head == VYRE_OP_LIT) {
    neighbours.x /= IR_LINE_SLOTS / 2;
    start = n.x * 2; /* so that two such rows have room in a line */
    *place = (ir_expr_place){ .tag = n.x << IR_HANDLE_BITS, .far = true };
  } else {
    start = (uint32_t)(ir_words_hash(set->keys, n) >> 32);
    *place = (ir_expr_place){ .tag = start & ~IR_HANDLE, .far = true };
  }
  uint32_t line = vyre_hash_u64(ir_words_hash(set->keys, neighbours));
  while (!ir_line_find(&set->far[line & (set->far_lines - 1)], start, pool, n, place, &found)) line++;
  return found;
}

/* Makes the far lines |lines|. */
static bool spread(ir_expr_set *set, const ir_expr *pool, uint32_t lines) {
  ir_expr_set wide = *set;
  wide.far = calloc(lines, sizeof *wide.far);
  if (wide.far == NULL) return false;
  wide.far_lines = lines;
  for (uint32_t i = 0; i < set->far_lines * IR_LINE_SLOTS; i++) {
    uint32_t handle = set->far[i / IR_LINE_SLOTS].slots[i % IR_LINE_SLOTS] & IR_HANDLE;
    ir_expr_place place;
    if (handle == 0) continue;
    ir_words n = ir_words_of(&pool[handle]);
    ir_expr_set_find_far(&wide, pool, &place, n.head, n.x, n.y, n.z, n.w);
    *place.slot = place.tag | handle;
  }
  free(set->far);
  *set = wide;
  return true;
}

bool ir_expr_set_grow(ir_expr_set *set, const ir_expr *pool, uint32_t handle, ir_expr_place *place) {
  bool far = place->far && set->far_count == set->far_lines * (IR_LINE_SLOTS / 2);
  if (!vyre_vector_reserve(&set->near, 1) || (far && !spread(set, pool, set->far_lines * 2))) return false;
  if (place->slot != NULL) ir_expr_set_find(set, pool, ir_words_of(&pool[handle]), place);
  return true;
}

/* Of the programs that people write, about an eighth are literals. */
bool ir_expr_set_expect(ir_expr_set *set, const ir_expr *pool, uint32_t count) {
  uint32_t lines = set->far_lines;
  while (lines < count / 8 / (IR_LINE_SLOTS / 2)) lines *= 2;
  bool room = vyre_vector_reserve(&set->near, count / IR_LINE_HANDLES + 1);
  return room && (lines == set->far_lines || spread(set, pool, lines));
}
