/* Values of parameters that are compiled in: --spec PARAM=VALUE. */
#include "specs.h"

#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "output.h"

static int read_spec(const char *command, const vyre_program *program, const char *name, const char *value,
                     vyre_arg *out) {
  vyre_param_info param;
  for (uint32_t i = 0; vyre_program_param(program, i, &param); i++) {
    if (strcmp(param.name, name) != 0) continue;
    vyre_error error = VYRE_ERROR_INIT;
    *out = vyre_arg_value(param.name, param.type, 0);
    vyre_status status = vyre_text_literal(param.type, value, &out->bits, &error);
    if (status == VYRE_OK) return OUTPUT_DONE;
    output_complain("%s: --spec %s=%.80s: %s", command, name, value, error.text);
    return status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
  }
  output_complain("%s: --spec %s: the program has no such parameter. Fix: name one that it declares.", command, name);
  return OUTPUT_USAGE;
}

int specs_read(const char *command, const parsed_options *o, const vyre_program *program, vyre_arg **out,
               uint32_t *count) {
  char name[OPTION_NAME_ROOM];
  const char *value;
  *count = 0;
  *out = calloc(o->value_count + 1, sizeof **out);
  if (!*out) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int result = OUTPUT_DONE;
  for (size_t at = 0; result == OUTPUT_DONE && options_next(o, OPT_SPEC, &at, name, &value);)
    result = read_spec(command, program, name, value, &(*out)[(*count)++]);
  return result;
}
