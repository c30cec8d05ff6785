/* The passes as a table, and the order in which they run. */
#include <string.h>

#include "opt/pass.h"

#define ON_REQUEST UINT32_MAX

const opt_pass_row opt_passes[] = {
#define X(id, phase, class_name, level, enables, family, requires, invalidates, doc) \
  { #id, #phase, #class_name, #family, requires, invalidates, doc, level, enables, opt_pass_##id },
#include "opt/passes.def"
#undef X
};
const uint32_t opt_pass_count = sizeof opt_passes / sizeof *opt_passes;

static bool is_called(const char *name, const char *text, size_t bytes) {
  return strlen(name) == bytes && memcmp(name, text, bytes) == 0;
}

uint32_t opt_row_named(const opt_pass_row *rows, uint32_t count, const char *name, size_t bytes) {
  for (uint32_t i = 0; i < count; i++)
    if (is_called(rows[i].name, name, bytes)) return i;
  return UINT32_MAX;
}

uint32_t opt_pass_named(const char *name, size_t bytes) {
  return opt_row_named(opt_passes, opt_pass_count, name, bytes);
}

/* Lists are separated by commas or spaces. */
bool opt_list_has(const char *list, const char *name) {
  while (*list != 0) {
    size_t bytes = strcspn(list, ", ");
    if (bytes > 0 && is_called(name, list, bytes)) return true;
    list += bytes;
    list += strspn(list, ", ");
  }
  return false;
}

/* Whether all that |row| requires, as far as it is chosen, has its place already. */
static bool is_ready(const opt_pass_row *rows, uint32_t count, const bool *chosen, const bool *placed, uint32_t row) {
  for (uint32_t i = 0; i < count; i++)
    if (chosen[i] && !placed[i] && opt_list_has(rows[row].requires, rows[i].name)) return false;
  return true;
}

bool opt_pass_order(const opt_pass_row *rows, uint32_t count, const bool *chosen, uint32_t *order, uint32_t *ordered,
                    uint32_t *bad) {
  bool placed[OPT_MAX_PASSES] = { false };
  *ordered = 0;
  for (bool found = true; found;) {
    found = false;
    for (uint32_t i = 0; i < count && !found; i++) {
      if (!chosen[i] || placed[i] || !is_ready(rows, count, chosen, placed, i)) continue;
      placed[i] = found = true;
      order[(*ordered)++] = i;
    }
  }
  for (*bad = 0; *bad < count; ++*bad)
    if (chosen[*bad] && !placed[*bad]) return false;
  return true;
}

bool vyre_opt_pass_describe(uint32_t index, vyre_opt_pass_info *out) {
  if (index >= opt_pass_count) return false;
  const opt_pass_row *row = &opt_passes[index];
  *out = (vyre_opt_pass_info){ row->name, row->phase, row->class_name, row->family,
                               row->requires, row->invalidates, row->doc, row->level };
  return true;
}
