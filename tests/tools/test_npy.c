/* NumPy files: every element type in and out, every form of header that is right, and hostile ones. */
#include "../../tools/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static char reason[NPY_REASON_BYTES];

/* A file of |version| with |header| as it stands and |data|; gives its length. */
static size_t make(uint8_t file[1024], unsigned version, const char *header, const void *data, size_t bytes) {
  size_t header_bytes = strlen(header), prefix = version == 1 ? 10 : 12;
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (uint8_t)version;
  file[7] = 0;
  for (size_t i = 8; i < prefix; i++) file[i] = (uint8_t)(header_bytes >> 8 * (i - 8));
  memcpy(file + prefix, header, header_bytes);
  memcpy(file + prefix + header_bytes, data, bytes);
  return prefix + header_bytes + bytes;
}

/* Decodes a copy without slack, so that a read beyond it is seen by valgrind and sanitizers. */
static bool decode(const uint8_t *file, size_t length, vyre_type type, uint8_t **data, uint64_t *count) {
  uint8_t *exact = malloc(length ? length : 1);
  memcpy(exact, file, length);
  memset(reason, 0, sizeof reason);
  bool good = npy_decode(exact, length, type, data, count, reason);
  free(exact);
  ck_assert_msg(good || strstr(reason, "Fix: ") != NULL, "a refusal without a fix: %s", reason);
  ck_assert_msg(good || *data == NULL, "data in spite of: %s", reason);
  return good;
}

static void check_u32(unsigned version, const char *header) {
  uint8_t file[1024], *data;
  uint64_t count;
  const uint32_t values[] = {1, 0x01020304, 0xFFFFFFFF};
  size_t length = make(file, version, header, values, sizeof values);
  ck_assert_msg(decode(file, length, VYRE_TYPE_U32, &data, &count), "%s: %s", header, reason);
  ck_assert_uint_eq(count, 3);
  ck_assert_mem_eq(data, values, sizeof values);
  free(data);
}

#define GOOD "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }"

START_TEST(headers_that_are_right) {
  check_u32(1, GOOD "\n");
  check_u32(2, GOOD "          \n");
  check_u32(3, GOOD "\n");
  check_u32(1, "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<u4\"}");
  check_u32(1, "\t{ 'fortran_order' : False ,\n 'descr' : '=u4' , 'shape' : ( 3 , ) }  \n");
  check_u32(1, "{'descr': '<u4', 'fortran_order': True, 'shape': (3,), }\n");
  check_u32(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (1, 3), }\n");
  check_u32(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 1, 1,), }\n");
}
END_TEST

START_TEST(a_scalar_is_one_element) {
  uint8_t file[1024], *data;
  uint64_t count;
  size_t length = make(file, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (), }\n", "abcd", 4);
  ck_assert_msg(decode(file, length, VYRE_TYPE_U32, &data, &count), "%s", reason);
  ck_assert_uint_eq(count, 1);
  free(data);
}
END_TEST

START_TEST(empty_arrays_are_right) {
  const char *shapes[] = {"(0,)", "(0, 5)", "(18446744073709551615, 0, 18446744073709551615)"};
  for (size_t i = 0; i < 3; i++) {
    uint8_t file[1024], *data;
    uint64_t count = 7;
    char header[160];
    snprintf(header, sizeof header, "{'descr': '<u4', 'fortran_order': False, 'shape': %s, }\n", shapes[i]);
    size_t length = make(file, 1, header, "", 0);
    ck_assert_msg(decode(file, length, VYRE_TYPE_U32, &data, &count), "%s: %s", shapes[i], reason);
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_nonnull(data);
    free(data);
  }
}
END_TEST

static void check_refused(const char *header, size_t data_bytes) {
  uint8_t file[1024], *data;
  uint64_t count;
  size_t length = make(file, 1, header, "0123456789abcdef", data_bytes);
  ck_assert_msg(!decode(file, length, VYRE_TYPE_U32, &data, &count), "accepted: %s", header);
}

START_TEST(headers_that_are_wrong) {
  static const char *const headers[] = {
      "",
      "\n",
      "{",
      "}",
      "{}",
      "[]",
      "()",
      "{'descr'}",
      "{'descr': }",
      "{'descr': '<u4'",
      "{'descr': '<u4',",
      GOOD "x",
      GOOD "}",
      GOOD GOOD,
      ("x" GOOD),
      "{'descr': '<u4' 'fortran_order': False, 'shape': (3,), }",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), ,}",
      "{,'descr': '<u4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u4', 'fortran_order': False}",
      "{'descr': '<u4', 'shape': (3,)}",
      "{'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
      "{'descr': '<u4', 'fortran_order': false, 'shape': (3,)}",
      "{'descr': '<u4', 'fortran_order': 0, 'shape': (3,)}",
      "{'descr': '<u4', 'fortran_order': Falsey, 'shape': (3,)}",
      "{'descr': '<u4', 'fortran_order': True, 'shape': (3, 1)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': 3}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': [3]}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3,,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (-3,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (+3,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3.0,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (03,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (0x3,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3L,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (3 3,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (True,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 3)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (9223372036854775808, 2)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (4611686018427387907,)}", /* times 4 is 12 */
      "{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<u4', 'fortran_order': False, 'shape': (4,)}",
      "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u8', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '|u4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': 'u4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u44', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '\\x3cu4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u4\", 'fortran_order': False, 'shape': (3,)}",
      "{'descr': u'<u4', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<u4<u4<u4<u4<u4<u4<u4<u4<u4<u4<u4<u4<u4<u4', 'fortran_order': False, 'shape': (3,)}",
      "{'d\xC3\xA9scr': '<u4', 'fortran_order': False, 'shape': (3,)}",
  };
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) check_refused(headers[i], 12);
  check_refused(GOOD "\n", 11);
  check_refused(GOOD "\n", 13);
  check_refused(GOOD "\n", 0);
}
END_TEST

START_TEST(more_dimensions_than_numpy_has_are_refused) {
  char header[512] = "{'descr': '<u4', 'fortran_order': False, 'shape': (3,";
  uint8_t file[1024], *data;
  uint64_t count;
  for (int i = 0; i < 31; i++) strcat(header, "1,");
  char more[520];
  snprintf(more, sizeof more, "%s1,)}", header);
  strcat(header, ")}");
  check_refused(more, 12);
  size_t length = make(file, 1, header, "0123456789ab", 12);
  ck_assert_msg(decode(file, length, VYRE_TYPE_U32, &data, &count), "%s", reason);
  free(data);
}
END_TEST

START_TEST(every_prefix_of_a_file_is_refused) {
  uint8_t file[1024], *data;
  uint64_t count;
  for (unsigned version = 1; version <= 3; version++) {
    size_t length = make(file, version, GOOD "\n", "0123456789ab", 12);
    for (size_t cut = 0; cut < length; cut++)
      ck_assert_msg(!decode(file, cut, VYRE_TYPE_U32, &data, &count), "version %u cut at %zu", version, cut);
  }
}
END_TEST

START_TEST(any_changed_byte_gives_an_answer) {
  uint8_t file[1024], *data;
  uint64_t count;
  size_t length = make(file, 1, GOOD "\n", "0123456789ab", 12);
  for (size_t at = 0; at < length - 12; at++) {
    uint8_t old = file[at];
    for (unsigned value = 0; value < 256; value++) {
      file[at] = (uint8_t)value;
      if (decode(file, length, VYRE_TYPE_U32, &data, &count)) {
        ck_assert_uint_eq(count, 3);
        free(data);
      }
    }
    file[at] = old;
  }
}
END_TEST

START_TEST(versions_that_are_unknown) {
  uint8_t file[1024], *data;
  uint64_t count;
  size_t length = make(file, 1, GOOD "\n", "0123456789ab", 12);
  file[6] = 0;
  ck_assert(!decode(file, length, VYRE_TYPE_U32, &data, &count));
  file[6] = 4;
  ck_assert(!decode(file, length, VYRE_TYPE_U32, &data, &count));
  ck_assert_ptr_nonnull(strstr(reason, "4.0"));
  file[6] = 1;
  file[7] = 1;
  ck_assert(!decode(file, length, VYRE_TYPE_U32, &data, &count));
}
END_TEST

/* The types that have a dtype, and it. */
static const struct {
  vyre_type type;
  const char *dtype;
} dtypes[] = {
    {VYRE_TYPE_BOOL, "|b1"},  {VYRE_TYPE_U8, "|u1"},    {VYRE_TYPE_I8, "|i1"},    {VYRE_TYPE_U16, "<u2"},
    {VYRE_TYPE_I16, "<i2"},   {VYRE_TYPE_U32, "<u4"},   {VYRE_TYPE_I32, "<i4"},   {VYRE_TYPE_U64, "<u8"},
    {VYRE_TYPE_I64, "<i8"},   {VYRE_TYPE_F16, "<f2"},   {VYRE_TYPE_F32, "<f4"},   {VYRE_TYPE_F64, "<f8"},
    {VYRE_TYPE_U32X2, "<u4"}, {VYRE_TYPE_U32X4, "<u4"}, {VYRE_TYPE_I32X2, "<i4"}, {VYRE_TYPE_I32X4, "<i4"},
    {VYRE_TYPE_F32X2, "<f4"}, {VYRE_TYPE_F32X4, "<f4"},
};
#define DTYPES (sizeof dtypes / sizeof dtypes[0])

START_TEST(written_files_read_back) {
  for (size_t i = 0; i < DTYPES; i++) {
    const vyre_type_info *info = vyre_type_describe(dtypes[i].type);
    uint8_t values[16 * 5], *file, *data;
    for (size_t k = 0; k < sizeof values; k++) values[k] = (uint8_t)(k * 37 + 1);
    const uint32_t bools[] = {1, 0, 0, 1, 1};
    if (dtypes[i].type == VYRE_TYPE_BOOL) memcpy(values, bools, sizeof bools);
    size_t length;
    uint64_t count;
    ck_assert(npy_encode(dtypes[i].type, values, 5, &file, &length));
    ck_assert_uint_eq(
        (length - 5 * info->lanes * (dtypes[i].type == VYRE_TYPE_BOOL ? 1 : info->bytes / info->lanes)) % 64, 0);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "{'descr': '%s', 'fortran_order': False, 'shape': (%u,), }", dtypes[i].dtype,
             5 * info->lanes);
    ck_assert_mem_eq(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    ck_assert_mem_eq(file + 10, wanted, strlen(wanted));
    ck_assert_int_eq(file[127], '\n');
    ck_assert_msg(decode(file, length, dtypes[i].type, &data, &count), "%s: %s", info->spelling, reason);
    ck_assert_uint_eq(count, 5);
    ck_assert_mem_eq(data, values, 5 * info->bytes);
    free(data);
    free(file);
  }
}
END_TEST

START_TEST(the_other_byte_order_is_turned) {
  for (size_t i = 0; i < DTYPES; i++) {
    const vyre_type_info *info = vyre_type_describe(dtypes[i].type);
    if (dtypes[i].dtype[0] == '|') continue;
    uint32_t size = info->bytes / info->lanes;
    uint8_t little[32], big[32], file[1024], *data;
    uint64_t count;
    char header[128];
    for (uint32_t k = 0; k < 2 * info->bytes; k++) {
      little[k] = (uint8_t)(k + 1);
      big[k / size * size + size - 1 - k % size] = (uint8_t)(k + 1);
    }
    snprintf(header, sizeof header, "{'descr': '>%s', 'fortran_order': False, 'shape': (%u,)}", dtypes[i].dtype + 1,
             2 * info->lanes);
    size_t length = make(file, 1, header, big, 2 * info->bytes);
    ck_assert_msg(decode(file, length, dtypes[i].type, &data, &count), "%s: %s", header, reason);
    ck_assert_uint_eq(count, 2);
    ck_assert_mem_eq(data, little, 2 * info->bytes);
    free(data);
  }
}
END_TEST

START_TEST(no_type_takes_another_dtype) {
  for (size_t i = 0; i < DTYPES; i++) {
    for (size_t k = 0; k < DTYPES; k++) {
      uint8_t file[1024], *data;
      uint64_t count;
      char header[128];
      uint8_t zeros[64] = {0};
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (8,)}", dtypes[k].dtype);
      size_t length = make(file, 1, header, zeros, 8u * (unsigned)(dtypes[k].dtype[2] - '0'));
      bool same = strcmp(dtypes[i].dtype, dtypes[k].dtype) == 0;
      ck_assert_int_eq(decode(file, length, dtypes[i].type, &data, &count), same);
      if (same) free(data);
    }
  }
}
END_TEST

START_TEST(any_byte_but_0_is_true) {
  uint8_t file[1024], *data;
  uint64_t count;
  const uint32_t wanted[] = {0, 1, 1, 1};
  const char *names[] = {"|b1", "?", "|?", "<b1"};
  for (size_t i = 0; i < 4; i++) {
    char header[128];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (4,)}", names[i]);
    size_t length = make(file, 1, header, "\x00\x01\x02\xFF", 4);
    ck_assert_msg(decode(file, length, VYRE_TYPE_BOOL, &data, &count), "%s: %s", header, reason);
    ck_assert_mem_eq(data, wanted, sizeof wanted);
    free(data);
  }
}
END_TEST

START_TEST(vectors_are_rows_or_multiples) {
  static const struct {
    const char *shape;
    bool is_good;
  } shapes[] = {{"(8,)", true},    {"(2, 4)", true},  {"(1, 2, 4)", true},
                {"(4, 2)", false}, {"(8, 1)", false}, {"(2, 2, 2)", false}};
  uint8_t file[1024], *data;
  uint64_t count;
  char header[128];
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}", shapes[i].shape);
    size_t length = make(file, 1, header, "01234567890123456789012345678901", 32);
    ck_assert_msg(decode(file, length, VYRE_TYPE_F32X4, &data, &count) == shapes[i].is_good, "%s", shapes[i].shape);
    if (!shapes[i].is_good) continue;
    ck_assert_uint_eq(count, 2);
    free(data);
  }
  size_t length =
      make(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "012345678901234567890123", 24);
  ck_assert(!decode(file, length, VYRE_TYPE_F32X4, &data, &count));
}
END_TEST

START_TEST(bf16_has_no_dtype) {
  uint8_t file[1024], *data;
  uint64_t count;
  size_t length = make(file, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", "0123", 4);
  ck_assert(!npy_has(VYRE_TYPE_BF16));
  ck_assert(!decode(file, length, VYRE_TYPE_BF16, &data, &count));
  ck_assert_ptr_nonnull(strstr(reason, "bf16"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {headers_that_are_right,
                                a_scalar_is_one_element,
                                empty_arrays_are_right,
                                headers_that_are_wrong,
                                more_dimensions_than_numpy_has_are_refused,
                                every_prefix_of_a_file_is_refused,
                                any_changed_byte_gives_an_answer,
                                versions_that_are_unknown,
                                written_files_read_back,
                                the_other_byte_order_is_turned,
                                no_type_takes_another_dtype,
                                any_byte_but_0_is_true,
                                vectors_are_rows_or_multiples,
                                bf16_has_no_dtype,
                                NULL};
  return run_suite("npy", 60, tests);
}
