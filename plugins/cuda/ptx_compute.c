/* Operators: a table of templates by opcode and type.
 *
 * Where PTX leaves something open, the template says it out: counts of shifts are masked (shf.wrap does so by itself),
 * division by 0 and MIN / -1 are selected away. min and max of floats are the language's by themselves: the PTX ISA has
 * "-0.0 < +0.0", and of a number and a NaN the number. neg and abs are not used: what they do to a NaN is open, and
 * abs.s32 of MIN too. */
#include "plugins/cuda/ptx_emit.h"

#define DIV_U(T, B, P) "setp.eq." T " $p0, $2, 0;\ndiv." T " $" P "0, $1, $2;\nselp." B " $0, -1, $" P "0, $p0;"
#define REM_U(T, B, P) "setp.eq." T " $p0, $2, 0;\nrem." T " $" P "0, $1, $2;\nselp." B " $0, 0, $" P "0, $p0;"
#define DIV_S(T, B, P)                                                                              \
  "setp.eq." T " $p0, $2, 0;\nsetp.eq." T " $p1, $2, -1;\ndiv." T " $" P "0, $1, $2;\nsub." T " $" P \
  "1, 0, $1;\nselp." B " $" P "2, $" P "1, $" P "0, $p1;\nselp." B " $0, 0, $" P "2, $p0;"
#define REM_S(T, B, P)                                                                             \
  "setp.eq." T " $p0, $2, 0;\nsetp.eq." T " $p1, $2, -1;\nor.pred $p2, $p0, $p1;\nrem." T " $" P "0, $1, $2;\nselp." B \
  " $0, 0, $" P "0, $p2;"
#define SHIFT64(op) "and.b32 $r0, $2, 63;\n" op ".b64 $0, $1, $r0;"
#define ROTATE64(there, back)                                                                   \
  "and.b32 $r0, $2, 63;\nsub.s32 $r1, 64, $r0;\n" there " $d0, $1, $r0;\n" back " $d1, $1, $r1;\n" \
  "or.b64 $0, $d0, $d1;"
#define ROUND(mode) "cvt." mode "^.f32.f32 $0, &1;", "cvt." mode ".f64.f64 $0, &1;"

/* u32, i32, u64, i64, f32, f64. */
#define ROWS(X)                                                                                                        \
  X(ADD, "add.s32 $0, $1, $2;", "add.s32 $0, $1, $2;", "add.s64 $0, $1, $2;", "add.s64 $0, $1, $2;",                   \
    "add%^.f32 $0, &1, &2;", "add%.f64 $0, &1, &2;")                                                                   \
  X(SUB, "sub.s32 $0, $1, $2;", "sub.s32 $0, $1, $2;", "sub.s64 $0, $1, $2;", "sub.s64 $0, $1, $2;",                   \
    "sub%^.f32 $0, &1, &2;", "sub%.f64 $0, &1, &2;")                                                                   \
  X(MUL, "mul.lo.s32 $0, $1, $2;", "mul.lo.s32 $0, $1, $2;", "mul.lo.s64 $0, $1, $2;", "mul.lo.s64 $0, $1, $2;",       \
    "mul%^.f32 $0, &1, &2;", "mul%.f64 $0, &1, &2;")                                                                   \
  X(DIV, DIV_U("u32", "b32", "r"), DIV_S("s32", "b32", "r"), DIV_U("u64", "b64", "d"), DIV_S("s64", "b64", "d"),       \
    "div.rn^.f32 $0, &1, &2;", "div.rn.f64 $0, &1, &2;")                                                               \
  X(REM, REM_U("u32", "b32", "r"), REM_S("s32", "b32", "r"), REM_U("u64", "b64", "d"), REM_S("s64", "b64", "d"), 0, 0) \
  X(DIV_RAW, "div.u32 $0, $1, $2;", "div.s32 $0, $1, $2;", "div.u64 $0, $1, $2;", "div.s64 $0, $1, $2;",               \
    "div.rn^.f32 $0, &1, &2;", "div.rn.f64 $0, &1, &2;")                                                               \
  X(REM_RAW, "rem.u32 $0, $1, $2;", "rem.s32 $0, $1, $2;", "rem.u64 $0, $1, $2;", "rem.s64 $0, $1, $2;", 0, 0)         \
  X(MULHI, "mul.hi.u32 $0, $1, $2;", "mul.hi.s32 $0, $1, $2;", "mul.hi.u64 $0, $1, $2;", "mul.hi.s64 $0, $1, $2;",     \
    0, 0)                                                                                                              \
  X(MIN, "min.u32 $0, $1, $2;", "min.s32 $0, $1, $2;", "min.u64 $0, $1, $2;", "min.s64 $0, $1, $2;",                   \
    "min^.f32 $0, &1, &2;", "min.f64 $0, &1, &2;")                                                                     \
  X(MAX, "max.u32 $0, $1, $2;", "max.s32 $0, $1, $2;", "max.u64 $0, $1, $2;", "max.s64 $0, $1, $2;",                   \
    "max^.f32 $0, &1, &2;", "max.f64 $0, &1, &2;")                                                                     \
  X(NEG, "sub.s32 $0, 0, $1;", "sub.s32 $0, 0, $1;", "sub.s64 $0, 0, $1;", "sub.s64 $0, 0, $1;",                       \
    "xor.b32 $0, $1, 0x80000000;", "xor.b64 $0, $1, 0x8000000000000000;")                                              \
  X(ABS, 0, "sub.s32 $r0, 0, $1;\nmax.s32 $0, $1, $r0;", 0, "sub.s64 $d0, 0, $1;\nmax.s64 $0, $1, $d0;",               \
    "and.b32 $0, $1, 0x7FFFFFFF;", "and.b64 $0, $1, 0x7FFFFFFFFFFFFFFF;")                                              \
  X(FMA, 0, 0, 0, 0, "fma.rn^.f32 $0, &1, &2, &3;", "fma.rn.f64 $0, &1, &2, &3;")                                      \
  X(AND, "and.b32 $0, $1, $2;", "and.b32 $0, $1, $2;", "and.b64 $0, $1, $2;", "and.b64 $0, $1, $2;", 0, 0)             \
  X(OR, "or.b32 $0, $1, $2;", "or.b32 $0, $1, $2;", "or.b64 $0, $1, $2;", "or.b64 $0, $1, $2;", 0, 0)                  \
  X(XOR, "xor.b32 $0, $1, $2;", "xor.b32 $0, $1, $2;", "xor.b64 $0, $1, $2;", "xor.b64 $0, $1, $2;", 0, 0)             \
  X(NOT, "not.b32 $0, $1;", "not.b32 $0, $1;", "not.b64 $0, $1;", "not.b64 $0, $1;", 0, 0)                             \
  X(SHL, "shf.l.wrap.b32 $0, 0, $1, $2;", "shf.l.wrap.b32 $0, 0, $1, $2;", SHIFT64("shl"), SHIFT64("shl"), 0, 0)       \
  X(SHR, "shf.r.wrap.b32 $0, $1, 0, $2;", "and.b32 $r0, $2, 31;\nshr.s32 $0, $1, $r0;",                                \
    "and.b32 $r0, $2, 63;\nshr.u64 $0, $1, $r0;", "and.b32 $r0, $2, 63;\nshr.s64 $0, $1, $r0;", 0, 0)                  \
  X(SHL_RAW, "shl.b32 $0, $1, $2;", "shl.b32 $0, $1, $2;", "shl.b64 $0, $1, $2;", "shl.b64 $0, $1, $2;", 0, 0)         \
  X(SHR_RAW, "shr.u32 $0, $1, $2;", "shr.s32 $0, $1, $2;", "shr.u64 $0, $1, $2;", "shr.s64 $0, $1, $2;", 0, 0)         \
  X(ROTL, "shf.l.wrap.b32 $0, $1, $1, $2;", "shf.l.wrap.b32 $0, $1, $1, $2;", ROTATE64("shl.b64", "shr.u64"),          \
    ROTATE64("shl.b64", "shr.u64"), 0, 0)                                                                              \
  X(ROTR, "shf.r.wrap.b32 $0, $1, $1, $2;", "shf.r.wrap.b32 $0, $1, $1, $2;", ROTATE64("shr.u64", "shl.b64"),          \
    ROTATE64("shr.u64", "shl.b64"), 0, 0)                                                                              \
  X(POPCOUNT, "popc.b32 $0, $1;", "popc.b32 $0, $1;", "popc.b64 $r0, $1;\ncvt.u64.u32 $0, $r0;",                       \
    "popc.b64 $r0, $1;\ncvt.u64.u32 $0, $r0;", 0, 0)                                                                   \
  X(CLZ, "clz.b32 $0, $1;", "clz.b32 $0, $1;", "clz.b64 $r0, $1;\ncvt.u64.u32 $0, $r0;",                               \
    "clz.b64 $r0, $1;\ncvt.u64.u32 $0, $r0;", 0, 0)                                                                    \
  X(CTZ, "brev.b32 $r0, $1;\nclz.b32 $0, $r0;", "brev.b32 $r0, $1;\nclz.b32 $0, $r0;",                                 \
    "brev.b64 $d0, $1;\nclz.b64 $r0, $d0;\ncvt.u64.u32 $0, $r0;",                                                      \
    "brev.b64 $d0, $1;\nclz.b64 $r0, $d0;\ncvt.u64.u32 $0, $r0;", 0, 0)                                                \
  X(REVERSE_BITS, "brev.b32 $0, $1;", "brev.b32 $0, $1;", "brev.b64 $0, $1;", "brev.b64 $0, $1;", 0, 0)                \
  X(EQ, "setp.eq.s32 $0, $1, $2;", "setp.eq.s32 $0, $1, $2;", "setp.eq.s64 $0, $1, $2;", "setp.eq.s64 $0, $1, $2;",    \
    "setp.eq^.f32 $0, &1, &2;", "setp.eq.f64 $0, &1, &2;")                                                             \
  X(NE, "setp.ne.s32 $0, $1, $2;", "setp.ne.s32 $0, $1, $2;", "setp.ne.s64 $0, $1, $2;", "setp.ne.s64 $0, $1, $2;",    \
    "setp.neu^.f32 $0, &1, &2;", "setp.neu.f64 $0, &1, &2;")                                                           \
  X(LT, "setp.lt.u32 $0, $1, $2;", "setp.lt.s32 $0, $1, $2;", "setp.lt.u64 $0, $1, $2;", "setp.lt.s64 $0, $1, $2;",    \
    "setp.lt^.f32 $0, &1, &2;", "setp.lt.f64 $0, &1, &2;")                                                             \
  X(LE, "setp.le.u32 $0, $1, $2;", "setp.le.s32 $0, $1, $2;", "setp.le.u64 $0, $1, $2;", "setp.le.s64 $0, $1, $2;",    \
    "setp.le^.f32 $0, &1, &2;", "setp.le.f64 $0, &1, &2;")                                                             \
  X(SQRT, 0, 0, 0, 0, "sqrt.rn^.f32 $0, &1;", "sqrt.rn.f64 $0, &1;")                                                   \
  X(FLOOR, 0, 0, 0, 0, ROUND("rmi"))                                                                                   \
  X(CEIL, 0, 0, 0, 0, ROUND("rpi"))                                                                                    \
  X(ROUND, 0, 0, 0, 0, ROUND("rni"))                                                                                   \
  X(TRUNC, 0, 0, 0, 0, ROUND("rzi"))                                                                                   \
  X(EXP2, 0, 0, 0, 0, "ex2.approx^.f32 $0, &1;", 0)

/* Those of bool. */
#define BOOL_ROWS(X)                                 \
  X(AND, "and.pred $0, $1, $2;")                     \
  X(OR, "or.pred $0, $1, $2;")                       \
  X(XOR, "xor.pred $0, $1, $2;")                     \
  X(NOT, "not.pred $0, $1;")                         \
  X(EQ, "xor.pred $p0, $1, $2;\nnot.pred $0, $p0;")  \
  X(NE, "xor.pred $0, $1, $2;")

const char *ptx_operator(uint32_t op, ptx_type type) {
  static const char *const bools[VYRE_KERNEL_EXP2 + 1] = {
#define X(name, text) [VYRE_KERNEL_##name] = text,
    BOOL_ROWS(X)
#undef X
  };
  static const char *const rows[VYRE_KERNEL_EXP2 + 1][6] = {
#define X(name, ...) [VYRE_KERNEL_##name] = { __VA_ARGS__ },
    ROWS(X)
#undef X
  };
  switch (op) {
    case VYRE_KERNEL_MIN_RAW: op = VYRE_KERNEL_MIN; break;
    case VYRE_KERNEL_MAX_RAW: op = VYRE_KERNEL_MAX; break;
    case VYRE_KERNEL_CLZ_RAW: op = VYRE_KERNEL_CLZ; break;
    case VYRE_KERNEL_CTZ_RAW: op = VYRE_KERNEL_CTZ; break;
  }
  if (op > VYRE_KERNEL_EXP2 || type >= PTX_TYPES) return NULL;
  return type == PTX_BOOL ? bools[op] : rows[op][type - PTX_U32];
}

/* A total opcode where what is known of the second operand allows the plain instruction. */
static uint32_t narrowed(const ptx_emitter *e, const vyre_kernel_insn *in, ptx_type type) {
  if (type == PTX_BOOL || ptx_is_float(type) || in->arg[1] == 0) return in->op;
  uint64_t bits, width = ptx_is_wide(type) ? 64 : 32, ones = ptx_is_wide(type) ? UINT64_MAX : UINT32_MAX;
  const vyre_kernel_value *second = gpu_value(e->h, in->arg[1]);
  bool is_unsigned = type == PTX_U32 || type == PTX_U64;
  bool divides = is_unsigned && second->least > 0;
  if (ptx_constant(e, in->arg[1], &bits)) divides |= bits != 0 && (is_unsigned || bits != ones);
  bool below = second->type.cls == VYRE_KERNEL_CLASS_UINT && second->type.lanes == 1 && second->most < width;
  switch (in->op) {
    case VYRE_KERNEL_DIV: return divides ? VYRE_KERNEL_DIV_RAW : in->op;
    case VYRE_KERNEL_REM: return divides ? VYRE_KERNEL_REM_RAW : in->op;
    case VYRE_KERNEL_SHL: return below ? VYRE_KERNEL_SHL_RAW : in->op;
    case VYRE_KERNEL_SHR: return below ? VYRE_KERNEL_SHR_RAW : in->op;
    default: return in->op;
  }
}

static bool select(ptx_emitter *e, const vyre_kernel_insn *in) {
  ptx_type type = ptx_value_type(e, in->arg[1]);
  ptx_operand condition = ptx_predicate(e, in->arg[0]);
  const char *text = type == PTX_BOOL
                       ? "and.pred $p0, $1, $2;\nnot.pred $p1, $1;\nand.pred $p2, $p1, $3;\nor.pred $0, $p0, $p2;"
                     : ptx_is_wide(type) ? "selp.b64 $0, $2, $3, $1;"
                                         : "selp.b32 $0, $2, $3, $1;";
  for (uint32_t k = 0; k < ptx_lanes(e, in->result); k++)
    ptx_line(e, text, ptx_part(e, in->result, k), condition, ptx_part(e, in->arg[1], k), ptx_part(e, in->arg[2], k));
  return true;
}

bool ptx_compute(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0 || in->arg[0] == 0) return false;
  ptx_define(e, in->result);
  if (in->op == VYRE_KERNEL_SELECT) return select(e, in);
  ptx_type type = ptx_value_type(e, in->arg[0]);
  const char *text = ptx_operator(narrowed(e, in, type), type);
  if (text == NULL) return false;
  for (uint32_t k = 0; k < ptx_lanes(e, in->result); k++) {
    ptx_operand o[4] = { ptx_part(e, in->result, k) };
    for (uint32_t i = 0; i < 3; i++) o[i + 1] = ptx_part(e, in->arg[i], k);
    ptx_write(e, text, o);
  }
  return true;
}
