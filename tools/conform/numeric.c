/* Trying one program, and the account of what was tried. */
#include "numeric.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the one check that this process runs. */
static struct {
  uint64_t tried, unclaimed;
  char reason[sizeof((vyre_error *)0)->text]; /* of the first that was left out */
} tally;

static bool is_claimed(kit *k, const vyre_program *program, const vyre_compile_options *options) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_compile_check(k->caps, program, options, &error) == VYRE_OK) {
    tally.tried++;
    return true;
  }
  if (tally.unclaimed++ == 0) snprintf(tally.reason, sizeof tally.reason, "%s", error.text);
  return false;
}

vyre_program *numeric_claimed(kit *k, const char *text, const vyre_compile_options *options) {
  vyre_program *program = kit_parse(k, text);
  if (!program || is_claimed(k, program, options)) return program;
  vyre_program_release(program);
  return NULL;
}

numeric_outcome numeric_try(kit *k, const kit_case *c, bool both) {
  vyre_program *program = c->program ? vyre_program_retain(c->program) : kit_parse(k, c->text);
  if (!program) return NUMERIC_DIFFERS;
  numeric_outcome outcome = NUMERIC_UNCLAIMED;
  if (is_claimed(k, program, c->compile)) {
    kit_case whole = *c;
    whole.program = program;
    whole.text = NULL;
    kit_doing(k, "%s", c->name);
    bool same = kit_compare(k, &whole) && (!both || kit_compare_reversed(k, &whole));
    outcome = same ? NUMERIC_SAME : NUMERIC_DIFFERS;
  }
  vyre_program_release(program);
  return outcome;
}

void numeric_conclude(kit *k) {
  if (kit_is_over(k)) return;
  if (tally.tried == 0 && tally.unclaimed > 0)
    kit_skip(k, "%s", tally.reason);
  else if (tally.unclaimed > 0)
    kit_note(k, "%llu of %llu programs need what the device does not claim; the first: %s",
             (unsigned long long)tally.unclaimed, (unsigned long long)(tally.tried + tally.unclaimed), tally.reason);
}

void numeric_print(char text[NUMERIC_TEXT], const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (vsnprintf(text, NUMERIC_TEXT, format, args) >= NUMERIC_TEXT) abort();
  va_end(args);
}

void numeric_expand(char text[NUMERIC_TEXT], const char *pattern, const char *const *words) {
  size_t used = 0;
  for (const char *at = pattern; *at; at++) {
    bool is_word = at[0] == '$' && at[1] >= '1' && at[1] <= '9';
    const char *piece = is_word ? words[at[1] - '1'] : at;
    size_t bytes = is_word ? strlen(piece) : 1;
    if (used + bytes >= NUMERIC_TEXT) abort();
    memcpy(text + used, piece, bytes);
    used += bytes;
    at += is_word;
  }
  text[used] = '\0';
}

const char *numeric_spelling(vyre_type type) {
  return vyre_type_describe(type)->spelling;
}

vyre_type numeric_words(vyre_type type) {
  switch (type) {
  case VYRE_TYPE_F32:
    return VYRE_TYPE_U32;
  case VYRE_TYPE_F64:
    return VYRE_TYPE_U64;
  case VYRE_TYPE_F32X2:
    return VYRE_TYPE_U32X2;
  case VYRE_TYPE_F32X4:
    return VYRE_TYPE_U32X4;
  default:
    return type;
  }
}

kit_buffer numeric_input(const char *name, const numeric_column *column) {
  return (kit_buffer){.name = name, .in = column->bytes, .elements = column->count};
}

kit_buffer numeric_output(const char *name, uint64_t elements) {
  return (kit_buffer){.name = name, .elements = elements};
}
