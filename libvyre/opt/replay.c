/* From a unit to a program: everything is built anew through the builder, which checks it as it checks all programs.
 *
 * Variables have numbers in a unit; here they get names that are free where they are declared: their own, or that with
 * a number behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ir/builder.h"
#include "opt/unit.h"

/* No variable, and none that was refused before: the builder tells of it. */
static const vyre_var undeclared = VYRE_NO_VAR - 1;

typedef struct replay {
  const opt_unit *unit;
  const vyre_program *p;
  vyre_builder *b;
  uint32_t *exprs;    /* by expression of the unit: that of the builder, 0 for not yet */
  vyre_var *vars;
  vyre_binding *bindings; /* by binding of the unit: that of the builder */
  uint32_t *suffixes; /* by string: the last number that was put behind it */
  bool out_of_memory;
} replay;

/* ---- Expressions ----------------------------------------------------------------------------- */

static uint32_t build_expr(replay *r, uint32_t e);

static vyre_expr build_memory(replay *r, const ir_expr *n, const uint32_t *x) {
  vyre_op op = n->op;
  if (op == VYRE_OP_LEN || op == VYRE_OP_LEN64) return vyre_build_len(r->b, op, r->bindings[n->arg[3]]);
  if (op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD)
    return vyre_build_load(r->b, op, r->bindings[n->arg[3]], x[0]);
  return vyre_build_atomic(r->b, op, r->bindings[n->arg[3]], x[0], x[1], x[2], (vyre_order)n->aux, (vyre_scope)n->aux2);
}

static vyre_expr build_node_of(replay *r, const ir_expr *n, const uint32_t *x) {
  vyre_op op = n->op;
  switch (op) {
    case VYRE_OP_LIT: return vyre_build_literal(r->b, (vyre_type)n->type, ir_literal_bits(n));
    case VYRE_OP_VAR: return vyre_build_var_value(r->b, r->vars[n->arg[3]]);
    case VYRE_OP_PARAM: return ir_build_param_value(r->b, n->arg[3]);
    case VYRE_OP_CAST: return vyre_build_cast(r->b, (vyre_type)n->aux, x[0]);
    case VYRE_OP_BITCAST: return vyre_build_bitcast(r->b, (vyre_type)n->type, x[0]);
    case VYRE_OP_SPLAT:
    case VYRE_OP_VEC2:
    case VYRE_OP_VEC4: return vyre_build_vector(r->b, (vyre_type)n->type, x, ir_op_arity[op]);
    case VYRE_OP_EXTRACT: return vyre_build_extract(r->b, x[0], n->aux);
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return build_memory(r, n, x);
    default: break;
  }
  if (op < VYRE_OP_LOAD) return vyre_build_leaf(r->b, op, n->aux);
  bool accesses = op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD || (op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE);
  return accesses ? build_memory(r, n, x) : ir_build_operator(r->b, op, x);
}

/* No deeper than expressions are. */
static uint32_t build_expr(replay *r, uint32_t e) {
  if (e == 0) return 0;
  if (r->exprs[e] != 0) return r->exprs[e];
  const ir_expr *n = ir_expr_at(r->p, e);
  uint32_t x[IR_MAX_OPERANDS] = { 0 };
  for (uint32_t i = 0; i < ir_op_arity[n->op]; i++) x[i] = build_expr(r, n->arg[i]);
  return r->exprs[e] = build_node_of(r, n, x);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static uint32_t own_string(replay *r, uint32_t string) {
  const vyre_string *s = &r->p->strings.table.data[string];
  return ir_builder_intern(r->b, s->text, s->bytes);
}

/* A name that is free here, near to that of |var|. */
static uint32_t free_name(replay *r, uint32_t var) {
  uint32_t base = r->p->vars.data[var].name, name = own_string(r, base);
  while (name != UINT32_MAX && ir_builder_find(r->b, name).kind != IR_SYMBOL_NONE) {
    char text[VYRE_MAX_NAME_BYTES + 1];
    int bytes = snprintf(text, sizeof text, "%.240s_%u", ir_text(r->p, base), ++r->suffixes[base] + 1);
    name = ir_builder_intern(r->b, text, (uint32_t)bytes);
  }
  if (name == UINT32_MAX) r->out_of_memory = true;
  return name;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void build_print(replay *r, const ir_stmt *s) {
  uint32_t count = s->arg[2];
  vyre_expr *args = malloc(((size_t)count + 1) * sizeof *args);
  if (args == NULL) {
    r->out_of_memory = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) args[i] = build_expr(r, r->p->lists.data[s->arg[3] + i]);
  ir_build_print(r->b, own_string(r, s->arg[4]), args, count);
  free(args);
}

static void build_stmt(replay *r, const ir_stmt *s) {
  vyre_builder *b = r->b;
  uint32_t x[3] = { 0 };
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) x[i] = build_expr(r, s->arg[i]);
  vyre_build_position(b, s->pos);
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
      r->vars[s->arg[4]] = ir_build_declare(b, (vyre_stmt_op)s->op, free_name(r, s->arg[4]), x[0]);
      break;
    case VYRE_STMT_FOR: r->vars[s->arg[4]] = ir_build_for(b, free_name(r, s->arg[4]), x[0], x[1], x[2]); break;
    case VYRE_STMT_ASSIGN: vyre_build_assign(b, r->vars[s->arg[4]], x[0]); break;
    case VYRE_STMT_STORE: vyre_build_store(b, r->bindings[s->arg[4]], x[0], x[1]); break;
    case VYRE_STMT_EVAL: vyre_build_eval(b, x[0]); break;
    case VYRE_STMT_IF: vyre_build_if(b, x[0]); break;
    case VYRE_STMT_LOOP: vyre_build_loop(b); break;
    case VYRE_STMT_BLOCK: vyre_build_block(b); break;
    case VYRE_STMT_REGION: ir_build_region(b, own_string(r, s->arg[4])); break;
    case VYRE_STMT_FENCE: vyre_build_fence(b, (vyre_order)s->aux, (vyre_scope)s->aux2); break;
    case VYRE_STMT_TRAP: vyre_build_trap(b, x[0]); break;
    case VYRE_STMT_PRINT: build_print(r, s); break;
    case VYRE_STMT_COPY_ASYNC:
      vyre_build_copy_async(b, s->aux != 0, r->bindings[s->arg[3]], x[0], r->bindings[s->arg[4]], x[1], x[2]);
      break;
    case VYRE_STMT_WAIT: vyre_build_wait(b, s->aux); break;
    case VYRE_STMT_PAUSE: vyre_build_pause(b, x[0]); break;
    default: vyre_build_simple(b, (vyre_stmt_op)s->op); break;
  }
}

static void build_statements(replay *r) {
  ir_walk walk = ir_walk_begin(r->p);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END && !r->out_of_memory;) {
    if (event == IR_WALK_STMT) build_stmt(r, ir_stmt_at(r->p, walk.stmt));
    if (event == IR_WALK_ORELSE) vyre_build_else(r->b);
    if (event == IR_WALK_LEAVE) vyre_build_end(r->b);
  }
  if (!ir_walk_finish(&walk)) r->out_of_memory = true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void build_declarations(replay *r) {
  const vyre_program *p = r->p;
  vyre_builder *b = r->b;
  vyre_build_workgroup(b, p->workgroup[0], p->workgroup[1], p->workgroup[2]);
  vyre_build_attributes(b, p->attributes);
  if (p->ulp != VYRE_ULP_UNSET) vyre_build_ulp(b, p->ulp);
  if (p->subgroup != 0) vyre_build_subgroup(b, p->subgroup);
  if (ir_text(p, p->op_id)[0] != 0) ir_build_op(b, own_string(r, p->op_id));
  for (uint32_t i = 0; i < p->params.count; i++)
    ir_build_param(b, own_string(r, p->params.data[i].name), (vyre_type)p->params.data[i].type);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *buffer = &p->buffers.data[i];
    vyre_type element = (vyre_type)buffer->element;
    if (r->unit->dropped != NULL && r->unit->dropped[i]) continue;
    uint32_t name = own_string(r, buffer->name);
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
  replay r = { .unit = u, .p = p };
  vyre_error found = VYRE_ERROR_INIT;
  *out = NULL;
  vyre_status status = vyre_builder_create(name, NULL, &r.b);
  r.exprs = calloc(p->exprs.count, sizeof *r.exprs);
  r.vars = calloc((size_t)p->vars.count + 1, sizeof *r.vars);
  r.bindings = calloc((size_t)p->buffers.count + 1, sizeof *r.bindings);
  r.suffixes = calloc((size_t)p->strings.table.count + 1, sizeof *r.suffixes);
  r.out_of_memory = status != VYRE_OK || r.exprs == NULL || r.vars == NULL || r.bindings == NULL ||
                    r.suffixes == NULL;
  if (!r.out_of_memory) {
    for (uint32_t i = 0; i < p->vars.count; i++) r.vars[i] = undeclared;
    build_declarations(&r);
    build_statements(&r);
  }
  if (r.out_of_memory) status = vyre_fail_memory(error, name);
  else if (vyre_builder_finish(r.b, out, &found) != VYRE_OK) status = explain(&found, error, name);
  vyre_builder_destroy(r.b);
  free(r.exprs);
  free(r.vars);
  free(r.bindings);
  free(r.suffixes);
  return status;
}
