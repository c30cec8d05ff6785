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

static void note_word(ir_reserved *reserved, const char *word) {
  if (word[0] >= 'a' && word[0] <= 'z') reserved->lengths[word[0] - 'a'] |= 1u << strlen(word);
}

void ir_note_reserved_words(ir_reserved *reserved) {
  *reserved = (ir_reserved){ { 0 } };
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) note_word(reserved, keywords[i]);
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) note_word(reserved, op_table[op].spelling);
  for (vyre_type t = VYRE_TYPE_NONE + 1; t < VYRE_TYPE_COUNT; t++) note_word(reserved, type_table[t].spelling);
}

bool ir_is_reserved_word(const char *text, size_t bytes) {
  if (bytes == 0) return false;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (equals(keywords[i], text, bytes)) return true;
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++)
    if (equals(op_table[op].spelling, text, bytes)) return true;
  return ir_type_named(text, bytes) != VYRE_TYPE_NONE;
}
