/* Constant tables: an element at a literal index is a literal. The table is a part of the program. */
#include <string.h>

#include "opt/fold.h"
#include "opt/pass.h"

/* The bits of component |lane| of an element, as a literal of the type that a load gives. */
static bool component_of(const ir_buffer *b, uint64_t index, uint32_t lane, uint64_t *bits) {
  vyre_type element = (vyre_type)b->element, component = ir_component(element);
  uint32_t bytes = ir_type_at(component)->bytes;
  uint64_t raw = 0;
  memcpy(&raw, b->data + index * ir_type_at(element)->bytes + lane * bytes, bytes);
  switch (element) {
    case VYRE_TYPE_I8: *bits = (uint32_t)(int8_t)raw; return true;
    case VYRE_TYPE_I16: *bits = (uint32_t)(int16_t)raw; return true;
    case VYRE_TYPE_BF16: *bits = raw << 16; return true;
    case VYRE_TYPE_F16: return false; /* left to the load: the language has no operator that widens one */
    default: *bits = raw; return true;
  }
}

static uint32_t fold(void *context, uint32_t e) {
  opt_context *c = context;
  opt_unit *u = c->unit;
  const ir_expr n = *opt_at(u, e);
  if ((n.op != VYRE_OP_LOAD && n.op != VYRE_OP_GRID_UNIFORM_LOAD) || !opt_is_literal(u, n.arg[0])) return e;
  const ir_buffer *b = &u->program->buffers.data[n.arg[3]];
  uint64_t index = ir_literal_bits(opt_at(u, n.arg[0])), bits;
  if (b->access != VYRE_ACCESS_TABLE || index >= b->length) return e;
  vyre_type type = (vyre_type)n.type;
  uint32_t lanes = ir_type_at(type)->lanes;
  ir_expr node = { .op = lanes == 4 ? VYRE_OP_VEC4 : VYRE_OP_VEC2, .type = (uint8_t)type };
  for (uint32_t lane = 0; lane < lanes; lane++) {
    if (!component_of(b, index, lane, &bits)) return e;
    node.arg[lane] = opt_literal(u, ir_component(type), bits);
  }
  opt_note(c, "table_element", VYRE_NO_POSITION, opt_meta_of(u, e)->cost);
  return lanes == 1 ? node.arg[0] : opt_expr(u, node);
}

static bool has_table(const vyre_program *p) {
  for (uint32_t i = 0; i < p->buffers.count; i++)
    if (p->buffers.data[i].access == VYRE_ACCESS_TABLE) return true;
  return false;
}

bool opt_pass_const_buffer_fold(opt_context *c) {
  if (!has_table(c->unit->program)) return false;
  opt_map map = opt_map_begin(c->unit, fold, c);
  bool changed = opt_rewrite_operands(c->unit, &map);
  opt_map_end(&map);
  return changed;
}
