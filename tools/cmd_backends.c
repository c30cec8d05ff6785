/* vyre backends: what was found, what it can do, and what is wrong with the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/device.h>

#include "commands.h"
#include "files.h"
#include "json.h"
#include "output.h"
#include "session.h"

#define MAX_DEVICES 4096u
#define LIST_BYTES 512

typedef struct bit_name {
  uint64_t bit;
  const char *name;
} bit_name;

static const bit_name need_names[] = {
#define X(name, bit, spelling, use) {VYRE_NEED_##name, spelling},
#include <vyre/needs.def>
#undef X
  {0, NULL}};
static const bit_name can_names[] = {{VYRE_CAN_DEVICE_LENGTH, "device_length"},
                                     {VYRE_CAN_INDIRECT_GRID, "indirect_grid"},
                                     {VYRE_CAN_HOST_COHERENT_ATOMICS, "host_coherent_atomics"},
                                     {VYRE_CAN_PERSISTENT, "persistent"},
                                     {VYRE_CAN_TIMESTAMP, "timestamp"},
                                     {VYRE_CAN_STORAGE_READ, "storage_read"},
                                     {VYRE_CAN_PEER_COPY, "peer_copy"},
                                     {0, NULL}};
static const bit_name numeric_names[] = {{VYRE_NUMERIC_SUBNORMALS, "subnormals"},
                                         {VYRE_NUMERIC_FMA, "fma"},
                                         {VYRE_NUMERIC_DIVISION, "division"},
                                         {VYRE_NUMERIC_ZERO_ORDER, "zero_order"},
                                         {0, NULL}};

/* The names of the bits that are set, or of those that are not, with spaces between. */
static const char *list_bits(const bit_name *names, uint64_t bits, char text[LIST_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (; names->name; names++)
    if (bits & names->bit)
      used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s", used ? " " : "", names->name);
  return text;
}

static void bits_json(json_writer *j, const char *key, const bit_name *names, uint64_t bits) {
  json_open(j, key, '[');
  for (; names->name; names++)
    if (bits & names->bit) json_text(j, NULL, names->name);
  json_close(j, ']');
}

/* Sizes of subgroups are their own bits. */
static const char *list_sizes(uint32_t sizes, char text[LIST_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t size = 1; size != 0; size <<= 1)
    if (sizes & size) used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%" PRIu32, used ? " " : "", size);
  return text;
}

static void sizes_json(json_writer *j, const char *key, uint32_t sizes) {
  json_open(j, key, '[');
  for (uint32_t size = 1; size != 0; size <<= 1)
    if (sizes & size) json_unsigned(j, NULL, size);
  json_close(j, ']');
}

static void print_line(const char *label, const char *foreign) {
  printf("%s", label);
  output_foreign(foreign);
  printf("\n");
}

static void device_text(uint32_t number, const vyre_capabilities *c) {
  char text[LIST_BYTES];
  printf("  device %" PRIu32 ": ", number);
  print_line("", c->name);
  print_line("    profile     ", c->profile);
  if (c->driver[0]) print_line("    driver      ", c->driver);
  printf("    programs    %s\n", list_bits(need_names, c->needs, text));
  char lacking[LIST_BYTES];
  if (list_bits(need_names, ~c->needs, lacking)[0]) printf("    lacking     %s\n", lacking);
  printf("    numbers     %s\n", list_bits(numeric_names, c->numeric, text));
  printf("    device can  %s\n", list_bits(can_names, c->can, text));
  printf("    subgroups   %s; %" PRIu32 " if none is asked for\n", list_sizes(c->subgroup_sizes, text),
         c->subgroup_size);
  printf("    workgroup   at most %" PRIu32 " invocations, %" PRIu32 " x %" PRIu32 " x %" PRIu32 ", %" PRIu32
         " shared bytes\n",
         c->max_workgroup_invocations, c->max_workgroup[0], c->max_workgroup[1], c->max_workgroup[2],
         c->max_shared_bytes);
  printf("    buffers     at most %" PRIu64 " bytes, %" PRIu32 " bindings aligned to %" PRIu32 "\n",
         c->max_buffer_bytes, c->max_bindings, c->binding_alignment);
}

/* What compiling needs to know: a profile is a device's record without its identity and memory. */
static void profile_json(json_writer *j, const vyre_capabilities *c) {
  json_text(j, "profile", c->profile);
  bits_json(j, "programs", need_names, c->needs);
  bits_json(j, "numbers", numeric_names, c->numeric);
  sizes_json(j, "subgroup_sizes", c->subgroup_sizes);
  json_unsigned(j, "subgroup_size", c->subgroup_size);
  json_unsigned(j, "max_workgroup_invocations", c->max_workgroup_invocations);
  json_open(j, "max_workgroup", '[');
  for (int axis = 0; axis < 3; axis++) json_unsigned(j, NULL, c->max_workgroup[axis]);
  json_close(j, ']');
  json_unsigned(j, "max_shared_bytes", c->max_shared_bytes);
  json_unsigned(j, "max_bindings", c->max_bindings);
  json_unsigned(j, "max_param_bytes", c->max_param_bytes);
}

static void device_json(json_writer *j, const vyre_capabilities *c) {
  json_open(j, NULL, '{');
  json_text(j, "name", c->name);
  json_text(j, "driver", c->driver);
  profile_json(j, c);
  bits_json(j, "device_can", can_names, c->can);
  json_unsigned(j, "max_buffer_bytes", c->max_buffer_bytes);
  json_unsigned(j, "binding_alignment", c->binding_alignment);
  json_close(j, '}');
}

/* The record of a device, or false with a message. */
static bool get_device(vyre_context *context, uint32_t row, uint32_t device, vyre_capabilities *out) {
  vyre_error error = VYRE_ERROR_INIT;
  *out = (vyre_capabilities){.size = sizeof *out};
  if (vyre_backend_device(context, row, device, out, &error) == VYRE_OK) return true;
  output_error("device", &error);
  return false;
}

static void row_text(vyre_context *context, uint32_t row, const vyre_backend_info *info) {
  output_foreign(info->name);
  printf("%s", info->name[0] ? " " : "");
  output_foreign(info->path);
  printf(": %s", vyre_verdict_name(info->verdict));
  print_line(info->version[0] ? ", version " : "", info->version);
  if (info->reason[0]) print_line("  ", info->reason);
  vyre_capabilities device;
  for (uint32_t i = 0; i < info->device_count && i < MAX_DEVICES; i++)
    if (get_device(context, row, i, &device)) device_text(i, &device);
}

static void row_json(json_writer *j, vyre_context *context, uint32_t row, const vyre_backend_info *info) {
  json_open(j, NULL, '{');
  json_text(j, "name", info->name);
  json_text(j, "path", info->path);
  json_text(j, "verdict", vyre_verdict_name(info->verdict));
  if (info->version[0]) json_text(j, "version", info->version);
  if (info->build_id[0]) json_text(j, "build_id", info->build_id);
  if (info->reason[0]) json_text(j, "reason", info->reason);
  if (info->status != VYRE_OK) json_text(j, "status", vyre_status_name(info->status));
  json_open(j, "devices", '[');
  vyre_capabilities device;
  for (uint32_t i = 0; i < info->device_count && i < MAX_DEVICES; i++)
    if (get_device(context, row, i, &device)) device_json(j, &device);
  json_close(j, ']');
  json_close(j, '}');
}

static bool is_wanted(const parsed_options *o, const vyre_backend_info *info) {
  const char *name = options_get(o, OPT_ONLY_BACKEND);
  if (name && strcmp(name, info->name) != 0) return false;
  return info->verdict == VYRE_VERDICT_USABLE || options_has(o, OPT_ALL);
}

/* How many rows are wanted, and in *usable how many of these can be used. */
static uint32_t count_rows(vyre_context *context, const parsed_options *o, uint32_t *usable) {
  uint32_t wanted = 0;
  *usable = 0;
  vyre_backend_info info;
  for (uint32_t i = 0; vyre_backend_describe(context, i, &info); i++) {
    if (!is_wanted(o, &info)) continue;
    wanted++;
    *usable += info.verdict == VYRE_VERDICT_USABLE;
  }
  return wanted;
}

static void print_rows(vyre_context *context, const parsed_options *o) {
  json_writer writer, *j = options_has(o, OPT_JSON) ? output_json(&writer) : NULL;
  if (j) json_open(j, NULL, '[');
  vyre_backend_info info;
  for (uint32_t i = 0; vyre_backend_describe(context, i, &info); i++) {
    if (!is_wanted(o, &info)) continue;
    if (j) {
      row_json(j, context, i, &info);
    } else {
      row_text(context, i, &info);
    }
  }
  if (j) json_close(j, ']');
}

/* Every place that was searched for plugins, and what was there. */
static void print_places(vyre_context *context) {
  vyre_search_info place;
  for (uint32_t i = 0; vyre_backend_searched(context, i, &place); i++) {
    printf("searched ");
    output_foreign(place.path);
    printf(" (");
    output_foreign(place.source);
    print_line("): ", place.outcome);
  }
}

static void note_places(vyre_context *context) {
  vyre_search_info place;
  for (uint32_t i = 0; vyre_backend_searched(context, i, &place); i++)
    output_note("searched %s (%s): %s", place.path, place.source, place.outcome);
}

/* The profile of the first device of the first wanted usable backend. */
static int save_profile(vyre_context *context, const parsed_options *o, const char *path) {
  vyre_backend_info info;
  vyre_capabilities device;
  for (uint32_t i = 0; vyre_backend_describe(context, i, &info); i++) {
    if (!is_wanted(o, &info) || info.verdict != VYRE_VERDICT_USABLE || info.device_count == 0) continue;
    if (!get_device(context, i, 0, &device)) return OUTPUT_FAILED;
    char *text = NULL;
    size_t length = 0;
    json_writer j = {.file = open_memstream(&text, &length)};
    if (!j.file) return OUTPUT_FAILED;
    json_open(&j, NULL, '{');
    json_text(&j, "backend", info.name);
    profile_json(&j, &device);
    json_close(&j, '}');
    bool is_complete = !ferror(j.file);
    is_complete = fclose(j.file) == 0 && is_complete;
    if (!is_complete) output_complain("memory is exhausted");
    int result = is_complete ? files_write(path, text, length) : OUTPUT_FAILED;
    free(text);
    return result;
  }
  output_complain("backends: --save-profile: there is no usable device. Fix: `vyre backends --all` shows why.");
  return OUTPUT_FAILED;
}

static int list(vyre_context *context, const parsed_options *o) {
  vyre_error error = VYRE_ERROR_INIT;
  const char *profile = options_get(o, OPT_SAVE_PROFILE), *name = options_get(o, OPT_ONLY_BACKEND);
  if (vyre_backends_load(context, &error) != VYRE_OK) return output_error("backends", &error);
  if (profile) return save_profile(context, o, profile);
  uint32_t usable, wanted = count_rows(context, o, &usable);
  if (wanted > 0) print_rows(context, o);
  if (wanted > 0 && options_has(o, OPT_ALL) && !name && !options_has(o, OPT_JSON)) print_places(context);
  if (usable > 0 || (wanted > 0 && options_has(o, OPT_ALL) && !name)) return OUTPUT_DONE;
  if (wanted > 0) return OUTPUT_FAILED; /* its row says why */
  vyre_backend_info any;
  bool is_any = vyre_backend_describe(context, 0, &any);
  output_complain("backends: there is no usable backend%s%s. Fix: %s.", name ? " called " : "", name ? name : "",
                  is_any ? "`vyre backends --all` shows what was found and why it can not be used"
                         : "install one, or name its directory with --backend-path");
  if (!name) note_places(context);
  return OUTPUT_FAILED;
}

int cmd_backends(const parsed_options *o) {
  session s;
  int result = session_load(o, &s);
  if (result == OUTPUT_DONE) {
    session_warn(&s);
    result = session_open(&s);
  }
  if (result == OUTPUT_DONE) result = list(s.context, o);
  session_close(&s);
  return result;
}
