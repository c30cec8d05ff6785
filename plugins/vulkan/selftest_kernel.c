/* The kernels that the numeric self-test runs: a row of operands an invocation, one result for each operation. */
#include "plugins/vulkan/selftest_kernel.h"

#include <string.h>

/* Opcode and operands of each result; the copy is no instruction of its own. */
static const struct { uint16_t op; uint8_t operands; } steps[SELFTEST_OPS] = {
  [SELFTEST_COPY] = { VYRE_KERNEL_NONE, 1 }, [SELFTEST_ADD] = { VYRE_KERNEL_ADD, 2 },
  [SELFTEST_SUB] = { VYRE_KERNEL_SUB, 2 },   [SELFTEST_MUL] = { VYRE_KERNEL_MUL, 2 },
  [SELFTEST_PRODUCT] = { VYRE_KERNEL_MUL, 2 }, [SELFTEST_LESS] = { VYRE_KERNEL_LT, 2 },
  [SELFTEST_EQUAL] = { VYRE_KERNEL_EQ, 2 },  [SELFTEST_MIN] = { VYRE_KERNEL_MIN, 2 },
  [SELFTEST_MAX] = { VYRE_KERNEL_MAX, 2 },   [SELFTEST_FLOOR] = { VYRE_KERNEL_FLOOR, 1 },
  [SELFTEST_CEIL] = { VYRE_KERNEL_CEIL, 1 }, [SELFTEST_DIV] = { VYRE_KERNEL_DIV, 2 },
  [SELFTEST_SQRT] = { VYRE_KERNEL_SQRT, 1 }, [SELFTEST_FMA] = { VYRE_KERNEL_FMA, 3 },
};

/* Values: 0 is none; then constants, k * SELFTEST_ROWS for k from 1 first of all; then results of instructions. */
enum { MOST_VALUES = 512, MOST_INSNS = 512, MOST_CONSTANTS = 128, MOST_ACCESSES = 96 };

typedef struct maker {
  vyre_kernel_type word, number, wide, truth; /* u32, the type that is tested, f64 and bool */
  vyre_kernel_param param;                    /* if there are param_bytes */
  uint32_t param_bytes, counts;               /* of the launch block: where the two element counts begin */
  bool is_wide;                               /* f32 is tested and there is f64 */
  vyre_kernel_value values[MOST_VALUES];
  vyre_kernel_insn insns[MOST_INSNS];
  vyre_kernel_access accesses[MOST_ACCESSES];
  vyre_kernel_constant constants[MOST_CONSTANTS];
  uint32_t value_count, insn_count, access_count, constant_count;
} maker;

static uint32_t add_value(maker *m, vyre_kernel_type type, uint8_t uniform) {
  m->values[m->value_count] = (vyre_kernel_value){ .type = type, .uniform = uniform, .most = UINT64_MAX };
  return m->value_count++;
}

static uint32_t add_word(maker *m, uint32_t least, uint32_t most, uint8_t uniform) {
  uint32_t value = add_value(m, m->word, uniform);
  m->values[value].least = least;
  m->values[value].most = most;
  return value;
}

static void add_insn(maker *m, uint16_t op, uint32_t result, uint32_t a, uint32_t b, uint32_t c) {
  m->insns[m->insn_count++] = (vyre_kernel_insn){ .op = op, .result = result, .arg = { a, b, c, 0 } };
}

/* Element |block| * SELFTEST_ROWS + |row| of a binding. */
static uint32_t add_access(maker *m, uint32_t binding, uint32_t row, uint32_t block) {
  uint32_t index = row;
  if (block > 0) {
    index = add_word(m, block * SELFTEST_ROWS, (block + 1) * SELFTEST_ROWS - 1, VYRE_KERNEL_UNIFORM_NONE);
    add_insn(m, VYRE_KERNEL_ADD, index, row, block, 0);
  }
  m->accesses[m->access_count] = (vyre_kernel_access){ .space = VYRE_KERNEL_SPACE_BINDING,
                                                       .bound_kind = VYRE_KERNEL_BOUND_PROVED,
                                                       .number = binding,
                                                       .element = m->number,
                                                       .index = index,
                                                       .alignment = m->number.bits / 8u };
  return m->access_count++;
}

static uint32_t add_result(maker *m, vyre_kernel_type type, uint16_t op, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = add_value(m, type, VYRE_KERNEL_UNIFORM_NONE);
  add_insn(m, op, result, a, b, c);
  return result;
}

static uint32_t add_step(maker *m, uint32_t number, const uint32_t operand[SELFTEST_OPERANDS]) {
  const uint16_t op = steps[number].op;
  uint32_t a = operand[0], b = steps[number].operands > 1 ? operand[1] : 0;
  if (number == SELFTEST_COPY) return a;
  if (number == SELFTEST_LESS || number == SELFTEST_EQUAL)
    return add_result(m, m->number, VYRE_KERNEL_SELECT, add_result(m, m->truth, op, a, b, 0), a, operand[2]);
  if (number != SELFTEST_PRODUCT || !m->is_wide)
    return add_result(m, m->number, op, a, b, steps[number].operands > 2 ? operand[2] : 0);
  uint32_t x = add_result(m, m->wide, VYRE_KERNEL_REFLOAT, a, 0, 0);
  uint32_t y = add_result(m, m->wide, VYRE_KERNEL_REFLOAT, b, 0, 0);
  return add_result(m, m->number, VYRE_KERNEL_REFLOAT, add_result(m, m->wide, op, x, y, 0), 0, 0);
}

static uint32_t add_constant(maker *m, vyre_kernel_type type, uint64_t number) {
  uint32_t value = add_value(m, type, VYRE_KERNEL_UNIFORM_GRID);
  m->values[value].least = m->values[value].most = number;
  m->constants[m->constant_count++].bits = number;
  return value;
}

/* The places of |blocks| results. */
static void add_places(maker *m, uint32_t blocks) {
  m->value_count = 1;
  for (uint32_t k = 1; k < blocks; k++) add_constant(m, m->word, k * SELFTEST_ROWS);
}

static uint32_t add_row(maker *m) {
  uint32_t row = add_word(m, 0, SELFTEST_ROWS - 1, VYRE_KERNEL_UNIFORM_NONE);
  add_insn(m, VYRE_KERNEL_GID, row, 0, 0, 0);
  return row;
}

static uint32_t add_load(maker *m, uint32_t row, uint32_t block) {
  return add_result(m, m->number, VYRE_KERNEL_LOAD, add_access(m, 0, row, block), 0, 0);
}

static void add_store(maker *m, uint32_t row, uint32_t block, uint32_t value) {
  uint32_t access = add_access(m, 1, row, block);
  add_insn(m, VYRE_KERNEL_STORE, 0, access, value, 0);
}

static void write_floats(maker *m) {
  uint32_t operand[SELFTEST_OPERANDS];
  add_places(m, SELFTEST_OPS);
  uint32_t row = add_row(m);
  for (uint32_t i = 0; i < SELFTEST_OPERANDS; i++) operand[i] = add_load(m, row, i);
  for (uint32_t i = 0; i < SELFTEST_OPS; i++) add_store(m, row, i, add_step(m, i, operand));
}

/* ---- Integers -------------------------------------------------------------------------------- */

const uint64_t selftest_limits[SELFTEST_LIMITS] = { 2, 7139205962, 0xFFFFFFFF80000000, UINT64_MAX - 2 };

/* As libvyre makes them. */
static uint32_t add_saturated_sum(maker *m, uint32_t x, uint32_t y, uint32_t all) {
  uint32_t sum = add_result(m, m->number, VYRE_KERNEL_ADD, x, y, 0);
  uint32_t is_less = add_result(m, m->truth, VYRE_KERNEL_LT, sum, x, 0);
  return add_result(m, m->number, VYRE_KERNEL_SELECT, is_less, all, sum);
}

static uint32_t add_saturated_difference(maker *m, uint32_t x, uint32_t y) {
  uint32_t is_less = add_result(m, m->truth, VYRE_KERNEL_LT, x, y, 0);
  uint32_t greater = add_result(m, m->number, VYRE_KERNEL_SELECT, is_less, y, x);
  return add_result(m, m->number, VYRE_KERNEL_SUB, greater, y, 0);
}

/* What compilers know of an operand is where they err: that it is the same for all, or that its high word is 0. */
static void add_sources(maker *m, uint32_t loaded, uint32_t sources[SELFTEST_SOURCES]) {
  uint32_t param = add_word(m, 0, UINT32_MAX, VYRE_KERNEL_UNIFORM_GRID);
  uint32_t low = add_word(m, 0, UINT32_MAX, VYRE_KERNEL_UNIFORM_NONE);
  add_insn(m, VYRE_KERNEL_PARAM, param, 0, 0, 0);
  add_insn(m, VYRE_KERNEL_RESIZE, low, loaded, 0, 0);
  sources[SELFTEST_LOADED] = loaded;
  sources[SELFTEST_LOW] = add_result(m, m->number, VYRE_KERNEL_RESIZE, low, 0, 0);
  sources[SELFTEST_PARAM] = add_result(m, m->number, VYRE_KERNEL_RESIZE, param, 0, 0);
  sources[SELFTEST_LENGTH] = add_result(m, m->number, VYRE_KERNEL_LENGTH, 0, 0, 0);
}

static void write_integers(maker *m) {
  uint32_t sources[SELFTEST_SOURCES], others[SELFTEST_LIMITS + 1], block = 0;
  add_places(m, SELFTEST_SATURATIONS);
  uint32_t all = add_constant(m, m->number, UINT64_MAX);
  for (uint32_t k = 0; k < SELFTEST_LIMITS; k++) others[k] = add_constant(m, m->number, selftest_limits[k]);
  uint32_t row = add_row(m);
  add_sources(m, add_load(m, row, 0), sources);
  others[SELFTEST_LIMITS] = add_load(m, row, 1);
  for (uint32_t i = 0; i < SELFTEST_SOURCES; i++)
    for (uint32_t k = 0; k <= SELFTEST_LIMITS; k++) {
      add_store(m, row, block++, add_saturated_sum(m, others[k], sources[i], all));
      add_store(m, row, block++, add_saturated_sum(m, sources[i], others[k], all));
      add_store(m, row, block++, add_saturated_difference(m, others[k], sources[i]));
      add_store(m, row, block++, add_saturated_difference(m, sources[i], others[k]));
    }
}

/* ---- The block ------------------------------------------------------------------------------- */

static vyre_kernel_table add_table(gpu_bytes *b, size_t start, const void *records, uint32_t count, uint32_t stride) {
  gpu_bytes_align(b, 16);
  vyre_kernel_table table = { .offset = (uint32_t)(b->count - start), .count = count, .stride = stride };
  if (count > 0) gpu_bytes_add(b, records, (size_t)count * stride);
  return table;
}

static vyre_kernel_table add_bindings(gpu_bytes *b, size_t start, const maker *m) {
  vyre_kernel_binding bindings[2] = {
    { .access = VYRE_ACCESS_READ, .element = m->number, .count_offset = m->counts },
    { .access = VYRE_ACCESS_WRITE, .element = m->number, .count_offset = m->counts + 8 },
  };
  return add_table(b, start, bindings, 2, sizeof *bindings);
}

static void add_tables(gpu_bytes *b, size_t start, const maker *m, vyre_kernel_header *h) {
  const vyre_kernel_entry entry = { .workgroup = { SELFTEST_GROUP, 1, 1 }, .insn_count = m->insn_count };
  h->values = add_table(b, start, m->values, m->value_count, sizeof *m->values);
  h->constants = add_table(b, start, m->constants, m->constant_count, sizeof *m->constants);
  h->insns = add_table(b, start, m->insns, m->insn_count, sizeof *m->insns);
  h->accesses = add_table(b, start, m->accesses, m->access_count, sizeof *m->accesses);
  h->entries = add_table(b, start, &entry, 1, sizeof entry);
  h->bindings = add_bindings(b, start, m);
  h->strings = add_table(b, start, "\0selftest", sizeof "\0selftest", 1);
  h->params = add_table(b, start, &m->param, m->param_bytes > 0, sizeof m->param);
  vyre_kernel_table *const empty[] = { &h->operands, &h->slots,           &h->shared,       &h->locals,
                                       &h->tables,   &h->hidden_bindings, &h->hidden_words, &h->specs };
  static const uint32_t strides[] = { sizeof(uint32_t),                   sizeof(vyre_kernel_slot),
                                      sizeof(vyre_kernel_array),          sizeof(vyre_kernel_array),
                                      sizeof(vyre_kernel_table_data),     sizeof(vyre_kernel_hidden_binding),
                                      sizeof(vyre_kernel_hidden_word),    sizeof(vyre_kernel_spec) };
  for (uint32_t i = 0; i < sizeof empty / sizeof *empty; i++) *empty[i] = add_table(b, start, NULL, 0, strides[i]);
  h->table_bytes = add_table(b, start, NULL, 0, 1);
  gpu_bytes_align(b, 8);
}

static void write_block(gpu_bytes *b, const maker *m, uint64_t needs) {
  size_t start = b->count;
  vyre_kernel_header header = { .magic = VYRE_KERNEL_MAGIC,
                                .header_bytes = sizeof header,
                                .form_major = VYRE_KERNEL_FORM_MAJOR,
                                .form_minor = VYRE_KERNEL_FORM_MINOR,
                                .needs = needs,
                                .ulp = VYRE_ULP_UNSET,
                                .name = 1,
                                .launch_bytes = m->counts + 16,
                                .count_offset = m->counts,
                                .param_bytes = m->param_bytes };
  gpu_bytes_add(b, &header, sizeof header);
  add_tables(b, start, m, &header);
  header.bytes = (uint32_t)(b->count - start);
  if (!b->failed) memcpy(b->data + start, &header, sizeof header);
}

void selftest_kernel(uint32_t bits, bool is_wide, gpu_bytes *b) {
  maker m = { .word = { VYRE_KERNEL_CLASS_UINT, 32, 1, 0 },
              .number = { VYRE_KERNEL_CLASS_FLOAT, (uint8_t)bits, 1, 0 },
              .wide = { VYRE_KERNEL_CLASS_FLOAT, 64, 1, 0 },
              .truth = { VYRE_KERNEL_CLASS_BOOL, 1, 1, 0 },
              .is_wide = is_wide && bits == 32 };
  write_floats(&m);
  write_block(b, &m, VYRE_NEED_FMA | (bits == 64 || is_wide ? VYRE_NEED_FLOAT64 : 0));
}

void selftest_integer_kernel(gpu_bytes *b) {
  maker m = { .word = { VYRE_KERNEL_CLASS_UINT, 32, 1, 0 },
              .number = { VYRE_KERNEL_CLASS_UINT, 64, 1, 0 },
              .truth = { VYRE_KERNEL_CLASS_BOOL, 1, 1, 0 },
              .param_bytes = 4,
              .counts = 8 };
  m.param.type = m.word;
  write_integers(&m);
  write_block(b, &m, VYRE_NEED_INT64);
}
