/* The words of the text form: from bytes to tokens, without allocation. Parser and formatter share it. */
#ifndef VYRE_IR_TEXT_LEX_H
#define VYRE_IR_TEXT_LEX_H

#include <vyre/ir.h>

typedef enum text_kind {
  TEXT_END,
  TEXT_ERROR, /* code and problem say what is wrong */
  TEXT_NAME,  /* a name or a reserved word */
  TEXT_INTEGER,
  TEXT_FLOAT,
  TEXT_STRING,
  TEXT_OPEN, TEXT_CLOSE, TEXT_OPEN_BRACKET, TEXT_CLOSE_BRACKET, TEXT_OPEN_BRACE, TEXT_CLOSE_BRACE,
  TEXT_COMMA, TEXT_SEMICOLON, TEXT_COLON, TEXT_QUESTION, TEXT_DOT, TEXT_RANGE, TEXT_ARROW,
  TEXT_NOT, TEXT_COMPLEMENT,
  /* infix operators */
  TEXT_PLUS, TEXT_MINUS, TEXT_STAR, TEXT_SLASH, TEXT_PERCENT, TEXT_AND, TEXT_OR, TEXT_XOR, TEXT_LEFT, TEXT_RIGHT,
  TEXT_EQUAL, TEXT_UNEQUAL, TEXT_LESS, TEXT_GREATER, TEXT_LESS_EQUAL, TEXT_GREATER_EQUAL, TEXT_BOTH, TEXT_EITHER,
  /* assignments; the compound ones in the order of their operators above */
  TEXT_ASSIGN,
  TEXT_ASSIGN_PLUS, TEXT_ASSIGN_MINUS, TEXT_ASSIGN_STAR, TEXT_ASSIGN_SLASH, TEXT_ASSIGN_PERCENT, TEXT_ASSIGN_AND,
  TEXT_ASSIGN_OR, TEXT_ASSIGN_XOR, TEXT_ASSIGN_LEFT, TEXT_ASSIGN_RIGHT,
  TEXT_KINDS
} text_kind;

typedef struct text_token {
  uint8_t kind;        /* text_kind */
  uint8_t suffix;      /* vyre_type that a number's suffix names, or NONE */
  bool malformed;      /* a number that is none: code and problem are set */
  bool escaped;        /* the string holds backslashes */
  uint32_t start, end; /* bytes of the source */
  uint32_t digits_end; /* numbers: where the suffix starts */
  vyre_code code;      /* TEXT_ERROR and what is malformed */
  const char *problem; /* static storage */
  unsigned __int128 value; /* TEXT_INTEGER; at most 2^127-1 */
} text_token;

typedef struct text_lexer {
  const char *text; /* valid UTF-8 without NUL */
  uint32_t bytes, at;
} text_lexer;

/* Whether a text from outside has a size and bytes that the lexer takes: LIMIT, or INVALID_PROGRAM and S2. */
vyre_status text_check_source(const char *text, size_t bytes, vyre_diagnostics *diagnostics, vyre_error *error);

/* A lexer at the start of a text that vyre_utf8_valid accepts; a byte order mark is passed over. */
text_lexer text_lex_start(const char *text, uint32_t bytes);
/* Reads the next token. After the end it gives TEXT_END again. */
void text_lex_next(text_lexer *lexer, text_token *token);
/* The byte that the next token starts with, 0 at the end. */
char text_lex_peek(const text_lexer *lexer);

/* Where the comment that starts at |at| ends; |bytes| if it is not closed, and then *closed is false. */
uint32_t text_lex_comment_end(const char *text, uint32_t bytes, uint32_t at, bool *closed);

static inline bool text_is_digit(char c) { return c >= '0' && c <= '9'; }
bool text_is_word(char c); /* letters, digits, _ */

/* Decodes the inside of a string literal (without its quotes) to |out|, which has room for |bytes| bytes.
 * Gives the number of bytes, or UINT32_MAX if an escape is none; *fault is then its offset. */
uint32_t text_unescape(const char *text, uint32_t bytes, char *out, uint32_t *fault);

#endif
