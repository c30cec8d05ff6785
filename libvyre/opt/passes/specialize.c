/* Parameters whose values are known when the program is compiled are literals. They are declared all the same, and the
 * launch block has them, so that callers bind what they bound. */
#include <vyre/backend.h>

#include "ir/check.h"
#include "opt/pass.h"

static const vyre_spec_constant *value_of(const opt_context *c, uint32_t param) {
  uint64_t low = 0, high = c->spec_count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (c->spec[middle].id == param) return &c->spec[middle];
    if (c->spec[middle].id < param) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

/* A NaN keeps its payload, which no literal has: it stays a parameter. */
static uint32_t replace(void *context, uint32_t e) {
  opt_context *c = context;
  const ir_expr *node = opt_at(c->unit, e);
  const vyre_spec_constant *known = node->op == VYRE_OP_PARAM ? value_of(c, node->arg[3]) : NULL;
  if (known == NULL || !ir_check_literal((vyre_type)known->type, known->bits)) return e;
  opt_note(c, "known_parameter", VYRE_NO_POSITION, 0);
  return opt_literal(c->unit, (vyre_type)known->type, known->bits);
}

bool opt_pass_specialize(opt_context *c) {
  if (c->spec_count == 0) return false;
  opt_map map = opt_map_begin(c->unit, replace, c);
  bool changed = opt_rewrite_operands(c->unit, &map);
  opt_map_end(&map);
  return changed;
}
