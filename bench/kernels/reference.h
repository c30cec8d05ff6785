/* What the kernels compute, in plain C: one element after another, from the definition of each task and not from the
 * kernel's text. Arrays are little endian, bitmaps have bit i in word i / 32. */
#ifndef VYRE_BENCH_KERNELS_REFERENCE_H
#define VYRE_BENCH_KERNELS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* ---- Bits and bytes: reference_bits.c ---- */

/* AES-128. Words have the first of four bytes on top. */
void reference_aes128_expand(const uint8_t key[16], uint32_t round_keys[44]);
void reference_aes128_encrypt(const uint32_t round_keys[44], const uint8_t plain[16], uint8_t cipher[16]);

uint32_t reference_crc32(const uint8_t *data, size_t bytes);
uint64_t reference_siphash(uint64_t k0, uint64_t k1, const uint8_t *data, size_t bytes);

/* Decodes four characters a time. Gives how many quads have a character that is none of the alphabet; what these
 * decode to is that of a sextet of 64, which reaches into its left neighbour. */
uint32_t reference_base64(const uint8_t *text, size_t chars, uint8_t *bytes, size_t room);

/* Ten characters, "YYYY-MM-DD". */
void reference_date(int32_t days_since_1970, uint8_t text[10]);

/* Points of |points| within the quarter circle, from PCG-XSH-RR 64/32 of that seed and stream. */
uint32_t reference_pi_hits(uint64_t seed, uint64_t stream, uint32_t points);

/* ---- Rules over columns: reference_rules.c ---- */

typedef struct reference_rules {
  const uint32_t *matched, *count, *offset; /* by pattern */
  const uint32_t *a, *b, *c, *d;            /* by rule: patterns */
  const uint32_t *min_count, *max_offset, *min_size, *max_size, *max_entropy; /* by rule */
} reference_rules;
void reference_conditions(const reference_rules *rules, size_t n, uint32_t size, uint32_t entropy, uint32_t *fired);
void reference_hits(const uint32_t *file, const uint32_t *pattern, size_t n, uint32_t *bitmap);
void reference_headers(const uint8_t *files, size_t n, uint32_t *fired);
void reference_entropy(const uint8_t *data, size_t bytes, uint32_t *fired);
void reference_quantified(const uint32_t *start, const uint32_t *need, const uint32_t *ids, const uint8_t *matched,
                          size_t n, uint32_t *fired);
void reference_filter(const uint32_t *token, const uint32_t *score, const uint32_t *state, size_t n, uint32_t *value);
void reference_route(const uint32_t *signal, const uint32_t *history, const uint32_t *threshold, size_t n,
                     uint32_t *routed);

/* ---- Numbers and pictures: reference_numbers.c ---- */

uint32_t reference_sum(const uint32_t *v, size_t n);
void reference_sort(uint32_t *keys, size_t n); /* each 512 by themselves */
/* Products are added with one rounding each, from the first on. */
void reference_matmul(const float *a, const float *b, size_t n, float *c);
/* Four floats a body: x, y, z, mass. Sums go from left to right, with one rounding an operation. */
void reference_pull(const float *bodies, size_t n, float softening, float *pull);
/* 256 inputs, groups of 64. */
void reference_linear_i4(const float *x, const uint32_t *packed, const float *scale, const uint32_t *zero,
                         const float *bias, size_t outputs, float *y);
void reference_luma(const uint8_t *rgb, size_t pixels, uint32_t counts[256]);
void reference_sobel(const uint8_t *picture, size_t width, size_t height, uint8_t *edges);

#endif
