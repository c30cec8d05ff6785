/* vyre pack and vyre unpack: between text and the wire form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "commands.h"
#include "files.h"
#include "output.h"
#include "program.h"

int cmd_pack(const parsed_options *o) {
  const char *target = options_get(o, OPT_OUTPUT);
  if (!target || !*target) {
    output_complain("pack: --output %s. Fix: add -o FILE.", target ? "names no file" : "is missing");
    return OUTPUT_USAGE;
  }
  if (strcmp(target, "-") == 0 && isatty(STDOUT_FILENO)) {
    output_complain("pack: the wire form is no text for a terminal. Fix: add -o FILE.");
    return OUTPUT_USAGE;
  }
  loaded_program p;
  int result = program_load(o->operands[0], o, &p);
  if (p.diagnostics) output_diagnostics(p.path, p.diagnostics);
  uint8_t *bytes = NULL;
  size_t length = 0;
  if (result == OUTPUT_DONE && vyre_wire_encode(p.program, &bytes, &length) != VYRE_OK) {
    output_complain("memory is exhausted");
    result = OUTPUT_FAILED;
  }
  if (result == OUTPUT_DONE) result = files_write(target, bytes, length);
  free(bytes);
  program_free(&p);
  return result;
}

int cmd_unpack(const parsed_options *o) {
  const char *target = options_get(o, OPT_OUTPUT);
  if (target && !*target) {
    output_complain("unpack: --output names no file. Fix: add -o FILE, or leave it out.");
    return OUTPUT_USAGE;
  }
  loaded_program p;
  int result = program_read(o->operands[0], &p);
  vyre_error error = VYRE_ERROR_INIT;
  if (result == OUTPUT_DONE && !p.is_wire) {
    output_complain_at(p.path, "is not in wire form, which begins with VIR0. Fix: give a file that `vyre pack` wrote.");
    result = OUTPUT_USAGE;
  }
  if (result == OUTPUT_DONE && vyre_wire_decode(p.bytes, p.count, p.diagnostics, &p.program, &error) != VYRE_OK) {
    output_diagnostics(p.path, p.diagnostics);
    result = output_error(p.path, &error);
  }
  char *text = NULL;
  size_t length = 0;
  if (result == OUTPUT_DONE && vyre_text_print(p.program, &text, &length) != VYRE_OK) {
    output_complain("memory is exhausted");
    result = OUTPUT_FAILED;
  }
  if (result == OUTPUT_DONE) result = files_write(target ? target : "-", text, length);
  free(text);
  program_free(&p);
  return result;
}
