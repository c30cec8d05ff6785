/* The order of the checks is the order of exit statuses: first what is wrong with the command line and with files (2),
 * then what is missing or has the wrong size (1). */
#include "bindings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "files.h"
#include "output.h"
#include "program.h"
#include "specs.h"

#define MAX_GUESSES 64u

bool bindings_is_written(const bound_buffer *buffer) {
  return buffer->info.access == VYRE_ACCESS_WRITE || buffer->info.access == VYRE_ACCESS_RW;
}

static int complain_memory(void) {
  output_complain("memory is exhausted. Fix: use less data or more memory.");
  return OUTPUT_FAILED;
}

/* Says that there is no |what| called |name|, and which may have been meant. */
static int complain_name(const char *option, const char *what, const char *name, const char *const *names,
                         size_t count) {
  const char *guess = options_suggest(name, names, count);
  if (guess) {
    output_complain("run: --%s %s: the program has no such %s. Fix: did you mean %s?", option, name, what, guess);
  } else if (count > 0) {
    output_complain("run: --%s %s: the program has no such %s. Fix: name one that it has, such as %s.", option, name,
                    what, names[0]);
  } else {
    output_complain("run: --%s %s: the program has no such %s. Fix: leave the option out.", option, name, what);
  }
  return OUTPUT_USAGE;
}

static int complain_param(const bindings *b, const char *name) {
  const char *names[MAX_GUESSES];
  size_t count = 0;
  for (; count < b->param_count && count < MAX_GUESSES; count++) names[count] = b->params[count].name;
  return complain_name("set", "parameter", name, names, count);
}

static int complain_buffer(const bindings *b, const char *option, const char *name) {
  vyre_buffer_info other;
  for (uint32_t i = 0; vyre_program_buffer(b->program, i, &other); i++) {
    if (strcmp(other.name, name) != 0) continue;
    output_complain("run: --%s %s: a %s buffer belongs to the program and can not be bound. Fix: leave the option out.",
                    option, name, program_access_name(other.access));
    return OUTPUT_USAGE;
  }
  const char *names[MAX_GUESSES];
  size_t count = 0;
  for (; count < b->buffer_count && count < MAX_GUESSES; count++) names[count] = b->buffers[count].info.name;
  return complain_name(option, "buffer", name, names, count);
}

static bool is_spec(const bindings *b, const char *name) {
  for (uint32_t i = 0; i < b->spec_count; i++)
    if (strcmp(b->specs[i].name, name) == 0) return true;
  return false;
}

static int set_param(bindings *b, const char *name, const char *value) {
  for (uint32_t i = 0; i < b->param_count; i++) {
    vyre_arg *param = &b->params[i];
    if (strcmp(param->name, name) != 0) continue;
    if (is_spec(b, name)) {
      output_complain("run: --set %s and --spec %s are both given. Fix: keep one of them.", name, name);
      return OUTPUT_USAGE;
    }
    vyre_error error = VYRE_ERROR_INIT;
    vyre_status status = vyre_text_literal(param->type, value, &param->bits, &error);
    param->flags = 1; /* given; cleared before the run */
    if (status == VYRE_OK) return OUTPUT_DONE;
    output_complain("run: --set %s=%.80s: %s", name, value, error.text);
    return status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
  }
  return complain_param(b, name);
}

static int set_params(bindings *b, const parsed_options *o) {
  char name[OPTION_NAME_ROOM];
  const char *value;
  int result = OUTPUT_DONE;
  for (size_t at = 0; result == OUTPUT_DONE && options_next(o, OPT_SET, &at, name, &value);)
    result = set_param(b, name, value);
  return result;
}

static bound_buffer *find_buffer(const bindings *b, const char *name) {
  for (uint32_t i = 0; i < b->buffer_count; i++)
    if (strcmp(b->buffers[i].info.name, name) == 0) return &b->buffers[i];
  return NULL;
}

/* Whether an option can be given for a buffer of this access. */
static bool fits(option_id id, vyre_access access) {
  return id == OPT_IN ? access != VYRE_ACCESS_WRITE : access != VYRE_ACCESS_READ;
}

/* Notes the values of one of --in, --out, --len beside their buffers. */
static int note_values(bindings *b, const parsed_options *o, option_id id) {
  char name[OPTION_NAME_ROOM];
  const char *value;
  for (size_t at = 0; options_next(o, id, &at, name, &value);) {
    bound_buffer *buffer = find_buffer(b, name);
    const char *option = option_rows[id].name;
    if (!buffer) return complain_buffer(b, option, name);
    if (!fits(id, buffer->info.access)) {
      output_complain("run: --%s %s: it is a %s buffer. Fix: leave the option out, or declare the buffer as rw.",
                      option, name, program_access_name(buffer->info.access));
      return OUTPUT_USAGE;
    }
    if (id == OPT_IN) buffer->in = value;
    if (id == OPT_LEN) buffer->len = value;
    if (id != OPT_OUT) continue;
    buffer->out = value;
    b->outputs[b->output_count++] = (uint32_t)(buffer - b->buffers);
  }
  return OUTPUT_DONE;
}

/* The length that --len or the declaration gives to a buffer that nothing fills. */
static int parse_length(const bound_buffer *buffer, uint64_t *length) {
  *length = buffer->info.length;
  if (!buffer->len || data_parse_count(buffer->len, length)) return OUTPUT_DONE;
  output_complain("run: --len %s=%.80s: N is no number of 64 bits. Fix: give a decimal number.", buffer->info.name,
                  buffer->len);
  return OUTPUT_USAGE;
}

static int check_words(const bound_buffer *buffer) {
  uint64_t length;
  if (buffer->in && buffer->len) {
    output_complain("run: --len and --in are both given for %s. Fix: keep one of them.", buffer->info.name);
    return OUTPUT_USAGE;
  }
  int result = parse_length(buffer, &length);
  if (result == OUTPUT_DONE && buffer->out)
    result = data_check_destination(buffer->info.name, buffer->out, buffer->info.element);
  return result;
}

/* Whether what is bound has a length, and the one that is declared. */
static int check_length(const bound_buffer *buffer) {
  const vyre_buffer_info *info = &buffer->info;
  uint64_t count = buffer->in ? buffer->input.count : 0;
  bool is_written = bindings_is_written(buffer);
  if (!buffer->in) parse_length(buffer, &count);
  if (!buffer->in && !is_written) {
    output_complain("run: buffer %s is not bound. Fix: add --in %s=SRC.", info->name, info->name);
    return OUTPUT_FAILED;
  }
  if (!buffer->in && !buffer->len && info->access == VYRE_ACCESS_RW) {
    output_complain("run: buffer %s is not bound. Fix: add --in %s=SRC, or --len %s=N to start with zeros.", info->name,
                    info->name, info->name);
    return OUTPUT_FAILED;
  }
  if (!buffer->in && !buffer->len && info->length == 0) {
    output_complain("run: the length of buffer %s is not known. Fix: add --len %s=N.", info->name, info->name);
    return OUTPUT_FAILED;
  }
  if (info->length != 0 && count != info->length) {
    output_complain("run: buffer %s is declared with %" PRIu64 " elements, but %" PRIu64
                    " are bound. Fix: bind exactly as many as declared, or declare it as %s[].",
                    info->name, info->length, count, vyre_type_describe(info->element)->spelling);
    return OUTPUT_FAILED;
  }
  if (info->uses_len32 && count > UINT32_MAX) {
    output_complain("run: buffer %s has %" PRIu64 " elements, and the program uses len(%s), which ends at %" PRIu32
                    ". Fix: use len64(%s) in the program.",
                    info->name, count, info->name, UINT32_MAX, info->name);
    return OUTPUT_FAILED;
  }
  return OUTPUT_DONE;
}

static int fill(bound_buffer *buffer) {
  if (buffer->in) return OUTPUT_DONE; /* read already */
  uint64_t count;
  parse_length(buffer, &count);
  return data_zeros(buffer->info.element, count, &buffer->input);
}

/* Each has a value, or leaves the list because it is compiled in. */
static int check_params(bindings *b) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < b->param_count; i++) {
    vyre_arg param = b->params[i];
    if (is_spec(b, param.name)) continue;
    if (!param.flags) {
      output_complain("run: parameter %s has no value. Fix: add --set %s=VALUE.", param.name, param.name);
      return OUTPUT_FAILED;
    }
    param.flags = 0;
    b->params[kept++] = param;
  }
  b->param_count = kept;
  return OUTPUT_DONE;
}

/* Lists what the program declares. */
static bool list(const vyre_program *program, bindings *b) {
  vyre_program_info info;
  vyre_program_describe(program, &info);
  *b = (bindings){.program = program, .param_count = info.param_count, .buffer_count = info.binding_count};
  b->params = calloc(info.param_count + 1u, sizeof *b->params);
  b->buffers = calloc(info.binding_count + 1u, sizeof *b->buffers);
  b->outputs = calloc(info.binding_count + 1u, sizeof *b->outputs);
  if (!b->params || !b->buffers || !b->outputs) return false;
  vyre_param_info param;
  for (uint32_t i = 0; vyre_program_param(program, i, &param); i++)
    b->params[i] = vyre_arg_value(param.name, param.type, 0);
  for (uint32_t i = 0; i < info.binding_count; i++) vyre_program_slot(program, i, &b->buffers[i].info);
  return true;
}

/* The same file under two names is found when it is staged. */
static int check_destinations(const bindings *b) {
  for (uint32_t i = 0; i < b->output_count; i++) {
    const char *first = b->buffers[b->outputs[i]].out;
    for (uint32_t j = i + 1; j < b->output_count && !data_is_stdout(first); j++) {
      if (strcmp(first, b->buffers[b->outputs[j]].out) != 0) continue;
      output_complain("run: --out: two buffers go to %s. Fix: give each its own file.", data_path(first));
      return OUTPUT_USAGE;
    }
  }
  return OUTPUT_DONE;
}

static int check_command_line(bindings *b, const parsed_options *o) {
  int result = specs_read("run", o, b->program, &b->specs, &b->spec_count);
  if (result == OUTPUT_DONE) result = set_params(b, o);
  if (result == OUTPUT_DONE) result = note_values(b, o, OPT_IN);
  if (result == OUTPUT_DONE) result = note_values(b, o, OPT_OUT);
  if (result == OUTPUT_DONE) result = note_values(b, o, OPT_LEN);
  for (uint32_t i = 0; i < b->buffer_count && result == OUTPUT_DONE; i++) result = check_words(&b->buffers[i]);
  return result == OUTPUT_DONE ? check_destinations(b) : result;
}

int bindings_read(const vyre_program *program, const parsed_options *o, bindings *out) {
  if (!list(program, out)) return complain_memory();
  int result = check_command_line(out, o);
  for (uint32_t i = 0; i < out->buffer_count && result == OUTPUT_DONE; i++) {
    bound_buffer *buffer = &out->buffers[i];
    if (buffer->in) result = data_read(buffer->info.name, buffer->in, buffer->info.element, &buffer->input);
  }
  if (result == OUTPUT_DONE) result = check_params(out);
  for (uint32_t i = 0; i < out->buffer_count && result == OUTPUT_DONE; i++) result = check_length(&out->buffers[i]);
  for (uint32_t i = 0; i < out->output_count && result == OUTPUT_DONE; i++) {
    const char *destination = out->buffers[out->outputs[i]].out;
    if (!data_is_stdout(destination)) result = files_check(data_path(destination));
  }
  for (uint32_t i = 0; i < out->buffer_count && result == OUTPUT_DONE; i++) result = fill(&out->buffers[i]);
  return result;
}

void bindings_free(bindings *b) {
  for (uint32_t i = 0; b->buffers && i < b->buffer_count; i++) data_free(&b->buffers[i].input);
  free(b->params);
  free(b->specs);
  free(b->buffers);
  free(b->outputs);
}

int bindings_copy(const bindings *b, data **out) {
  *out = calloc(b->buffer_count + 1u, sizeof **out);
  if (!*out) return complain_memory();
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    const bound_buffer *buffer = &b->buffers[i];
    if (!bindings_is_written(buffer)) continue;
    int result = data_zeros(buffer->info.element, buffer->input.count, &(*out)[i]);
    if (result != OUTPUT_DONE) return result;
  }
  bindings_reset(b, *out);
  return OUTPUT_DONE;
}

void bindings_reset(const bindings *b, data *results) {
  for (uint32_t i = 0; i < b->buffer_count; i++)
    if (results[i].bytes) memcpy(results[i].bytes, b->buffers[i].input.bytes, data_bytes(&results[i]));
}

void bindings_free_copy(const bindings *b, data *results) {
  if (!results) return;
  for (uint32_t i = 0; i < b->buffer_count; i++) data_free(&results[i]);
  free(results);
}
