/* Parsing as a whole: tokens, messages, names, recovery, and the public function. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/error.h"
#include "base/utf8.h"
#include "ir/text_parser.h"

/* ---- Messages ------------------------------------------------------------------------------ */

/* Leaves every loop of the parser: from here on all it sees is the end. */
static void stop(text_parser *p) {
  p->stop = true;
  p->lex.at = p->lex.bytes;
  p->token = (text_token){ .kind = TEXT_END, .start = p->lex.bytes, .end = p->lex.bytes };
  p->word = WORD_NONE;
}

void text_no_memory(text_parser *p) {
  ir_builder_out_of_memory(p->b);
  stop(p);
}

void text_report(text_parser *p, vyre_code code, uint32_t pos, const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  vyre_build_position(p->b, pos);
  ir_builder_report(p->b, code, "%s", text);
}

void text_report_fix(text_parser *p, vyre_code code, uint32_t pos, const char *fix, const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  vyre_build_position(p->b, pos);
  ir_builder_report_fix(p->b, code, fix, "%s", text);
}

/* The token as a message shows it. */
static const char *describe_token(const text_parser *p, char out[64]) {
  if (p->token.kind == TEXT_END) return "the end of the text";
  uint32_t bytes = p->token.end - p->token.start;
  bool cut = bytes > 40;
  while (cut && bytes > 0 && (bytes > 40 || (p->lex.text[p->token.start + bytes] & 0xC0) == 0x80)) bytes--;
  snprintf(out, 64, "\"%.*s%s\"", (int)bytes, p->lex.text + p->token.start, cut ? "..." : "");
  return out;
}

bool text_unexpected(text_parser *p, const char *wanted) {
  char found[64];
  if (p->token.kind != TEXT_ERROR && !p->token.malformed && !p->stop)
    text_report(p, VYRE_S5, p->token.start, "wanted %s, found %s", wanted, describe_token(p, found));
  return false;
}

/* ---- Tokens -------------------------------------------------------------------------------- */

static void classify_name(text_parser *p) {
  uint32_t bytes = p->token.end - p->token.start;
  if (bytes > VYRE_MAX_NAME_BYTES) {
    text_report(p, VYRE_V142, p->token.start, "a name of %u bytes", bytes);
    bytes = VYRE_MAX_NAME_BYTES;
  }
  p->name = ir_builder_intern(p->b, p->lex.text + p->token.start, bytes);
  if (p->name == UINT32_MAX) text_no_memory(p);
  else if (p->name < p->words.count) p->word = p->words.data[p->name];
}

/* What the lexer found wrong. An open comment or string that reaches the end leaves nothing to read. */
static void report_token(text_parser *p) {
  char found[64];
  const char *problem = p->token.problem;
  bool open = p->token.kind == TEXT_ERROR && p->token.code == VYRE_S3;
  if (!p->skipping || open)
    text_report(p, p->token.code, p->token.start, "%s", problem[0] != 0 ? problem : describe_token(p, found));
  if (open && p->token.end == p->lex.bytes) stop(p);
}

void text_advance(text_parser *p) {
  if (p->stop) return;
  if (vyre_builder_errors(p->b) >= VYRE_MAX_DIAGNOSTICS) {
    stop(p);
    return;
  }
  text_lex_next(&p->lex, &p->token);
  p->word = WORD_NONE;
  if (p->token.kind == TEXT_NAME) classify_name(p);
  else if (p->token.kind == TEXT_ERROR || p->token.malformed) report_token(p);
}

void text_seek(text_parser *p, uint32_t offset) {
  if (p->stop) return;
  p->lex.at = offset;
  text_advance(p);
}

bool text_at_text(const text_parser *p, const char *word) {
  size_t bytes = strlen(word);
  return p->token.kind == TEXT_NAME && p->token.end - p->token.start == bytes &&
         memcmp(p->lex.text + p->token.start, word, bytes) == 0;
}

bool text_accept(text_parser *p, text_kind kind) {
  if (p->token.kind != kind) return false;
  text_advance(p);
  return true;
}

bool text_expect(text_parser *p, text_kind kind, const char *wanted) {
  return text_accept(p, kind) || text_unexpected(p, wanted);
}

bool text_expect_word(text_parser *p, uint16_t word, const char *wanted) {
  if (!text_at_word(p, word)) return text_unexpected(p, wanted);
  text_advance(p);
  return true;
}

bool text_read_string(text_parser *p, uint32_t *string) {
  if (!text_at(p, TEXT_STRING)) return text_unexpected(p, "a string");
  const char *text = p->lex.text + p->token.start + 1;
  uint32_t bytes = p->token.end - p->token.start - 2, fault = 0;
  if (p->token.escaped) {
    p->bytes.count = 0;
    if (!vyre_vector_reserve(&p->bytes, bytes)) return text_no_memory(p), false;
    uint32_t count = text_unescape(text, bytes, (char *)p->bytes.data, &fault);
    if (count == UINT32_MAX) {
      text_report(p, VYRE_S1, p->token.start + 1 + fault, "an escape is \\n \\r \\t \\\" \\\\ or \\u{1F600}");
      count = 0;
    }
    text = (const char *)p->bytes.data;
    bytes = count;
  }
  if (bytes > VYRE_MAX_STRING_BYTES) {
    text_report(p, VYRE_V142, p->token.start, "a string of %u bytes", bytes);
    bytes = 0;
  }
  *string = ir_builder_intern(p->b, text, bytes);
  if (*string == UINT32_MAX) text_no_memory(p);
  text_advance(p);
  return !p->stop;
}

bool text_read_type(text_parser *p, vyre_type *type) {
  if (!text_at(p, TEXT_NAME)) return text_unexpected(p, "a type");
  if (p->word >= WORD_TYPE && p->word < WORD_OP) {
    *type = (vyre_type)(p->word - WORD_TYPE);
    text_advance(p);
    return true;
  }
  text_report_near(p, VYRE_V136, p->token.start, p->name, TEXT_NEAR_TYPE, "is none");
  return false;
}

/* ---- Names --------------------------------------------------------------------------------- */

const char *text_of(const text_parser *p, uint32_t name) { return ir_builder_text(p->b, name); }

text_name *text_name_at(text_parser *p, uint32_t name) {
  static const text_name none = { .poisoned = true };
  if (name >= p->names.count) {
    uint32_t more = name + 1 - p->names.count;
    if (name == UINT32_MAX || !vyre_vector_reserve(&p->names, more)) {
      text_no_memory(p);
      p->spare_name = none;
      return &p->spare_name;
    }
    memset(p->names.data + p->names.count, 0, more * sizeof *p->names.data);
    p->names.count = name + 1;
  }
  return &p->names.data[name];
}

void text_poison(text_parser *p, uint32_t name) { text_name_at(p, name)->poisoned = true; }

ir_symbol text_find(text_parser *p, uint32_t name) {
  ir_symbol none = { IR_SYMBOL_NONE, 0 }, symbol = ir_builder_find(p->b, name);
  if (p->function == UINT32_MAX) return symbol;
  const text_name *entry = text_name_at(p, name);
  if (entry->frame == p->frame) return (ir_symbol){ IR_SYMBOL_VAR, entry->var };
  const text_function *f = &p->functions.data[p->function];
  switch (symbol.kind) {
    case IR_SYMBOL_PARAM: return symbol.index < f->params ? symbol : none;
    case IR_SYMBOL_BUFFER: return symbol.index < f->buffers ? symbol : none;
    case IR_SYMBOL_OTHER: return symbol.index < f->global ? symbol : none;
    default: return none;
  }
}

uint32_t text_fresh_name(text_parser *p, char kind) {
  char text[32];
  for (;;) {
    int bytes = snprintf(text, sizeof text, "__%c%u", kind, p->temporaries++);
    uint32_t name = ir_builder_intern(p->b, text, (uint32_t)bytes);
    if (name == UINT32_MAX || ir_builder_find(p->b, name).kind == IR_SYMBOL_NONE) return name;
  }
}

/* Whether a name has the form of those that a call leaves, which stand in printed programs: __t0, __f_x_1. */
static bool is_generated(const char *name) {
  size_t bytes = strlen(name), digits = 0;
  while (digits < bytes && name[bytes - 1 - digits] >= '0' && name[bytes - 1 - digits] <= '9') digits++;
  if (digits == 0) return false;
  if (bytes - digits == 3) return strchr("rtv", name[2]) != NULL;
  return bytes - digits > 5 && name[bytes - 1 - digits] == '_' && memchr(name + 3, '_', bytes - digits - 5) != NULL;
}

bool text_read_new_name(text_parser *p, uint32_t *name, uint32_t *pos) {
  *name = p->name;
  *pos = p->token.start;
  if (!text_at(p, TEXT_NAME)) return text_unexpected(p, "a name");
  if (p->word != WORD_NONE) {
    text_report(p, VYRE_S6, *pos, "\"%s\" has a meaning of its own", text_of(p, p->name));
    text_advance(p);
    return false;
  }
  const char *text = text_of(p, p->name);
  if (strncmp(text, "__", 2) == 0 && !is_generated(text) && !p->check)
    text_report(p, VYRE_W4, *pos, "\"%s\"", text_of(p, p->name));
  text_advance(p);
  return true;
}

/* ---- Recovery ------------------------------------------------------------------------------ */

static bool starts_statement(const text_parser *p) {
  switch (p->word) {
    case WORD_param:
    case WORD_read:
    case WORD_write:
    case WORD_rw:
    case WORD_shared:
    case WORD_local:
    case WORD_const:
    case WORD_fn:
    case WORD_let:
    case WORD_var:
    case WORD_if:
    case WORD_for:
    case WORD_loop:
    case WORD_break:
    case WORD_continue:
    case WORD_return:
    case WORD_barrier:
    case WORD_grid_barrier:
    case WORD_fence:
    case WORD_region:
    case WORD_trap:
    case WORD_print:
    case WORD_pause:
    case WORD_copy_async:
    case WORD_commit:
    case WORD_wait: return true;
    default: return false;
  }
}

/* Whether nothing stands before the token on its line. */
static bool begins_line(const text_parser *p) {
  uint32_t at = p->token.start;
  while (at > 0 && (p->lex.text[at - 1] == ' ' || p->lex.text[at - 1] == '\t')) at--;
  return at == 0 || p->lex.text[at - 1] == '\n';
}

static void skip_statement(text_parser *p, uint32_t start) {
  uint32_t depth = 0;
  for (; !text_at(p, TEXT_END); text_advance(p)) {
    bool fresh = p->token.start != start;
    if (text_at(p, TEXT_OPEN_BRACE)) {
      depth++;
    } else if (text_at(p, TEXT_CLOSE_BRACE)) {
      if (depth == 0) return;
      if (--depth > 0) continue;
      text_advance(p);
      if (!text_at_word(p, WORD_else)) {
        text_accept(p, TEXT_SEMICOLON);
        return;
      }
    } else if (depth == 0 && text_at(p, TEXT_SEMICOLON)) {
      text_advance(p);
      return;
    } else if (depth == 0 && fresh && starts_statement(p) && begins_line(p)) {
      return;
    }
  }
}

void text_recover(text_parser *p, uint32_t start) {
  p->skipping = true;
  skip_statement(p, start);
  p->skipping = false;
}

bool text_skip_block(text_parser *p) {
  uint32_t depth = 1;
  for (; !text_at(p, TEXT_END); text_advance(p)) {
    if (text_at(p, TEXT_OPEN_BRACE)) depth++;
    if (!text_at(p, TEXT_CLOSE_BRACE) || --depth > 0) continue;
    text_advance(p);
    return true;
  }
  text_unexpected(p, "} at the end of the function");
  stop(p);
  return false;
}

/* ---- A whole text -------------------------------------------------------------------------- */

static bool add_word(text_parser *p, const char *spelling, uint16_t word) {
  uint32_t name = ir_builder_intern(p->b, spelling, (uint32_t)strlen(spelling));
  if (name == UINT32_MAX || !vyre_vector_reserve(&p->words, name + 1)) return false;
  for (; p->words.count <= name; p->words.count++) p->words.data[p->words.count] = WORD_NONE;
  p->words.data[name] = word;
  return true;
}

static bool add_words(text_parser *p) {
  bool good = true;
#define X(word) good = good && add_word(p, #word, WORD_##word);
#include "ir/keywords.def"
#undef X
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    good = good && add_word(p, vyre_type_describe(type)->spelling, (uint16_t)(WORD_TYPE + type));
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++)
    if (text_is_word(vyre_op_describe(op)->spelling[0]))
      good = good && add_word(p, vyre_op_describe(op)->spelling, (uint16_t)(WORD_OP + op));
  return good;
}

/* The program's name, which the builder wants before it can intern anything; "_" if it is none. */
static void peek_name(const char *text, uint32_t bytes, char out[VYRE_MAX_NAME_BYTES + 1]) {
  text_lexer lex = text_lex_start(text, bytes);
  text_token word, name;
  text_lex_next(&lex, &word);
  text_lex_next(&lex, &name);
  uint32_t length = name.end - name.start;
  bool good = word.kind == TEXT_NAME && name.kind == TEXT_NAME && length <= VYRE_MAX_NAME_BYTES &&
              !ir_is_reserved_word(text + name.start, length);
  memcpy(out, good ? text + name.start : "_", good ? length : 1);
  out[good ? length : 1] = 0;
}

static void free_parser(text_parser *p) {
  vyre_builder_destroy(p->b);
  vyre_vector_free(&p->words);
  vyre_vector_free(&p->names);
  vyre_vector_free(&p->globals);
  vyre_vector_free(&p->functions);
  vyre_vector_free(&p->parameters);
  vyre_vector_free(&p->blocks);
  vyre_vector_free(&p->undo);
  vyre_vector_free(&p->operands);
  vyre_vector_free(&p->entries);
  vyre_vector_free(&p->bytes);
  vyre_vector_free(&p->list);
  free(p->define_used);
}

static void parse_statements(text_parser *p) {
  if (text_push_block(p, BLOCK_BODY, p->token.start)) text_block_body(p);
  if (!text_at(p, TEXT_END)) text_unexpected(p, "the end of the text after the program");
}

static void parse_all(text_parser *p) {
  text_advance(p);
  if (!text_header(p)) return;
  text_declarations(p);
  if (p->check) text_check_functions(p);
  else parse_statements(p);
}

static bool has_unread_functions(const text_parser *p) {
  for (uint32_t i = 0; i < p->functions.count; i++)
    if (!p->functions.data[i].read) return true;
  return false;
}

typedef struct source {
  const char *text;
  uint32_t bytes;
  const vyre_text_options *options;
  vyre_diagnostics *diagnostics;
} source;

static bool start_parser(text_parser *p, const source *s) {
  char name[VYRE_MAX_NAME_BYTES + 1];
  *p = (text_parser){ .lex = text_lex_start(s->text, s->bytes), .options = s->options, .function = UINT32_MAX,
                      .result = VYRE_NO_VAR, .flow = 1, .flows = 1 };
  peek_name(s->text, s->bytes, name);
  uint32_t defines = s->options != NULL ? s->options->define_count : 0;
  if (defines > 0 && (p->define_used = calloc(defines, 1)) == NULL) return false;
  if (vyre_builder_create(name, s->diagnostics, &p->b) != VYRE_OK) return false;
  ir_builder_expect(p->b, s->bytes / 32, s->bytes / 64); /* half of what dense text has */
  return add_words(p);
}

/* Reads the bodies that no call has read, in a second run over the text, so that their statements get into no
 * program. |read| says which functions were read already. */
static vyre_status check_unread(const source *s, const text_parser *first, vyre_error *error) {
  text_parser p;
  vyre_program *none;
  vyre_status status = VYRE_ERR_NO_MEMORY;
  if (start_parser(&p, s)) {
    p.check = true;
    p.already = first;
    parse_all(&p);
    status = VYRE_OK;
    if (ir_builder_failed(p.b)) status = vyre_builder_finish(p.b, &none, error);
  } else {
    vyre_fail_memory(error, "text");
  }
  free_parser(&p);
  return status;
}

static vyre_status parse(const source *s, vyre_program **out, vyre_error *error) {
  text_parser p;
  vyre_status status = VYRE_ERR_NO_MEMORY;
  if (start_parser(&p, s)) {
    parse_all(&p);
    status = p.define_fault[0] == 0
                 ? vyre_builder_finish(p.b, out, error)
                 : vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "define", "%s", p.define_fault);
  } else {
    vyre_fail_memory(error, "text");
  }
  bool again = status == VYRE_OK || (status == VYRE_ERR_INVALID_PROGRAM && !p.stop);
  if (again && has_unread_functions(&p)) {
    vyre_status checked = check_unread(s, &p, status == VYRE_OK ? error : NULL);
    if (status == VYRE_OK) status = checked;
  }
  free_parser(&p);
  if (status == VYRE_OK) return status;
  vyre_program_release(*out);
  *out = NULL;
  return status;
}

vyre_status text_check_source(const char *text, size_t bytes, vyre_diagnostics *diagnostics, vyre_error *error) {
  if (bytes > VYRE_MAX_PROGRAM_BYTES)
    return vyre_fail(error, VYRE_ERR_LIMIT, "text",
                     "A text has at most %u bytes, this one has %zu. Fix: split the program.", VYRE_MAX_PROGRAM_BYTES,
                     bytes);
  size_t fault = vyre_utf8_fault(text, bytes);
  if (fault == bytes) return VYRE_OK;
  const char *what = text[fault] == 0 ? "a NUL" : "a byte that is not UTF-8";
  vyre_diag(diagnostics, VYRE_S2, (uint32_t)fault, "%s at byte %zu", what, fault);
  return vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, "text", "%s: %s: %s at byte %zu. Fix: %s.", vyre_code_name(VYRE_S2),
                   vyre_code_gist(VYRE_S2), what, fault, vyre_code_fix(VYRE_S2));
}

vyre_status vyre_text_parse(const char *text, size_t bytes, const vyre_text_options *options,
                            vyre_diagnostics *diagnostics, vyre_program **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = text_check_source(text, bytes, diagnostics, error);
  return status == VYRE_OK ? parse(&(source){ text, (uint32_t)bytes, options, diagnostics }, out, error) : status;
}
