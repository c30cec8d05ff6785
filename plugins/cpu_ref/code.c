/* From a program to instructions: statements by an explicit stack of open blocks, expressions by recursion, whose
 * depth the language limits. Cells are given out as on a stack: a variable keeps its cell to the end of its
 * block, an intermediate value to the instruction that uses it. */
#include "code.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"

#include "cpu_limits.h"
#include "transcend.h"

typedef struct open_block {
  uint32_t stmt;
  uint32_t top;    /* cells in use around it */
  uint32_t unless; /* IF: the instruction that skips the arm that is open; UINT32_MAX for an else arm */
  uint32_t jump;   /* IF: the instruction at the end of the first arm, UINT32_MAX if there is none yet */
  uint32_t loop;   /* FOR, LOOP: its number */
} open_block;

typedef struct preparation {
  const vyre_program *p;
  cpu_code *code;
  VYRE_VECTOR(open_block) blocks;
  uint32_t *var_cells;  /* cell of each variable */
  uint32_t *leaf_cells; /* shared cell of each leaf expression + 1, 0 if it has none yet */
  uint32_t top;         /* cells in use */
  uint32_t loop;        /* innermost open loop, UINT32_MAX if there is none */
  uint32_t stmt, expr;
  uint32_t prints;
  bool begins;          /* the next instruction begins a statement */
  vyre_status status;   /* NO_MEMORY or LIMIT once it happened */
} preparation;

static void fail(preparation *c, vyre_status status) {
  if (c->status == VYRE_OK) c->status = status;
}

static uint32_t here(const preparation *c) {
  return c->code->insns.count;
}

static void emit(preparation *c, cpu_insn insn) {
  if (here(c) == CPU_MAX_INSNS) fail(c, VYRE_ERR_LIMIT);
  insn.begins = c->begins;
  insn.stmt = c->stmt;
  c->begins = false;
  if (c->status != VYRE_OK) return;
  if (!vyre_vector_push(&c->code->insns, insn) || !vyre_vector_push(&c->code->computes, c->expr))
    fail(c, VYRE_ERR_NO_MEMORY);
}

/* Takes the next cell. */
static uint32_t take_cell(preparation *c) {
  uint32_t cell = c->top++;
  if (c->top > c->code->cells) c->code->cells = c->top;
  return cell;
}

/* ---- Expressions ---- */

static bool is_shared_leaf(uint8_t op) {
  switch (op) {
    case VYRE_OP_LIT:
    case VYRE_OP_PARAM:
    case VYRE_OP_NWG:
    case VYRE_OP_SUBGROUP_SIZE:
    case VYRE_OP_NUM_SUBGROUPS:
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return true;
    default: return false;
  }
}

static uint32_t shared_cell(preparation *c, uint32_t e) {
  if (c->leaf_cells[e] == 0) {
    if (!vyre_vector_push(&c->code->leaves, e)) fail(c, VYRE_ERR_NO_MEMORY);
    c->leaf_cells[e] = c->code->leaves.count;
  }
  return CPU_SHARED_CELL | (c->leaf_cells[e] - 1);
}

static void compute(preparation *c, uint32_t e, uint32_t d);

/* Where the value of |e| stands: where it is already, or in a cell that is taken for it. */
static uint32_t value(preparation *c, uint32_t e) {
  const ir_expr *x = ir_expr_at(c->p, e);
  if (x->op == VYRE_OP_VAR) return c->var_cells[x->arg[3]];
  if (is_shared_leaf(x->op)) return shared_cell(c, e);
  uint32_t cell = take_cell(c);
  c->top--;
  compute(c, e, cell);
  c->top++;
  return cell;
}

/* Loops around a barrier count their iterations for themselves. */
static void mark_loops(preparation *c) {
  cpu_loop *loops = c->code->loops.data;
  for (uint32_t l = c->loop; l != UINT32_MAX && loops[l].counter == UINT32_MAX; l = loops[l].outer)
    loops[l].counter = c->code->counters++;
}

/* The function that combines two lanes in a reduction or scan. */
static cpu_op lane_function(vyre_op op, vyre_type type) {
  switch (op) {
    case VYRE_OP_SUBGROUP_ADD:
    case VYRE_OP_SUBGROUP_INCLUSIVE_ADD:
    case VYRE_OP_SUBGROUP_EXCLUSIVE_ADD: return cpu_op_find(VYRE_OP_ADD, type);
    case VYRE_OP_SUBGROUP_MIN:
    case VYRE_OP_SUBGROUP_INCLUSIVE_MIN:
    case VYRE_OP_SUBGROUP_EXCLUSIVE_MIN: return cpu_op_find(VYRE_OP_MIN, type);
    case VYRE_OP_SUBGROUP_MAX:
    case VYRE_OP_SUBGROUP_INCLUSIVE_MAX:
    case VYRE_OP_SUBGROUP_EXCLUSIVE_MAX: return cpu_op_find(VYRE_OP_MAX, type);
    case VYRE_OP_SUBGROUP_MUL: return cpu_op_find(VYRE_OP_MUL, type);
    case VYRE_OP_SUBGROUP_AND: return cpu_op_find(VYRE_OP_BITAND, type);
    case VYRE_OP_SUBGROUP_OR: return cpu_op_find(VYRE_OP_BITOR, type);
    case VYRE_OP_SUBGROUP_XOR: return cpu_op_find(VYRE_OP_BITXOR, type);
    default: return NULL;
  }
}

/* Computes |e| into cell |d|. Only the last instruction writes it, after it has read its operands. */
static void compute(preparation *c, uint32_t e, uint32_t d) {
  const ir_expr *x = ir_expr_at(c->p, e);
  uint32_t top = c->top, o[IR_MAX_OPERANDS] = { 0 };
  if (x->op == VYRE_OP_VAR || is_shared_leaf(x->op)) {
    emit(c, (cpu_insn){ .kind = CPU_MOVE, .d = d, .a = value(c, e) });
    return;
  }
  for (uint32_t i = 0; i < ir_op_arity[x->op]; i++) o[i] = value(c, x->arg[i]);
  vyre_type of = ir_op_arity[x->op] > 0 ? (vyre_type)ir_expr_at(c->p, x->arg[0])->type : VYRE_TYPE_NONE;
  const vyre_type_info *info = vyre_type_describe(of);
  cpu_insn insn = { .aux = x->op, .d = d, .a = o[0], .b = o[1], .c = o[2], .x = x->arg[3] };
  switch (x->op) {
    case VYRE_OP_GID:
    case VYRE_OP_WID:
    case VYRE_OP_LID:
    case VYRE_OP_LANE:
    case VYRE_OP_SUBGROUP_ID:
      insn.kind = CPU_ID;
      insn.aux2 = x->aux;
      break;
    case VYRE_OP_CLOCK_NS: insn.kind = CPU_CLOCK; break;
    case VYRE_OP_SHOULD_STOP: insn.kind = CPU_SHOULD_STOP; break;
    case VYRE_OP_LOAD:
    case VYRE_OP_GRID_UNIFORM_LOAD: insn.kind = CPU_LOAD; break;
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD: insn.kind = CPU_WORKGROUP_LOAD; break;
    case VYRE_OP_SELECT: insn.kind = CPU_SELECT; break;
    case VYRE_OP_BITCAST: insn.kind = CPU_MOVE; break;
    case VYRE_OP_SPLAT: insn.kind = CPU_SPLAT; break;
    case VYRE_OP_EXTRACT:
      insn.kind = CPU_EXTRACT;
      insn.aux = x->aux;
      break;
    case VYRE_OP_VEC2:
    case VYRE_OP_VEC4:
      insn.kind = CPU_VECTOR;
      insn.aux = ir_op_arity[x->op];
      insn.x = o[3];
      break;
    case VYRE_OP_CAST:
      insn.kind = CPU_CALL;
      insn.fn = cpu_cast_find(of, x->aux);
      break;
    default:
      if (x->op >= VYRE_OP_ATOMIC_ADD && x->op <= VYRE_OP_ATOMIC_STORE) {
        insn.kind = CPU_ATOMIC;
        insn.aux2 = x->aux;
      } else if (x->op >= VYRE_OP_SUBGROUP_ADD && x->op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN) {
        insn.kind = CPU_SUBGROUP;
        insn.aux2 = (uint8_t)of;
        insn.fn = lane_function(x->op, of);
      } else {
        insn.kind = info->lanes > 1 ? CPU_CALL_LANES : CPU_CALL;
        insn.aux = (uint8_t)info->lanes;
        insn.fn = cpu_op_find(x->op, info->component);
      }
  }
  if (insn.kind == CPU_WORKGROUP_LOAD || insn.kind == CPU_SHOULD_STOP) mark_loops(c);
  c->expr = e;
  emit(c, insn);
  c->expr = 0;
  c->top = top;
}

/* ---- Statements ---- */

static void open_stmt(preparation *c, open_block block) {
  block.stmt = c->stmt;
  if (!vyre_vector_push(&c->blocks, block)) fail(c, VYRE_ERR_NO_MEMORY);
}

static void open_loop(preparation *c, const ir_stmt *s) {
  cpu_loop loop = { .outer = c->loop, .counter = UINT32_MAX, .type = VYRE_TYPE_NONE };
  uint32_t top = c->top, number = c->code->loops.count;
  if (s->op == VYRE_STMT_FOR) {
    loop.type = c->p->vars.data[s->arg[4]].type;
    loop.cells = c->top;
    for (uint32_t i = 0; i < 3; i++) {
      uint32_t cell = take_cell(c);
      if (s->arg[i] != 0) compute(c, s->arg[i], cell);
    }
    c->var_cells[s->arg[4]] = loop.cells;
    emit(c, (cpu_insn){ .kind = CPU_FOR, .aux = s->arg[2] == 0, .d = loop.cells, .x = number });
  }
  loop.body = here(c);
  if (!vyre_vector_push(&c->code->loops, loop)) fail(c, VYRE_ERR_NO_MEMORY);
  open_stmt(c, (open_block){ .top = top, .loop = number });
  c->loop = number;
}

static void print(preparation *c, const ir_stmt *s) {
  cpu_site site = { .first = c->code->operands.count, .count = s->arg[2], .number = c->prints++ };
  for (uint32_t i = 0; i < s->arg[2]; i++) {
    uint32_t operand = value(c, c->p->lists.data[s->arg[3] + i]);
    if (!vyre_vector_push(&c->code->operands, operand)) fail(c, VYRE_ERR_NO_MEMORY);
  }
  emit(c, (cpu_insn){ .kind = CPU_PRINT, .x = c->code->sites.count });
  if (!vyre_vector_push(&c->code->sites, site)) fail(c, VYRE_ERR_NO_MEMORY);
}

/* Emits statement |number| and gives the one that follows in the walk: its first inner one, or the next. */
static uint32_t statement(preparation *c, uint32_t number) {
  const ir_stmt *s = ir_stmt_at(c->p, number);
  uint32_t top = c->top, o[3] = { 0 };
  c->stmt = number;
  c->begins = true;
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR: {
      uint32_t cell = take_cell(c);
      c->top = top;
      compute(c, s->arg[0], cell);
      c->top = top + 1;
      c->var_cells[s->arg[4]] = cell;
      return s->next;
    }
    case VYRE_STMT_ASSIGN: compute(c, s->arg[0], c->var_cells[s->arg[4]]); break;
    case VYRE_STMT_EVAL: value(c, s->arg[0]); break;
    case VYRE_STMT_PRINT: print(c, s); break;
    case VYRE_STMT_IF: {
      uint32_t condition = value(c, s->arg[0]);
      uint32_t unless = here(c);
      emit(c, (cpu_insn){ .kind = CPU_UNLESS, .a = condition });
      c->top = top;
      open_stmt(c, (open_block){ .top = top, .unless = unless, .jump = UINT32_MAX });
      return s->body;
    }
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP: open_loop(c, s); return s->body;
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: open_stmt(c, (open_block){ .top = top }); return s->body;
    case VYRE_STMT_BREAK: emit(c, (cpu_insn){ .kind = CPU_BREAK, .x = c->loop }); break;
    case VYRE_STMT_CONTINUE: emit(c, (cpu_insn){ .kind = CPU_CONTINUE, .x = c->loop }); break;
    case VYRE_STMT_RETURN: emit(c, (cpu_insn){ .kind = CPU_RETURN }); break;
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER:
      mark_loops(c);
      emit(c, (cpu_insn){ .kind = s->op == VYRE_STMT_BARRIER ? CPU_BARRIER : CPU_GRID_BARRIER });
      break;
    case VYRE_STMT_FENCE: emit(c, (cpu_insn){ .kind = CPU_FENCE, .aux = s->aux }); break;
    case VYRE_STMT_COMMIT:
    case VYRE_STMT_WAIT: break; /* copies are done when they are issued */
    default: {
      for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) o[i] = value(c, s->arg[i]);
      cpu_insn insn = { .a = o[0], .b = o[1], .c = o[2] };
      if (s->op == VYRE_STMT_STORE) {
        insn.kind = CPU_STORE;
        insn.x = s->arg[4];
      } else if (s->op == VYRE_STMT_COPY_ASYNC) {
        insn.kind = s->aux ? CPU_COPY_WORKGROUP : CPU_COPY;
        insn.x = s->arg[3];
        insn.y = s->arg[4];
        if (s->aux) mark_loops(c);
      } else {
        insn.kind = s->op == VYRE_STMT_TRAP ? CPU_TRAP : CPU_PAUSE;
      }
      emit(c, insn);
    }
  }
  c->top = top;
  return s->next;
}

/* Closes the innermost block and gives the statement that follows it: that of the else arm, or the next. */
static uint32_t close(preparation *c) {
  open_block *block = &c->blocks.data[c->blocks.count - 1];
  const ir_stmt *s = ir_stmt_at(c->p, block->stmt);
  cpu_insn *insns = c->code->insns.data;
  c->top = block->top;
  c->stmt = block->stmt;
  if (s->op == VYRE_STMT_IF && block->jump == UINT32_MAX && s->orelse != 0) {
    block->jump = here(c);
    insns[block->unless].x = here(c) + 1;
    c->begins = false;
    emit(c, (cpu_insn){ .kind = CPU_JUMP });
    return s->orelse;
  }
  if (s->op == VYRE_STMT_IF) insns[block->jump != UINT32_MAX ? block->jump : block->unless].x = here(c);
  if (s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_LOOP) {
    cpu_loop *loop = &c->code->loops.data[block->loop];
    loop->next = here(c);
    c->begins = true;
    emit(c, (cpu_insn){ .kind = CPU_NEXT, .x = block->loop });
    loop->exit = here(c);
    c->loop = loop->outer;
  }
  c->blocks.count--;
  return s->next;
}

static void statements(preparation *c) {
  uint32_t s = ir_entry(c->p);
  while (c->status == VYRE_OK) {
    if (s != 0) s = statement(c, s);
    else if (c->blocks.count > 0) s = close(c);
    else break;
  }
  c->begins = false;
  emit(c, (cpu_insn){ .kind = CPU_RETURN });
}

/* ---- The whole ---- */

static cpu_space space_of(uint8_t access) {
  switch (access) {
    case VYRE_ACCESS_TABLE: return CPU_SPACE_TABLE;
    case VYRE_ACCESS_SHARED: return CPU_SPACE_SHARED;
    case VYRE_ACCESS_LOCAL: return CPU_SPACE_LOCAL;
    default: return CPU_SPACE_BOUND;
  }
}

/* Gives shared and local buffers their places. */
static vyre_status place_buffers(cpu_code *code, const vyre_program *p, vyre_error *error) {
  code->buffers = calloc(p->buffers.count ? p->buffers.count : 1, sizeof *code->buffers);
  if (code->buffers == NULL) return vyre_fail_memory(error, p->info.name);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *from = &p->buffers.data[i];
    cpu_buffer *b = &code->buffers[i];
    *b = (cpu_buffer){ .space = (uint8_t)space_of(from->access), .element = from->element, .length = from->length,
                       .bytes = (uint8_t)vyre_type_describe(from->element)->bytes };
    if (b->space != CPU_SPACE_SHARED && b->space != CPU_SPACE_LOCAL) continue;
    uint64_t *used = b->space == CPU_SPACE_SHARED ? &code->shared_bytes : &code->local_bytes, bytes;
    b->offset = *used;
    if (!vyre_mul_u64(from->length, b->bytes, &bytes) || !vyre_add_u64(*used, bytes, used) ||
        !vyre_align_u64(*used, 16, used) || *used > CPU_MAX_SHARED_BYTES)
      return vyre_fail(error, VYRE_ERR_LIMIT, ir_text(p, from->name),
                       "buffer `%s` of %llu elements brings %s memory above the limit of %llu bytes. "
                       "Fix: declare fewer elements, or keep them in an rw buffer",
                       ir_text(p, from->name), (unsigned long long)from->length,
                       b->space == CPU_SPACE_SHARED ? "a workgroup's shared" : "an invocation's local",
                       (unsigned long long)CPU_MAX_SHARED_BYTES);
  }
  return VYRE_OK;
}

static vyre_status size_workgroup(cpu_code *code, const vyre_program *p, const cpu_options *options,
                                  vyre_error *error) {
  uint64_t n = 1;
  for (int axis = 0; axis < 3 && n <= CPU_MAX_WORKGROUP; axis++) n *= p->workgroup[axis];
  if (n > CPU_MAX_WORKGROUP)
    return vyre_fail(error, VYRE_ERR_LIMIT, p->info.name,
                     "the workgroup (%u, %u, %u) has more than max_workgroup_invocations = %u invocations. "
                     "Fix: make the workgroup smaller",
                     p->workgroup[0], p->workgroup[1], p->workgroup[2], CPU_MAX_WORKGROUP);
  uint32_t size = options->subgroup ? options->subgroup : p->subgroup ? p->subgroup : options->default_subgroup;
  if (size == 0) size = CPU_DEFAULT_SUBGROUP;
  if (size > 32 || (size & (size - 1)) != 0 || (p->subgroup != 0 && p->subgroup != size))
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, p->info.name,
                     "subgroup size %u was asked for, the program says %u (0 is any), the sizes are 1, 2, 4, 8, 16 "
                     "and 32. Fix: ask for one of these, and the same in both places",
                     size, p->subgroup);
  code->invocations = (uint32_t)n;
  code->subgroup = size;
  code->subgroups = (code->invocations + size - 1) / size;
  return VYRE_OK;
}

/* Transcendentals need to be told how exact they must be. */
static vyre_status check_budget(const vyre_program *p, const cpu_options *options, vyre_error *error) {
  for (uint32_t e = 1; e < p->exprs.count; e++) {
    const ir_expr *x = ir_expr_at(p, e);
    if (!cpu_is_transcendental(x->op)) continue;
    const char *name = vyre_op_describe(x->op)->spelling;
    if (options->ulp == VYRE_ULP_UNSET)
      return vyre_fail(error, VYRE_ERR_UNSUPPORTED, name,
                       "%s needs ulp_budget, which is not set. Fix: give the program the attribute ulp(n), or the "
                       "option ulp_budget (--ulp n); 0 asks for correct rounding",
                       name);
    if (options->ulp == 0 && x->type == VYRE_TYPE_F64)
      return vyre_fail(error, VYRE_ERR_UNSUPPORTED, name,
                       "%s of f64 can not be rounded correctly (ulp_budget 0) in this version. Fix: set ulp_budget "
                       "to 1 or more, or use f32",
                       name);
  }
  return VYRE_OK;
}

static vyre_status prepare(preparation *c, vyre_error *error) {
  c->var_cells = calloc((size_t)c->p->vars.count + 1, sizeof *c->var_cells);
  c->leaf_cells = calloc((size_t)c->p->exprs.count + 1, sizeof *c->leaf_cells);
  if (c->var_cells == NULL || c->leaf_cells == NULL) return vyre_fail_memory(error, c->p->info.name);
  statements(c);
  if (c->status == VYRE_ERR_LIMIT)
    return vyre_fail(error, VYRE_ERR_LIMIT, c->p->info.name,
                     "the program needs more than %u instructions. Fix: split it, or name expressions that are used "
                     "more than once with let",
                     CPU_MAX_INSNS);
  return c->status == VYRE_OK ? VYRE_OK : vyre_fail_memory(error, c->p->info.name);
}

vyre_status cpu_code_create(vyre_program *program, const cpu_options *options, cpu_code **out, vyre_error *error) {
  *out = NULL;
  cpu_code *code = calloc(1, sizeof *code);
  if (code == NULL) return vyre_fail_memory(error, program->info.name);
  code->program = vyre_program_retain(program);
  code->steps = options->steps;
  preparation c = { .p = program, .code = code, .loop = UINT32_MAX };
  vyre_status status = check_budget(program, options, error);
  if (status == VYRE_OK) status = size_workgroup(code, program, options, error);
  if (status == VYRE_OK) status = place_buffers(code, program, error);
  if (status == VYRE_OK) status = prepare(&c, error);
  free(c.var_cells);
  free(c.leaf_cells);
  vyre_vector_free(&c.blocks);
  if (status == VYRE_OK) *out = code;
  else cpu_code_destroy(code);
  return status;
}

void cpu_code_destroy(cpu_code *code) {
  if (code == NULL) return;
  vyre_program_release(code->program);
  vyre_vector_free(&code->insns);
  vyre_vector_free(&code->computes);
  vyre_vector_free(&code->loops);
  vyre_vector_free(&code->sites);
  vyre_vector_free(&code->operands);
  vyre_vector_free(&code->leaves);
  free(code->buffers);
  free(code);
}
