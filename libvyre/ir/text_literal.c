/* Single literals from outside: values of parameters and of constants. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ir/text_parser.h"

static bool is_token(const char *text, const text_token *token, const char *word) {
  uint32_t bytes = token->end - token->start;
  return token->kind == TEXT_NAME && strlen(word) == bytes && memcmp(text + token->start, word, bytes) == 0;
}

static bool literal_operand(const char *text, const text_token *token, bool negative, operand *x) {
  *x = (operand){ .type = token->suffix, .negative = negative };
  if (token->malformed) return false;
  if (token->kind == TEXT_INTEGER) {
    x->kind = OPERAND_INT;
    x->value = negative ? -(text_int)token->value : (text_int)token->value;
    return true;
  }
  x->kind = OPERAND_FLOAT;
  if (token->kind == TEXT_FLOAT) {
    x->digits.text = text + token->start;
    x->digits.bytes = token->digits_end - token->start;
    return true;
  }
  if (is_token(text, token, "inf")) x->word = FLOAT_INF;
  else if (is_token(text, token, "nan")) x->word = FLOAT_NAN;
  if (x->word != FLOAT_DIGITS) return true;
  bool yes = is_token(text, token, "true");
  *x = operand_literal(VYRE_TYPE_BOOL, yes, 0);
  return !negative && (yes || is_token(text, token, "false"));
}

text_float_result text_operand_float(const operand *x, vyre_type type, uint64_t *bits) {
  bool wide = type == VYRE_TYPE_F64;
  if (x->word == FLOAT_NAN) {
    *bits = wide ? 0x7FF8000000000000u : 0x7FC00000u;
    return TEXT_FLOAT_OK;
  }
  text_float_result result = TEXT_FLOAT_OK;
  if (x->word == FLOAT_INF) *bits = wide ? 0x7FF0000000000000u : 0x7F800000u;
  else result = text_float_bits(type, x->digits.text, x->digits.bytes, bits);
  if (x->negative) *bits |= (uint64_t)1 << (wide ? 63 : 31);
  return result;
}

/* Whether a literal may stand where |type| is asked, its value aside. */
static bool is_of_type(vyre_type type, const operand *x) {
  if (x->type != VYRE_TYPE_NONE) return x->type == type;
  bool real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  return x->kind == OPERAND_FLOAT ? real : type != VYRE_TYPE_BOOL;
}

static text_float_result bits_in(vyre_type type, const operand *x, uint64_t *bits) {
  if (x->kind == OPERAND_LITERAL) return *bits = x->bits, TEXT_FLOAT_OK;
  if (x->kind == OPERAND_FLOAT) return text_operand_float(x, type, bits);
  return text_int_bits(type, x->value, bits) ? TEXT_FLOAT_OK : TEXT_FLOAT_RANGE;
}

bool text_literal_in(vyre_type type, const operand *x, uint64_t *bits) {
  return is_of_type(type, x) && bits_in(type, x, bits) == TEXT_FLOAT_OK;
}

bool text_read_literal(const char *text, operand *x) {
  size_t bytes = strlen(text);
  if (bytes > VYRE_MAX_STRING_BYTES || !vyre_utf8_valid(text, bytes)) return false;
  text_lexer lex = text_lex_start(text, (uint32_t)bytes);
  text_token token, end;
  text_lex_next(&lex, &token);
  bool negative = token.kind == TEXT_MINUS;
  if (negative) text_lex_next(&lex, &token);
  text_lex_next(&lex, &end);
  return end.kind == TEXT_END && literal_operand(text, &token, negative, x);
}

vyre_status vyre_text_literal(vyre_type type, const char *text, uint64_t *bits, vyre_error *error) {
  operand x;
  const char *name = vyre_type_describe(type)->spelling;
  if (type < VYRE_TYPE_BOOL || type > VYRE_TYPE_F64)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "literal",
                     "There are literals of scalar types only. Fix: give bool, u32, i32, u64, i64, f32 or f64.");
  if (!text_read_literal(text, &x) || !is_of_type(type, &x))
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "literal",
                     "Wanted a literal of type %s, found \"%.120s\". Fix: write %s.", name, text,
                     type == VYRE_TYPE_BOOL ? "true or false"
                     : type < VYRE_TYPE_F32 ? "an integer, as 7, -3 or 0x1F"
                                            : "a number, as 2, 1.5, 1e3 or inf");
  switch (bits_in(type, &x, bits)) {
    case TEXT_FLOAT_OK: return VYRE_OK;
    case TEXT_FLOAT_MEMORY: return vyre_fail_memory(error, "literal");
    default: break;
  }
  return vyre_fail(error, VYRE_ERR_OUT_OF_RANGE, "literal",
                   "\"%.120s\" is no value of type %s. Fix: give one in its range.", text, name);
}
