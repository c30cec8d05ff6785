/* Every part of a program has one call of the builder that makes it. */
#include "ir/rebuild.h"

#include <stdio.h>
#include <stdlib.h>

/* No variable, and none that was refused before: the builder tells of it. */
static const vyre_var undeclared = VYRE_NO_VAR - 1;

/* ---- Expressions ----------------------------------------------------------------------------- */

static vyre_expr build_memory(ir_rebuild *r, const ir_expr *n, const uint32_t *x) {
  vyre_op op = n->op;
  if (op == VYRE_OP_LEN || op == VYRE_OP_LEN64) return vyre_build_len(r->b, op, r->bindings[n->arg[3]]);
  if (op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD)
    return vyre_build_load(r->b, op, r->bindings[n->arg[3]], x[0]);
  return vyre_build_atomic(r->b, op, r->bindings[n->arg[3]], x[0], x[1], x[2], (vyre_order)n->aux, (vyre_scope)n->aux2);
}

static vyre_expr build_node_of(ir_rebuild *r, const ir_expr *n, const uint32_t *x) {
  vyre_op op = n->op;
  switch (op) {
    case VYRE_OP_LIT: return vyre_build_literal(r->b, (vyre_type)n->type, ir_literal_bits(n));
    case VYRE_OP_VAR: return vyre_build_var_value(r->b, r->vars[n->arg[3]]);
    case VYRE_OP_PARAM: return ir_build_param_value(r->b, r->params[n->arg[3]]);
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
vyre_expr ir_rebuild_expr(ir_rebuild *r, uint32_t e) {
  if (e == 0 || r->out_of_memory) return 0;
  if (r->exprs[e] != 0) return r->exprs[e];
  const ir_expr *n = ir_expr_at(r->p, e);
  uint32_t x[IR_MAX_OPERANDS] = { 0 };
  for (uint32_t i = 0; i < ir_op_arity[n->op]; i++) x[i] = ir_rebuild_expr(r, n->arg[i]);
  return r->exprs[e] = build_node_of(r, n, x);
}

/* ---- Names ----------------------------------------------------------------------------------- */

uint32_t ir_rebuild_string(ir_rebuild *r, uint32_t string) {
  const vyre_string *s = &r->p->strings.table.data[string];
  return ir_builder_intern(r->b, s->text, s->bytes);
}

uint32_t ir_rebuild_free_name(ir_rebuild *r, uint32_t base, uint32_t *number) {
  uint32_t name = base;
  while (name != UINT32_MAX && ir_builder_find(r->b, name).kind != IR_SYMBOL_NONE) {
    char text[VYRE_MAX_NAME_BYTES + 1];
    int bytes = snprintf(text, sizeof text, "%.240s_%u", ir_builder_text(r->b, base), ++*number + 1);
    name = ir_builder_intern(r->b, text, (uint32_t)bytes);
  }
  if (name == UINT32_MAX) r->out_of_memory = true;
  return name;
}

static uint32_t name_of(ir_rebuild *r, uint32_t var) {
  uint32_t own = r->p->vars.data[var].name, base = ir_rebuild_string(r, own);
  if (r->suffix[0] != 0) {
    char text[VYRE_MAX_NAME_BYTES + 1];
    int bytes = snprintf(text, sizeof text, "%.230s%.10s", ir_text(r->p, own), r->suffix);
    base = ir_builder_intern(r->b, text, (uint32_t)bytes);
  }
  return ir_rebuild_free_name(r, base, &r->numbers[own]);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void build_print(ir_rebuild *r, const ir_stmt *s) {
  uint32_t count = s->arg[2];
  vyre_expr *args = malloc(((size_t)count + 1) * sizeof *args);
  if (args == NULL) {
    r->out_of_memory = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) args[i] = ir_rebuild_expr(r, r->p->lists.data[s->arg[3] + i]);
  ir_build_print(r->b, ir_rebuild_string(r, s->arg[4]), args, count);
  free(args);
}

void ir_rebuild_stmt(ir_rebuild *r, const ir_stmt *s) {
  if (r->out_of_memory) return;
  vyre_builder *b = r->b;
  uint32_t x[3] = { 0 };
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) x[i] = ir_rebuild_expr(r, s->arg[i]);
  vyre_build_position(b, r->is_placeless ? VYRE_NO_POSITION : s->pos);
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
      r->vars[s->arg[4]] = ir_build_declare(b, (vyre_stmt_op)s->op, name_of(r, s->arg[4]), x[0]);
      break;
    case VYRE_STMT_FOR: r->vars[s->arg[4]] = ir_build_for(b, name_of(r, s->arg[4]), x[0], x[1], x[2]); break;
    case VYRE_STMT_ASSIGN: vyre_build_assign(b, r->vars[s->arg[4]], x[0]); break;
    case VYRE_STMT_STORE: vyre_build_store(b, r->bindings[s->arg[4]], x[0], x[1]); break;
    case VYRE_STMT_EVAL: vyre_build_eval(b, x[0]); break;
    case VYRE_STMT_IF: vyre_build_if(b, x[0]); break;
    case VYRE_STMT_LOOP: vyre_build_loop(b); break;
    case VYRE_STMT_BLOCK: vyre_build_block(b); break;
    case VYRE_STMT_REGION: ir_build_region(b, ir_rebuild_string(r, s->arg[4])); break;
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

/* ---- The whole ------------------------------------------------------------------------------- */

void ir_rebuild_begin(ir_rebuild *r, const vyre_program *p, vyre_builder *b) {
  *r = (ir_rebuild){ .p = p, .b = b, .suffix = "" };
  r->exprs = calloc(p->exprs.count, sizeof *r->exprs);
  r->vars = calloc((size_t)p->vars.count + 1, sizeof *r->vars);
  r->bindings = calloc((size_t)p->buffers.count + 1, sizeof *r->bindings);
  r->params = calloc((size_t)p->params.count + 1, sizeof *r->params);
  r->numbers = calloc((size_t)p->strings.table.count + 1, sizeof *r->numbers);
  r->out_of_memory = b == NULL || r->exprs == NULL || r->vars == NULL || r->bindings == NULL || r->params == NULL ||
                     r->numbers == NULL;
  if (r->out_of_memory) return;
  for (uint32_t i = 0; i < p->vars.count; i++) r->vars[i] = undeclared;
  for (uint32_t i = 0; i < p->params.count; i++) r->params[i] = i;
}

void ir_rebuild_end(ir_rebuild *r) {
  free(r->exprs);
  free(r->vars);
  free(r->bindings);
  free(r->params);
  free(r->numbers);
}
