/* Building the fused program: declarations, then the arms one after the other. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "plan/fuse.h"

typedef struct block {
  uint32_t wraps; /* `if`s that are open in it, around what follows */
  bool in_loop;
} block;

typedef struct weave {
  plan_fusion *f;
  vyre_builder *b;
  uint32_t at; /* the arm */
  ir_rebuild arm;
  bool structured;     /* its returns are not to end the invocation */
  vyre_var ended;
  uint32_t inverted;   /* the `if` whose block is left out now; 0 for none */
  VYRE_VECTOR(block) blocks;
} weave;

/* ---- Statements of an arm -------------------------------------------------------------------- */

static block *innermost(weave *w) { return &w->blocks.data[w->blocks.count - 1]; }

static void open_block(weave *w, bool in_loop) {
  if (!vyre_vector_push(&w->blocks, ((block){ 0, in_loop }))) w->arm.out_of_memory = true;
}

static void close_wraps(weave *w) {
  for (block *top = innermost(w); top->wraps > 0; top->wraps--) vyre_build_end(w->b);
}

/* What follows in this block is for those for whom |condition| is false. */
static void wrap_unless(weave *w, vyre_expr condition) {
  vyre_build_if(w->b, ir_build_operator(w->b, VYRE_OP_LNOT, &condition));
  innermost(w)->wraps++;
}

static vyre_expr has_ended(weave *w) { return vyre_build_var_value(w->b, w->ended); }

static void put_return(weave *w, uint8_t marks) {
  if ((marks & PLAN_RETURNS) == 0) return;
  vyre_build_assign(w->b, w->ended, vyre_build_bool(w->b, true));
  if (innermost(w)->in_loop) vyre_build_simple(w->b, VYRE_STMT_BREAK);
}

/* Behind a statement in which invocations may have ended. In a loop they have left it already. */
static void resume(weave *w, const ir_stmt *s) {
  if (innermost(w)->in_loop && ir_is_loop(s)) {
    vyre_build_if(w->b, has_ended(w));
    vyre_build_simple(w->b, VYRE_STMT_BREAK);
    vyre_build_end(w->b);
  }
  if (!innermost(w)->in_loop && s->next != 0) wrap_unless(w, has_ended(w));
}

static void put_statement(weave *w, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(w->arm.p, stmt);
  uint8_t marks = w->structured ? w->f->arms[w->at].marks[stmt] : 0;
  if (w->structured && s->op == VYRE_STMT_RETURN) {
    put_return(w, marks);
  } else if ((marks & PLAN_INVERTS) != 0) {
    wrap_unless(w, ir_rebuild_expr(&w->arm, s->arg[0]));
    w->inverted = stmt;
  } else {
    ir_rebuild_stmt(&w->arm, s);
  }
}

static void leave_statement(weave *w, uint32_t stmt) {
  close_wraps(w);
  vyre_build_end(w->b);
  w->blocks.count--;
  bool returns = w->structured && (w->f->arms[w->at].marks[stmt] & PLAN_RETURNS) != 0;
  if (returns) resume(w, ir_stmt_at(w->arm.p, stmt));
}

static void put_event(weave *w, ir_walk_event event, uint32_t stmt) {
  if (w->inverted != 0) {
    if (event == IR_WALK_LEAVE && stmt == w->inverted) w->inverted = 0;
    return;
  }
  switch (event) {
    case IR_WALK_STMT: put_statement(w, stmt); break;
    case IR_WALK_BODY: open_block(w, innermost(w)->in_loop || ir_is_loop(ir_stmt_at(w->arm.p, stmt))); break;
    case IR_WALK_ORELSE:
      close_wraps(w);
      vyre_build_else(w->b);
      break;
    default: leave_statement(w, stmt); break;
  }
}

static void put_statements(weave *w) {
  open_block(w, false);
  ir_walk walk = ir_walk_begin(w->arm.p);
  for (ir_walk_event event; !w->arm.out_of_memory && (event = ir_walk_next(&walk)) != IR_WALK_END;)
    put_event(w, event, walk.stmt);
  if (!ir_walk_finish(&walk)) w->arm.out_of_memory = true;
  if (w->arm.out_of_memory) return;
  close_wraps(w);
  w->blocks.count--;
}

/* ---- Memory that starts as zero -------------------------------------------------------------- */

static vyre_expr zero_of(weave *w, vyre_type element) {
  vyre_type value = (vyre_type)ir_type_at(element)->value;
  vyre_expr zero = vyre_build_literal(w->b, ir_component(value), 0);
  return ir_is_vector(value) ? vyre_build_vector(w->b, value, &zero, 1) : zero;
}

static uint32_t free_name(weave *w, const char *like) {
  uint32_t number = 0;
  return ir_rebuild_free_name(&w->arm, ir_builder_intern(w->b, like, (uint32_t)strlen(like)), &number);
}

/* lid as one number, x fastest. */
static vyre_expr local_index(weave *w) {
  const uint32_t *size = w->f->workgroup;
  vyre_expr index = vyre_build_leaf(w->b, VYRE_OP_LID, 2);
  for (uint32_t axis = 2; axis-- > 0;) {
    index = vyre_build_binary(w->b, VYRE_OP_MUL, index, vyre_build_u32(w->b, size[axis]));
    index = vyre_build_binary(w->b, VYRE_OP_ADD, index, vyre_build_leaf(w->b, VYRE_OP_LID, axis));
  }
  return index;
}

/* Each invocation its share of workgroup memory, or the whole of its own. */
static void clear(weave *w, uint32_t binding, const ir_buffer *array) {
  bool is_shared = array->access == VYRE_ACCESS_SHARED;
  const uint32_t *size = w->f->workgroup;
  vyre_expr from = vyre_build_u64(w->b, 0), step = vyre_build_u64(w->b, 1);
  if (is_shared) {
    from = vyre_build_cast(w->b, VYRE_TYPE_U64, local_index(w));
    step = vyre_build_u64(w->b, (uint64_t)size[0] * size[1] * size[2]);
  }
  vyre_var k = ir_build_for(w->b, free_name(w, "k"), from, vyre_build_u64(w->b, array->length), step);
  vyre_build_store(w->b, binding, vyre_build_var_value(w->b, k), zero_of(w, (vyre_type)array->element));
  vyre_build_end(w->b);
}

/* Whether an arm before has written the array. */
static bool is_used_up(const plan_fusion *f, const plan_user *user) {
  for (uint32_t k = user->before; k != 0; k = f->users.data[k - 1].before)
    if (plan_use_of(f, &f->users.data[k - 1])->writes) return true;
  return false;
}

/* Arrays that an arm shares with those before it are zero again when it begins, as it was promised. */
static void clear_arrays(weave *w) {
  const plan_fusion *f = w->f;
  bool cleared_shared = false;
  for (uint32_t i = 0; i < w->arm.p->buffers.count; i++) {
    const ir_buffer *array = plan_buffer(f, w->at, i);
    const plan_use *use = &f->arms[w->at].uses[i];
    bool is_shared = array->access == VYRE_ACCESS_SHARED;
    if ((!is_shared && array->access != VYRE_ACCESS_LOCAL) || !(use->reads || use->writes)) continue;
    if (!is_used_up(f, plan_user_of(f, w->at, i))) continue;
    if (is_shared && !cleared_shared && f->barriers[w->at - 1] == PLAN_NO_BARRIER)
      vyre_build_simple(w->b, VYRE_STMT_BARRIER);
    cleared_shared |= is_shared;
    clear(w, w->arm.bindings[i], array);
  }
  if (cleared_shared) vyre_build_simple(w->b, VYRE_STMT_BARRIER);
}

/* ---- Arms ------------------------------------------------------------------------------------ */

static bool is_last(const weave *w) { return w->at + 1 == w->f->count; }

/* Copies that are still under way belong to this arm: the next one may count groups of its own. */
static void finish_copies(weave *w) {
  if (is_last(w) || !plan_has_stmt(w->arm.p, VYRE_STMT_COPY_ASYNC)) return;
  vyre_build_simple(w->b, VYRE_STMT_COMMIT);
  vyre_build_wait(w->b, 0);
}

static void put_body(weave *w) {
  const plan_arm *a = &w->f->arms[w->at];
  clear_arrays(w);
  w->structured = !is_last(w) && plan_has_stmt(a->p, VYRE_STMT_RETURN);
  if (w->structured && a->asks_ended)
    w->ended = ir_build_declare(w->b, VYRE_STMT_VAR, free_name(w, "ended"), vyre_build_bool(w->b, false));
  put_statements(w);
  if (!w->arm.out_of_memory) finish_copies(w);
}

static void put_barrier(weave *w) {
  plan_barrier barrier = is_last(w) ? PLAN_NO_BARRIER : w->f->barriers[w->at];
  if (barrier == PLAN_NO_BARRIER) return;
  vyre_build_simple(w->b, barrier == PLAN_GRID_BARRIER ? VYRE_STMT_GRID_BARRIER : VYRE_STMT_BARRIER);
}

/* False without memory. */
static bool put_arm(weave *w) {
  const plan_fusion *f = w->f;
  char suffix[16];
  snprintf(suffix, sizeof suffix, "_a%u", w->at);
  ir_rebuild_begin(&w->arm, f->arms[w->at].p, w->b);
  w->arm.is_placeless = true;
  if (!f->is_shared) w->arm.suffix = suffix;
  if (!w->arm.out_of_memory) {
    for (uint32_t i = 0; i < w->arm.p->buffers.count; i++) w->arm.bindings[i] = plan_user_of(f, w->at, i)->entry;
    for (uint32_t i = 0; i < w->arm.p->params.count; i++)
      w->arm.params[i] = f->param_of.data[f->first_param[w->at] + i];
    if (!f->is_shared) vyre_build_block(w->b);
    put_body(w);
    if (!f->is_shared) vyre_build_end(w->b);
    put_barrier(w);
  }
  bool good = !w->arm.out_of_memory;
  ir_rebuild_end(&w->arm);
  return good;
}

/* ---- Declarations ---------------------------------------------------------------------------- */

/* What one arm may do with floats, all must let it: freedoms that an arm has not are freedoms of none. */
static void declare_attributes(weave *w) {
  uint32_t all = VYRE_PROGRAM_CONTRACT | VYRE_PROGRAM_FLUSH, one = 0, ulp = VYRE_ULP_UNSET, subgroup = 0;
  for (uint32_t i = 0; i < w->f->count; i++) {
    const vyre_program *p = w->f->arms[i].p;
    all &= p->attributes;
    one |= p->attributes & (VYRE_PROGRAM_PROGRESS_WORKGROUPS | VYRE_PROGRAM_NONCOMPOSABLE);
    if (p->ulp < ulp) ulp = p->ulp;
    if (p->subgroup != 0) subgroup = p->subgroup;
  }
  vyre_build_attributes(w->b, all | one);
  if (ulp != VYRE_ULP_UNSET) vyre_build_ulp(w->b, ulp);
  if (subgroup != 0) vyre_build_subgroup(w->b, subgroup);
}

static void declare(weave *w) {
  const plan_fusion *f = w->f;
  vyre_build_workgroup(w->b, f->workgroup[0], f->workgroup[1], f->workgroup[2]);
  declare_attributes(w);
  for (uint32_t i = 0; i < f->params.count; i++) {
    const vyre_program *p = f->arms[f->params.data[i].arm].p;
    const ir_param *param = &p->params.data[f->params.data[i].param];
    vyre_build_param(w->b, ir_text(p, param->name), (vyre_type)param->type);
  }
  for (uint32_t i = 0; i < f->entries.count; i++) {
    const plan_entry *e = &f->entries.data[i];
    const ir_buffer *first = plan_buffer(f, e->arm, e->binding);
    const char *name = ir_text(f->arms[e->arm].p, first->name);
    if (e->access == VYRE_ACCESS_TABLE)
      vyre_build_table(w->b, name, (vyre_type)first->element, first->data, first->length);
    else vyre_build_buffer(w->b, (vyre_access)e->access, name, (vyre_type)first->element, e->length);
  }
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Whether the builder's first complaint is this one. */
static bool is_about(const vyre_error *found, vyre_code code) {
  const char *name = vyre_code_name(code);
  size_t bytes = strlen(name);
  return strncmp(found->text, name, bytes) == 0 && found->text[bytes] == ':';
}

static uint32_t first_that_ends(const plan_fusion *f) {
  for (uint32_t i = 0; i + 1 < f->count; i++)
    if (plan_has_stmt(f->arms[i].p, VYRE_STMT_TRAP) || plan_has_stmt(f->arms[i].p, VYRE_STMT_RETURN)) return i;
  return VYRE_NO_ARM;
}

/* What the builder found: flow that is not uniform any more, since invocations end early or a `read` buffer became rw;
 * an index beyond a length that only another arm has; a limit. */
static vyre_status explain(plan_fusion *f, const vyre_error *found) {
  static const vyre_code flow[] = { VYRE_V10, VYRE_V55, VYRE_V131, VYRE_V132 };
  static const vyre_code limits[] = { VYRE_V18, VYRE_V19, VYRE_V33, VYRE_V143 };
  if (found->status != VYRE_ERR_INVALID_PROGRAM) return vyre_fail(f->error, found->status, f->name, "%s", found->text);
  uint32_t arm = first_that_ends(f);
  for (size_t i = 0; i < sizeof flow / sizeof *flow; i++)
    if (is_about(found, flow[i]) && arm != VYRE_NO_ARM)
      return plan_refuse(f, VYRE_FUSE_EARLY_END, arm, VYRE_NO_ARM, "",
                         "arm %u (%s) ends some invocations, which then miss what all must meet in: %s", arm,
                         plan_arm_name(f, arm), found->text);
  if (f->has_widened || is_about(found, VYRE_V36))
    return plan_refuse(f, VYRE_FUSE_CONTRACT, VYRE_NO_ARM, VYRE_NO_ARM, "", "joined, a buffer breaks an arm: %s",
                       found->text);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (is_about(found, limits[i]))
      return vyre_fail(f->error, VYRE_ERR_LIMIT, f->name, "The fused program passes a limit. %s", found->text);
  return vyre_fail(f->error, VYRE_ERR_INTERNAL, f->name, "Fusion made an invalid program. %s Fix: report this.",
                   found->text);
}

vyre_status plan_weave(plan_fusion *f, vyre_program **out) {
  weave w = { .f = f };
  vyre_error found = VYRE_ERROR_INIT;
  if (vyre_builder_create(f->name, NULL, &w.b) != VYRE_OK) return vyre_fail_memory(f->error, f->name);
  declare(&w);
  vyre_build_region(w.b, "fused");
  bool good = true;
  for (w.at = 0; good && w.at < f->count; w.at++) good = put_arm(&w);
  vyre_status status = VYRE_OK;
  if (good) vyre_build_end(w.b);
  if (!good) status = vyre_fail_memory(f->error, f->name);
  else if (vyre_builder_finish(w.b, out, &found) != VYRE_OK) status = explain(f, &found);
  vyre_builder_destroy(w.b);
  vyre_vector_free(&w.blocks);
  return status;
}
