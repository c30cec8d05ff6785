/* Text from anywhere: nothing but a status comes of what is no program; what is one survives printing and formatting,
 * and formatting twice is formatting once. The first byte chooses options. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
  if (!holds) abort();
}

static vyre_program *parse(const char *text, size_t bytes, const vyre_text_options *options) {
  vyre_program *program;
  vyre_diagnostics *d;
  vyre_error error = VYRE_ERROR_INIT;
  require(vyre_diagnostics_create("fuzz", text, bytes, &d) == VYRE_OK);
  vyre_status status = vyre_text_parse(text, bytes, options, d, &program, &error);
  require((status == VYRE_OK) == (program != NULL));
  require(status == VYRE_OK || error.text[0] != 0);
  require(status != VYRE_ERR_INVALID_PROGRAM || vyre_diagnostics_errors(d) > 0);
  require(status != VYRE_OK || vyre_diagnostics_errors(d) == 0);
  char *message = vyre_diagnostics_render(d);
  require(message != NULL);
  free(message);
  vyre_diagnostics_destroy(d);
  return program;
}

static void check_print(const vyre_program *program) {
  char *text;
  size_t length;
  require(vyre_text_print(program, &text, &length) == VYRE_OK && strlen(text) == length);
  vyre_program *again = parse(text, length, NULL);
  require(again != NULL && vyre_program_equal(program, again));
  vyre_program_release(again);
  free(text);
}

static void check_format(const char *text, size_t bytes, const vyre_program *program,
                         const vyre_text_options *options) {
  char *once, *twice;
  size_t length, more;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_text_format(text, bytes, NULL, &once, &length, &error);
  require(program == NULL || status == VYRE_OK);
  if (status != VYRE_OK) return;
  require(vyre_text_format(once, length, NULL, &twice, &more, &error) == VYRE_OK);
  require(length == more && memcmp(once, twice, length) == 0);
  vyre_program *again = parse(once, length, options);
  require((program == NULL) == (again == NULL));
  require(again == NULL || vyre_program_equal(program, again));
  vyre_program_release(again);
  free(once);
  free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const vyre_define define = { "N", "8" };
  vyre_text_options options = { .defines = &define, .define_count = size > 0 ? data[0] == '#' : 0 };
  const char *text = (const char *)data + options.define_count;
  size_t bytes = size - options.define_count;
  vyre_program *program = parse(text, bytes, &options);
  if (program != NULL) check_print(program);
  check_format(text, bytes, program, &options);
  vyre_program_release(program);
  return 0;
}
