/* Lowering as a whole: options, the launch block, the statements, what the header says of it all. */
#include <stdlib.h>
#include <string.h>

#include "lower/lowering.h"

/* ---- The target ------------------------------------------------------------------------------ */

static vyre_status check_options(const vyre_lower_options *o, vyre_error *error) {
  const uint32_t compile = VYRE_COMPILE_ULP | VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED |
                           VYRE_COMPILE_STEPS;
  if (o->size != sizeof *o || (o->flags & ~(uint32_t)VYRE_LOWER_COUNT_MASKED) != 0 ||
      (o->compile_flags & ~compile) != 0)
    return vyre_fail(
        error, VYRE_ERR_INVALID_ARGUMENT, "options",
        "The lower options have size %u, flags 0x%X and compile flags 0x%X; %zu and bits of 0x%X and 0x%X are "
        "known. Fix: start from VYRE_LOWER_OPTIONS_INIT.",
        o->size, o->flags, o->compile_flags, sizeof *o, VYRE_LOWER_COUNT_MASKED, compile);
  if (o->subgroup_size > 32 || (o->subgroup_size & (o->subgroup_size - 1)) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "subgroup_size",
                     "A subgroup size of %u is asked for. Fix: ask for 1, 2, 4, 8, 16 or 32, or 0 for any.",
                     o->subgroup_size);
  if ((o->compile_flags & VYRE_COMPILE_STEPS) != 0 && o->steps == 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "steps",
                     "A step limit of 0 is asked for. Fix: give at least 1, or leave VYRE_COMPILE_STEPS out.");
  if (o->steps > UINT32_MAX && (o->needs & VYRE_NEED_INT64) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, "steps",
                     "A step limit of %llu is asked for, and the target lacks int64, so that it counts to %u. Fix: ask "
                     "for fewer steps.",
                     (unsigned long long)o->steps, UINT32_MAX);
  return VYRE_OK;
}

/* Each is a parameter's, with its type and no bit beyond that, by ascending number. */
static vyre_status check_specs(const vyre_program *p, const vyre_lower_options *o, vyre_error *error) {
  for (uint64_t i = 0; i < o->spec_count; i++) {
    const vyre_spec_constant *s = &o->spec[i];
    bool is_next = s->id < p->params.count && (i == 0 || s->id > o->spec[i - 1].id);
    if (!is_next || s->type != p->params.data[s->id].type)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "spec",
                       "Spec constant %llu has id %u and type %u; wanted are parameters of the program with their "
                       "types, by ascending number. Fix: correct it.",
                       (unsigned long long)i, s->id, s->type);
    uint32_t bits = s->type == VYRE_TYPE_BOOL ? 1 : 8 * form_bytes((vyre_type)s->type);
    if (bits < 64 && s->bits >> bits != 0)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "spec",
                       "Spec constant %llu has bits 0x%llX, which its type does not have. Fix: clear the upper ones.",
                       (unsigned long long)i, (unsigned long long)s->bits);
  }
  return VYRE_OK;
}

/* What only moves bits is taken by every target. An opcode that this library does not know is a later one's. */
static bool is_always_taken(uint32_t op) {
  return op < VYRE_KERNEL_ADD || op == VYRE_KERNEL_BITCAST || op == VYRE_KERNEL_VECTOR || op == VYRE_KERNEL_EXTRACT;
}

static void note_taken(lower_code *c) {
  const vyre_lower_options *o = c->options;
  for (uint32_t op = 0; op < FORM_OPS; op++) {
    bool is_taken = form_is_known(op) && (o->opcodes == NULL || is_always_taken(op));
    c->taken[op] = is_taken ? UINT64_MAX : 0;
  }
  for (uint64_t i = 0; o->opcodes != NULL && i < o->opcode_count; i++)
    if (form_is_known(o->opcodes[i].opcode)) c->taken[o->opcodes[i].opcode] |= o->opcodes[i].types | LOWER_LISTED;
  if ((o->numeric & VYRE_NUMERIC_FMA) == 0) c->taken[VYRE_KERNEL_FMA] &= LOWER_LISTED; /* it has two roundings */
}

/* ---- The launch ------------------------------------------------------------------------------ */

static void add_params(lowering *l) {
  lower_code *c = &l->code;
  for (uint32_t i = 0; i < l->p->params.count; i++) {
    const ir_param *from = &l->p->params.data[i];
    uint32_t bytes = form_bytes((vyre_type)from->type);
    c->launch_bytes = (c->launch_bytes + bytes - 1) & ~(bytes - 1);
    vyre_kernel_param param = { .type = form_type((vyre_type)from->type), .offset = c->launch_bytes,
                                .name = lower_text(c, ir_text(l->p, from->name)) };
    c->launch_bytes += bytes;
    if (!vyre_vector_push(&c->params, param)) lower_fail_memory(c);
  }
  c->param_bytes = c->launch_bytes;
  c->launch_bytes = (c->launch_bytes + 7) & ~7u;
}

static void add_specs(lower_code *c) {
  for (uint64_t i = 0; i < c->options->spec_count; i++) {
    const vyre_spec_constant *from = &c->options->spec[i];
    vyre_kernel_spec spec = { .id = from->id, .type = form_type((vyre_type)from->type), .bits = from->bits };
    if (!vyre_vector_push(&c->specs, spec)) lower_fail_memory(c);
  }
}

static void add_bindings(lowering *l) {
  lower_code *c = &l->code;
  c->count_offset = c->launch_bytes;
  for (uint32_t i = 0; i < l->p->buffers.count; i++) {
    const ir_buffer *b = &l->p->buffers.data[i];
    if (b->slot == UINT32_MAX) continue;
    vyre_kernel_binding binding = {.access = b->access,
                                   .element = form_type((vyre_type)b->element),
                                   .length = b->length,
                                   .name = lower_text(c, ir_text(l->p, b->name)),
                                   .count_offset = c->launch_bytes};
    c->launch_bytes += 8;
    if (!vyre_vector_push(&c->bindings, binding)) lower_fail_memory(c);
  }
}

/* The grid and its origin are there for NWG and WID, whether or not a kernel asks. */
static void add_grid_words(lower_code *c) {
  for (uint32_t kind = VYRE_KERNEL_WORD_GRID_X; kind <= VYRE_KERNEL_WORD_ORIGIN_Z; kind++) {
    vyre_kernel_hidden_word word = { .kind = kind, .type = form_type(VYRE_TYPE_U32), .offset = c->launch_bytes };
    c->launch_bytes += 4;
    if (!vyre_vector_push(&c->hidden_words, word)) lower_fail_memory(c);
  }
}

/* A build for finding faults looks at each kernel that it makes. */
static void check_kernel(lower_code *c, uint8_t **out, size_t *bytes) {
  vyre_error fault = VYRE_ERROR_INIT;
  if (VYRE_ABI_SANITIZER == 0 || lower_failed(c)) return;
  vyre_status status = vyre_kernel_verify(*out, *bytes, &fault);
  if (status == VYRE_OK) return;
  if (status == VYRE_ERR_NO_MEMORY) lower_fail_memory(c);
  else lower_fail(c, VYRE_ERR_INTERNAL, c->name, "The kernel is not well formed: %s Fix: report it.", fault.text);
  free(*out);
  *out = NULL;
  *bytes = 0;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static uint32_t flags_of(const vyre_program *p, const vyre_lower_options *o) {
  uint32_t flags = 0;
  if ((o->compile_flags & VYRE_COMPILE_CONTRACT) != 0) flags |= VYRE_KERNEL_CONTRACT;
  if ((o->compile_flags & VYRE_COMPILE_FLUSH) != 0) flags |= VYRE_KERNEL_FLUSH;
  if ((o->compile_flags & VYRE_COMPILE_UNCHECKED) != 0) flags |= VYRE_KERNEL_UNCHECKED;
  if ((o->flags & VYRE_LOWER_COUNT_MASKED) != 0) flags |= VYRE_KERNEL_COUNTS_MASKED;
  if ((p->attributes & VYRE_PROGRAM_PROGRESS_WORKGROUPS) != 0) flags |= VYRE_KERNEL_PROGRESS;
  return flags;
}

static uint32_t result_of(const vyre_program *p, const vyre_lower_options *o) {
  bool rounds = (o->compile_flags & (VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH)) != 0;
  bool errs = (p->info.needs & VYRE_NEED_ULP) != 0 && o->ulp_budget > 0;
  bool adds = (p->info.needs & VYRE_NEED_ATOMIC_F32_ADD) != 0;
  return rounds || errs || adds ? VYRE_KERNEL_RESULT_D1 : VYRE_KERNEL_RESULT_D0;
}

/* Most of what will come: growing there step by step would copy it several times. */
static bool make_room(lowering *l) {
  lower_code *c = &l->code;
  uint64_t insns = l->p->info.expr_uses + 2 * (uint64_t)l->p->info.statement_count;
  if (insns > VYRE_KERNEL_MAX_INSNS) return true; /* it will be refused, or grow */
  uint32_t some = (uint32_t)insns;
  return vyre_vector_reserve(&c->body, some) && vyre_vector_reserve(&c->values, some) &&
         vyre_vector_reserve(&c->accesses, some / 4) && vyre_vector_reserve(&c->access_stmts, some / 4);
}

static bool prepare(lowering *l) {
  const vyre_program *p = l->p;
  l->leaves = calloc((size_t)p->exprs.count + 1, sizeof *l->leaves);
  l->vars = calloc((size_t)p->vars.count + 1, sizeof *l->vars);
  l->arrays = calloc((size_t)p->buffers.count + 1, sizeof *l->arrays);
  l->tables = calloc((size_t)p->buffers.count + 1, sizeof *l->tables);
  bool good = l->leaves != NULL && l->vars != NULL && l->arrays != NULL && l->tables != NULL;
  lower_info none = { .most = 0 };
  l->ranges = opt_ranges_create(p);
  good = good && l->ranges != NULL && make_room(l) && vyre_vector_push(&l->code.values, none) && ir_uniformity_create(&l->uniformity, p);
  vyre_write_bytes(&l->code.strings, "", 1);
  l->code.name_at = lower_text(&l->code, p->info.name);
  lower_steps_prepare(l);
  uint32_t counter_bytes = l->steps.on ? form_bytes(l->steps.type) : 0;
  good = good && lower_split_create(&l->split, p, counter_bytes);
  if (!good) lower_fail_memory(&l->code);
  return !lowering_failed(l);
}

static void check_spill(lowering *l) {
  if (l->split.bytes <= UINT32_MAX) return;
  lower_fail(
      &l->code, VYRE_ERR_LIMIT, l->code.name,
      "What lives across its grid barriers has %llu bytes a workgroup, and %u is the most. Fix: keep large arrays in "
      "an rw buffer.",
      (unsigned long long)l->split.bytes, UINT32_MAX);
}

static void lower_all(lowering *l) {
  lower_code *c = &l->code;
  check_spill(l);
  add_params(l);
  add_specs(c);
  add_bindings(l);
  add_grid_words(c);
  if (!lower_failed(c)) lower_statements(l);
  if (!opt_ranges_fine(l->ranges)) lower_fail_memory(c);
  if (!lower_failed(c)) lower_mark_coherent(l);
  for (uint32_t i = 0; i < c->hidden_bindings.count; i++)
    if (c->hidden_bindings.data[i].kind == VYRE_KERNEL_HIDDEN_SPILL) c->spill_bytes = l->split.bytes;
}

static void free_all(lowering *l) {
  lower_code_free(&l->code);
  ir_uniformity_free(&l->uniformity);
  opt_ranges_free(l->ranges);
  lower_split_free(&l->split);
  free(l->steps.meets);
  free(l->leaves);
  free(l->vars);
  free(l->arrays);
  free(l->tables);
  vyre_vector_free(&l->kept);
  vyre_vector_free(&l->changed_vars);
  vyre_vector_free(&l->changed_arrays);
  vyre_vector_free(&l->open);
  vyre_vector_free(&l->fences);
  vyre_vector_free(&l->fence_loops);
}

vyre_status vyre_lower(const vyre_program *program, const vyre_lower_options *options, uint8_t **out, size_t *bytes,
                       vyre_error *error) {
  *out = NULL;
  *bytes = 0;
  vyre_status status = check_options(options, error);
  if (status == VYRE_OK) status = check_specs(program, options, error);
  if (status != VYRE_OK) return status;
  lowering *l = calloc(1, sizeof *l);
  if (l == NULL) return vyre_fail_memory(error, "lower");
  l->p = program;
  lower_code *c = &l->code;
  c->options = options;
  c->error = error;
  c->name = program->info.name;
  memcpy(c->workgroup, program->workgroup, sizeof c->workgroup);
  c->subgroup = options->subgroup_size != 0 ? options->subgroup_size : program->subgroup;
  c->flags = flags_of(program, options);
  c->needs = program->info.needs;
  c->result = result_of(program, options);
  note_taken(c);
  if (prepare(l)) lower_all(l);
  const uint8_t *fingerprint = options->fingerprint;
  lower_assemble(c, fingerprint != NULL ? fingerprint : vyre_program_fingerprint(program), out, bytes);
  check_kernel(c, out, bytes);
  status = c->status;
  free_all(l);
  free(l);
  return status;
}
