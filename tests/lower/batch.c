#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A vector of one scalar a lane. */
typedef union cell {
  uint32_t u[BATCH_LANES];
  int32_t i[BATCH_LANES];
  float f[BATCH_LANES];
  double d[BATCH_LANES];
  uint64_t l[BATCH_LANES];
} cell;

typedef enum kind { OTHER, BOOL, U32, I32, F32, F64, TO_F32 = 8 /* of TO_FLOAT */ } kind;

/* An instruction: what it does by opcode and kind of its first operand (SELECT: of what it chooses), operands and
 * result by cell. */
typedef struct step {
  uint16_t op;
  uint8_t kind;
  uint32_t x, y, z, to;
  uint32_t skip; /* IF, ELSE: the step after which the arm ends */
} step;

struct batch {
  step *steps;
  uint32_t count, instructions, depth;
  cell *cells, *masks; /* masks: of the lanes that run, one a nested block */
};

/* ---- From the kernel --------------------------------------------------------------------------- */

static kind kind_of(vyre_kernel_type t) {
  if (t.lanes != 1) return OTHER;
  if (t.cls == VYRE_KERNEL_CLASS_BOOL) return BOOL;
  if (t.cls == VYRE_KERNEL_CLASS_UINT && t.bits == 32) return U32;
  if (t.cls == VYRE_KERNEL_CLASS_SINT && t.bits == 32) return I32;
  if (t.cls == VYRE_KERNEL_CLASS_FLOAT && t.bits == 32) return F32;
  if (t.cls == VYRE_KERNEL_CLASS_FLOAT && t.bits == 64) return F64;
  return OTHER;
}

/* Number of leading args that are values. */
static int operands_of(uint32_t op) {
  switch (op) {
    case VYRE_KERNEL_IF: case VYRE_KERNEL_SQRT: case VYRE_KERNEL_CLZ: case VYRE_KERNEL_BITCAST: case VYRE_KERNEL_NOT:
    case VYRE_KERNEL_TO_FLOAT: case VYRE_KERNEL_TO_INT: case VYRE_KERNEL_REFLOAT:
      return 1;
    case VYRE_KERNEL_ADD: case VYRE_KERNEL_SUB: case VYRE_KERNEL_MUL: case VYRE_KERNEL_DIV: case VYRE_KERNEL_MULHI:
    case VYRE_KERNEL_AND: case VYRE_KERNEL_OR: case VYRE_KERNEL_XOR: case VYRE_KERNEL_SHL: case VYRE_KERNEL_SHR:
    case VYRE_KERNEL_MIN: case VYRE_KERNEL_MAX: case VYRE_KERNEL_LT: case VYRE_KERNEL_EQ:
      return 2;
    case VYRE_KERNEL_FMA: case VYRE_KERNEL_SELECT:
      return 3;
    case VYRE_KERNEL_ELSE: case VYRE_KERNEL_END_IF: case VYRE_KERNEL_GET: case VYRE_KERNEL_SET: case VYRE_KERNEL_LOAD:
    case VYRE_KERNEL_STORE: case VYRE_KERNEL_GID:
      return 0;
    default:
      return -1;
  }
}

/* Which cell holds which value: that of one that is not used any more, else a new one. Constants and slots keep
 * theirs. */
typedef struct placing {
  uint32_t *of, *last, *free, free_count, cells;
} placing;

static uint32_t place(placing *p) {
  return p->free_count > 0 ? p->free[--p->free_count] : p->cells++;
}

static void leave(placing *p, uint32_t value, uint32_t at) {
  if (value != 0 && p->last[value] == at) p->free[p->free_count++] = p->of[value], p->last[value] = 0;
}

static const vyre_kernel_insn *insn_at(const vyre_kernel_header *h, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i);
}

static kind kind_of_value(const vyre_kernel_header *h, uint32_t v) {
  return kind_of(VYRE_KERNEL_AT(vyre_kernel_value, h, values, v)->type);
}

/* Values among the args, SET's and STORE's included. */
static int values_of(const vyre_kernel_insn *insn, uint32_t v[3]) {
  int count = operands_of(insn->op);
  for (int k = 0; k < count; k++) v[k] = insn->arg[k];
  if (insn->op == VYRE_KERNEL_SET || insn->op == VYRE_KERNEL_STORE) v[count++] = insn->arg[1];
  return count;
}

static bool translate(const vyre_kernel_header *h, batch *b, placing *p, uint32_t slots, uint32_t *unknown) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < h->insns.count; i++) {
    const vyre_kernel_insn *insn = insn_at(h, i);
    uint32_t v[3] = { 0 };
    int count = values_of(insn, v);
    *unknown = insn->op;
    if (count < 0) return false;
    step *s = &b->steps[i];
    *s = (step){ .op = insn->op, .x = p->of[v[0]], .y = p->of[v[1]], .z = p->of[v[2]] };
    if (count > 0) s->kind = (uint8_t)kind_of_value(h, v[insn->op == VYRE_KERNEL_SELECT ? 1 : 0]);
    if (insn->op == VYRE_KERNEL_TO_FLOAT && kind_of_value(h, insn->result) == F32) s->kind |= TO_F32;
    if (insn->op == VYRE_KERNEL_GET || insn->op == VYRE_KERNEL_SET) {
      uint32_t slot = slots + insn->arg[0];
      s->kind = (uint8_t)kind_of(VYRE_KERNEL_AT(vyre_kernel_slot, h, slots, insn->arg[0])->type);
      if (insn->op == VYRE_KERNEL_GET) s->x = slot;
      else s->to = slot;
    }
    if (insn->op == VYRE_KERNEL_IF || insn->op == VYRE_KERNEL_ELSE) s->skip = insn->arg[1];
    if (insn->op == VYRE_KERNEL_IF && ++depth > b->depth) b->depth = depth;
    if (insn->op == VYRE_KERNEL_END_IF) depth--;
    if (insn->result != 0) {
      if (kind_of_value(h, insn->result) == OTHER) return false;
      p->of[insn->result] = s->to = place(p); /* not the cell of an operand: that may have another width */
    }
    for (int k = 0; k < count; k++) leave(p, v[k], i + 1);
    b->instructions += insn->op != VYRE_KERNEL_ELSE && insn->op != VYRE_KERNEL_END_IF && insn->op != VYRE_KERNEL_GID;
  }
  return true;
}

static void fill(cell *c, kind type, uint64_t bits) {
  for (int k = 0; k < BATCH_LANES; k++)
    if (type == F64) c->l[k] = bits;
    else c->u[k] = (uint32_t)bits;
}

static bool prepare(const vyre_kernel_header *h, batch *b, placing *p, uint32_t *unknown) {
  for (uint32_t i = 0; i < h->insns.count; i++) {
    uint32_t v[3];
    int count = values_of(insn_at(h, i), v);
    for (int k = 0; k < count; k++)
      if (v[k] > h->constants.count) p->last[v[k]] = i + 1;
  }
  uint32_t slots = 1 + h->constants.count;
  for (uint32_t i = 0; i < slots; i++) p->of[i] = i;
  p->cells = slots + h->slots.count;
  if (h->entries.count != 1 || !translate(h, b, p, slots, unknown)) return false;
  b->cells = aligned_alloc(64, p->cells * sizeof(cell));
  b->masks = aligned_alloc(64, (b->depth + 1) * sizeof(cell));
  if (b->cells == NULL || b->masks == NULL) return false;
  memset(b->cells, 0, p->cells * sizeof(cell));
  fill(&b->masks[0], BOOL, UINT32_MAX);
  for (uint32_t i = 0; i < h->constants.count; i++)
    fill(&b->cells[i + 1], kind_of_value(h, i + 1), VYRE_KERNEL_AT(vyre_kernel_constant, h, constants, i)->bits);
  return true;
}

/* ---- Running ----------------------------------------------------------------------------------- */

#define EACH(statement)                             \
  do {                                              \
    for (int k = 0; k < BATCH_LANES; k++) statement; \
    return true;                                    \
  } while (0)
#define ON(op, kind) case VYRE_KERNEL_##op << 4 | kind

#if defined __x86_64__ && defined __OPTIMIZE__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && \
  !defined __clang__
#define FOR_THIS_PROCESSOR __attribute__((target_clones("arch=haswell", "default")))
#else
#define FOR_THIS_PROCESSOR
#endif

static inline int32_t to_i32(double x) {
  double low = x < -0x1p31 ? -0x1p31 : x, high = low > 0x1p31 - 1 ? 0x1p31 - 1 : low;
  return (int32_t)(isnan(x) ? 0 : high);
}

/* False for what it does not know. */
FOR_THIS_PROCESSOR
static bool execute(const step *s, const cell *restrict x, const cell *restrict y, const cell *restrict z,
                    cell *restrict to) {
  switch ((unsigned)s->op << 4 | s->kind) {
    ON(ADD, U32): EACH(to->u[k] = x->u[k] + y->u[k]);
    ON(SUB, U32): EACH(to->u[k] = x->u[k] - y->u[k]);
    ON(MUL, U32): EACH(to->u[k] = x->u[k] * y->u[k]);
    ON(MULHI, U32): EACH(to->u[k] = (uint32_t)((uint64_t)x->u[k] * y->u[k] >> 32));
    ON(AND, U32): ON(AND, BOOL): EACH(to->u[k] = x->u[k] & y->u[k]);
    ON(OR, U32): ON(OR, BOOL): EACH(to->u[k] = x->u[k] | y->u[k]);
    ON(XOR, U32): ON(XOR, BOOL): EACH(to->u[k] = x->u[k] ^ y->u[k]);
    ON(NOT, BOOL): EACH(to->u[k] = x->u[k] ^ 1);
    ON(SHL, U32): EACH(to->u[k] = x->u[k] << (y->u[k] & 31));
    ON(SHR, U32): EACH(to->u[k] = x->u[k] >> (y->u[k] & 31));
    ON(SHR, I32): EACH(to->i[k] = x->i[k] >> (y->u[k] & 31));
    ON(MIN, U32): EACH(to->u[k] = x->u[k] < y->u[k] ? x->u[k] : y->u[k]);
    ON(MAX, U32): EACH(to->u[k] = x->u[k] > y->u[k] ? x->u[k] : y->u[k]);
    ON(CLZ, U32): EACH(to->u[k] = x->u[k] == 0 ? 32 : (uint32_t)__builtin_clz(x->u[k]));
    ON(LT, U32): EACH(to->u[k] = x->u[k] < y->u[k]);
    ON(LT, F64): EACH(to->u[k] = x->d[k] < y->d[k]);
    ON(EQ, U32): EACH(to->u[k] = x->u[k] == y->u[k]);
    ON(SELECT, U32): ON(SELECT, I32): ON(SELECT, F32): EACH(to->u[k] = x->u[k] != 0 ? y->u[k] : z->u[k]);
    ON(SELECT, F64): EACH(to->l[k] = x->u[k] != 0 ? y->l[k] : z->l[k]);
    ON(ADD, F64): EACH(to->d[k] = x->d[k] + y->d[k]);
    ON(SUB, F64): EACH(to->d[k] = x->d[k] - y->d[k]);
    ON(MUL, F64): EACH(to->d[k] = x->d[k] * y->d[k]);
    ON(DIV, F64): EACH(to->d[k] = x->d[k] / y->d[k]);
    ON(FMA, F64): EACH(to->d[k] = fma(x->d[k], y->d[k], z->d[k]));
    ON(SQRT, F64): EACH(to->d[k] = sqrt(x->d[k]));
    ON(BITCAST, U32): ON(BITCAST, I32): ON(BITCAST, F32): EACH(to->u[k] = x->u[k]);
    ON(ADD, F32): EACH(to->f[k] = x->f[k] + y->f[k]);
    ON(SUB, F32): EACH(to->f[k] = x->f[k] - y->f[k]);
    ON(MUL, F32): EACH(to->f[k] = x->f[k] * y->f[k]);
    ON(DIV, F32): EACH(to->f[k] = x->f[k] / y->f[k]);
    ON(FMA, F32): EACH(to->f[k] = fmaf(x->f[k], y->f[k], z->f[k]));
    ON(SQRT, F32): EACH(to->f[k] = sqrtf(x->f[k]));
    ON(LT, F32): EACH(to->u[k] = x->f[k] < y->f[k]);
    ON(TO_INT, F32): EACH(to->i[k] = to_i32((double)x->f[k]));
    ON(TO_FLOAT, (U32 | TO_F32)): EACH(to->f[k] = (float)x->u[k]);
    ON(TO_FLOAT, (I32 | TO_F32)): EACH(to->f[k] = (float)x->i[k]);
    ON(TO_FLOAT, U32): EACH(to->d[k] = x->u[k]);
    ON(TO_FLOAT, I32): EACH(to->d[k] = x->i[k]);
    ON(TO_INT, F64): EACH(to->i[k] = to_i32(x->d[k]));
    ON(REFLOAT, F32): EACH(to->d[k] = (double)x->f[k]);
    ON(REFLOAT, F64): EACH(to->f[k] = (float)x->d[k]);
    ON(GET, U32): ON(GET, I32): ON(GET, F32): EACH(to->u[k] = x->u[k]);
    ON(GET, F64): EACH(to->l[k] = x->l[k]);
    /* z: the lanes that run */
    ON(SET, U32): ON(SET, I32): ON(SET, F32): EACH(to->u[k] = z->u[k] != 0 ? x->u[k] : to->u[k]);
    ON(SET, F64): EACH(to->l[k] = z->u[k] != 0 ? x->l[k] : to->l[k]);
    default: return false;
  }
}

static bool any(const cell *mask) {
  uint32_t all = 0;
  for (int k = 0; k < BATCH_LANES; k++) all |= mask->u[k];
  return all != 0;
}

static void narrow(cell *to, const cell *mask, const cell *condition) {
  for (int k = 0; k < BATCH_LANES; k++) to->u[k] = condition->u[k] != 0 ? mask->u[k] : 0;
}

/* Number of the instruction that is not known, or of all. |both|: arms run where no lane wants them. */
static uint32_t run(batch *b, const uint32_t input[BATCH_LANES], uint32_t output[BATCH_LANES], bool both) {
  cell *mask = b->masks;
  for (uint32_t i = 0; i < b->count; i++) {
    const step *s = &b->steps[i];
    switch (s->op) {
      case VYRE_KERNEL_GID: break;
      case VYRE_KERNEL_LOAD: memcpy(b->cells[s->to].u, input, sizeof *input * BATCH_LANES); break;
      case VYRE_KERNEL_STORE: memcpy(output, b->cells[s->x].u, sizeof *output * BATCH_LANES); break;
      case VYRE_KERNEL_IF:
        narrow(mask + 1, mask, &b->cells[s->x]);
        mask++;
        if (!both && !any(mask)) i = s->skip - 1;
        break;
      case VYRE_KERNEL_ELSE:
        for (int k = 0; k < BATCH_LANES; k++) mask->u[k] = mask[-1].u[k] & ~mask->u[k];
        if (!both && !any(mask)) i = s->skip - 1;
        break;
      case VYRE_KERNEL_END_IF: mask--; break;
      default: {
        const cell *z = s->op == VYRE_KERNEL_SET ? mask : &b->cells[s->z];
        if (!execute(s, &b->cells[s->x], &b->cells[s->y], z, &b->cells[s->to])) return i;
      }
    }
  }
  return b->count;
}

void batch_run(batch *b, const uint32_t input[BATCH_LANES], uint32_t output[BATCH_LANES]) {
  run(b, input, output, false);
}

/* ---- The whole --------------------------------------------------------------------------------- */

/* Of each opcode also the types. */
static bool knows_all(batch *b, const vyre_kernel_header *h, uint32_t *unknown) {
  uint32_t zeros[BATCH_LANES] = { 0 }, output[BATCH_LANES];
  uint32_t at = run(b, zeros, output, true);
  if (at == b->count) return true;
  *unknown = insn_at(h, at)->op;
  return false;
}

void batch_free(batch *b) {
  if (b == NULL) return;
  free(b->steps);
  free(b->cells);
  free(b->masks);
  free(b);
}

uint32_t batch_instructions(const batch *b) {
  return b->instructions;
}

batch *batch_new(const void *kernel, uint32_t *unknown) {
  const vyre_kernel_header *h = kernel;
  batch *b = calloc(1, sizeof *b);
  placing p = { 0 };
  size_t values = h->values.count + 1;
  p.of = calloc(values, sizeof *p.of), p.last = calloc(values, sizeof *p.last), p.free = calloc(values, sizeof *p.free);
  b->steps = calloc(h->insns.count, sizeof *b->steps);
  b->count = h->insns.count;
  *unknown = 0;
  bool good = prepare(h, b, &p, unknown);
  free(p.of), free(p.last), free(p.free);
  if (good && knows_all(b, h, unknown)) return b;
  batch_free(b);
  return NULL;
}
