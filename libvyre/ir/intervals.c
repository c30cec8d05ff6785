/* One walk numbers the intervals and joins them by union-find. */
#include "ir/intervals.h"

#include "ir/walk.h"

enum { NOWHERE = UINT32_MAX }; /* what follows a jump */

/* An open if or loop. Plain blocks and regions change nothing here. */
typedef struct frame {
  uint32_t begin; /* interval at its start; of an endless loop that starts with a barrier: nowhere */
  uint32_t end;   /* where an if's first arm ended, or where breaks leave a loop */
  uint32_t loop;  /* frame of the innermost loop, itself included */
} frame;

typedef struct builder {
  const vyre_program *p;
  ir_intervals *v;
  uint64_t *barriers; /* expressions that hold a barrier; NULL if none does */
  VYRE_VECTOR(frame) frames;
  uint32_t current;
  bool failed;
} builder;

static uint64_t is_barrier(const void *context, const ir_expr *e) {
  (void)context;
  return e->op == VYRE_OP_SHOULD_STOP || e->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD;
}

static uint32_t find(ir_intervals *v, uint32_t interval) {
  uint32_t *joined = v->joined.data;
  while (joined[interval] != interval) {
    joined[interval] = joined[joined[interval]];
    interval = joined[interval];
  }
  return interval;
}

/* Joins what two paths are in; either may be nowhere. The smaller number stays. */
static uint32_t join(builder *b, uint32_t x, uint32_t y) {
  if (x == NOWHERE) return y;
  if (y == NOWHERE) return x;
  x = find(b->v, x);
  y = find(b->v, y);
  uint32_t low = x < y ? x : y, high = x < y ? y : x;
  b->v->joined.data[high] = low;
  return low;
}

static uint32_t add_interval(builder *b) {
  uint32_t interval = b->v->joined.count;
  if (vyre_vector_push(&b->v->joined, interval)) return interval;
  b->failed = true;
  return 0;
}

static bool starts_with_barrier(const vyre_program *p, const ir_stmt *s) {
  do s = ir_stmt_at(p, s->body);
  while (s->op == VYRE_STMT_BLOCK || s->op == VYRE_STMT_REGION);
  return s->op == VYRE_STMT_BARRIER || s->op == VYRE_STMT_GRID_BARRIER;
}

/* The turns of a loop that starts with a barrier do not run into each other, nor into what stands before it. */
static void open_frame(builder *b, const ir_stmt *s) {
  uint32_t count = b->frames.count;
  uint32_t loop = ir_is_loop(s) ? count : count > 0 ? b->frames.data[count - 1].loop : NOWHERE;
  bool apart = s->op == VYRE_STMT_LOOP && starts_with_barrier(b->p, s);
  if (!vyre_vector_push(&b->frames, ((frame){ apart ? NOWHERE : b->current, NOWHERE, loop }))) b->failed = true;
}

static void jump(builder *b, const ir_stmt *s) {
  if (s->op != VYRE_STMT_RETURN) {
    frame *loop = &b->frames.data[b->frames.data[b->frames.count - 1].loop];
    if (s->op == VYRE_STMT_BREAK) loop->end = join(b, loop->end, b->current);
    else join(b, loop->begin, b->current);
  }
  b->current = NOWHERE;
}

static void visit(builder *b, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(b->p, stmt);
  if (b->current == NOWHERE) b->current = add_interval(b); /* never runs */
  b->v->before[stmt] = b->current;
  bool barrier = s->op == VYRE_STMT_BARRIER || s->op == VYRE_STMT_GRID_BARRIER ||
                 (b->barriers != NULL && ir_union_of_statement(b->p, s, b->barriers) != 0);
  if (barrier) b->current = add_interval(b);
  b->v->after[stmt] = b->current;
  if (ir_is_conditional(s)) open_frame(b, s);
  if (s->op == VYRE_STMT_BREAK || s->op == VYRE_STMT_CONTINUE || s->op == VYRE_STMT_RETURN) jump(b, s);
}

static void begin_else(builder *b) {
  frame *f = &b->frames.data[b->frames.count - 1];
  f->end = b->current;
  b->current = f->begin;
}

static void close_frame(builder *b, const ir_stmt *s) {
  frame f = b->frames.data[--b->frames.count];
  if (s->op == VYRE_STMT_IF) {
    b->current = join(b, s->orelse != 0 ? f.end : f.begin, b->current);
    return;
  }
  join(b, f.begin, b->current);
  b->current = s->op == VYRE_STMT_FOR ? join(b, f.begin, f.end) : f.end;
}

static void number(builder *b) {
  ir_walk walk = ir_walk_begin(b->p);
  for (ir_walk_event event; !b->failed && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    const ir_stmt *s = ir_stmt_at(b->p, walk.stmt);
    if (event == IR_WALK_STMT) visit(b, walk.stmt);
    if (event == IR_WALK_ORELSE) begin_else(b);
    if (event == IR_WALK_LEAVE && ir_is_conditional(s)) close_frame(b, s);
  }
  if (!ir_walk_finish(&walk)) b->failed = true;
}

/* Makes every interval point to what it is part of; that has the smaller number. */
static void flatten(ir_intervals *v) {
  for (uint32_t i = 0; i < v->joined.count; i++) v->joined.data[i] = v->joined.data[v->joined.data[i]];
}

bool ir_intervals_create(ir_intervals *v, const vyre_program *p) {
  *v = (ir_intervals){ .before = calloc((size_t)p->stmts.count + 1, sizeof *v->before),
                       .after = calloc((size_t)p->stmts.count + 1, sizeof *v->after) };
  builder b = { .p = p, .v = v, .failed = v->before == NULL || v->after == NULL };
  if (ir_has_op(p, VYRE_OP_SHOULD_STOP) || ir_has_op(p, VYRE_OP_WORKGROUP_UNIFORM_LOAD))
    b.failed |= (b.barriers = ir_union_of_operands(p, is_barrier, NULL)) == NULL;
  b.current = b.failed ? 0 : add_interval(&b);
  if (!b.failed) number(&b);
  if (!b.failed) flatten(v);
  free(b.barriers);
  vyre_vector_free(&b.frames);
  return !b.failed;
}

void ir_intervals_free(ir_intervals *v) {
  free(v->before);
  free(v->after);
  vyre_vector_free(&v->joined);
}
