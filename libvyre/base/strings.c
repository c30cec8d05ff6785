/* The texts live in an arena, so that pointers to them stay while the table grows. */
#include "base/strings.h"

#include <string.h>

static uint32_t find_slot(const vyre_strings *s, const char *text, uint32_t bytes, uint32_t hash, uint32_t *cursor) {
  *cursor = hash;
  for (;;) {
    uint32_t id = vyre_index_set_next(&s->set, hash, cursor);
    if (id == UINT32_MAX) return id;
    const vyre_string *have = &s->table.data[id];
    if (have->bytes == bytes && (bytes == 0 || memcmp(have->text, text, bytes) == 0)) return id;
  }
}

uint32_t vyre_strings_find(const vyre_strings *s, const char *text, uint32_t bytes) {
  uint32_t cursor;
  if (s->set.slots == NULL) return UINT32_MAX;
  return find_slot(s, text, bytes, vyre_hash_bytes(s->key, text, bytes), &cursor);
}

uint32_t vyre_strings_intern(vyre_strings *s, const char *text, uint32_t bytes) {
  if (s->table.count == 0 && bytes > 0 && vyre_strings_intern(s, "", 0) == UINT32_MAX) return UINT32_MAX;
  if (s->table.count == 0) vyre_hash_keys(&s->key, 1);
  if (!vyre_index_set_reserve(&s->set)) return UINT32_MAX;
  uint32_t hash = vyre_hash_bytes(s->key, text, bytes), cursor;
  uint32_t id = find_slot(s, text, bytes, hash, &cursor);
  if (id != UINT32_MAX) return id;
  char *copy = vyre_arena_copy(&s->arena, text, bytes);
  if (copy == NULL || !vyre_vector_push(&s->table, ((vyre_string){ copy, bytes, hash }))) return UINT32_MAX;
  id = s->table.count - 1;
  vyre_index_set_insert(&s->set, hash, cursor, id);
  return id;
}

void vyre_strings_free(vyre_strings *s) {
  vyre_arena_free(&s->arena);
  vyre_index_set_free(&s->set);
  vyre_vector_free(&s->table);
}
