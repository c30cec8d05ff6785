/* Every command that takes a program reads it here, so that all of them take both forms. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "files.h"
#include "output.h"

#define WIRE_MAGIC "VIR0"
#define WIRE_MAGIC_BYTES 4

int program_read(const char *path, loaded_program *out) {
  *out = (loaded_program){.path = strcmp(path, "-") == 0 ? "standard input" : path};
  int result = files_read(path, VYRE_MAX_PROGRAM_BYTES, &out->bytes, &out->count);
  if (result != OUTPUT_DONE) return result;
  out->is_wire = out->count >= WIRE_MAGIC_BYTES && memcmp(out->bytes, WIRE_MAGIC, WIRE_MAGIC_BYTES) == 0;
  const char *source = out->is_wire ? NULL : (const char *)out->bytes;
  if (vyre_diagnostics_create(out->path, source, source ? out->count : 0, &out->diagnostics) == VYRE_OK)
    return OUTPUT_DONE;
  output_complain("memory is exhausted");
  return OUTPUT_FAILED;
}

/* The --define options, split at their equals signs in |copies|. */
static bool collect_defines(const parsed_options *o, vyre_define *defines, char **copies, uint32_t *count) {
  *count = 0;
  for (size_t i = 0; i < o->value_count; i++) {
    if (o->values[i].row->id != OPT_DEFINE) continue;
    char *name = strdup(o->values[i].text);
    if (!name) return false;
    char *equals = strchr(name, '=');
    *equals = '\0';
    copies[*count] = name;
    defines[(*count)++] = (vyre_define){name, equals + 1};
  }
  return true;
}

static int decode(loaded_program *p, const vyre_define *defines, uint32_t count) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status;
  if (p->is_wire) {
    if (count > 0) {
      output_complain_at(p->path, "--define %s: a program in wire form has no named constants. Fix: give its text.",
                         defines[0].name);
      return OUTPUT_USAGE;
    }
    status = vyre_wire_decode(p->bytes, p->count, p->diagnostics, &p->program, &error);
  } else {
    vyre_text_options options = {.defines = defines, .define_count = count};
    status = vyre_text_parse((const char *)p->bytes, p->count, &options, p->diagnostics, &p->program, &error);
  }
  if (status == VYRE_OK) return OUTPUT_DONE;
  if (status == VYRE_ERR_INVALID_PROGRAM && vyre_diagnostics_errors(p->diagnostics) > 0) return OUTPUT_FAILED;
  error.status = status;
  int result = output_error(p->path, &error);
  return status == VYRE_ERR_INVALID_ARGUMENT || status == VYRE_ERR_OUT_OF_RANGE ? OUTPUT_USAGE : result;
}

int program_load(const char *path, const parsed_options *options, loaded_program *out) {
  int result = program_read(path, out);
  if (result != OUTPUT_DONE) return result;
  vyre_define *defines = calloc(options->value_count + 1, sizeof *defines);
  char **copies = calloc(options->value_count + 1, sizeof *copies);
  uint32_t count = 0;
  if (defines && copies && collect_defines(options, defines, copies, &count)) {
    result = decode(out, defines, count);
  } else {
    output_complain("memory is exhausted");
    result = OUTPUT_FAILED;
  }
  for (uint32_t i = 0; i < count; i++) free(copies[i]);
  free(copies);
  free(defines);
  return result;
}

void program_free(loaded_program *p) {
  vyre_program_release(p->program);
  vyre_diagnostics_destroy(p->diagnostics);
  free(p->bytes);
}

int program_read_profile(const char *path, profile *out) {
  char reason[PROFILE_REASON_BYTES];
  uint8_t *bytes;
  size_t count;
  int result = files_read(path, PROFILE_MAX_BYTES, &bytes, &count);
  if (result != OUTPUT_DONE) return OUTPUT_USAGE;
  bool is_good = profile_parse((const char *)bytes, count, out, reason);
  free(bytes);
  if (is_good) return OUTPUT_DONE;
  output_complain_at(path, "%s", reason);
  return OUTPUT_USAGE;
}

const char *program_access_name(vyre_access access) {
  switch (access) {
  case VYRE_ACCESS_READ:
    return "read";
  case VYRE_ACCESS_RW:
    return "rw";
  case VYRE_ACCESS_TABLE:
    return "const";
  case VYRE_ACCESS_SHARED:
    return "shared";
  case VYRE_ACCESS_WRITE:
    return "write";
  case VYRE_ACCESS_LOCAL:
    return "local";
  }
  return "unknown";
}
