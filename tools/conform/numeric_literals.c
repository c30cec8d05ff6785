/* Operators with an operand that stands in the program: compilers divide by multiplying then, shift without masking,
 * and drop what they take for the identity. */
#include <stdio.h>
#include <string.h>

#include "numeric.h"

/* ---- Integers: every operator with each literal ------------------------------------------------ */

static const char *const unsigned_literals[] = {"1", "2", "3", "5", "7", "8", "10", "641", "1000000007"};
static const char *const signed_literals[] = {"1", "2", "3", "7", "10", "-1", "-2", "-3", "-8", "-1000000007"};
static const char *const counts[] = {"0", "1", "5", "31", "32", "33", "63", "64", "4294967295"};

/* |b| is the literal. */
static const char *const with_literal[] = {"a[i] / b", "a[i] % b", "a[i] * b",     "a[i] + b",
                                           "a[i] - b", "b - a[i]", "a[i] & b",     "a[i] | b",
                                           "a[i] ^ b", "b / a[i]", "min(a[i], b)", "mulhi(a[i], b)"};
static const char *const with_count[] = {"a[i] << b", "a[i] >> b", "rotl(a[i], b)", "rotr(a[i], b)"};

typedef struct literal_type {
  const char *name;
  vyre_type type;
  const char *least, *most;
  bool is_signed;
} literal_type;

static const literal_type literal_types[] = {
    {"u32", VYRE_TYPE_U32, "0x80000000", "0xFFFFFFFF", false},
    {"i32", VYRE_TYPE_I32, "-2147483648", "2147483647", true},
    {"u64", VYRE_TYPE_U64, "0x8000000000000000", "0xFFFFFFFFFFFFFFFF", false},
    {"i64", VYRE_TYPE_I64, "-9223372036854775808", "9223372036854775807", true},
};

static bool try_expression(kit *k, const char *type, const char *literal_type_name, const char *literal,
                           const char *expression, const numeric_column *a) {
  char text[NUMERIC_TEXT], name[128];
  numeric_print(text,
                "program p workgroup(64) { const b: %s = %s; read a: %s[]; write r: %s[]; let i = gid.x;"
                "if (i < len(r)) { r[i] = %s; } }",
                literal_type_name, literal, type, type, expression);
  snprintf(name, sizeof name, "%s with b = %s of %s, a of %s", expression, literal, literal_type_name, type);
  kit_buffer buffers[] = {numeric_input("a", a), numeric_output("r", a->count)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 2};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

static void try_literals(kit *k, const literal_type *t, const numeric_column *a) {
  const char *const *list = t->is_signed ? signed_literals : unsigned_literals;
  size_t count = t->is_signed ? sizeof signed_literals / sizeof *signed_literals
                              : sizeof unsigned_literals / sizeof *unsigned_literals;
  for (size_t e = 0; e < sizeof with_literal / sizeof *with_literal; e++) {
    for (size_t n = 0; n < count && !kit_is_full(k); n++)
      try_expression(k, t->name, t->name, list[n], with_literal[e], a);
    try_expression(k, t->name, t->name, t->least, with_literal[e], a);
    try_expression(k, t->name, t->name, t->most, with_literal[e], a);
  }
  for (size_t e = 0; e < sizeof with_count / sizeof *with_count; e++)
    for (size_t n = 0; n < sizeof counts / sizeof *counts && !kit_is_full(k); n++)
      try_expression(k, t->name, "u32", counts[n], with_count[e], a);
}

void check_literals(kit *k) {
  for (size_t n = 0; n < sizeof literal_types / sizeof *literal_types && !kit_is_full(k); n++) {
    numeric_column a;
    if (!numeric_cross(&literal_types[n].type, 1, UINT32_MAX, 128, kit_random(k), &a)) {
      kit_fail(k, "memory is exhausted");
      return;
    }
    try_literals(k, &literal_types[n], &a);
    numeric_columns_free(&a, 1);
  }
  numeric_conclude(k);
}

/* ---- What looks like an identity and is none --------------------------------------------------- */

typedef struct identity {
  const char *type, *result, *expression;
} identity;

static const identity identities[] = {
#define X(type, result, expression) {#type, #result, expression},
#include "identities.def"
#undef X
};

static vyre_type type_named(const char *name) {
#define X(id, spelling, bytes, lanes, component, value, wire)                                                          \
  if (strcmp(name, spelling) == 0) return VYRE_TYPE_##id;
#include <vyre/types.def>
#undef X
  return VYRE_TYPE_NONE;
}

static bool try_identity(kit *k, const identity *t) {
  char text[NUMERIC_TEXT], name[160];
  numeric_column columns[2];
  vyre_type types[] = {type_named(t->type), type_named(t->type)};
  if (!numeric_cross(types, 2, UINT32_MAX, 256, kit_random(k), columns)) return kit_fail(k, "memory is exhausted");
  numeric_print(text,
                "program p workgroup(64) { read x: %s[]; read y: %s[]; write r: %s[]; let i = gid.x;"
                "if (i < len(r)) { let a = x[i]; let b = y[i]; r[i] = %s; } }",
                t->type, t->type, t->result, t->expression);
  snprintf(name, sizeof name, "%s of %s", t->expression, t->type);
  kit_buffer buffers[] = {numeric_input("x", &columns[0]), numeric_input("y", &columns[1]),
                          numeric_output("r", columns[0].count)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 3};
  numeric_outcome outcome = numeric_try(k, &c, false);
  numeric_columns_free(columns, 2);
  return outcome != NUMERIC_DIFFERS;
}

void check_identities(kit *k) {
  for (size_t n = 0; n < sizeof identities / sizeof *identities && !kit_is_full(k); n++)
    try_identity(k, &identities[n]);
  numeric_conclude(k);
}
