/* vyre check: what is wrong with programs, or what they are. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "failure.h"
#include "json.h"
#include "output.h"
#include "profile.h"
#include "program.h"

static void write_buffers(json_writer *j, const vyre_program *program) {
  json_open(j, "buffers", '[');
  vyre_buffer_info buffer;
  for (uint32_t i = 0; vyre_program_buffer(program, i, &buffer); i++) {
    json_open(j, NULL, '{');
    json_text(j, "name", buffer.name);
    json_text(j, "access", program_access_name(buffer.access));
    json_text(j, "type", vyre_type_describe(buffer.element)->spelling);
    if (buffer.length) json_unsigned(j, "length", buffer.length);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void write_fingerprint(json_writer *j, const vyre_program *program) {
  char text[2 * VYRE_FINGERPRINT_BYTES + 1];
  const uint8_t *bytes = vyre_program_fingerprint(program);
  for (size_t i = 0; i < VYRE_FINGERPRINT_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  json_text(j, "fingerprint", text);
}

static void write_needs(json_writer *j, uint64_t needs) {
  json_open(j, "needs", '[');
#define X(name, bit, spelling, use)                                                                                    \
  if (needs & VYRE_NEED_##name) json_text(j, NULL, spelling);
#include <vyre/needs.def>
#undef X
  json_close(j, ']');
}

static void write_program(json_writer *j, const vyre_program *program) {
  vyre_program_info info;
  vyre_program_describe(program, &info);
  json_open(j, "program", '{');
  json_text(j, "name", info.name);
  if (info.op_id[0]) json_text(j, "op", info.op_id);
  write_fingerprint(j, program);
  json_open(j, "workgroup", '[');
  for (int axis = 0; axis < 3; axis++) json_unsigned(j, NULL, info.workgroup[axis]);
  json_close(j, ']');
  if (info.ulp != VYRE_ULP_UNSET) json_unsigned(j, "ulp", info.ulp);
  if (info.subgroup) json_unsigned(j, "subgroup", info.subgroup);
  json_open(j, "params", '[');
  vyre_param_info param;
  for (uint32_t i = 0; vyre_program_param(program, i, &param); i++) {
    json_open(j, NULL, '{');
    json_text(j, "name", param.name);
    json_text(j, "type", vyre_type_describe(param.type)->spelling);
    json_close(j, '}');
  }
  json_close(j, ']');
  write_buffers(j, program);
  write_needs(j, info.needs);
  json_unsigned(j, "statements", info.statement_count);
  json_unsigned(j, "expressions", info.expr_count);
  json_unsigned(j, "shared_bytes", info.shared_bytes);
  json_close(j, '}');
}

/* Valid as it is, but every run will ask for a budget. */
static void note_missing_budget(const loaded_program *p) {
  vyre_program_info info;
  vyre_program_describe(p->program, &info);
  if ((info.needs & VYRE_NEED_ULP) == 0 || info.ulp != VYRE_ULP_UNSET) return;
  output_note("%s: it uses exp, sin, log or the like and states no error budget, which a run needs. Fix: add the "
              "attribute ulp(N) to the program, or run it with --ulp N.", p->path);
}

/* The profile of --profile, NULL in *out without that option. */
static int read_profile(const parsed_options *o, profile *room, const profile **out) {
  const char *path = options_get(o, OPT_PROFILE);
  *out = path ? room : NULL;
  return path ? program_read_profile(path, room) : OUTPUT_DONE;
}

/* Whether a device with that profile could run the program. An error budget is the run's affair. */
static int check_profile(const loaded_program *p, const profile *target) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  vyre_program_info info;
  vyre_program_describe(p->program, &info);
  if (info.ulp == VYRE_ULP_UNSET) options.ulp = 0;
  if (vyre_compile_check(&target->capabilities, p->program, &options, &error) == VYRE_OK) return OUTPUT_DONE;
  return output_error(p->path, &error);
}

static int check(const char *path, const parsed_options *o, const profile *target, json_writer *j) {
  loaded_program p;
  int result = program_load(path, o, &p);
  if (p.diagnostics) output_diagnostics(p.path, p.diagnostics);
  if (p.program) note_missing_budget(&p);
  bool is_valid = result == OUTPUT_DONE;
  if (is_valid && target) result = check_profile(&p, target);
  if (j) {
    json_open(j, NULL, '{');
    json_text(j, "file", p.path);
    json_boolean(j, "valid", is_valid);
    if (is_valid && target) json_boolean(j, "fits", result == OUTPUT_DONE);
    if (result != OUTPUT_DONE) failure_write(j, result);
    if (p.diagnostics) {
      json_unsigned(j, "errors", vyre_diagnostics_errors(p.diagnostics));
      json_unsigned(j, "warnings", vyre_diagnostics_warnings(p.diagnostics));
      json_diagnostics(j, p.diagnostics);
    }
    if (p.program) write_program(j, p.program);
    json_close(j, '}');
  }
  program_free(&p);
  return result;
}

int cmd_check(const parsed_options *o) {
  profile room;
  const profile *target;
  int worst = read_profile(o, &room, &target);
  if (worst != OUTPUT_DONE) return worst;
  json_writer writer, *j = options_has(o, OPT_JSON) ? output_json(&writer) : NULL;
  if (j) json_open(j, NULL, '[');
  for (size_t i = 0; i < o->operand_count; i++) {
    int result = check(o->operands[i], o, target, j);
    if (result > worst) worst = result;
  }
  if (j) json_close(j, ']');
  return worst;
}
