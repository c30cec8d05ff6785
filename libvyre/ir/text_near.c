/* "Did you mean ...?" for names of a program: the nearest of those that could stand in their place. */
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
  const char *best = nearest(p, name, kinds);
  char fix[VYRE_MAX_NAME_BYTES + 16];
  snprintf(fix, sizeof fix, "did you mean %s?", best != NULL ? best : "");
  text_report_fix(p, code, pos, best != NULL ? fix : NULL, "\"%s\" %s", text_of(p, name), what);
}
