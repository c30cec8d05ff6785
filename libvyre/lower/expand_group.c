/* What several invocations do together, by shuffles, barriers and atomics: subgroup operations, should_stop, traps and
 * prints. */
#include "lower/expand.h"

#include <stddef.h>

#define op1(c, op, x) lower_op1(c, op, x)
#define op2(c, op, x, y) lower_op2(c, op, x, y)
static lower_value lane_of(lower_code *c) { return lower_leaf(c, VYRE_KERNEL_LANE, VYRE_TYPE_NONE, 0, 0); }

/* ---- Subgroups ------------------------------------------------------------------------------- */

/* The operator of a reduction or scan. */
static uint32_t combining(uint32_t op) {
  switch (op) {
    case VYRE_KERNEL_SUBGROUP_MUL: return VYRE_KERNEL_MUL;
    case VYRE_KERNEL_SUBGROUP_AND: return VYRE_KERNEL_AND;
    case VYRE_KERNEL_SUBGROUP_OR: return VYRE_KERNEL_OR;
    case VYRE_KERNEL_SUBGROUP_XOR: return VYRE_KERNEL_XOR;
    case VYRE_KERNEL_SUBGROUP_MIN:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MIN:
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN: return VYRE_KERNEL_MIN;
    case VYRE_KERNEL_SUBGROUP_MAX:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MAX:
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX: return VYRE_KERNEL_MAX;
    default: return VYRE_KERNEL_ADD;
  }
}

/* How many lanes of the own subgroup exist: fewer than its size only in the last one of a workgroup. 0 if all do. */
static lower_value live_lanes(lower_code *c) {
  uint64_t invocations = (uint64_t)c->workgroup[0] * c->workgroup[1] * c->workgroup[2];
  if (c->subgroup != 0 && invocations % c->subgroup == 0) return 0;
  lower_value size = lower_leaf(c, VYRE_KERNEL_SUBGROUP_SIZE, VYRE_TYPE_NONE, 0, 0);
  lower_value id = lower_leaf(c, VYRE_KERNEL_SUBGROUP_ID, VYRE_TYPE_NONE, 0, 0);
  lower_value left = op2(c, VYRE_KERNEL_SUB, lower_u32(c, (uint32_t)invocations), op2(c, VYRE_KERNEL_MUL, id, size));
  return op2(c, VYRE_KERNEL_MIN, size, left);
}

/* v = v op shuffle_xor(v, d) for d = 1, 2, 4, 8, 16, a missing partner leaving v; then lane 0's for all. */
lower_value expand_reduce(lower_code *c, const lower_request *r) {
  lower_value v = r->arg[0], lane = lane_of(c), live = live_lanes(c);
  uint32_t size = c->subgroup != 0 ? c->subgroup : 32;
  for (uint32_t d = 1; d < size; d *= 2) {
    lower_value distance = lower_u32(c, d);
    lower_value next = op2(c, combining(r->op), v, op2(c, VYRE_KERNEL_SHUFFLE_XOR, v, distance));
    if (live != 0) {
      lower_value partner = op2(c, VYRE_KERNEL_XOR, lane, distance);
      next = lower_select(c, op2(c, VYRE_KERNEL_LT, partner, live), next, v);
    }
    v = next;
  }
  return op2(c, VYRE_KERNEL_BROADCAST, v, lower_u32(c, 0));
}

static bool is_exclusive(uint32_t op) {
  return op >= VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD && op <= VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX;
}

/* What the first lane gets of an exclusive scan: +0, the largest value, the smallest. */
static lower_value first_of(lower_code *c, uint32_t op, vyre_type type) {
  uint64_t sign = form_bytes(type) == 8 ? 1ull << 63 : 1ull << 31;
  uint64_t infinity = type == VYRE_TYPE_F64 ? 0x7FF0000000000000u : 0x7F800000u;
  bool largest = op == VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN;
  if (op == VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD) return lower_constant(c, type, 0);
  if (form_is_float(type)) return lower_constant(c, type, largest ? infinity : infinity | sign);
  if (form_is_signed(type)) return lower_constant(c, type, largest ? sign - 1 : sign);
  return lower_number(c, type, largest ? UINT64_MAX : 0);
}

/* v = lane >= d ? shuffle_up(v, d) op v : v for d = 1, 2, 4, 8, 16; exclusive is that of the lane before. */
lower_value expand_scan(lower_code *c, const lower_request *r) {
  lower_value v = r->arg[0], lane = lane_of(c), one = lower_u32(c, 1);
  uint32_t size = c->subgroup != 0 ? c->subgroup : 32;
  for (uint32_t d = 1; d < size; d *= 2) {
    lower_value distance = lower_u32(c, d);
    lower_value next = op2(c, combining(r->op), op2(c, VYRE_KERNEL_SHUFFLE_UP, v, distance), v);
    v = lower_select(c, op2(c, VYRE_KERNEL_LE, distance, lane), next, v);
  }
  if (!is_exclusive(r->op)) return v;
  lower_value before = op2(c, VYRE_KERNEL_SHUFFLE_UP, v, one);
  return lower_select(c, op2(c, VYRE_KERNEL_LT, lane, one), first_of(c, r->op, r->result), before);
}

lower_value expand_any(lower_code *c, const lower_request *r) {
  return op2(c, VYRE_KERNEL_NE, op1(c, VYRE_KERNEL_SUBGROUP_BALLOT, r->arg[0]), lower_u32(c, 0));
}

lower_value expand_all(lower_code *c, const lower_request *r) {
  return op1(c, VYRE_KERNEL_NOT, op1(c, VYRE_KERNEL_SUBGROUP_ANY, op1(c, VYRE_KERNEL_NOT, r->arg[0])));
}

lower_value expand_ballot(lower_code *c, const lower_request *r) {
  lower_value bit = op2(c, VYRE_KERNEL_SHL, lower_u32(c, 1), lane_of(c));
  return op1(c, VYRE_KERNEL_SUBGROUP_OR, lower_select(c, r->arg[0], bit, lower_u32(c, 0)));
}

/* A shuffle of any type by shuffles of u32. */
lower_value expand_by_words(lower_code *c, const lower_request *r) {
  if (form_bytes(r->result) == 4) {
    lower_value word = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[0]);
    return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, op2(c, r->op, word, r->arg[1]));
  }
  lower_value words[2], pair = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32X2, r->arg[0]);
  for (uint32_t k = 0; k < 2; k++) words[k] = op2(c, r->op, lower_extract(c, pair, k), r->arg[1]);
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, lower_vector(c, words, 2));
}

/* Up or down by more than there are lanes could come around. */
static lower_value distance(lower_code *c, lower_value by) {
  return c->values.data[by].most <= 32 ? by : op2(c, VYRE_KERNEL_MIN, by, lower_u32(c, 32));
}

/* Every shuffle by the plain one, whose lane does not exist where the sum leaves the subgroup. */
lower_value expand_shuffle(lower_code *c, const lower_request *r) {
  lower_value lane = lane_of(c), from = r->arg[1];
  if (r->op == VYRE_KERNEL_SHUFFLE_XOR) from = op2(c, VYRE_KERNEL_XOR, lane, from);
  if (r->op == VYRE_KERNEL_SHUFFLE_UP) from = op2(c, VYRE_KERNEL_SUB, lane, distance(c, from));
  if (r->op == VYRE_KERNEL_SHUFFLE_DOWN) from = op2(c, VYRE_KERNEL_ADD, lane, distance(c, from));
  return op2(c, VYRE_KERNEL_SHUFFLE, r->arg[0], from);
}

/* ---- Words of hidden bindings ---------------------------------------------------------------- */

/* The element of |type| at byte |at| of a hidden binding of |bytes| bytes. */
static uint32_t hidden(lower_code *c, vyre_kernel_hidden_kind kind, uint64_t bytes, vyre_type type, size_t at) {
  vyre_kernel_access access = { .space = VYRE_KERNEL_SPACE_HIDDEN, .number = lower_hidden_binding(c, kind, bytes),
                                .element = form_type(type), .flags = VYRE_KERNEL_ACCESS_COHERENT,
                                .index = lower_u32(c, (uint32_t)(at / form_bytes(type))) };
  return lower_access(c, access);
}

static uint32_t diagnostics(lower_code *c, size_t at) {
  return hidden(c, VYRE_KERNEL_HIDDEN_DIAGNOSTICS, sizeof(vyre_kernel_diagnostics), VYRE_TYPE_U32, at);
}

static uint32_t state(lower_code *c, vyre_type type, size_t at) {
  return hidden(c, VYRE_KERNEL_HIDDEN_STATE, sizeof(vyre_kernel_state), type, at);
}

static lower_value read_modify_write(lower_code *c, uint32_t op, uint32_t access, uint32_t x) {
  return lower_atomic(c, op, access, lower_u32(c, x), 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE);
}

/* ---- should_stop ----------------------------------------------------------------------------- */

static void set_if(lower_code *c, lower_value condition, uint32_t slot) {
  lower_if(c, condition);
  lower_set(c, slot, lower_bool(c, true));
  lower_end_if(c);
}

/* A budget of 0 is none. */
static void test_work(lower_code *c, uint32_t stop) {
  lower_value budget = lower_hidden_word(c, VYRE_KERNEL_WORD_WORK_BUDGET);
  lower_if(c, op2(c, VYRE_KERNEL_NE, budget, lower_u32(c, 0)));
  uint32_t calls = state(c, VYRE_TYPE_U32, offsetof(vyre_kernel_state, stop_calls));
  set_if(c, op2(c, VYRE_KERNEL_LE, budget, read_modify_write(c, VYRE_KERNEL_ATOMIC_ADD, calls, 1)), stop);
  lower_end_if(c);
}

static void test_time(lower_code *c, uint32_t stop) {
  if (!lower_takes(c, VYRE_KERNEL_CLOCK, form_type_bit(VYRE_TYPE_U64)) || (c->options->needs & VYRE_NEED_CLOCK) == 0) {
    c->flags |= VYRE_KERNEL_NO_TIME_BUDGET;
    return;
  }
  lower_value budget = lower_hidden_word(c, VYRE_KERNEL_WORD_TIME_BUDGET);
  lower_if(c, op2(c, VYRE_KERNEL_NE, budget, lower_number(c, VYRE_TYPE_U64, 0)));
  lower_value started = lower_load(c, state(c, VYRE_TYPE_U64, offsetof(vyre_kernel_state, started_ns)));
  lower_value now = lower_op(c, VYRE_KERNEL_CLOCK, 0, 0, 0);
  set_if(c, op2(c, VYRE_KERNEL_LE, budget, op2(c, VYRE_KERNEL_SUB, now, started)), stop);
  lower_end_if(c);
}

/* The answer of the whole launch, as one invocation finds it. Once true it stays true, and calls are not counted. */
static void ask(lower_code *c, uint32_t stop) {
  uint32_t stopped = state(c, VYRE_TYPE_U32, offsetof(vyre_kernel_state, stopped));
  uint32_t word = hidden(c, VYRE_KERNEL_HIDDEN_STOP, 4, VYRE_TYPE_U32, 0);
  lower_value zero = lower_u32(c, 0);
  lower_value before = lower_atomic(c, VYRE_KERNEL_ATOMIC_LOAD, stopped, 0, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE);
  lower_value asked = lower_atomic(c, VYRE_KERNEL_ATOMIC_LOAD, word, 0, 0, VYRE_ORDER_ACQUIRE, VYRE_SCOPE_SYSTEM);
  lower_value either = op2(c, VYRE_KERNEL_OR, before, asked);
  lower_set(c, stop, op2(c, VYRE_KERNEL_NE, either, zero));
  lower_if(c, op2(c, VYRE_KERNEL_EQ, either, zero));
  test_work(c, stop);
  test_time(c, stop);
  lower_end_if(c);
  lower_if(c, lower_get(c, stop));
  lower_atomic(c, VYRE_KERNEL_ATOMIC_STORE, stopped, lower_u32(c, 1), 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE);
  lower_end_if(c);
}

/* Between two barriers the first invocation asks and leaves the answer in workgroup memory. The next call begins with
 * a barrier, so that it can not write there before all have read. */
lower_value expand_should_stop(lower_code *c, const lower_request *r) {
  (void)r;
  if (c->stop_flag == 0)
    c->stop_flag = lower_array(c, VYRE_KERNEL_SPACE_SHARED, VYRE_TYPE_U32, 1, 0, 0) + 1;
  vyre_kernel_access flag = { .space = VYRE_KERNEL_SPACE_SHARED, .number = c->stop_flag - 1,
                              .element = form_type(VYRE_TYPE_U32), .index = lower_u32(c, 0) };
  uint32_t access = lower_access(c, flag), stop = lower_slot(c, VYRE_TYPE_BOOL, VYRE_KERNEL_UNIFORM_NONE, 0);
  lower_plain(c, VYRE_KERNEL_BARRIER, 0, 0);
  lower_if(c, op2(c, VYRE_KERNEL_EQ, lower_local_index(c), lower_u32(c, 0)));
  ask(c, stop);
  lower_store(c, access, lower_select(c, lower_get(c, stop), lower_u32(c, 1), lower_u32(c, 0)));
  lower_end_if(c);
  lower_plain(c, VYRE_KERNEL_BARRIER, 0, 0);
  lower_value answer = lower_load(c, access);
  if (!lower_failed(c)) c->values.data[answer].uniform = VYRE_KERNEL_UNIFORM_WORKGROUP;
  return op2(c, VYRE_KERNEL_NE, answer, lower_u32(c, 0));
}

/* ---- Diagnostics ----------------------------------------------------------------------------- */

static lower_value gid(lower_code *c, uint32_t axis) { return lower_leaf(c, VYRE_KERNEL_GID, VYRE_TYPE_NONE, axis, 0); }

/* The first one that comes leaves its code and id. */
lower_value expand_trap(lower_code *c, const lower_request *r) {
  read_modify_write(c, VYRE_KERNEL_ATOMIC_ADD, diagnostics(c, offsetof(vyre_kernel_diagnostics, trap_count)), 1);
  uint32_t claimed = diagnostics(c, offsetof(vyre_kernel_diagnostics, trap_claimed));
  lower_value before = read_modify_write(c, VYRE_KERNEL_ATOMIC_XCHG, claimed, 1);
  lower_if(c, op2(c, VYRE_KERNEL_EQ, before, lower_u32(c, 0)));
  lower_store(c, diagnostics(c, offsetof(vyre_kernel_diagnostics, trap_code)), r->arg[0]);
  for (uint32_t axis = 0; axis < 3; axis++) {
    uint32_t word = diagnostics(c, offsetof(vyre_kernel_diagnostics, trap_gid) + 4 * axis);
    lower_store(c, word, gid(c, axis));
  }
  lower_end_if(c);
  return 0;
}

/* Word |k| of a record that begins at word |at| of the diagnostics. */
static void put_word(lower_code *c, lower_value at, uint32_t k, lower_value word) {
  vyre_kernel_access access = {
    .space = VYRE_KERNEL_SPACE_HIDDEN, .element = form_type(VYRE_TYPE_U32), .flags = VYRE_KERNEL_ACCESS_COHERENT,
    .number = lower_hidden_binding(c, VYRE_KERNEL_HIDDEN_DIAGNOSTICS, sizeof(vyre_kernel_diagnostics)),
    .index = op2(c, VYRE_KERNEL_ADD, at, lower_u32(c, k)),
  };
  lower_store(c, lower_access(c, access), word);
}

/* The bits of an argument as two words. */
static void put_argument(lower_code *c, lower_value at, uint32_t k, lower_value v) {
  vyre_type type = lower_type_of(c, v);
  lower_value low, high = lower_u32(c, 0);
  if (type == VYRE_TYPE_BOOL) {
    low = lower_select(c, v, lower_u32(c, 1), lower_u32(c, 0));
  } else if (form_bytes(type) == 4) {
    low = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, v);
  } else {
    lower_value pair = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32X2, v);
    low = lower_extract(c, pair, 0);
    high = lower_extract(c, pair, 1);
  }
  put_word(c, at, k, low);
  put_word(c, at, k + 1, high);
}

static void put_record(lower_code *c, const lower_request *r, lower_value used) {
  enum { FIRST_WORD = sizeof(vyre_kernel_diagnostics) / 4, HEADER_WORDS = sizeof(vyre_print_record) / 4 };
  lower_value twice = op2(c, VYRE_KERNEL_MUL, used, lower_u32(c, 2));
  lower_value at = op2(c, VYRE_KERNEL_ADD, twice, lower_u32(c, FIRST_WORD));
  put_word(c, at, offsetof(vyre_print_record, site) / 4, lower_u32(c, r->arg[0]));
  put_word(c, at, offsetof(vyre_print_record, arg_count) / 4, lower_u32(c, r->arg[2]));
  for (uint32_t axis = 0; axis < 3; axis++)
    put_word(c, at, offsetof(vyre_print_record, gid) / 4 + axis, gid(c, axis));
  put_word(c, at, offsetof(vyre_print_record, command) / 4, lower_hidden_word(c, VYRE_KERNEL_WORD_COMMAND));
  for (uint32_t k = 0; k < r->arg[2] && !lower_failed(c); k++)
    put_argument(c, at, HEADER_WORDS + 2 * k, c->operands.data[r->arg[1] + k]);
}

/* Takes room by an addition, if there seems to be enough; who finds that another was faster drops his record. The test
 * before keeps the sum from growing with every record that is dropped. */
lower_value expand_print(lower_code *c, const lower_request *r) {
  uint32_t words = (uint32_t)(sizeof(vyre_print_record) / 8) + r->arg[2];
  uint32_t used = diagnostics(c, offsetof(vyre_kernel_diagnostics, print_used));
  lower_value size = lower_u32(c, words),
              capacity = lower_load(c, diagnostics(c, offsetof(vyre_kernel_diagnostics, print_words)));
  uint32_t is_written = lower_slot(c, VYRE_TYPE_BOOL, VYRE_KERNEL_UNIFORM_NONE, 0);
  lower_set(c, is_written, lower_bool(c, false));
  lower_value seen = lower_atomic(c, VYRE_KERNEL_ATOMIC_LOAD, used, 0, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE);
  lower_if(c, op2(c, VYRE_KERNEL_LE, op2(c, VYRE_KERNEL_ADD, seen, size), capacity));
  lower_value at = lower_atomic(c, VYRE_KERNEL_ATOMIC_ADD, used, size, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE);
  lower_if(c, op2(c, VYRE_KERNEL_LE, op2(c, VYRE_KERNEL_ADD, at, size), capacity));
  put_record(c, r, at);
  lower_set(c, is_written, lower_bool(c, true));
  lower_end_if(c);
  lower_end_if(c);
  lower_if(c, lower_get(c, is_written));
  read_modify_write(c, VYRE_KERNEL_ATOMIC_ADD, diagnostics(c, offsetof(vyre_kernel_diagnostics, prints_written)), 1);
  lower_else(c);
  read_modify_write(c, VYRE_KERNEL_ATOMIC_ADD, diagnostics(c, offsetof(vyre_kernel_diagnostics, prints_dropped)), 1);
  lower_end_if(c);
  return 0;
}
