/* What only a whole program shows: that barriers and subgroup operations stand where all that take part
 * in them come (docs/language.md, section 8), and warnings.
 *
 * A barrier that conditions around it or jumps before it can keep a part of the workgroup from is V010.
 * A jump behind the last barrier of a loop does that to the next turn only; it is V055, at the jump. A
 * loop's last barrier is the last one in its own block; one in an if or an inner loop orders nothing.
 * The condition of such a jump may hold ordinary loads of shared memory that are settled (ir/settled.h);
 * everywhere else only the levels of section 8 count. */
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/error.h"
#include "ir/uniform.h"
#include "ir/validate.h"
#include "ir/walk.h"

/* What an expression holds. */
enum {
  HOLDS_COLLECTIVE = 1, /* an operation of the whole workgroup */
  HOLDS_SUBGROUP = 2,
  HOLDS_BAD_INDEX = 4,  /* a workgroup_uniform_load whose index is not uniform */
  HOLDS_BAD_LANE = 8,   /* a broadcast whose lane is not uniform */
  HOLDS_SIZE = 16       /* something by which the subgroup size shows */
};

/* An open if or loop. */
typedef struct frame {
  uint8_t condition, bounds; /* weakest condition and bounds around this place */
  uint8_t entry;             /* of a loop: flow at the start of its body */
  bool is_if;
  bool collective;           /* it holds a barrier or another operation of the whole workgroup */
  uint32_t late_break, late_return; /* first jump of each kind that a part takes and no barrier follows */
  uint32_t some_return;
} frame;

typedef struct validator {
  const vyre_program *p;
  vyre_diagnostics *d;
  vyre_error *error;
  uint32_t errors;
  bool size_shows;
  ir_uniformity u;
  uint64_t *holds; /* of each expression; NULL if none holds anything */
  VYRE_VECTOR(frame) frames; /* the first is that of the program */
} validator;

static const char scopes[][10] = { "grid", "workgroup", "subgroup" };

__attribute__((format(printf, 4, 5))) static void report(validator *v, vyre_code code, uint32_t stmt,
                                                         const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  vyre_diag(v->d, code, ir_stmt_at(v->p, stmt)->pos, "%s", text);
  if (vyre_code_severity(code) != VYRE_SEVERITY_ERROR || v->errors++ > 0) return;
  vyre_fail(v->error, VYRE_ERR_INVALID_PROGRAM, ir_text(v->p, v->p->name), "%s: %s: %s. Fix: %s.",
            vyre_code_name(code), vyre_code_gist(code), text, vyre_code_fix(code));
}

static frame *top(const validator *v) { return &v->frames.data[v->frames.count - 1]; }

/* ---- Expressions --------------------------------------------------------------------------- */

static bool is_subgroup(uint8_t op) { return op >= VYRE_OP_SUBGROUP_ADD && op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN; }

static bool is_collective(uint8_t op) { return op == VYRE_OP_SHOULD_STOP || op == VYRE_OP_WORKGROUP_UNIFORM_LOAD; }

static bool shows_size(uint8_t op) { return op >= VYRE_OP_LANE && op <= VYRE_OP_NUM_SUBGROUPS; }

static uint64_t own_holds(const void *context, const ir_expr *e) {
  const uint8_t *levels = ((const validator *)context)->u.expr;
  uint64_t holds = 0;
  if (is_collective(e->op)) holds |= HOLDS_COLLECTIVE;
  if (is_subgroup(e->op)) holds |= HOLDS_SUBGROUP | HOLDS_SIZE;
  if (shows_size(e->op)) holds |= HOLDS_SIZE;
  if (e->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD && levels[e->arg[0]] > IR_LEVEL_WORKGROUP) holds |= HOLDS_BAD_INDEX;
  if (e->op == VYRE_OP_SUBGROUP_BROADCAST && levels[e->arg[1]] > IR_LEVEL_SUBGROUP) holds |= HOLDS_BAD_LANE;
  return holds;
}

/* The spelling of the first operation of this kind in a statement. */
static const char *spelling(const validator *v, uint32_t stmt, uint64_t kind) {
  if (v->errors >= VYRE_MAX_DIAGNOSTICS) return "an operation"; /* nobody will read it */
  uint32_t count;
  const uint32_t *operands = ir_operands(v->p, ir_stmt_at(v->p, stmt), &count);
  const ir_expr *e = NULL;
  do {
    while (count > 1 && (v->holds[*operands] & kind) == 0) operands++, count--;
    e = ir_expr_at(v->p, *operands);
    operands = e->arg;
    count = ir_op_arity[e->op];
  } while (!(kind == HOLDS_COLLECTIVE ? is_collective(e->op) : is_subgroup(e->op)));
  return vyre_op_describe(e->op)->spelling;
}

/* ---- Flow ---------------------------------------------------------------------------------- */

/* Says why not all of the scope come to |what|, which needs flow of at least |level|. */
static void report_flow(validator *v, vyre_code code, uint32_t stmt, const char *what, ir_level level) {
  const frame *f = top(v);
  if (f->condition > level)
    report(v, code, stmt, "%s stands under a condition that differs within the %s", what, scopes[level]);
  else if (f->bounds > level)
    report(v, code, stmt, "%s stands in a for whose bounds differ within the %s", what, scopes[level]);
  else
    report(v, code, stmt, "a break, continue, return or trap that only a part of the %s takes can skip %s",
           scopes[level], what);
}

/* An operation of the whole workgroup: a barrier, or what holds or needs one. */
static void meet_collective(validator *v, uint32_t stmt, const char *what) {
  if (v->u.forward[stmt] > IR_LEVEL_WORKGROUP) report_flow(v, VYRE_V10, stmt, what, IR_LEVEL_WORKGROUP);
  frame *f = top(v);
  f->collective = true;
  if (!f->is_if) f->late_break = f->late_return = 0;
}

static void check_expressions(validator *v, uint32_t stmt) {
  if (v->holds == NULL) return;
  uint64_t holds = ir_union_of_statement(v->p, ir_stmt_at(v->p, stmt), v->holds);
  if (holds == 0) return;
  if ((holds & HOLDS_COLLECTIVE) != 0) meet_collective(v, stmt, spelling(v, stmt, HOLDS_COLLECTIVE));
  if ((holds & HOLDS_SUBGROUP) != 0 && v->u.flow[stmt] > IR_LEVEL_SUBGROUP)
    report_flow(v, VYRE_V132, stmt, spelling(v, stmt, HOLDS_SUBGROUP), IR_LEVEL_SUBGROUP);
  if ((holds & HOLDS_BAD_INDEX) != 0)
    report(v, VYRE_V10, stmt, "the index of workgroup_uniform_load differs within the workgroup");
  if ((holds & HOLDS_BAD_LANE) != 0)
    report(v, VYRE_V132, stmt, "the lane of subgroup_broadcast differs within the subgroup");
  if ((holds & HOLDS_SIZE) != 0 && v->p->subgroup == 0 && !v->size_shows) {
    v->size_shows = true;
    report(v, VYRE_W3, stmt, "no size is fixed, and it shows here");
  }
}

static void check_workgroup_copy(validator *v, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(v->p, stmt);
  meet_collective(v, stmt, "copy_async workgroup");
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) {
    if (v->u.expr[s->arg[i]] <= IR_LEVEL_WORKGROUP) continue;
    report(v, VYRE_V10, stmt, "an operand of copy_async workgroup differs within the workgroup");
    return;
  }
}

static void note_jump(validator *v, uint32_t stmt) {
  frame *f = top(v);
  bool leaves_loop = ir_stmt_at(v->p, stmt)->op == VYRE_STMT_BREAK;
  if (!leaves_loop) f->some_return = stmt;
  if (v->u.leaving[stmt] <= IR_LEVEL_WORKGROUP) return;
  uint32_t *late = leaves_loop ? &f->late_break : &f->late_return;
  if (*late == 0) *late = stmt;
}

static bool open_frame(validator *v, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(v->p, stmt);
  frame f = { .condition = top(v)->condition, .bounds = top(v)->bounds, .entry = v->u.forward[stmt] };
  f.is_if = s->op == VYRE_STMT_IF;
  uint8_t *weakest = f.is_if ? &f.condition : &f.bounds;
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) {
    uint8_t level = v->u.expr[s->arg[i]];
    if (level > *weakest) *weakest = level;
    if (level > f.entry) f.entry = level;
  }
  return vyre_vector_push(&v->frames, f);
}

/* Says which jump leaves a loop late. The first is enough: those behind it may be taken by a part because of it. */
static void report_late(validator *v, const frame *f) {
  bool by_break = f->late_break != 0 && (f->late_return == 0 || f->late_break < f->late_return);
  uint32_t stmt = by_break ? f->late_break : f->late_return;
  if (stmt == 0) return;
  static const char names[][8] = { "break", "return", "trap" };
  uint8_t op = ir_stmt_at(v->p, stmt)->op;
  report(v, VYRE_V55, stmt, "only a part of the workgroup may take this %s, and the others come to the barrier again",
         names[op == VYRE_STMT_BREAK ? 0 : op == VYRE_STMT_RETURN ? 1 : 2]);
}

static void close_frame(validator *v, uint32_t stmt) {
  frame f = v->frames.data[--v->frames.count];
  if (!f.is_if) {
    if (f.late_return == 0 && v->u.leaving[stmt] > IR_LEVEL_WORKGROUP) f.late_return = f.some_return;
    if (f.collective && f.entry <= IR_LEVEL_WORKGROUP) {
      report_late(v, &f);
      f.late_return = 0;
    }
    f.late_break = 0;
  }
  frame *outer = top(v);
  outer->collective |= f.collective;
  if (outer->late_break == 0) outer->late_break = f.late_break;
  if (outer->late_return == 0) outer->late_return = f.late_return;
  if (outer->some_return == 0) outer->some_return = f.some_return;
}

/* False without memory. */
static bool check(validator *v, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(v->p, stmt);
  check_expressions(v, stmt);
  switch (s->op) {
    case VYRE_STMT_BARRIER: meet_collective(v, stmt, "barrier"); break;
    case VYRE_STMT_COMMIT: meet_collective(v, stmt, "commit"); break;
    case VYRE_STMT_WAIT: meet_collective(v, stmt, "wait"); break;
    case VYRE_STMT_COPY_ASYNC:
      if (s->aux != 0) check_workgroup_copy(v, stmt);
      break;
    case VYRE_STMT_GRID_BARRIER:
      if (v->u.flow[stmt] > IR_LEVEL_GRID) report_flow(v, VYRE_V131, stmt, "grid_barrier", IR_LEVEL_GRID);
      break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP: note_jump(v, stmt); break;
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP: return open_frame(v, stmt);
    default: break;
  }
  return true;
}

static bool check_all(validator *v) {
  if (!vyre_vector_push(&v->frames, (frame){ 0 })) return false;
  bool good = true;
  ir_walk walk = ir_walk_begin(v->p);
  for (ir_walk_event event; good && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    if (event == IR_WALK_STMT) good = check(v, walk.stmt);
    if (event == IR_WALK_LEAVE && ir_is_conditional(ir_stmt_at(v->p, walk.stmt))) close_frame(v, walk.stmt);
  }
  return ir_walk_finish(&walk) && good;
}

static bool has_any(const vyre_program *p, bool (*is)(uint8_t op)) {
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++)
    if (ir_has_op(p, op) && is((uint8_t)op)) return true;
  return false;
}

static bool holds_something(uint8_t op) { return is_collective(op) || is_subgroup(op) || shows_size(op); }

static bool is_atomic(uint8_t op) { return op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE; }

/* Whether a statement of a program asks who comes to it. */
static bool has_barrier(const vyre_program *p) {
  const uint64_t collective = 1ull << VYRE_STMT_BARRIER | 1ull << VYRE_STMT_GRID_BARRIER | 1ull << VYRE_STMT_COMMIT |
                              1ull << VYRE_STMT_WAIT | 1ull << VYRE_STMT_COPY_ASYNC;
  return (p->info.stmt_kinds & collective) != 0;
}

vyre_status ir_validate(const vyre_program *p, vyre_diagnostics *d, vyre_error *error) {
  validator v = { .p = p, .d = d, .error = error };
  bool holds = has_any(p, holds_something), races = has_any(p, is_atomic);
  if (!holds && !races && !has_barrier(p)) return VYRE_OK; /* nothing asks, as in many programs */
  if (!holds && !races && ir_plainly_uniform(p)) return VYRE_OK;
  bool good = ir_uniformity_create(&v.u, p);
  if (good && holds) good = (v.holds = ir_union_of_operands(p, own_holds, &v)) != NULL;
  good = good && check_all(&v) && (!races || ir_lint_races(p, &v.u.intervals, d));
  ir_uniformity_free(&v.u);
  free(v.holds);
  vyre_vector_free(&v.frames);
  if (!good) return vyre_fail_memory(error, ir_text(p, p->name));
  return v.errors > 0 ? VYRE_ERR_INVALID_PROGRAM : VYRE_OK;
}
