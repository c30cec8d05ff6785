/* Each rule of the verifier, broken once in a kernel that obeys all of them; and bytes that were changed at random. */
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "../gen/random_program.h"
#include "../suite.h"

/* Something of everything. */
static const char base_text[] =
  "program base workgroup(8, 2, 1) {\n"
  "  param p: bool; param q: f64; param n: u32;\n"
  "  read a: u32[]; rw b: u32[]; write c: u8[16]; rw d: u32x2[];\n"
  "  const T: u16[3] = {1, 2, 3};\n"
  "  shared s: u32[16]; local l: f32[4];\n"
  "  var kept = a[gid.x];\n"
  "  s[lid.x] = kept;\n"
  "  l[n] = f32(T[n]);\n"
  "  barrier;\n"
  "  loop {\n"
  "    if (kept > n) { break; } else { kept += 1; }\n"
  "    if (p) { continue; }\n"
  "    atomic_add(b[n], 1, acquire, device);\n"
  "    fence(release, device);\n"
  "  }\n"
  "  copy_async b[0], a[n], 4; commit; wait 1;\n"
  "  print(\"{} {}\", kept, q);\n"
  "  d[n] = u32x2(subgroup_add(kept), d[n].y);\n"
  "  grid_barrier;\n"
  "  c[gid.y] = kept + s[lid.y];\n"
  "  if (p) { return; }\n"
  "  pause(n);\n"
  "  atomic_add(b[n], 1);\n"
  "}\n";

typedef struct sample {
  uint8_t *bytes;
  size_t count;
  vyre_kernel_header *h;
} sample;

static sample base;

static void make_base(void) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("base", base_text, strlen(base_text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(base_text, strlen(base_text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  if (vyre_lower(program, &options, &base.bytes, &base.count, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  base.h = (vyre_kernel_header *)(void *)base.bytes;
  vyre_program_release(program);
}

static sample copy_of_base(void) {
  sample s = { malloc(base.count), base.count, NULL };
  memcpy(s.bytes, base.bytes, base.count);
  s.h = (vyre_kernel_header *)(void *)s.bytes;
  return s;
}

/* ---- Records ----------------------------------------------------------------------------------- */

#define REC(type, table, i) ((type *)(uintptr_t)VYRE_KERNEL_AT(type, h, table, i))
#define INSN(i) REC(vyre_kernel_insn, insns, i)
#define VALUE(i) REC(vyre_kernel_value, values, i)
#define ACCESS(i) REC(vyre_kernel_access, accesses, i)

/* The first instruction with an opcode. */
static vyre_kernel_insn *find(vyre_kernel_header *h, uint32_t op) {
  for (uint32_t i = 0; i < h->insns.count; i++)
    if (INSN(i)->op == op) return INSN(i);
  ck_abort_msg("the base has no %s", vyre_kernel_op_describe(op).name);
}

/* The access of the first instruction with an opcode. */
static vyre_kernel_access *access_of(vyre_kernel_header *h, uint32_t op) { return ACCESS(find(h, op)->arg[0]); }

static uint32_t first_of_space(vyre_kernel_header *h, uint32_t space) {
  for (uint32_t i = 0; i < h->accesses.count; i++)
    if (ACCESS(i)->space == space) return i;
  ck_abort_msg("the base has no access to space %u", space);
}

/* A value of a type that is neither u32 nor u64. */
static uint32_t value_of(vyre_kernel_header *h, uint32_t cls, uint32_t bits) {
  for (uint32_t i = 1; i < h->values.count; i++)
    if (VALUE(i)->type.cls == cls && VALUE(i)->type.bits == bits) return i;
  ck_abort_msg("the base has no value of class %u", cls);
}

/* ---- One fault each ---------------------------------------------------------------------------- */

typedef struct fault {
  const char *name;
  void (*make)(sample *s, vyre_kernel_header *h);
  vyre_status status;
  const char *says;
} fault;

#define BAD VYRE_ERR_INVALID_FILE
#define UNKNOWN VYRE_ERR_UNSUPPORTED
#define FAULTS(F)                                                                                                     \
  F(too_short, BAD, "a kernel has at least", s->count = sizeof *h - 8)                                                \
  F(magic, BAD, "its magic is", h->magic++)                                                                           \
  F(form, UNKNOWN, "its form is 1.1", h->form_major = 1)                                                              \
  F(header_small, BAD, "header 0", h->header_bytes -= 8)                                                              \
  F(header_large, BAD, "header 0", h->header_bytes = h->bytes + 8)                                                    \
  F(block_size, BAD, "the block says to have", h->bytes -= 8)                                                         \
  F(header_flag, UNKNOWN, "flags 0x", h->flags |= 1u << 20)                                                           \
  F(result_class, UNKNOWN, "result class 3", h->result = 3)                                                           \
  F(steps_flag, BAD, "the flag STEPS", h->steps = 5)                                                                  \
  F(table_word, UNKNOWN, "should be 0 is 1", h->insns.zero = 1)                                                       \
  F(stride_small, BAD, "bytes apart", h->insns.stride = 24)                                                           \
  F(stride_ragged, BAD, "bytes apart", h->values.stride = 28)                                                         \
  F(stride_of_bytes, BAD, "bytes apart", h->strings.stride = 2)                                                       \
  F(table_beyond, BAD, "it lies at", h->accesses.count = 0x10000000)                                                  \
  F(table_in_header, BAD, "it lies at 8", h->slots.offset = 8)                                                        \
  F(table_ragged, BAD, "it lies at", h->slots.offset += 4)                                                            \
  F(table_bytes_ragged, BAD, "no multiple of 16", h->table_bytes.count -= 8)                                          \
  F(no_strings, BAD, "strings 0", h->strings.count = 0)                                                               \
  F(strings_open, BAD, "not end with NUL", *(char *)(uintptr_t)VYRE_KERNEL_TEXT(h, h->strings.count - 1) = 'x')       \
  F(name, BAD, "its name stands at", h->name = h->strings.count)                                                      \
  F(value_zero, BAD, "all zero", VALUE(0)->uniform = 1)                                                               \
  F(value_class, UNKNOWN, "class 6", VALUE(2)->type.cls = VYRE_KERNEL_CLASS_TILE)                                     \
  F(value_bits, BAD, "is no type", VALUE(2)->type.bits = 33)                                                          \
  F(value_narrow, BAD, "memory alone", VALUE(2)->type.bits = 8)                                                       \
  F(value_uniform, UNKNOWN, "uniformity 4", VALUE(2)->uniform = 4)                                                    \
  F(value_word, UNKNOWN, "should be 0 is 1", VALUE(2)->zero = 1)                                                      \
  F(value_zeros, BAD, "said to be 0", VALUE(1)->trailing_zeros = 33)                                                  \
  F(value_range, BAD, "bounds", VALUE(1)->most = 1ull << 32)                                                          \
  F(value_range_of_float, BAD, "bounds", VALUE(value_of(h, VYRE_KERNEL_CLASS_FLOAT, 32))->most = 5)                   \
  F(constants, BAD, "constant", h->constants.count = h->values.count)                                                 \
  F(constant_bits, BAD, "has more than 32 bits", REC(vyre_kernel_constant, constants, 0)->bits = 1ull << 40)          \
  F(slot_type, BAD, "is no type", REC(vyre_kernel_slot, slots, 0)->type.lanes = 3)                                    \
  F(slot_uniform, UNKNOWN, "uniformity", REC(vyre_kernel_slot, slots, 0)->uniform = 9)                                \
  F(slot_byte, UNKNOWN, "should be 0", REC(vyre_kernel_slot, slots, 0)->zero[1] = 1)                                  \
  F(param_offset, BAD, "natural alignment", REC(vyre_kernel_param, params, 1)->offset = 4)                            \
  F(param_type, BAD, "memory alone", REC(vyre_kernel_param, params, 2)->type.bits = 16)                               \
  F(param_bytes, BAD, "parameters of", h->param_bytes += 4)                                                           \
  F(binding_access, BAD, "is none of bound memory", REC(vyre_kernel_binding, bindings, 0)->access = VYRE_ACCESS_LOCAL)\
  F(binding_count, BAD, "its count stands at", REC(vyre_kernel_binding, bindings, 1)->count_offset += 8)              \
  F(binding_type, BAD, "is no type", REC(vyre_kernel_binding, bindings, 0)->element.bits = 7)                         \
  F(word_kind, UNKNOWN, "kind 10", REC(vyre_kernel_hidden_word, hidden_words, 0)->kind = 10)                          \
  F(word_twice, BAD, "is there twice", REC(vyre_kernel_hidden_word, hidden_words, 1)->kind = 1)                       \
  F(word_offset, BAD, "where others stand", REC(vyre_kernel_hidden_word, hidden_words, 1)->offset -= 4)               \
  F(launch_bytes, BAD, "a launch block of", h->launch_bytes -= 8)                                                     \
  F(hidden_kind, UNKNOWN, "kind 9", REC(vyre_kernel_hidden_binding, hidden_bindings, 0)->kind = 9)                    \
  F(hidden_bytes, BAD, "the header says", REC(vyre_kernel_hidden_binding, hidden_bindings, 0)->bytes += 16)           \
  F(spill_bytes, BAD, "bytes", h->spill_bytes = 0)                                                                    \
  F(no_entry, BAD, "there is none", h->entries.count = 0)                                                             \
  F(entry_workgroup, BAD, "a workgroup of", REC(vyre_kernel_entry, entries, 0)->workgroup[1] = 0)                     \
  F(entry_workgroup_size, BAD, "a workgroup of", REC(vyre_kernel_entry, entries, 0)->workgroup[1] = 1u << 30)         \
  F(entry_subgroup, BAD, "subgroups of 3", REC(vyre_kernel_entry, entries, 0)->subgroup = 3)                          \
  F(entry_gap, BAD, "do not begin where", REC(vyre_kernel_entry, entries, 1)->insn_first++)                           \
  F(entry_beyond, BAD, "more of a table than there is", REC(vyre_kernel_entry, entries, 1)->insn_count++)             \
  F(entry_rest, BAD, "behind the last one", REC(vyre_kernel_entry, entries, 1)->insn_count--)                         \
  F(entry_dynamic, UNKNOWN, "dynamic bytes", REC(vyre_kernel_entry, entries, 0)->dynamic_shared_bytes = 16)           \
  F(array_overlap, BAD, "do not fit", REC(vyre_kernel_array, shared, 0)->length = 1u << 20)                           \
  F(array_overflow, BAD, "do not fit", REC(vyre_kernel_array, shared, 0)->length = UINT64_MAX / 2)                    \
  F(array_ragged, BAD, "do not fit", REC(vyre_kernel_array, shared, 0)->offset = 8)                                   \
  F(array_flag, UNKNOWN, "flags", REC(vyre_kernel_array, locals, 0)->flags = 2)                                       \
  F(array_bytes, BAD, "no multiple of 16", REC(vyre_kernel_entry, entries, 0)->local_bytes += 8)                      \
  F(table_data, BAD, "do not lie in", REC(vyre_kernel_table_data, tables, 0)->length = 1000)                          \
  F(access_space, UNKNOWN, "space 9", ACCESS(0)->space = 9)                                                           \
  F(access_bound, UNKNOWN, "bound of kind 7", ACCESS(0)->bound_kind = 7)                                              \
  F(access_flag, UNKNOWN, "flags", ACCESS(0)->flags |= 1u << 9)                                                       \
  F(access_number, BAD, "its space", ACCESS(0)->number = 77)                                                          \
  F(access_element, BAD, "is no type", ACCESS(0)->element.lanes = 0)                                                  \
  F(access_alignment, BAD, "alignment 2", ACCESS(0)->alignment = 2)                                                   \
  F(access_length, BAD, "only bindings have a length",                                                                \
    ACCESS(first_of_space(h, VYRE_KERNEL_SPACE_SHARED))->bound_kind = VYRE_KERNEL_BOUND_LENGTH)                       \
  F(access_limit, BAD, "without that kind of bound", ACCESS(0)->limit = 3)                                            \
  F(access_bound_value, BAD, "bound value", ACCESS(0)->bound = 1)                                                     \
  F(access_no_index, BAD, "is no value", ACCESS(0)->index = 0)                                                        \
  F(access_index_type, BAD, "no u32 or u64", ACCESS(0)->index = value_of(h, VYRE_KERNEL_CLASS_BOOL, 1))               \
  F(access_base, BAD, "is no value", ACCESS(0)->base = h->values.count)                                               \
  F(opcode, UNKNOWN, "unsupported(0x7FF)", INSN(3)->op = 0x7FF)                                                       \
  F(opcode_tile, UNKNOWN, "unsupported(0x400)", INSN(3)->op = 0x400)                                                  \
  F(opcode_none, UNKNOWN, "unsupported(0x0)", INSN(3)->op = 0)                                                        \
  F(operand_unused, BAD, "should be 0", find(h, VYRE_KERNEL_BARRIER)->arg[2] = 1)                                     \
  F(operand_value, BAD, "is no value", find(h, VYRE_KERNEL_ADD)->arg[0] = h->values.count)                            \
  F(operand_later, BAD, "not visible", find(h, VYRE_KERNEL_LT)->arg[0] = h->values.count - 1)                         \
  F(operand_access, BAD, "names record", find(h, VYRE_KERNEL_LOAD)->arg[0] = h->accesses.count)                       \
  F(operand_slot, BAD, "names record", find(h, VYRE_KERNEL_GET)->arg[0] = h->slots.count)                             \
  F(operand_slot_of_other, BAD, "another entry", find(h, VYRE_KERNEL_GET)->arg[0] = h->slots.count - 1)               \
  F(operand_param, BAD, "names record", find(h, VYRE_KERNEL_PARAM)->arg[0] = 99)                                      \
  F(operand_binding, BAD, "operand", find(h, VYRE_KERNEL_PARAM)->op = VYRE_KERNEL_SPEC)                               \
  F(operand_word, BAD, "names record",                                                                                \
    (find(h, VYRE_KERNEL_PARAM)->arg[0] = 99, find(h, VYRE_KERNEL_PARAM)->op = VYRE_KERNEL_HIDDEN))                   \
  F(operand_array_of_other, BAD, "another entry point's",                                                             \
    ACCESS(first_of_space(h, VYRE_KERNEL_SPACE_SHARED))->number = 1)                                                  \
  F(operand_axis, BAD, "axis 3", find(h, VYRE_KERNEL_GID)->arg[0] = 3)                                                \
  F(operand_component, BAD, "component 2", find(h, VYRE_KERNEL_EXTRACT)->arg[1] = 2)                                  \
  F(order, BAD, "order 0", find(h, VYRE_KERNEL_FENCE)->aux = VYRE_ORDER_RELAXED)                                      \
  F(scope, BAD, "aux", find(h, VYRE_KERNEL_FENCE)->aux2 = 3)                                                          \
  F(aux_unused, BAD, "aux", find(h, VYRE_KERNEL_BARRIER)->aux = 1)                                                    \
  F(wait_groups, BAD, "aux", find(h, VYRE_KERNEL_WAIT)->aux = 8)                                                      \
  F(copy_group, BAD, "aux", find(h, VYRE_KERNEL_COPY_ASYNC)->aux = 2)                                                 \
  F(result_order, BAD, "the next one is", find(h, VYRE_KERNEL_ADD)->result++)                                         \
  F(result_none, BAD, "types do not fit", find(h, VYRE_KERNEL_ADD)->result = 0)                                       \
  F(types, BAD, "types do not fit", find(h, VYRE_KERNEL_ADD)->op = VYRE_KERNEL_EQ)                                    \
  F(types_of_result, BAD, "types do not fit", find(h, VYRE_KERNEL_TO_FLOAT)->op = VYRE_KERNEL_TO_INT)                 \
  F(values_left, BAD, "no instruction defines it", drop_last_result(h))                                               \
  F(print_list, BAD, "operands", find(h, VYRE_KERNEL_PRINT)->arg[2] = h->operands.count + 1)                          \
  F(print_value, BAD, "is no value", *REC(uint32_t, operands, 0) = 0)                                                 \
  F(writes_read_only, BAD, "writes read-only",                                                                        \
    access_of(h, VYRE_KERNEL_ATOMIC_ADD)->flags |= VYRE_KERNEL_ACCESS_READ_ONLY)                                      \
  F(writes_read_binding, BAD, "writes read-only", ACCESS(find(h, VYRE_KERNEL_COPY_ASYNC)->arg[0])->number = 0)        \
  F(loads_write_binding, BAD, "only written", ACCESS(find(h, VYRE_KERNEL_COPY_ASYNC)->arg[1])->number = 2)            \
  F(if_target, BAD, "does not lead here", find(h, VYRE_KERNEL_IF)->arg[1]--)                                          \
  F(else_target, BAD, "does not lead here", find(h, VYRE_KERNEL_ELSE)->arg[1]--)                                      \
  F(if_target_beyond, BAD, "names record", find(h, VYRE_KERNEL_IF)->arg[1] = h->insns.count)                          \
  F(loop_target, BAD, "lead", find(h, VYRE_KERNEL_LOOP)->arg[1]--)                                                    \
  F(continuing_target, BAD, "lead", find(h, VYRE_KERNEL_LOOP)->arg[2]--)                                              \
  F(end_loop_target, BAD, "lead to each other", find(h, VYRE_KERNEL_END_LOOP)->arg[1]--)                              \
  F(break_target, BAD, "it leads to", find(h, VYRE_KERNEL_BREAK)->arg[1]--)                                           \
  F(continue_target, BAD, "it leads to", find(h, VYRE_KERNEL_CONTINUE)->arg[1]--)                                     \
  F(end_if_missing, BAD, "within a block",                                                                            \
    (find(h, VYRE_KERNEL_RETURN)[1].op = VYRE_KERNEL_COMMIT, find(h, VYRE_KERNEL_RETURN)->op = VYRE_KERNEL_COMMIT))   \
  F(behind_jump, BAD, "behind a jump",                                                                                \
    find(h, VYRE_KERNEL_BARRIER)->op = VYRE_KERNEL_RETURN)                                                            \
  F(jump_outside, BAD, "out of no loop",                                                                              \
    (find(h, VYRE_KERNEL_BARRIER)->arg[1] = 1, find(h, VYRE_KERNEL_BARRIER)->op = VYRE_KERNEL_BREAK))                 \
  F(else_twice, BAD, "without", find(h, VYRE_KERNEL_COMMIT)->op = VYRE_KERNEL_END_IF)                                 \
  F(loop_without_continuing, BAD, "without CONTINUING", find(h, VYRE_KERNEL_CONTINUING)->op = VYRE_KERNEL_COMMIT)     \
  F(barrier_in_continuing, BAD, "in a continuing part",                                                               \
    (find(h, VYRE_KERNEL_FENCE)->aux = find(h, VYRE_KERNEL_FENCE)->aux2 = 0, move_into_continuing(h)))

/* Makes the last instruction before a continuing part its first one, as a barrier. */
static void move_into_continuing(vyre_kernel_header *h) {
  vyre_kernel_insn *loop = find(h, VYRE_KERNEL_LOOP), *continuing = find(h, VYRE_KERNEL_CONTINUING);
  vyre_kernel_insn *fence = continuing - 1;
  ck_assert_uint_eq(fence->op, VYRE_KERNEL_FENCE);
  *fence = *continuing;
  memset(continuing, 0, sizeof *continuing);
  continuing->op = VYRE_KERNEL_BARRIER;
  loop->arg[2]--;
  find(h, VYRE_KERNEL_CONTINUE)->arg[1]--;
}

/* The last instruction of all, an atomic, gives nothing any more. */
static void drop_last_result(vyre_kernel_header *h) {
  vyre_kernel_insn *last = INSN(h->insns.count - 1);
  ck_assert_uint_eq(last->op, VYRE_KERNEL_ATOMIC_ADD);
  last->op = VYRE_KERNEL_ATOMIC_STORE;
  last->result = 0;
}

#define F(id, status, says, ...)                                  \
  static void make_##id(sample *s, vyre_kernel_header *h) {      \
    (void)s;                                                                                                          \
    (void)h;                                                                                                          \
    __VA_ARGS__;                                                                                                      \
  }
FAULTS(F)
#undef F

static const fault faults[] = {
#define F(id, status, says, ...) { #id, make_##id, status, says },
  FAULTS(F)
#undef F
};
enum { FAULT_COUNT = sizeof faults / sizeof *faults };

START_TEST(the_base_is_good) {
  vyre_error error = VYRE_ERROR_INIT;
  char *text;
  ck_assert_msg(vyre_kernel_verify(base.bytes, base.count, &error) == VYRE_OK, "%s", error.text);
  ck_assert_int_eq(vyre_kernel_print(base.bytes, base.count, &text, NULL, &error), VYRE_OK);
  free(text);
}
END_TEST

START_TEST(each_fault_is_found) {
  const fault *f = &faults[_i];
  vyre_error error = VYRE_ERROR_INIT;
  sample s = copy_of_base();
  f->make(&s, s.h);
  vyre_status status = vyre_kernel_verify(s.bytes, s.count, &error);
  const char *found = status != VYRE_OK ? error.text : "found good";
  ck_assert_msg(status == f->status, "%s: status %d, %s", f->name, status, found);
  ck_assert_msg(strstr(error.text, f->says) != NULL, "%s: %s", f->name, error.text);
  ck_assert_msg(strstr(error.text, "Fix: ") != NULL, "%s: %s", f->name, error.text);
  free(s.bytes);
}
END_TEST

/* An address that no record may have. */
START_TEST(alignment_is_asked_for) {
  uint8_t *bytes = malloc(base.count + 4);
  memcpy(bytes + 4, base.bytes, base.count);
  ck_assert_int_eq(vyre_kernel_verify(bytes + 4, base.count, NULL), VYRE_ERR_INVALID_FILE);
  free(bytes);
}
END_TEST

/* Records that grew at their ends are read as those that are known. */
START_TEST(larger_strides_are_read) {
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t wide = sizeof(vyre_kernel_slot) + 4, room = base.h->slots.count * wide;
  size_t bytes = (base.count + room + 7) & ~(size_t)7;
  uint8_t *grown = calloc(1, bytes);
  memcpy(grown, base.bytes, base.count);
  vyre_kernel_header *h = (vyre_kernel_header *)(void *)grown;
  for (uint32_t i = 0; i < h->slots.count; i++)
    memcpy(grown + base.count + i * wide, VYRE_KERNEL_AT(vyre_kernel_slot, base.h, slots, i), sizeof(vyre_kernel_slot));
  h->slots.offset = (uint32_t)base.count;
  h->slots.stride = wide;
  h->bytes = (uint32_t)bytes;
  ck_assert_msg(vyre_kernel_verify(grown, bytes, &error) == VYRE_OK, "%s", error.text);
  free(grown);
}
END_TEST

/* Whatever the bytes are, it ends, and what it accepts can be printed. */
START_TEST(changed_bytes_do_no_harm) {
  random_source source = { 2026 };
  for (int round = 0; round < 60000; round++) {
    sample s = copy_of_base();
    for (uint32_t n = 1 + random_below(&source, 3); n > 0; n--) {
      uint32_t at = random_below(&source, (uint32_t)s.count) & ~3u;
      uint32_t value = (uint32_t)random_bits(&source);
      if (random_chance(&source, 70)) value = random_below(&source, 40);
      if (at + 4 <= s.count) memcpy(s.bytes + at, &value, random_chance(&source, 50) ? 4 : 1);
    }
    char *text;
    if (vyre_kernel_print(s.bytes, s.count, &text, NULL, NULL) == VYRE_OK) free(text);
    free(s.bytes);
  }
}
END_TEST

START_TEST(every_prefix_is_refused) {
  for (size_t count = 0; count < base.count; count += 8) {
    uint8_t *bytes = malloc(count + 1);
    memcpy(bytes, base.bytes, count);
    ck_assert_int_ne(vyre_kernel_verify(bytes, count, NULL), VYRE_OK);
    free(bytes);
  }
}
END_TEST

static void free_base(void) { free(base.bytes); }

int main(void) {
  Suite *suite = suite_create("lower/verify");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_unchecked_fixture(all, make_base, free_base);
  tcase_add_test(all, the_base_is_good);
  tcase_add_loop_test(all, each_fault_is_found, 0, FAULT_COUNT);
  tcase_add_test(all, alignment_is_asked_for);
  tcase_add_test(all, larger_strides_are_read);
  tcase_add_test(all, changed_bytes_do_no_harm);
  tcase_add_test(all, every_prefix_is_refused);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
