/* Two results of one program, compared: bits, since results agree bit by bit; only the payload of a NaN is free. */
#include "kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/bits.h"

/* ---- The inputs of an element ---------------------------------------------------------------- */

enum { INPUTS_BYTES = 640 };

static bool find_buffer(const vyre_program *program, const char *name, vyre_buffer_info *out) {
  for (uint32_t slot = 0; vyre_program_slot(program, slot, out); slot++)
    if (strcmp(out->name, name) == 0) return true;
  return false;
}

/* All components of an element. */
static size_t element_text(vyre_type type, const uint8_t *element, char *text, size_t room) {
  const vyre_type_info *info = vyre_type_describe(type);
  size_t used = 0;
  for (uint32_t lane = 0; lane < info->lanes && used < room; lane++) {
    char one[KIT_ELEMENT_BYTES];
    kit_element_text(info->component, element + lane * (info->bytes / info->lanes), one);
    used += (size_t)snprintf(text + used, room - used, "%s%s", lane > 0 ? ", " : "", one);
  }
  return used;
}

static void inputs_text(const kit_case *c, const vyre_program *program, uint64_t element, char text[INPUTS_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < c->buffer_count; i++) {
    const kit_buffer *b = &c->buffers[i];
    uint64_t at = c->input_of != NULL ? c->input_of(c, i, element) : element;
    vyre_buffer_info info;
    if (b->in == NULL || at >= b->elements || !find_buffer(program, b->name, &info)) continue;
    char one[4 * KIT_ELEMENT_BYTES + 8];
    element_text(info.element, (const uint8_t *)b->in + at * vyre_type_describe(info.element)->bytes, one, sizeof one);
    int put =
        snprintf(text + used, INPUTS_BYTES - used, "%s%s[%" PRIu64 "] = %s", used > 0 ? ", " : "; ", b->name, at, one);
    if (put < 0 || (size_t)put >= INPUTS_BYTES - used) {
      text[used] = '\0';
      return;
    }
    used += (size_t)put;
  }
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static bool compare_buffer(kit *k, const kit_case *c, const vyre_program *program, uint32_t i, const uint8_t *found,
                           const uint8_t *wanted) {
  const kit_buffer *b = &c->buffers[i];
  vyre_buffer_info buffer;
  if (!find_buffer(program, b->name, &buffer) || buffer.access == VYRE_ACCESS_READ) return true;
  const vyre_type_info *info = vyre_type_describe(buffer.element);
  uint32_t size = vyre_type_describe(info->component)->bytes;
  for (uint64_t n = 0; n < b->elements * info->lanes; n++) {
    const uint8_t *f = found + n * size, *w = wanted + n * size;
    if (memcmp(f, w, size) == 0) continue;
    if (bits_are_nan(info->component, bits_at(f, size)) && bits_are_nan(info->component, bits_at(w, size))) continue;
    char found_text[KIT_ELEMENT_BYTES], wanted_text[KIT_ELEMENT_BYTES], inputs[INPUTS_BYTES], component[3] = "";
    kit_element_text(info->component, f, found_text);
    kit_element_text(info->component, w, wanted_text);
    inputs_text(c, program, n / info->lanes, inputs);
    if (info->lanes > 1) snprintf(component, sizeof component, ".%c", "xyzw"[n % info->lanes]);
    return kit_fail(k, "%s: %s[%" PRIu64 "]%s: wanted %s, found %s%s", c->name, b->name, n / info->lanes, component,
                    wanted_text, found_text, inputs);
  }
  return true;
}

static bool compare_data(kit *k, const kit_case *c, const kit_result *found, const kit_result *wanted) {
  vyre_program *program = c->program != NULL ? vyre_program_retain(c->program) : kit_parse(k, c->text);
  bool is_same = program != NULL;
  for (uint32_t i = 0; is_same && i < c->buffer_count; i++)
    is_same = compare_buffer(k, c, program, i, found->data[i], wanted->data[i]);
  vyre_program_release(program);
  return is_same;
}

/* ---- The rest -------------------------------------------------------------------------------- */

static bool compare_traps(kit *k, const kit_case *c, const vyre_completion *found, const vyre_completion *wanted) {
  if (found->trap_count != wanted->trap_count)
    return kit_fail(k, "%s: wanted %" PRIu64 " traps, found %" PRIu64, c->name, wanted->trap_count, found->trap_count);
  if (wanted->trap_count != 1) return true;
  if (found->trap_code == wanted->trap_code && memcmp(found->trap_gid, wanted->trap_gid, sizeof found->trap_gid) == 0)
    return true;
  return kit_fail(k, "%s: wanted trap %u of invocation (%u, %u, %u), found trap %u of (%u, %u, %u)", c->name,
                  wanted->trap_code, wanted->trap_gid[0], wanted->trap_gid[1], wanted->trap_gid[2], found->trap_code,
                  found->trap_gid[0], found->trap_gid[1], found->trap_gid[2]);
}

static bool compare_count(kit *k, const kit_case *c, const char *what, uint64_t found, uint64_t wanted,
                          bool may_be_less) {
  if (found == VYRE_NOT_COUNTED || wanted == VYRE_NOT_COUNTED || found == wanted) return true;
  if (may_be_less && found < wanted) return true;
  return kit_fail(k, "%s: wanted %" PRIu64 " masked %s in the completion record, found %" PRIu64, c->name, wanted, what,
                  found);
}

static bool compare_masked(kit *k, const kit_case *c, const vyre_completion *found, const vyre_completion *wanted) {
  if ((c->ignore & KIT_IGNORE_MASKED) != 0) return true;
  return compare_count(k, c, "loads", found->masked_loads, wanted->masked_loads, true) &&
         compare_count(k, c, "stores", found->masked_stores, wanted->masked_stores, false) &&
         compare_count(k, c, "atomics", found->masked_atomics, wanted->masked_atomics, false);
}

/* The first line of |text| at |*at|, without its end; moves on. */
static int next_line(const char **at) {
  int length = (int)strcspn(*at, "\n");
  *at += length + ((*at)[length] == '\n');
  return length;
}

static bool compare_prints(kit *k, const kit_case *c, const char *found, const char *wanted) {
  if ((c->ignore & KIT_IGNORE_PRINTS) != 0 || strcmp(found, wanted) == 0) return true;
  for (;;) {
    const char *f = found, *w = wanted;
    int f_bytes = next_line(&found), w_bytes = next_line(&wanted);
    if (f_bytes == w_bytes && memcmp(f, w, (size_t)f_bytes) == 0 && f_bytes > 0) continue;
    return kit_fail(k, "%s: wanted the print '%.*s', found '%.*s'", c->name, w_bytes, w, f_bytes, f);
  }
}

/* How a run ended, with the reason that was given. */
static const char *reason_of(const kit_result *r) {
  return r->error.text[0] != '\0' ? r->error.text : r->completion.text;
}

static bool compare_status(kit *k, const kit_case *c, const kit_result *found, const kit_result *wanted) {
  if (found->status != wanted->status)
    return kit_fail(k, "%s: wanted %s%s%s, found %s%s%s", c->name, vyre_status_name(wanted->status),
                    wanted->status != VYRE_OK ? ": " : "", wanted->status != VYRE_OK ? reason_of(wanted) : "",
                    vyre_status_name(found->status), found->status != VYRE_OK ? ": " : "",
                    found->status != VYRE_OK ? reason_of(found) : "");
  if (found->status == VYRE_OK || (found->is_compiled && found->status == VYRE_ERR_TRAP)) return true;
  return kit_fail(k, "%s: both refuse it: %s: %s", c->name, vyre_status_name(found->status), reason_of(found));
}

bool kit_compare_results(kit *k, const kit_case *c, const kit_result *found, const kit_result *wanted) {
  if (!compare_status(k, c, found, wanted)) return false;
  if (!compare_traps(k, c, &found->completion, &wanted->completion)) return false;
  if (found->status == VYRE_OK && !compare_data(k, c, found, wanted)) return false;
  return compare_masked(k, c, &found->completion, &wanted->completion) &&
         compare_prints(k, c, found->prints, wanted->prints);
}

/* The oracle takes the device's word for the size of its subgroups. */
static bool compare_with(kit *k, vyre_device *oracle, const kit_case *c) {
  kit_result found, wanted;
  bool is_same = kit_run(k, k->device, c, &found);
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  if (c->compile != NULL) options = *c->compile;
  if (is_same && found.is_compiled) options.subgroup_size = found.report.subgroup_size;
  kit_case same = *c;
  same.compile = &options;
  is_same = kit_run(k, oracle, &same, &wanted) && is_same;
  if (is_same) is_same = kit_compare_results(k, c, &found, &wanted);
  kit_result_free(&found);
  kit_result_free(&wanted);
  return is_same;
}

bool kit_compare(kit *k, const kit_case *c) {
  return compare_with(k, k->oracle, c);
}

bool kit_compare_reversed(kit *k, const kit_case *c) {
  return compare_with(k, k->reversed, c);
}
