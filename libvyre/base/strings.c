/* The texts live in an arena, so that pointers to them stay while the table grows. */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_BITS = 24, NUMBER = (1 << NUMBER_BITS) - 1, FIRST_SLOTS = 64 };

/* The number of a string, or UINT32_MAX and *slot is the free one where it belongs. Most strings that share a place are
 * told apart by the slot alone. */
static uint32_t find_slot(const vyre_strings *s, const char *text, uint32_t bytes, uint32_t hash, uint32_t *slot) {
  for (uint32_t at = hash;; at++) {
    uint32_t have = s->slots[at & s->mask];
    *slot = at & s->mask;
    if (have == 0) return UINT32_MAX;
    if (((have ^ hash) & ~(uint32_t)NUMBER) != 0) continue;
    const vyre_string *string = &s->table.data[(have & NUMBER) - 1];
    if (string->hash != hash || string->bytes != bytes) continue;
    if (bytes == 0 || memcmp(string->text, text, bytes) == 0) return (have & NUMBER) - 1;
  }
}

static void put(vyre_strings *s, uint32_t slot, uint32_t hash, uint32_t number) {
  s->slots[slot] = (hash & ~(uint32_t)NUMBER) | (number + 1);
}

/* As many slots as |strings| strings need, but more than there are. */
static bool grow(vyre_strings *s, uint32_t strings) {
  uint32_t count = s->slots != NULL ? (s->mask + 1) * 2 : FIRST_SLOTS;
  while (count / 4 * 3 <= strings && count <= NUMBER) count *= 2;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (slots == NULL) return false;
  free(s->slots);
  s->slots = slots;
  s->mask = count - 1;
  for (uint32_t i = 0; i < s->table.count; i++) {
    uint32_t slot = s->table.data[i].hash & s->mask;
    while (slots[slot] != 0) slot = (slot + 1) & s->mask;
    put(s, slot, s->table.data[i].hash, i);
  }
  return true;
}

bool vyre_strings_expect(vyre_strings *s, uint32_t more) {
  uint32_t strings = more > NUMBER - s->table.count ? NUMBER : s->table.count + more;
  return vyre_vector_reserve(&s->table, strings - s->table.count) && (strings < s->mask / 4 * 3 || grow(s, strings));
}

uint32_t vyre_strings_find(const vyre_strings *s, const char *text, uint32_t bytes) {
  uint32_t slot;
  return s->slots != NULL ? find_slot(s, text, bytes, vyre_hash_bytes(s->key, text, bytes), &slot) : UINT32_MAX;
}

uint32_t vyre_strings_intern(vyre_strings *s, const char *text, uint32_t bytes) {
  if (s->table.count == 0 && bytes > 0 && vyre_strings_intern(s, "", 0) == UINT32_MAX) return UINT32_MAX;
  if (s->table.count == 0) vyre_hash_keys(&s->key, 1);
  if (s->table.count >= NUMBER || (s->table.count >= s->mask / 4 * 3 && !grow(s, s->table.count))) return UINT32_MAX;
  uint32_t hash = vyre_hash_bytes(s->key, text, bytes), slot;
  uint32_t id = find_slot(s, text, bytes, hash, &slot);
  if (id != UINT32_MAX) return id;
  char *copy = vyre_arena_copy(&s->arena, text, bytes);
  if (copy == NULL || !vyre_vector_push(&s->table, ((vyre_string){ copy, bytes, hash }))) return UINT32_MAX;
  id = s->table.count - 1;
  put(s, slot, hash, id);
  return id;
}

void vyre_strings_free(vyre_strings *s) {
  vyre_arena_free(&s->arena);
  free(s->slots);
  s->slots = NULL;
  s->mask = 0;
  vyre_vector_free(&s->table);
}
