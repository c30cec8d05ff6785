/* One walk over the program, with what the current basic block has evaluated and written so far. */
#include "kernels/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plugins/cpu_ref/ops.h"
#include "base/writer.h"
#include "ir/text_print.h"
#include "ir/walk.h"

/* A literal, or what literals give. */
typedef struct known_value {
  bool is_known;
  uint64_t bits;
} known_value;

typedef struct lint {
  const vyre_program *program;
  kernel_lint_report report;
  void *context;
  uint32_t count;
  known_value *values; /* by expression */
  uint64_t *vars;      /* by expression: bits of the vars that it reads */
  uint64_t *buffers;   /* by expression: bits of the buffers that it loads from and that may change */
  uint64_t *effects;   /* by expression: not 0 if evaluating it does more than give a value */
  uint32_t *written;   /* by variable: the statement that gave it a value which nobody has read yet, or 0 */
  uint32_t *stored;    /* by buffer: the same for the last store */
  bool *evaluated;     /* by expression: in this block, and unchanged since */
  VYRE_VECTOR(uint32_t) block; /* those */
  uint32_t stmt;
  bool failed;
} lint;

/* ---- Reports ---- */

static void find_at(lint *l, uint32_t stmt, const char *what, const char *text) {
  char finding[256];
  snprintf(finding, sizeof finding, "%s: %s", what, text);
  l->report(l->context, ir_stmt_at(l->program, stmt)->pos, finding);
  l->count++;
}

static void find_expr(lint *l, uint32_t e, const char *what) {
  vyre_writer w = {0};
  text_print_expr(&w, l->program, e, VYRE_TYPE_NONE);
  char *text = vyre_writer_take(&w);
  if (text != NULL) find_at(l, l->stmt, what, text);
  l->failed |= text == NULL;
  free(text);
}

/* ---- Literals ---- */

static bool is_scalar(const ir_expr *x) {
  return ir_type_at((vyre_type)x->type)->lanes == 1;
}

/* What an operator gives for operands that are known, by the oracle's function for it. */
static known_value fold(const lint *l, const ir_expr *x) {
  known_value operands[IR_MAX_OPERANDS] = {{0}};
  if (x->op == VYRE_OP_LIT) return (known_value){true, ir_literal_bits(x)};
  uint32_t arity = ir_op_arity[x->op];
  if (arity == 0 || arity > 3 || !is_scalar(x) || ir_op_effects[x->op] != 0) return (known_value){0};
  for (uint32_t i = 0; i < arity; i++) {
    operands[i] = l->values[x->arg[i]];
    if (!operands[i].is_known) return (known_value){0};
  }
  vyre_type of = (vyre_type)ir_expr_at(l->program, x->arg[0])->type;
  if (!is_scalar(ir_expr_at(l->program, x->arg[0]))) return (known_value){0};
  if (x->op == VYRE_OP_BITCAST) return operands[0];
  if (x->op == VYRE_OP_SELECT) return operands[operands[0].bits != 0 ? 1 : 2];
  cpu_op function = x->op == VYRE_OP_CAST ? cpu_cast_find(of, (vyre_type)x->aux) : cpu_op_find((vyre_op)x->op, of);
  if (function == NULL) return (known_value){0};
  return (known_value){true, function(operands[0].bits, operands[1].bits, operands[2].bits)};
}

/* ---- Operations that do nothing ---- */

typedef enum operand_side { LEFT = 1, RIGHT = 2, EITHER = 3, BOTH = 4 } operand_side;
typedef enum operand_value { ZERO, ONE, ALL_ONES, EQUAL } operand_value;

/* An operator whose left, right or either operand is a value that makes it needless; or both are equal. */
static const struct identity {
  vyre_op op;
  operand_side side;
  operand_value value;
} identities[] = {
    {VYRE_OP_ADD, EITHER, ZERO},        {VYRE_OP_SUB, RIGHT, ZERO},         {VYRE_OP_SUB, BOTH, EQUAL},
    {VYRE_OP_MUL, EITHER, ZERO},        {VYRE_OP_MUL, EITHER, ONE},         {VYRE_OP_DIV, RIGHT, ONE},
    {VYRE_OP_DIV, BOTH, EQUAL},         {VYRE_OP_MOD, RIGHT, ONE},          {VYRE_OP_MOD, BOTH, EQUAL},
    {VYRE_OP_BITAND, EITHER, ZERO},     {VYRE_OP_BITAND, EITHER, ALL_ONES}, {VYRE_OP_BITAND, BOTH, EQUAL},
    {VYRE_OP_BITOR, EITHER, ZERO},      {VYRE_OP_BITOR, EITHER, ALL_ONES},  {VYRE_OP_BITOR, BOTH, EQUAL},
    {VYRE_OP_BITXOR, EITHER, ZERO},     {VYRE_OP_BITXOR, BOTH, EQUAL},      {VYRE_OP_SHL, EITHER, ZERO},
    {VYRE_OP_SHR, EITHER, ZERO},        {VYRE_OP_ROTL, RIGHT, ZERO},        {VYRE_OP_ROTR, RIGHT, ZERO},
    {VYRE_OP_MIN, BOTH, EQUAL},         {VYRE_OP_MAX, BOTH, EQUAL},         {VYRE_OP_LAND, EITHER, ZERO},
    {VYRE_OP_LAND, EITHER, ONE},        {VYRE_OP_LAND, BOTH, EQUAL},        {VYRE_OP_LOR, EITHER, ZERO},
    {VYRE_OP_LOR, EITHER, ONE},         {VYRE_OP_LOR, BOTH, EQUAL},         {VYRE_OP_EQ, BOTH, EQUAL},
    {VYRE_OP_NE, BOTH, EQUAL},          {VYRE_OP_LT, BOTH, EQUAL},          {VYRE_OP_LE, BOTH, EQUAL},
    {VYRE_OP_GT, BOTH, EQUAL},          {VYRE_OP_GE, BOTH, EQUAL},          {VYRE_OP_ABSDIFF, BOTH, EQUAL},
    {VYRE_OP_ABSDIFF, EITHER, ZERO},    {VYRE_OP_SAT_ADD, EITHER, ZERO},    {VYRE_OP_SAT_SUB, RIGHT, ZERO},
    {VYRE_OP_SAT_MUL, EITHER, ONE},     {VYRE_OP_SAT_MUL, EITHER, ZERO},    {VYRE_OP_FMA, EITHER, ONE},
    {VYRE_OP_FMA, EITHER, ZERO},
};

static uint64_t one_of(vyre_type type) {
  return type == VYRE_TYPE_F32 ? 0x3F800000 : type == VYRE_TYPE_F64 ? 0x3FF0000000000000u : 1;
}

static bool has_value(const lint *l, uint32_t e, operand_value wanted) {
  vyre_type type = (vyre_type)ir_expr_at(l->program, e)->type;
  known_value v = l->values[e];
  if (!v.is_known) return false;
  switch (wanted) {
    case ZERO: return v.bits == 0;
    case ONE: return v.bits == one_of(type);
    default: return v.bits == (ir_type_at(type)->bytes == 8 ? UINT64_MAX : UINT32_MAX);
  }
}

static bool is_identity(const lint *l, const ir_expr *x) {
  for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
    const struct identity *row = &identities[i];
    if (row->op != x->op) continue;
    if (row->side == BOTH && x->arg[0] == x->arg[1]) return true;
    if ((row->side & LEFT) != 0 && has_value(l, x->arg[0], row->value)) return true;
    if ((row->side & RIGHT) != 0 && has_value(l, x->arg[1], row->value)) return true;
  }
  return false;
}

/* A prefix operator before itself, a conversion to the type that it has, a choice that is none. */
static bool is_needless(const lint *l, const ir_expr *x) {
  const ir_expr *operand = ir_expr_at(l->program, x->arg[0]);
  switch (x->op) {
    case VYRE_OP_NEG:
    case VYRE_OP_BITNOT:
    case VYRE_OP_LNOT: return operand->op == x->op;
    case VYRE_OP_CAST: return x->aux == operand->type;
    case VYRE_OP_BITCAST: return x->type == operand->type;
    case VYRE_OP_SELECT: return l->values[x->arg[0]].is_known || x->arg[1] == x->arg[2];
    default: return is_identity(l, x);
  }
}

/* ---- What has been evaluated ---- */

static uint64_t bit_of(uint32_t number) {
  return (uint64_t)1 << number % 64;
}

static uint64_t vars_of(const void *context, const ir_expr *x) {
  const vyre_program *p = context;
  return x->op == VYRE_OP_VAR && p->vars.data[x->arg[3]].kind == VYRE_STMT_VAR ? bit_of(x->arg[3]) : 0;
}

static bool accesses(const ir_expr *x) {
  return x->op == VYRE_OP_LOAD || x->op == VYRE_OP_GRID_UNIFORM_LOAD || x->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD ||
         (x->op >= VYRE_OP_ATOMIC_ADD && x->op <= VYRE_OP_ATOMIC_STORE);
}

static uint64_t buffers_of(const void *context, const ir_expr *x) {
  const vyre_program *p = context;
  if (!accesses(x)) return 0;
  uint8_t access = p->buffers.data[x->arg[3]].access;
  return access == VYRE_ACCESS_READ || access == VYRE_ACCESS_TABLE ? 0 : bit_of(x->arg[3]);
}

static uint64_t effects_of(const void *context, const ir_expr *x) {
  (void)context;
  return (ir_op_effects[x->op] & (VYRE_EFFECT_EFFECT | VYRE_EFFECT_CONVERGENT)) != 0 || x->op == VYRE_OP_CLOCK_NS;
}

/* Forgets what reads one of these variables or buffers. */
static void forget(lint *l, uint64_t vars, uint64_t buffers) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < l->block.count; i++) {
    uint32_t e = l->block.data[i];
    bool changes = (l->vars[e] & vars) != 0 || (l->buffers[e] & buffers) != 0;
    if (changes) l->evaluated[e] = false;
    else l->block.data[kept++] = e;
  }
  l->block.count = kept;
}

/* A basic block ends: what was written may be read elsewhere. */
static void end_block(lint *l) {
  for (uint32_t i = 0; i < l->block.count; i++) l->evaluated[l->block.data[i]] = false;
  l->block.count = 0;
  memset(l->written, 0, (l->program->vars.count + 1) * sizeof *l->written);
  memset(l->stored, 0, (l->program->buffers.count + 1) * sizeof *l->stored);
}

/* All memory may have changed, and may have been read. */
static void meet(lint *l) {
  forget(l, 0, UINT64_MAX);
  memset(l->stored, 0, (l->program->buffers.count + 1) * sizeof *l->stored);
}

static bool is_a_name(const lint *l, const ir_expr *x) {
  return ir_op_arity[x->op] == 0 || (x->op == VYRE_OP_EXTRACT && is_a_name(l, ir_expr_at(l->program, x->arg[0])));
}

/* Nothing below an expression that was evaluated already is looked at, so that no expression is entered more often
 * than the block has places for it. Its depth is limited by the language. */
static void evaluate(lint *l, uint32_t e) {
  const ir_expr *x = ir_expr_at(l->program, e);
  if (x->op == VYRE_OP_VAR) l->written[x->arg[3]] = 0;
  if (l->values[e].is_known) return;
  if (l->evaluated[e]) {
    find_expr(l, e, "evaluated again");
    return;
  }
  for (uint32_t i = 0; i < ir_op_arity[x->op]; i++) evaluate(l, x->arg[i]);
  if (is_needless(l, x)) find_expr(l, e, "does nothing");
  if (accesses(x)) l->stored[x->arg[3]] = 0;
  if (effects_of(NULL, x) != 0) meet(l);
  if (is_a_name(l, x) || l->effects[e] != 0) return;
  l->evaluated[e] = true;
  l->failed |= !vyre_vector_push(&l->block, e);
}

/* ---- Statements ---- */

/* The parser's own names, such as that of a function's result, which is 0 until the function ends. */
static bool is_hidden(const lint *l, uint32_t var) {
  return strncmp(ir_text(l->program, l->program->vars.data[var].name), "__", 2) == 0;
}

static void write_variable(lint *l, uint32_t var) {
  if (l->written[var] != 0 && !is_hidden(l, var))
    find_at(l, l->written[var], "overwritten unread", ir_text(l->program, l->program->vars.data[var].name));
  l->written[var] = l->stmt;
  forget(l, bit_of(var), 0);
}

static void write_buffer(lint *l, const ir_stmt *s) {
  uint32_t binding = s->arg[4], before = l->stored[binding];
  if (before != 0 && ir_stmt_at(l->program, before)->arg[0] == s->arg[0])
    find_at(l, before, "overwritten unread", ir_text(l->program, l->program->buffers.data[binding].name));
  l->stored[binding] = l->stmt;
  forget(l, 0, bit_of(binding));
}

/* An index that reads a variable is another one once that has changed. */
static void forget_stores(lint *l, uint32_t var) {
  for (uint32_t i = 0; i < l->program->buffers.count; i++) {
    uint32_t stored = l->stored[i];
    if (stored != 0 && (l->vars[ir_stmt_at(l->program, stored)->arg[0]] & bit_of(var)) != 0) l->stored[i] = 0;
  }
}

static void statement(lint *l) {
  const ir_stmt *s = ir_stmt_at(l->program, l->stmt);
  uint32_t count;
  const uint32_t *operands = ir_operands(l->program, s, &count);
  for (uint32_t i = 0; i < count; i++)
    if (operands[i] != 0) evaluate(l, operands[i]);
  switch (s->op) {
    case VYRE_STMT_VAR: l->written[s->arg[4]] = l->stmt; break;
    case VYRE_STMT_ASSIGN:
      write_variable(l, s->arg[4]);
      forget_stores(l, s->arg[4]);
      break;
    case VYRE_STMT_STORE: write_buffer(l, s); break;
    case VYRE_STMT_LET:
    case VYRE_STMT_EVAL:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION:
    case VYRE_STMT_PRINT:
    case VYRE_STMT_PAUSE: break;
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER:
    case VYRE_STMT_FENCE:
    case VYRE_STMT_COPY_ASYNC:
    case VYRE_STMT_COMMIT:
    case VYRE_STMT_WAIT: meet(l); break;
    default: end_block(l); /* if, for, loop and jumps */
  }
}

static bool walk(lint *l) {
  ir_walk w = ir_walk_begin(l->program);
  for (ir_walk_event event; (event = ir_walk_next(&w)) != IR_WALK_END && !l->failed;) {
    const ir_stmt *s = ir_stmt_at(l->program, w.stmt);
    l->stmt = w.stmt;
    if (event == IR_WALK_STMT) statement(l);
    else if (s->op != VYRE_STMT_BLOCK && s->op != VYRE_STMT_REGION) end_block(l);
  }
  return ir_walk_finish(&w) && !l->failed;
}

/* Names that stand nowhere but where they are declared. Loops need none of theirs. */
static bool find_unread(lint *l) {
  const vyre_program *p = l->program;
  bool *read = calloc(p->vars.count + 1, sizeof *read);
  if (read == NULL) return false;
  for (uint32_t e = 1; e < p->exprs.count; e++)
    if (ir_expr_at(p, e)->op == VYRE_OP_VAR) read[ir_expr_at(p, e)->arg[3]] = true;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    uint8_t op = ir_stmt_at(p, s)->op;
    uint32_t var = ir_stmt_at(p, s)->arg[4];
    if ((op == VYRE_STMT_LET || op == VYRE_STMT_VAR) && !read[var])
      find_at(l, s, "never read", ir_text(p, p->vars.data[var].name));
  }
  free(read);
  return true;
}

vyre_status kernel_lint(const vyre_program *program, kernel_lint_report report, void *context, uint32_t *count) {
  lint l = {.program = program, .report = report, .context = context};
  l.values = calloc(program->exprs.count + 1, sizeof *l.values);
  l.evaluated = calloc(program->exprs.count + 1, sizeof *l.evaluated);
  l.written = calloc(program->vars.count + 1, sizeof *l.written);
  l.stored = calloc(program->buffers.count + 1, sizeof *l.stored);
  l.vars = ir_union_of_operands(program, vars_of, program);
  l.buffers = ir_union_of_operands(program, buffers_of, program);
  l.effects = ir_union_of_operands(program, effects_of, NULL);
  bool good = l.values && l.evaluated && l.written && l.stored && l.vars && l.buffers && l.effects;
  for (uint32_t e = 1; good && e < program->exprs.count; e++) l.values[e] = fold(&l, ir_expr_at(program, e));
  good = good && walk(&l) && find_unread(&l);
  *count = l.count;
  free(l.values);
  free(l.evaluated);
  free(l.written);
  free(l.stored);
  free(l.vars);
  free(l.buffers);
  free(l.effects);
  vyre_vector_free(&l.block);
  return good ? VYRE_OK : VYRE_ERR_NO_MEMORY;
}
