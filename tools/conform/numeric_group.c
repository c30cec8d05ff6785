/* What invocations do together: barriers, grid barriers, asynchronous copies, subgroup operations, in workgroups from
 * one invocation to more than a subgroup holds, and in both orders of the oracle's lanes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

/* ---- Meetings ----------------------------------------------------------------------------------- */

typedef enum meeting_kind { BARRIER, GRID, SYNC, ASYNC } meeting_kind;

typedef struct meeting {
  const char *name;
  meeting_kind kind;
  const char *text;
} meeting;

static const meeting meetings[] = {
#define X(name, kind, text) {#name, kind, text},
#include "meetings.def"
#undef X
};

enum { MOST_INVOCATIONS = 16384 };

static bool try_meeting(kit *k, const meeting *m, uint32_t size, uint32_t groups) {
  char text[NUMERIC_TEXT], name[128];
  static uint32_t x[MOST_INVOCATIONS];
  uint32_t count = size * groups;
  for (uint32_t i = 0; i < count; i++) x[i] = (uint32_t)(kit_random(k) >> 32);
  numeric_print(text,
                "program p workgroup(%u) { const SIZE: u32 = %u; param n: u32; read x: u32[]; rw y: u32[]; rw z: u32[];"
                "shared s: u32[%u]; shared t: u32[%u]; local q: u32[8];"
                "fn mix(a: u32, b: u32) -> u32 { return (a ^ b) * 0x9E3779B1 + rotl(a, 5); }"
                "let i = gid.x; let l = lid.x; let g = wid.x * SIZE; %s }",
                size, size, size, size, m->text);
  snprintf(name, sizeof name, "%s, workgroup(%u), %u workgroups", m->name, size, groups);
  vyre_arg params[] = {vyre_arg_u32("n", 5)};
  kit_buffer buffers[] = {
      {.name = "x", .in = x, .elements = count}, numeric_output("y", count), numeric_output("z", count)};
  kit_case c = {.name = name,
                .text = text,
                .params = params,
                .param_count = 1,
                .buffers = buffers,
                .buffer_count = 3,
                .grid = {groups, 1, 1}};
  return numeric_try(k, &c, true) != NUMERIC_DIFFERS;
}

static void check_meetings(kit *k, meeting_kind kind) {
  static const uint32_t sizes[] = {2, 3, 31, 32, 33, 64, 127, 256};
  uint32_t largest = k->caps->max_workgroup_invocations, axis = k->caps->max_workgroup[0];
  if (axis < largest) largest = axis;
  if (largest > 1024) largest = 1024;
  for (size_t m = 0; m < sizeof meetings / sizeof *meetings; m++) {
    bool same = meetings[m].kind == kind;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes && same && !kit_is_full(k); n++)
      if (sizes[n] <= largest) same = try_meeting(k, &meetings[m], sizes[n], kind == SYNC ? 2 : 3 + (uint32_t)n);
    if (same && !kit_is_full(k)) try_meeting(k, &meetings[m], largest, 2);
  }
  numeric_conclude(k);
}

void check_barriers(kit *k) {
  check_meetings(k, BARRIER);
}
void check_grid_barriers(kit *k) {
  check_meetings(k, GRID);
}
void check_grid_sync(kit *k) {
  check_meetings(k, SYNC);
}
void check_async_copies(kit *k) {
  check_meetings(k, ASYNC);
}

/* ---- Subgroup operations ------------------------------------------------------------------------- */

static bool is_subgroup(vyre_op op) {
  return strncmp(vyre_op_describe(op)->spelling, "subgroup_", 9) == 0 && vyre_op_describe(op)->arity > 0;
}

/* From the rule in ops.def to the types; a rule that is not here has no subgroup operation. */
static bool takes_type(vyre_op op, vyre_type type) {
  bool is_bool = type == VYRE_TYPE_BOOL, is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  switch (op) {
  case VYRE_OP_SUBGROUP_ANY:
  case VYRE_OP_SUBGROUP_ALL:
  case VYRE_OP_SUBGROUP_BALLOT:
    return is_bool;
  case VYRE_OP_SUBGROUP_AND:
  case VYRE_OP_SUBGROUP_OR:
  case VYRE_OP_SUBGROUP_XOR:
    return !is_bool && !is_float;
  default:
    return !is_bool;
  }
}

enum { SUBGROUP_ELEMENTS = 2048 };

/* Edges first; then numbers of one magnitude, so that the order of additions shows. */
static bool make_values(kit *k, vyre_type type, numeric_column *out) {
  if (!numeric_cross(&type, 1, UINT32_MAX, SUBGROUP_ELEMENTS, kit_random(k), out))
    return kit_fail(k, "memory is exhausted");
  uint32_t edges = numeric_edge_count(type);
  for (uint64_t i = edges; i < out->count; i++) {
    uint64_t bits = kit_random(k);
    if (type == VYRE_TYPE_F32) numeric_put(type, out->bytes, i, (bits & 0x807FFFFF) | (124 + bits % 7) << 23);
    if (type == VYRE_TYPE_F64) numeric_put(type, out->bytes, i, (bits & 0x800FFFFFFFFFFFFF) | (1020 + bits % 7) << 52);
    /* Votes that are all true, all false and mixed. */
    if (type == VYRE_TYPE_BOOL)
      numeric_put(type, out->bytes, i, i / 300 % 3 == 0 ? 1 : i / 300 % 3 == 1 ? 0 : bits & 1);
  }
  out->count = SUBGROUP_ELEMENTS;
  return true;
}

/* The lanes, masks and distances of shuffles: near ones, own ones, and some that do not exist. */
static void make_lanes(kit *k, uint32_t lanes[SUBGROUP_ELEMENTS]) {
  static const uint32_t odd[] = {32, 33, 64, 0x80000000, UINT32_MAX, 31, 0, 1};
  for (uint32_t i = 0; i < SUBGROUP_ELEMENTS; i++) {
    uint64_t bits = kit_random(k);
    lanes[i] = bits % 8 == 0 ? odd[bits >> 8 & 7] : (uint32_t)(bits >> 8) & 31;
  }
}

/* The lane of a broadcast is the same for all; that of the other shuffles is anybody's. */
static const char *second_operand(vyre_op op) {
  if (vyre_op_describe(op)->arity == 1) return "";
  return op == VYRE_OP_SUBGROUP_BROADCAST ? ", b[wid.x * 3]" : ", b[i]";
}

static bool try_subgroup(kit *k, vyre_op op, const numeric_column *a, uint32_t size, uint32_t workgroup) {
  char text[NUMERIC_TEXT], name[128], fixed[32] = "";
  const char *spelling = vyre_op_describe(op)->spelling, *type = vyre_type_describe(a->type)->spelling;
  const char *result = op == VYRE_OP_SUBGROUP_BALLOT ? "u32" : type;
  static uint32_t lanes[SUBGROUP_ELEMENTS];
  make_lanes(k, lanes);
  if (size) snprintf(fixed, sizeof fixed, " subgroup(%u)", size);
  numeric_print(text,
                "program p workgroup(%u)%s { read a: %s[]; read b: u32[]; write r: %s[]; let i = gid.x;"
                "r[i] = %s(a[i]%s); }",
                workgroup, fixed, type, result, spelling, second_operand(op));
  snprintf(name, sizeof name, "%s of %s, workgroup(%u)%s", spelling, type, workgroup, fixed);
  uint32_t groups = 512 / workgroup + 2;
  kit_buffer buffers[] = {numeric_input("a", a),
                          {.name = "b", .in = lanes, .elements = SUBGROUP_ELEMENTS},
                          numeric_output("r", (uint64_t)groups * workgroup)};
  kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 3, .grid = {groups, 1, 1}};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

static void try_sizes(kit *k, vyre_op op, const numeric_column *a) {
  static const uint32_t workgroups[] = {33, 127, 64, 5, 31, 1};
  uint32_t turn = (uint32_t)op;
  try_subgroup(k, op, a, 0, 77); /* the size that the device takes by itself */
  for (uint32_t size = 1; size <= 32; size *= 2) {
    if ((k->caps->subgroup_sizes & size) == 0) continue;
    for (int n = 0; n < 2 && !kit_is_full(k); n++) try_subgroup(k, op, a, size, workgroups[turn++ % 6]);
  }
}

void check_subgroups(kit *k) {
  static const vyre_type types[] = {VYRE_TYPE_BOOL, VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32,
                                    VYRE_TYPE_U64,  VYRE_TYPE_I64, VYRE_TYPE_F64};
  for (size_t t = 0; t < sizeof types / sizeof *types && !kit_is_full(k); t++) {
    numeric_column a;
    if (!make_values(k, types[t], &a)) return;
    for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT && !kit_is_full(k); op++)
      if (is_subgroup(op) && takes_type(op, types[t])) try_sizes(k, op, &a);
    numeric_columns_free(&a, 1);
  }
  numeric_conclude(k);
}

/* ---- Subgroups in flow --------------------------------------------------------------------------- */

/* Statements with v = x[i], a var r, and a subgroup that comes to all of them. */
static const struct subgroup_flow {
  const char *name, *text;
} subgroup_flows[] = {
    {"one subgroup of many", "if (subgroup_id == 1) { r = subgroup_add(v); } else { r = subgroup_max(v) + 1; }"},
    {"after lanes have parted",
     "if (v % 2 == 0) { r = v; } else { for (k in 0..v % 5) { r += k; } } r = subgroup_add(r);"},
    {"in a loop", "for (k in 0..6) { r = r * 3 + subgroup_shuffle_up(v + r, k); }"},
    {"until all agree", "r = v % 50; loop { if (subgroup_all(r < 4)) { break; } r = r > 3 ? r / 2 : r; }"},
    {"until one has it", "r = v % 50; loop { r = r + 1; if (subgroup_any(r % 16 == 0)) { break; } }"},
    {"by ballot",
     "let votes = subgroup_ballot(v % 3 == 0); r = popcount(votes & ((1u32 << lane) - 1)) + (votes >> 16);"},
    {"two at once", "r = subgroup_add(v) ^ subgroup_inclusive_add(v % 100) ^ subgroup_exclusive_max(v);"},
    {"of a value of all", "r = subgroup_add(subgroup_broadcast(v, 0)) + subgroup_mul(3);"},
    {"as an index", "m[lid.x] = v; barrier; r = m[subgroup_min(lid.x) + lane % subgroup_size];"},
    {"over barriers", "m[lid.x] = subgroup_inclusive_add(v); barrier; r = m[95 - lid.x] + subgroup_shuffle_xor(v, 1);"},
};

void check_subgroup_flow(kit *k) {
  for (size_t n = 0; n < sizeof subgroup_flows / sizeof *subgroup_flows; n++)
    for (uint32_t size = 1; size <= 32; size *= 2) {
      char text[NUMERIC_TEXT], name[128];
      uint32_t x[96 * 5];
      if ((k->caps->subgroup_sizes & size) == 0 || kit_is_full(k)) continue;
      for (uint32_t i = 0; i < 96 * 5; i++) x[i] = (uint32_t)(kit_random(k) >> 40);
      numeric_print(text,
                    "program p workgroup(96) subgroup(%u) { read x: u32[]; write y: u32[]; shared m: u32[160];"
                    "let i = gid.x; let v = x[i]; var r = 0; %s y[i] = r; }",
                    size, subgroup_flows[n].text);
      snprintf(name, sizeof name, "subgroups %s, of %u lanes", subgroup_flows[n].name, size);
      kit_buffer buffers[] = {{.name = "x", .in = x, .elements = 96 * 5}, numeric_output("y", 96 * 5)};
      kit_case c = {.name = name, .text = text, .buffers = buffers, .buffer_count = 2};
      numeric_try(k, &c, true);
    }
  numeric_conclude(k);
}
