/* The rules of types, memory and statements, each against a table that is written down here from the language's
 * text, not from the builder: every operator with every combination of operand types, every access of every kind
 * of buffer with every element type, every conversion, literal and order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "ir/builder.h"

/* ---- Types --------------------------------------------------------------------------------- */

static const char *const arithmetic[] = { "bool",  "u32",   "i32",   "u64",   "i64",   "f32",  "f64",
                                          "u32x2", "u32x4", "i32x2", "i32x4", "f32x2", "f32x4" };
static const char *const elements[] = { "bool",  "u32",   "i32",   "u64",   "i64",   "f32",   "f64",
                                        "u32x2", "u32x4", "i32x2", "i32x4", "f32x2", "f32x4", "u8",
                                        "u16",   "i8",    "i16",   "f16",   "bf16" };
enum { ARITHMETIC = 13, ELEMENTS = 19 };

static vyre_type named(const char *spelling) { return ir_type_named(spelling, strlen(spelling)); }
static const char *spelled(vyre_type t) { return t == VYRE_TYPE_NONE ? "none" : vyre_type_describe(t)->spelling; }

/* Whether the blank-separated |list| holds |word|. */
static bool listed(const char *list, const char *word) {
  size_t bytes = strlen(word);
  for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (at[bytes] == ' ' || at[bytes] == 0)) return true;
  return false;
}

/* "u32" of "u32x4", and how many. */
static void split(const char *type, char component[8], int *lanes) {
  const char *x = strchr(type, 'x');
  size_t bytes = x != NULL ? (size_t)(x - type) : strlen(type);
  memcpy(component, type, bytes);
  component[bytes] = 0;
  *lanes = x != NULL ? x[1] - '0' : 1;
}

static bool is_vector(const char *type) { return strchr(type, 'x') != NULL; }

/* What a scalar becomes beside a vector: the vector of its type with as many components; itself if there is none. */
static const char *beside(const char *type, const char *other) {
  char component[8], text[16];
  int lanes;
  if (is_vector(type) || !is_vector(other)) return type;
  split(other, component, &lanes);
  snprintf(text, sizeof text, "%sx%d", type, lanes);
  for (int i = 0; i < ARITHMETIC; i++)
    if (strcmp(arithmetic[i], text) == 0) return arithmetic[i];
  return type;
}

/* ---- One attempt --------------------------------------------------------------------------- */

typedef struct attempt {
  vyre_builder *b;
  vyre_diagnostics *d;
} attempt;

static attempt begin(void) {
  attempt a;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, NULL, 0, &a.d), VYRE_OK);
  ck_assert_int_eq(vyre_builder_create("p", a.d, &a.b), VYRE_OK);
  return a;
}

static vyre_code first_code(const attempt *a) {
  vyre_diagnostic found;
  return vyre_diagnostics_get(a->d, 0, &found) ? found.code : VYRE_CODE_NONE;
}

static void end(attempt *a) {
  vyre_builder_destroy(a->b);
  vyre_diagnostics_destroy(a->d);
}

/* Some value of a type, never the constant 0. */
static vyre_expr some(vyre_builder *b, const char *spelling) {
  vyre_type type = named(spelling);
  const vyre_type_info *info = vyre_type_describe(type);
  if (info->lanes == 1) return vyre_build_literal(b, type, 1);
  vyre_expr component = vyre_build_literal(b, info->component, 1);
  return vyre_build_vector(b, type, &component, 1);
}

/* Ends an attempt that must have given |type| ("" for none, by fault |code|). */
static void expect(attempt *a, vyre_expr e, const char *type, vyre_code code, const char *what) {
  const char *found = e == 0 ? "" : spelled(vyre_build_type_of(a->b, e));
  ck_assert_msg(strcmp(found, type) == 0 && (type[0] != 0 || first_code(a) == code),
                "%s: wanted \"%s\" or %s, found \"%s\" and %s", what, type, vyre_code_name(code), found,
                vyre_code_name(first_code(a)));
  ck_assert_uint_eq(vyre_builder_errors(a->b), type[0] == 0);
  end(a);
}

/* ---- Operators of one and two operands ----------------------------------------------------- */

#define INTEGERS "u32 i32 u64 i64"
#define INTEGER_VECTORS "u32x2 u32x4 i32x2 i32x4"
#define FLOATS "f32 f64"
#define FLOAT_VECTORS "f32x2 f32x4"
#define NUMBERS INTEGERS " " FLOATS
#define VECTORS INTEGER_VECTORS " " FLOAT_VECTORS

/* The operators, the types that they take, the result (NULL: the operand's type), the code for a type that is
 * not one of these, and for two that differ. */
typedef struct rule {
  const char *ops, *types, *result;
  vyre_code outside, different;
  bool splats; /* a scalar may stand beside a vector of its type */
} rule;

static const rule unary_rules[] = {
  { "NEG", NUMBERS " " VECTORS, NULL, VYRE_V99, 0, false },
  { "ABS SIGN", "i32 i64 i32x2 i32x4 " FLOATS " " FLOAT_VECTORS, NULL, VYRE_V99, 0, false },
  { "BITNOT POPCOUNT CLZ CTZ REVERSE_BITS", INTEGERS " " INTEGER_VECTORS, NULL, VYRE_V101, 0, false },
  { "LNOT", "bool", NULL, VYRE_V100, 0, false },
  { "SQRT FLOOR CEIL ROUND TRUNC", FLOATS " " FLOAT_VECTORS, NULL, VYRE_V102, 0, false },
  { "IS_NAN IS_INF IS_FINITE", FLOATS, "bool", VYRE_V102, 0, false },
  { "RSQRT RCP EXP EXP2 LOG LOG2 SIN COS TAN ASIN ACOS ATAN SINH COSH TANH", FLOATS, NULL, VYRE_V102, 0, false },
  { "UNPACK4LO UNPACK4HI UNPACK8LO UNPACK8HI", "u32 i32", "u32", VYRE_V103, 0, false },
  { "SUBGROUP_ADD SUBGROUP_MUL SUBGROUP_MIN SUBGROUP_MAX SUBGROUP_INCLUSIVE_ADD SUBGROUP_INCLUSIVE_MIN "
    "SUBGROUP_INCLUSIVE_MAX SUBGROUP_EXCLUSIVE_ADD SUBGROUP_EXCLUSIVE_MIN SUBGROUP_EXCLUSIVE_MAX",
    NUMBERS, NULL, VYRE_V152, 0, false },
  { "SUBGROUP_ANY SUBGROUP_ALL", "bool", NULL, VYRE_V134, 0, false },
  { "SUBGROUP_BALLOT", "bool", "u32", VYRE_V134, 0, false },
};

static const rule binary_rules[] = {
  { "ADD SUB MUL DIV MIN MAX", NUMBERS " " VECTORS, NULL, VYRE_V87, VYRE_V88, true },
  { "MOD MULHI", INTEGERS " " INTEGER_VECTORS, NULL, VYRE_V89, VYRE_V90, true },
  { "BITAND BITOR BITXOR", INTEGERS " " INTEGER_VECTORS, NULL, VYRE_V91, VYRE_V93, true },
  { "EQ NE", "bool " NUMBERS, "bool", VYRE_V96, VYRE_V96, false },
  { "LT GT LE GE", NUMBERS, "bool", VYRE_V96, VYRE_V96, false },
  { "LAND LOR", "bool", NULL, VYRE_V95, VYRE_V95, false },
  { "ABSDIFF", "u32 u64", NULL, VYRE_V86, VYRE_V86, false },
  { "SAT_ADD SAT_SUB SAT_MUL", "u32 u64", NULL, VYRE_V85, VYRE_V85, false },
};

static const rule *rule_of(const rule *rules, size_t count, const char *op) {
  for (size_t i = 0; i < count; i++)
    if (listed(rules[i].ops, op)) return &rules[i];
  return NULL;
}

START_TEST(unary_operators_with_every_type) {
  unsigned covered = 0;
  for (vyre_op op = 1; op < VYRE_OP_COUNT; op++) {
    const char *name = vyre_op_describe(op)->name;
    const rule *r = rule_of(unary_rules, sizeof unary_rules / sizeof *unary_rules, name);
    if (r == NULL) continue;
    covered++;
    for (int i = 0; i < ARITHMETIC; i++) {
      attempt a = begin();
      const char *type = arithmetic[i], *result = r->result != NULL ? r->result : type;
      vyre_code outside = r->outside;
      expect(&a, vyre_build_unary(a.b, op, some(a.b, type)), listed(r->types, type) ? result : "", outside, name);
    }
  }
  ck_assert_uint_eq(covered, 49);
}
END_TEST

START_TEST(bitwise_subgroup_operations_with_every_type) {
  static const vyre_op ops[] = { VYRE_OP_SUBGROUP_AND, VYRE_OP_SUBGROUP_OR, VYRE_OP_SUBGROUP_XOR };
  for (size_t k = 0; k < 3; k++)
    for (int i = 0; i < ARITHMETIC; i++) {
      attempt a = begin();
      const char *type = arithmetic[i];
      bool floating = type[0] == 'f';
      expect(&a, vyre_build_unary(a.b, ops[k], some(a.b, type)), listed(INTEGERS, type) ? type : "",
             floating ? VYRE_V47 : VYRE_V152, "bitwise subgroup operation");
    }
}
END_TEST

static void check_binary(vyre_op op, const rule *r, const char *left, const char *right) {
  char what[64];
  attempt a = begin();
  const char *x = r->splats ? beside(left, right) : left, *y = r->splats ? beside(right, left) : right;
  bool inside = listed(r->types, x) && listed(r->types, y), same = strcmp(x, y) == 0;
  const char *result = inside && same ? r->result != NULL ? r->result : x : "";
  snprintf(what, sizeof what, "%s of %s and %s", vyre_op_describe(op)->name, left, right);
  expect(&a, vyre_build_binary(a.b, op, some(a.b, left), some(a.b, right)), result, inside ? r->different : r->outside,
         what);
}

START_TEST(binary_operators_with_every_pair_of_types) {
  unsigned covered = 0;
  for (vyre_op op = 1; op < VYRE_OP_COUNT; op++) {
    const rule *r = rule_of(binary_rules, sizeof binary_rules / sizeof *binary_rules, vyre_op_describe(op)->name);
    if (r == NULL) continue;
    covered++;
    for (int i = 0; i < ARITHMETIC; i++)
      for (int j = 0; j < ARITHMETIC; j++) check_binary(op, r, arithmetic[i], arithmetic[j]);
  }
  ck_assert_uint_eq(covered, 23);
}
END_TEST

START_TEST(shifts_and_rotates_with_every_pair_of_types) {
  static const vyre_op ops[] = { VYRE_OP_SHL, VYRE_OP_SHR, VYRE_OP_ROTL, VYRE_OP_ROTR };
  for (size_t k = 0; k < 4; k++)
    for (int i = 0; i < ARITHMETIC; i++)
      for (int j = 0; j < ARITHMETIC; j++) {
        attempt a = begin();
        const char *left = arithmetic[i], *right = arithmetic[j];
        char component[8];
        int lanes, count_lanes;
        split(left, component, &lanes);
        bool integer = listed(INTEGERS, component);
        split(right, component, &count_lanes);
        bool count = strcmp(component, "u32") == 0 && (count_lanes == 1 || count_lanes == lanes);
        expect(&a, vyre_build_binary(a.b, ops[k], some(a.b, left), some(a.b, right)), integer && count ? left : "",
               VYRE_V94, vyre_op_describe(ops[k])->name);
      }
}
END_TEST

START_TEST(shuffles_with_every_pair_of_types) {
  for (vyre_op op = VYRE_OP_SUBGROUP_BROADCAST; op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN; op++)
    for (int i = 0; i < ARITHMETIC; i++)
      for (int j = 0; j < ARITHMETIC; j++) {
        attempt a = begin();
        bool lane = strcmp(arithmetic[j], "u32") == 0, value = listed(NUMBERS, arithmetic[i]);
        expect(&a, vyre_build_binary(a.b, op, some(a.b, arithmetic[i]), some(a.b, arithmetic[j])),
               lane && value ? arithmetic[i] : "", lane ? VYRE_V152 : VYRE_V135, vyre_op_describe(op)->name);
      }
}
END_TEST

START_TEST(every_operator_has_a_rule_here) {
  for (vyre_op op = VYRE_OP_ADD; op <= VYRE_OP_UNPACK8HI; op++) {
    const char *name = vyre_op_describe(op)->name;
    bool shift = listed("SHL SHR ROTL ROTR", name);
    bool known = rule_of(unary_rules, sizeof unary_rules / sizeof *unary_rules, name) != NULL ||
                 rule_of(binary_rules, sizeof binary_rules / sizeof *binary_rules, name) != NULL;
    ck_assert_msg(shift || known, "%s has none", name);
  }
}
END_TEST

/* ---- Three operands ------------------------------------------------------------------------ */

START_TEST(select_with_every_triple_of_types) {
  for (int c = 0; c < ARITHMETIC; c++)
    for (int i = 0; i < ARITHMETIC; i++)
      for (int j = 0; j < ARITHMETIC; j++) {
        attempt a = begin();
        vyre_expr e = vyre_build_select(a.b, some(a.b, arithmetic[c]), some(a.b, arithmetic[i]), some(a.b, arithmetic[j]));
        expect(&a, e, c == 0 && i == j ? arithmetic[i] : "", c == 0 ? VYRE_V29 : VYRE_V134, "select");
      }
}
END_TEST

START_TEST(fma_with_every_triple_of_types) {
  for (int i = 0; i < ARITHMETIC; i++)
    for (int j = 0; j < ARITHMETIC; j++)
      for (int k = 0; k < ARITHMETIC; k++) {
        attempt a = begin();
        const char *types[3] = { arithmetic[i], arithmetic[j], arithmetic[k] }, *wanted = types[0];
        for (int t = 2; t >= 0; t--)
          if (is_vector(types[t])) wanted = types[t];
        bool good = listed(FLOATS " " FLOAT_VECTORS, wanted);
        for (int t = 0; t < 3; t++) good = good && strcmp(beside(types[t], wanted), wanted) == 0;
        vyre_expr e = vyre_build_fma(a.b, some(a.b, types[0]), some(a.b, types[1]), some(a.b, types[2]));
        expect(&a, e, good ? wanted : "", VYRE_V28, "fma");
      }
}
END_TEST

/* ---- Conversions, vectors, literals -------------------------------------------------------- */

START_TEST(conversions_between_every_pair_of_types) {
  static const struct {
    const char *to, *from, *gives;
  } narrow[] = { { "u8", "u32", "u32" },  { "u16", "u32", "u32" }, { "i8", "i32", "i32" },
                 { "i16", "i32", "i32" }, { "f16", "f32", "f32" }, { "bf16", "f32", "f32" } };
  const char *scalars = "bool " NUMBERS;
  for (int i = 0; i < ARITHMETIC; i++)
    for (int j = 0; j < ELEMENTS; j++) {
      attempt a = begin();
      const char *from = arithmetic[i], *to = elements[j], *result = "";
      if (listed(scalars, from) && listed(scalars, to)) result = to;
      for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++)
        if (strcmp(narrow[k].to, to) == 0 && strcmp(narrow[k].from, from) == 0) result = narrow[k].gives;
      expect(&a, vyre_build_cast(a.b, named(to), some(a.b, from)), result, VYRE_V12, to);
    }
}
END_TEST

START_TEST(bitcasts_between_every_pair_of_types) {
  static const char *const sizes[] = { "u32 i32 f32", "u64 i64 f64 u32x2 i32x2 f32x2", "u32x4 i32x4 f32x4" };
  for (int i = 0; i < ARITHMETIC; i++)
    for (int j = 0; j < ELEMENTS; j++) {
      attempt a = begin();
      const char *from = arithmetic[i], *to = elements[j];
      bool good = false;
      for (int s = 0; s < 3; s++) good = good || (listed(sizes[s], from) && listed(sizes[s], to));
      expect(&a, vyre_build_bitcast(a.b, named(to), some(a.b, from)), good ? to : "", VYRE_V12, to);
    }
}
END_TEST

START_TEST(vectors_from_every_type_and_number_of_components) {
  for (int i = 0; i < ELEMENTS; i++)
    for (int j = 0; j < ARITHMETIC; j++)
      for (uint32_t count = 0; count <= 5; count++) {
        attempt a = begin();
        char component[8];
        int lanes;
        split(elements[i], component, &lanes);
        vyre_expr values[5];
        for (uint32_t k = 0; k < 5; k++) values[k] = some(a.b, arithmetic[j]);
        vyre_expr e = vyre_build_vector(a.b, named(elements[i]), values, count);
        bool fits = is_vector(elements[i]) && (count == 1 || count == (uint32_t)lanes);
        bool good = fits && strcmp(component, arithmetic[j]) == 0;
        ck_assert_msg((e != 0) == good, "%s of %u %s", elements[i], count, arithmetic[j]);
        if (good) ck_assert_str_eq(spelled(vyre_build_type_of(a.b, e)), elements[i]);
        else ck_assert_int_eq(first_code(&a), VYRE_V148);
        end(&a);
      }
}
END_TEST

START_TEST(components_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++)
    for (uint32_t c = 0; c < 6; c++) {
      attempt a = begin();
      char component[8];
      int lanes;
      split(arithmetic[i], component, &lanes);
      bool good = is_vector(arithmetic[i]) && c < (uint32_t)lanes;
      expect(&a, vyre_build_extract(a.b, some(a.b, arithmetic[i]), c), good ? component : "", VYRE_V68, arithmetic[i]);
    }
}
END_TEST

START_TEST(literals_are_values_of_their_type) {
  static const struct {
    const char *type;
    uint64_t bits;
    bool good;
  } cases[] = {
    { "bool", 0, true },
    { "bool", 1, true },
    { "bool", 2, false },
    { "u32", 0xFFFFFFFF, true },
    { "u32", 0x100000000, false },
    { "i32", 0xFFFFFFFF, true },
    { "i32", 0xFFFFFFFFFFFFFFFF, false },
    { "u64", UINT64_MAX, true },
    { "i64", UINT64_MAX, true },
    { "f32", 0x3F800000, true },
    { "f32", 0x80000000, true },
    { "f32", 0x7F800000, true },
    { "f32", 0xFF800000, true },
    { "f32", 0x7FC00000, true },
    { "f32", 0xFFC00000, false },
    { "f32", 0x7F800001, false },
    { "f32", 0x100000000, false },
    { "f64", 0x3FF0000000000000, true },
    { "f64", 0xFFF0000000000000, true },
    { "f64", 0x7FF8000000000000, true },
    { "f64", 0x7FF8000000000001, false },
    { "f64", 0xFFF8000000000000, false },
    { "u32x2", 1, false },
    { "u8", 1, false },
    { "f16", 0, false },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attempt a = begin();
    expect(&a, vyre_build_literal(a.b, named(cases[i].type), cases[i].bits), cases[i].good ? cases[i].type : "",
           VYRE_V145, cases[i].type);
  }
  attempt a = begin();
  ck_assert_uint_eq(vyre_build_literal(a.b, VYRE_TYPE_NONE, 0), 0);
  ck_assert_int_eq(first_code(&a), VYRE_V145);
  ck_assert_uint_eq(vyre_build_f32(a.b, -__builtin_nanf("7")), vyre_build_literal(a.b, VYRE_TYPE_F32, 0x7FC00000));
  ck_assert_uint_eq(vyre_build_f64(a.b, -__builtin_nan("7")), vyre_build_literal(a.b, VYRE_TYPE_F64, 0x7FF8000000000000));
  ck_assert_uint_eq(vyre_build_i32(a.b, -1), vyre_build_literal(a.b, VYRE_TYPE_I32, 0xFFFFFFFF));
  end(&a);
}
END_TEST

/* ---- Leaves -------------------------------------------------------------------------------- */

START_TEST(leaves_and_their_axes) {
  static const struct {
    const char *ops, *type;
    uint32_t axes;
  } rules[] = { { "GID WID LID NWG", "u32", 3 },
                { "LANE SUBGROUP_SIZE SUBGROUP_ID NUM_SUBGROUPS", "u32", 1 },
                { "CLOCK_NS", "u64", 1 },
                { "SHOULD_STOP", "bool", 1 } };
  for (vyre_op op = 0; op < VYRE_OP_COUNT; op++)
    for (uint32_t axis = 0; axis < 5; axis++) {
      attempt a = begin();
      const char *type = "", *name = op != VYRE_OP_NONE ? vyre_op_describe(op)->name : "none";
      vyre_code code = VYRE_V136;
      for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!listed(rules[i].ops, name)) continue;
        type = axis < rules[i].axes ? rules[i].type : "";
        code = VYRE_V68;
      }
      expect(&a, vyre_build_leaf(a.b, op, axis), type, code, name);
    }
}
END_TEST

START_TEST(parameters_are_scalars_with_arithmetic) {
  for (int i = 0; i < ELEMENTS; i++) {
    attempt a = begin();
    bool good = listed("bool " NUMBERS, elements[i]);
    expect(&a, vyre_build_param(a.b, "x", named(elements[i])), good ? elements[i] : "", VYRE_V136, elements[i]);
  }
}
END_TEST

START_TEST(builder_entries_take_only_their_operators) {
  for (vyre_op op = 0; op <= VYRE_OP_COUNT; op++) {
    attempt a = begin();
    vyre_expr one = vyre_build_u32(a.b, 1);
    vyre_binding s = vyre_build_buffer(a.b, VYRE_ACCESS_SHARED, "s", VYRE_TYPE_U32, 4);
    bool plain = (op >= VYRE_OP_ADD && op <= VYRE_OP_UNPACK8HI) ||
                 (op >= VYRE_OP_SUBGROUP_ADD && op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN);
    uint32_t arity = plain ? vyre_op_describe(op)->arity : 0;
    bool memory = op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD;
    bool atomic = op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE;
    bool length = op == VYRE_OP_LEN || op == VYRE_OP_LEN64;
    vyre_expr made = 0;
    if (arity != 1) made |= vyre_build_unary(a.b, op, one);
    if (arity != 2) made |= vyre_build_binary(a.b, op, one, one);
    if (!length) made |= vyre_build_len(a.b, op, s);
    if (!memory) made |= vyre_build_load(a.b, op, s, one);
    if (!atomic) made |= vyre_build_atomic(a.b, op, s, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
    ck_assert_uint_eq(made, 0);
    ck_assert_int_eq(vyre_builder_errors(a.b), (arity != 1) + (arity != 2) + !length + !memory + !atomic);
    end(&a);
  }
}
END_TEST

/* ---- Memory -------------------------------------------------------------------------------- */

/* Section 4 of the language, and tables. */
static const struct {
  vyre_access access;
  bool load, store, atomic, workgroup_load, length;
} accesses[] = {
  { VYRE_ACCESS_READ, true, false, false, true, false },
  { VYRE_ACCESS_WRITE, false, true, false, false, false },
  { VYRE_ACCESS_RW, true, true, true, true, false },
  { VYRE_ACCESS_SHARED, true, true, true, true, true },
  { VYRE_ACCESS_LOCAL, true, true, false, false, true },
  { VYRE_ACCESS_TABLE, true, false, false, true, true },
};

static vyre_binding declare(vyre_builder *b, vyre_access access, const char *element) {
  static const uint64_t zeros[8];
  if (access == VYRE_ACCESS_TABLE) return vyre_build_table(b, "t", named(element), zeros, 2);
  return vyre_build_buffer(b, access, "t", named(element), 2);
}

static const char *widened(const char *element) {
  if (listed("u8 u16", element)) return "u32";
  if (listed("i8 i16", element)) return "i32";
  return listed("f16 bf16", element) ? "f32" : element;
}

START_TEST(loads_of_every_access_and_element) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
    for (int j = 0; j < ELEMENTS; j++)
      for (vyre_op op = VYRE_OP_LOAD; op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD; op++) {
        attempt a = begin();
        vyre_binding t = declare(a.b, accesses[i].access, elements[j]);
        bool good = op == VYRE_OP_WORKGROUP_UNIFORM_LOAD ? accesses[i].workgroup_load : accesses[i].load;
        expect(&a, vyre_build_load(a.b, op, t, vyre_build_u32(a.b, 1)), good ? widened(elements[j]) : "", VYRE_V65,
               elements[j]);
      }
}
END_TEST

START_TEST(stores_of_every_access_element_and_value) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
    for (int j = 0; j < ELEMENTS; j++)
      for (int k = 0; k < ARITHMETIC; k++) {
        attempt a = begin();
        vyre_binding t = declare(a.b, accesses[i].access, elements[j]);
        vyre_build_store(a.b, t, vyre_build_u32(a.b, 1), some(a.b, arithmetic[k]));
        bool type = strcmp(widened(elements[j]), arithmetic[k]) == 0;
        vyre_code wanted = !accesses[i].store ? VYRE_V63 : type ? VYRE_CODE_NONE : VYRE_V121;
        ck_assert_int_eq(first_code(&a), wanted);
        end(&a);
      }
}
END_TEST

START_TEST(lengths_of_every_access) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
    attempt a = begin();
    vyre_binding t = declare(a.b, accesses[i].access, "f32");
    ck_assert_str_eq(spelled(vyre_build_type_of(a.b, vyre_build_len(a.b, VYRE_OP_LEN, t))), "u32");
    ck_assert_str_eq(spelled(vyre_build_type_of(a.b, vyre_build_len(a.b, VYRE_OP_LEN64, t))), "u64");
    end(&a);
  }
}
END_TEST

START_TEST(declared_lengths_of_every_access) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
    vyre_access access = accesses[i].access;
    attempt a = begin();
    vyre_binding t = access == VYRE_ACCESS_TABLE ? vyre_build_table(a.b, "t", VYRE_TYPE_U32, NULL, 0)
                                                 : vyre_build_buffer(a.b, access, "t", VYRE_TYPE_U32, 0);
    ck_assert_int_eq(t == VYRE_NO_BINDING, accesses[i].length);
    ck_assert_int_eq(first_code(&a), accesses[i].length ? VYRE_V109 : VYRE_CODE_NONE);
    end(&a);
  }
}
END_TEST

START_TEST(indices_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++) {
    attempt a = begin();
    bool good = listed("u32 u64", arithmetic[i]);
    vyre_binding t = declare(a.b, VYRE_ACCESS_RW, "u32");
    expect(&a, vyre_build_load(a.b, VYRE_OP_LOAD, t, some(a.b, arithmetic[i])), good ? "u32" : "", VYRE_V133, "load");
    a = begin();
    t = declare(a.b, VYRE_ACCESS_RW, "u32");
    vyre_build_store(a.b, t, some(a.b, arithmetic[i]), vyre_build_u32(a.b, 1));
    ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V122);
    end(&a);
    a = begin();
    t = declare(a.b, VYRE_ACCESS_RW, "u32");
    expect(&a, vyre_build_atomic(a.b, VYRE_OP_ATOMIC_LOAD, t, some(a.b, arithmetic[i]), 0, 0, VYRE_ORDER_RELAXED,
                                 VYRE_SCOPE_DEFAULT),
           good ? "u32" : "", VYRE_V27, "atomic");
  }
}
END_TEST

/* An index that is known is checked against a length that is known. */
START_TEST(constant_indices_against_fixed_lengths) {
  static const struct {
    uint64_t length, index;
    bool good;
  } cases[] = { { 2, 0, true }, { 2, 1, true }, { 2, 2, false }, { 2, UINT64_MAX, false }, { 0, 5, true } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int use = 0; use < 3; use++) {
      attempt a = begin();
      vyre_binding t = vyre_build_buffer(a.b, VYRE_ACCESS_RW, "t", VYRE_TYPE_U32, cases[i].length);
      vyre_expr index = vyre_build_u64(a.b, cases[i].index), one = vyre_build_u32(a.b, 1);
      if (use == 0) vyre_build_load(a.b, VYRE_OP_LOAD, t, index);
      if (use == 1) vyre_build_store(a.b, t, index, one);
      if (use == 2) vyre_build_atomic(a.b, VYRE_OP_ATOMIC_ADD, t, index, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
      ck_assert_int_eq(first_code(&a), cases[i].good ? VYRE_CODE_NONE : VYRE_V36);
      end(&a);
    }
}
END_TEST

START_TEST(atomics_of_every_access) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
    for (vyre_op op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_STORE; op++) {
      attempt a = begin();
      vyre_binding t = declare(a.b, accesses[i].access, "u32");
      vyre_expr one = vyre_build_u32(a.b, 1);
      vyre_build_atomic(a.b, op, t, one, one, one, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
      ck_assert_int_eq(first_code(&a), accesses[i].atomic ? VYRE_CODE_NONE : VYRE_V9);
      end(&a);
    }
}
END_TEST

START_TEST(atomics_of_every_element_and_value) {
  for (vyre_op op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_STORE; op++)
    for (int i = 0; i < ELEMENTS; i++)
      for (int j = 0; j < ARITHMETIC; j++) {
        attempt a = begin();
        const char *element = elements[i];
        bool has = listed(INTEGERS, element) || (op == VYRE_OP_ATOMIC_ADD && strcmp(element, "f32") == 0) ||
                   (op == VYRE_OP_ATOMIC_LOAD && strcmp(element, "u32x4") == 0);
        bool fits = op == VYRE_OP_ATOMIC_LOAD || strcmp(element, arithmetic[j]) == 0;
        vyre_code fault = !has ? VYRE_V14 : op == VYRE_OP_ATOMIC_CAS ? VYRE_V58 : VYRE_V57;
        vyre_binding t = declare(a.b, VYRE_ACCESS_RW, element);
        vyre_expr value = some(a.b, arithmetic[j]);
        vyre_expr desired = has && op == VYRE_OP_ATOMIC_CAS ? some(a.b, element) : 0;
        vyre_expr e = vyre_build_atomic(a.b, op, t, vyre_build_u32(a.b, 1), value, desired, VYRE_ORDER_RELAXED,
                                        VYRE_SCOPE_DEFAULT);
        const char *gives = op == VYRE_OP_ATOMIC_STORE ? "none" : element;
        expect(&a, e, has && fits ? gives : "", fault, vyre_op_describe(op)->name);
      }
}
END_TEST

START_TEST(the_desired_value_of_a_cas_has_the_elements_type) {
  for (int i = 0; i < ARITHMETIC; i++) {
    attempt a = begin();
    vyre_binding t = declare(a.b, VYRE_ACCESS_SHARED, "i64");
    vyre_expr e = vyre_build_atomic(a.b, VYRE_OP_ATOMIC_CAS, t, vyre_build_u32(a.b, 1), some(a.b, "i64"),
                                    some(a.b, arithmetic[i]), VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
    expect(&a, e, strcmp(arithmetic[i], "i64") == 0 ? "i64" : "", VYRE_V57, arithmetic[i]);
  }
}
END_TEST

START_TEST(orders_of_every_atomic_and_fence) {
  for (vyre_op op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_STORE; op++)
    for (uint32_t order = 0; order < 7; order++)
      for (uint32_t scope = 0; scope < 6; scope++) {
        attempt a = begin();
        const char *takes = op == VYRE_OP_ATOMIC_LOAD    ? "0 1 4"
                            : op == VYRE_OP_ATOMIC_STORE ? "0 2 4"
                                                         : "0 1 2 3 4";
        char digit[2] = { (char)('0' + order), 0 };
        bool good = listed(takes, digit) && scope <= VYRE_SCOPE_DEFAULT;
        vyre_binding t = declare(a.b, VYRE_ACCESS_RW, "u32");
        vyre_expr one = vyre_build_u32(a.b, 1);
        vyre_build_atomic(a.b, op, t, one, one, one, (vyre_order)order, (vyre_scope)scope);
        ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V42);
        end(&a);
      }
  for (uint32_t order = 0; order < 7; order++)
    for (uint32_t scope = 0; scope < 6; scope++) {
      attempt a = begin();
      vyre_build_fence(a.b, (vyre_order)order, (vyre_scope)scope);
      bool good = order >= 1 && order <= 4 && scope <= VYRE_SCOPE_DEFAULT;
      ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V42);
      end(&a);
    }
}
END_TEST

START_TEST(the_default_scope_is_the_memorys_own) {
  attempt a = begin();
  vyre_binding storage = declare(a.b, VYRE_ACCESS_RW, "u32");
  vyre_binding shared = vyre_build_buffer(a.b, VYRE_ACCESS_SHARED, "s", VYRE_TYPE_U32, 4);
  vyre_expr one = vyre_build_u32(a.b, 1);
  ck_assert_uint_eq(
    vyre_build_atomic(a.b, VYRE_OP_ATOMIC_ADD, storage, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT),
    vyre_build_atomic(a.b, VYRE_OP_ATOMIC_ADD, storage, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE));
  ck_assert_uint_eq(
    vyre_build_atomic(a.b, VYRE_OP_ATOMIC_ADD, shared, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT),
    vyre_build_atomic(a.b, VYRE_OP_ATOMIC_ADD, shared, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_WORKGROUP));
  end(&a);
}
END_TEST

/* ---- Division by zero ---------------------------------------------------------------------- */

static vyre_expr cast(vyre_builder *b, const char *type, vyre_expr e) { return vyre_build_cast(b, named(type), e); }

START_TEST(constant_zero_divisors) {
  static const vyre_op ops[] = { VYRE_OP_DIV, VYRE_OP_MOD };
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 7; i++) {
      attempt a = begin();
      vyre_builder *b = a.b;
      vyre_expr zero = vyre_build_u32(b, 0), low = vyre_build_u32(b, 256), one = vyre_build_u32(b, 1);
      struct {
        vyre_expr divisor;
        const char *type;
        bool good;
      } cases[] = {
        { zero, "u32", false },
        { cast(b, "i64", zero), "i64", false },
        { cast(b, "u8", low), "u32", false },
        { cast(b, "u32", vyre_build_bool(b, false)), "u32", false },
        { cast(b, "u16", low), "u32", true },
        { one, "u32", true },
        { vyre_build_vector(b, VYRE_TYPE_U32X2, &zero, 1), "u32x2", false },
      };
      expect(&a, vyre_build_binary(b, ops[k], some(b, cases[i].type), cases[i].divisor),
             cases[i].good ? cases[i].type : "", VYRE_V44, "division");
    }
  attempt a = begin();
  expect(&a, vyre_build_binary(a.b, VYRE_OP_DIV, some(a.b, "f32"), vyre_build_f32(a.b, 0.0f)), "f32", 0, "floats divide");
}
END_TEST

/* ---- Statements ---------------------------------------------------------------------------- */

START_TEST(conditions_codes_and_pauses_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++) {
    const char *type = arithmetic[i];
    attempt a = begin();
    vyre_build_if(a.b, some(a.b, type));
    ck_assert_int_eq(first_code(&a), strcmp(type, "bool") == 0 ? VYRE_CODE_NONE : VYRE_V123);
    end(&a);
    a = begin();
    vyre_build_trap(a.b, some(a.b, type));
    ck_assert_int_eq(first_code(&a), strcmp(type, "u32") == 0 ? VYRE_CODE_NONE : VYRE_V139);
    end(&a);
    a = begin();
    vyre_build_pause(a.b, some(a.b, type));
    ck_assert_int_eq(first_code(&a), strcmp(type, "u32") == 0 ? VYRE_CODE_NONE : VYRE_V139);
    end(&a);
    a = begin();
    vyre_expr arg = some(a.b, type);
    vyre_build_print(a.b, "{}", &arg, 1);
    ck_assert_int_eq(first_code(&a), is_vector(type) ? VYRE_V139 : VYRE_CODE_NONE);
    end(&a);
  }
}
END_TEST

START_TEST(loop_bounds_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++)
    for (int j = 0; j < ARITHMETIC; j++)
      for (int k = -1; k < ARITHMETIC; k++) {
        attempt a = begin();
        vyre_var v = vyre_build_for(a.b, "i", some(a.b, arithmetic[i]), some(a.b, arithmetic[j]),
                                    k < 0 ? 0 : some(a.b, arithmetic[k]));
        bool integer = listed(INTEGERS, arithmetic[i]), same = i == j && (k < 0 || i == k);
        ck_assert_int_eq(first_code(&a), !integer ? VYRE_V124 : !same ? VYRE_V125 : VYRE_CODE_NONE);
        if (integer && same) ck_assert_str_eq(spelled(vyre_build_var_type(a.b, v)), arithmetic[i]);
        else ck_assert_uint_eq(v, VYRE_NO_VAR);
        end(&a);
      }
}
END_TEST

START_TEST(assignments_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++)
    for (int j = 0; j < ARITHMETIC; j++) {
      attempt a = begin();
      vyre_var v = vyre_build_declare(a.b, VYRE_STMT_VAR, "v", some(a.b, arithmetic[i]));
      ck_assert_str_eq(spelled(vyre_build_var_type(a.b, v)), arithmetic[i]);
      vyre_build_assign(a.b, v, some(a.b, arithmetic[j]));
      ck_assert_int_eq(first_code(&a), i == j ? VYRE_CODE_NONE : VYRE_V45);
      end(&a);
    }
}
END_TEST

START_TEST(only_vars_are_assigned) {
  attempt a = begin();
  vyre_var v = vyre_build_declare(a.b, VYRE_STMT_LET, "v", vyre_build_u32(a.b, 1));
  vyre_build_assign(a.b, v, vyre_build_u32(a.b, 2));
  ck_assert_int_eq(first_code(&a), VYRE_V120);
  end(&a);
  a = begin();
  vyre_expr one = vyre_build_u32(a.b, 1);
  v = vyre_build_for(a.b, "v", one, one, 0);
  vyre_build_assign(a.b, v, one);
  ck_assert_int_eq(first_code(&a), VYRE_V11);
  end(&a);
}
END_TEST

START_TEST(copies_between_every_pair_of_buffers) {
  for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
    for (size_t j = 0; j < sizeof accesses / sizeof *accesses; j++)
      for (int kind = 0; kind < 4; kind++) {
        attempt a = begin();
        static const uint64_t zeros[2];
        bool same = kind & 1, workgroup = kind & 2;
        vyre_access to = accesses[i].access, from = accesses[j].access;
        vyre_binding dst = declare(a.b, to, "u16");
        vyre_type element = same ? VYRE_TYPE_U16 : VYRE_TYPE_I16;
        vyre_binding src = from == VYRE_ACCESS_TABLE ? vyre_build_table(a.b, "s", element, zeros, 2)
                                                     : vyre_build_buffer(a.b, from, "s", element, 2);
        vyre_expr one = vyre_build_u32(a.b, 1);
        vyre_build_copy_async(a.b, workgroup, dst, one, src, vyre_build_u64(a.b, 1), one);
        bool own = workgroup && (to == VYRE_ACCESS_LOCAL || from == VYRE_ACCESS_LOCAL);
        bool good = accesses[i].store && accesses[j].load && same && !own;
        ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V137);
        end(&a);
      }
}
END_TEST

START_TEST(copy_operands_of_every_type) {
  for (int i = 0; i < ARITHMETIC; i++)
    for (int place = 0; place < 3; place++) {
      attempt a = begin();
      vyre_binding t = declare(a.b, VYRE_ACCESS_RW, "u32");
      vyre_expr one = vyre_build_u32(a.b, 1), odd = some(a.b, arithmetic[i]);
      vyre_build_copy_async(a.b, false, t, place == 0 ? odd : one, t, place == 1 ? odd : one, place == 2 ? odd : one);
      bool good = listed(place < 2 ? "u32 u64" : "u32", arithmetic[i]);
      ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V137);
      end(&a);
    }
}
END_TEST

START_TEST(statements_without_operands) {
  for (uint32_t op = 0; op <= VYRE_STMT_COUNT; op++) {
    attempt a = begin();
    vyre_build_loop(a.b);
    vyre_build_simple(a.b, (vyre_stmt_op)op);
    bool good = op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE || op == VYRE_STMT_RETURN ||
                op == VYRE_STMT_BARRIER || op == VYRE_STMT_GRID_BARRIER || op == VYRE_STMT_COMMIT;
    ck_assert_int_eq(first_code(&a), good ? VYRE_CODE_NONE : VYRE_V147);
    end(&a);
  }
}
END_TEST

START_TEST(only_atomics_stand_alone) {
  for (vyre_op op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_STORE; op++) {
    attempt a = begin();
    vyre_binding t = declare(a.b, VYRE_ACCESS_RW, "u32");
    vyre_expr one = vyre_build_u32(a.b, 1);
    vyre_build_eval(a.b, vyre_build_atomic(a.b, op, t, one, one, one, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT));
    ck_assert_int_eq(first_code(&a), VYRE_CODE_NONE);
    end(&a);
  }
  attempt a = begin();
  vyre_build_eval(a.b, vyre_build_leaf(a.b, VYRE_OP_SHOULD_STOP, 0));
  ck_assert_int_eq(first_code(&a), VYRE_V147);
  end(&a);
}
END_TEST

/* An atomic store has no value, wherever one is asked. */
START_TEST(what_has_no_value_is_used_nowhere) {
  for (int use = 0; use < 9; use++) {
    attempt a = begin();
    vyre_binding t = declare(a.b, VYRE_ACCESS_RW, "u32");
    vyre_expr one = vyre_build_u32(a.b, 1);
    vyre_expr none = vyre_build_atomic(a.b, VYRE_OP_ATOMIC_STORE, t, one, one, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
    switch (use) {
      case 0: vyre_build_unary(a.b, VYRE_OP_BITNOT, none); break;
      case 1: vyre_build_binary(a.b, VYRE_OP_ADD, one, none); break;
      case 2: vyre_build_select(a.b, vyre_build_bool(a.b, true), one, none); break;
      case 3: vyre_build_load(a.b, VYRE_OP_LOAD, t, none); break;
      case 4: vyre_build_declare(a.b, VYRE_STMT_LET, "v", none); break;
      case 5: vyre_build_store(a.b, t, one, none); break;
      case 6: vyre_build_if(a.b, none); break;
      case 7: vyre_build_cast(a.b, VYRE_TYPE_U32, none); break;
      default: vyre_build_print(a.b, "{}", &none, 1); break;
    }
    ck_assert_int_eq(first_code(&a), VYRE_V146);
    end(&a);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { unary_operators_with_every_type,
                                 bitwise_subgroup_operations_with_every_type,
                                 binary_operators_with_every_pair_of_types,
                                 shifts_and_rotates_with_every_pair_of_types,
                                 shuffles_with_every_pair_of_types,
                                 every_operator_has_a_rule_here,
                                 select_with_every_triple_of_types,
                                 fma_with_every_triple_of_types,
                                 conversions_between_every_pair_of_types,
                                 bitcasts_between_every_pair_of_types,
                                 vectors_from_every_type_and_number_of_components,
                                 components_of_every_type,
                                 literals_are_values_of_their_type,
                                 leaves_and_their_axes,
                                 parameters_are_scalars_with_arithmetic,
                                 builder_entries_take_only_their_operators,
                                 loads_of_every_access_and_element,
                                 stores_of_every_access_element_and_value,
                                 lengths_of_every_access,
                                 declared_lengths_of_every_access,
                                 indices_of_every_type,
                                 constant_indices_against_fixed_lengths,
                                 atomics_of_every_access,
                                 atomics_of_every_element_and_value,
                                 the_desired_value_of_a_cas_has_the_elements_type,
                                 orders_of_every_atomic_and_fence,
                                 the_default_scope_is_the_memorys_own,
                                 constant_zero_divisors,
                                 conditions_codes_and_pauses_of_every_type,
                                 loop_bounds_of_every_type,
                                 assignments_of_every_type,
                                 only_vars_are_assigned,
                                 copies_between_every_pair_of_buffers,
                                 copy_operands_of_every_type,
                                 statements_without_operands,
                                 only_atomics_stand_alone,
                                 what_has_no_value_is_used_nowhere,
                                 NULL };
  return run_suite("builder rules", 60, tests);
}
