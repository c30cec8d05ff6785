/* Interned strings: equal bytes have one number. Zero is the empty table; number 0 is the empty string
 * once anything was interned. Strings may hold any bytes and end with a NUL that is not counted. */
#ifndef VYRE_BASE_STRINGS_H
#define VYRE_BASE_STRINGS_H

#include "base/arena.h"
#include "base/index_set.h"
#include "base/vector.h"

typedef struct vyre_string {
  const char *text;
  uint32_t bytes, hash;
} vyre_string;

typedef struct vyre_strings {
  vyre_arena arena;
  uint32_t *slots; /* a number + 1 below the upper bits of its string's hash; 0 is free */
  uint32_t mask;   /* slots - 1, 0 if there are none */
  uint64_t key; /* of the hash */
  VYRE_VECTOR(vyre_string) table;
} vyre_strings;

/* The number of a string, UINT32_MAX without memory. */
uint32_t vyre_strings_intern(vyre_strings *s, const char *text, uint32_t bytes);
/* The number of a string that is there already, else UINT32_MAX. */
uint32_t vyre_strings_find(const vyre_strings *s, const char *text, uint32_t bytes);
/* Makes room ahead for about |more| strings; false without memory. */
bool vyre_strings_expect(vyre_strings *s, uint32_t more);
void vyre_strings_free(vyre_strings *s);

static inline const char *vyre_strings_text(const vyre_strings *s, uint32_t id) { return s->table.data[id].text; }

#endif
