#include "targets.h"

#define BIT(type) VYRE_KERNEL_TYPE_BIT(type)
#define INTS (BIT(U32) | BIT(I32) | BIT(U64) | BIT(I64))
#define FLOATS (BIT(F32) | BIT(F64))
#define SCALARS (BIT(BOOL) | INTS | FLOATS)
#define VECTORS (BIT(U32X2) | BIT(U32X4) | BIT(I32X2) | BIT(I32X4) | BIT(F32X2) | BIT(F32X4))

/* What the engine leaves to expansion. */
static bool is_left_out(uint32_t op) {
  return (op >= VYRE_KERNEL_EXP && op <= VYRE_KERNEL_TANH) || op == VYRE_KERNEL_RSQRT ||
         op == VYRE_KERNEL_SHOULD_STOP || op == VYRE_KERNEL_TRAP || op == VYRE_KERNEL_PRINT;
}

/* Types that a total opcode with a narrower twin is taken with where the twins are. */
static uint64_t types_beside_twin(uint32_t op) {
  switch (op) {
    case VYRE_KERNEL_DIV: return FLOATS | VECTORS;
    case VYRE_KERNEL_REM:
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX:
    case VYRE_KERNEL_SHL:
    case VYRE_KERNEL_SHR:
    case VYRE_KERNEL_CLZ:
    case VYRE_KERNEL_CTZ:
    case VYRE_KERNEL_TO_INT: return 0;
    default: return UINT64_MAX;
  }
}

static uint64_t types_of(target t, uint32_t op) {
  bool is_memory = op >= VYRE_KERNEL_LOAD && op <= VYRE_KERNEL_COPY_ASYNC;
  if (t == TARGET_SCALAR) return is_memory ? SCALARS | VECTORS : SCALARS | 1;
  return t == TARGET_RAW ? types_beside_twin(op) : UINT64_MAX;
}

/* All opcodes but those that are left out. */
static void fill(target t, vyre_lower_options *o) {
  static vyre_opcode_support tables[TARGETS][256];
  vyre_opcode_support *table = tables[t];
  o->opcodes = table;
  for (uint32_t op = 1; op < VYRE_KERNEL_TILE_FIRST && o->opcode_count < 256; op++)
    if (vyre_kernel_op_describe(op).name != NULL && !is_left_out(op) && types_of(t, op) != 0)
      table[o->opcode_count++] = (vyre_opcode_support){ op, 0, types_of(t, op) };
}

static const vyre_opcode_support least[] = {
  { VYRE_KERNEL_ADD, 0, SCALARS }, { VYRE_KERNEL_SUB, 0, SCALARS }, { VYRE_KERNEL_MUL, 0, SCALARS },
  { VYRE_KERNEL_DIV, 0, FLOATS }, { VYRE_KERNEL_FMA, 0, FLOATS }, { VYRE_KERNEL_SQRT, 0, FLOATS },
  { VYRE_KERNEL_FLOOR, 0, FLOATS }, { VYRE_KERNEL_CEIL, 0, FLOATS }, { VYRE_KERNEL_ROUND, 0, FLOATS },
  { VYRE_KERNEL_TRUNC, 0, FLOATS }, { VYRE_KERNEL_DIV_RAW, 0, INTS }, { VYRE_KERNEL_SHL_RAW, 0, INTS },
  { VYRE_KERNEL_SHR_RAW, 0, INTS }, { VYRE_KERNEL_AND, 0, SCALARS }, { VYRE_KERNEL_OR, 0, SCALARS },
  { VYRE_KERNEL_XOR, 0, SCALARS }, { VYRE_KERNEL_NOT, 0, SCALARS }, { VYRE_KERNEL_EQ, 0, SCALARS },
  { VYRE_KERNEL_LT, 0, SCALARS }, { VYRE_KERNEL_SELECT, 0, SCALARS | VECTORS }, { VYRE_KERNEL_RESIZE, 0, INTS },
  { VYRE_KERNEL_TO_FLOAT, 0, SCALARS }, { VYRE_KERNEL_TO_INT_RAW, 0, SCALARS }, { VYRE_KERNEL_REFLOAT, 0, FLOATS },
  { VYRE_KERNEL_BITCAST, 0, SCALARS | VECTORS }, { VYRE_KERNEL_LOAD, 0, INTS | FLOATS | VECTORS },
  { VYRE_KERNEL_STORE, 0, INTS | FLOATS | VECTORS }, { VYRE_KERNEL_ATOMIC_LOAD, 0, INTS | BIT(U32X4) },
  { VYRE_KERNEL_ATOMIC_STORE, 0, INTS }, { VYRE_KERNEL_ATOMIC_CAS, 0, INTS }, { VYRE_KERNEL_FENCE, 0, 1 },
  { VYRE_KERNEL_BARRIER, 0, 1 }, { VYRE_KERNEL_GRID_BARRIER, 0, 1 }, { VYRE_KERNEL_SHUFFLE, 0, BIT(U32) },
  { VYRE_KERNEL_CLOCK, 0, BIT(U64) },
};

vyre_lower_options target_options(target t) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  if (t == TARGET_ALL) return o;
  if (t == TARGET_UNFUSED) {
    fill(TARGET_ENGINE, &o);
    o.numeric &= ~(uint32_t)VYRE_NUMERIC_FMA;
    return o;
  }
  if (t != TARGET_LEAST) {
    fill(t, &o);
    return o;
  }
  o.opcodes = least;
  o.opcode_count = sizeof least / sizeof *least;
  return o;
}
