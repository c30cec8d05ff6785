/* Expressions by operator precedence. Operators and open brackets wait on one stack, operands on another; both are
 * on the heap, so that brackets may nest as deep as there is memory. */
#include <string.h>

#include "ir/text_parser.h"

typedef enum step { STEP_FAILED, STEP_OPERAND, STEP_OPERATOR, STEP_DONE } step;

/* ---- Tables -------------------------------------------------------------------------------- */

typedef enum form {
  FORM_SPECIAL, FORM_LEAF, FORM_INFIX, FORM_PREFIX, FORM_FUNC, FORM_AXIS, FORM_BUF, FORM_ACCESS
} form;

static const uint8_t forms[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = FORM_##form,
#include <vyre/ops.def>
#undef X
};

enum { PRECEDENCE_ELSE = 0, PRECEDENCE_EITHER = 1, PRECEDENCE_PREFIX = 11 };

static const struct { uint8_t op, precedence; } infixes[TEXT_KINDS] = {
  [TEXT_STAR] = { VYRE_OP_MUL, 10 },       [TEXT_SLASH] = { VYRE_OP_DIV, 10 },
  [TEXT_PERCENT] = { VYRE_OP_MOD, 10 },    [TEXT_PLUS] = { VYRE_OP_ADD, 9 },
  [TEXT_MINUS] = { VYRE_OP_SUB, 9 },       [TEXT_LEFT] = { VYRE_OP_SHL, 8 },
  [TEXT_RIGHT] = { VYRE_OP_SHR, 8 },       [TEXT_AND] = { VYRE_OP_BITAND, 7 },
  [TEXT_XOR] = { VYRE_OP_BITXOR, 6 },      [TEXT_OR] = { VYRE_OP_BITOR, 5 },
  [TEXT_LESS] = { VYRE_OP_LT, 4 },         [TEXT_GREATER] = { VYRE_OP_GT, 4 },
  [TEXT_LESS_EQUAL] = { VYRE_OP_LE, 4 },   [TEXT_GREATER_EQUAL] = { VYRE_OP_GE, 4 },
  [TEXT_EQUAL] = { VYRE_OP_EQ, 3 },        [TEXT_UNEQUAL] = { VYRE_OP_NE, 3 },
  [TEXT_BOTH] = { VYRE_OP_LAND, 2 },       [TEXT_EITHER] = { VYRE_OP_LOR, PRECEDENCE_EITHER },
};

bool text_op_is_leaf(vyre_op op) { return forms[op] == FORM_LEAF || forms[op] == FORM_AXIS; }
vyre_op text_infix_operator(text_kind kind) { return (vyre_op)infixes[kind].op; }

/* ---- The stack of operators ---------------------------------------------------------------- */

static text_entry *top_entry(text_parser *p) { return &p->entries.data[p->entries.count - 1]; }

static bool push_entry(text_parser *p, entry_kind kind, uint32_t op, uint32_t ref, uint32_t pos) {
  text_entry entry = { .kind = (uint8_t)kind, .op = (uint16_t)op, .pos = pos, .base = p->operands.count, .ref = ref,
                       .effects = p->effects };
  if (vyre_vector_push(&p->entries, entry)) return true;
  text_no_memory(p);
  return false;
}

/* Pushes an entry for the token, passes over it, and wants an operand. */
static step open_entry(text_parser *p, entry_kind kind, uint32_t op, uint32_t ref, uint32_t pos) {
  if (!push_entry(p, kind, op, ref, pos)) return STEP_FAILED;
  text_advance(p);
  return STEP_OPERAND;
}

static step push_operand(text_parser *p, operand x) { return text_push(p, x) ? STEP_OPERATOR : STEP_FAILED; }

static operand *operand_below(text_parser *p, uint32_t depth) {
  return &p->operands.data[p->operands.count - 1 - depth];
}

/* Replaces the uppermost |count| operands by one that is made of them. */
static step replace_operands(text_parser *p, uint32_t count, operand x) {
  for (uint32_t i = 0; i < count; i++)
    if (operand_below(p, i)->height >= x.height) x.height = (uint16_t)(operand_below(p, i)->height + 1);
  text_drop(p, count);
  return push_operand(p, x);
}

/* Fails those of the uppermost |count| operands that are too deep for one more operator. What is computed at once is
 * no expression of the builder, so that the builder can not see how deep it was written. */
static void limit_depth(text_parser *p, uint32_t count, uint32_t pos) {
  bool said = false;
  for (uint32_t i = 0; i < count; i++) {
    operand *x = operand_below(p, i);
    if (x->height + 1u < VYRE_MAX_EXPR_DEPTH) continue;
    if (!said && x->kind != OPERAND_FAILED) text_report(p, VYRE_V33, pos, "it is %u deep here", x->height + 2u);
    said = true;
    *x = operand_failed(x->pos);
  }
}

/* A prefix or infix operator. */
static step open_operator(text_parser *p, entry_kind kind, vyre_op op, uint8_t precedence) {
  step next = open_entry(p, kind, op, 0, p->token.start);
  if (next != STEP_FAILED) top_entry(p)->precedence = precedence;
  return next;
}

/* ---- Reducing ------------------------------------------------------------------------------ */

static bool has_effect(const text_parser *p, const operand *x) {
  if (x->kind == OPERAND_EXPR) return (ir_builder_meta(p->b, x->expr)->flags & VYRE_EFFECT_EFFECT) != 0;
  if (x->kind != OPERAND_OPEN) return false;
  for (uint32_t i = 0; i < OPEN_TYPES; i++)
    if ((ir_builder_meta(p->b, x->open[i])->flags & VYRE_EFFECT_EFFECT) != 0) return true;
  return false;
}

/* C would not always evaluate the uppermost |count| operands. */
static void warn_of_effects(text_parser *p, const text_entry *entry, uint32_t count) {
  bool effects = p->effects != entry->effects;
  for (uint32_t i = 0; i < count; i++) effects |= has_effect(p, operand_below(p, i));
  if (effects) text_report(p, VYRE_W2, entry->pos, "it happens whatever the operand before says");
}

static bool reduce_top(text_parser *p) {
  text_entry entry = *top_entry(p);
  p->entries.count--;
  operand result;
  uint32_t count = entry.kind == ENTRY_PREFIX ? 1 : entry.kind == ENTRY_INFIX ? 2 : 3;
  if (entry.op == VYRE_OP_NEG && operand_below(p, 0)->bare) { /* the sign of a literal */
    *operand_below(p, 0) = text_negate(p, *operand_below(p, 0), entry.pos);
    return true;
  }
  limit_depth(p, count, entry.pos);
  if (entry.kind == ENTRY_ELSE || entry.op == VYRE_OP_LAND || entry.op == VYRE_OP_LOR)
    warn_of_effects(p, &entry, count - 1);
  if (entry.op == VYRE_OP_NEG) result = text_negate(p, *operand_below(p, 0), entry.pos);
  else result = text_apply(p, (vyre_op)entry.op, operand_below(p, count - 1), entry.pos);
  return replace_operands(p, count, result) != STEP_FAILED;
}

/* Applies what binds at least as tightly as |precedence|, down to the innermost open bracket. */
static bool reduce(text_parser *p, uint32_t base, uint32_t precedence) {
  while (p->entries.count > base && top_entry(p)->kind <= ENTRY_ELSE && top_entry(p)->precedence >= precedence)
    if (!reduce_top(p)) return false;
  return true;
}

/* ---- Leaves -------------------------------------------------------------------------------- */

static step read_leaf(text_parser *p, vyre_op op, uint32_t axis, uint32_t pos) {
  vyre_build_position(p->b, pos);
  return push_operand(p, operand_expr(vyre_build_leaf(p->b, op, axis), pos));
}

uint32_t text_read_component(text_parser *p) {
  if (!text_at(p, TEXT_NAME)) {
    text_unexpected(p, "x, y, z or w");
    return UINT32_MAX;
  }
  const char *word = p->lex.text + p->token.start, *at = NULL;
  uint32_t bytes = p->token.end - p->token.start;
  if (bytes == 1) at = strchr("xyzw", word[0]);
  if (at == NULL)
    text_report(p, VYRE_V68, p->token.start, "\".%.*s\" is none of .x .y .z .w", bytes > 40 ? 40 : (int)bytes, word);
  text_advance(p);
  return at != NULL ? (uint32_t)(strchr("xyzw", *at) - "xyzw") : UINT32_MAX;
}

static step read_axis(text_parser *p, vyre_op op, uint32_t pos) {
  if (!text_expect(p, TEXT_DOT, ".x, .y or .z")) return STEP_FAILED;
  bool word = text_at(p, TEXT_NAME);
  uint32_t axis_pos = p->token.start, axis = text_read_component(p);
  if (!word) return STEP_FAILED;
  if (axis == UINT32_MAX) return push_operand(p, operand_failed(pos));
  return read_leaf(p, op, axis, axis > 2 ? axis_pos : pos);
}

/* ---- Names --------------------------------------------------------------------------------- */

static operand value_of(text_parser *p, ir_symbol symbol, uint32_t pos) {
  vyre_build_position(p->b, pos);
  if (symbol.kind == IR_SYMBOL_PARAM) return operand_expr(ir_build_param_value(p->b, symbol.index), pos);
  if (symbol.kind == IR_SYMBOL_VAR) return operand_expr(vyre_build_var_value(p->b, symbol.index), pos);
  operand value = p->globals.data[symbol.index].value;
  value.pos = pos;
  value.bare = false;
  value.height = 0;
  return value;
}

static bool is_function(const text_parser *p, ir_symbol symbol) {
  return symbol.kind == IR_SYMBOL_OTHER && p->globals.data[symbol.index].function != UINT32_MAX;
}

/* Says what is wrong with a name that is not what its use wants, once for an unknown one, and not at all if its
 * declaration failed. */
static void report_name(text_parser *p, uint32_t name, ir_symbol symbol, vyre_code code, uint32_t wanted,
                        uint32_t pos) {
  if (text_name_at(p, name)->poisoned) return;
  if (p->function != UINT32_MAX && p->functions.data[p->function].name == name)
    text_report(p, VYRE_V66, pos, "\"%s\" would call itself, and there is no recursion", text_of(p, name));
  else if (symbol.kind == IR_SYMBOL_NONE)
    text_report_near(p, code, pos, name, wanted, "is not declared");
  else
    text_report(p, code, pos, "\"%s\" is not a %s", text_of(p, name),
                wanted == TEXT_NEAR_BUFFER ? "buffer" : "function");
  if (symbol.kind == IR_SYMBOL_NONE) text_poison(p, name);
}

/* An element that is loaded: the index follows. */
static step open_load(text_parser *p, uint32_t name, ir_symbol symbol, uint32_t pos) {
  bool buffer = symbol.kind == IR_SYMBOL_BUFFER;
  if (!buffer) report_name(p, name, symbol, VYRE_V65, TEXT_NEAR_BUFFER, pos);
  return open_entry(p, ENTRY_LOAD, VYRE_OP_LOAD, buffer ? symbol.index : VYRE_NO_BINDING, pos);
}

static step open_function(text_parser *p, uint32_t name, ir_symbol symbol, uint32_t pos) {
  uint32_t function = is_function(p, symbol) ? p->globals.data[symbol.index].function : UINT32_MAX;
  if (function == UINT32_MAX) report_name(p, name, symbol, VYRE_V66, TEXT_NEAR_FUNCTION | TEXT_NEAR_STATEMENT, pos);
  if (p->constant && function != UINT32_MAX) {
    text_report(p, VYRE_S7, pos, "a call is not constant");
    function = UINT32_MAX;
  }
  return open_entry(p, ENTRY_FUNCTION, 0, function, pos);
}

/* A buffer as an argument of an operation is named alone. */
static bool is_buffer_argument(text_parser *p, ir_symbol symbol) {
  return symbol.kind == IR_SYMBOL_BUFFER && p->entries.count > 0 && top_entry(p)->kind == ENTRY_CALL &&
         (text_at(p, TEXT_COMMA) || text_at(p, TEXT_CLOSE));
}

static step read_name(text_parser *p) {
  uint32_t name = p->name, pos = p->token.start;
  ir_symbol symbol = text_find(p, name);
  text_advance(p);
  if (text_at(p, TEXT_OPEN_BRACKET)) return open_load(p, name, symbol, pos);
  if (text_at(p, TEXT_OPEN)) return open_function(p, name, symbol, pos);
  if (is_buffer_argument(p, symbol))
    return push_operand(p, (operand){ .kind = OPERAND_BUFFER, .pos = pos, .binding = symbol.index });
  if (symbol.kind == IR_SYMBOL_BUFFER)
    return text_unexpected(p, "[ and an index after the name of a buffer"), STEP_FAILED;
  if (is_function(p, symbol)) return text_unexpected(p, "( and arguments after the name of a function"), STEP_FAILED;
  if (symbol.kind != IR_SYMBOL_NONE) return push_operand(p, value_of(p, symbol, pos));
  report_name(p, name, symbol, VYRE_V66, TEXT_NEAR_VALUE, pos);
  return push_operand(p, operand_failed(pos));
}

static step read_length(text_parser *p, vyre_op op, uint32_t pos) {
  if (!text_expect(p, TEXT_OPEN, "(")) return STEP_FAILED;
  if (!text_at(p, TEXT_NAME) || p->word != WORD_NONE) return text_unexpected(p, "the name of a buffer"), STEP_FAILED;
  ir_symbol symbol = text_find(p, p->name);
  operand x = operand_failed(pos);
  if (symbol.kind == IR_SYMBOL_BUFFER) {
    vyre_build_position(p->b, pos);
    x = operand_expr(vyre_build_len(p->b, op, symbol.index), pos);
  } else {
    report_name(p, p->name, symbol, VYRE_V67, TEXT_NEAR_BUFFER, p->token.start);
  }
  text_advance(p);
  return text_expect(p, TEXT_CLOSE, ")") ? push_operand(p, x) : STEP_FAILED;
}

/* ---- Words --------------------------------------------------------------------------------- */

static step open_brackets(text_parser *p, entry_kind kind, uint32_t op, uint32_t ref, uint32_t pos) {
  if (!text_at(p, TEXT_OPEN)) return text_unexpected(p, "("), STEP_FAILED;
  return open_entry(p, kind, op, ref, pos);
}

static step open_bitcast(text_parser *p, uint32_t pos) {
  vyre_type type;
  if (!text_expect(p, TEXT_LESS, "<") || !text_read_type(p, &type) || !text_expect(p, TEXT_GREATER, ">"))
    return STEP_FAILED;
  return open_brackets(p, ENTRY_BITCAST, type, 0, pos);
}

static step open_access(text_parser *p, vyre_op op, uint32_t pos) {
  if (!text_expect(p, TEXT_OPEN, "(")) return STEP_FAILED;
  if (!text_at(p, TEXT_NAME) || p->word != WORD_NONE) return text_unexpected(p, "the name of a buffer"), STEP_FAILED;
  ir_symbol symbol = text_find(p, p->name);
  bool buffer = symbol.kind == IR_SYMBOL_BUFFER, atomic = op >= VYRE_OP_ATOMIC_ADD;
  if (!buffer) report_name(p, p->name, symbol, atomic ? VYRE_V61 : VYRE_V65, TEXT_NEAR_BUFFER, p->token.start);
  text_advance(p);
  if (!text_at(p, TEXT_OPEN_BRACKET)) return text_unexpected(p, "["), STEP_FAILED;
  return open_entry(p, ENTRY_ACCESS_INDEX, op, buffer ? symbol.index : VYRE_NO_BINDING, pos);
}

static step open_call(text_parser *p, uint32_t pos) {
  uint32_t id;
  if (!text_read_string(p, &id)) return STEP_FAILED;
  if (p->constant) return text_report(p, VYRE_S7, pos, "a call is not constant"), STEP_FAILED;
  return open_brackets(p, ENTRY_CALL, 0, id, pos);
}

static step read_operator_word(text_parser *p, vyre_op op, uint32_t pos) {
  text_advance(p);
  switch (forms[op]) {
    case FORM_LEAF: return read_leaf(p, op, 0, pos);
    case FORM_AXIS: return read_axis(p, op, pos);
    case FORM_BUF: return read_length(p, op, pos);
    case FORM_ACCESS: return open_access(p, op, pos);
    default: break;
  }
  if (op == VYRE_OP_BITCAST) return open_bitcast(p, pos);
  return open_brackets(p, ENTRY_FUNC, op, 0, pos);
}

static step read_float_word(text_parser *p, float_word word, uint32_t pos) {
  text_advance(p);
  return push_operand(p, (operand){ .kind = OPERAND_FLOAT, .bare = true, .word = (uint8_t)word, .pos = pos });
}

static step read_bool(text_parser *p, bool value, uint32_t pos) {
  text_advance(p);
  return push_operand(p, operand_literal(VYRE_TYPE_BOOL, value, pos));
}

static step read_word(text_parser *p) {
  uint32_t pos = p->token.start;
  if (p->word >= WORD_OP) return read_operator_word(p, (vyre_op)(p->word - WORD_OP), pos);
  if (p->word >= WORD_TYPE) {
    vyre_type type = (vyre_type)(p->word - WORD_TYPE);
    text_advance(p);
    return open_brackets(p, ir_is_vector(type) ? ENTRY_VECTOR : ENTRY_CAST, type, 0, pos);
  }
  switch (p->word) {
    case WORD_true: return read_bool(p, true, pos);
    case WORD_false: return read_bool(p, false, pos);
    case WORD_inf: return read_float_word(p, FLOAT_INF, pos);
    case WORD_nan: return read_float_word(p, FLOAT_NAN, pos);
    case WORD_call: text_advance(p); return open_call(p, pos);
    default: break;
  }
  if (p->word >= WORD_tile_load) {
    text_report(p, VYRE_V136, pos, "\"%s\" is held for matrix units and packed arithmetic", text_of(p, p->name));
    return STEP_FAILED;
  }
  return text_unexpected(p, "an expression"), STEP_FAILED;
}

static bool takes_arguments(const text_entry *entry) {
  return entry->kind == ENTRY_FUNC || entry->kind == ENTRY_FUNCTION || entry->kind == ENTRY_CALL ||
         entry->kind == ENTRY_VECTOR || entry->kind == ENTRY_CAST || entry->kind == ENTRY_BITCAST;
}

static step read_operand(text_parser *p, uint32_t base) {
  switch (p->token.kind) {
    case TEXT_MINUS: return open_operator(p, ENTRY_PREFIX, VYRE_OP_NEG, PRECEDENCE_PREFIX);
    case TEXT_NOT: return open_operator(p, ENTRY_PREFIX, VYRE_OP_LNOT, PRECEDENCE_PREFIX);
    case TEXT_COMPLEMENT: return open_operator(p, ENTRY_PREFIX, VYRE_OP_BITNOT, PRECEDENCE_PREFIX);
    case TEXT_OPEN: return open_entry(p, ENTRY_PAREN, 0, 0, p->token.start);
    case TEXT_NAME: return p->word != WORD_NONE ? read_word(p) : read_name(p);
    case TEXT_INTEGER:
    case TEXT_FLOAT: {
      operand x = text_number(p);
      text_advance(p);
      return push_operand(p, x);
    }
    case TEXT_CLOSE: /* no arguments */
      if (p->entries.count > base && takes_arguments(top_entry(p)) && top_entry(p)->base == p->operands.count)
        return STEP_OPERATOR;
      break;
    default: break;
  }
  return text_unexpected(p, "an expression"), STEP_FAILED;
}

/* ---- Closing brackets ---------------------------------------------------------------------- */

static bool has_count(text_parser *p, const text_entry *entry, uint32_t wanted, uint32_t found) {
  if (found == wanted) return true;
  text_report(p, VYRE_V20, entry->pos, "wanted %u, found %u", wanted, found);
  return false;
}

static operand close_func(text_parser *p, const text_entry *entry, uint32_t count) {
  vyre_op op = (vyre_op)entry->op;
  if (!has_count(p, entry, vyre_op_describe(op)->arity, count)) return operand_failed(entry->pos);
  if (count > 0) return text_apply(p, op, operand_below(p, count - 1), entry->pos);
  vyre_build_position(p->b, entry->pos);
  return operand_expr(vyre_build_leaf(p->b, op, 0), entry->pos);
}

static operand close_vector(text_parser *p, const text_entry *entry, uint32_t count) {
  vyre_type type = (vyre_type)entry->op;
  vyre_expr components[4];
  if (count < 1 || count > 4) {
    text_report(p, VYRE_V148, entry->pos, "%s of %u values", vyre_type_describe(type)->spelling, count);
    return operand_failed(entry->pos);
  }
  for (uint32_t i = 0; i < count; i++) {
    components[i] = text_resolve(p, operand_below(p, count - 1 - i), ir_component(type));
    if (components[i] == 0) return operand_failed(entry->pos);
  }
  vyre_build_position(p->b, entry->pos);
  return operand_expr(vyre_build_vector(p->b, type, components, count), entry->pos);
}

static operand close_bitcast(text_parser *p, const text_entry *entry, uint32_t count) {
  if (!has_count(p, entry, 1, count)) return operand_failed(entry->pos);
  vyre_expr e = text_resolve(p, operand_below(p, 0), VYRE_TYPE_NONE);
  vyre_build_position(p->b, entry->pos);
  return operand_expr(vyre_build_bitcast(p->b, (vyre_type)entry->op, e), entry->pos);
}

static operand close_load(text_parser *p, const text_entry *entry) {
  vyre_expr index = text_resolve(p, operand_below(p, 0), VYRE_TYPE_U32);
  if (entry->ref == VYRE_NO_BINDING || index == 0) return operand_failed(entry->pos);
  vyre_build_position(p->b, entry->pos);
  return operand_expr(vyre_build_load(p->b, (vyre_op)entry->op, entry->ref, index), entry->pos);
}

static operand close_access(text_parser *p, const text_entry *entry, uint32_t count) {
  vyre_op op = (vyre_op)entry->op;
  if (!has_count(p, entry, vyre_op_describe(op)->arity, count)) return operand_failed(entry->pos);
  if (op < VYRE_OP_ATOMIC_ADD) return close_load(p, entry);
  const ir_buffer *buffer = ir_builder_buffer(p->b, entry->ref);
  if (buffer == NULL) return operand_failed(entry->pos);
  vyre_type element = (vyre_type)buffer->element;
  vyre_expr e[3] = { 0 };
  for (uint32_t i = 0; i < count; i++)
    e[i] = text_resolve(p, operand_below(p, count - 1 - i), i == 0 ? VYRE_TYPE_U32 : element);
  vyre_build_position(p->b, entry->pos);
  vyre_expr atomic =
      vyre_build_atomic(p->b, op, entry->ref, e[0], e[1], e[2], (vyre_order)entry->order, (vyre_scope)entry->scope);
  return operand_expr(atomic, entry->pos);
}

/* f64(inf) is how a literal is written whose type no place gives: a leaf, as 1.5f64 is. */
static bool is_typed_word(const operand *x) {
  return x->kind == OPERAND_FLOAT && x->word != FLOAT_DIGITS && x->height == 0;
}

static step close_cast(text_parser *p, const text_entry *entry, uint32_t count) {
  if (!has_count(p, entry, 1, count)) return replace_operands(p, count, operand_failed(entry->pos));
  bool leaf = is_typed_word(operand_below(p, 0));
  operand x = text_convert(p, (vyre_type)entry->op, *operand_below(p, 0), entry->pos);
  if (!leaf || x.kind != OPERAND_LITERAL) return replace_operands(p, 1, x);
  *operand_below(p, 0) = x;
  return STEP_OPERATOR;
}

/* At the bracket that closes the uppermost entry. */
static step close_entry(text_parser *p) {
  text_entry entry = *top_entry(p);
  uint32_t count = p->operands.count - entry.base;
  p->entries.count--;
  text_advance(p);
  if (entry.kind != ENTRY_PAREN && entry.kind != ENTRY_FUNCTION && entry.kind != ENTRY_CALL)
    limit_depth(p, count, entry.pos);
  switch (entry.kind) {
    case ENTRY_PAREN: text_firm(p, operand_below(p, 0)); return STEP_OPERATOR;
    case ENTRY_FUNC: return replace_operands(p, count, close_func(p, &entry, count));
    case ENTRY_VECTOR: return replace_operands(p, count, close_vector(p, &entry, count));
    case ENTRY_BITCAST: return replace_operands(p, count, close_bitcast(p, &entry, count));
    case ENTRY_LOAD: return replace_operands(p, 1, close_load(p, &entry));
    case ENTRY_ACCESS: return replace_operands(p, count, close_access(p, &entry, count));
    case ENTRY_FUNCTION:
      text_call_function(p, entry.ref, count, entry.pos);
      return p->stop ? STEP_FAILED : STEP_OPERATOR;
    case ENTRY_CALL: text_call_operation(p, entry.ref, count, entry.pos); return p->stop ? STEP_FAILED : STEP_OPERATOR;
    default: return close_cast(p, &entry, count);
  }
}

/* ---- Orders and scopes --------------------------------------------------------------------- */

static bool read_choice(text_parser *p, const char *const *words, uint32_t count, uint32_t *choice,
                        const char *wanted) {
  for (*choice = 0; *choice < count; ++*choice)
    if (text_at_text(p, words[*choice])) return text_advance(p), true;
  return text_unexpected(p, wanted);
}

bool text_read_order(text_parser *p, vyre_order *order) {
  const char *const words[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst" };
  uint32_t choice;
  if (!read_choice(p, words, 5, &choice, "an order: relaxed, acquire, release, acq_rel or seq_cst")) return false;
  *order = (vyre_order)choice;
  return true;
}

bool text_read_scope(text_parser *p, vyre_scope *scope) {
  const char *const words[] = { "workgroup", "device", "system" };
  uint32_t choice;
  if (!read_choice(p, words, 3, &choice, "a scope: workgroup, device or system")) return false;
  *scope = (vyre_scope)choice;
  return true;
}

/* Behind the last operand of an atomic: its order and scope. */
static bool read_ordering(text_parser *p, text_entry *entry) {
  vyre_order order;
  vyre_scope scope;
  if (!text_accept(p, TEXT_COMMA) || text_at(p, TEXT_CLOSE)) return true;
  if (!text_read_order(p, &order)) return false;
  entry->order = (uint8_t)order;
  if (!text_accept(p, TEXT_COMMA) || text_at(p, TEXT_CLOSE)) return true;
  if (!text_read_scope(p, &scope)) return false;
  entry->scope = (uint8_t)scope;
  text_accept(p, TEXT_COMMA);
  return true;
}

/* Behind an operand of a buffer access: another one, or its end. */
static step continue_access(text_parser *p) {
  text_entry *entry = top_entry(p);
  uint32_t count = p->operands.count - entry->base;
  if (count < vyre_op_describe((vyre_op)entry->op)->arity && text_accept(p, TEXT_COMMA) && !text_at(p, TEXT_CLOSE))
    return STEP_OPERAND;
  if (entry->op >= VYRE_OP_ATOMIC_ADD && !read_ordering(p, entry)) return STEP_FAILED;
  if (entry->op < VYRE_OP_ATOMIC_ADD) text_accept(p, TEXT_COMMA);
  return text_at(p, TEXT_CLOSE) ? close_entry(p) : (text_unexpected(p, ")"), STEP_FAILED);
}

static step close_index(text_parser *p) {
  text_entry *entry = top_entry(p);
  if (entry->kind == ENTRY_LOAD) return close_entry(p);
  entry->kind = ENTRY_ACCESS;
  entry->order = VYRE_ORDER_RELAXED;
  entry->scope = VYRE_SCOPE_DEFAULT;
  text_advance(p);
  return continue_access(p);
}

/* ---- Behind an operand --------------------------------------------------------------------- */

static step read_extract(text_parser *p) {
  uint32_t pos = p->token.start;
  text_advance(p);
  if (!text_at(p, TEXT_NAME)) return text_unexpected(p, "x, y, z or w"), STEP_FAILED;
  uint32_t component = text_read_component(p);
  limit_depth(p, 1, pos);
  vyre_expr vector = text_resolve(p, operand_below(p, 0), VYRE_TYPE_NONE), result = 0;
  vyre_build_position(p->b, pos);
  if (component != UINT32_MAX) result = vyre_build_extract(p->b, vector, component);
  return replace_operands(p, 1, operand_expr(result, pos));
}

static step read_infix(text_parser *p, uint32_t base) {
  uint8_t kind = p->token.kind;
  if (!reduce(p, base, infixes[kind].precedence)) return STEP_FAILED;
  return open_operator(p, ENTRY_INFIX, (vyre_op)infixes[kind].op, infixes[kind].precedence);
}

static step read_colon(text_parser *p, uint32_t base) {
  if (p->entries.count == base) return STEP_DONE;
  text_entry *entry = top_entry(p);
  if (entry->kind != ENTRY_TERNARY) return text_unexpected(p, "a closing bracket"), STEP_FAILED;
  entry->kind = ENTRY_ELSE;
  text_advance(p);
  return STEP_OPERAND;
}

static step read_comma(text_parser *p, uint32_t base) {
  if (p->entries.count == base) return STEP_DONE;
  if (top_entry(p)->kind == ENTRY_ACCESS) return continue_access(p);
  if (!takes_arguments(top_entry(p))) return text_unexpected(p, "a closing bracket"), STEP_FAILED;
  text_advance(p);
  return text_at(p, TEXT_CLOSE) ? STEP_OPERATOR : STEP_OPERAND;
}

static step read_close(text_parser *p, uint32_t base) {
  if (p->entries.count == base) return STEP_DONE;
  uint8_t kind = top_entry(p)->kind;
  if (kind == ENTRY_ACCESS) return continue_access(p);
  if (kind == ENTRY_TERNARY) return text_unexpected(p, ": and the other value of ?:"), STEP_FAILED;
  if (kind == ENTRY_LOAD || kind == ENTRY_ACCESS_INDEX) return text_unexpected(p, "]"), STEP_FAILED;
  return close_entry(p);
}

static step read_close_bracket(text_parser *p, uint32_t base) {
  if (p->entries.count == base) return STEP_DONE;
  uint8_t kind = top_entry(p)->kind;
  if (kind != ENTRY_LOAD && kind != ENTRY_ACCESS_INDEX) return text_unexpected(p, "a closing bracket"), STEP_FAILED;
  return close_index(p);
}

static step read_operator(text_parser *p, uint32_t base) {
  uint8_t kind = p->token.kind;
  if (infixes[kind].op != VYRE_OP_NONE) return read_infix(p, base);
  if (kind == TEXT_DOT) return read_extract(p);
  if (!reduce(p, base, kind == TEXT_QUESTION ? PRECEDENCE_EITHER : PRECEDENCE_ELSE)) return STEP_FAILED;
  switch (kind) {
    case TEXT_QUESTION: return open_entry(p, ENTRY_TERNARY, VYRE_OP_SELECT, 0, p->token.start);
    case TEXT_COLON: return read_colon(p, base);
    case TEXT_COMMA: return read_comma(p, base);
    case TEXT_CLOSE: return read_close(p, base);
    case TEXT_CLOSE_BRACKET: return read_close_bracket(p, base);
    default: break;
  }
  if (p->entries.count == base) return STEP_DONE;
  return text_unexpected(p, "an operator or a closing bracket"), STEP_FAILED;
}

/* ---- Whole expressions --------------------------------------------------------------------- */

bool text_expression(text_parser *p, operand *out) {
  uint32_t entries = p->entries.count, operands = p->operands.count;
  step next = STEP_OPERAND;
  while (next == STEP_OPERAND || next == STEP_OPERATOR)
    next = next == STEP_OPERAND ? read_operand(p, entries) : read_operator(p, entries);
  p->entries.count = entries;
  *out = operand_failed(p->token.start);
  if (next == STEP_DONE && !p->stop) *out = *operand_below(p, 0);
  text_drop(p, p->operands.count - operands);
  text_firm(p, out);
  return next == STEP_DONE && !p->stop;
}

/* Whether it is a vector of literals, which tables may hold. */
static bool is_literal_vector(const text_parser *p, const operand *x) {
  if (x->kind != OPERAND_EXPR) return false;
  const ir_expr *e = ir_builder_expr(p->b, x->expr);
  if (e->op != VYRE_OP_SPLAT && e->op != VYRE_OP_VEC2 && e->op != VYRE_OP_VEC4) return false;
  for (uint32_t i = 0; i < ir_op_arity[e->op]; i++)
    if (ir_builder_expr(p->b, e->arg[i])->op != VYRE_OP_LIT) return false;
  return true;
}

bool text_constant(text_parser *p, vyre_type type, operand *out) {
  bool constant = p->constant;
  vyre_type outer = p->constant_type;
  p->constant = true;
  p->constant_type = type;
  bool good = text_expression(p, out);
  p->constant = constant;
  p->constant_type = outer;
  if (!good) return false;
  bool known = out->kind >= OPERAND_INT && out->kind <= OPERAND_LITERAL;
  if (known || out->kind == OPERAND_FAILED || is_literal_vector(p, out)) return true;
  text_report(p, VYRE_S7, out->pos, "it is not constant");
  *out = operand_failed(out->pos);
  return true;
}

bool text_constant_count(text_parser *p, uint64_t most, uint64_t *out) {
  operand x;
  *out = 0;
  if (!text_constant(p, VYRE_TYPE_NONE, &x)) return false;
  if (x.kind == OPERAND_FAILED) return true;
  bool literal = x.kind == OPERAND_LITERAL && ir_is_integer((vyre_type)x.type);
  if (x.kind != OPERAND_INT && !literal) return text_report(p, VYRE_S7, x.pos, "wanted an integer"), true;
  text_int value = literal ? text_int_value((vyre_type)x.type, x.bits) : x.value;
  if (value < 0 || value > (text_int)most)
    return text_report(p, VYRE_V145, x.pos, "it is not from 0 to %llu", (unsigned long long)most), true;
  *out = (uint64_t)value;
  return true;
}

bool text_element(text_parser *p, vyre_code code, vyre_binding *binding) {
  operand index;
  if (!text_at(p, TEXT_NAME) || p->word != WORD_NONE) return text_unexpected(p, "the name of a buffer");
  ir_symbol symbol = text_find(p, p->name);
  *binding = symbol.kind == IR_SYMBOL_BUFFER ? symbol.index : VYRE_NO_BINDING;
  if (*binding == VYRE_NO_BINDING) report_name(p, p->name, symbol, code, TEXT_NEAR_BUFFER, p->token.start);
  text_advance(p);
  if (!text_expect(p, TEXT_OPEN_BRACKET, "[") || !text_expression(p, &index)) return false;
  uint32_t pos = index.pos;
  index = operand_expr(text_resolve(p, &index, VYRE_TYPE_U32), pos);
  return text_expect(p, TEXT_CLOSE_BRACKET, "]") && text_push(p, index);
}
