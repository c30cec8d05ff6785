/* What the arrays of the kernels start with, from the numbers that docs/benchmarks.md defines. */
#include <math.h>
#include <string.h>

#include "harness/generate.h"
#include "kernels/kernels.h"
#include "kernels/reference.h"

#define H bench_hash

/* Element |i| of an integer array, wrapped. */
static void put(kernel_array *array, uint64_t i, uint64_t value) {
  uint64_t bytes = array->bytes / array->count;
  memcpy((char *)array->data + i * bytes, &value, bytes); /* little endian, as arrays are */
}

static void fill_zero(kernel_array *array, uint32_t stream) {
  (void)array;
  (void)stream;
}

static void fill_bits(kernel_array *array, uint32_t stream) {
  for (uint64_t i = 0; i < array->count; i++) put(array, i, H(stream, (uint32_t)i));
}

/* In [-1, 1). */
static void fill_signed(kernel_array *array, uint32_t stream) {
  float *x = array->data;
  for (uint64_t i = 0; i < array->count; i++) x[i] = 2 * bench_uniform(stream, (uint32_t)i) - 1;
}

/* The key of FIPS 197, appendix A.1. */
static void fill_round_keys(kernel_array *array, uint32_t stream) {
  static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                  0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  (void)stream;
  reference_aes128_expand(key, array->data);
}

/* Characters of the alphabet, with one in 4096 that is none, and one of padding. */
static void fill_base64(kernel_array *array, uint32_t stream) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint32_t i = 0; i < array->count; i++) {
    uint32_t h = H(stream, i);
    put(array, i, h >> 20 == 0 ? '*' : (uint64_t)alphabet[h & 63]);
  }
  put(array, array->count - 1, '=');
}

/* All days of the years 0 to 9999. */
static void fill_days(kernel_array *array, uint32_t stream) {
  int32_t *days = array->data;
  for (uint32_t i = 0; i < array->count; i++) days[i] = (int32_t)(H(stream, i) % 3652425) - 719528;
}

/* Columns of rule.condition_eval. */
static void fill_rule(kernel_array *array, uint32_t column) {
  const uint32_t size = 10485760;
  for (uint32_t i = 0; i < array->count; i++) {
    uint32_t s = bench_mix32(i);
    const uint32_t of[] = {
        (s & 7) != 0,
        (bench_mix32(i ^ 0xA5A55A5A) & 7) + 1,
        bench_mix32(i ^ 0x517CC1B7) % size,
        s & 16383,
        bench_mix32(s ^ 0x9E3779B9) & 16383,
        bench_mix32(s ^ 0x85EBCA6B) & 16383,
        bench_mix32(s ^ 0xC2B2AE35) & 16383,
        (s >> 5) % 7 + 1,
        size - (s >> 11) % (size / 2),
        size - ((s >> 17) & 4095),
        size + ((s >> 3) & 8191),
        600 + (s >> 9) % 320,
    };
    put(array, i, of[column]);
  }
}

/* Bytes whose nature changes every 4096. */
static void fill_entropy(kernel_array *array, uint32_t stream) {
  for (uint32_t i = 0; i < array->count; i++) {
    uint32_t x = H(stream, i);
    const uint32_t of[] = {x & 255, 33 + x % 64, x & 15, 0};
    put(array, i, of[H(101, i >> 12) & 3]);
  }
}

/* 65536 c log2 c. */
static void fill_weights(kernel_array *array, uint32_t stream) {
  (void)stream;
  for (uint32_t c = 1; c < array->count; c++) put(array, c, (uint64_t)llround(65536.0 * c * log2(c)));
}

/* Columns of select.if. */
static void fill_filter(kernel_array *array, uint32_t column) {
  for (uint32_t i = 0; i < array->count; i++) {
    const uint32_t of[] = {bench_mix32(i ^ 0xA5A55A5A), 440 + (bench_mix32(i ^ 0x517CC1B7) & 255),
                           bench_mix32(17 * i + 0x9E3779B9) | 1};
    put(array, i, of[column]);
  }
}

/* Columns of select.partition. */
static void fill_routes(kernel_array *array, uint32_t column) {
  for (uint32_t i = 0; i < array->count; i++) {
    const uint32_t of[] = {bench_mix32(i ^ 0x4D595DF4), bench_mix32(31 * i + 0xA5A55A5A),
                           320 + (bench_mix32(i ^ 0x517CC1B7) & 511)};
    put(array, i, of[column]);
  }
}

static void put_le(uint8_t *at, uint32_t value, int bytes) {
  for (int k = 0; k < bytes; k++) at[k] = (uint8_t)(value >> (8 * k));
}

/* A file of rule.header_fields that is a PE file. */
static void make_executable(uint8_t *file, uint32_t f) {
  uint32_t e = 0x80 + 8 * (H(92, f) % 32), sections = 1 + H(94, f) % 8;
  bool wide = (H(93, f) & 1) != 0;
  uint32_t optional = wide ? 0xF0 : 0xE0;
  memcpy(file, "MZ", 2);
  put_le(file + 0x3C, e, 4);
  memcpy(file + e, "PE", 2);
  put_le(file + e + 4, wide ? 0x8664 : 0x014C, 2);
  put_le(file + e + 6, sections, 2);
  put_le(file + e + 8, H(95, f), 4);
  put_le(file + e + 20, optional, 2);
  put_le(file + e + 40, 0x1000 + H(96, f) % (sections * 0x1000), 4);
  for (uint32_t s = 0; s < sections; s++) {
    uint8_t *section = file + e + 24 + optional + 40 * s;
    put_le(section + 8, 0x1000, 4);
    put_le(section + 12, 0x1000 * (1 + s), 4);
    put_le(section + 36, (H(98, 16 * f + s) & 0x20000000) != 0 ? 0x60000020 : 0x40000040, 4);
  }
}

static void fill_executables(kernel_array *array, uint32_t stream) {
  (void)stream;
  for (uint32_t f = 0; f < array->count / 1024; f++) {
    uint8_t *file = (uint8_t *)array->data + f * 1024;
    if (H(91, f) % 5 == 0) {
      make_executable(file, f);
      continue;
    }
    for (uint32_t w = 0; w < 256; w++) put_le(file + 4 * w, w == 0 ? 0x464C457F : H(97, 256 * f + w), 4);
  }
}

/* Columns of rule.hit_bitmap. */
static void fill_hits(kernel_array *array, uint32_t column) {
  for (uint32_t i = 0; i < array->count; i++)
    put(array, i, column == 0 ? H(61, i) & 4095 : (H(62, i) >> 22) & (H(63, i) >> 22));
}

/* Arrays of quant.linear_i4_grouped for 256 inputs and 4096 outputs. */
static void fill_linear(kernel_array *array, uint32_t column) {
  static const float scales[] = {0.25f, 0.5f, 1, 2};
  float *f = array->data;
  uint32_t *u = array->data;
  for (uint32_t i = 0; i < array->count; i++) {
    uint32_t row = i / 4096, o = i % 4096;
    switch (column) {
      case 0: f[i] = (float)(i % 17); break;
      case 1:
        for (uint32_t k = 0; k < 8; k++) u[i] |= ((3 * (8 * row + k) + 5 * o + 7) & 15) << (4 * k);
        break;
      case 2: f[i] = scales[(row + o) & 3]; break;
      case 3: u[i] = (3 * row + o) & 7; break;
      default: f[i] = (float)(o & 7); break;
    }
  }
}

static void fill_bodies(kernel_array *array, uint32_t stream) {
  float *x = array->data;
  for (uint32_t i = 0; i < array->count; i++) {
    for (uint32_t k = 0; k < 3; k++) x[4 * i + k] = 2 * bench_uniform(stream, 4 * i + k) - 1;
    x[4 * i + 3] = bench_uniform(stream, 4 * i + 3);
  }
}

/* Arrays of rule.quantified. */
static void fill_wanted(kernel_array *array, uint32_t column) {
  uint32_t start = 0;
  for (uint32_t r = 0; r < array->count; r++) {
    uint32_t length = 1 + (H(112, r) & H(113, r) & 63);
    const uint32_t need[] = {1, length, 1 + H(116, r) % length};
    const uint32_t of[] = {start, need[H(115, r) % 3], H(114, r) & 0xFFFF, (H(111, r) & 3) != 0};
    put(array, r, of[column]);
    start += length;
  }
}

/* Where strings of up to 61 bytes begin. */
static void fill_starts(kernel_array *array, uint32_t stream) {
  uint32_t start = 0;
  for (uint32_t i = 0; i < array->count; i++) {
    put(array, i, start);
    start += H(stream, i) % 62;
  }
}

/* A slope in both directions, with noise, 200 pixels wide. */
static void fill_picture(kernel_array *array, uint32_t stream) {
  for (uint32_t i = 0; i < array->count; i++) put(array, i, 3 * (i % 200) + 5 * (i / 200) + H(stream, i) % 32);
}

kernel_fill kernel_fill_named(const char *name) {
  static const struct {
    const char *name;
    kernel_fill fill;
  } fills[] = {
#define FILL(name) {#name, fill_##name}
      FILL(zero),    FILL(bits),   FILL(signed), FILL(round_keys),  FILL(base64), FILL(days),
      FILL(rule),    FILL(entropy), FILL(weights), FILL(filter),    FILL(routes), FILL(executables),
      FILL(hits),    FILL(linear), FILL(bodies), FILL(wanted),      FILL(starts), FILL(picture),
  };
  for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
    if (strcmp(fills[i].name, name) == 0) return fills[i].fill;
  return NULL;
}
