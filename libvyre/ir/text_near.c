/* "Did you mean ...?" for names of a program: the nearest of those that could stand in their place, and what is
 * written here for words of other languages. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "ir/text_parser.h"

/* More names than these are not compared, so that a text with a million of them is refused as fast as any. */
enum { MOST_COMPARED = 1 << 16 };

static uint32_t kind_of_word(uint16_t word) {
  if (word == WORD_NONE) return 0;
  if (word >= WORD_OP) return text_op_is_leaf((vyre_op)(word - WORD_OP)) ? TEXT_NEAR_VALUE : TEXT_NEAR_FUNCTION;
  if (word >= WORD_TYPE) return TEXT_NEAR_TYPE | TEXT_NEAR_FUNCTION;
  bool is_value = word == WORD_true || word == WORD_false || word == WORD_inf || word == WORD_nan;
  return is_value ? TEXT_NEAR_VALUE : word < WORD_tile_load ? TEXT_NEAR_STATEMENT : 0;
}

static uint32_t kind_of_symbol(const text_parser *p, ir_symbol symbol) {
  switch (symbol.kind) {
    case IR_SYMBOL_PARAM: return TEXT_NEAR_VALUE;
    case IR_SYMBOL_VAR: return TEXT_NEAR_VALUE | TEXT_NEAR_VAR;
    case IR_SYMBOL_BUFFER: return TEXT_NEAR_BUFFER;
    case IR_SYMBOL_OTHER:
      return p->globals.data[symbol.index].function != UINT32_MAX ? TEXT_NEAR_FUNCTION : TEXT_NEAR_VALUE;
    default: return 0;
  }
}

/* What stands here for a word of another language; NULL if it is none. */
static const char *foreign_fix(const char *word, uint32_t kinds) {
  static const struct { const char *word; uint32_t kinds; const char *fix; } rows[] = {
#define X(word, kinds, fix) { word, TEXT_NEAR_##kinds, fix },
#include "ir/foreign.def"
#undef X
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if ((rows[i].kinds & kinds) != 0 && strcmp(rows[i].word, word) == 0) return rows[i].fix;
  return NULL;
}

static const char *nearest(text_parser *p, uint32_t name, uint32_t kinds) {
  vyre_suggestion near = vyre_suggest(text_of(p, name));
  uint32_t count = ir_builder_string_count(p->b);
  if (count > MOST_COMPARED) count = MOST_COMPARED;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t kind = i < p->words.count ? kind_of_word(p->words.data[i]) : 0;
    if (kind == 0) kind = kind_of_symbol(p, text_find(p, i));
    if (i != name && (kind & kinds) != 0) vyre_suggest_offer(&near, text_of(p, i));
  }
  return near.best;
}

void text_report_near(text_parser *p, vyre_code code, uint32_t pos, uint32_t name, uint32_t kinds, const char *what) {
  char question[VYRE_MAX_NAME_BYTES + 16];
  const char *fix = foreign_fix(text_of(p, name), kinds), *best = fix == NULL ? nearest(p, name, kinds) : NULL;
  if (best != NULL) {
    snprintf(question, sizeof question, "did you mean %s?", best);
    fix = question;
  }
  text_report_fix(p, code, pos, fix, "\"%s\" %s", text_of(p, name), what);
}
