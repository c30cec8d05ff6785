/* The set that finds equal expressions: near and far, crowded chains, growth, and memory that runs out. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "ir/expr_set.h"

/* A pool and the set over it. Operands are what the caller says: the set takes numbers for handles. */
typedef struct pool {
  ir_expr_set set;
  VYRE_VECTOR(ir_expr) exprs;
} pool;

static pool make_pool(void) {
  pool p = { 0 };
  ck_assert(ir_expr_set_init(&p.set));
  ck_assert(vyre_vector_push(&p.exprs, ((ir_expr){ 0 })));
  return p;
}

static void free_pool(pool *p) {
  ir_expr_set_free(&p->set);
  vyre_vector_free(&p->exprs);
}

static uint32_t find(const pool *p, ir_expr node) {
  ir_expr_place place;
  return ir_expr_set_find(&p->set, p->exprs.data, ir_words_of(&node), &place);
}

/* The handle of |node|, which is put in if it is new. */
static uint32_t add(pool *p, ir_expr node) {
  ir_expr_place place;
  uint32_t e = ir_expr_set_find(&p->set, p->exprs.data, ir_words_of(&node), &place);
  if (e != 0) return e;
  ck_assert(vyre_vector_push(&p->exprs, node));
  ck_assert(ir_expr_set_insert(&p->set, p->exprs.data, place, p->exprs.count - 1));
  return p->exprs.count - 1;
}

static ir_expr literal(vyre_type type, uint64_t bits) {
  return (ir_expr){ .op = VYRE_OP_LIT, .type = (uint8_t)type, .arg = { (uint32_t)bits, (uint32_t)(bits >> 32) } };
}

static ir_expr binary(vyre_op op, uint32_t x, uint32_t y) {
  return (ir_expr){ .op = (uint8_t)op, .type = VYRE_TYPE_U32, .arg = { x, y } };
}

START_TEST(every_field_tells_expressions_apart) {
  pool p = make_pool();
  for (uint32_t i = 0; i < 20; i++) add(&p, literal(VYRE_TYPE_U32, i));
  ir_expr node = { .op = VYRE_OP_ATOMIC_CAS, .type = VYRE_TYPE_U32, .aux = 1, .aux2 = 1, .arg = { 3, 4, 5, 1 } };
  uint32_t e = add(&p, node);
  ck_assert_uint_eq(add(&p, node), e);
  unsigned char *bytes = (unsigned char *)&node;
  for (size_t i = 0; i < sizeof node; i += i < 4 ? 1 : 4) {
    bytes[i] ^= 1;
    ck_assert_uint_eq(find(&p, node), 0);
    bytes[i] ^= 1;
  }
  free_pool(&p);
}
END_TEST

START_TEST(literals_are_told_apart_by_type_and_all_their_bits) {
  enum { COUNT = 3000 };
  pool p = make_pool();
  uint32_t handles[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) handles[i] = add(&p, literal(VYRE_TYPE_U64, i % 3 == 0 ? i : i << 20 | i << 40));
  for (uint64_t i = 0; i < COUNT; i++)
    ck_assert_uint_eq(add(&p, literal(VYRE_TYPE_U64, i % 3 == 0 ? i : i << 20 | i << 40)), handles[i]);
  ck_assert_uint_eq(find(&p, literal(VYRE_TYPE_I64, 3)), 0);
  ck_assert_uint_eq(find(&p, literal(VYRE_TYPE_U64, 3ull << 32 | 3)), 0);
  free_pool(&p);
}
END_TEST

/* Far more users of one operand than its chain may have. */
START_TEST(crowded_chains_go_on_far) {
  enum { LEAVES = 2000 };
  pool p = make_pool();
  for (uint32_t i = 1; i <= LEAVES; i++) ck_assert_uint_eq(add(&p, literal(VYRE_TYPE_U32, i)), i);
  for (uint32_t i = 1; i <= LEAVES; i++) add(&p, binary(VYRE_OP_ADD, i, LEAVES));
  ck_assert_uint_eq(p.exprs.count, 1 + 2 * LEAVES);
  ck_assert_uint_eq(p.set.far_count, 2 * LEAVES - IR_NEAR_MOST);
  for (uint32_t i = 1; i <= LEAVES; i++) ck_assert_uint_eq(find(&p, binary(VYRE_OP_ADD, i, LEAVES)), LEAVES + i);
  ck_assert_uint_eq(find(&p, binary(VYRE_OP_SUB, 7, LEAVES)), 0);
  ck_assert_uint_eq(find(&p, binary(VYRE_OP_ADD, LEAVES, 7)), 0);
  free_pool(&p);
}
END_TEST

/* Against a search through all that there is, with operands old and new. */
START_TEST(random_expressions_are_found_as_a_search_finds_them) {
  enum { COUNT = 4000 };
  for (uint64_t seed = 1; seed <= 4; seed++) {
    pool p = make_pool();
    uint64_t chance = seed;
    for (uint32_t i = 0; i < COUNT; i++) {
      uint32_t r[4];
      for (int k = 0; k < 4; k++) r[k] = vyre_hash_u64(chance++);
      uint32_t newest = p.exprs.count - 1, window = r[0] % 4 == 0 ? newest + 1 : newest < 12 ? newest + 1 : 12;
      ir_expr node = newest == 0 || r[0] % 8 == 1 ? literal(VYRE_TYPE_U32, r[1] % 500)
                                                  : binary(r[3] % 2 ? VYRE_OP_ADD : VYRE_OP_MUL, newest - r[1] % window,
                                                           newest - r[2] % window);
      uint32_t wanted = 0;
      for (uint32_t e = 1; e < p.exprs.count && wanted == 0; e++)
        if (memcmp(&p.exprs.data[e], &node, sizeof node) == 0) wanted = e;
      uint32_t count = p.exprs.count, e = add(&p, node);
      ck_assert_msg(e == (wanted != 0 ? wanted : count), "seed %u: expression %u is %u", (unsigned)seed, i, e);
    }
    free_pool(&p);
  }
}
END_TEST

START_TEST(expected_expressions_need_no_growth) {
  enum { COUNT = 4000 };
  pool p = make_pool();
  ck_assert(ir_expr_set_expect(&p.set, p.exprs.data, COUNT));
  const ir_expr_links *links = p.set.links.data;
  const uint32_t *far = p.set.far;
  for (uint32_t i = 1; i < COUNT; i++)
    ck_assert_uint_eq(add(&p, i % 8 == 1 ? literal(VYRE_TYPE_F32, i * 77) : binary(VYRE_OP_ADD, i - 1, i - 1)), i);
  ck_assert_ptr_eq(p.set.links.data, links);
  ck_assert_ptr_eq(p.set.far, far);
  free_pool(&p);
}
END_TEST

START_TEST(what_has_no_place_is_not_found) {
  pool p = make_pool();
  ir_expr var = { .op = VYRE_OP_VAR, .type = VYRE_TYPE_U32, .arg[3] = 1 };
  for (uint32_t i = 1; i < 100; i++) {
    ck_assert(vyre_vector_push(&p.exprs, var));
    ck_assert(ir_expr_set_insert(&p.set, p.exprs.data, (ir_expr_place){ 0 }, i));
  }
  ck_assert_uint_eq(find(&p, var), 0);
  ck_assert_uint_eq(add(&p, binary(VYRE_OP_ADD, 99, 1)), 100);
  ck_assert_uint_eq(find(&p, binary(VYRE_OP_ADD, 99, 1)), 100);
  free_pool(&p);
}
END_TEST

/* What could not be put in is not found, all else is. */
START_TEST(failed_growth_keeps_the_set) {
  pool p = make_pool();
  uint32_t failures = 0;
  for (uint32_t i = 1; i < 300; i++) {
    ir_expr node = i % 2 ? literal(VYRE_TYPE_U32, i * 1000) : binary(VYRE_OP_ADD, i - 1, i - 1);
    ir_expr_place place;
    ck_assert(vyre_vector_reserve(&p.exprs, 1));
    ck_assert_uint_eq(ir_expr_set_find(&p.set, p.exprs.data, ir_words_of(&node), &place), 0);
    p.exprs.data[p.exprs.count++] = node;
    for (uint64_t n = 1; n < 3; n++) { /* each of the two parts that may grow */
      ir_expr_set before = p.set;
      fail_malloc_at(n);
      bool good = ir_expr_set_insert(&p.set, p.exprs.data, place, i);
      bool failed = fail_malloc_end();
      ck_assert(good != failed);
      if (good) break;
      failures++;
      ck_assert_uint_eq(p.set.far_count, before.far_count);
      ck_assert_uint_eq(ir_expr_set_find(&p.set, p.exprs.data, ir_words_of(&node), &place), 0);
      if (n == 2) ck_assert(ir_expr_set_insert(&p.set, p.exprs.data, place, i));
    }
    for (uint32_t e = 1; e <= i; e++) ck_assert_uint_eq(find(&p, p.exprs.data[e]), e);
  }
  ck_assert(failures >= 4 || !fail_malloc_works());
  free_pool(&p);
}
END_TEST

int main(void) {
  return run_suite("expr_set", 60,
                   (const TTest *const[]){ every_field_tells_expressions_apart,
                                           literals_are_told_apart_by_type_and_all_their_bits, crowded_chains_go_on_far,
                                           random_expressions_are_found_as_a_search_finds_them,
                                           expected_expressions_need_no_growth, what_has_no_place_is_not_found,
                                           failed_growth_keeps_the_set, NULL });
}
