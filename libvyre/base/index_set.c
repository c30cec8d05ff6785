/* Growth at three quarters full; slots keep their hash, so growing needs no keys. */
#include "base/index_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static bool resize(vyre_index_set *set, uint32_t grown) {
  uint64_t *fresh = calloc(grown, sizeof *fresh);
  if (fresh == NULL) return false;
  for (uint32_t i = 0; set->slots != NULL && i <= set->mask; i++) {
    uint64_t slot = set->slots[i];
    if (slot == 0) continue;
    uint32_t at = (uint32_t)(slot >> 32);
    while (fresh[at & (grown - 1)] != 0) at++;
    fresh[at & (grown - 1)] = slot;
  }
  free(set->slots);
  set->slots = fresh;
  set->mask = grown - 1;
  return true;
}

bool vyre_index_set_grow(vyre_index_set *set) {
  uint32_t slots = set->slots == NULL ? 0 : set->mask + 1;
  if (slots >= 1u << 31) return false;
  return resize(set, slots == 0 ? 64 : slots * 2);
}

bool vyre_index_set_expect(vyre_index_set *set, uint32_t count) {
  uint32_t slots = set->slots == NULL ? 64 : set->mask + 1, wanted = slots;
  while (wanted / 4 * 3 < count && wanted < 1u << 31) wanted *= 2;
  return (wanted == slots && set->slots != NULL) || resize(set, wanted);
}

void vyre_index_set_free(vyre_index_set *set) {
  free(set->slots);
  *set = (vyre_index_set){ 0 };
}

void vyre_hash_keys(uint64_t *keys, uint32_t count) {
  uint64_t seed = 0;
  const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes that the kernel gives each process */
  if (random != NULL) memcpy(&seed, random, sizeof seed);
  for (uint32_t i = 0; i < count; i++) {
    seed += 0x9E3779B97F4A7C15u;
    keys[i] = (uint64_t)vyre_hash_u64(seed) << 32 | vyre_hash_u64(~seed);
  }
}

/* Both halves of a product: each bit of the result depends on all of |x|, in a way that only the key tells. */
static uint64_t fold(uint64_t x, uint64_t key) {
  unsigned __int128 product = (unsigned __int128)x * (key | 1);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last 1 to 8 bytes of |length|, each where it makes a difference. */
static uint64_t read_tail(const unsigned char *p, uint32_t length) {
  uint64_t word = 0;
  if (length >= 8) {
    memcpy(&word, p + length - 8, 8);
  } else if (length >= 4) {
    uint32_t first, last;
    memcpy(&first, p, 4);
    memcpy(&last, p + length - 4, 4);
    word = (uint64_t)first << 32 | last;
  } else if (length > 0) {
    word = (uint64_t)p[0] << 16 | (uint64_t)p[length / 2] << 8 | p[length - 1];
  }
  return word;
}

uint32_t vyre_hash_bytes(uint64_t key, const void *bytes, uint32_t length) {
  const unsigned char *p = bytes;
  uint64_t h = length * 0x9E3779B97F4A7C15u, word;
  for (uint32_t at = 0; at + 8 < length; at += 8) {
    memcpy(&word, p + at, 8);
    h = fold(h ^ word, key) + key;
  }
  h = fold(h ^ read_tail(p, length), key);
  return (uint32_t)(h ^ h >> 32);
}
