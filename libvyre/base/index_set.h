/* A hash set of indices into somebody else's pool: open addressing, four bytes a slot beside a
 * 32-bit hash. It is what hash-consing and interning need: the pool owns the keys, the set finds
 * them. (A general hash table would keep a pointer, a key and links for each entry, several times
 * the size of the 20-byte expressions that it indexes.) Zero is the empty set. */
#ifndef VYRE_BASE_INDEX_SET_H
#define VYRE_BASE_INDEX_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vyre_index_set {
  uint64_t *slots; /* hash << 32 | index + 1; 0 is free */
  uint32_t mask;   /* slots - 1, 0 if there are none */
  uint32_t count;
} vyre_index_set;

/* Makes room for one more entry; false without memory. Call it before the lookup that may insert. */
bool vyre_index_set_grow(vyre_index_set *set);
static inline bool vyre_index_set_reserve(vyre_index_set *set) {
  return (set->slots != NULL && set->count < (set->mask + 1) / 4 * 3) || vyre_index_set_grow(set);
}
/* Makes room for |count| entries in all; false without memory, and then nothing has changed. */
bool vyre_index_set_expect(vyre_index_set *set, uint32_t count);
void vyre_index_set_free(vyre_index_set *set);

/* Iterates the indices stored under |hash|: start with *cursor = hash; UINT32_MAX ends, and then
 * vyre_index_set_insert may put a new index at the cursor. */
static inline uint32_t vyre_index_set_next(const vyre_index_set *set, uint32_t hash, uint32_t *cursor) {
  for (;;) {
    uint64_t slot = set->slots[*cursor & set->mask];
    if (slot == 0) return UINT32_MAX;
    ++*cursor;
    if ((uint32_t)(slot >> 32) == hash) return (uint32_t)slot - 1;
  }
}

static inline void vyre_index_set_insert(vyre_index_set *set, uint32_t hash, uint32_t cursor, uint32_t index) {
  set->slots[cursor & set->mask] = (uint64_t)hash << 32 | (index + 1);
  set->count++;
}

/* Mixes 64 bits into 32 well-spread ones (the finalizer of SplitMix64, Steele et al. 2014). */
static inline uint32_t vyre_hash_u64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)(x ^ (x >> 31));
}

/* Fills |count| keys for hashing what comes from outside: who can not know them can not make all of it collide. They
 * are the same within a process. */
void vyre_hash_keys(uint64_t *keys, uint32_t count);

/* A hash of |length| bytes under a key. */
uint32_t vyre_hash_bytes(uint64_t key, const void *bytes, uint32_t length);

#endif
