/* Halves, and numbers as text. */
#include "../../tools/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

START_TEST(every_half_survives_f32) {
  for (uint32_t h = 0; h < 0x10000; h++) {
    bool nan16 = (h & 0x7FFF) > 0x7C00, nanb = (h & 0x7FFF) > 0x7F80;
    uint16_t back16 = number_f16(number_from_f16((uint16_t)h)), backb = number_bf16(number_from_bf16((uint16_t)h));
    if (nan16) {
      ck_assert_uint_eq(back16, h | 0x200);
    } else {
      ck_assert_uint_eq(back16, h);
    }
    if (nanb) {
      ck_assert_uint_eq(backb, h | 0x40);
    } else {
      ck_assert_uint_eq(backb, h);
    }
  }
}
END_TEST

/* Between two neighbours everything goes to the nearer one, and the middle to the even one. */
static void check_between(uint16_t low, uint16_t (*narrow)(float), float (*widen)(uint16_t)) {
  uint16_t high = (uint16_t)(low + 1);
  float a = widen(low), b = widen(high), middle = (float)(((double)a + (double)b) / 2);
  ck_assert_uint_eq(narrow(middle), low & 1 ? high : low);
  ck_assert_uint_eq(narrow(nextafterf(middle, a)), low);
  ck_assert_uint_eq(narrow(nextafterf(middle, b)), high);
  ck_assert_uint_eq(narrow(-middle), 0x8000 | (low & 1 ? high : low));
}

START_TEST(halves_round_to_nearest_even) {
  for (uint32_t h = 0; h < 0x7BFF; h++) check_between((uint16_t)h, number_f16, number_from_f16);
  for (uint32_t h = 1; h < 0x7F7F; h++) check_between((uint16_t)h, number_bf16, number_from_bf16);
  ck_assert_uint_eq(number_f16(65519.996f), 0x7BFF);
  ck_assert_uint_eq(number_f16(65520.0f), 0x7C00);
  ck_assert_uint_eq(number_f16(INFINITY), 0x7C00);
  ck_assert_uint_eq(number_f16(0x1p-25f), 0);
  ck_assert_uint_eq(number_f16(0x1.000002p-25f), 1);
  ck_assert_uint_eq(number_bf16(0x1.fffffep127f), 0x7F80);
}
END_TEST

static void check_print(vyre_type type, const void *element, const char *wanted) {
  char text[NUMBER_TEXT_BYTES];
  number_print(type, element, text);
  ck_assert_str_eq(text, wanted);
}

static void check_f32(float value, const char *wanted) {
  check_print(VYRE_TYPE_F32, &value, wanted);
}
static void check_f64(double value, const char *wanted) {
  check_print(VYRE_TYPE_F64, &value, wanted);
}

START_TEST(floats_are_printed_shortest) {
  check_f32(12, "12");
  check_f32(0.1f, "0.1");
  check_f32(-2.5f, "-2.5");
  check_f32(1.0f / 3, "0.33333334");
  check_f32(100, "100");
  check_f32(-1200.5f, "-1200.5");
  check_f32(16777216, "16777216");
  check_f32(1e10f, "10000000000");
  check_f32(123456790528.0f, "1.2345679e+11"); /* as an integer literal it would not be exact */
  check_f32(1e15f, "1e+15");
  check_f32(0.001f, "0.001");
  check_f32(0.00001f, "0.00001");
  check_f32(0.0000012f, "1.2e-06");
  check_f32(0x1p-149f, "1e-45");
  check_f32(0x1.fffffep127f, "3.4028235e+38");
  check_f32(0.0f, "0");
  check_f32(-0.0f, "-0.0");
  check_f32(INFINITY, "inf");
  check_f32(-INFINITY, "-inf");
  check_f32(NAN, "nan");
  check_f32(-NAN, "nan");
  check_f64(0.1, "0.1");
  check_f64(1.0 / 3, "0.3333333333333333");
  check_f64(123456789012345.0, "123456789012345");
  check_f64(5e-324, "5e-324");
  check_f64(9007199254740993.0, "9.007199254740992e+15");
  check_print(VYRE_TYPE_F16, &(uint16_t){0x2E66}, "0.1");
  check_print(VYRE_TYPE_F16, &(uint16_t){0x7BFF}, "65500");
  check_print(VYRE_TYPE_F16, &(uint16_t){0x0001}, "6e-08");
  check_print(VYRE_TYPE_BF16, &(uint16_t){0x3DCD}, "0.1");
  check_print(VYRE_TYPE_BF16, &(uint16_t){0x7F7F}, "3.39e+38");
}
END_TEST

START_TEST(integers_are_printed_whole) {
  check_print(VYRE_TYPE_U8, &(uint8_t){255}, "255");
  check_print(VYRE_TYPE_I8, &(int8_t){-128}, "-128");
  check_print(VYRE_TYPE_U16, &(uint16_t){65535}, "65535");
  check_print(VYRE_TYPE_I16, &(int16_t){-32768}, "-32768");
  check_print(VYRE_TYPE_U32, &(uint32_t){4294967295}, "4294967295");
  check_print(VYRE_TYPE_I32, &(int32_t){INT32_MIN}, "-2147483648");
  check_print(VYRE_TYPE_U64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
  check_print(VYRE_TYPE_I64, &(int64_t){INT64_MIN}, "-9223372036854775808");
  check_print(VYRE_TYPE_BOOL, &(uint32_t){7}, "1");
  check_print(VYRE_TYPE_BOOL, &(uint32_t){0}, "0");
}
END_TEST

/* What is printed must be a literal of the language that gives the same bits. */
static void check_round_trip(vyre_type type, uint64_t bits) {
  char text[NUMBER_TEXT_BYTES];
  uint64_t back = 0;
  vyre_error error = VYRE_ERROR_INIT;
  number_print(type, &bits, text);
  ck_assert_msg(number_parse(type, text, &back, &error) == VYRE_OK, "%s: %s", text, error.text);
  ck_assert_msg(back == bits, "%s gives %#lx, not %#lx", text, (unsigned long)back, (unsigned long)bits);
}

START_TEST(printed_numbers_parse_back) {
  for (uint32_t h = 0; h < 0x10000; h++) {
    if ((h & 0x7FFF) <= 0x7C00) check_round_trip(VYRE_TYPE_F16, h);
    if ((h & 0x7FFF) <= 0x7F80) check_round_trip(VYRE_TYPE_BF16, h);
    check_round_trip(VYRE_TYPE_U16, h);
    check_round_trip(VYRE_TYPE_I16, h);
    if (h < 0x100) check_round_trip(VYRE_TYPE_U8, h);
    if (h < 0x100) check_round_trip(VYRE_TYPE_I8, h);
  }
  uint64_t state = 1;
  for (int i = 0; i < 20000; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = state ^ state >> 29;
    float narrow;
    double wide;
    memcpy(&narrow, &bits, 4);
    memcpy(&wide, &bits, 8);
    if (!isnan(narrow)) check_round_trip(VYRE_TYPE_F32, bits_of(narrow));
    if (!isnan(wide)) check_round_trip(VYRE_TYPE_F64, bits);
    check_round_trip(VYRE_TYPE_U32, bits >> 32);
    check_round_trip(VYRE_TYPE_I32, bits >> 32);
    check_round_trip(VYRE_TYPE_U64, bits);
    check_round_trip(VYRE_TYPE_I64, bits);
  }
  check_round_trip(VYRE_TYPE_I64, 1ull << 63);
  check_round_trip(VYRE_TYPE_I32, 1u << 31);
  check_round_trip(VYRE_TYPE_BOOL, 0);
  check_round_trip(VYRE_TYPE_BOOL, 1);
}
END_TEST

START_TEST(values_outside_their_type_are_refused) {
  static const struct {
    vyre_type type;
    const char *text;
    vyre_status status;
  } wrong[] = {
      {VYRE_TYPE_U8, "256", VYRE_ERR_OUT_OF_RANGE},         {VYRE_TYPE_U8, "-1", VYRE_ERR_OUT_OF_RANGE},
      {VYRE_TYPE_I8, "128", VYRE_ERR_OUT_OF_RANGE},         {VYRE_TYPE_I8, "-129", VYRE_ERR_OUT_OF_RANGE},
      {VYRE_TYPE_U16, "65536", VYRE_ERR_OUT_OF_RANGE},      {VYRE_TYPE_I16, "32768", VYRE_ERR_OUT_OF_RANGE},
      {VYRE_TYPE_U32, "4294967296", VYRE_ERR_OUT_OF_RANGE}, {VYRE_TYPE_F16, "65520", VYRE_ERR_OUT_OF_RANGE},
      {VYRE_TYPE_U32, "", VYRE_ERR_INVALID_ARGUMENT},       {VYRE_TYPE_U32, "1x", VYRE_ERR_INVALID_ARGUMENT},
      {VYRE_TYPE_BOOL, "2", VYRE_ERR_INVALID_ARGUMENT},     {VYRE_TYPE_F32, "x", VYRE_ERR_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    uint64_t element = 0;
    vyre_error error = VYRE_ERROR_INIT;
    vyre_status status = number_parse(wrong[i].type, wrong[i].text, &element, &error);
    ck_assert_msg(status == wrong[i].status, "%s gives %s", wrong[i].text, vyre_status_name(status));
    ck_assert_msg(strstr(error.text, "Fix: ") != NULL, "%s: %s", wrong[i].text, error.text);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_half_survives_f32,
                                halves_round_to_nearest_even,
                                floats_are_printed_shortest,
                                integers_are_printed_whole,
                                printed_numbers_parse_back,
                                values_outside_their_type_are_refused,
                                NULL};
  return run_suite("number", 60, tests);
}
