/* Dead stores: what the same block overwrites before anyone reads it, and what is stored to memory that nobody ever
 * loads. */
#include <string.h>

#include "opt/pass.h"
#include "opt/passes/memory.h"

/* A store that nobody has read yet, and that stands in the present block. */
typedef struct pending {
  uint32_t key, binding, stmt;
  uint32_t before; /* the entry of that key before, + 1 */
  uint32_t reads;  /* of the binding, when it was stored */
} pending;

typedef struct dead_stores {
  opt_context *c;
  const opt_facts *facts;
  uint8_t *dead;                /* by statement */
  uint32_t reads[OPT_BINDING_GROUPS]; /* how often one of the group may have been read */
  uint32_t everything;          /* the same for all bindings at once */
  uint64_t loaded;              /* bits of the bindings that anything loads */
  VYRE_VECTOR(pending) entries;
  VYRE_VECTOR(uint32_t) last;   /* by expression: the last entry of that key, + 1 */
} dead_stores;

static void out_of_memory(dead_stores *d) {
  if (d->c->unit->fault == OPT_FINE) d->c->unit->fault = OPT_NO_MEMORY;
}

static void forget_entries(dead_stores *d) {
  while (d->entries.count > 0) d->last.data[d->entries.data[--d->entries.count].key] = 0;
}

static uint32_t *last_of(dead_stores *d, uint32_t key) {
  while (d->last.count <= key && vyre_vector_push(&d->last, 0)) {}
  if (d->last.count > key) return &d->last.data[key];
  out_of_memory(d);
  return NULL;
}

static void note_reads(dead_stores *d, uint64_t bits) {
  for (; bits != 0; bits &= bits - 1) d->reads[__builtin_ctzll(bits)]++;
}

/* The entry that this store overwrites, and itself as one. */
static void note_store(dead_stores *d, uint32_t stmt) {
  opt_unit *u = d->c->unit;
  const ir_stmt *s = opt_stmt(u, stmt);
  uint32_t key = opt_index_key(u, s->arg[0]), binding = s->arg[4], now;
  uint32_t *last = key != 0 ? last_of(d, key) : NULL;
  if (last == NULL) return;
  now = d->reads[opt_binding_group(binding)] + d->everything;
  uint32_t tried = 0;
  for (uint32_t i = *last; i != 0 && tried < OPT_REMEMBERED; i = d->entries.data[i - 1].before, tried++) {
    pending *p = &d->entries.data[i - 1];
    if (p->binding != binding) continue;
    if (p->reads == now && opt_can_drop(u, opt_stmt(u, p->stmt)->arg[1])) d->dead[p->stmt] = 1;
    p->stmt = stmt;
    p->reads = now;
    return;
  }
  if (vyre_vector_push(&d->entries, ((pending){ key, binding, stmt, *last, now }))) *last = d->entries.count;
  else out_of_memory(d);
}

/* Stores that nobody can see: to shared or local memory that nothing loads. */
static bool is_never_read(const dead_stores *d, const ir_stmt *s) {
  const opt_unit *u = d->c->unit;
  uint8_t access = u->program->buffers.data[s->arg[4]].access;
  bool inner = access == VYRE_ACCESS_SHARED || access == VYRE_ACCESS_LOCAL;
  return inner && (d->loaded & opt_binding_bit(s->arg[4])) == 0 && opt_can_drop(u, s->arg[0]) &&
         opt_can_drop(u, s->arg[1]);
}

static void look_at(dead_stores *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->c->unit, stmt);
  const opt_stmt_facts *f = &d->facts->stmt[stmt];
  const uint32_t others = OPT_IS_FULL_FENCE | OPT_HAS_RETURN;
  note_reads(d, f->reads);
  if ((f->flags & others) != 0) d->everything++;
  if (s->op == VYRE_STMT_COPY_ASYNC) d->everything++;
  if (s->op != VYRE_STMT_STORE) return;
  if (is_never_read(d, s)) d->dead[stmt] = 1;
  else if (opt_can_drop(d->c->unit, s->arg[0])) note_store(d, stmt);
}

/* Marks dead stores, block by block; what stands in a block of its own ends all that is pending around it. */
static void find_all(dead_stores *d) {
  opt_unit *u = d->c->unit;
  ir_walk walk = ir_walk_begin(u->program);
  for (ir_walk_event event; u->fault == OPT_FINE && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    if (event == IR_WALK_STMT) look_at(d, walk.stmt);
    else forget_entries(d);
  }
  if (!ir_walk_finish(&walk)) out_of_memory(d);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  dead_stores *d = context;
  (void)e;
  if (!d->dead[old]) return OPT_KEEP;
  opt_note(d->c, "dead_store", s->pos, d->facts->stmt[old].cost);
  return OPT_DROP;
}

bool opt_pass_dead_store_elim(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  const vyre_program *p = c->unit->program;
  dead_stores d = { .c = c, .facts = opt_facts_of(c->unit) };
  if (d.facts == NULL || d.facts->stmt[0].writes == 0) return false;
  d.loaded = d.facts->stmt[0].reads;
  d.dead = calloc(p->stmts.count, 1);
  bool changed = false;
  if (d.dead == NULL) out_of_memory(&d);
  else find_all(&d);
  if (c->unit->fault == OPT_FINE) changed = opt_rewrite(c->unit, &rewriter, &d);
  vyre_vector_free(&d.entries);
  vyre_vector_free(&d.last);
  free(d.dead);
  return changed;
}
