/* The header of a program and its declarations: parameters, buffers, constants, functions. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/suggest.h"
#include "ir/text_parser.h"

/* ---- Header -------------------------------------------------------------------------------- */

enum {
  SEEN_WORKGROUP = 1, SEEN_CONTRACT = 2, SEEN_FLUSH = 4, SEEN_ULP = 8, SEEN_SUBGROUP = 16, SEEN_PROGRESS = 32,
  SEEN_NONCOMPOSABLE = 64, SEEN_OP = 128
};

/* Reads `( n, ... )`, up to |most| numbers; how many there were, 0 if the syntax is wrong. */
static uint32_t read_numbers(text_parser *p, uint32_t *numbers, uint32_t most) {
  uint32_t count = 0;
  if (!text_expect(p, TEXT_OPEN, "(")) return 0;
  do {
    uint64_t value;
    if (count > 0 && text_at(p, TEXT_CLOSE)) break;
    if (count == most) return text_unexpected(p, ")"), 0;
    if (!text_constant_count(p, UINT32_MAX, &value)) return 0;
    numbers[count++] = (uint32_t)value;
  } while (text_accept(p, TEXT_COMMA));
  return text_expect(p, TEXT_CLOSE, ")") ? count : 0;
}

static bool read_workgroup(text_parser *p, uint32_t pos) {
  uint32_t size[3] = { 1, 1, 1 }, faults = vyre_builder_errors(p->b);
  if (read_numbers(p, size, 3) == 0) return false;
  vyre_build_position(p->b, pos);
  if (vyre_builder_errors(p->b) == faults) vyre_build_workgroup(p->b, size[0], size[1], size[2]);
  return true;
}

static bool read_number(text_parser *p, uint32_t pos, void (*build)(vyre_builder *b, uint32_t n)) {
  uint32_t number, faults = vyre_builder_errors(p->b);
  if (read_numbers(p, &number, 1) == 0) return false;
  vyre_build_position(p->b, pos);
  if (vyre_builder_errors(p->b) == faults) build(p->b, number);
  return true;
}

static bool read_progress(text_parser *p) {
  if (!text_expect(p, TEXT_OPEN, "(")) return false;
  if (!text_at_text(p, "workgroups")) return text_unexpected(p, "workgroups");
  text_advance(p);
  vyre_build_attributes(p->b, VYRE_PROGRAM_PROGRESS_WORKGROUPS);
  return text_expect(p, TEXT_CLOSE, ")");
}

static bool read_op(text_parser *p, uint32_t pos) {
  uint32_t id;
  if (!text_expect(p, TEXT_OPEN, "(") || !text_read_string(p, &id)) return false;
  vyre_build_position(p->b, pos);
  ir_build_op(p->b, id);
  return text_expect(p, TEXT_CLOSE, ")");
}

static uint32_t attribute_at(const text_parser *p) {
  static const char words[][16] = {"workgroup", "contract", "flush",         "ulp",
                                   "subgroup",  "progress", "noncomposable", "op"};
  for (uint32_t i = 0; i < 8; i++)
    if (text_at_text(p, words[i])) return 1u << i;
  return 0;
}

static bool read_attribute(text_parser *p, uint32_t *seen) {
  uint32_t pos = p->token.start, attribute = attribute_at(p);
  if (attribute == 0)
    return text_unexpected(p, "an attribute (workgroup contract flush ulp subgroup progress noncomposable op) or {");
  if (*seen & attribute) text_report(p, VYRE_V149, pos, "\"%s\" stands twice", text_of(p, p->name));
  *seen |= attribute;
  text_advance(p);
  switch (attribute) {
    case SEEN_WORKGROUP: return read_workgroup(p, pos);
    case SEEN_ULP: return read_number(p, pos, vyre_build_ulp);
    case SEEN_SUBGROUP: return read_number(p, pos, vyre_build_subgroup);
    case SEEN_PROGRESS: return read_progress(p);
    case SEEN_OP: return read_op(p, pos);
    case SEEN_CONTRACT: vyre_build_attributes(p->b, VYRE_PROGRAM_CONTRACT); return true;
    case SEEN_FLUSH: vyre_build_attributes(p->b, VYRE_PROGRAM_FLUSH); return true;
    default: vyre_build_attributes(p->b, VYRE_PROGRAM_NONCOMPOSABLE); return true;
  }
}

bool text_header(text_parser *p) {
  uint32_t name, pos, seen = 0;
  if (!text_expect_word(p, WORD_program, "program")) return false;
  bool named = text_at(p, TEXT_NAME);
  if (!text_read_new_name(p, &name, &pos) && !named) return false;
  while (!text_at(p, TEXT_OPEN_BRACE) && !text_at(p, TEXT_END))
    if (!read_attribute(p, &seen))
      while (!text_at(p, TEXT_OPEN_BRACE) && !text_at(p, TEXT_END)) text_advance(p);
  return text_expect(p, TEXT_OPEN_BRACE, "{");
}

/* ---- Parameters and buffers ---------------------------------------------------------------- */

/* Room for one more parameter, buffer or constant; else says so once, and the name is poisoned. */
static bool has_room(text_parser *p, uint32_t name, uint32_t pos) {
  uint32_t count = p->constants + ir_builder_param_count(p->b) + ir_builder_buffer_count(p->b);
  if (count < VYRE_MAX_DECLARATIONS) return true;
  if (!p->full) text_report(p, VYRE_V141, pos, "\"%s\" is number %u", text_of(p, name), count + 1);
  p->full = true;
  text_poison(p, name);
  return false;
}

/* Poisons a name that did not become anything. */
static void settle_name(text_parser *p, uint32_t name) {
  if (ir_builder_find(p->b, name).kind == IR_SYMBOL_NONE) text_poison(p, name);
}

static bool read_param(text_parser *p) {
  uint32_t name, pos;
  vyre_type type;
  text_advance(p);
  if (!text_read_new_name(p, &name, &pos)) return false;
  bool good = text_expect(p, TEXT_COLON, ": and a type") && text_read_type(p, &type);
  if (good && has_room(p, name, pos)) {
    vyre_build_position(p->b, pos);
    ir_build_param(p->b, name, type);
  }
  settle_name(p, name);
  return good && text_expect(p, TEXT_SEMICOLON, ";");
}

/* `[n]` or `[]`; false if the syntax is wrong. */
static bool read_length(text_parser *p, bool *given, uint64_t *length, uint32_t *pos) {
  *given = false;
  *length = 0;
  if (!text_expect(p, TEXT_OPEN_BRACKET, "[")) return false;
  *pos = p->token.start;
  if (text_accept(p, TEXT_CLOSE_BRACKET)) return true;
  uint32_t faults = vyre_builder_errors(p->b);
  if (!text_constant_count(p, INT64_MAX, length)) return false;
  *given = true;
  if (*length == 0 && vyre_builder_errors(p->b) == faults) text_report(p, VYRE_V145, *pos, "a length is at least 1");
  return text_expect(p, TEXT_CLOSE_BRACKET, "]");
}

static bool read_buffer(text_parser *p, vyre_access access) {
  uint32_t name, pos, length_pos;
  vyre_type element;
  bool given = false;
  uint64_t length;
  text_advance(p);
  if (!text_read_new_name(p, &name, &pos)) return false;
  bool good = text_expect(p, TEXT_COLON, ": and a type") && text_read_type(p, &element) &&
              read_length(p, &given, &length, &length_pos);
  if (good && (length > 0 || !given) && has_room(p, name, pos)) {
    vyre_build_position(p->b, pos);
    ir_build_buffer(p->b, access, name, element, length);
  }
  settle_name(p, name);
  return good && text_expect(p, TEXT_SEMICOLON, ";");
}

/* ---- Constants ----------------------------------------------------------------------------- */

static bool define_fault(text_parser *p, const vyre_define *define, const char *wanted) {
  if (p->define_fault[0] == 0)
    snprintf(p->define_fault, sizeof p->define_fault,
             "The constant %.80s takes %s, found \"%.80s\". Fix: give a value that could stand there in the program.",
             define->name, wanted, define->value);
  return false;
}

/* An integer where a float is wanted: the same digits as a float literal. */
static bool make_float(const vyre_define *define, operand *x) {
  bool negative = x->value < 0;
  const char *digits = define->value + strspn(define->value, "- \t");
  size_t bytes = strspn(digits, "0123456789abcdefABCDEFx");
  *x = (operand){ .kind = OPERAND_FLOAT, .negative = negative, .digits = { digits, (uint32_t)bytes } };
  return bytes > 0;
}

/* Puts the value that was given from outside in the place of the program's own. */
static bool apply_define(text_parser *p, const vyre_define *define, operand *value) {
  operand x;
  bool typed = value->kind == OPERAND_LITERAL;
  const char *type = vyre_type_describe((vyre_type)value->type)->spelling;
  if (value->kind == OPERAND_FAILED) return false;
  if (!text_read_literal(define->value, &x))
    return define_fault(p, define, typed ? type : value->kind == OPERAND_INT ? "an integer literal" : "a number");
  if (typed) {
    uint64_t bits;
    if (!text_literal_in((vyre_type)value->type, &x, &bits)) return define_fault(p, define, type);
    value->bits = bits;
    return true;
  }
  bool whole = x.kind == OPERAND_INT && x.type == VYRE_TYPE_NONE;
  bool real = x.kind == OPERAND_FLOAT && x.type == VYRE_TYPE_NONE;
  if (value->kind == OPERAND_INT && !whole) return define_fault(p, define, "an integer literal without suffix");
  if (value->kind == OPERAND_FLOAT && !real && !(whole && make_float(define, &x)))
    return define_fault(p, define, "a number without suffix");
  *value = x;
  return true;
}

static void apply_defines(text_parser *p, uint32_t name, operand *value) {
  for (uint32_t i = 0; p->options != NULL && i < p->options->define_count; i++) {
    const vyre_define *define = &p->options->defines[i];
    if (strcmp(define->name, text_of(p, name)) != 0) continue;
    p->define_used[i] = true;
    apply_define(p, define, value);
  }
}

static void report_unused_define(text_parser *p, const char *wanted) {
  char list[200] = "";
  vyre_suggestion near = vyre_suggest(wanted);
  for (uint32_t i = 0; i < p->globals.count; i++) {
    if (p->globals.data[i].function != UINT32_MAX) continue;
    const char *name = text_of(p, p->globals.data[i].name);
    size_t used = strlen(list);
    vyre_suggest_offer(&near, name);
    if (used + strlen(name) + 3 < sizeof list)
      snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", name);
  }
  snprintf(p->define_fault, sizeof p->define_fault, "The program has no scalar constant %.60s; %s%s. Fix: %s%.60s%s.",
           wanted, list[0] != 0 ? "it has " : "it has none", list,
           near.best != NULL ? "did you mean " : "name one that it declares with const",
           near.best != NULL ? near.best : "", near.best != NULL ? "?" : "");
}

static void check_defines(text_parser *p) {
  if (p->options == NULL || p->check || ir_builder_failed(p->b)) return;
  for (uint32_t i = 0; i < p->options->define_count && p->define_fault[0] == 0; i++)
    if (!p->define_used[i]) report_unused_define(p, p->options->defines[i].name);
}

/* Takes the name for a constant or function; its number, or UINT32_MAX. */
static uint32_t add_global(text_parser *p, uint32_t name, uint32_t pos, uint32_t function, operand value) {
  vyre_build_position(p->b, pos);
  uint32_t index = p->globals.count;
  if (!ir_builder_claim(p->b, name, index)) return UINT32_MAX;
  if (vyre_vector_push(&p->globals, ((text_global){.name = name, .function = function, .value = value}))) return index;
  text_no_memory(p);
  return UINT32_MAX;
}

static bool read_scalar(text_parser *p, uint32_t name, uint32_t pos, vyre_type type) {
  operand x;
  uint64_t bits;
  if (!text_expect(p, TEXT_ASSIGN, "= and a value") || !text_constant(p, type, &x)) return false;
  if (type > VYRE_TYPE_F64) {
    text_report(p, VYRE_V136, pos, "a constant can not be %s", vyre_type_describe(type)->spelling);
    x = operand_failed(pos);
  } else if (type != VYRE_TYPE_NONE) {
    x = text_constant_bits(p, x, type, &bits) ? operand_literal(type, bits, pos) : operand_failed(pos);
  } else if (x.kind == OPERAND_EXPR) {
    text_report(p, VYRE_S7, x.pos, "a constant is a scalar");
    x = operand_failed(pos);
  }
  apply_defines(p, name, &x);
  if (has_room(p, name, pos) && add_global(p, name, pos, UINT32_MAX, x) != UINT32_MAX) p->constants++;
  return text_expect(p, TEXT_SEMICOLON, ";");
}

/* ---- Tables -------------------------------------------------------------------------------- */

static bool report_element(text_parser *p, const operand *x, vyre_type element) {
  text_report(p, VYRE_V145, x->pos, "it is no element of type %s", vyre_type_describe(element)->spelling);
  return false;
}

static void put_bytes(uint8_t *out, uint64_t bits, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) out[i] = (uint8_t)(bits >> (8 * i));
}

static bool is_infinite(uint64_t f32_bits) { return (f32_bits & 0x7FFFFFFF) == 0x7F800000; }

static bool scalar_bytes(text_parser *p, const operand *x, vyre_type element, uint8_t *out) {
  uint64_t bits;
  if (!text_constant_bits(p, *x, vyre_type_describe(element)->value, &bits)) return false;
  uint64_t narrow = text_narrow(element, bits), wide = text_widen(element, narrow);
  bool rounds = (element == VYRE_TYPE_F16 || element == VYRE_TYPE_BF16) && x->kind != OPERAND_INT;
  if (rounds ? is_infinite(wide) && !is_infinite(bits) : wide != bits) return report_element(p, x, element);
  put_bytes(out, narrow, vyre_type_describe(element)->bytes);
  return true;
}

static bool vector_bytes(text_parser *p, const operand *x, vyre_type element, uint8_t *out) {
  const vyre_type_info *info = vyre_type_describe(element);
  if (x->kind == OPERAND_FAILED) return false;
  if (x->kind != OPERAND_EXPR || vyre_build_type_of(p->b, x->expr) != element) return report_element(p, x, element);
  const ir_expr *vector = ir_builder_expr(p->b, x->expr);
  for (uint32_t i = 0; i < info->lanes; i++) {
    const ir_expr *part = ir_builder_expr(p->b, vector->arg[vector->op == VYRE_OP_SPLAT ? 0 : i]);
    put_bytes(out + 4 * i, ir_literal_bits(part), 4);
  }
  return true;
}

/* Reads one initializer and appends its bytes, unless there are more than the length says. */
static bool read_element(text_parser *p, vyre_type element, bool wanted) {
  operand x;
  uint8_t bytes[16] = { 0 };
  uint32_t size = vyre_type_describe(element)->bytes;
  if (!text_constant(p, ir_component(vyre_type_describe(element)->value), &x)) return false;
  if (ir_is_vector(element)) vector_bytes(p, &x, element, bytes);
  else scalar_bytes(p, &x, element, bytes);
  if (!wanted) return true;
  if (!vyre_vector_reserve(&p->bytes, size)) return text_no_memory(p), false;
  memcpy(p->bytes.data + p->bytes.count, bytes, size);
  p->bytes.count += size;
  return true;
}

static bool read_elements(text_parser *p, vyre_type element, uint64_t most, uint64_t *count) {
  *count = 0;
  if (!text_expect(p, TEXT_OPEN_BRACE, "{")) return false;
  while (!text_at(p, TEXT_CLOSE_BRACE)) {
    bool fits = vyre_type_describe(element)->bytes <= VYRE_MAX_PROGRAM_BYTES - p->bytes.count;
    if (!read_element(p, element, *count < most && fits)) return false;
    ++*count;
    if (!text_accept(p, TEXT_COMMA)) break;
  }
  return text_expect(p, TEXT_CLOSE_BRACE, "}");
}

static bool read_table(text_parser *p, uint32_t name, uint32_t pos, vyre_type element) {
  uint64_t length, count;
  uint32_t length_pos, faults = vyre_builder_errors(p->b);
  bool given;
  p->bytes.count = 0;
  if (!read_length(p, &given, &length, &length_pos)) return false;
  if (!given) text_report(p, VYRE_V109, length_pos, "a table states how many elements it has");
  if (!text_expect(p, TEXT_ASSIGN, "= and the elements") || !read_elements(p, element, length, &count)) return false;
  bool good = vyre_builder_errors(p->b) == faults;
  if (good && count != length) {
    text_report(p, VYRE_S10, pos, "%llu elements for a length of %llu", (unsigned long long)count,
                (unsigned long long)length);
    good = false;
  }
  if (good && has_room(p, name, pos)) {
    vyre_build_position(p->b, pos);
    ir_build_table(p->b, name, element, p->bytes.data, length);
  }
  return text_expect(p, TEXT_SEMICOLON, ";");
}

static bool read_const(text_parser *p) {
  uint32_t name, pos;
  vyre_type type = VYRE_TYPE_NONE;
  text_advance(p);
  if (!text_read_new_name(p, &name, &pos)) return false;
  bool good = !text_accept(p, TEXT_COLON) || text_read_type(p, &type);
  if (good) good = type != VYRE_TYPE_NONE && text_at(p, TEXT_OPEN_BRACKET) ? read_table(p, name, pos, type)
                                                                          : read_scalar(p, name, pos, type);
  settle_name(p, name);
  return good;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static bool read_value_type(text_parser *p, vyre_type *type) {
  uint32_t pos = p->token.start;
  if (!text_read_type(p, type)) return false;
  if (ir_is_narrow(*type)) {
    text_report(p, VYRE_V136, pos, "%s is stored only, it is no type of values", vyre_type_describe(*type)->spelling);
    *type = vyre_type_describe(*type)->value;
  }
  return true;
}

static bool read_parameters(text_parser *p, text_function *f) {
  f->first = p->parameters.count;
  while (!text_at(p, TEXT_CLOSE)) {
    text_parameter parameter;
    vyre_type type;
    if (!text_read_new_name(p, &parameter.name, &parameter.pos) || !text_expect(p, TEXT_COLON, ": and a type") ||
        !read_value_type(p, &type))
      return false;
    parameter.type = (uint8_t)type;
    text_name_at(p, parameter.name);
    if (!vyre_vector_push(&p->parameters, parameter)) return text_no_memory(p), false;
    if (!text_accept(p, TEXT_COMMA)) break;
  }
  f->count = p->parameters.count - f->first;
  return text_expect(p, TEXT_CLOSE, ") or another parameter");
}

static bool read_signature(text_parser *p, text_function *f) {
  vyre_type result;
  if (!text_expect(p, TEXT_OPEN, "(") || !read_parameters(p, f)) return false;
  if (text_accept(p, TEXT_ARROW)) {
    if (!read_value_type(p, &result)) return false;
    f->result = (uint8_t)result;
  }
  f->body = p->token.end;
  return text_expect(p, TEXT_OPEN_BRACE, "{") && text_skip_block(p);
}

static bool read_function(text_parser *p) {
  text_function f = { .result = VYRE_TYPE_NONE };
  text_advance(p);
  if (!text_read_new_name(p, &f.name, &f.pos)) return false;
  if (!read_signature(p, &f)) {
    text_poison(p, f.name);
    return false;
  }
  f.params = ir_builder_param_count(p->b);
  f.buffers = ir_builder_buffer_count(p->b);
  f.global = add_global(p, f.name, f.pos, p->functions.count, operand_failed(f.pos));
  if (f.global == UINT32_MAX) return true;
  if (!vyre_vector_push(&p->functions, f)) text_no_memory(p);
  return true;
}

/* ---- All ----------------------------------------------------------------------------------- */

bool text_at_declaration(const text_parser *p) { return p->word >= WORD_param && p->word <= WORD_fn; }

static bool read_any(text_parser *p) {
  switch (p->word) {
    case WORD_param: return read_param(p);
    case WORD_read: return read_buffer(p, VYRE_ACCESS_READ);
    case WORD_write: return read_buffer(p, VYRE_ACCESS_WRITE);
    case WORD_rw: return read_buffer(p, VYRE_ACCESS_RW);
    case WORD_shared: return read_buffer(p, VYRE_ACCESS_SHARED);
    case WORD_local: return read_buffer(p, VYRE_ACCESS_LOCAL);
    case WORD_const: return read_const(p);
    default: return read_function(p);
  }
}

void text_declarations(text_parser *p) {
  while (text_at_declaration(p)) {
    uint32_t start = p->token.start;
    if (!read_any(p)) text_recover(p, start);
  }
  check_defines(p);
}
