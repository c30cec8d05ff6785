/* What only computes, by the words of the PTX ISA. */
#include <math.h>
#include <string.h>

#include "tests/cuda/machine_step.h"

static const uint64_t rubbish = 0xDEADBEEFCAFEF00Du;
__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static float single(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static double twice(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value, bool is_double, bool flushes) {
  if (isnan(value)) return is_double ? 0xFFF8000000000000u : 0x7FFFFFFFu; /* any would do */
  if (is_double) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  float low = (float)value;
  if (flushes && fabsf(low) < 0x1p-126f) low = copysignf(0, low);
  uint32_t bits;
  memcpy(&bits, &low, sizeof bits);
  return bits;
}

static uint32_t width_of(const char *type) {
  return type[1] == '6' ? 64 : type[1] == '3' ? 32 : type[1] == '1' ? 16 : 8;
}

static int64_t extended(uint64_t x, uint32_t bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }

static uint64_t low(uint64_t x, uint32_t bits) { return bits == 64 ? x : x & ((1ull << bits) - 1); }

/* ---- Integers -------------------------------------------------------------------------------- */

static uint64_t divide(bool remainder, bool is_signed, uint32_t bits, uint64_t a, uint64_t b) {
  int64_t x = extended(a, bits), y = extended(b, bits);
  if (b == 0 || (is_signed && y == -1 && x == extended(1ull << (bits - 1), bits))) return rubbish;
  if (is_signed) return (uint64_t)(remainder ? x % y : x / y);
  return remainder ? a % b : a / b;
}

static uint64_t reversed(uint64_t x, uint32_t bits) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < bits; i++) result |= (x >> i & 1) << (bits - 1 - i);
  return result;
}

static uint64_t shifted(const char *op, bool is_signed, uint32_t bits, uint64_t a, uint64_t count) {
  count = (uint32_t)count;
  bool over = count >= bits;
  if (op[2] == 'l') return over ? 0 : a << count;
  if (is_signed) return (uint64_t)(extended(a, bits) >> (over ? bits - 1 : count));
  return over ? 0 : a >> count;
}

static uint64_t dot(bool is_signed, uint64_t a, uint64_t b, uint64_t c) {
  for (uint32_t k = 0; k < 32; k += 8) {
    uint64_t x = a >> k & 255, y = b >> k & 255;
    c += is_signed ? (uint64_t)(extended(x, 8) * extended(y, 8)) : x * y;
  }
  return c;
}

static bool integer(const instruction *in, const uint64_t *x, uint64_t *result) {
  const char *op = in->part[0], *type = machine_type(in);
  bool is_signed = type[0] == 's';
  uint32_t bits = width_of(type);
  uint64_t a = low(x[0], bits), b = low(x[1], bits), c = x[2];
  int64_t sa = extended(a, bits), sb = extended(b, bits);
#define IS(name) (op[0] == (name)[0] && strcmp(op, name) == 0)
  if (IS("add")) *result = a + b;
  else if (IS("sub")) *result = a - b;
  else if (IS("mul") && machine_has(in, "lo")) *result = a * b;
  else if (IS("mul") && machine_has(in, "hi"))
    *result = is_signed ? (uint64_t)((signed_wide)sa * sb >> bits) : (uint64_t)((wide)a * b >> bits);
  else if (IS("mad") && machine_has(in, "lo")) *result = a * b + c;
  else if (IS("mad") && machine_has(in, "wide")) *result = a * b + c;
  else if (IS("div")) *result = divide(false, is_signed, bits, a, b);
  else if (IS("rem")) *result = divide(true, is_signed, bits, a, b);
  else if (IS("min")) *result = (is_signed ? sa < sb : a < b) ? a : b;
  else if (IS("max")) *result = (is_signed ? sa > sb : a > b) ? a : b;
  else if (IS("and")) *result = a & b;
  else if (IS("or")) *result = a | b;
  else if (IS("xor")) *result = a ^ b;
  else if (IS("not")) *result = ~a;
  else if (IS("shl") || IS("shr")) *result = shifted(op, is_signed, bits, a, x[1]);
  else if (IS("shf")) {
    uint64_t both = (uint32_t)a | (uint64_t)(uint32_t)b << 32;
    uint32_t n = (uint32_t)c & 31;
    *result = machine_has(in, "l") ? both << n >> 32 : both >> n;
  } else if (IS("popc")) *result = (uint64_t)__builtin_popcountll(a);
  else if (IS("clz")) *result = a == 0 ? bits : (uint64_t)__builtin_clzll(a) - (64 - bits);
  else if (IS("brev")) *result = reversed(a, bits);
  else if (IS("bfe")) *result = a >> (x[1] & 31) & ((1u << (c & 31)) - 1);
  else if (IS("dp4a")) *result = dot(is_signed, a, b, c);
  else if (IS("selp")) *result = (c & 1) != 0 ? a : b;
  else if (IS("mov") || IS("cvta")) *result = a;
  else return false;
  return true;
}

static bool predicate(const instruction *in, const uint64_t *x, uint64_t *result) {
  const char *op = in->part[0];
  uint64_t a = x[0] & 1, b = x[1] & 1;
  if (IS("and")) *result = a & b;
  else if (IS("or")) *result = a | b;
  else if (IS("xor")) *result = a ^ b;
  else if (IS("not")) *result = a ^ 1;
  else if (IS("mov")) *result = a;
  else return false;
  return true;
}

/* ---- Floats ---------------------------------------------------------------------------------- */

/* "-0.0 < +0.0 here" */
static double smaller(double a, double b) {
  if (isnan(a)) return b;
  if (isnan(b)) return a;
  return a < b || (a == b && signbit(a)) ? a : b;
}

static double larger(double a, double b) { return -smaller(-a, -b); }

static bool floating(const instruction *in, const uint64_t *x, uint64_t *result) {
  const char *op = in->part[0];
  bool is_double = machine_type(in)[1] == '6', flushes = machine_has(in, "ftz");
  uint64_t bits[3];
  for (int i = 0; i < 3; i++) {
    bits[i] = x[i];
    if (flushes && (x[i] & 0x7F800000) == 0) bits[i] &= 0x80000000u;
  }
  double a = is_double ? twice(bits[0]) : (double)single(bits[0]);
  double b = is_double ? twice(bits[1]) : (double)single(bits[1]);
  double c = is_double ? twice(bits[2]) : (double)single(bits[2]), y;
  if (IS("add")) y = is_double ? a + b : (double)((float)a + (float)b);
  else if (IS("sub")) y = is_double ? a - b : (double)((float)a - (float)b);
  else if (IS("mul")) y = is_double ? a * b : (double)((float)a * (float)b);
  else if (IS("div")) y = is_double ? a / b : (double)((float)a / (float)b);
  else if (IS("fma")) y = is_double ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
  else if (IS("sqrt")) y = is_double ? sqrt(a) : (double)sqrtf((float)a);
  else if (IS("min")) y = smaller(a, b);
  else if (IS("max")) y = larger(a, b);
  else if (IS("ex2")) y = (double)exp2f((float)a);
  else return false;
  *result = bits_of(y, is_double, flushes);
  return true;
}

/* ---- Conversions and comparisons -------------------------------------------------------------- */

static double half_of(uint64_t bits) {
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  double value = exponent == 31 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(fraction | 0x400, (int)exponent - 25);
  return bits & 0x8000 ? -value : value;
}

static uint64_t half_bits(double value) {
  uint64_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  int exponent;
  if (isnan(value)) return 0x7FFF;
  if (size >= 65520) return sign | 0x7C00;
  if (size < 0x1p-14) return sign | (uint64_t)nearbyint(size * 0x1p24);
  uint64_t fraction = (uint64_t)nearbyint(frexp(size, &exponent) * 2048);
  return sign | (((uint64_t)(exponent + 13) << 10) + fraction);
}

/* Clamped; of NaN 0 from f32 to 32 bits, else the sign bit of the result. */
static uint64_t to_integer(double v, const char *to, bool from_double) {
  uint32_t bits = width_of(to);
  double limit = ldexp(1, (int)bits - (to[0] == 's'));
  if (isnan(v)) return from_double || bits == 64 ? 1ull << (bits - 1) : 0;
  v = trunc(v);
  if (to[0] == 'u') return v <= 0 ? 0 : v >= limit ? UINT64_MAX : (uint64_t)v;
  if (v >= limit) return (1ull << (bits - 1)) - 1;
  return v < -limit ? 1ull << (bits - 1) : (uint64_t)(int64_t)v;
}

static bool convert(const instruction *in, uint64_t x, uint64_t *result) {
  const char *from = machine_type(in), *to = in->part[in->part_count - 2];
  bool flushes = machine_has(in, "ftz");
  if (from[0] != 'f') {
    uint64_t a = from[0] == 's' ? (uint64_t)extended(x, width_of(from)) : low(x, width_of(from));
    if (to[0] != 'f') *result = a;
    else if (to[1] == '6') *result = bits_of(from[0] == 's' ? (double)(int64_t)a : (double)a, true, false);
    else *result = bits_of((double)(from[0] == 's' ? (float)(int64_t)a : (float)a), false, false);
    return true;
  }
  double v = from[1] == '6' ? twice(x) : from[1] == '1' ? half_of(x & 0xFFFF) : (double)single(x);
  if (flushes && fabs(v) < 0x1p-126) v = copysign(0, v);
  if (to[0] != 'f') {
    *result = to_integer(v, to, from[1] == '6');
    return true;
  }
  if (machine_has(in, "rmi")) v = floor(v);
  if (machine_has(in, "rpi")) v = ceil(v);
  if (machine_has(in, "rni")) v = nearbyint(v);
  if (machine_has(in, "rzi")) v = trunc(v);
  *result = to[1] == '1' ? half_bits(v) : bits_of(v, to[1] == '6', flushes);
  return true;
}

static bool compared(const char *how, const char *type, bool flushes, uint64_t x, uint64_t y) {
  bool is_float = type[0] == 'f', is_signed = type[0] == 's';
  uint32_t bits = width_of(type);
  bool less, same, ordered = true;
  if (is_float) {
    double a = bits == 64 ? twice(x) : (double)single(x), b = bits == 64 ? twice(y) : (double)single(y);
    if (flushes && fabs(a) < 0x1p-126) a = 0;
    if (flushes && fabs(b) < 0x1p-126) b = 0;
    less = a < b;
    same = a == b;
    ordered = !isnan(a) && !isnan(b);
  } else {
    less = is_signed ? extended(x, bits) < extended(y, bits) : low(x, bits) < low(y, bits);
    same = low(x, bits) == low(y, bits);
  }
  if (strcmp(how, "eq") == 0) return same;
  if (strcmp(how, "ne") == 0) return ordered && !same;
  if (strcmp(how, "neu") == 0) return !same;
  if (strcmp(how, "num") == 0) return ordered;
  if (strcmp(how, "lt") == 0) return less;
  if (strcmp(how, "le") == 0) return less || same;
  return ordered && (strcmp(how, "ge") == 0 ? !less : !less && !same);
}

bool machine_compute(const instruction *in, const uint64_t *x, uint64_t *result) {
  const char *op = in->part[0], *type = machine_type(in);
  if (IS("cvt")) return convert(in, x[0], result);
  if (IS("setp")) {
    *result = compared(in->part[1], type, machine_has(in, "ftz"), x[0], x[1]);
    if (machine_has(in, "and")) *result &= x[2] & 1;
    if (machine_has(in, "or")) *result |= x[2] & 1;
    return true;
  }
  if (strcmp(type, "pred") == 0) return predicate(in, x, result);
  if (type[0] == 'f' && !IS("mov") && !IS("selp")) return floating(in, x, result);
  return integer(in, x, result);
}

uint64_t machine_update(const char *op, const char *type, uint64_t old, uint64_t b, uint64_t c, bool flushes) {
  uint32_t bits = width_of(type);
  bool is_signed = type[0] == 's';
  int64_t so = extended(old, bits), sb = extended(b, bits);
  if (IS("add") && type[0] == 'f') {
    if (flushes && (old & 0x7F800000) == 0) old &= 0x80000000u;
    if (flushes && (b & 0x7F800000) == 0) b &= 0x80000000u;
    return bits_of((double)(single(old) + single(b)), false, flushes);
  }
  if (IS("add")) return old + b;
  if (IS("and")) return old & b;
  if (IS("or")) return old | b;
  if (IS("xor")) return old ^ b;
  if (IS("exch")) return b;
  if (IS("cas")) return low(old, bits) == low(b, bits) ? c : old;
  if (IS("min")) return (is_signed ? sb < so : low(b, bits) < low(old, bits)) ? b : old;
  return (is_signed ? sb > so : low(b, bits) > low(old, bits)) ? b : old;
}
