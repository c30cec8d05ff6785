/* Exact arithmetic and correctly rounded conversions. */
#include "ir/text_const.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/narrow.h"
#include "ir/program.h"

/* ---- Integers ------------------------------------------------------------------------------ */

const char text_zero_divisor[] = "division by 0";
static const char overflow[] = "the result does not fit 128 bits";
static const char bad_shift[] = "a shift takes a count from 0 to 127";

bool text_folds(vyre_op op) {
  switch (op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_MOD:
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
    case VYRE_OP_BITAND:
    case VYRE_OP_BITOR:
    case VYRE_OP_BITXOR:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_NEG: return true;
    default: return false;
  }
}

static const char *divide(vyre_op op, text_int x, text_int y, text_int *out) {
  if (y == 0) return text_zero_divisor;
  if (y == -1) {
    if (op == VYRE_OP_MOD) return *out = 0, NULL;
    return __builtin_sub_overflow((text_int)0, x, out) ? overflow : NULL;
  }
  *out = op == VYRE_OP_DIV ? x / y : x % y;
  return NULL;
}

static const char *shift(vyre_op op, text_int x, text_int y, text_int *out) {
  if (y < 0 || y > 127) return bad_shift;
  if (op == VYRE_OP_SHR) return *out = x >> (int)y, NULL;
  *out = (text_int)((unsigned __int128)x << (int)y);
  return *out >> (int)y == x ? NULL : overflow;
}

const char *text_fold(vyre_op op, text_int x, text_int y, text_int *out) {
  switch (op) {
    case VYRE_OP_ADD: return __builtin_add_overflow(x, y, out) ? overflow : NULL;
    case VYRE_OP_SUB: return __builtin_sub_overflow(x, y, out) ? overflow : NULL;
    case VYRE_OP_MUL: return __builtin_mul_overflow(x, y, out) ? overflow : NULL;
    case VYRE_OP_NEG: return __builtin_sub_overflow((text_int)0, x, out) ? overflow : NULL;
    case VYRE_OP_DIV:
    case VYRE_OP_MOD: return divide(op, x, y, out);
    case VYRE_OP_SHL:
    case VYRE_OP_SHR: return shift(op, x, y, out);
    case VYRE_OP_BITAND: return *out = x & y, NULL;
    case VYRE_OP_BITOR: return *out = x | y, NULL;
    case VYRE_OP_BITXOR: return *out = x ^ y, NULL;
    case VYRE_OP_MIN: return *out = x < y ? x : y, NULL;
    case VYRE_OP_MAX: return *out = x > y ? x : y, NULL;
    default: return "it is not an operator of constants";
  }
}

static uint64_t f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double float_value(vyre_type type, uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float single;
  double wide;
  memcpy(&single, &low, sizeof single);
  memcpy(&wide, &bits, sizeof wide);
  return type == VYRE_TYPE_F32 ? (double)single : wide;
}

/* Whether |value| is a sum of |width| adjacent bits, which is when a float of that precision holds it. */
static bool is_exact(text_int value, uint32_t width) {
  unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  if (magnitude == 0) return true;
  while ((magnitude & 1) == 0) magnitude >>= 1;
  return magnitude >> width == 0;
}

bool text_int_bits(vyre_type type, text_int value, uint64_t *bits) {
  switch (type) {
    case VYRE_TYPE_U32: return *bits = (uint32_t)value, value >= 0 && value <= UINT32_MAX;
    case VYRE_TYPE_I32: return *bits = (uint32_t)value, value >= INT32_MIN && value <= INT32_MAX;
    case VYRE_TYPE_U64: return *bits = (uint64_t)value, value >= 0 && value <= UINT64_MAX;
    case VYRE_TYPE_I64: return *bits = (uint64_t)value, value >= INT64_MIN && value <= INT64_MAX;
    case VYRE_TYPE_F32: return *bits = f32_bits((float)value), is_exact(value, 24);
    case VYRE_TYPE_F64: return *bits = f64_bits((double)value), is_exact(value, 53);
    default: return false;
  }
}

text_int text_int_value(vyre_type type, uint64_t bits) {
  switch (type) {
    case VYRE_TYPE_I32: return (int32_t)(uint32_t)bits;
    case VYRE_TYPE_I64: return (int64_t)bits;
    default: return bits;
  }
}

/* ---- Floats -------------------------------------------------------------------------------- */

/* Up to 15 digits and a power of ten up to 22 are exact doubles, so one division or multiplication rounds once. */
static bool read_short(const char *digits, uint32_t bytes, double *value) {
  static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  if (bytes > 16) return false;
  uint64_t whole = 0;
  uint32_t fraction = 0;
  bool point = false;
  for (uint32_t i = 0; i < bytes; i++) {
    if (digits[i] == '.' && !point) {
      point = true;
    } else if (digits[i] >= '0' && digits[i] <= '9') {
      whole = whole * 10 + (uint64_t)(digits[i] - '0');
      fraction += point;
    } else {
      return false;
    }
  }
  if (whole >= (uint64_t)1 << 53) return false;
  *value = (double)whole / powers[fraction];
  return true;
}

/* A double that lies half way between two floats, or is the neighbour of such a one, does not tell how the decimal
 * text rounds to f32. */
static bool rounds_alike(double value) {
  uint64_t bits = f64_bits(value), tail = bits & 0x1FFFFFFF;
  bool normal = value == 0 || (fabs(value) >= 0x1p-126 && fabs(value) < 0x1p127);
  return normal && (tail < 0x0FFFFFFF || tail > 0x10000001);
}

static text_float_result read_long(vyre_type type, const char *digits, uint32_t bytes, uint64_t *bits) {
  char small[128], *copy = bytes < sizeof small ? small : malloc((size_t)bytes + 1);
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  text_float_result result = TEXT_FLOAT_MEMORY;
  if (copy != NULL && c_locale != (locale_t)0) {
    memcpy(copy, digits, bytes);
    copy[bytes] = 0;
    int saved = errno;
    *bits = type == VYRE_TYPE_F32 ? f32_bits(strtof_l(copy, NULL, c_locale)) : f64_bits(strtod_l(copy, NULL, c_locale));
    errno = saved;
    result = isinf(float_value(type, *bits)) ? TEXT_FLOAT_RANGE : TEXT_FLOAT_OK;
  }
  if (c_locale != (locale_t)0) freelocale(c_locale);
  if (copy != small) free(copy);
  return result;
}

text_float_result text_float_bits(vyre_type type, const char *digits, uint32_t bytes, uint64_t *bits) {
  double value;
  if (read_short(digits, bytes, &value) && (type == VYRE_TYPE_F64 || rounds_alike(value))) {
    *bits = type == VYRE_TYPE_F64 ? f64_bits(value) : f32_bits((float)value);
    return TEXT_FLOAT_OK;
  }
  return read_long(type, digits, bytes, bits);
}

static double fold_double(vyre_op op, double x, double y) {
  switch (op) {
    case VYRE_OP_ADD: return x + y;
    case VYRE_OP_SUB: return x - y;
    case VYRE_OP_MUL: return x * y;
    case VYRE_OP_DIV: return x / y;
    default: break;
  }
  if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
  bool less = x < y || (x == y && signbit(x) && !signbit(y));
  return less == (op == VYRE_OP_MIN) ? x : y;
}

static bool folds_float(vyre_op op) {
  return (op >= VYRE_OP_ADD && op <= VYRE_OP_DIV) || op == VYRE_OP_MIN || op == VYRE_OP_MAX || op == VYRE_OP_NEG;
}

bool text_fold_float(vyre_op op, vyre_type type, uint64_t x, uint64_t y, uint64_t *out) {
  if (!folds_float(op)) return false;
  /* A double has more than twice the digits of a float, so rounding its result to float is rounding once. */
  double left = float_value(type, x), right = float_value(type, y);
  double result = op == VYRE_OP_NEG ? -left : fold_double(op, left, right);
  if (isnan(result)) *out = type == VYRE_TYPE_F32 ? 0x7FC00000u : 0x7FF8000000000000u;
  else *out = type == VYRE_TYPE_F32 ? f32_bits((float)result) : f64_bits(result);
  return true;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static bool parses_back(const char *text, vyre_type type, uint64_t bits) {
  uint64_t again;
  bool negative = text[0] == '-';
  uint64_t sign = type == VYRE_TYPE_F32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
  return text_float_bits(type, text + negative, (uint32_t)strlen(text + negative), &again) == TEXT_FLOAT_OK &&
         (again | (negative ? sign : 0)) == bits;
}

/* 1e+20 as 1e20, 1e-07 as 1e-7, 3 as 3.0, and whatever the locale's point is as a point. */
static void tidy(char *text) {
  char *to = text, *from = text;
  bool point = false;
  for (; *from != 0 && *from != 'e'; from++) {
    bool kept = (*from >= '0' && *from <= '9') || *from == '-';
    if (kept) *to++ = *from;
    else if (!point) *to++ = '.';
    point |= !kept;
  }
  if (*from == 0) {
    strcpy(to, point ? "" : ".0");
    return;
  }
  *to++ = *from++;
  if (*from == '-') *to++ = '-';
  from++;
  while (*from == '0' && from[1] != 0) from++;
  memmove(to, from, strlen(from) + 1);
}

void text_write_float(char out[TEXT_NUMBER_BYTES], vyre_type type, uint64_t bits) {
  double value = float_value(type, bits);
  int most = type == VYRE_TYPE_F32 ? 9 : 17;
  /* Of normal numbers, all with so many digits survive, so fewer come out when the zeros at the end are dropped. */
  bool normal = fabs(value) >= (type == VYRE_TYPE_F32 ? 0x1p-126 : 0x1p-1022);
  for (int digits = normal ? most - 3 : 1; digits <= most; digits++) {
    snprintf(out, TEXT_NUMBER_BYTES, "%.*g", digits, value);
    tidy(out);
    if (parses_back(out, type, bits)) return;
  }
}

void text_write_int(char out[TEXT_NUMBER_BYTES], text_int value) {
  unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  char reversed[TEXT_NUMBER_BYTES];
  uint32_t count = 0;
  do reversed[count++] = (char)('0' + (int)(magnitude % 10));
  while ((magnitude /= 10) != 0);
  if (value < 0) *out++ = '-';
  while (count > 0) *out++ = reversed[--count];
  *out = 0;
}

/* ---- Elements ------------------------------------------------------------------------------ */

uint64_t text_narrow(vyre_type element, uint64_t bits) {
  switch (element) {
    case VYRE_TYPE_U8:
    case VYRE_TYPE_I8: return (uint8_t)bits;
    case VYRE_TYPE_U16:
    case VYRE_TYPE_I16: return (uint16_t)bits;
    case VYRE_TYPE_F16: return vyre_f16_from_f32((uint32_t)bits);
    case VYRE_TYPE_BF16: return vyre_bf16_from_f32((uint32_t)bits);
    default: return bits;
  }
}

uint64_t text_widen(vyre_type element, uint64_t bits) {
  switch (element) {
    case VYRE_TYPE_I8: return (uint32_t)(int8_t)bits;
    case VYRE_TYPE_I16: return (uint32_t)(int16_t)bits;
    case VYRE_TYPE_F16: return vyre_f32_from_f16((uint16_t)bits);
    case VYRE_TYPE_BF16: return vyre_f32_from_bf16((uint16_t)bits);
    default: return bits;
  }
}
