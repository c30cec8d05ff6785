/* vyre backends: what was found, what it can do, and what is wrong with the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/device.h>

#include "commands.h"
#include "files.h"
#include "isolate.h"
#include "json.h"
#include "output.h"
#include "profile.h"
#include "session.h"

#define MAX_DEVICES 4096u
#define LIST_BYTES 512

static const bit_name can_names[] = {{VYRE_CAN_DEVICE_LENGTH, "device_length"},
                                     {VYRE_CAN_INDIRECT_GRID, "indirect_grid"},
                                     {VYRE_CAN_HOST_COHERENT_ATOMICS, "host_coherent_atomics"},
                                     {VYRE_CAN_PERSISTENT, "persistent"},
                                     {VYRE_CAN_TIMESTAMP, "timestamp"},
                                     {VYRE_CAN_STORAGE_READ, "storage_read"},
                                     {VYRE_CAN_PEER_COPY, "peer_copy"},
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

/* Sizes of subgroups are their own bits. */
static const char *list_sizes(uint32_t sizes, char text[LIST_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t size = 1; size != 0; size <<= 1)
    if (sizes & size) used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%" PRIu32, used ? " " : "", size);
  return text;
}

static void print_line(const char *label, const char *foreign) {
  printf("%s", label);
  output_foreign(foreign);
  printf("\n");
}

/* A row as it is shown: from the context, or from a process of its own. */
typedef struct row {
  vyre_backend_info info;
  const char *verdict;
  vyre_capabilities *devices;
  isolated_plugin isolated; /* holds the texts and devices of a row that was probed so */
} row;

typedef struct row_list {
  row *data;
  uint32_t count, usable;
} row_list;

/* The next device from *at on, which starts at 0, that is the same hardware as |c| through another backend than |of|,
 * as its name; false if there is none. */
static bool next_alias(const row_list *rows, const row *of, const vyre_capabilities *c, uint64_t *at, char name[64]) {
  static const uint8_t none[sizeof c->uuid];
  if (memcmp(c->uuid, none, sizeof none) == 0) return false;
  for (uint32_t i = (uint32_t)(*at >> 32), j = (uint32_t)*at; i < rows->count; i++, j = 0) {
    const row *other = &rows->data[i];
    for (; other != of && j < other->info.device_count; j++) {
      const vyre_capabilities *d = &other->devices[j];
      if (memcmp(d->uuid, c->uuid, sizeof none) != 0 || d->partition != c->partition) continue;
      snprintf(name, 64, "%.40s:%" PRIu32, other->info.name, j);
      *at = (uint64_t)i << 32 | (j + 1);
      return true;
    }
  }
  return false;
}

static void aliases_text(const row_list *rows, const row *r, const vyre_capabilities *c) {
  char name[64];
  for (uint64_t at = 0; next_alias(rows, r, c, &at, name);) print_line("    the same as ", name);
}

static void aliases_json(json_writer *j, const row_list *rows, const row *r, const vyre_capabilities *c) {
  char name[64];
  json_open(j, "same_as", '[');
  for (uint64_t at = 0; next_alias(rows, r, c, &at, name);) json_text(j, NULL, name);
  json_close(j, ']');
}

static void device_text(uint32_t number, const vyre_capabilities *c) {
  char text[LIST_BYTES];
  printf("  device %" PRIu32 ": ", number);
  print_line("", c->name);
  print_line("    profile     ", c->profile);
  if (c->driver[0]) print_line("    driver      ", c->driver);
  printf("    programs    %s\n", list_bits(profile_programs, c->needs, text));
  char lacking[LIST_BYTES];
  if (list_bits(profile_programs, ~c->needs, lacking)[0]) printf("    lacking     %s\n", lacking);
  printf("    numbers     %s\n", list_bits(profile_numbers, c->numeric, text));
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

/* The members of a device's object. */
static void device_json(json_writer *j, const vyre_capabilities *c) {
  json_text(j, "name", c->name);
  json_text(j, "driver", c->driver);
  profile_members_json(j, c);
  profile_bits_json(j, "device_can", can_names, c->can);
  json_unsigned(j, "max_buffer_bytes", c->max_buffer_bytes);
  json_unsigned(j, "binding_alignment", c->binding_alignment);
}

/* The record of a device, or false with a message. */
static bool get_device(vyre_context *context, uint32_t number, uint32_t device, vyre_capabilities *out) {
  vyre_error error = VYRE_ERROR_INIT;
  *out = (vyre_capabilities){.size = sizeof *out};
  if (vyre_backend_device(context, number, device, out, &error) == VYRE_OK) return true;
  output_error("device", &error);
  return false;
}

static void row_text(const row_list *rows, const row *r) {
  const vyre_backend_info *info = &r->info;
  output_foreign(info->name);
  printf("%s", info->name[0] ? " " : "");
  output_foreign(info->path);
  printf(": %s", r->verdict);
  print_line(info->version[0] ? ", version " : "", info->version);
  if (info->reason[0]) print_line("  ", info->reason);
  for (uint32_t i = 0; i < info->device_count; i++) {
    device_text(i, &r->devices[i]);
    aliases_text(rows, r, &r->devices[i]);
  }
}

static void row_json(json_writer *j, const row_list *rows, const row *r) {
  const vyre_backend_info *info = &r->info;
  json_open(j, NULL, '{');
  json_text(j, "name", info->name);
  json_text(j, "path", info->path);
  json_text(j, "verdict", r->verdict);
  if (info->version[0]) json_text(j, "version", info->version);
  if (info->build_id[0]) json_text(j, "build_id", info->build_id);
  if (info->reason[0]) json_text(j, "reason", info->reason);
  if (info->status != VYRE_OK) json_text(j, "status", vyre_status_name(info->status));
  json_open(j, "devices", '[');
  for (uint32_t i = 0; i < info->device_count; i++) {
    json_open(j, NULL, '{');
    device_json(j, &r->devices[i]);
    aliases_json(j, rows, r, &r->devices[i]);
    json_close(j, '}');
  }
  json_close(j, ']');
  json_close(j, '}');
}

static bool is_wanted(const parsed_options *o, const vyre_backend_info *info) {
  const char *name = options_get(o, OPT_ONLY_BACKEND);
  if (name && strcmp(name, info->name) != 0) return false;
  return info->verdict == VYRE_VERDICT_USABLE || options_has(o, OPT_ALL) || options_has(o, OPT_PROBE_ISOLATED);
}

static int fill_devices(vyre_context *context, uint32_t number, row *r) {
  if (r->info.device_count > MAX_DEVICES) r->info.device_count = MAX_DEVICES;
  if (r->info.device_count == 0) return OUTPUT_DONE;
  r->devices = calloc(r->info.device_count, sizeof *r->devices);
  if (!r->devices) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  for (uint32_t i = 0; i < r->info.device_count; i++)
    if (!get_device(context, number, i, &r->devices[i])) return OUTPUT_FAILED;
  return OUTPUT_DONE;
}

static int probe_row(const session *s, row *r) {
  vyre_config_value timeout;
  vyre_config_get(s->config, VYRE_CONFIG_BACKENDS_PROBE_TIMEOUT, &timeout);
  int result = isolate_probe(s, r->info.path, timeout.number, &r->isolated);
  r->verdict = r->isolated.verdict;
  r->info.version = r->isolated.version;
  r->info.build_id = r->isolated.build_id;
  r->info.reason = r->isolated.reason;
  r->info.status = r->isolated.status;
  r->info.device_count = r->isolated.device_count;
  r->devices = r->isolated.devices;
  if (r->info.status == VYRE_ERR_BROKEN_PLUGIN || r->info.status == VYRE_ERR_TIMEOUT)
    vyre_log_write(s->log, VYRE_LOG_WARNING, "loader", "%s is %s: %s", r->info.path, r->verdict, r->info.reason);
  return result;
}

static int fill_row(const session *s, const parsed_options *o, uint32_t number, row *r) {
  *r = (row){0};
  vyre_backend_describe(s->context, number, &r->info);
  r->verdict = vyre_verdict_name(r->info.verdict);
  if (options_has(o, OPT_PROBE_ISOLATED) && r->info.verdict == VYRE_VERDICT_UNTRIED) return probe_row(s, r);
  return fill_devices(s->context, number, r);
}

/* All wanted rows. Gives an exit status; free in any case. */
static int collect(const session *s, const parsed_options *o, row_list *rows) {
  *rows = (row_list){0};
  vyre_backend_info info;
  uint32_t all = 0;
  while (vyre_backend_describe(s->context, all, &info)) all++;
  rows->data = calloc(all + 1u, sizeof *rows->data);
  if (!rows->data) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int result = OUTPUT_DONE;
  for (uint32_t i = 0; i < all && result == OUTPUT_DONE; i++) {
    if (!vyre_backend_describe(s->context, i, &info) || !is_wanted(o, &info)) continue;
    row *r = &rows->data[rows->count++];
    result = fill_row(s, o, i, r);
    rows->usable += strcmp(r->verdict, vyre_verdict_name(VYRE_VERDICT_USABLE)) == 0;
  }
  return result;
}

static void free_rows(row_list *rows) {
  for (uint32_t i = 0; i < rows->count; i++) free(rows->data[i].devices);
  free(rows->data);
}

static void print_rows(const parsed_options *o, const row_list *rows) {
  json_writer writer, *j = options_has(o, OPT_JSON) ? output_json(&writer) : NULL;
  if (j) json_open(j, NULL, '[');
  for (uint32_t i = 0; i < rows->count; i++) {
    if (j) {
      row_json(j, rows, &rows->data[i]);
    } else {
      row_text(rows, &rows->data[i]);
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
    profile_json(&j, info.name, &device);
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

/* Shows what was collected, and what to do where that is nothing of use. */
static int show(vyre_context *context, const parsed_options *o, const row_list *rows) {
  const char *name = options_get(o, OPT_ONLY_BACKEND);
  bool is_all = options_has(o, OPT_ALL) && !name;
  if (rows->count > 0) print_rows(o, rows);
  if (rows->count > 0 && is_all && !options_has(o, OPT_JSON)) print_places(context);
  if (rows->usable > 0 || (rows->count > 0 && is_all)) return OUTPUT_DONE;
  if (rows->count > 0) return OUTPUT_FAILED; /* its row says why */
  vyre_backend_info any;
  bool is_any = vyre_backend_describe(context, 0, &any);
  output_complain("backends: there is no usable backend%s%s. Fix: %s.", name ? " called " : "", name ? name : "",
                  is_any ? "`vyre backends --all` shows what was found and why it can not be used"
                         : "install one, or name its directory with --backend-path");
  if (!name) note_places(context);
  return OUTPUT_FAILED;
}

static int list(const session *s, const parsed_options *o) {
  vyre_error error = VYRE_ERROR_INIT;
  const char *path = options_get(o, OPT_SAVE_PROFILE);
  bool is_isolated = options_has(o, OPT_PROBE_ISOLATED);
  vyre_status status = is_isolated ? vyre_backends_find(s->context, &error) : vyre_backends_load(s->context, &error);
  if (status != VYRE_OK) return output_error("backends", &error);
  if (path) return save_profile(s->context, o, path);
  row_list rows;
  int result = collect(s, o, &rows);
  if (result == OUTPUT_DONE) result = show(s->context, o, &rows);
  free_rows(&rows);
  return result;
}

int cmd_backends(const parsed_options *o) {
  if (options_has(o, OPT_SAVE_PROFILE) && options_has(o, OPT_PROBE_ISOLATED)) {
    output_complain("backends: --save-profile needs a plugin in this process, and --probe-isolated keeps it out. Fix: "
                    "give one of them.");
    return OUTPUT_USAGE;
  }
  session s;
  int result = session_load(o, &s);
  if (result == OUTPUT_DONE) {
    session_warn(&s);
    result = session_open(&s);
  }
  if (result == OUTPUT_DONE) result = list(&s, o);
  session_close(&s);
  return result;
}
