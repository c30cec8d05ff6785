/* Finished programs: their end of construction, statistics, equality and life. */
#include "ir/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

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

/* ---- Walking operands ---------------------------------------------------------------------- */

/* The operand handles of a statement, which may be 0 where one is left out. */
static uint32_t *stmt_operands(vyre_program *p, ir_stmt *stmt, uint32_t *count) {
  *count = stmt->op == VYRE_STMT_PRINT ? stmt->arg[2] : ir_stmt_arity[stmt->op];
  return stmt->op == VYRE_STMT_PRINT && stmt->arg[2] > 0 ? p->lists.data + stmt->arg[3] : stmt->arg;
}

/* ---- Compaction ---------------------------------------------------------------------------- */

/* Marks what statements reach. Operands have smaller handles than what uses them, so that one sweep down does. */
static void mark_used(vyre_program *p, uint32_t *marks) {
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    uint32_t count, *operands = stmt_operands(p, &p->stmts.data[s], &count);
    for (uint32_t i = 0; i < count; i++) marks[operands[i]] = 1;
  }
  for (uint32_t e = p->exprs.count; e-- > 1;) {
    if (!marks[e]) continue;
    const ir_expr *node = ir_expr_at(p, e);
    for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) marks[node->arg[i]] = 1;
  }
}

/* Moves used expressions together and leaves each one's new handle in |marks|. */
static void move_used(vyre_program *p, uint32_t *marks) {
  uint32_t next = 1;
  marks[0] = 0;
  for (uint32_t e = 1; e < p->exprs.count; e++) {
    if (!marks[e]) continue;
    ir_expr node = *ir_expr_at(p, e);
    for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) node.arg[i] = marks[node.arg[i]];
    p->exprs.data[next] = node;
    marks[e] = next++;
  }
  p->exprs.count = next;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    uint32_t count, *operands = stmt_operands(p, &p->stmts.data[s], &count);
    for (uint32_t i = 0; i < count; i++) operands[i] = marks[operands[i]];
  }
}

/* ---- Statistics and needs ------------------------------------------------------------------ */

/* Counts of an expression as a tree. */
typedef struct tally {
  uint32_t uses, loads, atomics;
} tally;

static uint32_t type_needs(vyre_type type) {
  switch (ir_component(type)) {
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64: return VYRE_NEED_INT64;
    case VYRE_TYPE_F64: return VYRE_NEED_FLOAT64;
    default: return 0;
  }
}

static uint32_t element_needs(vyre_type element) {
  switch (element) {
    case VYRE_TYPE_U8:
    case VYRE_TYPE_I8: return VYRE_NEED_STORAGE8;
    case VYRE_TYPE_U16:
    case VYRE_TYPE_I16: return VYRE_NEED_STORAGE16;
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16: return VYRE_NEED_STORAGE16 | VYRE_NEED_FLOAT16;
    default: return 0;
  }
}

static uint32_t atomic_needs(const vyre_program *p, const ir_expr *e) {
  vyre_type element = (vyre_type)p->buffers.data[e->arg[3]].element;
  uint32_t needs = e->aux == VYRE_ORDER_SEQ_CST ? VYRE_NEED_SEQ_CST : 0;
  if (element == VYRE_TYPE_U64 || element == VYRE_TYPE_I64) needs |= VYRE_NEED_ATOMIC64;
  if (element == VYRE_TYPE_F32) needs |= VYRE_NEED_ATOMIC_F32_ADD;
  if (element == VYRE_TYPE_U32X4) needs |= VYRE_NEED_ATOMIC_LOAD128;
  return needs;
}

static uint32_t expr_needs(const vyre_program *p, const ir_expr *e) {
  /* Moving 64-bit values is no arithmetic; a literal, load or length of that type is used by some. */
  uint32_t needs = type_needs((vyre_type)e->type);
  if (ir_op_effects[e->op] & VYRE_EFFECT_ULP) needs |= VYRE_NEED_ULP;
  if (e->op >= VYRE_OP_SUBGROUP_ADD && e->op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN) needs |= VYRE_NEED_SUBGROUP;
  if (e->op >= VYRE_OP_LANE && e->op <= VYRE_OP_NUM_SUBGROUPS) needs |= VYRE_NEED_SUBGROUP;
  if (e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE) needs |= atomic_needs(p, e);
  if (e->op == VYRE_OP_FMA) needs |= VYRE_NEED_FMA;
  if (e->op == VYRE_OP_CLOCK_NS) needs |= VYRE_NEED_CLOCK;
  if (e->op == VYRE_OP_SHOULD_STOP) needs |= VYRE_NEED_SHOULD_STOP;
  if (e->op == VYRE_OP_CAST && (e->aux == VYRE_TYPE_F16 || e->aux == VYRE_TYPE_BF16)) needs |= VYRE_NEED_FLOAT16;
  return needs;
}

static uint32_t stmt_needs(const ir_stmt *s) {
  switch (s->op) {
    case VYRE_STMT_TRAP: return VYRE_NEED_TRAP;
    case VYRE_STMT_PRINT: return VYRE_NEED_PRINT;
    case VYRE_STMT_COPY_ASYNC: return VYRE_NEED_ASYNC_COPY;
    case VYRE_STMT_FENCE: return s->aux == VYRE_ORDER_SEQ_CST ? VYRE_NEED_SEQ_CST : 0;
    default: return 0;
  }
}

static void count_statement(vyre_program_info *info, const ir_stmt *s) {
  info->stmt_kinds |= 1ull << s->op;
  info->needs |= stmt_needs(s);
  switch (s->op) {
    case VYRE_STMT_REGION: info->region_count++; break;
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER: info->barrier_count++; break;
    case VYRE_STMT_STORE: info->memory_op_count++; break;
    case VYRE_STMT_COPY_ASYNC: info->memory_op_count += 2; break;
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP:
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_RETURN: info->control_flow_count++; break;
    default: break;
  }
}

static void tally_expr(const vyre_program *p, uint32_t e, tally *tallies) {
  const ir_expr *node = ir_expr_at(p, e);
  tally t = { .uses = 1 };
  t.loads = node->op >= VYRE_OP_LOAD && node->op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD;
  t.atomics = node->op >= VYRE_OP_ATOMIC_ADD && node->op <= VYRE_OP_ATOMIC_STORE;
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) {
    const tally *operand = &tallies[node->arg[i]];
    t.uses += operand->uses;
    t.loads += operand->loads;
    t.atomics += operand->atomics;
  }
  tallies[e] = t;
}

/* Grid barriers below an if or a loop need more than those at the top level. |inside| has a zero byte for each
 * statement; owners come before what they own. */
static uint32_t grid_barrier_needs(const vyre_program *p, uint8_t *inside) {
  uint32_t needs = 0;
  for (uint32_t s = 0; s < p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(p, s);
    if (stmt->op == VYRE_STMT_GRID_BARRIER) needs |= inside[s] ? VYRE_NEED_GRID_SYNC : VYRE_NEED_GRID_BARRIER;
    bool conditional = stmt->op == VYRE_STMT_IF || stmt->op == VYRE_STMT_FOR || stmt->op == VYRE_STMT_LOOP;
    uint8_t below = inside[s] || conditional;
    for (uint32_t child = stmt->body; child != 0; child = ir_stmt_at(p, child)->next) inside[child] = below;
    for (uint32_t child = stmt->orelse; child != 0; child = ir_stmt_at(p, child)->next) inside[child] = below;
  }
  return needs;
}

static void describe_memory(const vyre_program *p, vyre_program_info *info) {
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *buffer = &p->buffers.data[i];
    info->needs |= element_needs((vyre_type)buffer->element) | type_needs((vyre_type)buffer->element);
    if (buffer->slot != UINT32_MAX) info->binding_count++;
    bool shared = buffer->access == VYRE_ACCESS_SHARED;
    if (!shared && buffer->access != VYRE_ACCESS_LOCAL) continue;
    uint64_t bytes, *total = shared ? &info->shared_bytes : &info->local_bytes;
    bool fits = vyre_mul_u64(buffer->length, vyre_type_describe((vyre_type)buffer->element)->bytes, &bytes) &&
                vyre_align_u64(bytes, 16, &bytes) && vyre_add_u64(*total, bytes, total);
    if (!fits) *total = UINT64_MAX;
  }
}

/* Nothing is added any more. */
static bool trim(vyre_program *p) {
  return vyre_vector_trim(&p->params) && vyre_vector_trim(&p->buffers) && vyre_vector_trim(&p->vars) &&
         vyre_vector_trim(&p->exprs) && vyre_vector_trim(&p->stmts) && vyre_vector_trim(&p->lists);
}

/* Buffers whose u32 length is taken. */
static void note_lengths(vyre_program *p) {
  for (uint32_t e = 1; e < p->exprs.count; e++)
    if (ir_expr_at(p, e)->op == VYRE_OP_LEN) p->buffers.data[ir_expr_at(p, e)->arg[3]].uses_len32 = 1;
}

static void describe(vyre_program *p, tally *tallies, uint32_t max_live_names) {
  vyre_program_info info = { .name = ir_text(p, p->name),
                             .op_id = ir_text(p, p->op_id),
                             .attributes = p->attributes,
                             .ulp = p->ulp,
                             .subgroup = p->subgroup,
                             .param_count = p->params.count,
                             .buffer_count = p->buffers.count,
                             .statement_count = p->stmts.count - 1,
                             .expr_count = p->exprs.count - 1,
                             .max_live_names = max_live_names };
  memcpy(info.workgroup, p->workgroup, sizeof info.workgroup);
  if (p->attributes & VYRE_PROGRAM_PROGRESS_WORKGROUPS) info.needs |= VYRE_NEED_PROGRESS;
  if (p->subgroup != 0) info.needs |= VYRE_NEED_SUBGROUP;
  for (uint32_t i = 0; i < p->params.count; i++) info.needs |= type_needs((vyre_type)p->params.data[i].type);
  describe_memory(p, &info);
  for (uint32_t e = 1; e < p->exprs.count; e++) {
    tally_expr(p, e, tallies);
    info.needs |= expr_needs(p, ir_expr_at(p, e));
  }
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    count_statement(&info, ir_stmt_at(p, s));
    uint32_t count, *operands = stmt_operands(p, &p->stmts.data[s], &count);
    for (uint32_t i = 0; i < count; i++) {
      info.expr_uses += tallies[operands[i]].uses;
      info.memory_op_count += tallies[operands[i]].loads;
      info.atomic_op_count += tallies[operands[i]].atomics;
    }
  }
  p->info = info;
}

bool ir_program_seal(vyre_program *p, uint32_t max_live_names) {
  uint32_t *marks = calloc(p->exprs.count, sizeof *marks);
  if (marks == NULL) return false;
  mark_used(p, marks);
  move_used(p, marks);
  free(marks);
  note_lengths(p);
  if (!trim(p)) return false;
  tally *tallies = calloc(p->exprs.count, sizeof *tallies);
  if (tallies == NULL) return false;
  describe(p, tallies, max_live_names);
  free(tallies);
  if ((p->info.stmt_kinds >> VYRE_STMT_GRID_BARRIER & 1) == 0) return true;
  uint8_t *inside = calloc(p->stmts.count, 1);
  if (inside == NULL) return false;
  p->info.needs |= grid_barrier_needs(p, inside);
  free(inside);
  return true;
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
