/* Maximal munch over a byte table. A text without NUL lets 0 stand for its end. */
#include "ir/text_lex.h"

#include <string.h>

#include "base/utf8.h"
#include "ir/program.h"

enum { WORD = 1, DIGIT = 2, HEX = 4, BLANK = 8, GAP = 16 /* may begin what lies between tokens, and is no blank */ };

static const uint8_t classes[256] = {
  [' '] = BLANK, ['\t'] = BLANK, ['\f'] = BLANK, ['\n'] = BLANK, ['_'] = WORD,
  ['\r'] = GAP, ['/'] = GAP,
  ['0' ... '9'] = WORD | DIGIT | HEX,
  ['a' ... 'f'] = WORD | HEX, ['A' ... 'F'] = WORD | HEX, ['g' ... 'z'] = WORD, ['G' ... 'Z'] = WORD,
};

static bool is(char c, uint8_t class) { return (classes[(unsigned char)c] & class) != 0; }
bool text_is_word(char c) { return is(c, WORD); }

static char look(const text_lexer *lexer, uint32_t ahead) {
  return lexer->bytes - lexer->at > ahead ? lexer->text[lexer->at + ahead] : 0;
}

text_lexer text_lex_start(const char *text, uint32_t bytes) {
  bool mark = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
  return (text_lexer){ text, bytes, mark ? 3 : 0 };
}

static void fail(text_token *token, vyre_code code, const char *problem) {
  token->kind = TEXT_ERROR;
  token->code = code;
  token->problem = problem;
}

/* ---- Blanks and comments ------------------------------------------------------------------- */

uint32_t text_lex_comment_end(const char *text, uint32_t bytes, uint32_t at, bool *closed) {
  *closed = true;
  if (text[at + 1] == '/') {
    const char *end = memchr(text + at, '\n', bytes - at);
    return end != NULL ? (uint32_t)(end - text) : bytes;
  }
  for (uint32_t i = at + 2; i + 1 < bytes; i++)
    if (text[i] == '*' && text[i + 1] == '/') return i + 2;
  *closed = false;
  return bytes;
}

static bool skip_many_blanks(text_lexer *lexer) {
  const char *text = lexer->text;
  uint32_t at = lexer->at, bytes = lexer->bytes;
  bool closed = true;
  for (;;) {
    while (at < bytes && is(text[at], BLANK)) at++;
    if (at == bytes || !is(text[at], GAP)) break;
    char next = bytes - at > 1 ? text[at + 1] : 0;
    if (text[at] == '\r' && next == '\n') {
      at += 2;
    } else if (text[at] == '/' && (next == '/' || next == '*')) {
      uint32_t end = text_lex_comment_end(text, bytes, at, &closed);
      if (!closed) break;
      at = end;
    } else {
      break;
    }
  }
  lexer->at = at;
  return closed;
}

/* Passes over blanks and comments, mostly one blank or none; false at a comment that is not closed. */
static inline bool skip_blanks(text_lexer *lexer) {
  if (lexer->at < lexer->bytes && is(lexer->text[lexer->at], BLANK)) lexer->at++;
  return (lexer->at < lexer->bytes && !is(lexer->text[lexer->at], BLANK | GAP)) || skip_many_blanks(lexer);
}

char text_lex_peek(const text_lexer *lexer) {
  text_lexer ahead = *lexer;
  return skip_blanks(&ahead) ? look(&ahead, 0) : 0;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

static void malformed(text_token *token, vyre_code code, const char *problem) {
  if (token->malformed) return;
  token->malformed = true;
  token->code = code;
  token->problem = problem;
}

static uint32_t digit_value(char c) { return is(c, DIGIT) ? (uint32_t)(c - '0') : (uint32_t)((c | 32) - 'a' + 10); }

/* Reads digits of |base|; how many there were. Beyond 2^127-1 the value is 2^127. */
static uint32_t read_digits(text_lexer *lexer, text_token *token, uint32_t base) {
  const char *text = lexer->text;
  uint32_t start = lexer->at, at = start, bytes = lexer->bytes;
  uint8_t class = base == 16 ? HEX : DIGIT;
  uint64_t low = 0;
  for (; at < bytes && is(text[at], class) && low < (uint64_t)1 << 59; at++) low = low * base + digit_value(text[at]);
  unsigned __int128 value = low, most = ~(unsigned __int128)0 >> 1;
  for (; at < bytes && is(text[at], class); at++) {
    uint32_t digit = digit_value(text[at]);
    value = value > (most - digit) / base ? most + 1 : value * base + digit;
  }
  token->value = value;
  lexer->at = at;
  return at - start;
}

static bool read_exponent(text_lexer *lexer, text_token *token, char lower) {
  if ((look(lexer, 0) | 32) != lower) return false;
  uint32_t sign = look(lexer, 1) == '+' || look(lexer, 1) == '-';
  lexer->at += 1 + sign;
  if (!is(look(lexer, 0), DIGIT)) malformed(token, VYRE_S4, "the exponent has no digits");
  while (is(look(lexer, 0), DIGIT)) lexer->at++;
  return true;
}

/* A point and digits, an exponent; true if there is either. |base| 16 must have the exponent. */
static bool read_fraction(text_lexer *lexer, text_token *token, uint32_t base) {
  bool point = look(lexer, 0) == '.' && look(lexer, 1) != '.';
  if (point) {
    lexer->at++;
    text_token ignored = { 0 };
    if (read_digits(lexer, &ignored, base) == 0) malformed(token, VYRE_S4, "a digit must follow the point");
  }
  bool exponent = read_exponent(lexer, token, base == 16 ? 'p' : 'e');
  if (point && !exponent && base == 16)
    malformed(token, VYRE_S4, "a hexadecimal fraction needs an exponent, as in 0x1.8p3");
  return point || exponent;
}

static void read_suffix(text_lexer *lexer, text_token *token) {
  token->digits_end = lexer->at;
  uint32_t length = 0;
  while (is(look(lexer, length), WORD)) length++;
  if (length == 0) return;
  vyre_type type = length == 3 ? ir_type_named(lexer->text + lexer->at, length) : VYRE_TYPE_NONE;
  lexer->at += length;
  bool integer = type >= VYRE_TYPE_U32 && type <= VYRE_TYPE_I64;
  bool real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
  if (!integer && !real) malformed(token, VYRE_S4, "suffixes are u32 i32 u64 i64 f32 f64");
  else if (integer && token->kind == TEXT_FLOAT)
    malformed(token, VYRE_S4, "an integer suffix behind a fraction or an exponent");
  else token->suffix = (uint8_t)type;
  if (real) token->kind = TEXT_FLOAT;
}

static void read_number(text_lexer *lexer, text_token *token) {
  uint32_t base = look(lexer, 0) == '0' && look(lexer, 1) == 'x' ? 16 : 10;
  if (base == 16) lexer->at += 2;
  uint32_t start = lexer->at, digits = read_digits(lexer, token, base);
  if (digits == 0) malformed(token, VYRE_S4, "no digit follows 0x");
  token->kind = read_fraction(lexer, token, base) ? TEXT_FLOAT : TEXT_INTEGER;
  read_suffix(lexer, token);
  if (token->kind != TEXT_INTEGER) return;
  if (base == 10 && digits > 1 && lexer->text[start] == '0')
    malformed(token, VYRE_S4, "an integer does not begin with 0; there are no octal numbers");
  if (token->value >> 127 != 0) malformed(token, VYRE_S7, "the number does not fit 128 bits");
}

/* `.5`: said once, with its digits passed over. */
static void read_bare_fraction(text_lexer *lexer, text_token *token) {
  lexer->at++;
  token->kind = TEXT_FLOAT;
  while (is(look(lexer, 0), WORD)) lexer->at++;
  token->digits_end = lexer->at;
  malformed(token, VYRE_S4, "a digit must stand before the point");
}

/* ---- Strings ------------------------------------------------------------------------------- */

static void read_string(text_lexer *lexer, text_token *token) {
  lexer->at++;
  for (;; lexer->at++) {
    char c = look(lexer, 0);
    if (c == 0 || c == '\n') {
      fail(token, VYRE_S3, "the string has no closing quote on its line");
      return;
    }
    if (c == '"') break;
    if (c != '\\') continue;
    token->escaped = true;
    if (look(lexer, 1) == '"' || look(lexer, 1) == '\\') lexer->at++;
  }
  lexer->at++;
  token->kind = TEXT_STRING;
}

static uint32_t put_point(uint32_t point, char *out) {
  if (point < 0x80) return (out[0] = (char)point, 1);
  uint32_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const uint8_t lead[] = { 0, 0xC0, 0xE0, 0xF0 };
  for (uint32_t i = more; i > 0; i--, point >>= 6) out[i] = (char)(0x80 | (point & 0x3F));
  out[0] = (char)(lead[more] | point);
  return more + 1;
}

/* The braces and digits of \u{...}: bytes taken, 0 if they are none. */
static uint32_t read_point(const char *text, uint32_t bytes, uint32_t *point) {
  uint32_t at = 1;
  *point = 0;
  if (bytes == 0 || text[0] != '{') return 0;
  for (; at < bytes && at <= 6 && is(text[at], HEX); at++) *point = *point * 16 + digit_value(text[at]);
  bool scalar = *point != 0 && *point <= 0x10FFFF && (*point < 0xD800 || *point > 0xDFFF);
  return at > 1 && at < bytes && text[at] == '}' && scalar ? at + 1 : 0;
}

uint32_t text_unescape(const char *text, uint32_t bytes, char *out, uint32_t *fault) {
  static const char from[] = "nrt\"\\", to[] = "\n\r\t\"\\";
  uint32_t count = 0;
  for (uint32_t at = 0; at < bytes;) {
    if (text[at] != '\\') {
      out[count++] = text[at++];
      continue;
    }
    *fault = at;
    char c = at + 1 < bytes ? text[at + 1] : 0;
    const char *plain = c != 0 ? strchr(from, c) : NULL;
    uint32_t point, taken = c == 'u' ? read_point(text + at + 2, bytes - at - 2, &point) : 0;
    if (plain != NULL) out[count++] = to[plain - from];
    else if (taken != 0) count += put_point(point, out + count);
    else return UINT32_MAX;
    at += 2 + taken;
  }
  return count;
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* |kind|, or |longer| if |c| follows the first character. */
static uint8_t either(text_lexer *lexer, char c, text_kind longer, text_kind kind) {
  lexer->at++;
  if (look(lexer, 0) != c) return (uint8_t)kind;
  lexer->at++;
  return (uint8_t)longer;
}

/* `<` and `>`: alone, doubled, with `=`, or all three. */
static uint8_t angle(text_lexer *lexer, char c, text_kind alone, text_kind equal, text_kind shift, text_kind assign) {
  if (look(lexer, 1) != c) return either(lexer, '=', equal, alone);
  lexer->at++;
  return either(lexer, '=', assign, shift);
}

static uint8_t one(text_lexer *lexer, text_kind kind) {
  lexer->at++;
  return (uint8_t)kind;
}

static uint8_t two(text_lexer *lexer, text_kind kind) {
  lexer->at += 2;
  return (uint8_t)kind;
}

static void read_other(text_lexer *lexer, text_token *token) {
  uint32_t left = lexer->bytes - lexer->at;
  uint32_t length = vyre_utf8_length((const unsigned char *)lexer->text + lexer->at, left);
  bool carriage_return = look(lexer, 0) == '\r';
  lexer->at += length > 0 ? length : 1;
  fail(token, VYRE_S1, carriage_return ? "a carriage return without a line feed" : "");
}

static void read_punctuation(text_lexer *lexer, text_token *token) {
  switch (look(lexer, 0)) {
    case '(': token->kind = one(lexer, TEXT_OPEN); break;
    case ')': token->kind = one(lexer, TEXT_CLOSE); break;
    case '[': token->kind = one(lexer, TEXT_OPEN_BRACKET); break;
    case ']': token->kind = one(lexer, TEXT_CLOSE_BRACKET); break;
    case '{': token->kind = one(lexer, TEXT_OPEN_BRACE); break;
    case '}': token->kind = one(lexer, TEXT_CLOSE_BRACE); break;
    case ',': token->kind = one(lexer, TEXT_COMMA); break;
    case ';': token->kind = one(lexer, TEXT_SEMICOLON); break;
    case ':': token->kind = one(lexer, TEXT_COLON); break;
    case '?': token->kind = one(lexer, TEXT_QUESTION); break;
    case '~': token->kind = one(lexer, TEXT_COMPLEMENT); break;
    case '.':
      if (is(look(lexer, 1), DIGIT)) read_bare_fraction(lexer, token);
      else token->kind = either(lexer, '.', TEXT_RANGE, TEXT_DOT);
      break;
    case '+': token->kind = either(lexer, '=', TEXT_ASSIGN_PLUS, TEXT_PLUS); break;
    case '-':
      token->kind = look(lexer, 1) == '>' ? two(lexer, TEXT_ARROW) : either(lexer, '=', TEXT_ASSIGN_MINUS, TEXT_MINUS);
      break;
    case '*': token->kind = either(lexer, '=', TEXT_ASSIGN_STAR, TEXT_STAR); break;
    case '/': token->kind = either(lexer, '=', TEXT_ASSIGN_SLASH, TEXT_SLASH); break;
    case '%': token->kind = either(lexer, '=', TEXT_ASSIGN_PERCENT, TEXT_PERCENT); break;
    case '^': token->kind = either(lexer, '=', TEXT_ASSIGN_XOR, TEXT_XOR); break;
    case '&':
      token->kind = look(lexer, 1) == '&' ? two(lexer, TEXT_BOTH) : either(lexer, '=', TEXT_ASSIGN_AND, TEXT_AND);
      break;
    case '|':
      token->kind = look(lexer, 1) == '|' ? two(lexer, TEXT_EITHER) : either(lexer, '=', TEXT_ASSIGN_OR, TEXT_OR);
      break;
    case '=': token->kind = either(lexer, '=', TEXT_EQUAL, TEXT_ASSIGN); break;
    case '!': token->kind = either(lexer, '=', TEXT_UNEQUAL, TEXT_NOT); break;
    case '<': token->kind = angle(lexer, '<', TEXT_LESS, TEXT_LESS_EQUAL, TEXT_LEFT, TEXT_ASSIGN_LEFT); break;
    case '>': token->kind = angle(lexer, '>', TEXT_GREATER, TEXT_GREATER_EQUAL, TEXT_RIGHT, TEXT_ASSIGN_RIGHT); break;
    case '"': read_string(lexer, token); break;
    default: read_other(lexer, token); break;
  }
}

void text_lex_next(text_lexer *lexer, text_token *token) {
  bool closed = skip_blanks(lexer);
  token->suffix = VYRE_TYPE_NONE;
  token->malformed = token->escaped = false;
  token->start = lexer->at;
  char c = look(lexer, 0);
  if (!closed) {
    fail(token, VYRE_S3, "the comment has no closing */");
    lexer->at = lexer->bytes;
  } else if (c == 0) {
    token->kind = TEXT_END;
  } else if (is(c, DIGIT)) {
    read_number(lexer, token);
  } else if (is(c, WORD)) {
    const char *text = lexer->text;
    uint32_t at = lexer->at + 1, bytes = lexer->bytes;
    while (at < bytes && is(text[at], WORD)) at++;
    lexer->at = at;
    token->kind = TEXT_NAME;
  } else {
    read_punctuation(lexer, token);
  }
  token->end = lexer->at;
}
