/* Operations that several instructions of the kernel make together. The instructions that a pattern makes needless are
 * still written: ptxas drops what nobody uses. */
#include "plugins/cuda/ptx_emit.h"

/* ---- Funnel shifts --------------------------------------------------------------------------- */

/* A shift of u32 by a constant from 1 to 31. */
static bool is_shift(const ptx_emitter *e, uint32_t v, uint32_t op, uint32_t raw, uint32_t *of, uint32_t *by) {
  const vyre_kernel_insn *in = ptx_maker(e, v);
  uint64_t bits;
  if (in == NULL || (in->op != op && in->op != raw) || ptx_lanes(e, v) != 1) return false;
  if (!ptx_constant(e, in->arg[1], &bits) || (bits & 31) == 0 || (in->op == raw && bits > 31)) return false;
  *of = in->arg[0];
  *by = (uint32_t)bits & 31;
  return true;
}

/* high << n | low >> (32 - n) */
static bool funnel(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (ptx_value_type(e, in->result) != PTX_U32) return false;
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t high, low, n, m;
    if (!is_shift(e, in->arg[k], VYRE_KERNEL_SHL, VYRE_KERNEL_SHL_RAW, &high, &n)) continue;
    if (!is_shift(e, in->arg[1 - k], VYRE_KERNEL_SHR, VYRE_KERNEL_SHR_RAW, &low, &m) || n + m != 32) continue;
    ptx_define(e, in->result);
    ptx_line(e, "shf.l.wrap.b32 $0, $1, $2, $3;", ptx_scalar(e, in->result), ptx_scalar(e, low), ptx_scalar(e, high),
             ptx_number(e, n));
    return true;
  }
  return false;
}

/* ---- Products of bytes ----------------------------------------------------------------------- */

/* Byte |at| of a word, extended as its type does. */
typedef struct byte_of {
  uint32_t word, at;
  bool is_signed;
} byte_of;

static bool constant_is(const ptx_emitter *e, uint32_t v, uint64_t wanted) {
  uint64_t bits;
  return ptx_constant(e, v, &bits) && bits == wanted;
}

/* x >> 8 k & 255, x & 255, x >> 24. */
static bool is_unsigned_byte(const ptx_emitter *e, const vyre_kernel_insn *in, byte_of *out) {
  uint32_t by = 0, of;
  if (in->op == VYRE_KERNEL_AND) {
    uint32_t mask = constant_is(e, in->arg[1], 255) ? 1 : constant_is(e, in->arg[0], 255) ? 0 : 2;
    if (mask == 2) return false;
    *out = (byte_of){ in->arg[1 - mask], 0, false };
    if (!is_shift(e, out->word, VYRE_KERNEL_SHR, VYRE_KERNEL_SHR_RAW, &of, &by) || by % 8 != 0) return true;
    *out = (byte_of){ of, by / 8, false };
    return true;
  }
  if (!is_shift(e, in->result, VYRE_KERNEL_SHR, VYRE_KERNEL_SHR_RAW, &of, &by) || by != 24) return false;
  *out = (byte_of){ of, 3, false };
  return true;
}

/* x << (24 - 8 k) >> 24 of i32, x >> 24. */
static bool is_signed_byte(const ptx_emitter *e, const vyre_kernel_insn *in, byte_of *out) {
  uint32_t by, of;
  if (!is_shift(e, in->result, VYRE_KERNEL_SHR, VYRE_KERNEL_SHR_RAW, &of, &by) || by != 24) return false;
  *out = (byte_of){ of, 3, true };
  if (is_shift(e, of, VYRE_KERNEL_SHL, VYRE_KERNEL_SHL_RAW, &of, &by) && by % 8 == 0)
    *out = (byte_of){ of, 3 - by / 8, true };
  return true;
}

static bool is_byte(const ptx_emitter *e, uint32_t v, byte_of *out) {
  const vyre_kernel_insn *in = ptx_maker(e, v);
  if (in == NULL || ptx_lanes(e, v) != 1) return false;
  ptx_type type = ptx_value_type(e, v);
  if (type == PTX_U32) return is_unsigned_byte(e, in, out);
  return type == PTX_I32 && is_signed_byte(e, in, out);
}

/* A sum as its terms, at most |room|; 0 if there are more. Only sums that nobody else uses come apart. */
static uint32_t terms_of(const ptx_emitter *e, uint32_t v, uint32_t *terms, uint32_t room, bool is_root) {
  const vyre_kernel_insn *in = ptx_maker(e, v);
  if (room == 0) return 0;
  if (in == NULL || in->op != VYRE_KERNEL_ADD || (!is_root && e->uses[v] != 1)) {
    terms[0] = v;
    return 1;
  }
  uint32_t left = terms_of(e, in->arg[0], terms, room, false);
  uint32_t right = left == 0 ? 0 : terms_of(e, in->arg[1], terms + left, room - left, false);
  return right == 0 ? 0 : left + right;
}

static bool is_product(const ptx_emitter *e, uint32_t v, byte_of *a, byte_of *b) {
  const vyre_kernel_insn *in = ptx_maker(e, v);
  return in != NULL && in->op == VYRE_KERNEL_MUL && ptx_lanes(e, v) == 1 && is_byte(e, in->arg[0], a) &&
         is_byte(e, in->arg[1], b) && a->at == b->at;
}

/* c + a0 b0 + a1 b1 + a2 b2 + a3 b3, c left out or not. */
static bool dot(ptx_emitter *e, const vyre_kernel_insn *in) {
  uint32_t terms[5], count = terms_of(e, in->result, terms, 5, true), rest = 0, found = 0, words[2] = { 0, 0 };
  ptx_type type = ptx_value_type(e, in->result);
  if (count < 4 || (type != PTX_U32 && type != PTX_I32) || ptx_lanes(e, in->result) != 1) return false;
  for (uint32_t i = 0; i < count; i++) {
    byte_of a, b;
    if (!is_product(e, terms[i], &a, &b)) {
      if (rest != 0) return false;
      rest = terms[i];
      continue;
    }
    if (found == 0) words[0] = a.word, words[1] = b.word;
    bool swapped = a.word == words[1] && b.word == words[0];
    if (!swapped && (a.word != words[0] || b.word != words[1])) return false;
    if ((found >> a.at & 1) != 0) return false;
    found |= 1u << a.at;
  }
  if (found != 15) return false;
  ptx_define(e, in->result);
  ptx_line(e, type == PTX_I32 ? "dp4a.s32.s32 $0, $1, $2, $3;" : "dp4a.u32.u32 $0, $1, $2, $3;",
           ptx_scalar(e, in->result), ptx_scalar(e, words[0]), ptx_scalar(e, words[1]),
           rest != 0 ? ptx_scalar(e, rest) : ptx_number(e, 0));
  return true;
}

bool ptx_pattern(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0) return false;
  if (in->op == VYRE_KERNEL_OR) return ptx_lanes(e, in->result) == 1 && funnel(e, in);
  return in->op == VYRE_KERNEL_ADD && dot(e, in);
}
