/* Finished programs: life, what can be asked of them, equality. */
#include "ir/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life ---------------------------------------------------------------------------------- */

void ir_program_free(vyre_program *p) {
  if (p == NULL) return;
  vyre_strings_free(&p->strings);
  vyre_vector_free(&p->params);
  vyre_vector_free(&p->buffers);
  vyre_vector_free(&p->vars);
  vyre_vector_free(&p->exprs);
  vyre_vector_free(&p->stmts);
  vyre_vector_free(&p->lists);
  free(p);
}

vyre_program *vyre_program_retain(vyre_program *program) {
  __atomic_fetch_add(&program->references, 1, __ATOMIC_RELAXED);
  return program;
}

void vyre_program_release(vyre_program *program) {
  if (program != NULL && __atomic_fetch_sub(&program->references, 1, __ATOMIC_ACQ_REL) == 1) ir_program_free(program);
}

/* ---- What can be asked --------------------------------------------------------------------- */

void vyre_program_describe(const vyre_program *program, vyre_program_info *out) { *out = program->info; }

const uint8_t *vyre_program_fingerprint(const vyre_program *program) { return program->fingerprint; }

bool vyre_program_param(const vyre_program *program, uint32_t index, vyre_param_info *out) {
  if (index >= program->params.count) return false;
  const ir_param *param = &program->params.data[index];
  *out = (vyre_param_info){ ir_text(program, param->name), (vyre_type)param->type };
  return true;
}

bool vyre_program_buffer(const vyre_program *program, uint32_t index, vyre_buffer_info *out) {
  if (index >= program->buffers.count) return false;
  const ir_buffer *buffer = &program->buffers.data[index];
  *out = (vyre_buffer_info){ .name = ir_text(program, buffer->name),
                             .access = (vyre_access)buffer->access,
                             .element = (vyre_type)buffer->element,
                             .length = buffer->length,
                             .slot = buffer->slot,
                             .uses_len32 = buffer->uses_len32 };
  return true;
}

bool vyre_program_slot(const vyre_program *program, uint32_t slot, vyre_buffer_info *out) {
  if (slot == UINT32_MAX) return false;
  for (uint32_t i = 0; i < program->buffers.count; i++)
    if (program->buffers.data[i].slot == slot) return vyre_program_buffer(program, i, out);
  return false;
}

vyre_status vyre_program_validate(const vyre_program *program, vyre_diagnostics *diagnostics, vyre_error *error) {
  return ir_validate(program, diagnostics, error);
}

/* ---- Equality ------------------------------------------------------------------------------ */

static bool same_text(const vyre_program *a, uint32_t x, const vyre_program *b, uint32_t y) {
  const vyre_string *s = &a->strings.table.data[x], *t = &b->strings.table.data[y];
  return s->bytes == t->bytes && memcmp(s->text, t->text, s->bytes) == 0;
}

static bool same_declarations(const vyre_program *a, const vyre_program *b) {
  if (a->params.count != b->params.count || a->buffers.count != b->buffers.count || a->vars.count != b->vars.count)
    return false;
  for (uint32_t i = 0; i < a->params.count; i++) {
    const ir_param *x = &a->params.data[i], *y = &b->params.data[i];
    if (x->type != y->type || !same_text(a, x->name, b, y->name)) return false;
  }
  for (uint32_t i = 0; i < a->vars.count; i++) {
    const ir_var *x = &a->vars.data[i], *y = &b->vars.data[i];
    if (x->type != y->type || x->kind != y->kind || !same_text(a, x->name, b, y->name)) return false;
  }
  for (uint32_t i = 0; i < a->buffers.count; i++) {
    const ir_buffer *x = &a->buffers.data[i], *y = &b->buffers.data[i];
    if (x->access != y->access || x->element != y->element || x->length != y->length) return false;
    if (!same_text(a, x->name, b, y->name)) return false;
    size_t bytes = (size_t)(x->length * vyre_type_describe((vyre_type)x->element)->bytes);
    if (x->data != NULL && memcmp(x->data, y->data, bytes) != 0) return false;
  }
  return true;
}

/* One expression of a program as the other numbers it: equal nodes whose operands correspond. */
static bool same_expr(const vyre_program *a, uint32_t x, const vyre_program *b, uint32_t y, const uint32_t *map) {
  ir_expr node = *ir_expr_at(a, x);
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) node.arg[i] = map[node.arg[i]];
  return memcmp(&node, ir_expr_at(b, y), sizeof node) == 0;
}

/* Pools may be in different orders, so handles of |a| are mapped to those of |b| from the operands up: the
 * correspondence of a statement's operands fixes that of all below. */
static bool match_expr(const vyre_program *a, uint32_t x, const vyre_program *b, uint32_t y, uint32_t *map) {
  struct { uint32_t x, y, operand; } path[VYRE_MAX_EXPR_DEPTH + 1];
  uint32_t depth = 0;
  if (x == 0 || y == 0) return x == y;
  path[depth].x = x, path[depth].y = y, path[depth].operand = 0;
  for (;;) {
    uint32_t at = path[depth].x, other = path[depth].y;
    const ir_expr *node = ir_expr_at(a, at), *mirror = ir_expr_at(b, other);
    if (map[at] != 0 && map[at] != other) return false;
    bool known = map[at] != 0;
    if (!known && node->op != mirror->op) return false;
    if (!known && path[depth].operand < ir_op_arity[node->op]) {
      uint32_t i = path[depth].operand++;
      if (++depth > VYRE_MAX_EXPR_DEPTH) return false;
      path[depth].x = node->arg[i], path[depth].y = mirror->arg[i], path[depth].operand = 0;
      continue;
    }
    if (!known && !same_expr(a, at, b, other, map)) return false;
    map[at] = other;
    if (depth-- == 0) return true;
  }
}

static bool same_statement(const vyre_program *a, const vyre_program *b, uint32_t s, uint32_t *map) {
  ir_stmt x = *ir_stmt_at(a, s), y = *ir_stmt_at(b, s);
  if (x.op != y.op || x.aux != y.aux || x.aux2 != y.aux2) return false;
  if (x.next != y.next || x.body != y.body || x.orelse != y.orelse) return false;
  bool print = x.op == VYRE_STMT_PRINT, named = print || x.op == VYRE_STMT_REGION;
  if (named && !same_text(a, x.arg[4], b, y.arg[4])) return false;
  if (print && x.arg[2] != y.arg[2]) return false;
  uint32_t count = print ? x.arg[2] : ir_stmt_arity[x.op];
  const uint32_t *left = print && count > 0 ? a->lists.data + x.arg[3] : x.arg;
  const uint32_t *right = print && count > 0 ? b->lists.data + y.arg[3] : y.arg;
  for (uint32_t i = 0; i < count; i++)
    if (!match_expr(a, left[i], b, right[i], map)) return false;
  return named || (x.arg[3] == y.arg[3] && x.arg[4] == y.arg[4]);
}

bool vyre_program_equal(const vyre_program *a, const vyre_program *b) {
  if (a == b) return true;
  if (memcmp(a->workgroup, b->workgroup, sizeof a->workgroup) != 0) return false;
  if (a->attributes != b->attributes || a->ulp != b->ulp || a->subgroup != b->subgroup) return false;
  if (!same_text(a, a->name, b, b->name) || !same_text(a, a->op_id, b, b->op_id)) return false;
  if (a->stmts.count != b->stmts.count || a->exprs.count != b->exprs.count || ir_entry(a) != ir_entry(b)) return false;
  if (!same_declarations(a, b)) return false;
  uint32_t *map = calloc(a->exprs.count, sizeof *map);
  bool same = map != NULL;
  for (uint32_t s = 1; same && s < a->stmts.count; s++) same = same_statement(a, b, s, map);
  free(map);
  return same;
}
