/* The inside of the printer. */
#ifndef VYRE_IR_TEXT_PRINT_H
#define VYRE_IR_TEXT_PRINT_H

#include "base/writer.h"
#include "ir/program.h"

/* Writes an expression where the text gives |place| as the type of an untyped literal (NONE: no place asks). */
void text_print_expr(vyre_writer *w, const vyre_program *p, uint32_t expr, vyre_type place);
/* As print_expr for expressions that ask each other for their type, as the bounds of a loop do. |separators| stand
 * before each but the first. */
void text_print_together(vyre_writer *w, const vyre_program *p, const uint32_t *exprs, uint32_t count,
                         const char *const *separators);
/* Writes a literal with its suffix if |place| does not give |type|. */
void text_print_literal(vyre_writer *w, vyre_type type, uint64_t bits, vyre_type place);
/* Writes a string with its quotes. */
void text_print_string(vyre_writer *w, const char *text, uint32_t bytes);

#endif
