/* Dead buffers: declarations that nothing uses go. What a caller reads back stays in any case, and what a caller binds
 * stays unless it is asked for: without it the program takes fewer bindings. */
#include "opt/pass.h"

/* Whether the program can do without the declaration of a buffer that nothing uses. */
static bool may_go(const opt_context *c, const ir_buffer *b) {
  switch (b->access) {
    case VYRE_ACCESS_SHARED:
    case VYRE_ACCESS_LOCAL:
    case VYRE_ACCESS_TABLE: return true;
    case VYRE_ACCESS_READ: return c->drops_buffers;
    default: return false;
  }
}

static bool names_buffer(vyre_op op) {
  return op == VYRE_OP_LEN || op == VYRE_OP_LEN64 || (op >= VYRE_OP_LOAD && op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD) ||
         (op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE);
}

static void note_uses(const opt_unit *u, const opt_facts *f, uint8_t *used) {
  for (uint32_t e = 1; e < f->exprs; e++)
    if (f->uses[e] != 0 && names_buffer(opt_at(u, e)->op)) used[opt_at(u, e)->arg[3]] = 1;
  for (uint32_t s = 1; s < u->program->stmts.count; s++) {
    const ir_stmt *stmt = opt_stmt(u, s);
    if (stmt->op == VYRE_STMT_STORE) used[stmt->arg[4]] = 1;
    if (stmt->op == VYRE_STMT_COPY_ASYNC) used[stmt->arg[3]] = used[stmt->arg[4]] = 1;
  }
}

bool opt_pass_dead_buffer_elim(opt_context *c) {
  opt_unit *u = c->unit;
  const opt_facts *f = opt_facts_of(u);
  uint32_t count = u->program->buffers.count;
  uint8_t *used = calloc((size_t)count + 1, 1);
  if (u->dropped == NULL) u->dropped = calloc((size_t)count + 1, 1);
  bool fine = f != NULL && used != NULL && u->dropped != NULL, changed = false;
  if (!fine) u->fault = OPT_NO_MEMORY;
  else note_uses(u, f, used);
  for (uint32_t b = 0; fine && b < count; b++) {
    if (used[b] || u->dropped[b] || !may_go(c, &u->program->buffers.data[b])) continue;
    u->dropped[b] = 1;
    changed = true;
    opt_note(c, "declaration", VYRE_NO_POSITION, 0);
  }
  free(used);
  if (changed) u->generation++;
  return changed;
}
