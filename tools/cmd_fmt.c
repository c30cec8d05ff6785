/* vyre fmt: the canonical layout of program text. Text that is no program has none, so it is parsed first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "commands.h"
#include "files.h"
#include "output.h"
#include "program.h"

static int deliver(const loaded_program *p, const char *path, const char *text, size_t length,
                   const parsed_options *o) {
  bool same = length == p->count && memcmp(text, p->bytes, length) == 0;
  if (options_has(o, OPT_VERIFY_FORMAT)) {
    if (same) return OUTPUT_DONE;
    output_complain_at(p->path, "is not in canonical form. Fix: vyre fmt -w %s", path);
    return OUTPUT_FAILED;
  }
  if (!options_has(o, OPT_WRITE)) return files_write("-", text, length);
  return same ? OUTPUT_DONE : files_write(path, text, length);
}

static int format(const char *path, const parsed_options *o) {
  loaded_program p;
  int result = program_read(path, &p);
  if (result == OUTPUT_DONE && p.is_wire) {
    output_complain_at(p.path, "is in wire form, which has no layout. Fix: vyre unpack %s", path);
    result = OUTPUT_USAGE;
  }
  if (result != OUTPUT_DONE) {
    program_free(&p);
    return result;
  }
  char *text = NULL;
  size_t length;
  vyre_error error = VYRE_ERROR_INIT;
  const char *source = (const char *)p.bytes;
  vyre_status status = vyre_text_parse(source, p.count, NULL, p.diagnostics, &p.program, &error);
  if (status == VYRE_OK) status = vyre_text_format(source, p.count, NULL, &text, &length, &error);
  if (status == VYRE_OK) {
    result = deliver(&p, path, text, length, o);
  } else {
    output_diagnostics(p.path, p.diagnostics);
    result = OUTPUT_FAILED;
    if (vyre_diagnostics_errors(p.diagnostics) == 0) result = output_error(p.path, &error);
  }
  free(text);
  program_free(&p);
  return result;
}

int cmd_fmt(const parsed_options *o) {
  if (options_has(o, OPT_WRITE) && options_has(o, OPT_VERIFY_FORMAT)) {
    output_complain("fmt: --write and --check exclude each other. Fix: keep one of them.");
    return OUTPUT_USAGE;
  }
  int worst = OUTPUT_DONE;
  for (size_t i = 0; i < o->operand_count; i++) {
    bool is_stdin = strcmp(o->operands[i], "-") == 0;
    if (is_stdin && options_has(o, OPT_WRITE)) {
      output_complain("fmt: --write can not write back to standard input. Fix: name a file, or leave --write out.");
      return OUTPUT_USAGE;
    }
    int result = format(o->operands[i], o);
    if (result > worst) worst = result;
  }
  return worst;
}
