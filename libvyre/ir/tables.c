/* What the .def tables say, as arrays: types, operators, statements, reserved words. */
#include <string.h>

#include "ir/program.h"

static const vyre_type_info type_table[VYRE_TYPE_COUNT] = {
#define X(name, spelling, bytes, lanes, component, value, wire) \
  [VYRE_TYPE_##name] = { spelling, bytes, lanes, VYRE_TYPE_##component, VYRE_TYPE_##value },
#include <vyre/types.def>
#undef X
};

const ir_type_row ir_type_rows[VYRE_TYPE_COUNT] = {
#define X(name, spelling, bytes, lanes, component, value, wire) \
  [VYRE_TYPE_##name] = { bytes, lanes, VYRE_TYPE_##component, VYRE_TYPE_##value },
#include <vyre/types.def>
#undef X
};

#define READS VYRE_EFFECT_READS
#define EFFECT VYRE_EFFECT_EFFECT
#define CONVERGENT VYRE_EFFECT_CONVERGENT
#define ULP VYRE_EFFECT_ULP

static const vyre_op_info op_table[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) \
  [VYRE_OP_##name] = { #name, spelling, arity, effects, doc },
#include <vyre/ops.def>
#undef X
};

const uint8_t ir_op_arity[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = arity,
#include <vyre/ops.def>
#undef X
};

const uint8_t ir_op_effects[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = effects,
#include <vyre/ops.def>
#undef X
};

const uint8_t ir_stmt_arity[VYRE_STMT_COUNT] = {
#define X(name, spelling, arity, blocks, tag, doc) [VYRE_STMT_##name] = arity,
#include <vyre/stmts.def>
#undef X
};

const vyre_type_info *vyre_type_describe(vyre_type type) {
  return &type_table[(unsigned)type < VYRE_TYPE_COUNT ? type : VYRE_TYPE_NONE];
}

const vyre_op_info *vyre_op_describe(vyre_op op) {
  return &op_table[(unsigned)op < VYRE_OP_COUNT ? op : VYRE_OP_NONE];
}

vyre_type ir_vector_of(vyre_type component, uint32_t lanes) {
  for (vyre_type t = VYRE_TYPE_U32X2; t <= VYRE_TYPE_F32X4; t++)
    if (type_table[t].component == component && type_table[t].lanes == lanes) return t;
  return VYRE_TYPE_NONE;
}

static bool equals(const char *word, const char *text, size_t bytes) {
  return strlen(word) == bytes && memcmp(word, text, bytes) == 0;
}

vyre_type ir_type_named(const char *spelling, size_t bytes) {
  for (vyre_type t = VYRE_TYPE_NONE + 1; t < VYRE_TYPE_COUNT; t++)
    if (equals(type_table[t].spelling, spelling, bytes)) return t;
  return VYRE_TYPE_NONE;
}

/* Strings instead of pointers: a table of pointers would need relocations, hence writable pages. */
static const char keywords[][16] = {
#define X(word) #word,
#include "ir/keywords.def"
#undef X
};

enum {
  KEYWORDS = sizeof keywords / sizeof *keywords,
  WORDS = KEYWORDS + VYRE_OP_COUNT + VYRE_TYPE_COUNT, /* NONE of each is no word */
  SLOTS = sizeof ((ir_reserved *)NULL)->slots / sizeof *((ir_reserved *)NULL)->slots
};
_Static_assert(WORDS < SLOTS / 2, "the table of words has room");

static const char *word_at(uint32_t number) {
  const char *spelling = NULL;
  if (number < KEYWORDS) return keywords[number];
  number -= KEYWORDS;
  if (number < VYRE_OP_COUNT) spelling = op_table[number].spelling;
  else spelling = type_table[number - VYRE_OP_COUNT].spelling;
  return spelling != NULL ? spelling : "";
}

/* The slot of a word, or the free one where it would be. */
static uint32_t find_word(const ir_reserved *reserved, const char *text, size_t bytes, uint32_t hash) {
  for (uint32_t slot = hash;; slot++) {
    uint16_t number = reserved->slots[slot % SLOTS];
    if (number == 0) return slot % SLOTS;
    if (reserved->bytes[slot % SLOTS] == bytes && memcmp(word_at(number - 1u), text, bytes) == 0) return slot % SLOTS;
  }
}

void ir_note_reserved_words(ir_reserved *reserved, uint64_t key) {
  *reserved = (ir_reserved){ 0 };
  for (uint32_t i = 0; i < WORDS; i++) {
    const char *word = word_at(i);
    size_t bytes = strlen(word);
    if (bytes == 0) continue;
    uint32_t slot = find_word(reserved, word, bytes, vyre_hash_bytes(key, word, (uint32_t)bytes));
    reserved->slots[slot] = (uint16_t)(i + 1);
    reserved->bytes[slot] = (uint8_t)bytes;
  }
}

bool ir_is_reserved(const ir_reserved *reserved, const vyre_string *string) {
  return reserved->slots[find_word(reserved, string->text, string->bytes, string->hash)] != 0;
}

bool ir_is_reserved_word(const char *text, size_t bytes) {
  for (uint32_t i = 0; bytes > 0 && i < WORDS; i++)
    if (equals(word_at(i), text, bytes)) return true;
  return false;
}
