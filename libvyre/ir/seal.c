/* The end of a program's construction: what no statement uses is dropped, and what can be asked is derived. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ir/program.h"

typedef struct census {
  vyre_program *p;
  uint32_t *uses;                  /* of each expression: how often it is evaluated, as written */
  uint32_t used;                   /* expressions that are at all */
  uint32_t evaluated[VYRE_OP_COUNT]; /* the same of each operator */
  uint32_t types;                  /* bits of the types of all values */
  uint32_t needs;                  /* of expressions */
} census;

_Static_assert(VYRE_TYPE_COUNT <= 32, "types fit a word");

/* The operand handles of a statement, which may be 0 where one is left out. */
static uint32_t *stmt_operands(vyre_program *p, ir_stmt *stmt, uint32_t *count) {
  *count = stmt->op == VYRE_STMT_PRINT ? stmt->arg[2] : ir_stmt_arity[stmt->op];
  return stmt->op == VYRE_STMT_PRINT && stmt->arg[2] > 0 ? p->lists.data + stmt->arg[3] : stmt->arg;
}

/* ---- Needs --------------------------------------------------------------------------------- */

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

/* What the operators need that occur, whatever they are applied to. */
static uint32_t op_needs(const uint32_t *evaluated) {
  uint32_t needs = 0;
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) {
    if (evaluated[op] == 0) continue;
    if (ir_op_effects[op] & VYRE_EFFECT_ULP) needs |= VYRE_NEED_ULP;
    if (op >= VYRE_OP_SUBGROUP_ADD && op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN) needs |= VYRE_NEED_SUBGROUP;
    if (op >= VYRE_OP_LANE && op <= VYRE_OP_NUM_SUBGROUPS) needs |= VYRE_NEED_SUBGROUP;
    if (op == VYRE_OP_FMA) needs |= VYRE_NEED_FMA;
    if (op == VYRE_OP_CLOCK_NS) needs |= VYRE_NEED_CLOCK;
    if (op == VYRE_OP_SHOULD_STOP) needs |= VYRE_NEED_SHOULD_STOP;
  }
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

/* ---- Expressions --------------------------------------------------------------------------- */

/* What the operator alone does not say of an expression. */
static void look_closer(census *c, const ir_expr *e) {
  switch (e->op) {
    case VYRE_OP_LEN: c->p->buffers.data[e->arg[3]].uses_len32 = 1; break;
    case VYRE_OP_CAST:
      if (e->aux == VYRE_TYPE_F16 || e->aux == VYRE_TYPE_BF16) c->needs |= VYRE_NEED_FLOAT16;
      break;
    default:
      if (e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE) c->needs |= atomic_needs(c->p, e);
      break;
  }
}

/* Counts every evaluation. Operands have smaller handles than what uses them, so that one sweep down does. No count
 * overflows: the builder has refused what is evaluated more often than a wire form has bytes. */
static void count_expressions(census *c) {
  vyre_program *p = c->p;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    uint32_t count, *operands = stmt_operands(p, &p->stmts.data[s], &count);
    for (uint32_t i = 0; i < count; i++) c->uses[operands[i]]++;
  }
  uint32_t used = 0, types = 0, *all = c->uses; /* in registers */
  for (uint32_t e = p->exprs.count; e-- > 1;) {
    uint32_t uses = all[e];
    if (uses == 0) continue;
    const ir_expr *node = ir_expr_at(p, e);
    used++;
    types |= 1u << node->type;
    c->evaluated[node->op] += uses;
    for (uint32_t i = 0, arity = ir_op_arity[node->op]; i < arity; i++) all[node->arg[i]] += uses;
    look_closer(c, node);
  }
  c->used = used;
  c->types = types;
}

/* Moves used expressions together and leaves each one's new handle in |marks|, which is not 0 for those. */
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

/* Nothing is added any more. */
static bool trim(vyre_program *p) {
  return vyre_vector_trim(&p->params) && vyre_vector_trim(&p->buffers) && vyre_vector_trim(&p->vars) &&
         vyre_vector_trim(&p->exprs) && vyre_vector_trim(&p->stmts) && vyre_vector_trim(&p->lists);
}

/* ---- The whole ----------------------------------------------------------------------------- */

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

static void describe(const census *c, uint32_t max_live_names) {
  vyre_program *p = c->p;
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
  info.needs = c->needs | op_needs(c->evaluated);
  if (p->attributes & VYRE_PROGRAM_PROGRESS_WORKGROUPS) info.needs |= VYRE_NEED_PROGRESS;
  if (p->subgroup != 0) info.needs |= VYRE_NEED_SUBGROUP;
  for (uint32_t i = 0; i < p->params.count; i++) info.needs |= type_needs((vyre_type)p->params.data[i].type);
  for (vyre_type type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++)
    if (c->types >> type & 1) info.needs |= type_needs(type);
  describe_memory(p, &info);
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) {
    info.expr_uses += c->evaluated[op];
    if (op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD) info.memory_op_count += c->evaluated[op];
    if (op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE) info.atomic_op_count += c->evaluated[op];
    if (c->evaluated[op] != 0) p->op_kinds[op / 64] |= 1ull << op % 64;
  }
  for (uint32_t s = 1; s < p->stmts.count; s++) count_statement(&info, ir_stmt_at(p, s));
  p->info = info;
}

bool ir_program_seal(vyre_program *p, uint32_t max_live_names) {
  census c = { .p = p, .uses = calloc(p->exprs.count, sizeof *c.uses) };
  if (c.uses == NULL) return false;
  count_expressions(&c);
  if (c.used < p->exprs.count - 1) move_used(p, c.uses);
  free(c.uses);
  if (!trim(p)) return false;
  describe(&c, max_live_names);
  if ((p->info.stmt_kinds >> VYRE_STMT_GRID_BARRIER & 1) == 0) return true;
  uint8_t *inside = calloc(p->stmts.count, 1);
  if (inside == NULL) return false;
  p->info.needs |= grid_barrier_needs(p, inside);
  free(inside);
  return true;
}
