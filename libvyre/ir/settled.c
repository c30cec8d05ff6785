/* Sets of buffers are 64-bit words: the first 64 shared buffers can be settled, which is more than
 * fits the workgroup memory of a device. */
#include "ir/settled.h"

#include "ir/walk.h"

static void assign_bits(ir_settled *s, const vyre_program *p) {
  uint64_t bit = 1;
  for (uint32_t i = 0; i < p->buffers.count && bit != 0; i++) {
    if (p->buffers.data[i].access != VYRE_ACCESS_SHARED) continue;
    s->bit[i] = bit;
    bit <<= 1;
  }
  /* An asynchronous copy may write at any time before it is waited for. */
  for (uint32_t i = 1; i < p->stmts.count; i++) {
    const ir_stmt *stmt = ir_stmt_at(p, i);
    if (stmt->op == VYRE_STMT_COPY_ASYNC) s->bit[stmt->arg[3]] = 0;
  }
  for (uint32_t i = 0; i < p->buffers.count; i++) s->any |= s->bit[i] != 0;
}

static uint64_t atomic_writes(const void *context, const ir_expr *e) {
  const ir_settled *s = context;
  bool write = e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE && e->op != VYRE_OP_ATOMIC_LOAD;
  return write ? s->bit[e->arg[3]] : 0;
}

static void note_writes(ir_settled *s, const vyre_program *p, const uint64_t *atomics) {
  for (uint32_t i = 1; i < p->stmts.count; i++) {
    const ir_stmt *stmt = ir_stmt_at(p, i);
    uint64_t writes = ir_union_of_statement(p, stmt, atomics);
    if (stmt->op == VYRE_STMT_STORE) writes |= s->bit[stmt->arg[4]];
    s->written[ir_interval(s->intervals, s->intervals->before[i])] |= writes;
    s->written[ir_interval(s->intervals, s->intervals->after[i])] |= writes;
  }
}

bool ir_settled_create(ir_settled *s, const vyre_program *p, const ir_intervals *intervals) {
  *s = (ir_settled){ .intervals = intervals,
                     .bit = calloc((size_t)p->buffers.count + 1, sizeof *s->bit),
                     .written = calloc((size_t)intervals->joined.count, sizeof *s->written) };
  if (s->bit == NULL || s->written == NULL) return false;
  assign_bits(s, p);
  if (!s->any) return true;
  uint64_t *atomics = ir_union_of_operands(p, atomic_writes, s);
  if (atomics == NULL) return false;
  note_writes(s, p, atomics);
  free(atomics);
  return true;
}

void ir_settled_free(ir_settled *s) {
  free(s->bit);
  free(s->written);
}

bool ir_settled_at(const ir_settled *s, uint32_t stmt, uint64_t bits) {
  const ir_intervals *v = s->intervals;
  uint64_t written = s->written[ir_interval(v, v->before[stmt])] | s->written[ir_interval(v, v->after[stmt])];
  return (written & bits) == 0;
}
