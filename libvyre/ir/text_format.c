/* The formatter: the tokens and comments of a text, spaced and broken into lines anew.
 *
 * Between two tokens lies a gap of blanks and comments. What is written for it depends on the two tokens, on where the
 * source broke its lines, and on nothing that the formatter changes: so formatting again changes nothing. */
#include <string.h>

#include <vyre/text.h>

#include "base/diag.h"
#include "base/error.h"
#include "base/utf8.h"
#include "base/writer.h"
#include "ir/text_lex.h"

enum { INDENT = 2, CONTINUATION = 4 };

/* What a token is to the formatter beyond its kind. */
typedef enum role { ROLE_PLAIN, ROLE_BLOCK, ROLE_LIST, ROLE_PREFIX, ROLE_TERNARY, ROLE_ANGLE } role;

typedef struct formatter {
  vyre_writer w;
  const char *text;
  text_token before, token; /* |before| is TEXT_END at the start */
  role before_role, role;
  uint32_t depth;    /* open blocks */
  uint32_t lists;    /* open braces of tables */
  uint32_t ternaries; /* ? without their : */
  uint32_t angles;   /* tokens of bitcast<T> still to come */
} formatter;

static bool is_word(const formatter *f, const text_token *t, const char *word) {
  size_t bytes = strlen(word);
  return t->kind == TEXT_NAME && t->end - t->start == bytes && memcmp(f->text + t->start, word, bytes) == 0;
}

/* ---- Roles --------------------------------------------------------------------------------- */

/* Words that no operand ends with, so that what follows begins one. */
static bool is_leading_word(const formatter *f, const text_token *t) {
  return is_word(f, t, "return") || is_word(f, t, "in") || is_word(f, t, "step") || is_word(f, t, "wait");
}

static bool ends_operand(const formatter *f, const text_token *t) {
  switch (t->kind) {
    case TEXT_NAME: return !is_leading_word(f, t);
    case TEXT_INTEGER:
    case TEXT_FLOAT:
    case TEXT_STRING:
    case TEXT_CLOSE:
    case TEXT_CLOSE_BRACKET: return true;
    default: return false;
  }
}

/* Says what the token is, and counts what is open. */
static role classify(formatter *f) {
  switch (f->token.kind) {
    case TEXT_OPEN_BRACE:
      if (f->lists == 0 && f->before.kind != TEXT_ASSIGN) return ROLE_BLOCK;
      f->lists++;
      return ROLE_LIST;
    case TEXT_CLOSE_BRACE:
      if (f->lists == 0) return ROLE_BLOCK;
      f->lists--;
      return ROLE_LIST;
    case TEXT_NOT:
    case TEXT_COMPLEMENT: return ROLE_PREFIX;
    case TEXT_MINUS: return ends_operand(f, &f->before) ? ROLE_PLAIN : ROLE_PREFIX;
    case TEXT_QUESTION: f->ternaries++; return ROLE_TERNARY;
    case TEXT_COLON:
      if (f->ternaries == 0) return ROLE_PLAIN;
      f->ternaries--;
      return ROLE_TERNARY;
    case TEXT_LESS: return f->angles == 3 ? ROLE_ANGLE : ROLE_PLAIN;
    case TEXT_GREATER: return f->angles == 1 ? ROLE_ANGLE : ROLE_PLAIN;
    default: return ROLE_PLAIN;
  }
}

static void count_angles(formatter *f) {
  if (is_word(f, &f->token, "bitcast")) f->angles = 3;
  else if (f->angles > 0) f->angles--;
}

/* ---- Spaces -------------------------------------------------------------------------------- */

static bool is_infix(const text_token *t, role r) {
  return t->kind == TEXT_QUESTION || t->kind == TEXT_ARROW || (t->kind >= TEXT_PLUS && r == ROLE_PLAIN);
}

static bool space_before_open(const formatter *f) {
  const text_token *b = &f->before;
  if (b->kind != TEXT_NAME) return false;
  return is_leading_word(f, b) || is_word(f, b, "if") || is_word(f, b, "for") || is_word(f, b, "else");
}

static bool wants_space(const formatter *f) {
  const text_token *b = &f->before, *t = &f->token;
  if (f->before_role == ROLE_LIST || f->role == ROLE_LIST)
    return t->kind == TEXT_OPEN_BRACE && b->kind != TEXT_OPEN_BRACE;
  if (f->before_role == ROLE_BLOCK || f->role == ROLE_BLOCK) return true;
  if (f->before_role == ROLE_PREFIX || f->role == ROLE_ANGLE || f->before_role == ROLE_ANGLE) return false;
  if (f->role == ROLE_TERNARY || f->before_role == ROLE_TERNARY) return true;
  if (is_infix(b, f->before_role)) return true;
  switch (b->kind) {
    case TEXT_OPEN:
    case TEXT_OPEN_BRACKET:
    case TEXT_DOT:
    case TEXT_RANGE: return false;
    default: break;
  }
  if (is_infix(t, f->role)) return true;
  switch (t->kind) {
    case TEXT_CLOSE:
    case TEXT_CLOSE_BRACKET:
    case TEXT_COMMA:
    case TEXT_SEMICOLON:
    case TEXT_COLON:
    case TEXT_DOT:
    case TEXT_RANGE:
    case TEXT_OPEN_BRACKET: return false;
    case TEXT_OPEN: return space_before_open(f) || b->kind == TEXT_COMMA || b->kind == TEXT_COLON;
    default: return true;
  }
}

/* Whether the two tokens without a space between them would be read as others. */
static bool would_join(const formatter *f) {
  char both[96];
  uint32_t left = f->before.end - f->before.start, right = f->token.end - f->token.start;
  if (left > 64) return true;
  if (right > 16) right = 16;
  memcpy(both, f->text + f->before.start, left);
  memcpy(both + left, f->text + f->token.start, right);
  text_lexer lex = { both, left + right, 0 };
  text_token first;
  text_lex_next(&lex, &first);
  return first.kind != f->before.kind || first.end != left;
}

/* Brackets, commas and semicolons join with nothing. */
static bool is_solitary(const text_token *t) {
  return (t->kind >= TEXT_OPEN && t->kind <= TEXT_COLON) || t->kind == TEXT_STRING;
}

static void write_space(formatter *f) {
  if (f->before.kind == TEXT_END) return;
  bool space = wants_space(f) || (!is_solitary(&f->before) && !is_solitary(&f->token) && would_join(f));
  if (space) vyre_write_text(&f->w, " ");
}

/* ---- Lines --------------------------------------------------------------------------------- */

/* Whether a statement or declaration may begin behind the token before. */
static bool at_boundary(const formatter *f) {
  return f->before.kind == TEXT_END || f->before.kind == TEXT_SEMICOLON || f->before_role == ROLE_BLOCK;
}

static bool before_is_open_block(const formatter *f) {
  return f->before.kind == TEXT_OPEN_BRACE && f->before_role == ROLE_BLOCK;
}

static void new_line(formatter *f, bool blank, bool closing) {
  uint32_t indent = INDENT * f->depth;
  if (!at_boundary(f)) indent += f->lists > 0 ? INDENT : closing ? 0 : CONTINUATION;
  if (closing && f->role == ROLE_BLOCK) indent = f->depth > 0 ? INDENT * (f->depth - 1) : 0;
  if (f->w.count > 0) vyre_write_text(&f->w, blank ? "\n\n" : "\n");
  vyre_write_repeat(&f->w, ' ', indent);
}

/* Whether a new line must begin before the token. */
static bool must_break(const formatter *f, bool comments) {
  bool closing = f->token.kind == TEXT_CLOSE_BRACE && f->role == ROLE_BLOCK;
  if (closing) return comments || !before_is_open_block(f);
  if (f->before.kind == TEXT_SEMICOLON || before_is_open_block(f)) return true;
  return f->before_role == ROLE_BLOCK && !is_word(f, &f->token, "else") && f->token.kind != TEXT_SEMICOLON;
}

/* Whether a line that the source broke here stays broken. */
static bool may_break(const formatter *f) {
  if (f->before.kind == TEXT_END) return true;
  if (f->token.kind == TEXT_OPEN_BRACE) return false;
  if (f->before_role == ROLE_BLOCK) return false;
  return f->token.kind != TEXT_SEMICOLON && f->token.kind != TEXT_COMMA;
}

/* Copies a comment; blanks at the ends of lines and carriage returns stay behind. */
static void write_comment(formatter *f, uint32_t start, uint32_t end) {
  while (start < end) {
    const char *line = f->text + start, *feed = memchr(line, '\n', end - start);
    uint32_t bytes = feed != NULL ? (uint32_t)(feed - line) : end - start, kept = bytes;
    while (kept > 0 && (line[kept - 1] == ' ' || line[kept - 1] == '\t' || line[kept - 1] == '\r')) kept--;
    vyre_write_bytes(&f->w, line, kept);
    if (feed != NULL) vyre_write_text(&f->w, "\n");
    start += bytes + (feed != NULL);
  }
}

typedef struct gap {
  uint32_t newlines; /* since the last comment */
  bool comments;     /* there was one */
  bool broken;       /* a line was begun */
  bool line_comment; /* the last comment ends its line */
} gap;

static uint32_t write_gap_comment(formatter *f, gap *g, uint32_t at, uint32_t end) {
  bool closed, line = f->text[at + 1] == '/';
  uint32_t comment_end = text_lex_comment_end(f->text, end, at, &closed);
  bool trailing = g->newlines == 0 && !g->line_comment && f->before.kind != TEXT_END;
  if (trailing) vyre_write_text(&f->w, line && !g->comments ? "  " : " ");
  else if (f->w.count > 0 && g->newlines == 0 && !g->line_comment) vyre_write_text(&f->w, " ");
  else {
    bool first = before_is_open_block(f) && !g->comments;
    new_line(f, g->newlines > 1 && at_boundary(f) && !first, false);
    g->broken = true;
  }
  write_comment(f, at, comment_end);
  *g = (gap){ 0, true, g->broken, line };
  return comment_end;
}

/* Writes what stands between the token before and the token at |end|. */
static void write_gap(formatter *f, uint32_t start, uint32_t end) {
  gap g = { 0 };
  for (uint32_t at = start; at < end;) {
    char c = f->text[at];
    if (c == '/') {
      at = write_gap_comment(f, &g, at, end);
    } else {
      g.newlines += c == '\n';
      at++;
    }
  }
  if (f->token.kind == TEXT_END) return;
  bool must = must_break(f, g.comments), closing = f->token.kind == TEXT_CLOSE_BRACE;
  bool breaks = g.line_comment || (must ? !g.broken || g.newlines > 0 : g.newlines > 0 && may_break(f));
  bool first = before_is_open_block(f) && !g.comments;
  if (breaks) new_line(f, g.newlines > 1 && at_boundary(f) && !first && !closing, closing);
  else if (g.comments) vyre_write_text(&f->w, " ");
  else if (must || !before_is_open_block(f) || !closing) write_space(f);
}

/* ---- All ----------------------------------------------------------------------------------- */

static void write_token(formatter *f) {
  bool block = f->role == ROLE_BLOCK;
  if (block && f->token.kind == TEXT_CLOSE_BRACE && f->depth > 0) f->depth--;
  vyre_write_bytes(&f->w, f->text + f->token.start, f->token.end - f->token.start);
  if (block && f->token.kind == TEXT_OPEN_BRACE) f->depth++;
  if (block || f->token.kind == TEXT_SEMICOLON) f->ternaries = 0;
}

/* Reports what is no token; whether all are. */
static bool is_sound(text_lexer lex, vyre_diagnostics *d, vyre_error *error) {
  uint32_t faults = 0;
  text_token t;
  do {
    text_lex_next(&lex, &t);
    if (t.kind != TEXT_ERROR && !t.malformed) continue;
    vyre_diag(d, t.code, t.start, "%s", t.problem);
    if (faults++ == 0)
      vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, "text", "%s: %s%s%s. Fix: %s.", vyre_code_name(t.code),
                vyre_code_gist(t.code), t.problem[0] != 0 ? ": " : "", t.problem, vyre_code_fix(t.code));
  } while (t.kind != TEXT_END);
  return faults == 0;
}

static bool format(formatter *f, text_lexer lex) {
  uint32_t end = lex.at;
  do {
    text_lex_next(&lex, &f->token);
    f->role = classify(f);
    write_gap(f, end, f->token.start);
    if (f->token.kind != TEXT_END) write_token(f);
    count_angles(f);
    end = f->token.end;
    f->before = f->token;
    f->before_role = f->role;
  } while (f->token.kind != TEXT_END && !f->w.failed);
  if (f->w.count > 0) vyre_write_text(&f->w, "\n");
  return !f->w.failed;
}

vyre_status vyre_text_format(const char *text, size_t bytes, vyre_diagnostics *diagnostics, char **out, size_t *length,
                             vyre_error *error) {
  *out = NULL;
  vyre_status status = text_check_source(text, bytes, diagnostics, error);
  if (status != VYRE_OK) return status;
  text_lexer lex = text_lex_start(text, (uint32_t)bytes);
  if (!is_sound(lex, diagnostics, error)) return VYRE_ERR_INVALID_PROGRAM;
  formatter f = { .text = text };
  format(&f, lex);
  size_t count = f.w.count;
  *out = vyre_writer_take(&f.w);
  if (*out == NULL) return vyre_fail_memory(error, "text");
  if (length != NULL) *length = count;
  return VYRE_OK;
}
