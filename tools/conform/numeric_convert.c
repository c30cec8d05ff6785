/* Conversions: every pair of types that T(x) and bitcast<T>(x) take, narrow types on all their values, and how vectors
 * are made and taken apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

/* |expression| of a[i], from every element of |a|. */
static bool try_column(kit *k, const numeric_column *a, vyre_type result, const char *expression, const char *name) {
  char text[NUMERIC_TEXT];
  numeric_print(text,
                "program p workgroup(64) { read a: %s[]; write r: %s[]; let i = gid.x;"
                "if (i < len(r)) { r[i] = %s; } }",
                numeric_spelling(a->type), numeric_spelling(result), expression);
  kit_buffer buffers[] = {numeric_input("a", a), numeric_output("r", a->count)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 2};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

static bool try_edges(kit *k, vyre_type from, vyre_type result, const char *expression, const char *name) {
  numeric_column a;
  if (!numeric_cross(&from, 1, UINT32_MAX, 4096, kit_random(k), &a)) return kit_fail(k, "memory is exhausted");
  bool same = try_column(k, &a, result, expression, name);
  numeric_columns_free(&a, 1);
  return same;
}

/* ---- T(x) -------------------------------------------------------------------------------------- */

static bool is_scalar_value(vyre_type type) {
  const vyre_type_info *info = vyre_type_describe(type);
  return info->lanes == 1 && info->value == type;
}

static bool is_narrow(vyre_type type) {
  return vyre_type_describe(type)->value != type;
}

/* To |to| from |from|; the narrow types are taken from their wide one alone. */
static bool is_conversion(vyre_type from, vyre_type to) {
  if (!is_scalar_value(from)) return false;
  return is_scalar_value(to) || (is_narrow(to) && vyre_type_describe(to)->value == from);
}

void check_conversions(kit *k) {
  char expression[96], name[96];
  for (vyre_type from = VYRE_TYPE_NONE + 1; from < VYRE_TYPE_COUNT; from++)
    for (vyre_type to = VYRE_TYPE_NONE + 1; to < VYRE_TYPE_COUNT && !kit_is_full(k); to++) {
      if (!is_conversion(from, to)) continue;
      snprintf(expression, sizeof expression, "%s(a[i])", numeric_spelling(to));
      snprintf(name, sizeof name, "%s of %s", numeric_spelling(to), numeric_spelling(from));
      try_edges(k, from, vyre_type_describe(to)->value, expression, name);
    }
  numeric_conclude(k);
}

/* ---- bitcast<T>(x) ----------------------------------------------------------------------------- */

static bool is_bitcast(vyre_type from, vyre_type to) {
  if (is_narrow(from) || is_narrow(to) || from == VYRE_TYPE_BOOL || to == VYRE_TYPE_BOOL) return false;
  return vyre_type_describe(from)->bytes == vyre_type_describe(to)->bytes;
}

/* Floats are cast once more, so that every bit is seen. */
void check_bitcasts(kit *k) {
  char expression[96], name[96];
  for (vyre_type from = VYRE_TYPE_NONE + 1; from < VYRE_TYPE_COUNT; from++)
    for (vyre_type to = VYRE_TYPE_NONE + 1; to < VYRE_TYPE_COUNT && !kit_is_full(k); to++) {
      if (!is_bitcast(from, to)) continue;
      vyre_type result = numeric_words(to);
      if (result == to)
        snprintf(expression, sizeof expression, "bitcast<%s>(a[i])", numeric_spelling(to));
      else
        snprintf(expression, sizeof expression, "bitcast<%s>(bitcast<%s>(a[i]))", numeric_spelling(result),
                 numeric_spelling(to));
      snprintf(name, sizeof name, "bitcast<%s> of %s", numeric_spelling(to), numeric_spelling(from));
      try_edges(k, from, result, expression, name);
    }
  numeric_conclude(k);
}

/* ---- Narrow types ------------------------------------------------------------------------------ */

/* Every value of a type of 8 or 16 bits. */
static bool all_values(vyre_type type, numeric_column *out) {
  uint32_t bytes = vyre_type_describe(type)->bytes;
  uint64_t count = (uint64_t)1 << (8 * bytes);
  *out = (numeric_column){type, count, malloc(count * bytes)};
  for (uint64_t n = 0; out->bytes && n < count; n++) numeric_put(type, out->bytes, n, n);
  return out->bytes != NULL;
}

/* A load of every value. The one NaN that widening gives is a NaN of any bits. */
void check_narrow_loads(kit *k) {
  char name[96];
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT && !kit_is_full(k); type++) {
    numeric_column a;
    if (!is_narrow(type)) continue;
    if (!all_values(type, &a)) {
      kit_fail(k, "memory is exhausted");
      return;
    }
    snprintf(name, sizeof name, "load of %s", numeric_spelling(type));
    try_column(k, &a, vyre_type_describe(type)->value, "a[i]", name);
    numeric_columns_free(&a, 1);
  }
  numeric_conclude(k);
}

enum { NARROWED = 65536 };

/* What is stored: for floats patterns around what |type| can hold, and its ties, from below, exactly and from above. */
static uint32_t narrowed_bits(vyre_type type, uint64_t n, uint64_t random) {
  static const uint32_t f16_ends[] = {0, 0xFFF, 0x1000, 0x1001, 0x1FFF, 1, 0x800, 0x1800};
  static const uint32_t bf16_ends[] = {0, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 1, 0x4000, 0xC000};
  uint32_t bits = (uint32_t)random;
  if (type == VYRE_TYPE_BF16) return (bits & 0xFFFF0000) | bf16_ends[n % 8];
  if (type != VYRE_TYPE_F16 || n % 4 == 3) return bits;
  return (bits & 0x807FE000) | (100 + (bits >> 23 & 0xFF) % 46) << 23 | f16_ends[n / 4 % 8];
}

static bool narrowed_values(vyre_type type, uint64_t seed, numeric_column *out) {
  vyre_type wide = vyre_type_describe(type)->value;
  uint32_t edges = numeric_edge_count(wide);
  *out = (numeric_column){wide, edges + NARROWED, malloc((edges + NARROWED) * sizeof(uint32_t))};
  if (!out->bytes) return false;
  for (uint32_t n = 0; n < edges; n++) {
    uint64_t bits;
    if (numeric_edge(wide, n, &bits)) numeric_put(wide, out->bytes, n, bits);
  }
  for (uint64_t n = 0; n < NARROWED; n++)
    numeric_put(wide, out->bytes, edges + n, narrowed_bits(type, n, numeric_random(&seed)));
  return true;
}

static bool check_narrow_store(kit *k, vyre_type type) {
  char expression[96], name[96];
  numeric_column a;
  if (!narrowed_values(type, kit_random(k), &a)) return kit_fail(k, "memory is exhausted");
  snprintf(name, sizeof name, "store of %s", numeric_spelling(type));
  bool same = try_column(k, &a, type, "a[i]", name);
  snprintf(expression, sizeof expression, "%s(a[i])", numeric_spelling(type));
  snprintf(name, sizeof name, "%s of %s", numeric_spelling(type), numeric_spelling(a.type));
  same = try_column(k, &a, a.type, expression, name) && same;
  numeric_columns_free(&a, 1);
  return same;
}

/* Only some elements are stored: what lies beside them in the same word stays. */
static bool check_neighbours(kit *k, vyre_type type) {
  char text[NUMERIC_TEXT], name[96];
  numeric_column a;
  if (!all_values(type, &a)) return kit_fail(k, "memory is exhausted");
  if (a.count > 4099) a.count = 4099;
  numeric_print(text,
                "program p workgroup(33) { rw b: %s[]; let i = gid.x; if (i %% 3 != 1 && i < len(b)) {"
                "if (i %% 2 == 0) { b[i] = b[i]; } else { b[i] = %s(i * 37); } } }",
                numeric_spelling(type), numeric_spelling(vyre_type_describe(type)->value));
  snprintf(name, sizeof name, "stores of %s beside each other", numeric_spelling(type));
  kit_buffer buffers[] = {numeric_input("b", &a)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 1};
  numeric_outcome outcome = numeric_try(k, &c, true);
  numeric_columns_free(&a, 1);
  return outcome != NUMERIC_DIFFERS;
}

void check_narrow_stores(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT && !kit_is_full(k); type++)
    if (is_narrow(type) && check_narrow_store(k, type)) check_neighbours(k, type);
  numeric_conclude(k);
}

/* ---- Vectors ----------------------------------------------------------------------------------- */

/* VEC2, VEC4, SPLAT, EXTRACT, and a component that is assigned; $1 is the type. */
static const char *const pair_expressions[] = {"$1(a[i].y, a[i].x)", "$1(a[i].x)", "$1(a[i].x, a[i].x)"};
static const char *const quad_expressions[] = {"$1(a[i].w, a[i].z, a[i].y, a[i].x)", "$1(a[i].z)",
                                               "$1(a[i].y, a[i].y, a[i].w, a[i].x)"};

static bool check_components(kit *k, vyre_type type) {
  const vyre_type_info *info = vyre_type_describe(type);
  char expression[NUMERIC_TEXT], cast[160], text[NUMERIC_TEXT], name[160];
  numeric_column a;
  if (!numeric_cross(&type, 1, UINT32_MAX, 256, kit_random(k), &a)) return kit_fail(k, "memory is exhausted");
  const char *const *list = info->lanes == 2 ? pair_expressions : quad_expressions;
  vyre_type words = numeric_words(type);
  for (int n = 0; n < 3; n++) {
    numeric_expand(expression, list[n], &info->spelling);
    snprintf(cast, sizeof cast, "bitcast<%s>(%.120s)", numeric_spelling(words), expression);
    try_column(k, &a, words, words == type ? expression : cast, expression);
  }
  for (uint32_t lane = 0; lane < info->lanes; lane++) {
    char component = "xyzw"[lane];
    numeric_print(text,
                  "program p workgroup(64) { read a: %s[]; write r: %s[]; let i = gid.x; if (i < len(r)) {"
                  "var v = a[i]; v.%c = a[i + 1].x; r[i] = bitcast<%s>(v); } }",
                  info->spelling, numeric_spelling(words), component, numeric_spelling(words));
    if (words == type)
      numeric_print(text,
                    "program p workgroup(64) { read a: %s[]; write r: %s[]; let i = gid.x; if (i < len(r)) {"
                    "var v = a[i]; v.%c = a[i + 1].x; r[i] = v; } }",
                    info->spelling, info->spelling, component);
    snprintf(name, sizeof name, "v.%c = a[i + 1].x of %s", component, info->spelling);
    kit_buffer buffers[] = {numeric_input("a", &a), numeric_output("r", a.count)};
    kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 2};
    numeric_try(k, &c, false);
  }
  numeric_columns_free(&a, 1);
  return !kit_is_over(k);
}

void check_vectors(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT && !kit_is_full(k); type++)
    if (vyre_type_describe(type)->lanes > 1) check_components(k, type);
  numeric_conclude(k);
}
