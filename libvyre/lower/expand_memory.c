/* Narrow elements by words, atomics by compare-and-swap, copies by loops. */
#include "lower/expand.h"

#define op2(c, op, x, y) lower_op2(c, op, x, y)
#define bit(c, op, x, y) op2(c, op, x, lower_u32(c, y))

lower_value expand_nothing(lower_code *c, const lower_request *r) {
  (void)c;
  (void)r;
  return 0;
}

/* The same access with other elements of the same size; its number. */
static uint32_t seen_as(lower_code *c, uint32_t access, vyre_type element) {
  vyre_kernel_access a = c->accesses.data[access];
  a.element = form_type(element);
  return lower_access(c, a);
}

lower_value expand_load_bool(lower_code *c, const lower_request *r) {
  return bit(c, VYRE_KERNEL_NE, lower_load(c, seen_as(c, r->arg[0], VYRE_TYPE_U32)), 0);
}

lower_value expand_store_bool(lower_code *c, const lower_request *r) {
  lower_value word = lower_select(c, r->arg[1], lower_u32(c, 1), lower_u32(c, 0));
  lower_store(c, seen_as(c, r->arg[0], VYRE_TYPE_U32), word);
  return 0;
}

lower_value expand_load_half(lower_code *c, const lower_request *r) {
  uint32_t op = r->type[0] == VYRE_TYPE_F16 ? VYRE_KERNEL_FROM_F16 : VYRE_KERNEL_FROM_BF16;
  return lower_op1(c, op, lower_load(c, seen_as(c, r->arg[0], VYRE_TYPE_U16)));
}

lower_value expand_store_half(lower_code *c, const lower_request *r) {
  uint32_t op = r->type[0] == VYRE_TYPE_F16 ? VYRE_KERNEL_TO_F16 : VYRE_KERNEL_TO_BF16;
  lower_store(c, seen_as(c, r->arg[0], VYRE_TYPE_U16), lower_op1(c, op, r->arg[1]));
  return 0;
}

/* ---- Words around narrow elements ------------------------------------------------------------ */

/* Whether the index of an access is in range; 0 if no check is needed. The element count of a binding that has 2^32
 * elements or more is above any u32. */
static lower_value in_range(lower_code *c, const vyre_kernel_access *a) {
  bool is_wide = lower_type_of(c, a->index) == VYRE_TYPE_U64;
  switch (a->bound_kind) {
    case VYRE_KERNEL_BOUND_STATIC:
      if (!is_wide && a->limit > UINT32_MAX) return 0;
      return op2(c, VYRE_KERNEL_LT, a->index, lower_number(c, lower_type_of(c, a->index), a->limit));
    case VYRE_KERNEL_BOUND_LENGTH: {
      if (is_wide)
        return op2(c, VYRE_KERNEL_LT, a->index, lower_leaf(c, VYRE_KERNEL_LENGTH, VYRE_TYPE_U64, a->number, 0));
      lower_value low = lower_leaf(c, VYRE_KERNEL_LENGTH, VYRE_TYPE_U32, a->number, 0);
      lower_value high = lower_leaf(c, VYRE_KERNEL_LENGTH, VYRE_TYPE_U32, a->number, 1);
      return op2(c, VYRE_KERNEL_OR, bit(c, VYRE_KERNEL_NE, high, 0), op2(c, VYRE_KERNEL_LT, a->index, low));
    }
    case VYRE_KERNEL_BOUND_VALUE: return op2(c, VYRE_KERNEL_LT, a->index, a->bound);
    default: return 0;
  }
}

/* The word that holds a narrow element. An index out of range stays out of range, so that the access to the word
 * is masked as that to the element would be. */
typedef struct word {
  uint32_t access; /* to the word */
  lower_value inside; /* whether it is in range, 0 for surely */
  lower_value shift; /* of the element in the word */
  uint32_t bits; /* of the element */
} word;

static word word_of(lower_code *c, const lower_request *r) {
  vyre_kernel_access a = c->accesses.data[r->arg[0]];
  vyre_type type = lower_type_of(c, a.index);
  uint32_t bytes = form_bytes(r->type[0]), a_word = 4 / bytes;
  word w = { .bits = bytes * 8, .inside = in_range(c, &a) };
  lower_value place = op2(c, VYRE_KERNEL_AND, a.index, lower_number(c, type, a_word - 1));
  if (type == VYRE_TYPE_U64) place = lower_op1(c, VYRE_KERNEL_RESIZE, place);
  w.shift = bit(c, VYRE_KERNEL_MUL, place, w.bits);
  a.index = bit(c, VYRE_KERNEL_SHR, a.index, bytes == 1 ? 2 : 1);
  if (w.inside != 0) a.index = lower_select(c, w.inside, a.index, lower_number(c, type, UINT64_MAX));
  if (a.bound_kind == VYRE_KERNEL_BOUND_STATIC) a.limit = a.limit / a_word + (a.limit % a_word != 0);
  a.element = form_type(VYRE_TYPE_U32);
  a.alignment = 4;
  w.access = lower_access(c, a);
  return w;
}

/* The lowest bits of a word as the element's value. */
static lower_value widened(lower_code *c, lower_value x, vyre_type element, uint32_t bits) {
  if (element == VYRE_TYPE_U8 || element == VYRE_TYPE_U16) return bit(c, VYRE_KERNEL_AND, x, (1u << bits) - 1);
  x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_I32, bit(c, VYRE_KERNEL_SHL, x, 32 - bits));
  return bit(c, VYRE_KERNEL_SHR, x, 32 - bits);
}

lower_value expand_load_narrow(lower_code *c, const lower_request *r) {
  word w = word_of(c, r);
  lower_value x = op2(c, VYRE_KERNEL_SHR, lower_load(c, w.access), w.shift);
  return widened(c, x, r->type[0], w.bits);
}

/* Two atomics on the word: the element's bits are cleared, then set. They touch no bits of its neighbours, which other
 * invocations may store at the same time. Memory of one invocation needs none. */
lower_value expand_store_narrow(lower_code *c, const lower_request *r) {
  word w = word_of(c, r);
  uint32_t space = lower_failed(c) ? 0 : c->accesses.data[w.access].space, ones = (1u << w.bits) - 1;
  lower_value value = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[1]);
  value = op2(c, VYRE_KERNEL_SHL, bit(c, VYRE_KERNEL_AND, value, ones), w.shift);
  lower_value keep = lower_op1(c, VYRE_KERNEL_NOT, op2(c, VYRE_KERNEL_SHL, lower_u32(c, ones), w.shift));
  if (space == VYRE_KERNEL_SPACE_LOCAL) {
    lower_value kept = op2(c, VYRE_KERNEL_AND, lower_load(c, w.access), keep);
    lower_store(c, w.access, op2(c, VYRE_KERNEL_OR, kept, value));
    return 0;
  }
  vyre_scope scope = space == VYRE_KERNEL_SPACE_SHARED ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE;
  lower_atomic(c, VYRE_KERNEL_ATOMIC_AND, w.access, keep, 0, VYRE_ORDER_RELAXED, scope);
  lower_atomic(c, VYRE_KERNEL_ATOMIC_OR, w.access, value, 0, VYRE_ORDER_RELAXED, scope);
  return 0;
}

/* ---- Atomics --------------------------------------------------------------------------------- */

lower_value expand_atomic_sub(lower_code *c, const lower_request *r) {
  lower_value negative = lower_op1(c, VYRE_KERNEL_NEG, r->arg[1]);
  return lower_atomic(c, VYRE_KERNEL_ATOMIC_ADD, r->arg[0], negative, 0, r->aux, r->aux2);
}

static lower_value updated(lower_code *c, uint32_t op, lower_value old, lower_value x) {
  switch (op) {
    case VYRE_KERNEL_ATOMIC_ADD: return op2(c, VYRE_KERNEL_ADD, old, x);
    case VYRE_KERNEL_ATOMIC_SUB: return op2(c, VYRE_KERNEL_SUB, old, x);
    case VYRE_KERNEL_ATOMIC_AND: return op2(c, VYRE_KERNEL_AND, old, x);
    case VYRE_KERNEL_ATOMIC_OR: return op2(c, VYRE_KERNEL_OR, old, x);
    case VYRE_KERNEL_ATOMIC_XOR: return op2(c, VYRE_KERNEL_XOR, old, x);
    case VYRE_KERNEL_ATOMIC_MIN: return op2(c, VYRE_KERNEL_MIN, old, x);
    case VYRE_KERNEL_ATOMIC_MAX: return op2(c, VYRE_KERNEL_MAX, old, x);
    default: return x;
  }
}

/* old = 0; loop { found = cas(old, old op x); if found is old, leave; old = found }. The first guess costs a turn where
 * it is wrong, and is right for what was masked. Floats go by their bits. */
lower_value expand_atomic_loop(lower_code *c, const lower_request *r) {
  vyre_type type = r->type[0], bits = type == VYRE_TYPE_F32 ? VYRE_TYPE_U32 : type;
  uint32_t access = seen_as(c, r->arg[0], bits);
  uint32_t guess = lower_slot(c, bits, VYRE_KERNEL_UNIFORM_NONE, 0);
  lower_set(c, guess, lower_number(c, bits, 0));
  lower_loop(c);
  lower_value old = lower_get(c, guess);
  lower_value next = updated(c, r->op, lower_convert(c, VYRE_KERNEL_BITCAST, type, old), r->arg[1]);
  lower_value found = lower_atomic(c, VYRE_KERNEL_ATOMIC_CAS, access, old,
                                   lower_convert(c, VYRE_KERNEL_BITCAST, bits, next), r->aux, r->aux2);
  lower_if(c, op2(c, VYRE_KERNEL_EQ, found, old));
  lower_jump(c, VYRE_KERNEL_BREAK);
  lower_end_if(c);
  lower_set(c, guess, found);
  lower_continuing(c);
  lower_end_loop(c, 0);
  return lower_convert(c, VYRE_KERNEL_BITCAST, type, lower_get(c, guess));
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* The unsigned type of an element's size: a copy keeps bits. A bool is normalized by load and store. */
static vyre_type bits_of(vyre_type element) {
  switch (element) {
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16: return VYRE_TYPE_U16;
    default: return element;
  }
}

/* One of the two accesses, |k| elements further on. A sum that overflows is out of range. */
static uint32_t further(lower_code *c, uint32_t access, lower_value k, vyre_type element) {
  vyre_kernel_access a = c->accesses.data[access];
  vyre_type type = lower_type_of(c, a.index);
  if (type == VYRE_TYPE_U64 && lower_type_of(c, k) == VYRE_TYPE_U32) k = lower_op1(c, VYRE_KERNEL_RESIZE, k);
  lower_value sum = op2(c, VYRE_KERNEL_ADD, a.index, k);
  lower_value overflows = op2(c, VYRE_KERNEL_LT, sum, k);
  a.index = sum;
  if (a.bound_kind != VYRE_KERNEL_BOUND_PROVED)
    a.index = lower_select(c, overflows, lower_number(c, type, UINT64_MAX), sum);
  a.element = form_type(element);
  a.alignment = 0; /* that of the new index */
  return lower_access(c, a);
}

/* |limit| - |index|, or 0. */
static lower_value above(lower_code *c, lower_value limit, lower_value index) {
  lower_value is_inside = op2(c, VYRE_KERNEL_LT, index, limit), left = op2(c, VYRE_KERNEL_SUB, limit, index);
  return lower_select(c, is_inside, left, lower_number(c, lower_type_of(c, index), 0));
}

/* How many elements there are from the index of an access on, UINT32_MAX for that many or more. */
static lower_value room_of(lower_code *c, uint32_t access) {
  const vyre_kernel_access a = c->accesses.data[access];
  const vyre_type type = lower_type_of(c, a.index);
  const bool is_wide = type == VYRE_TYPE_U64;
  lower_value most = lower_u32(c, UINT32_MAX), limit;
  switch (a.bound_kind) {
    case VYRE_KERNEL_BOUND_STATIC:
      if (!is_wide && a.limit > UINT32_MAX) return most;
      limit = lower_number(c, type, a.limit);
      break;
    case VYRE_KERNEL_BOUND_LENGTH: limit = lower_leaf(c, VYRE_KERNEL_LENGTH, type, a.number, 0); break;
    case VYRE_KERNEL_BOUND_VALUE: limit = a.bound; break;
    default: return most;
  }
  lower_value left = above(c, limit, a.index);
  if (is_wide) {
    lower_value is_more = op2(c, VYRE_KERNEL_LT, lower_number(c, type, UINT32_MAX), left);
    return lower_select(c, is_more, most, lower_op1(c, VYRE_KERNEL_RESIZE, left));
  }
  if (a.bound_kind != VYRE_KERNEL_BOUND_LENGTH) return left;
  lower_value high = lower_leaf(c, VYRE_KERNEL_LENGTH, VYRE_TYPE_U32, a.number, 1);
  return lower_select(c, bit(c, VYRE_KERNEL_NE, high, 0), most, left);
}

/* Element by element, by this invocation or by all of the workgroup in turn; to the end of the destination, since what
 * lies behind it is not stored. */
lower_value expand_copy(lower_code *c, const lower_request *r) {
  vyre_type element = bits_of(r->type[0]);
  lower_value count = op2(c, VYRE_KERNEL_MIN, r->arg[2], room_of(c, r->arg[0]));
  lower_value first = lower_u32(c, 0), step = lower_u32(c, 1);
  if (r->aux != 0) {
    first = lower_local_index(c);
    step = lower_u32(c, c->workgroup[0] * c->workgroup[1] * c->workgroup[2]);
  }
  uint32_t at = lower_slot(c, VYRE_TYPE_U32, VYRE_KERNEL_UNIFORM_NONE, 0);
  lower_set(c, at, first);
  lower_if(c, op2(c, VYRE_KERNEL_LT, first, count));
  lower_loop(c);
  lower_value k = lower_get(c, at);
  uint32_t to = further(c, r->arg[0], k, element), from = further(c, r->arg[1], k, element);
  lower_store(c, to, lower_load(c, from));
  lower_continuing(c);
  lower_value now = lower_get(c, at), left = op2(c, VYRE_KERNEL_SUB, count, now);
  lower_set(c, at, op2(c, VYRE_KERNEL_ADD, now, step));
  lower_end_loop(c, op2(c, VYRE_KERNEL_LE, left, step));
  lower_end_if(c);
  return 0;
}
