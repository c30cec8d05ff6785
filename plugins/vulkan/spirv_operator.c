/* Arithmetic, comparison, choice and conversion. */
#include "plugins/vulkan/spirv_emit.h"

/* An opcode whose operands are those of one SPIR-V instruction, for each class of the first; SpvOpNop: not this way. */
typedef struct row {
  uint16_t on_bool, on_unsigned, on_signed, on_float;
  uint8_t operands;
  uint8_t is_comparison; /* gives a bool */
  uint8_t is_glsl;       /* on_float is a number of GLSL.std.450 */
} row;
#define LOGIC(op) SpvOp##op, SpvOp##op
static const row rows[0x100] = {
  [VYRE_KERNEL_ADD] = { 0, LOGIC(IAdd), SpvOpFAdd, 2, 0, 0 },
  [VYRE_KERNEL_SUB] = { 0, LOGIC(ISub), SpvOpFSub, 2, 0, 0 },
  [VYRE_KERNEL_MUL] = { 0, LOGIC(IMul), SpvOpFMul, 2, 0, 0 },
  [VYRE_KERNEL_DIV] = { 0, 0, 0, SpvOpFDiv, 2, 0, 0 },
  [VYRE_KERNEL_DIV_RAW] = { 0, SpvOpUDiv, SpvOpSDiv, 0, 2, 0, 0 },
  [VYRE_KERNEL_REM_RAW] = { 0, SpvOpUMod, 0, 0, 2, 0, 0 },
  [VYRE_KERNEL_NEG] = { 0, LOGIC(SNegate), 0, 1, 0, 0 },
  [VYRE_KERNEL_AND] = { SpvOpLogicalAnd, LOGIC(BitwiseAnd), 0, 2, 0, 0 },
  [VYRE_KERNEL_OR] = { SpvOpLogicalOr, LOGIC(BitwiseOr), 0, 2, 0, 0 },
  [VYRE_KERNEL_XOR] = { SpvOpLogicalNotEqual, LOGIC(BitwiseXor), 0, 2, 0, 0 },
  [VYRE_KERNEL_NOT] = { SpvOpLogicalNot, LOGIC(Not), 0, 1, 0, 0 },
  [VYRE_KERNEL_SHL_RAW] = { 0, LOGIC(ShiftLeftLogical), 0, 2, 0, 0 },
  [VYRE_KERNEL_SHR_RAW] = { 0, SpvOpShiftRightLogical, SpvOpShiftRightArithmetic, 0, 2, 0, 0 },
  [VYRE_KERNEL_POPCOUNT] = { 0, LOGIC(BitCount), 0, 1, 0, 0 },
  [VYRE_KERNEL_REVERSE_BITS] = { 0, LOGIC(BitReverse), 0, 1, 0, 0 },
  [VYRE_KERNEL_EQ] = { SpvOpLogicalEqual, LOGIC(IEqual), SpvOpFOrdEqual, 2, 1, 0 },
  [VYRE_KERNEL_NE] = { SpvOpLogicalNotEqual, LOGIC(INotEqual), SpvOpFUnordNotEqual, 2, 1, 0 },
  [VYRE_KERNEL_LT] = { 0, SpvOpULessThan, SpvOpSLessThan, SpvOpFOrdLessThan, 2, 1, 0 },
  [VYRE_KERNEL_LE] = { 0, SpvOpULessThanEqual, SpvOpSLessThanEqual, SpvOpFOrdLessThanEqual, 2, 1, 0 },
  [VYRE_KERNEL_SQRT] = { 0, 0, 0, GLSLstd450Sqrt, 1, 0, 1 },
  [VYRE_KERNEL_FLOOR] = { 0, 0, 0, GLSLstd450Floor, 1, 0, 1 },
  [VYRE_KERNEL_CEIL] = { 0, 0, 0, GLSLstd450Ceil, 1, 0, 1 },
  [VYRE_KERNEL_ROUND] = { 0, 0, 0, GLSLstd450RoundEven, 1, 0, 1 },
  [VYRE_KERNEL_TRUNC] = { 0, 0, 0, GLSLstd450Trunc, 1, 0, 1 },
  [VYRE_KERNEL_FMA] = { 0, 0, 0, GLSLstd450Fma, 3, 0, 1 },
};

static uint32_t instruction_for(const row *r, uint8_t cls) {
  switch (cls) {
    case VYRE_KERNEL_CLASS_BOOL: return r->on_bool;
    case VYRE_KERNEL_CLASS_UINT: return r->on_unsigned;
    case VYRE_KERNEL_CLASS_SINT: return r->on_signed;
    default: return r->on_float;
  }
}

/* Two roundings stay two, unless the program allows one. */
uint32_t spirv_kept_apart(spirv_emitter *e, uint32_t id) {
  if ((e->kernel->flags & VYRE_KERNEL_CONTRACT) == 0)
    spirv_put(&e->m, PART_MARKS, SpvOpDecorate, id, SpvDecorationNoContraction);
  return id;
}

static bool is_arithmetic(uint16_t op) { return op >= VYRE_KERNEL_ADD && op <= VYRE_KERNEL_DIV; }

static uint32_t by_row(spirv_emitter *e, const vyre_kernel_insn *in, const row *r, uint8_t cls, uint32_t op) {
  spirv_module *m = &e->m;
  const spirv_type type = spirv_type_of(spirv_value_type(e, in->result));
  uint32_t words[5] = { m->imported, op }, *operands = r->is_glsl ? words + 2 : words;
  for (uint32_t i = 0; i < r->operands; i++) operands[i] = spirv_use(e, in->arg[i]);
  if (r->is_glsl) return spirv_value_words(m, SpvOpExtInst, spirv_type_id(m, type), words, 2 + r->operands);
  uint32_t id = spirv_value_words(m, (SpvOp)op, spirv_type_id(m, type), words, r->operands);
  return cls == VYRE_KERNEL_CLASS_FLOAT && !r->is_comparison ? spirv_kept_apart(e, id) : id;
}

/* ---- Those that take several instructions ---------------------------------------------------- */

/* Of two equal floats only zeros may differ, by their sign: min has it if either has, max if both have. */
static uint32_t choose_float(spirv_emitter *e, spirv_type type, bool is_min, uint32_t x, uint32_t y) {
  spirv_module *m = &e->m;
  const spirv_type wide = e->target->features & SPIRV_INT64 ? T_U64 : T_U32X2, bits = type == T_F64 ? wide : T_U32;
  uint32_t chosen = spirv_glsl(m, is_min ? GLSLstd450NMin : GLSLstd450NMax, type, x, y);
  uint32_t equal = spirv_value(m, SpvOpFOrdEqual, T_BOOL, x, y);
  uint32_t a = spirv_value(m, SpvOpBitcast, bits, x), b = spirv_value(m, SpvOpBitcast, bits, y);
  uint32_t zero = spirv_value(m, is_min ? SpvOpBitwiseOr : SpvOpBitwiseAnd, bits, a, b);
  return spirv_select(m, type, equal, spirv_value(m, SpvOpBitcast, type, zero), chosen);
}

static uint32_t choose(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type of) {
  spirv_module *m = &e->m;
  const bool is_min = in->op == VYRE_KERNEL_MIN;
  uint32_t x = spirv_use(e, in->arg[0]), y = spirv_use(e, in->arg[1]);
  if (of.cls == VYRE_KERNEL_CLASS_FLOAT) return choose_float(e, spirv_type_of(of), is_min, x, y);
  if (of.cls == VYRE_KERNEL_CLASS_UINT) return spirv_glsl(m, is_min ? GLSLstd450UMin : GLSLstd450UMax, T_U32, x, y);
  return spirv_glsl(m, is_min ? GLSLstd450SMin : GLSLstd450SMax, T_U32, x, y);
}

static uint32_t high_half(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type of) {
  spirv_module *m = &e->m;
  const SpvOp op = of.cls == VYRE_KERNEL_CLASS_UINT ? SpvOpUMulExtended : SpvOpSMulExtended;
  uint32_t x = spirv_use(e, in->arg[0]), y = spirv_use(e, in->arg[1]);
  return spirv_value(m, SpvOpCompositeExtract, T_U32, spirv_value(m, op, T_PAIR, x, y), 1);
}

/* Vulkan leaves OpSRem undefined where an operand is negative. */
static uint32_t signed_remainder(spirv_emitter *e, const vyre_kernel_insn *in, spirv_type type) {
  spirv_module *m = &e->m;
  uint32_t x = spirv_use(e, in->arg[0]), y = spirv_use(e, in->arg[1]);
  uint32_t quotient = spirv_value(m, SpvOpSDiv, type, x, y);
  return spirv_value(m, SpvOpISub, type, x, spirv_value(m, SpvOpIMul, type, quotient, y));
}

/* Both searches give all ones for 0. */
static uint32_t leading_zeros(spirv_emitter *e, uint32_t x) {
  spirv_module *m = &e->m;
  return spirv_value(m, SpvOpISub, T_U32, spirv_u32(m, 31), spirv_glsl(m, GLSLstd450FindUMsb, T_U32, x));
}

static uint32_t trailing_zeros(spirv_emitter *e, uint32_t x) {
  spirv_module *m = &e->m;
  return spirv_glsl(m, GLSLstd450UMin, T_U32, spirv_glsl(m, GLSLstd450FindILsb, T_U32, x), spirv_u32(m, 32));
}

static uint32_t convert(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type from, vyre_kernel_type to) {
  static const SpvOp to_float[2] = { SpvOpConvertUToF, SpvOpConvertSToF };
  static const SpvOp resize[2] = { SpvOpUConvert, SpvOpSConvert };
  const spirv_type type = spirv_type_of(to);
  uint32_t x = spirv_use(e, in->arg[0]);
  switch (in->op) {
    case VYRE_KERNEL_TO_FLOAT: return spirv_value(&e->m, to_float[from.cls == VYRE_KERNEL_CLASS_SINT], type, x);
    case VYRE_KERNEL_RESIZE: return spirv_value(&e->m, resize[to.cls == VYRE_KERNEL_CLASS_SINT], type, x);
    case VYRE_KERNEL_REFLOAT: return spirv_value(&e->m, SpvOpFConvert, type, x);
    default: return type == spirv_type_of(from) ? x : spirv_value(&e->m, SpvOpBitcast, type, x);
  }
}

/* 2^power as a float. */
static uint32_t power_of_two(spirv_emitter *e, spirv_type type, uint32_t power) {
  if (type == T_F64) return spirv_constant(&e->m, T_F64, (uint64_t)(1023 + power) << 52);
  return spirv_constant(&e->m, T_F32, (127u + power) << 23);
}

/* Two shifts. A literal count makes two literals, which drivers have nothing to fold in. */
static uint32_t rotate(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type of) {
  spirv_module *m = &e->m;
  const spirv_type type = spirv_type_of(of);
  const bool is_left = in->op == VYRE_KERNEL_ROTL;
  uint32_t x = spirv_use(e, in->arg[0]), up, down;
  if (in->arg[1] <= e->kernel->constants.count) {
    uint64_t count = VYRE_KERNEL_AT(vyre_kernel_constant, e->kernel, constants, in->arg[1] - 1)->bits % of.bits;
    if (count == 0) return x;
    up = spirv_u32(m, (uint32_t)(is_left ? count : of.bits - count));
    down = spirv_u32(m, (uint32_t)(is_left ? of.bits - count : count));
  } else {
    uint32_t mask = spirv_u32(m, of.bits - 1u), count = spirv_use(e, in->arg[1]);
    uint32_t there = spirv_value(m, SpvOpBitwiseAnd, T_U32, count, mask);
    uint32_t back = spirv_value(m, SpvOpBitwiseAnd, T_U32, spirv_value(m, SpvOpSNegate, T_U32, count), mask);
    up = is_left ? there : back;
    down = is_left ? back : there;
  }
  uint32_t high = spirv_value(m, SpvOpShiftLeftLogical, type, x, up);
  uint32_t low = spirv_value(m, SpvOpShiftRightLogical, type, x, down);
  return spirv_value(m, SpvOpBitwiseOr, type, high, low);
}

/* What the instruction gives for values beyond the range is anybody's: it gets 0 in their place. A NaN is 0 here, too. */
static uint32_t to_int(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type from, vyre_kernel_type to) {
  spirv_module *m = &e->m;
  const bool is_signed = to.cls == VYRE_KERNEL_CLASS_SINT;
  const spirv_type type = spirv_type_of(from), result = spirv_type_of(to);
  const uint64_t ones = to.bits == 64 ? UINT64_MAX : UINT32_MAX, most = is_signed ? ones >> 1 : ones;
  uint32_t x = spirv_use(e, in->arg[0]), zero = spirv_constant(m, type, 0);
  uint32_t limit = power_of_two(e, type, is_signed ? to.bits - 1u : to.bits);
  uint32_t above = spirv_value(m, SpvOpFOrdGreaterThanEqual, T_BOOL, x, limit);
  uint32_t least = is_signed ? spirv_value(m, SpvOpFNegate, type, limit) : zero;
  uint32_t below = spirv_value(m, SpvOpFOrdLessThan, T_BOOL, x, least);
  uint32_t is_number = spirv_value(m, SpvOpFOrdEqual, T_BOOL, x, x);
  uint32_t outside = spirv_value(m, SpvOpLogicalOr, T_BOOL, above, below);
  uint32_t inside = spirv_value(m, SpvOpLogicalAnd, T_BOOL, is_number, spirv_value(m, SpvOpLogicalNot, T_BOOL, outside));
  uint32_t safe = spirv_value(m, SpvOpSelect, type, inside, x, zero);
  uint32_t number = spirv_value(m, is_signed ? SpvOpConvertFToS : SpvOpConvertFToU, result, safe);
  number = spirv_value(m, SpvOpSelect, result, above, spirv_constant(m, result, most), number);
  if (!is_signed) return number;
  return spirv_value(m, SpvOpSelect, result, below, spirv_constant(m, result, most + 1), number);
}

static uint32_t vector(spirv_emitter *e, const vyre_kernel_insn *in, spirv_type type) {
  uint32_t words[4], lanes = spirv_lanes(type);
  for (uint32_t i = 0; i < lanes; i++) words[i] = spirv_use(e, in->arg[i]);
  return spirv_value_words(&e->m, SpvOpCompositeConstruct, spirv_type_id(&e->m, type), words, lanes);
}

static uint32_t select(spirv_emitter *e, const vyre_kernel_insn *in, spirv_type type) {
  uint32_t condition = spirv_use(e, in->arg[0]), yes = spirv_use(e, in->arg[1]), no = spirv_use(e, in->arg[2]);
  return spirv_select(&e->m, type, condition, yes, no);
}

uint32_t spirv_operator(spirv_emitter *e, const vyre_kernel_insn *in) {
  const vyre_kernel_type from = spirv_value_type(e, in->arg[0]), to = spirv_value_type(e, in->result);
  if (in->op < sizeof rows / sizeof *rows) {
    const row *r = &rows[in->op];
    uint32_t op = instruction_for(r, from.cls);
    uint32_t special = is_arithmetic(in->op) && from.cls == VYRE_KERNEL_CLASS_FLOAT ? spirv_with_zero(e, in) : 0;
    if (special == 0) special = spirv_exact(e, in);
    if (special != 0) return special;
    if (op != 0) return by_row(e, in, r, from.cls, op);
  }
  switch (in->op) {
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX: return choose(e, in, from);
    case VYRE_KERNEL_REM_RAW: return signed_remainder(e, in, spirv_type_of(to));
    case VYRE_KERNEL_MULHI: return high_half(e, in, from);
    case VYRE_KERNEL_ABS: return spirv_glsl(&e->m, GLSLstd450SAbs, T_U32, spirv_use(e, in->arg[0]));
    case VYRE_KERNEL_CLZ: return leading_zeros(e, spirv_use(e, in->arg[0]));
    case VYRE_KERNEL_CTZ: return trailing_zeros(e, spirv_use(e, in->arg[0]));
    case VYRE_KERNEL_SELECT: return select(e, in, spirv_type_of(to));
    case VYRE_KERNEL_VECTOR: return vector(e, in, spirv_type_of(to));
    case VYRE_KERNEL_EXTRACT:
      return spirv_value(&e->m, SpvOpCompositeExtract, spirv_type_of(to), spirv_use(e, in->arg[0]), in->arg[1]);
    case VYRE_KERNEL_ROTL:
    case VYRE_KERNEL_ROTR: return rotate(e, in, from);
    case VYRE_KERNEL_TO_INT: return to_int(e, in, from, to);
    case VYRE_KERNEL_RESIZE:
    case VYRE_KERNEL_TO_FLOAT:
    case VYRE_KERNEL_REFLOAT:
    case VYRE_KERNEL_BITCAST: return convert(e, in, from, to);
    default:
      spirv_fail(e, VYRE_ERR_UNSUPPORTED,
                 "the emitter has no opcode 0x%03x of %s. Fix: use a plugin of the same release as libvyre", in->op,
                 gpu_type_name(from));
      return 0;
  }
}
