/* Memory: elements of every type in every kind of buffer, parameters, lengths, and accesses out of range, which read 0
 * and write nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

/* A value of |type| as one of numeric_words(type). */
static void write_words(vyre_type type, const char *value, char out[128]) {
  if (numeric_words(type) == type)
    snprintf(out, 128, "%s", value);
  else
    snprintf(out, 128, "bitcast<%s>(%s)", numeric_spelling(numeric_words(type)), value);
}

/* ---- Every type through every kind of buffer ---------------------------------------------------- */

typedef struct way {
  const char *name, *declaration, *before, *value; /* $1 is the type */
} way;

static const way ways[] = {
    {"copied", "", "", "a[i]"},
    {"through shared memory", "shared m: $1[48];", "m[lid.x] = a[i]; barrier;", "m[47 - lid.x]"},
    {"through local memory", "local m: $1[5];", "m[i % 5] = a[i + 1]; m[(i + 1) % 5] = a[i];", "m[(i + 1) % 5]"},
    {"from fresh shared memory", "shared m: $1[48];", "let v = m[lid.x]; barrier; m[lid.x] = a[i];", "v"},
    {"from fresh local memory", "local m: $1[5];", "let v = m[i % 5]; m[i % 5] = a[i];", "v"},
    {"by grid_uniform_load", "", "", "grid_uniform_load(a[nwg.x])"},
    {"by workgroup_uniform_load", "shared m: $1[48];", "m[lid.x] = a[i];", "workgroup_uniform_load(m[wid.x % 48])"},
    {"through a variable", "", "var v = a[i + 2]; if (i % 3 == 0) { v = a[i]; }", "v"},
};

/* |shift| moves both views, so that they begin anywhere that an alignment allows. */
static bool try_way(kit *k, vyre_type type, const way *w, uint64_t shift) {
  char pattern[NUMERIC_TEXT], text[NUMERIC_TEXT], name[96], value[128];
  numeric_column a;
  if (!numeric_cross(&type, 1, UINT32_MAX, 997, kit_random(k), &a)) return kit_fail(k, "memory is exhausted");
  write_words(type, w->value, value);
  numeric_print(pattern, "program p workgroup(48) { read a: $1[]; write r: $2[]; %s let i = gid.x; %s r[i] = %s; }",
                w->declaration, w->before, value);
  numeric_expand(text, pattern, (const char *const[]){numeric_spelling(type), numeric_spelling(numeric_words(type))});
  snprintf(name, sizeof name, "%s %s", numeric_spelling(type), w->name);
  kit_buffer buffers[] = {numeric_input("a", &a), numeric_output("r", a.count)};
  buffers[0].shift = shift;
  buffers[1].shift = shift / 2;
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 2};
  numeric_outcome outcome = numeric_try(k, &c, false);
  numeric_columns_free(&a, 1);
  return outcome != NUMERIC_DIFFERS;
}

void check_moves(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (size_t n = 0; n < sizeof ways / sizeof *ways && !kit_is_full(k); n++) try_way(k, type, &ways[n], n);
  numeric_conclude(k);
}

/* ---- Constant tables ---------------------------------------------------------------------------- */

/* r[i] = T[i - 2], with a few indices beyond both ends. */
static vyre_program *table_program(kit *k, vyre_type type, const numeric_column *a) {
  vyre_builder *b;
  vyre_program *program = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_builder_create("p", NULL, &b) != VYRE_OK) return NULL;
  vyre_build_workgroup(b, 32, 1, 1);
  vyre_type value = vyre_type_describe(type)->value;
  vyre_binding table = vyre_build_table(b, "t", type, a->bytes, a->count);
  vyre_binding r = vyre_build_buffer(b, VYRE_ACCESS_WRITE, "r", numeric_words(value), 0);
  vyre_expr i = vyre_build_leaf(b, VYRE_OP_GID, 0);
  vyre_expr index = vyre_build_binary(b, VYRE_OP_SUB, i, vyre_build_u32(b, 2));
  vyre_expr element = vyre_build_load(b, VYRE_OP_LOAD, table, index);
  vyre_build_store(b, r, i,
                   numeric_words(value) == value ? element : vyre_build_bitcast(b, numeric_words(value), element));
  if (vyre_builder_finish(b, &program, &error) != VYRE_OK)
    kit_fail(k, "the kit's own program is refused: %s", error.text);
  vyre_builder_destroy(b);
  return program;
}

void check_tables(kit *k) {
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT && !kit_is_full(k); type++) {
    numeric_column a;
    char name[96];
    if (!numeric_cross(&type, 1, UINT32_MAX, 13, kit_random(k), &a)) break;
    vyre_program *program = table_program(k, type, &a);
    snprintf(name, sizeof name, "a table of %s, from two in front of it on", numeric_spelling(type));
    kit_buffer buffers[] = {numeric_output("r", a.count + 5)};
    kit_case c = {.name = name, .program = program, .buffers = buffers, .buffer_count = 1};
    if (program) numeric_try(k, &c, false);
    vyre_program_release(program);
    numeric_columns_free(&a, 1);
  }
  numeric_conclude(k);
}

/* ---- Parameters --------------------------------------------------------------------------------- */

/* Seven types in an order that makes every alignment matter. */
void check_params(kit *k) {
  static const char text[] =
      "program p workgroup(8) { param a: bool; param b: u64; param c: bool; param d: f64; param e: u32; param f: i64;"
      "param g: f32; param h: i32; param j: bool; write wa: bool[]; write wb: u64[]; write wc: bool[]; write wd: u64[];"
      "write we: u32[]; write wf: i64[]; write wg: u32[]; write wh: i32[]; write wj: bool[]; let i = gid.x;"
      "wa[i] = a; wb[i] = b; wc[i] = c; wd[i] = bitcast<u64>(d); we[i] = e; wf[i] = f; wg[i] = bitcast<u32>(g);"
      "wh[i] = h; wj[i] = j; }";
  static const char *const names[] = {"wa", "wb", "wc", "wd", "we", "wf", "wg", "wh", "wj"};
  for (uint32_t n = 0; n < 24 && !kit_is_full(k); n++) {
    uint64_t wide, real, word, narrow;
    numeric_edge(VYRE_TYPE_U64, n, &wide);
    numeric_edge(VYRE_TYPE_F64, n, &real);
    numeric_edge(VYRE_TYPE_U32, n, &word);
    numeric_edge(VYRE_TYPE_F32, n, &narrow);
    vyre_arg params[] = {vyre_arg_bool("a", n & 1),
                         vyre_arg_u64("b", wide),
                         vyre_arg_bool("c", n & 2),
                         vyre_arg_value("d", VYRE_TYPE_F64, real),
                         vyre_arg_u32("e", (uint32_t)word),
                         vyre_arg_value("f", VYRE_TYPE_I64, ~wide),
                         vyre_arg_value("g", VYRE_TYPE_F32, narrow),
                         vyre_arg_value("h", VYRE_TYPE_I32, ~word & UINT32_MAX),
                         vyre_arg_bool("j", n & 4)};
    kit_buffer buffers[9];
    for (int b = 0; b < 9; b++) buffers[b] = numeric_output(names[b], 11);
    kit_case c = {.name = "parameters of every type",
                  .text = text,
                  .params = params,
                  .param_count = 9,
                  .buffers = buffers,
                  .buffer_count = 9};
    numeric_try(k, &c, false);
  }
  /* Each type by itself, for devices without the wide ones. */
  static const vyre_type types[] = {VYRE_TYPE_BOOL, VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    char one[NUMERIC_TEXT], value[128];
    uint64_t bits;
    write_words(types[t], "q", value);
    numeric_print(one, "program p workgroup(8) { param n: bool; param q: %s; write r: %s[]; r[gid.x] = %s; }",
                  numeric_spelling(types[t]), numeric_spelling(numeric_words(types[t])), value);
    for (uint32_t n = 0; numeric_edge(types[t], n, &bits) && !kit_is_full(k); n++) {
      if (types[t] == VYRE_TYPE_BOOL) bits = n & 1;
      vyre_arg params[] = {vyre_arg_bool("n", true), vyre_arg_value("q", types[t], bits)};
      kit_buffer buffers[] = {numeric_output("r", 3)};
      kit_case c = {.name = "a parameter",
                    .text = one,
                    .params = params,
                    .param_count = 2,
                    .buffers = buffers,
                    .buffer_count = 1};
      numeric_try(k, &c, false);
    }
  }
  numeric_conclude(k);
}

/* ---- Lengths ------------------------------------------------------------------------------------ */

static bool try_length(kit *k, vyre_type type, uint64_t elements, uint32_t length_bits, uint64_t length) {
  char text[NUMERIC_TEXT], name[128];
  numeric_print(
      text,
      "program p workgroup(4) { read a: %s[]; rw b: %s[]; write r: u32[]; let i = gid.x;"
      "r[i] = (i == 0 ? len(a) : i == 1 ? len(b) : i == 2 ? u32(len64(a)) : u32(len64(b) >> 1)) + len(r) * 7; }",
      numeric_spelling(type), numeric_spelling(type));
  snprintf(name, sizeof name, "lengths of %llu elements of %s", (unsigned long long)elements, numeric_spelling(type));
  if (length_bits)
    snprintf(name + strlen(name), sizeof name - strlen(name), ", a count of %llu on the device",
             (unsigned long long)length);
  kit_buffer buffers[] = {{.name = "a", .elements = elements, .length_bits = length_bits, .length = length},
                          {.name = "b", .elements = elements + 1, .shift = 1},
                          numeric_output("r", 4)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 3, .grid = {1, 1, 1}};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

void check_lengths(kit *k) {
  static const uint64_t lengths[] = {0, 1, 3, 16, 4097};
  static const uint64_t counts[] = {0, 1, 16, 17, 4294967295};
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths && !kit_is_full(k); n++)
      try_length(k, type, lengths[n], 0, 0);
  bool has_counts = (k->caps->can & VYRE_CAN_DEVICE_LENGTH) != 0;
  for (size_t n = 0; has_counts && n < sizeof counts / sizeof *counts && !kit_is_full(k); n++) {
    try_length(k, VYRE_TYPE_U32, 16, 32, counts[n]);
    try_length(k, VYRE_TYPE_U8, 16, 64, counts[n] << 8);
    try_length(k, VYRE_TYPE_F32X4, 16, 64, counts[n]);
  }
  if (!has_counts) kit_note(k, "lengths from the device are not claimed (device_length)");
  numeric_conclude(k);
}

/* ---- Out of range ------------------------------------------------------------------------------- */

/* Indices around |n| and where an address would wrap around: 2^32 bytes, 2^64 bytes, for each size of an element. */
static uint32_t indices_around(uint64_t n, bool wide, uint64_t out[64]) {
  uint32_t count = 0;
  for (uint64_t i = 0; i < 3; i++) out[count++] = i;
  for (uint64_t i = n - (n > 0); i <= n + 2; i++) out[count++] = i;
  out[count++] = n * 2 + 16;
  for (uint32_t bit = 27; bit <= (wide ? 63u : 31u); bit += bit == 33 ? 26 : 1) {
    out[count++] = (uint64_t)1 << bit;
    out[count++] = ((uint64_t)1 << bit) + 1;
  }
  out[count++] = UINT32_MAX;
  if (wide) out[count++] = UINT64_MAX;
  return count;
}

/* An index may come twice, but where it is written to, that must be by one invocation. */
static uint32_t without_repetition(uint64_t *indices, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_new = true;
    for (uint32_t j = 0; j < kept; j++) is_new &= indices[j] != indices[i];
    if (is_new) indices[kept++] = indices[i];
  }
  return kept;
}

typedef struct access_row {
  const char *name, *text; /* $1 is the type, $2 that of the index */
  bool is_shared;
} access_row;

static const access_row accesses[] = {
    {"load",
     "program p workgroup(32) { read a: $1[]; read at: $2[]; rw r: $1[]; let i = gid.x; if (i < len(at)) { r[i] ="
     "a[at[i]]; } }",
     false},
    {"load behind an offset",
     "program p workgroup(32) { read a: $1[]; read at: $2[]; rw r: $1[]; let i = gid.x; if (i < len(at)) { r[i * 2] ="
     "a[at[i] + 3]; r[i * 2 + 1] = a[at[i] - 2]; } }",
     false},
    {"store",
     "program p workgroup(32) { rw a: $1[]; read at: $2[]; read b: $1[]; let i = gid.x; if (i < len(at)) { a[at[i]] ="
     "b[i]; } }",
     false},
    {"shared load",
     "program p { read a: $1[]; read at: $2[]; rw r: $1[]; shared m: $1[7]; let i = gid.x;"
     "for (k in 0..7) { m[k] = a[k + 1]; } r[i] = m[at[i]]; }",
     true},
    {"shared store",
     "program p { read a: $1[]; read at: $2[]; rw r: $1[]; shared m: $1[7]; let i = gid.x;"
     "m[at[i]] = a[i]; for (k in 0..7) { r[i * 7 + k] = m[k]; } }",
     true},
    {"local load",
     "program p { read a: $1[]; read at: $2[]; rw r: $1[]; local m: $1[7]; let i = gid.x;"
     "for (k in 0..7) { m[k] = a[k + 1]; } r[i] = m[at[i]]; }",
     true},
    {"local store",
     "program p { read a: $1[]; read at: $2[]; rw r: $1[]; local m: $1[7]; let i = gid.x;"
     "m[at[i]] = a[i]; for (k in 0..7) { r[i * 7 + k] = m[k]; } }",
     true},
};

static bool try_access(kit *k, const access_row *row, vyre_type type, uint64_t n, bool wide) {
  char text[NUMERIC_TEXT], name[128];
  uint64_t indices[64];
  uint8_t at[64 * 8];
  numeric_column a;
  vyre_type index = wide ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
  uint32_t count = without_repetition(indices, indices_around(row->is_shared ? 7 : n, wide, indices));
  for (uint32_t i = 0; i < count; i++) numeric_put(index, at, i, indices[i]);
  if (!numeric_cross(&type, 1, UINT32_MAX, 512, kit_random(k), &a)) return kit_fail(k, "memory is exhausted");
  numeric_expand(text, row->text, (const char *const[]){numeric_spelling(type), numeric_spelling(index)});
  snprintf(name, sizeof name, "%s of %s at %s, around %llu elements", row->name, numeric_spelling(type),
           numeric_spelling(index), (unsigned long long)(row->is_shared ? 7 : n));
  bool is_store = strcmp(row->name, "store") == 0; /* of |b|, which it has in place of |r| */
  kit_buffer buffers[] = {{.name = "a", .in = a.bytes, .elements = row->is_shared ? 64 : n},
                          {.name = "at", .in = at, .elements = count},
                          {.name = is_store ? "b" : "r",
                           .in = is_store ? a.bytes + vyre_type_describe(type)->bytes : NULL,
                           .elements = is_store ? count : (uint64_t)count * 7}};
  kit_case c = {
      .name = name, .text = text, .buffers = buffers, .buffer_count = 3, .grid = {row->is_shared ? count : 3, 1, 1}};
  numeric_outcome outcome = numeric_try(k, &c, false);
  numeric_columns_free(&a, 1);
  return outcome != NUMERIC_DIFFERS;
}

void check_out_of_range(kit *k) {
  static const uint64_t lengths[] = {0, 1, 5, 16, 49};
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    for (size_t row = 0; row < sizeof accesses / sizeof *accesses; row++)
      for (size_t n = 0; n < (accesses[row].is_shared ? 1 : sizeof lengths / sizeof *lengths) && !kit_is_full(k); n++) {
        bool same = try_access(k, &accesses[row], type, lengths[n], false);
        if (same) try_access(k, &accesses[row], type, lengths[n], true);
      }
  numeric_conclude(k);
}
