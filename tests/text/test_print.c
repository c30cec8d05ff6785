/* Printing is exact: what is printed parses to an equal program, and prints the same again. */
#include "../gen/random_program.h"
#include "kit.h"

static void check_exact(const vyre_program *program, const char *what) {
  char *printed = kit_print(program);
  vyre_diagnostics *d;
  vyre_program *again;
  ck_assert_int_eq(vyre_diagnostics_create(what, printed, strlen(printed), &d), VYRE_OK);
  if (vyre_text_parse(printed, strlen(printed), NULL, d, &again, NULL) != VYRE_OK)
    ck_abort_msg("%s: %s\n%s", what, vyre_diagnostics_render(d), printed);
  ck_assert_msg(vyre_program_equal(program, again), "%s: printing changed the program to\n%s", what, printed);
  char *twice = kit_print(again);
  ck_assert_str_eq(printed, twice);
  char *formatted;
  ck_assert_int_eq(vyre_text_format(printed, strlen(printed), NULL, &formatted, NULL, NULL), VYRE_OK);
  ck_assert_msg(strcmp(printed, formatted) == 0, "%s: the formatter would change what is printed:\n%s", what,
                formatted);
  free(formatted);
  free(twice);
  free(printed);
  vyre_program_release(again);
  vyre_diagnostics_destroy(d);
}

START_TEST(random_programs) {
  for (uint64_t seed = 1; seed <= 1500; seed++) {
    vyre_program *program;
    char what[32];
    snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
    ck_assert_int_eq(random_program(seed, NULL, NULL, &program, NULL), VYRE_OK);
    check_exact(program, what);
    vyre_program_release(program);
  }
}
END_TEST

/* ---- Trees of operators over all kinds of operands ----------------------------------------- */

/* A random expression of |type|, mostly of literals and operators, where precedence and suffixes matter most. */
static vyre_expr make_tree(vyre_builder *b, random_source *r, vyre_expr x, vyre_type type, uint32_t depth) {
  static const vyre_op whole[] = {VYRE_OP_ADD,    VYRE_OP_SUB, VYRE_OP_MUL, VYRE_OP_BITAND, VYRE_OP_BITOR,
                                  VYRE_OP_BITXOR, VYRE_OP_MIN, VYRE_OP_NEG, VYRE_OP_BITNOT};
  static const vyre_op real[] = { VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL, VYRE_OP_DIV, VYRE_OP_MAX, VYRE_OP_NEG };
  static const vyre_op orders[] = { VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT, VYRE_OP_GT, VYRE_OP_LE, VYRE_OP_GE };
  static const vyre_op logic[] = { VYRE_OP_LAND, VYRE_OP_LOR, VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LNOT };
  static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64,
                                    VYRE_TYPE_I64, VYRE_TYPE_F32, VYRE_TYPE_F64};
  bool floats = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  if (depth == 0 || random_chance(r, 20)) {
    if (random_chance(r, 30)) return vyre_build_cast(b, type, x);
    if (type == VYRE_TYPE_BOOL) return vyre_build_bool(b, random_chance(r, 50));
    uint64_t bits = random_bits(r);
    if (type == VYRE_TYPE_F32) return vyre_build_f32(b, (float)(int64_t)bits / 1e15f);
    if (type == VYRE_TYPE_F64) return vyre_build_f64(b, (double)(int64_t)bits / 1e15);
    bool wide = type == VYRE_TYPE_U64 || type == VYRE_TYPE_I64;
    if (random_chance(r, 60)) bits = (uint64_t)((int64_t)(bits % 9) - 4);
    if (type == VYRE_TYPE_U64 && random_chance(r, 80)) bits &= 0xFF;
    return vyre_build_literal(b, type, wide ? bits : (uint32_t)bits);
  }
  if (random_chance(r, 10))
    return vyre_build_select(b, make_tree(b, r, x, VYRE_TYPE_BOOL, depth - 1), make_tree(b, r, x, type, depth - 1),
                             make_tree(b, r, x, type, depth - 1));
  if (random_chance(r, 10)) return vyre_build_cast(b, type, make_tree(b, r, x, types[random_below(r, 6)], depth - 1));
  if (type == VYRE_TYPE_BOOL && random_chance(r, 50)) {
    vyre_type of = types[random_below(r, 6)];
    return vyre_build_binary(b, orders[random_below(r, 6)], make_tree(b, r, x, of, depth - 1),
                             make_tree(b, r, x, of, depth - 1));
  }
  if (!floats && type != VYRE_TYPE_BOOL && random_chance(r, 15))
    return vyre_build_binary(b, random_chance(r, 50) ? VYRE_OP_SHL : VYRE_OP_ROTR, make_tree(b, r, x, type, depth - 1),
                             make_tree(b, r, x, VYRE_TYPE_U32, depth - 1));
  vyre_op op = type == VYRE_TYPE_BOOL ? logic[random_below(r, 5)]
               : floats               ? real[random_below(r, 6)]
                                      : whole[random_below(r, 9)];
  vyre_expr left = make_tree(b, r, x, type, depth - 1);
  if (vyre_op_describe(op)->arity == 1) return vyre_build_unary(b, op, left);
  return vyre_build_binary(b, op, left, make_tree(b, r, x, type, depth - 1));
}

START_TEST(random_trees) {
  random_source r = { 42 };
  for (int round = 0; round < 400; round++) {
    vyre_builder *b;
    vyre_program *program;
    ck_assert_int_eq(vyre_builder_create("trees", NULL, &b), VYRE_OK);
    vyre_binding u = vyre_build_buffer(b, VYRE_ACCESS_RW, "u", VYRE_TYPE_U64, 0);
    vyre_expr x = vyre_build_param(b, "x", VYRE_TYPE_U32), i = vyre_build_u32(b, 0);
    for (int k = 0; k < 8; k++) {
      vyre_type type = (vyre_type)(VYRE_TYPE_BOOL + random_below(&r, 7));
      char name[8];
      snprintf(name, sizeof name, "r%d", k);
      vyre_build_declare(b, random_chance(&r, 50) ? VYRE_STMT_LET : VYRE_STMT_VAR, name, make_tree(b, &r, x, type, 5));
    }
    vyre_build_store(b, u, make_tree(b, &r, x, VYRE_TYPE_U32, 3), make_tree(b, &r, x, VYRE_TYPE_U64, 5));
    vyre_build_store(b, u, i, make_tree(b, &r, x, VYRE_TYPE_U64, 5));
    vyre_type of = (vyre_type)(VYRE_TYPE_U32 + random_below(&r, 4));
    vyre_build_for(b, "i", make_tree(b, &r, x, of, 2), make_tree(b, &r, x, of, 2),
                   random_chance(&r, 50) ? make_tree(b, &r, x, of, 2) : 0);
    vyre_build_end(b);
    ck_assert_int_eq(vyre_builder_finish(b, &program, NULL), VYRE_OK);
    char what[32];
    snprintf(what, sizeof what, "round %d", round);
    check_exact(program, what);
    vyre_program_release(program);
    vyre_builder_destroy(b);
  }
}
END_TEST

/* ---- Floats and tables --------------------------------------------------------------------- */

START_TEST(every_kind_of_float) {
  random_source r = { 7 };
  vyre_builder *b;
  vyre_program *program;
  ck_assert_int_eq(vyre_builder_create("floats", NULL, &b), VYRE_OK);
  vyre_binding f = vyre_build_buffer(b, VYRE_ACCESS_WRITE, "f", VYRE_TYPE_F32, 0);
  vyre_binding d = vyre_build_buffer(b, VYRE_ACCESS_WRITE, "d", VYRE_TYPE_F64, 0);
  vyre_expr i = vyre_build_u32(b, 0);
  for (int k = 0; k < 20000; k++) {
    uint64_t bits = random_bits(&r);
    if (k % 4 == 1) bits &= 0x807FFFFF807FFFFFu; /* subnormals of f32 */
    if (k % 4 == 2) bits &= 0x800FFFFFFFFFFFFFu; /* and of f64 */
    uint32_t low = (uint32_t)bits;
    if ((low & 0x7F800000) == 0x7F800000) low &= 0xFF800000;
    if ((bits & 0x7FF0000000000000u) == 0x7FF0000000000000u) bits &= 0xFFF0000000000000u;
    vyre_build_store(b, f, i, vyre_build_literal(b, VYRE_TYPE_F32, low));
    vyre_build_store(b, d, i, vyre_build_literal(b, VYRE_TYPE_F64, bits));
  }
  vyre_build_store(b, f, i, vyre_build_literal(b, VYRE_TYPE_F32, 0x7FC00000));
  vyre_build_store(b, d, i, vyre_build_literal(b, VYRE_TYPE_F64, 0x7FF8000000000000u));
  ck_assert_int_eq(vyre_builder_finish(b, &program, NULL), VYRE_OK);
  check_exact(program, "floats");
  vyre_program_release(program);
  vyre_builder_destroy(b);
}
END_TEST

START_TEST(tables_of_every_type) {
  random_source r = { 9 };
  vyre_builder *b;
  vyre_program *program;
  ck_assert_int_eq(vyre_builder_create("tables", NULL, &b), VYRE_OK);
  for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    uint64_t data[2 * 300];
    char name[8];
    for (int i = 0; i < 600; i++) data[i] = random_bits(&r);
    snprintf(name, sizeof name, "t%d", (int)type);
    vyre_build_table(b, name, type, data, 300);
  }
  ck_assert_int_eq(vyre_builder_finish(b, &program, NULL), VYRE_OK);
  check_exact(program, "tables");
  vyre_program_release(program);
  vyre_builder_destroy(b);
}
END_TEST

START_TEST(long_else_if_chains_and_rows) {
  vyre_builder *b;
  vyre_program *program;
  ck_assert_int_eq(vyre_builder_create("chain", NULL, &b), VYRE_OK);
  vyre_expr c = vyre_build_param(b, "c", VYRE_TYPE_BOOL);
  for (int i = 0; i < 50000; i++) {
    vyre_build_if(b, c);
    vyre_build_else(b);
  }
  for (int i = 0; i < 50000; i++) vyre_build_end(b);
  ck_assert_int_eq(vyre_builder_finish(b, &program, NULL), VYRE_OK);
  check_exact(program, "chain");
  vyre_program_release(program);
  vyre_builder_destroy(b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      random_programs, random_trees, every_kind_of_float, tables_of_every_type, long_else_if_chains_and_rows, NULL};
  return run_suite("print", 240, tests);
}
