/* Statements, by an explicit stack of open blocks: `else if` chains nest as deep as a program is long. */
#include "lower/lowering.h"

#define op2(l, op, x, y) lower_op2(&(l)->code, op, x, y)

/* ---- Variables and arrays -------------------------------------------------------------------- */

static void declare(lowering *l, const ir_stmt *s) {
  uint32_t var = s->arg[4];
  const ir_var *v = &l->p->vars.data[var];
  lower_place place = { .entry = l->entry + 1, .where = lower_expr(l, s->arg[0]) };
  if (s->op == VYRE_STMT_VAR) {
    lower_value value = place.where;
    uint32_t name = lower_text(&l->code, ir_text(l->p, v->name));
    place.where = lower_slot(&l->code, (vyre_type)v->type, l->uniformity.var[var], name);
    lower_set(&l->code, place.where, value);
  }
  l->vars[var] = place;
  lower_keep_note_variable(l, var);
}

/* Where a variable is in this entry point; what an earlier one left is brought here first. */
static lower_place *place_of(lowering *l, uint32_t var) {
  if (l->vars[var].entry != l->entry + 1) lower_keep_variable(l, var);
  return &l->vars[var];
}

uint32_t lower_variable_slot(lowering *l, uint32_t var) { return place_of(l, var)->where; }

lower_value lower_variable(lowering *l, uint32_t var) {
  uint32_t where = place_of(l, var)->where;
  return l->p->vars.data[var].kind == VYRE_STMT_VAR ? lower_get(&l->code, where) : where;
}

static void assign(lowering *l, const ir_stmt *s) {
  lower_value v = lower_expr(l, s->arg[0]);
  lower_set(&l->code, lower_variable_slot(l, s->arg[4]), v);
  lower_keep_note_variable(l, s->arg[4]);
}

uint32_t lower_buffer_array(lowering *l, uint32_t binding) {
  const ir_buffer *b = &l->p->buffers.data[binding];
  lower_place *place = &l->arrays[binding];
  if (place->entry == l->entry + 1) return place->where;
  bool is_left = l->split.entries > 1 && l->split.arrays[binding].first_write < l->entry;
  vyre_kernel_space space = b->access == VYRE_ACCESS_SHARED ? VYRE_KERNEL_SPACE_SHARED : VYRE_KERNEL_SPACE_LOCAL;
  uint32_t array =
      lower_array(&l->code, space, (vyre_type)b->element, b->length, is_left ? 0 : VYRE_KERNEL_ARRAY_NEEDS_ZERO,
                  lower_text(&l->code, ir_text(l->p, b->name)));
  *place = (lower_place){ .entry = l->entry + 1, .where = array };
  if (is_left) lower_keep_array(l, binding);
  return array;
}

/* ---- Plain statements ------------------------------------------------------------------------ */

static void store(lowering *l, const ir_stmt *s) {
  lower_value index = lower_expr(l, s->arg[0]), value = lower_expr(l, s->arg[1]);
  lower_unless_expired(l);
  lower_store(&l->code, lower_buffer_access(l, s->arg[4], index, s->arg[0]), value);
  lower_end_unless_expired(l);
  lower_keep_note_buffer(l, s->arg[4]);
}

static void copy(lowering *l, const ir_stmt *s) {
  lower_code *c = &l->code;
  lower_value to = lower_expr(l, s->arg[0]), from = lower_expr(l, s->arg[1]), count = lower_expr(l, s->arg[2]);
  uint32_t target = lower_buffer_stretch(l, s->arg[3], to), source = lower_buffer_stretch(l, s->arg[4], from);
  lower_unless_expired(l);
  lower_emit(c,
             &(lower_request){.op = VYRE_KERNEL_COPY_ASYNC,
                              .aux = s->aux,
                              .arg = {target, source, count},
                              .type = {lower_element(c, target), lower_element(c, source), lower_type_of(c, count)}});
  lower_end_unless_expired(l);
  lower_keep_note_buffer(l, s->arg[3]);
}

/* Number of a print statement among those of the program. The walk skips what is never reached, so they are counted
 * here, each statement once. */
static uint32_t print_number(lowering *l, uint32_t stmt) {
  for (; l->counted < stmt; l->counted++) l->prints += ir_stmt_at(l->p, l->counted)->op == VYRE_STMT_PRINT;
  return l->prints;
}

static void print(lowering *l, uint32_t stmt) {
  lower_code *c = &l->code;
  const ir_stmt *s = ir_stmt_at(l->p, stmt);
  VYRE_VECTOR(lower_value) values = { 0 };
  for (uint32_t i = 0; i < s->arg[2]; i++) {
    lower_value v = lower_expr(l, l->p->lists.data[s->arg[3] + i]);
    if (!vyre_vector_push(&values, v)) lower_fail_memory(c);
  }
  lower_request r = { .op = VYRE_KERNEL_PRINT, .arg = { print_number(l, stmt), c->operands.count, s->arg[2] } };
  for (uint32_t i = 0; i < values.count && !lower_failed(c); i++)
    if (!vyre_vector_push(&c->operands, values.data[i])) lower_fail_memory(c);
  vyre_vector_free(&values);
  lower_emit(c, &r);
}

static void leave(lowering *l) {
  lower_keep_leave(l);
  lower_jump(&l->code, VYRE_KERNEL_RETURN);
  l->dead = true;
}

static void trap(lowering *l, const ir_stmt *s) {
  lower_value code = lower_expr(l, s->arg[0]);
  lower_unless_expired(l);
  lower_emit(&l->code, &(lower_request){ .op = VYRE_KERNEL_TRAP, .arg[0] = code, .type[0] = VYRE_TYPE_U32 });
  lower_end_unless_expired(l);
  leave(l);
}

static void fence(lowering *l, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(l->p, stmt);
  lower_plain(&l->code, VYRE_KERNEL_FENCE, s->aux, s->aux2);
  if (s->aux2 == VYRE_SCOPE_WORKGROUP) return;
  if (l->loop_depth > 0) l->loop_has_fence = true;
  else if (!vyre_vector_push(&l->fences, stmt)) lower_fail_memory(&l->code);
}

static void pause_for(lowering *l, const ir_stmt *s) {
  lower_value ns = lower_expr(l, s->arg[0]);
  lower_emit(&l->code, &(lower_request){.op = VYRE_KERNEL_PAUSE, .arg[0] = ns, .type[0] = lower_type_of(&l->code, ns)});
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static void begin_entry(lowering *l) {
  lower_open_entry(&l->code);
  if (!lowering_failed(l)) lower_keep_begin(l);
}

static void end_entry(lowering *l) {
  lower_keep_end(l);
  lower_close_entry(&l->code);
  for (uint32_t i = 0; i < l->kept.count; i++) l->leaves[l->kept.data[i]] = 0;
  l->kept.count = 0;
}

static void grid_barrier(lowering *l) {
  if (l->split.entries == 1) {
    lower_plain(&l->code, VYRE_KERNEL_GRID_BARRIER, 0, 0);
    return;
  }
  end_entry(l);
  l->entry++;
  begin_entry(l);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void push_open(lowering *l, lower_open open) {
  opt_ranges_event(l->ranges, IR_WALK_BODY, open.stmt);
  if (!vyre_vector_push(&l->open, open)) lower_fail_memory(&l->code);
}

static void enter_loop(lowering *l, lower_open *open) {
  if (l->loop_depth++ == 0) {
    l->outermost = open->stmt;
    l->loop_has_fence = false;
  }
  lower_steps_open(l, open);
  lower_loop(&l->code);
}

/* The variable of a loop: from |from| on, in steps that keep low bits which are 0, below the end. */
static void know_turns(lower_code *c, lower_value variable, lower_value from, const lower_open *open) {
  const lower_info *first = lower_info_of(c, from), *step = lower_info_of(c, open->step), *to = lower_info_of(c, open->to);
  uint32_t zeros = first->zeros < step->zeros ? first->zeros : step->zeros;
  lower_know(c, variable, zeros, first->least, to->most > 0 ? to->most - 1 : UINT64_MAX);
}

/* for (i in from..to step s): if it has a first turn, a loop that ends where the next value would reach the end, pass
 * it or overflow. Below the end the distance to it is a positive number of the unsigned type. */
static void open_for(lowering *l, uint32_t stmt) {
  lower_code *c = &l->code;
  const ir_stmt *s = ir_stmt_at(l->p, stmt);
  const ir_var *v = &l->p->vars.data[s->arg[4]];
  vyre_type type = (vyre_type)v->type;
  lower_value from = lower_expr(l, s->arg[0]);
  lower_open open = { .stmt = stmt, .to = lower_expr(l, s->arg[1]) };
  open.step = s->arg[2] != 0 ? lower_expr(l, s->arg[2]) : lower_number(c, type, 1);
  open.variable = lower_slot(c, type, l->uniformity.var[s->arg[4]], lower_text(c, ir_text(l->p, v->name)));
  lower_set(c, open.variable, from);
  lower_value begins = op2(l, VYRE_KERNEL_LT, from, open.to);
  if (s->arg[2] != 0) {
    lower_value goes_up = op2(l, VYRE_KERNEL_LT, lower_number(c, type, 0), open.step);
    begins = op2(l, VYRE_KERNEL_AND, begins, goes_up);
  }
  lower_if(c, begins);
  enter_loop(l, &open);
  l->vars[s->arg[4]] = (lower_place){ .entry = l->entry + 1, .where = lower_get(c, open.variable) };
  know_turns(c, l->vars[s->arg[4]].where, from, &open);
  push_open(l, open);
}

/* Whether the variable can be counted on from its last value, so that its end shows in the next one: that is the form in
 * which compilers see how often a loop turns. */
static bool has_next(const lower_code *c, const lower_open *open) {
  const lower_info *to = lower_info_of(c, open->to), *by = lower_info_of(c, open->step);
  uint64_t step;
  if (lower_constant_bits(c, open->step, &step) && step == 1) return true;
  return to->type == VYRE_TYPE_U32 && to->most <= UINT32_MAX && by->most <= UINT32_MAX - to->most;
}

/* Whether no turn follows the one whose variable is |now|. */
static lower_value is_last(lowering *l, const lower_open *open, lower_value now, lower_value next) {
  lower_code *c = &l->code;
  if (has_next(c, open)) return op2(l, VYRE_KERNEL_LE, open->to, next);
  vyre_type distance = form_bytes(lower_type_of(c, open->to)) == 8 ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
  lower_value left = lower_convert(c, VYRE_KERNEL_BITCAST, distance, op2(l, VYRE_KERNEL_SUB, open->to, now));
  return op2(l, VYRE_KERNEL_LE, left, lower_convert(c, VYRE_KERNEL_BITCAST, distance, open->step));
}

static void close_for(lowering *l, const lower_open *open) {
  lower_code *c = &l->code;
  lower_continuing(c);
  lower_value now = lower_get(c, open->variable), next = op2(l, VYRE_KERNEL_ADD, now, open->step);
  lower_value last = is_last(l, open, now, next);
  lower_set(c, open->variable, next);
  lower_end_loop(c, lower_steps_count(l, open, last));
  lower_steps_left(l);
  lower_end_if(c);
}

static void close_loop(lowering *l, const lower_open *open) {
  lower_continuing(&l->code);
  lower_end_loop(&l->code, lower_steps_count(l, open, 0));
  lower_steps_left(l);
}

static void leave_loop(lowering *l, const lower_open *open) {
  if (ir_stmt_at(l->p, open->stmt)->op == VYRE_STMT_FOR) close_for(l, open);
  else close_loop(l, open);
  if (--l->loop_depth > 0 || !l->loop_has_fence) return;
  bool good = vyre_vector_push(&l->fence_loops, l->outermost) && vyre_vector_push(&l->fence_loops, l->last);
  if (!good) lower_fail_memory(&l->code);
}

/* Closes the innermost block and gives the statement that follows: that of the other arm, or the next. */
static uint32_t close_block(lowering *l) {
  lower_open *open = &l->open.data[l->open.count - 1];
  const ir_stmt *s = ir_stmt_at(l->p, open->stmt);
  l->code.stmt = open->stmt;
  switch (s->op) {
    case VYRE_STMT_IF:
      l->dead = false;
      if (!open->in_orelse && s->orelse != 0) {
        open->in_orelse = true;
        opt_ranges_event(l->ranges, IR_WALK_ORELSE, open->stmt);
        lower_else(&l->code);
        return s->orelse;
      }
      lower_end_if(&l->code);
      break;
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP:
      l->dead = false;
      leave_loop(l, open);
      break;
    default: break; /* a block that ended early ends what is around it, too */
  }
  opt_ranges_event(l->ranges, IR_WALK_LEAVE, open->stmt);
  l->open.count--;
  return s->next;
}

/* Emits a statement and gives the one that follows in the text: its first inner one, or the next. */
static uint32_t statement(lowering *l, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(l->p, stmt);
  l->code.stmt = l->last = stmt;
  switch ((vyre_stmt_op)s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
      declare(l, s);
      opt_ranges_event(l->ranges, IR_WALK_STMT, stmt);
      break;
    case VYRE_STMT_ASSIGN: assign(l, s); break;
    case VYRE_STMT_STORE: store(l, s); break;
    case VYRE_STMT_EVAL: lower_expr(l, s->arg[0]); break;
    case VYRE_STMT_IF:
      lower_if(&l->code, lower_expr(l, s->arg[0]));
      push_open(l, (lower_open){ .stmt = stmt });
      return s->body;
    case VYRE_STMT_FOR: open_for(l, stmt); return s->body;
    case VYRE_STMT_LOOP: {
      lower_open open = { .stmt = stmt };
      enter_loop(l, &open);
      push_open(l, open);
      return s->body;
    }
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: push_open(l, (lower_open){ .stmt = stmt }); return s->body;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
      lower_jump(&l->code, s->op == VYRE_STMT_BREAK ? VYRE_KERNEL_BREAK : VYRE_KERNEL_CONTINUE);
      l->dead = true;
      break;
    case VYRE_STMT_RETURN: leave(l); break;
    case VYRE_STMT_BARRIER: lower_plain(&l->code, VYRE_KERNEL_BARRIER, 0, 0); break;
    case VYRE_STMT_GRID_BARRIER: grid_barrier(l); break;
    case VYRE_STMT_FENCE: fence(l, stmt); break;
    case VYRE_STMT_TRAP: trap(l, s); break;
    case VYRE_STMT_PRINT: print(l, stmt); break;
    case VYRE_STMT_COPY_ASYNC: copy(l, s); break;
    case VYRE_STMT_COMMIT: lower_plain(&l->code, VYRE_KERNEL_COMMIT, 0, 0); break;
    case VYRE_STMT_WAIT: lower_plain(&l->code, VYRE_KERNEL_WAIT, s->aux, 0); break;
    case VYRE_STMT_PAUSE: pause_for(l, s); break;
    case VYRE_STMT_NONE:
    case VYRE_STMT_COUNT: break;
  }
  return s->next;
}

void lower_statements(lowering *l) {
  uint32_t s = ir_entry(l->p);
  begin_entry(l);
  while (!lowering_failed(l)) {
    if (s != 0 && !l->dead) s = statement(l, s);
    else if (l->open.count > 0) s = close_block(l);
    else break;
  }
  end_entry(l);
}
