/* From a unit to a program: everything is built anew through the builder (ir/rebuild.h). */
#include <string.h>

#include "base/error.h"
#include "ir/rebuild.h"
#include "opt/unit.h"

static void build_statements(ir_rebuild *r) {
  ir_walk walk = ir_walk_begin(r->p);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END && !r->out_of_memory;) {
    if (event == IR_WALK_STMT) ir_rebuild_stmt(r, ir_stmt_at(r->p, walk.stmt));
    if (event == IR_WALK_ORELSE) vyre_build_else(r->b);
    if (event == IR_WALK_LEAVE) vyre_build_end(r->b);
  }
  if (!ir_walk_finish(&walk)) r->out_of_memory = true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void build_declarations(ir_rebuild *r, const opt_unit *unit) {
  const vyre_program *p = r->p;
  vyre_builder *b = r->b;
  vyre_build_workgroup(b, p->workgroup[0], p->workgroup[1], p->workgroup[2]);
  vyre_build_attributes(b, p->attributes);
  if (p->ulp != VYRE_ULP_UNSET) vyre_build_ulp(b, p->ulp);
  if (p->subgroup != 0) vyre_build_subgroup(b, p->subgroup);
  if (ir_text(p, p->op_id)[0] != 0) ir_build_op(b, ir_rebuild_string(r, p->op_id));
  for (uint32_t i = 0; i < p->params.count; i++)
    ir_build_param(b, ir_rebuild_string(r, p->params.data[i].name), (vyre_type)p->params.data[i].type);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *buffer = &p->buffers.data[i];
    vyre_type element = (vyre_type)buffer->element;
    if (unit->dropped != NULL && unit->dropped[i]) continue;
    uint32_t name = ir_rebuild_string(r, buffer->name);
    bool table = buffer->access == VYRE_ACCESS_TABLE;
    r->bindings[i] = table ? ir_build_table(b, name, element, buffer->data, buffer->length)
                           : ir_build_buffer(b, (vyre_access)buffer->access, name, element, buffer->length);
  }
}

/* What the builder found. A limit of programs is one that a pass could not see; all else is a pass's fault. */
static vyre_status explain(const vyre_error *found, vyre_error *error, const char *name) {
  static const vyre_code limits[] = { VYRE_V18, VYRE_V19, VYRE_V33, VYRE_V143 };
  if (found->status != VYRE_ERR_INVALID_PROGRAM) return vyre_fail(error, found->status, name, "%s", found->text);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    const char *code = vyre_code_name(limits[i]);
    if (strncmp(found->text, code, strlen(code)) == 0 && found->text[strlen(code)] == ':')
      return vyre_fail(error, VYRE_ERR_LIMIT, name, "The optimized program passes a limit. %s", found->text);
  }
  return vyre_fail(error, VYRE_ERR_INTERNAL, name,
                   "The optimizer made an invalid program. %s Fix: report this; level 0 leaves programs as they are.",
                   found->text);
}

vyre_status opt_unit_program(opt_unit *u, vyre_program **out, vyre_error *error) {
  const vyre_program *p = u->program;
  const char *name = ir_text(p, p->name);
  vyre_builder *b;
  ir_rebuild r;
  vyre_error found = VYRE_ERROR_INIT;
  *out = NULL;
  vyre_status status = vyre_builder_create(name, NULL, &b);
  ir_rebuild_begin(&r, p, b);
  if (!r.out_of_memory) {
    build_declarations(&r, u);
    build_statements(&r);
  }
  if (r.out_of_memory) status = vyre_fail_memory(error, name);
  else if (vyre_builder_finish(b, out, &found) != VYRE_OK) status = explain(&found, error, name);
  vyre_builder_destroy(b);
  ir_rebuild_end(&r);
  return status;
}
