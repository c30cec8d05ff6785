/* Store-to-load forwarding: a load of an element that was stored just before is what was stored.
 *
 * The access must be proved in range, since a store out of range does nothing and a load there gives 0; the value is
 * what a load would make of it, where elements are narrower than values. Between the two nothing may write the buffer
 * but at other literal indices, and nothing may order memory. A value that is more than a leaf gets a `let` in front of
 * its store: a first walk finds which ones do. */
#include <string.h>

#include "opt/pass.h"
#include "opt/passes/memory.h"
#include "opt/range.h"

/* What is known to lie in an element. */
typedef struct stored {
  uint32_t key, binding, stmt;
  uint32_t before;          /* the entry of that key before, + 1 */
  uint32_t fixed, moving;   /* of the binding, when it was stored */
} stored;

/* How often elements at literal and at other indices of a group of buffers may have changed. */
typedef struct versions {
  uint32_t fixed, moving;
} versions;

typedef struct forwarding {
  opt_context *c;
  const opt_facts *facts;
  opt_ranges *ranges;
  opt_map map;
  bool finds;                      /* the first walk */
  uint8_t *wanted;                 /* by store: a load takes its value */
  uint32_t *let;                   /* by store, in the second walk: variable + 1 */
  versions versions[OPT_BINDING_GROUPS];
  uint32_t fences;                 /* how often memory that others see may have changed */
  VYRE_VECTOR(stored) entries;
  VYRE_VECTOR(uint32_t) last;      /* by expression: the last entry of that key, + 1 */
  VYRE_VECTOR(uint32_t) blocks;    /* entries when each open block began */
  uint32_t position;
} forwarding;

static void out_of_memory(forwarding *f) {
  if (f->c->unit->fault == OPT_FINE) f->c->unit->fault = OPT_NO_MEMORY;
}

/* ---- What lies in memory --------------------------------------------------------------------- */

static uint32_t *last_of(forwarding *f, uint32_t key) {
  while (f->last.count <= key && vyre_vector_push(&f->last, 0)) {}
  if (f->last.count > key) return &f->last.data[key];
  out_of_memory(f);
  return NULL;
}

static void forget_entries(forwarding *f, uint32_t count) {
  while (f->entries.count > count) {
    const stored *s = &f->entries.data[--f->entries.count];
    f->last.data[s->key] = s->before;
  }
}

static versions versions_of(const forwarding *f, uint32_t binding) {
  versions v = f->versions[opt_binding_group(binding)];
  if (opt_is_private(f->c->unit, binding)) return v;
  return (versions){ v.fixed + f->fences, v.moving + f->fences };
}

/* All buffers whose bits are in |bits|. */
static void forget_bindings(forwarding *f, uint64_t bits) {
  for (; bits != 0; bits &= bits - 1) {
    versions *v = &f->versions[__builtin_ctzll(bits)];
    v->fixed++;
    v->moving++;
  }
}

/* The store whose value an element still has; 0 if none is known. */
static uint32_t store_to(forwarding *f, uint32_t key, uint32_t binding) {
  opt_unit *u = f->c->unit;
  versions now = versions_of(f, binding);
  bool literal = opt_is_literal(u, key);
  uint32_t i = key < f->last.count ? f->last.data[key] : 0;
  for (uint32_t tried = 0; i != 0 && tried < OPT_REMEMBERED; i = f->entries.data[i - 1].before, tried++) {
    const stored *s = &f->entries.data[i - 1];
    if (s->binding == binding) return (literal ? s->fixed == now.fixed : s->moving == now.moving) ? s->stmt : 0;
  }
  return 0;
}

static void note_store(forwarding *f, uint32_t stmt) {
  opt_unit *u = f->c->unit;
  const ir_stmt *s = opt_stmt(u, stmt);
  uint32_t key = opt_index_key(u, s->arg[0]), binding = s->arg[4];
  versions *group = &f->versions[opt_binding_group(binding)];
  group->moving++; /* a literal index may be any other's value */
  if (key == 0 || !opt_is_literal(u, key)) group->fixed++;
  uint32_t *last = key != 0 ? last_of(f, key) : NULL;
  if (last == NULL || !opt_range_proves(f->ranges, s->arg[0], binding)) {
    group->fixed++;
    return;
  }
  versions now = versions_of(f, binding);
  if (!vyre_vector_push(&f->entries, ((stored){ key, binding, stmt, *last, now.fixed, now.moving }))) out_of_memory(f);
  else *last = f->entries.count;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* Whether the stored value can be written where the load stands. */
static bool is_leaf(const opt_unit *u, uint32_t e) {
  return ir_op_arity[opt_at(u, e)->op] == 0 && (opt_flags(u, e) & OPT_FIXED_IN_PLACE) == 0;
}

static uint32_t as_reloaded(opt_unit *u, uint32_t binding, uint32_t value) {
  vyre_type element = (vyre_type)u->program->buffers.data[binding].element;
  return ir_is_narrow(element) ? opt_cast(u, element, value) : value;
}

static uint32_t forward(void *context, uint32_t e) {
  forwarding *f = context;
  opt_unit *u = f->c->unit;
  const ir_expr n = *opt_at(u, e);
  if (n.op != VYRE_OP_LOAD) return e;
  uint32_t key = opt_index_key(u, n.arg[0]), store = key != 0 ? store_to(f, key, n.arg[3]) : 0;
  if (store == 0) return e;
  uint32_t value = opt_stmt(u, store)->arg[1];
  f->wanted[store] = 1;
  if (f->finds) return e;
  if (f->let[store] != 0) value = opt_var_value(u, f->let[store] - 1);
  else if (!is_leaf(u, value)) return e; /* the first walk did not see this load as it is now */
  opt_note(f->c, "forwarded", f->position, opt_meta_of(u, e)->cost);
  return as_reloaded(u, n.arg[3], value);
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* What the statement itself changes, before its own loads are looked at: it may change it before it loads. */
static void forget_own(forwarding *f, const ir_stmt *s) {
  opt_unit *u = f->c->unit;
  uint32_t count;
  const uint32_t *operands = opt_operands(u, s, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (operands[i] == 0) continue;
    forget_bindings(f, opt_meta_of(u, operands[i])->writes);
    if ((opt_flags(u, operands[i]) & (OPT_FENCE | OPT_BARRIER)) != 0) f->fences++;
  }
}

static void forget_after(forwarding *f, const ir_stmt *s) {
  switch (s->op) {
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER:
    case VYRE_STMT_FENCE:
    case VYRE_STMT_COMMIT: f->fences++; break;
    case VYRE_STMT_WAIT: /* copies into local memory end, too */
      f->fences++;
      forget_bindings(f, UINT64_MAX);
      break;
    case VYRE_STMT_COPY_ASYNC:
      forget_bindings(f, opt_binding_bit(s->arg[3]));
      f->fences++;
      break;
    default: break;
  }
}

/* All that a statement with blocks may change, in any turn of it. */
static void forget_inside(forwarding *f, uint32_t stmt) {
  const opt_stmt_facts *facts = &f->facts->stmt[stmt];
  forget_bindings(f, facts->writes);
  if ((facts->flags & OPT_IS_FULL_FENCE) != 0) f->fences++;
  if ((facts->flags & OPT_HAS_ASYNC) != 0) forget_bindings(f, UINT64_MAX);
}

/* In the second walk: the value gets a name, where a load takes it and it is no leaf. */
static void name_value(forwarding *f, opt_edit *e, uint32_t old, ir_stmt *s) {
  opt_unit *u = f->c->unit;
  if (f->finds || !f->wanted[old] || is_leaf(u, s->arg[1])) return;
  uint32_t var = opt_new_named_var(u, "stored", opt_type(u, s->arg[1]), VYRE_STMT_LET);
  if (var == UINT32_MAX) return;
  opt_put_let(e, var, s->arg[1], s->pos);
  s->arg[1] = opt_var_value(u, var);
  f->let[old] = var + 1;
}

/* An index with an effect is evaluated before the value, which then can not go in front. */
static bool can_name(const opt_unit *u, const ir_stmt *s) { return opt_is_pure(u, s->arg[0]); }

static void look_at(forwarding *f, opt_edit *e, uint32_t old, ir_stmt *s) {
  f->position = s->pos;
  forget_own(f, s);
  opt_map_reset(&f->map);
  opt_map_operands(&f->map, s);
  if (s->op == VYRE_STMT_STORE && can_name(f->c->unit, s)) {
    name_value(f, e, old, s);
    note_store(f, old);
  } else if (s->op == VYRE_STMT_STORE) {
    forget_bindings(f, opt_binding_bit(s->arg[4]));
  }
  forget_after(f, s);
  if (ir_is_loop(s)) forget_inside(f, old);
  opt_ranges_event(f->ranges, IR_WALK_STMT, old);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  look_at(context, e, old, s);
  return OPT_KEEP;
}

static void block(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  forwarding *f = context;
  (void)e;
  if (!vyre_vector_push(&f->blocks, f->entries.count)) out_of_memory(f);
  if (owner != 0) opt_ranges_event(f->ranges, orelse ? IR_WALK_ORELSE : IR_WALK_BODY, owner);
}

/* The values of a block have names that end with it. */
static void end(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  forwarding *f = context;
  (void)e, (void)owner, (void)orelse;
  if (f->blocks.count > 0) forget_entries(f, f->blocks.data[--f->blocks.count]);
}

static void leave(void *context, opt_edit *e, uint32_t old) {
  forwarding *f = context;
  (void)e;
  forget_inside(f, old);
  opt_ranges_event(f->ranges, IR_WALK_LEAVE, old);
}

/* The first walk: nothing is rewritten, but |wanted| is filled. */
static void find_all(forwarding *f) {
  opt_unit *u = f->c->unit;
  ir_walk walk = ir_walk_begin(u->program);
  block(f, NULL, 0, false);
  for (ir_walk_event event; u->fault == OPT_FINE && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    ir_stmt s = *opt_stmt(u, walk.stmt);
    if (event == IR_WALK_STMT) look_at(f, NULL, walk.stmt, &s);
    if (event == IR_WALK_ORELSE || event == IR_WALK_LEAVE) end(f, NULL, walk.stmt, false);
    if (event == IR_WALK_BODY || event == IR_WALK_ORELSE) block(f, NULL, walk.stmt, event == IR_WALK_ORELSE);
    if (event == IR_WALK_LEAVE) leave(f, NULL, walk.stmt);
  }
  if (!ir_walk_finish(&walk)) out_of_memory(f);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool prepare(forwarding *f) {
  const vyre_program *p = f->c->unit->program;
  if (f->ranges != NULL && !opt_ranges_fine(f->ranges)) out_of_memory(f);
  opt_ranges_free(f->ranges);
  f->ranges = opt_ranges_create(p);
  f->entries.count = f->blocks.count = 0;
  if (f->last.count > 0) memset(f->last.data, 0, f->last.count * sizeof *f->last.data);
  if (f->wanted == NULL) f->wanted = calloc(p->stmts.count, 1);
  if (f->let == NULL) f->let = calloc(p->stmts.count, sizeof *f->let);
  bool fine = f->ranges != NULL && f->wanted != NULL && f->let != NULL;
  if (!fine) out_of_memory(f);
  return fine;
}

static bool any_wanted(const forwarding *f) {
  for (uint32_t s = 1; s < f->c->unit->program->stmts.count; s++)
    if (f->wanted[s]) return true;
  return false;
}

bool opt_pass_store_to_load_forward(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .block = block, .end = end, .leave = leave };
  forwarding f = { .c = c, .facts = opt_facts_of(c->unit), .finds = true };
  if (f.facts == NULL || f.facts->stmt[0].writes == 0) return false;
  f.map = opt_map_begin(c->unit, forward, &f);
  bool changed = false;
  if (prepare(&f)) find_all(&f);
  if (c->unit->fault == OPT_FINE && any_wanted(&f)) {
    f.finds = false;
    if (prepare(&f)) changed = opt_rewrite(c->unit, &rewriter, &f);
  }
  if (f.ranges != NULL && !opt_ranges_fine(f.ranges)) out_of_memory(&f);
  opt_map_end(&f.map);
  opt_ranges_free(f.ranges);
  vyre_vector_free(&f.entries);
  vyre_vector_free(&f.last);
  vyre_vector_free(&f.blocks);
  free(f.wanted);
  free(f.let);
  return changed;
}
