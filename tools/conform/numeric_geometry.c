/* Ids and lengths over workgroups and grids of every shape: one invocation, odd numbers, whole and partial subgroups,
 * the device's largest, and no grid at all. */
#include <stdio.h>
#include <string.h>

#include "numeric.h"

/* Operators without operands, as a u32. One that is missing fails the check. */
static const char *const leaves[VYRE_OP_COUNT] = {
    [VYRE_OP_LIT] = "0xCAFE",
    [VYRE_OP_VAR] = "v",
    [VYRE_OP_PARAM] = "n",
    [VYRE_OP_GID] = "gid.x + gid.y * 1000 + gid.z * 1000000",
    [VYRE_OP_WID] = "wid.x + wid.y * 1000 + wid.z * 1000000",
    [VYRE_OP_LID] = "lid.x + lid.y * 1000 + lid.z * 1000000",
    [VYRE_OP_NWG] = "nwg.x + nwg.y * 1000 + nwg.z * 1000000",
    [VYRE_OP_LANE] = "lane",
    [VYRE_OP_SUBGROUP_SIZE] = "subgroup_size",
    [VYRE_OP_SUBGROUP_ID] = "subgroup_id",
    [VYRE_OP_NUM_SUBGROUPS] = "num_subgroups",
    [VYRE_OP_LEN] = "len(r)",
    [VYRE_OP_LEN64] = "u32(len64(r) << 1)",
    [VYRE_OP_CLOCK_NS] = "u32(clock_ns() > 0)",
    [VYRE_OP_SHOULD_STOP] = "u32(should_stop())",
};

typedef struct geometry {
  uint32_t workgroup[3], grid[3];
} geometry;

static const geometry geometries[] = {
    {{1, 1, 1}, {1, 1, 1}},   {{1, 1, 1}, {67, 1, 1}}, {{3, 1, 1}, {5, 1, 1}},  {{31, 1, 1}, {3, 1, 1}},
    {{32, 1, 1}, {2, 1, 1}},  {{33, 1, 1}, {3, 1, 1}}, {{64, 1, 1}, {3, 1, 1}}, {{127, 1, 1}, {2, 1, 1}},
    {{128, 1, 1}, {2, 1, 1}}, {{1, 5, 1}, {3, 2, 1}},  {{1, 1, 7}, {2, 1, 3}},  {{3, 5, 7}, {2, 3, 5}},
    {{8, 4, 2}, {3, 3, 3}},   {{2, 2, 2}, {7, 1, 5}},  {{5, 3, 1}, {1, 7, 1}},  {{16, 2, 1}, {1, 1, 9}},
    {{33, 3, 1}, {1, 2, 2}},  {{4, 1, 1}, {0, 1, 1}},  {{4, 2, 1}, {3, 0, 2}},  {{4, 1, 2}, {3, 1, 0}},
};

static bool try_leaf(kit *k, uint32_t op, const geometry *g) {
  char text[NUMERIC_TEXT], name[160];
  uint64_t invocations = 1;
  for (int axis = 0; axis < 3; axis++) invocations *= (uint64_t)g->workgroup[axis] * g->grid[axis];
  numeric_print(text,
                "program p workgroup(%u, %u, %u) { param n: u32; write r: u32[]; let v = gid.x ^ 5;"
                "let i = (gid.z * (nwg.y * %u) + gid.y) * (nwg.x * %u) + gid.x; r[i] = %s; }",
                g->workgroup[0], g->workgroup[1], g->workgroup[2], g->workgroup[1], g->workgroup[0], leaves[op]);
  snprintf(name, sizeof name, "%s, workgroup(%u, %u, %u), grid %u, %u, %u", leaves[op], g->workgroup[0],
           g->workgroup[1], g->workgroup[2], g->grid[0], g->grid[1], g->grid[2]);
  vyre_arg params[] = {vyre_arg_u32("n", 0xBEEF)};
  kit_buffer buffers[] = {numeric_output("r", invocations + 3)};
  kit_case c = {.name = name,
                .text = text,
                .params = params,
                .param_count = 1,
                .buffers = buffers,
                .buffer_count = 1,
                .grid = {g->grid[0], g->grid[1], g->grid[2]}};
  bool is_empty = g->grid[0] == 0 || g->grid[1] == 0 || g->grid[2] == 0;
  /* A grid of zeros alone would mean the one that covers r. */
  if (is_empty && g->grid[0] + g->grid[1] + g->grid[2] == 0) return true;
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

static void try_geometry(kit *k, const geometry *g) {
  for (uint32_t op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT && !kit_is_full(k); op++) {
    if (leaves[op])
      try_leaf(k, op, g);
    else if (vyre_op_describe((vyre_op)op)->arity == 0)
      kit_fail(k, "the kit has no program for the operator %s", vyre_op_describe((vyre_op)op)->name);
  }
}

void check_geometry(kit *k) {
  for (size_t n = 0; n < sizeof geometries / sizeof *geometries && !kit_is_full(k); n++)
    try_geometry(k, &geometries[n]);
  const uint32_t *axes = k->caps->max_workgroup;
  uint32_t most = k->caps->max_workgroup_invocations;
  for (int axis = 0; axis < 3 && !kit_is_full(k); axis++) {
    geometry largest = {{1, 1, 1}, {2, 1, 1}};
    largest.workgroup[axis] = axes[axis] < most ? axes[axis] : most;
    try_geometry(k, &largest);
  }
  numeric_conclude(k);
}

/* A grid that is long along one axis: APIs have limits there, programs have none below 2^32 ids. */
void check_long_grids(kit *k) {
  static const uint32_t grids[][3] = {{70001, 1, 1}, {1, 70001, 1}, {1, 1, 70001}, {3, 40000, 2}, {2, 3, 66000}};
  for (size_t n = 0; n < sizeof grids / sizeof *grids && !kit_is_full(k); n++) {
    char name[96];
    const uint32_t *g = grids[n];
    uint64_t groups = (uint64_t)g[0] * g[1] * g[2];
    snprintf(name, sizeof name, "a grid of %u, %u, %u workgroups", g[0], g[1], g[2]);
    kit_buffer buffers[] = {numeric_output("r", groups)};
    kit_case c = {.name = name,
                  .text = "program p { write r: u32[]; let i = (wid.z * nwg.y + wid.y) * nwg.x + wid.x;"
                          "r[i] = (gid.x * 31 + gid.y) * 31 + gid.z + nwg.x + nwg.y + nwg.z; }",
                  .buffers = buffers,
                  .buffer_count = 1,
                  .grid = {g[0], g[1], g[2]}};
    numeric_try(k, &c, false);
  }
  numeric_conclude(k);
}
