/* elementwise.add: o[i] = a[i] + b[i]. Twelve bytes an element and one addition: nothing but memory. */
#include <string.h>

#include "base/narrow.h"
#include "harness/generate.h"
#include "harness/workload.h"

#define PROGRAM(type)                                                                                                  \
  "program elementwise_add workgroup(256) {\n"                                                                         \
  "  read a: " type "[];\n"                                                                                            \
  "  read b: " type "[];\n"                                                                                            \
  "  rw o: " type "[];\n"                                                                                              \
  "  let i = gid.x;\n"                                                                                                 \
  "  if (i < len(o)) {\n"                                                                                              \
  "    o[i] = a[i] + b[i];\n"                                                                                          \
  "  }\n"                                                                                                              \
  "}\n"

static void declare(bench_work *work, vyre_type type) {
  bench_work_array(work, "a", type, work->n, false);
  bench_work_array(work, "b", type, work->n, false);
  bench_work_array(work, "o", type, work->n, true);
}

static void *array(bench_work *work, const char *name) {
  return bench_work_find(work, name)->host;
}

static uint64_t one_each(uint64_t n) {
  return n;
}

/* In [-1, 1). */
static float centred(uint32_t stream, uint64_t i) {
  return 2 * bench_uniform(stream, (uint32_t)i) - 1;
}

/* ---- f32 --------------------------------------------------------------------------------------- */

static void declare_f32(bench_work *work) {
  declare(work, VYRE_TYPE_F32);
}

static uint64_t bytes_f32(uint64_t n) {
  return 12 * n;
}

static void generate_f32(bench_work *work) {
  float *a = array(work, "a"), *b = array(work, "b");
  for (uint64_t i = 0; i < work->n; i++) {
    a[i] = centred(1, i);
    b[i] = centred(2, i);
  }
}

static void generate_shape(bench_work *work) {
  float *a = array(work, "a"), *b = array(work, "b");
  for (uint64_t i = 0; i < work->n; i++) {
    a[i] = (float)i;
    b[i] = (float)(2 * i);
  }
}

static void expect_f32(bench_work *work) {
  const float *a = array(work, "a"), *b = array(work, "b");
  float *o = array(work, "o");
  for (uint64_t i = 0; i < work->n; i++) o[i] = a[i] + b[i];
}

const bench_workload bench_elementwise_add = {
    .id = "elementwise.add",
    .variant = "true",
    .title = "f32 add, a and b uniform in [-1, 1)",
    .bound = "bw_copy",
    .check = "every bit, against a loop in C",
    .declare = declare_f32,
    .bytes = bytes_f32,
    .ops = one_each,
    .generate = generate_f32,
    .expect = expect_f32,
    .program = PROGRAM("f32"),
};

const bench_workload bench_elementwise_add_shape = {
    .id = "elementwise.add",
    .variant = "shape",
    .title = "f32 add, a[i] = i and b[i] = 2i",
    .bound = "bw_copy",
    .check = "every bit, against a loop in C",
    .declare = declare_f32,
    .bytes = bytes_f32,
    .ops = one_each,
    .generate = generate_shape,
    .expect = expect_f32,
    .program = PROGRAM("f32"),
};

/* ---- 16-bit floats: added as f32, rounded once to the format ------------------------------------- */

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

typedef struct format {
  uint16_t (*narrow)(uint32_t bits);
  uint32_t (*widen)(uint16_t bits);
} format;

static const format f16 = {vyre_f16_from_f32, vyre_f32_from_f16};
static const format bf16 = {vyre_bf16_from_f32, vyre_f32_from_bf16};

static void generate_narrow(bench_work *work, const format *f) {
  uint16_t *a = array(work, "a"), *b = array(work, "b");
  for (uint64_t i = 0; i < work->n; i++) {
    a[i] = f->narrow(bits_of(centred(1, i)));
    b[i] = f->narrow(bits_of(centred(2, i)));
  }
}

static void expect_narrow(bench_work *work, const format *f) {
  const uint16_t *a = array(work, "a"), *b = array(work, "b");
  uint16_t *o = array(work, "o");
  for (uint64_t i = 0; i < work->n; i++) o[i] = f->narrow(bits_of(of_bits(f->widen(a[i])) + of_bits(f->widen(b[i]))));
}

static void declare_f16(bench_work *work) {
  declare(work, VYRE_TYPE_F16);
}
static void declare_bf16(bench_work *work) {
  declare(work, VYRE_TYPE_BF16);
}
static uint64_t bytes_16(uint64_t n) {
  return 6 * n;
}
static void generate_f16(bench_work *work) {
  generate_narrow(work, &f16);
}
static void generate_bf16(bench_work *work) {
  generate_narrow(work, &bf16);
}
static void expect_f16(bench_work *work) {
  expect_narrow(work, &f16);
}
static void expect_bf16(bench_work *work) {
  expect_narrow(work, &bf16);
}

const bench_workload bench_elementwise_add_f16 = {
    .id = "elementwise.add",
    .variant = "f16",
    .title = "f16 add, a and b uniform in [-1, 1)",
    .bound = "bw_copy",
    .check = "every bit, against a loop in C",
    .declare = declare_f16,
    .bytes = bytes_16,
    .ops = one_each,
    .generate = generate_f16,
    .expect = expect_f16,
    .program = PROGRAM("f16"),
};

const bench_workload bench_elementwise_add_bf16 = {
    .id = "elementwise.add",
    .variant = "bf16",
    .title = "bf16 add, a and b uniform in [-1, 1)",
    .bound = "bw_copy",
    .check = "every bit, against a loop in C",
    .declare = declare_bf16,
    .bytes = bytes_16,
    .ops = one_each,
    .generate = generate_bf16,
    .expect = expect_bf16,
    .program = PROGRAM("bf16"),
};

/* ---- u8 ---------------------------------------------------------------------------------------- */

static void declare_u8(bench_work *work) {
  declare(work, VYRE_TYPE_U8);
}

static uint64_t bytes_u8(uint64_t n) {
  return 3 * n;
}

static void generate_u8(bench_work *work) {
  uint8_t *a = array(work, "a"), *b = array(work, "b");
  for (uint64_t i = 0; i < work->n; i++) {
    a[i] = (uint8_t)bench_hash(1, (uint32_t)i);
    b[i] = (uint8_t)bench_hash(2, (uint32_t)i);
  }
}

static void expect_u8(bench_work *work) {
  const uint8_t *a = array(work, "a"), *b = array(work, "b");
  uint8_t *o = array(work, "o");
  for (uint64_t i = 0; i < work->n; i++) o[i] = (uint8_t)(a[i] + b[i]);
}

const bench_workload bench_elementwise_add_u8 = {
    .id = "elementwise.add",
    .variant = "u8",
    .title = "u8 add modulo 256",
    .bound = "bw_copy",
    .check = "every bit, against a loop in C",
    .declare = declare_u8,
    .bytes = bytes_u8,
    .ops = one_each,
    .generate = generate_u8,
    .expect = expect_u8,
    .program = PROGRAM("u8"),
};
