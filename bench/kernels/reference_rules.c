/* Rules and filters over columns, by their workloads' definitions. */
#include "kernels/reference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static void set_bit(uint32_t *bitmap, size_t i, bool value) {
  bitmap[i / 32] |= (uint32_t)value << i % 32;
}

void reference_conditions(const reference_rules *rules, size_t n, uint32_t size, uint32_t entropy, uint32_t *fired) {
  for (size_t r = 0; r < n; r++) {
    bool holds = rules->matched[rules->a[r]] != 0 && rules->matched[rules->b[r]] != 0;
    holds = holds && rules->count[rules->c[r]] >= rules->min_count[r];
    holds = holds && rules->offset[rules->d[r]] <= rules->max_offset[r];
    holds = holds && rules->min_size[r] <= size && size <= rules->max_size[r] && entropy <= rules->max_entropy[r];
    set_bit(fired, r, holds);
  }
}

void reference_hits(const uint32_t *file, const uint32_t *pattern, size_t n, uint32_t *bitmap) {
  for (size_t i = 0; i < n; i++) set_bit(bitmap, (size_t)file[i] * 1024 + pattern[i], true);
}

/* ---- Headers ---- */

typedef struct file_bytes {
  const uint8_t *data; /* 1024 */
} file_bytes;

/* 0 behind the end. */
static uint32_t little_endian(file_bytes f, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes && at + i < 1024; i++) value |= (uint32_t)f.data[at + i] << (8 * i);
  return value;
}

static bool enters_without_permission(file_bytes f) {
  if (memcmp(f.data, "MZ", 2) != 0) return false;
  size_t e = little_endian(f, 0x3C, 4);
  if (e > 776 || little_endian(f, e, 4) != 0x4550 || little_endian(f, e + 4, 2) != 0x8664) return false;
  uint32_t sections = little_endian(f, e + 6, 2), entry = little_endian(f, e + 40, 4);
  if (sections < 3 || little_endian(f, e + 8, 4) < 0x60000000) return false;
  size_t section = e + 24 + little_endian(f, e + 20, 2);
  for (; sections > 0; sections--, section += 40) {
    uint64_t first = little_endian(f, section + 12, 4), size = little_endian(f, section + 8, 4);
    if (first <= entry && entry < first + size) return (little_endian(f, section + 36, 4) & 0x20000000) == 0;
  }
  return false;
}

void reference_headers(const uint8_t *files, size_t n, uint32_t *fired) {
  for (size_t f = 0; f < n; f++) set_bit(fired, f, enters_without_permission((file_bytes){files + 1024 * f}));
}

/* ---- Entropy ---- */

/* Each window by itself, from the counts of its bytes. */
void reference_entropy(const uint8_t *data, size_t bytes, uint32_t *fired) {
  static uint32_t weight[257];
  for (int c = 1; c <= 256; c++) weight[c] = (uint32_t)lround(65536.0 * c * log2(c));
  for (size_t first = 0; first + 256 <= bytes; first++) {
    uint32_t count[256] = {0}, sum = 0;
    for (size_t i = 0; i < 256; i++) count[data[first + i]]++;
    for (int byte = 0; byte < 256; byte++) sum += weight[count[byte]];
    set_bit(fired, first, sum < 13421773);
  }
}

/* ---- Quantified rules, filters ---- */

void reference_quantified(const uint32_t *start, const uint32_t *need, const uint32_t *ids, const uint8_t *matched,
                          size_t n, uint32_t *fired) {
  for (size_t r = 0; r < n; r++) {
    uint32_t found = 0;
    for (uint32_t p = start[r]; p < start[r + 1]; p++) found += matched[ids[p]];
    set_bit(fired, r, found >= need[r]);
  }
}

void reference_filter(const uint32_t *token, const uint32_t *score, const uint32_t *state, size_t n, uint32_t *value) {
  for (size_t i = 0; i < n; i++) {
    uint32_t mixed = token[i] ^ state[i] * 2654435761u;
    value[i] = 0;
    if ((mixed & 0x1F) != 0 || (state[i] & 1) == 0) continue;
    if (score[i] < 500 + ((state[i] >> 8) & 127) || ((mixed >> 5) & 3) != (state[i] & 3)) continue;
    value[i] = (mixed & 0xFFFF) + score[i];
  }
}

void reference_route(const uint32_t *signal, const uint32_t *history, const uint32_t *threshold, size_t n,
                     uint32_t *routed) {
  for (size_t i = 0; i < n; i++) {
    uint32_t risk = ((signal[i] ^ history[i] * 0x9E3779B9u) & 0x3FF) + (history[i] & 0xFF);
    bool hot = risk >= threshold[i], unstable = ((history[i] >> 16) & 7) >= 4;
    routed[i] = (hot && unstable ? 3u : hot ? 2u : unstable ? 1u : 0u) << 24 | risk;
  }
}
