/* Halves are converted by arithmetic on their bits, so that no compiler or processor need know them. */
#include "number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements in memory are little endian, as in files");

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* |value| without its lowest |drop| bits, 1 to 31, to nearest even. */
static uint32_t round_off(uint32_t value, uint32_t drop) {
  uint32_t half = 1u << (drop - 1);
  uint32_t odd = value >> drop & 1;
  return (value + half - 1 + odd) >> drop;
}

uint16_t number_f16(float value) {
  uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return (uint16_t)(sign | 0x7E00 | (magnitude >> 13 & 0x3FF)); /* NaN */
  if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7C00); /* 2^16 and more, infinity too */
  if (magnitude >= 0x38800000) return (uint16_t)(sign | round_off(magnitude - 0x38000000, 13)); /* normal: 2^-14 on */
  if (magnitude < 0x33000000) return (uint16_t)sign; /* below half of the least one, 2^-24 */
  uint32_t exponent = magnitude >> 23, significand = (magnitude & 0x7FFFFF) | 0x800000;
  return (uint16_t)(sign | round_off(significand, 126 - exponent));
}

uint16_t number_bf16(float value) {
  uint32_t bits = bits_of(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return (uint16_t)(bits >> 16 | 0x40);
  uint32_t odd = bits >> 16 & 1;
  return (uint16_t)((bits + 0x7FFF + odd) >> 16);
}

float number_from_f16(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 31) return float_of(sign | 0x7F800000 | fraction << 13);
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = (float)fraction * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

float number_from_bf16(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

/* Whether |text| reads back as |value| through |type|. */
static bool reads_back(vyre_type type, const char *text, double value) {
  switch (type) {
  case VYRE_TYPE_F16:
    return number_f16(strtof(text, NULL)) == number_f16((float)value);
  case VYRE_TYPE_BF16:
    return number_bf16(strtof(text, NULL)) == number_bf16((float)value);
  case VYRE_TYPE_F32:
    return strtof(text, NULL) == (float)value;
  default:
    return strtod(text, NULL) == value;
  }
}

/* Digits |digits|, the first before the point, times ten to |exponent|, without an exponent. */
static void write_fixed(const char *digits, int exponent, char *text) {
  if (exponent < 0) *text++ = '0';
  for (int place = exponent < 0 ? -1 : exponent; place >= 0 || *digits; place--) {
    if (place == -1) *text++ = '.';
    *text++ = place > exponent || !*digits ? '0' : *digits++;
  }
  *text = '\0';
}

/* Takes the digits of "d.ddde+x" apart, without zeros at the end, and gives x. */
static int split_digits(const char *scientific, char digits[NUMBER_TEXT_BYTES]) {
  int count = 0;
  for (; *scientific != 'e'; scientific++)
    if (*scientific != '.') digits[count++] = *scientific;
  while (count > 1 && digits[count - 1] == '0') count--;
  digits[count] = '\0';
  return atoi(scientific + 1);
}

/* A positive finite number. Without an exponent where that is short and, for a whole number, exact: it is read as an
 * integer literal, which a float takes only exactly. */
static void print_positive(vyre_type type, double value, char *text) {
  char scientific[NUMBER_TEXT_BYTES], digits[NUMBER_TEXT_BYTES];
  for (int more = 0; more < 17; more++) {
    snprintf(scientific, sizeof scientific, "%.*e", more, value);
    if (reads_back(type, scientific, value)) break;
  }
  int exponent = split_digits(scientific, digits);
  strcpy(text, scientific);
  if (exponent < -5 || exponent >= 15) return;
  char fixed[NUMBER_TEXT_BYTES];
  write_fixed(digits, exponent, fixed);
  bool is_exact = type == VYRE_TYPE_F64 || strchr(fixed, '.') || (double)strtof(fixed, NULL) == strtod(fixed, NULL);
  if (is_exact) strcpy(text, fixed);
}

static void print_float(vyre_type type, double value, char *text) {
  if (isnan(value)) {
    strcpy(text, "nan");
  } else if (isinf(value)) {
    strcpy(text, value < 0 ? "-inf" : "inf");
  } else if (value == 0) {
    strcpy(text, signbit(value) ? "-0.0" : "0");
  } else {
    if (value < 0) *text++ = '-';
    print_positive(type, fabs(value), text);
  }
}

void number_print(vyre_type type, const void *element, char text[NUMBER_TEXT_BYTES]) {
  uint64_t bits = 0;
  memcpy(&bits, element, vyre_type_describe(type)->bytes);
  double wide;
  memcpy(&wide, &bits, sizeof wide);
  switch (type) {
  case VYRE_TYPE_BOOL:
    strcpy(text, bits ? "1" : "0");
    break;
  case VYRE_TYPE_I8:
    snprintf(text, NUMBER_TEXT_BYTES, "%d", (int8_t)bits);
    break;
  case VYRE_TYPE_I16:
    snprintf(text, NUMBER_TEXT_BYTES, "%d", (int16_t)bits);
    break;
  case VYRE_TYPE_I32:
    snprintf(text, NUMBER_TEXT_BYTES, "%" PRId32, (int32_t)bits);
    break;
  case VYRE_TYPE_I64:
    snprintf(text, NUMBER_TEXT_BYTES, "%" PRId64, (int64_t)bits);
    break;
  case VYRE_TYPE_F16:
    print_float(type, number_from_f16((uint16_t)bits), text);
    break;
  case VYRE_TYPE_BF16:
    print_float(type, number_from_bf16((uint16_t)bits), text);
    break;
  case VYRE_TYPE_F32:
    print_float(type, float_of((uint32_t)bits), text);
    break;
  case VYRE_TYPE_F64:
    print_float(type, wide, text);
    break;
  default:
    snprintf(text, NUMBER_TEXT_BYTES, "%" PRIu64, bits);
    break;
  }
}

static vyre_status out_of_range(vyre_type type, const char *text, vyre_error *error) {
  error->status = VYRE_ERR_OUT_OF_RANGE;
  snprintf(error->text, sizeof error->text, "%.64s is outside %s. Fix: give a value that the type holds.", text,
           vyre_type_describe(type)->spelling);
  return error->status;
}

static vyre_status narrow_integer(vyre_type type, const char *text, uint64_t bits, void *element, vyre_error *error) {
  bool is_signed = vyre_type_describe(type)->value == VYRE_TYPE_I32;
  uint32_t bytes = vyre_type_describe(type)->bytes;
  int64_t value = is_signed ? (int32_t)bits : (int64_t)(uint32_t)bits;
  int64_t range = (int64_t)1 << (8 * bytes);
  int64_t least = is_signed ? -(range / 2) : 0;
  if (value < least || value >= least + range) return out_of_range(type, text, error);
  memcpy(element, &bits, bytes);
  return VYRE_OK;
}

static vyre_status narrow_float(vyre_type type, const char *text, uint64_t bits, void *element, vyre_error *error) {
  float value = float_of((uint32_t)bits);
  uint16_t half = type == VYRE_TYPE_F16 ? number_f16(value) : number_bf16(value);
  float back = type == VYRE_TYPE_F16 ? number_from_f16(half) : number_from_bf16(half);
  if (isinf(back) && !isinf(value)) return out_of_range(type, text, error);
  memcpy(element, &half, sizeof half);
  return VYRE_OK;
}

vyre_status number_parse(vyre_type type, const char *text, void *element, vyre_error *error) {
  const vyre_type_info *info = vyre_type_describe(type);
  if (type == VYRE_TYPE_BOOL && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0))
    text = text[0] == '1' ? "true" : "false";
  uint64_t bits;
  vyre_status status = vyre_text_literal(info->value, text, &bits, error);
  if (status != VYRE_OK) return status;
  if (info->value == type) {
    memcpy(element, &bits, info->bytes);
    return VYRE_OK;
  }
  return info->value == VYRE_TYPE_F32 ? narrow_float(type, text, bits, element, error)
                                      : narrow_integer(type, text, bits, element, error);
}
