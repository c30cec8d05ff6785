/* Print records as text. A record names the statement by its number among the program's prints and brings the bits of
 * the arguments; format and types are in the program. What a plugin writes is read with care. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"
#include "base/writer.h"
#include "ir/program.h"
#include "ir/text_const.h"

enum { HEADER_WORDS = sizeof(vyre_print_record) / sizeof(uint64_t) };

/* The print statement number |site|, NULL if there are not so many. Handles are in the order of the text. */
static const ir_stmt *find_site(const vyre_program *program, uint32_t site) {
  for (uint32_t i = 1; i < program->stmts.count; i++) {
    const ir_stmt *s = ir_stmt_at(program, i);
    if (s->op == VYRE_STMT_PRINT && site-- == 0) return s;
  }
  return NULL;
}

static double float_value(vyre_type type, uint64_t bits) {
  if (type == VYRE_TYPE_F64) {
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
  }
  float narrow;
  uint32_t low = (uint32_t)bits;
  memcpy(&narrow, &low, sizeof narrow);
  return (double)narrow;
}

static void write_float(vyre_writer *w, vyre_type type, uint64_t bits) {
  double value = float_value(type, bits);
  char text[TEXT_NUMBER_BYTES];
  if (isnan(value)) {
    vyre_write_text(w, "nan");
  } else if (isinf(value)) {
    vyre_write_text(w, value > 0 ? "inf" : "-inf");
  } else {
    text_write_float(text, type, bits);
    vyre_write_text(w, text);
  }
}

static void write_value(vyre_writer *w, vyre_type type, uint64_t bits) {
  char text[TEXT_NUMBER_BYTES];
  switch (type) {
  case VYRE_TYPE_BOOL: vyre_write_text(w, bits != 0 ? "true" : "false"); break;
  case VYRE_TYPE_F32:
  case VYRE_TYPE_F64: write_float(w, type, bits); break;
  default:
    text_write_int(text, text_int_value(type, bits));
    vyre_write_text(w, text);
  }
}

/* The text of one record, to be freed; NULL without memory. */
static char *render(const vyre_program *program, const ir_stmt *print, const uint64_t *args) {
  vyre_writer w = { 0 };
  const char *format = ir_text(program, print->arg[4]), *hole;
  for (uint32_t i = 0; (hole = strstr(format, "{}")) != NULL && i < print->arg[2]; i++) {
    uint32_t e = program->lists.data[print->arg[3] + i];
    vyre_write_bytes(&w, format, (size_t)(hole - format));
    write_value(&w, (vyre_type)ir_expr_at(program, e)->type, args[i]);
    format = hole + 2;
  }
  vyre_write_text(&w, format);
  return vyre_writer_take(&w);
}

/* The program that command |index| of the plugin's batch runs, NULL if it is no dispatch. */
static const vyre_program *program_of(const vyre_batch *batch, uint32_t index) {
  for (uint32_t i = 0; i < batch->commands.count; i++) {
    const vyre_batch_command *command = &batch->commands.data[i];
    if (command->kind == VYRE_COMMAND_DISPATCH && command->index == index) return command->set->executable->compiled;
  }
  return NULL;
}

static vyre_status broken(const vyre_submission *s, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, s->queue->device->name,
                   "A print record of the plugin is malformed. Fix: report it to the plugin's author.");
}

vyre_status vyre_submission_prints(vyre_submission *s, vyre_print_fn fn, void *ctx, vyre_error *error) {
  vyre_completion c = { .size = sizeof c };
  vyre_status status = vyre_submission_completion(s, &c, error);
  if (status != VYRE_OK || s->prints == NULL) return status;
  uint64_t at = 0;
  for (uint64_t i = 0; i < c.prints_written; i++) {
    vyre_print_record record;
    if (VYRE_PRINT_WORDS - at < HEADER_WORDS) return broken(s, error);
    memcpy(&record, s->prints + at, sizeof record);
    at += HEADER_WORDS;
    const vyre_program *program = program_of(s->batch, record.command);
    const ir_stmt *print = program != NULL ? find_site(program, record.site) : NULL;
    if (print == NULL || record.arg_count != print->arg[2] || VYRE_PRINT_WORDS - at < record.arg_count)
      return broken(s, error);
    char *text = render(program, print, s->prints + at);
    if (text == NULL) return vyre_fail_memory(error, "print");
    fn(ctx, record.gid, text);
    free(text);
    at += record.arg_count;
  }
  return VYRE_OK;
}
