/* The instructions of a kernel, in one walk: types by the opcodes' rules, values in order and visible where they are
 * used, blocks that nest and know their ends, accesses that fit what is done through them. */
#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"
#include <vyre/lower.h>

#include "lower/verify.h"

#define AT(type, table, i) VYRE_KERNEL_AT(type, v->h, table, i)

/* An open block. */
typedef struct block {
  uint32_t insn; /* IF, ELSE, LOOP or CONTINUING that began it; the entry point's first instruction for the outermost */
  uint32_t visible; /* values in sight when it began */
  uint16_t op;      /* of |insn|; NONE for the outermost */
  uint32_t loop;    /* LOOP that began the innermost loop around, or itself; NOWHERE if there is none */
} block;

enum { NOWHERE = UINT32_MAX };

typedef struct walk {
  verifier *v;
  const vyre_kernel_entry *entry;
  VYRE_VECTOR(block) blocks;
  VYRE_VECTOR(uint32_t) visible; /* values in sight, innermost last; constants are not among them */
  uint8_t *in_sight;             /* of each value */
  uint32_t next;                 /* value that the next result is */
  uint32_t continuing;           /* open continuing parts: one at most */
  uint32_t at;                   /* instruction */
  bool jumped;                   /* the one before was a jump: the block has to end */
} walk;

static block *innermost(walk *w) { return &w->blocks.data[w->blocks.count - 1]; }

#define FAULT(...) verify_fault(w->v, "insn", w->at, __VA_ARGS__)

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool open_block(walk *w, uint32_t op, uint32_t loop) {
  block b = { .insn = w->at, .visible = w->visible.count, .op = (uint16_t)op, .loop = loop };
  if (vyre_vector_push(&w->blocks, b)) return true;
  w->v->status = vyre_fail_memory(w->v->error, "kernel");
  return false;
}

/* Puts the values of the innermost block out of sight. */
static void hide(walk *w) {
  while (w->visible.count > innermost(w)->visible) w->in_sight[w->visible.data[--w->visible.count]] = false;
}

static const vyre_kernel_insn *insn_at(const walk *w, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_insn, w->v->h, insns, i);
}

static bool check_else(walk *w) {
  if (innermost(w)->op != VYRE_KERNEL_IF) return FAULT("ELSE without IF");
  if (insn_at(w, innermost(w)->insn)->arg[1] != w->at) return FAULT("it ends an arm whose IF does not lead here");
  hide(w);
  innermost(w)->op = VYRE_KERNEL_ELSE;
  innermost(w)->insn = w->at;
  return true;
}

static bool check_end_if(walk *w) {
  block *b = innermost(w);
  if (b->op != VYRE_KERNEL_IF && b->op != VYRE_KERNEL_ELSE) return FAULT("END_IF without IF");
  if (insn_at(w, b->insn)->arg[1] != w->at) return FAULT("it ends an arm that does not lead here");
  hide(w);
  w->blocks.count--;
  return true;
}

static bool check_continuing(walk *w) {
  block *b = innermost(w);
  if (b->op != VYRE_KERNEL_LOOP) return FAULT("CONTINUING without LOOP");
  if (insn_at(w, b->insn)->arg[2] != w->at) return FAULT("the LOOP does not lead here");
  hide(w);
  b->op = VYRE_KERNEL_CONTINUING;
  w->continuing++;
  return true;
}

static bool check_end_loop(walk *w, const vyre_kernel_insn *x) {
  block *b = innermost(w);
  if (b->op != VYRE_KERNEL_CONTINUING) return FAULT("END_LOOP without CONTINUING");
  if (x->arg[1] != b->insn || insn_at(w, b->insn)->arg[1] != w->at)
    return FAULT("it and its LOOP do not lead to each other");
  hide(w);
  w->continuing--;
  w->blocks.count--;
  return true;
}

static bool check_jump(walk *w, const vyre_kernel_insn *x) {
  w->jumped = true;
  if (x->op == VYRE_KERNEL_RETURN) return true;
  uint32_t loop = innermost(w)->loop;
  if (loop == NOWHERE) return FAULT("a jump out of no loop");
  uint32_t wanted = insn_at(w, loop)->arg[x->op == VYRE_KERNEL_BREAK ? 1 : 2];
  return x->arg[1] == wanted ? true : FAULT("it leads to %u, its loop to %u", x->arg[1], wanted);
}

static bool ends_block(uint32_t op) {
  return op == VYRE_KERNEL_ELSE || op == VYRE_KERNEL_END_IF || op == VYRE_KERNEL_CONTINUING;
}

static bool check_flow(walk *w, const vyre_kernel_insn *x) {
  const uint32_t effects = form_ops[x->op].effects;
  bool is_barred = form_is_jump(x->op) || x->op == VYRE_KERNEL_LOOP || (effects & (FORM_MEETS | FORM_LANES)) != 0;
  if (w->jumped && !ends_block(x->op)) return FAULT("it stands behind a jump");
  if (w->continuing > 0 && is_barred) return FAULT("%s in a continuing part", vyre_kernel_op_describe(x->op).name);
  w->jumped = false;
  switch (x->op) {
    case VYRE_KERNEL_IF: return open_block(w, x->op, innermost(w)->loop);
    case VYRE_KERNEL_ELSE: return check_else(w);
    case VYRE_KERNEL_END_IF: return check_end_if(w);
    case VYRE_KERNEL_LOOP: return open_block(w, x->op, w->at);
    case VYRE_KERNEL_CONTINUING: return check_continuing(w);
    case VYRE_KERNEL_END_LOOP: return check_end_loop(w, x);
    case VYRE_KERNEL_BREAK:
    case VYRE_KERNEL_CONTINUE:
    case VYRE_KERNEL_RETURN: return check_jump(w, x);
    default: return true;
  }
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool check_seen(walk *w, uint32_t value) {
  if (value == 0 || value >= w->v->h->values.count) return FAULT("%u is no value", value);
  return w->in_sight[value] ? true : FAULT("value %u is not visible here", value);
}

static bool is_within(uint32_t number, uint32_t first, uint32_t count) {
  return number >= first && number - first < count;
}

/* Whether what an access reaches belongs to this entry point and its values are visible. */
static bool check_access(walk *w, const vyre_kernel_access *a) {
  const vyre_kernel_entry *e = w->entry;
  if (a->space == VYRE_KERNEL_SPACE_SHARED && !is_within(a->number, e->shared_first, e->shared_count))
    return FAULT("shared array %u is another entry point's", a->number);
  if (a->space == VYRE_KERNEL_SPACE_LOCAL && !is_within(a->number, e->local_first, e->local_count))
    return FAULT("local array %u is another entry point's", a->number);
  return check_seen(w, a->index) && (a->base == 0 || check_seen(w, a->base)) &&
         (a->bound == 0 || check_seen(w, a->bound));
}

static bool is_read_only(const walk *w, const vyre_kernel_access *a) {
  const vyre_kernel_header *h = w->v->h;
  switch (a->space) {
    case VYRE_KERNEL_SPACE_TABLE: return true;
    case VYRE_KERNEL_SPACE_BINDING:
      return VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, a->number)->access == VYRE_ACCESS_READ;
    case VYRE_KERNEL_SPACE_HIDDEN:
      return VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, a->number)->kind == VYRE_KERNEL_HIDDEN_STOP;
    default: return false;
  }
}

static bool is_write_only(const walk *w, const vyre_kernel_access *a) {
  return a->space == VYRE_KERNEL_SPACE_BINDING &&
         VYRE_KERNEL_AT(vyre_kernel_binding, w->v->h, bindings, a->number)->access == VYRE_ACCESS_WRITE;
}

/* What the opcode does at operand |k| against what the memory allows. */
static bool check_use(walk *w, uint32_t op, int k, const vyre_kernel_access *a) {
  bool writes = op == VYRE_KERNEL_STORE || (form_is_atomic(op) && op != VYRE_KERNEL_ATOMIC_LOAD) ||
                (op == VYRE_KERNEL_COPY_ASYNC && k == 0);
  bool reads = op == VYRE_KERNEL_LOAD || (op == VYRE_KERNEL_COPY_ASYNC && k == 1);
  bool is_private = a->space == VYRE_KERNEL_SPACE_LOCAL || a->space == VYRE_KERNEL_SPACE_TABLE;
  if (writes && (is_read_only(w, a) || (a->flags & VYRE_KERNEL_ACCESS_READ_ONLY) != 0))
    return FAULT("it writes read-only memory");
  if (reads && is_write_only(w, a)) return FAULT("it loads from a binding that is only written");
  if (form_is_atomic(op) && (is_private || (is_read_only(w, a) && a->space == VYRE_KERNEL_SPACE_BINDING)))
    return FAULT("an atomic on memory that has none");
  return true;
}

/* The type that form_fits wants for operand |k|. */
static bool check_operand(walk *w, const vyre_kernel_insn *x, int k, vyre_type *type) {
  verifier *v = w->v;
  uint32_t arg = x->arg[k];
  *type = VYRE_TYPE_NONE;
#define IN_TABLE(table)                                                                                                \
  if (arg >= v->h->table.count)                                                                                        \
  return FAULT("operand %d names record %u of " #table ", which has %u", k, arg, v->h->table.count)
  switch ((form_kind)form_ops[x->op].kinds[k]) {
    case FORM_NO: return arg == 0 ? true : FAULT("operand %d is %u and should be 0", k, arg);
    case FORM_OV:
      if (arg == 0) return true;
      __attribute__((fallthrough));
    case FORM_VA:
      if (!check_seen(w, arg)) return false;
      *type = verify_value_type(v, arg);
      return true;
    case FORM_AC: {
      IN_TABLE(accesses);
      const vyre_kernel_access *a = AT(vyre_kernel_access, accesses, arg);
      *type = form_type_named(a->element);
      return check_access(w, a) && check_use(w, x->op, k, a);
    }
    case FORM_SL:
      IN_TABLE(slots);
      if (!is_within(arg, w->entry->slot_first, w->entry->slot_count))
        return FAULT("slot %u is another entry point's", arg);
      *type = form_type_named(AT(vyre_kernel_slot, slots, arg)->type);
      return true;
    case FORM_PA:
      IN_TABLE(params);
      *type = form_type_named(AT(vyre_kernel_param, params, arg)->type);
      return true;
    case FORM_SP:
      IN_TABLE(specs);
      *type = form_type_named(AT(vyre_kernel_spec, specs, arg)->type);
      return true;
    case FORM_HW:
      IN_TABLE(hidden_words);
      *type = form_type_named(AT(vyre_kernel_hidden_word, hidden_words, arg)->type);
      return true;
    case FORM_BI: IN_TABLE(bindings); return true;
    case FORM_IN: IN_TABLE(insns); return true;
    case FORM_LI:
    case FORM_IM: return true;
  }
#undef IN_TABLE
  return FAULT("operand %d is of no kind", k);
}

/* Plain numbers, which the table of opcodes says nothing about. */
static bool check_numbers(walk *w, const vyre_kernel_insn *x, vyre_type result, const vyre_type type[4]) {
  switch (x->op) {
    case VYRE_KERNEL_GID:
    case VYRE_KERNEL_WID:
    case VYRE_KERNEL_LID:
    case VYRE_KERNEL_NWG: return x->arg[0] < 3 ? true : FAULT("axis %u", x->arg[0]);
    case VYRE_KERNEL_LENGTH:
      return x->arg[1] == 0 || (x->arg[1] == 1 && result == VYRE_TYPE_U32) ? true
                                                                           : FAULT("part %u of a length", x->arg[1]);
    case VYRE_KERNEL_EXTRACT: return x->arg[1] < form_lanes(type[0]) ? true : FAULT("component %u", x->arg[1]);
    default: return true;
  }
}

static bool check_print(walk *w, const vyre_kernel_insn *x) {
  const vyre_kernel_header *h = w->v->h;
  if (x->arg[1] > h->operands.count || x->arg[2] > h->operands.count - x->arg[1])
    return FAULT("operands %u and %u more of %u", x->arg[1], x->arg[2], h->operands.count);
  for (uint32_t i = 0; i < x->arg[2]; i++) {
    uint32_t value = *VYRE_KERNEL_AT(uint32_t, h, operands, x->arg[1] + i);
    if (!check_seen(w, value)) return false;
    if (form_lanes(verify_value_type(w->v, value)) != 1) return FAULT("argument %u of a print is a vector", i);
  }
  return true;
}

static bool check_aux(walk *w, const vyre_kernel_insn *x) {
  uint32_t most = 0, most2 = 0;
  if (form_is_atomic(x->op) || x->op == VYRE_KERNEL_FENCE) {
    if (!form_takes_order(x->op, x->aux)) return FAULT("order %u", x->aux);
    most = VYRE_ORDER_SEQ_CST;
    most2 = VYRE_SCOPE_SYSTEM;
  }
  if (x->op == VYRE_KERNEL_WAIT) most = 7;
  if (x->op == VYRE_KERNEL_COPY_ASYNC) most = 1;
  return x->aux <= most && x->aux2 <= most2 ? true : FAULT("aux %u and %u", x->aux, x->aux2);
}

static bool check_result(walk *w, const vyre_kernel_insn *x, const vyre_type type[4], vyre_type *result) {
  *result = VYRE_TYPE_NONE;
  if (x->result != 0 && x->result != w->next)
    return FAULT("its result is value %u, the next one is %u", x->result, w->next);
  if (x->result >= w->v->h->values.count) return FAULT("%u is no value", x->result);
  if (x->result != 0) *result = verify_value_type(w->v, x->result);
  return form_fits(x->op, *result, type) ? true : FAULT("types do not fit %s", vyre_kernel_op_describe(x->op).name);
}

static bool define(walk *w, uint32_t value) {
  if (value == 0) return true;
  w->next++;
  w->in_sight[value] = true;
  if (vyre_vector_push(&w->visible, value)) return true;
  w->v->status = vyre_fail_memory(w->v->error, "kernel");
  return false;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool check_insn(walk *w) {
  const vyre_kernel_insn *x = insn_at(w, w->at);
  vyre_type type[4], result;
  if (!form_is_known(x->op)) return verify_unknown(w->v, "insn", w->at, "unsupported(0x%X)", x->op);
  for (int k = 0; k < 4; k++)
    if (!check_operand(w, x, k, &type[k])) return false;
  if (!check_aux(w, x) || !check_result(w, x, type, &result) || !check_numbers(w, x, result, type)) return false;
  if (x->op == VYRE_KERNEL_PRINT && !check_print(w, x)) return false;
  return check_flow(w, x) && define(w, x->result);
}

static bool check_entry(walk *w, uint32_t number) {
  w->entry = VYRE_KERNEL_AT(vyre_kernel_entry, w->v->h, entries, number);
  w->at = w->entry->insn_first;
  w->jumped = false;
  if (!open_block(w, VYRE_KERNEL_NONE, NOWHERE)) return false;
  for (uint32_t end = w->at + w->entry->insn_count; w->at < end; w->at++)
    if (!check_insn(w)) return false;
  if (w->blocks.count != 1) return verify_fault(w->v, "entry", number, "it ends within a block");
  hide(w);
  w->blocks.count = 0;
  return true;
}

static bool check_all(walk *w) {
  const vyre_kernel_header *h = w->v->h;
  w->in_sight = calloc(h->values.count, 1);
  if (w->in_sight == NULL) {
    w->v->status = vyre_fail_memory(w->v->error, "kernel");
    return false;
  }
  for (uint32_t i = 1; i <= h->constants.count; i++) w->in_sight[i] = true;
  w->next = h->constants.count + 1;
  for (uint32_t i = 0; i < h->entries.count; i++)
    if (!check_entry(w, i)) return false;
  if (w->next != h->values.count)
    return verify_fault(w->v, "value", w->next, "no instruction defines it");
  return true;
}

bool verify_insns(verifier *v) {
  walk w = { .v = v };
  bool good = check_all(&w);
  vyre_vector_free(&w.blocks);
  vyre_vector_free(&w.visible);
  free(w.in_sight);
  return good;
}
