/* A module: what it needs, its tables, its entry points. */
#include "plugins/cuda/ptx_emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_VERSION = 60, MOST_LOCAL = 512 * 1024 };

/* ---- Names ----------------------------------------------------------------------------------- */

void ptx_entry_name(const vyre_kernel_header *kernel, uint32_t entry, char name[PTX_NAME_ROOM]) {
  enum { KEPT = 64 };
  const char *text = VYRE_KERNEL_TEXT(kernel, kernel->name);
  uint32_t used = 0;
  for (; text[used] != 0 && used < KEPT; used++) {
    char c = text[used];
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9' && used > 0) || c == '_';
    name[used] = is_word ? c : '_';
  }
  snprintf(name + used, PTX_NAME_ROOM - used, "_%u", entry);
}

/* ---- What the module needs ------------------------------------------------------------------- */

/* The places of pointers behind those of the bindings. */
static void place_pointers(const vyre_kernel_header *h, ptx_facts *f) {
  f->pointer_count = h->bindings.count;
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++) {
    uint32_t kind = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, i)->kind;
    if (f->hidden[kind] == 0) f->hidden[kind] = ++f->pointer_count;
  }
  bool barrier = false;
  for (uint32_t i = 0; i < h->insns.count && !barrier; i++) barrier = gpu_insn(h, i)->op == VYRE_KERNEL_GRID_BARRIER;
  if (!barrier) return;
  f->flags |= PTX_COOPERATIVE;
  if (f->hidden[VYRE_KERNEL_HIDDEN_STATE] == 0) f->hidden[VYRE_KERNEL_HIDDEN_STATE] = ++f->pointer_count;
}

static void place_parameters(ptx_emitter *e) {
  ptx_facts *f = e->facts;
  uint64_t limit = e->target.param_limit, pointers = 8ull * f->pointer_count, block = e->h->launch_bytes;
  if ((e->target.flags & PTX_BLOCK_IN_MEMORY) != 0 || block + pointers > limit) f->flags |= PTX_BLOCK_IN_MEMORY;
  if ((f->flags & PTX_BLOCK_IN_MEMORY) != 0) block = 8;
  if (block + pointers > limit)
    ptx_refuse(e, VYRE_ERR_LIMIT, "the program binds %u buffers, whose addresses take %llu bytes of parameters, and "
               "the limit is %llu. Fix: bind fewer buffers", f->pointer_count, (unsigned long long)pointers,
               (unsigned long long)(limit - 8));
  if (block + pointers > PTX_PARAM_LIMIT) ptx_needs(e, 70, 81, "more than 4096 bytes of parameters");
  f->block_bytes = (uint32_t)block;
  f->param_bytes = (uint32_t)(block + pointers);
}

/* ---- Workgroup memory ------------------------------------------------------------------------ */

static uint64_t array_bytes(const vyre_kernel_array *a) { return a->length * gpu_element_bytes(a->element); }

static void refuse_shared(ptx_emitter *e, const vyre_kernel_entry *entry, uint32_t limit) {
  gpu_bytes list = { 0 };
  for (uint32_t i = 0; i < entry->shared_count; i++) {
    const vyre_kernel_array *a = VYRE_KERNEL_AT(vyre_kernel_array, e->h, shared, entry->shared_first + i);
    const char *name = VYRE_KERNEL_TEXT(e->h, a->name);
    gpu_bytes_format(&list, "%s%s %llu", i == 0 ? "" : ", ", *name != 0 ? name : "(lowering)",
                     (unsigned long long)array_bytes(a));
  }
  ptx_refuse(e, VYRE_ERR_LIMIT,
             "%s: a workgroup takes %llu bytes of shared memory and the limit is %u: %s. Fix: use fewer elements, a "
             "narrower workgroup, or storage buffers", VYRE_KERNEL_TEXT(e->h, e->h->name),
             (unsigned long long)entry->shared_bytes, limit, list.failed || list.count == 0 ? "" : (char *)list.data);
  gpu_bytes_free(&list);
}

static void check_arrays(ptx_emitter *e) {
  uint32_t limit = e->target.shared_limit;
  for (uint32_t i = 0; i < e->h->entries.count; i++) {
    const vyre_kernel_entry *entry = gpu_entry(e->h, i);
    if (entry->shared_bytes > limit) refuse_shared(e, entry, limit);
    if (entry->shared_bytes > PTX_STATIC_SHARED) e->facts->flags |= PTX_SHARED_DYNAMIC;
    if (entry->local_bytes > MOST_LOCAL)
      ptx_refuse(e, VYRE_ERR_LIMIT, "an invocation takes %llu bytes of local memory and the limit is %u. Fix: use "
                 "smaller local arrays", (unsigned long long)entry->local_bytes, MOST_LOCAL);
  }
}

/* ---- The text around entry points ------------------------------------------------------------- */

/* Both numbers have two digits, or three: there is room for them, and they are put there in the end. */
static size_t write_top(ptx_emitter *e) {
  size_t at = e->out->count;
  gpu_bytes_format(e->out, ".version 6.0\n.target sm_70 \n.address_size 64\n");
  return at;
}

static void settle_top(ptx_emitter *e, size_t at) {
  char text[32];
  if (e->out->failed) return;
  int length = snprintf(text, sizeof text, ".version %u.%u\n.target sm_%-3u", e->facts->version / 10,
                        e->facts->version % 10, e->facts->sm);
  memcpy(e->out->data + at, text, (size_t)length);
}

static void write_table(ptx_emitter *e, uint32_t number) {
  const vyre_kernel_table_data *t = VYRE_KERNEL_AT(vyre_kernel_table_data, e->h, tables, number);
  uint64_t bytes = t->length * gpu_element_bytes(t->element), words = (bytes + 15) / 16 * 4;
  const uint8_t *data = (const uint8_t *)e->h + e->h->table_bytes.offset + t->offset;
  gpu_bytes_format(e->out, "%s .align 16 .b32 table_%u[%llu] = {",
                   e->constant_tables[number] ? ".const" : ".global", number,
                   (unsigned long long)(words == 0 ? 4 : words));
  for (uint64_t i = 0; i < words && !e->out->failed; i++) {
    uint32_t word = 0;
    uint64_t left = bytes > 4 * i ? bytes - 4 * i : 0;
    memcpy(&word, data + 4 * i, left < 4 ? left : 4);
    gpu_bytes_format(e->out, "%s%u", i == 0 ? "" : i % 16 == 0 ? ",\n" : ",", word);
  }
  gpu_bytes_format(e->out, "%s};\n", words == 0 ? "0" : "");
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* Declarations of registers stand before what uses them, with room for how many there are. */
enum { COUNT_ROOM = 9 };
static const char *const declarations[PTX_REGISTERS] = { "", ".reg .b32 r<", ".reg .b64 d<", ".reg .pred p<",
                                                         ".reg .b16 h<", ".reg .b128 q<" };

static void declare_registers(ptx_emitter *e, size_t at[PTX_REGISTERS]) {
  for (uint32_t kind = PTX_R; kind < PTX_Q; kind++) {
    gpu_bytes_text(e->out, declarations[kind]);
    at[kind] = e->out->count;
    gpu_bytes_text(e->out, "         >;\n");
  }
  at[PTX_Q] = e->out->count; /* a type of newer versions: only where it is used */
  gpu_bytes_text(e->out, "                       \n");
}

static void settle_registers(ptx_emitter *e, const size_t at[PTX_REGISTERS]) {
  char text[32];
  if (e->out->failed) return;
  for (uint32_t kind = PTX_R; kind < PTX_Q; kind++) {
    int length = snprintf(text, sizeof text, "%u", e->counts[kind] + 1);
    memcpy(e->out->data + at[kind], text, (size_t)length);
  }
  if (e->counts[PTX_Q] == 0) return;
  int length = snprintf(text, sizeof text, "%s%u>;", declarations[PTX_Q], e->counts[PTX_Q]);
  memcpy(e->out->data + at[PTX_Q], text, (size_t)length);
}

static void begin_entry(ptx_emitter *e, uint32_t number) {
  char name[PTX_NAME_ROOM];
  const vyre_kernel_entry *entry = e->entry = gpu_entry(e->h, number);
  ptx_entry_name(e->h, number, name);
  e->entry_number = number;
  e->invocations = entry->workgroup[0] * entry->workgroup[1] * entry->workgroup[2];
  e->subgroup = entry->subgroup != 0 ? entry->subgroup : 32;
  memset(e->counts, 0, sizeof e->counts);
  e->place_count = e->block_count = 0;
  e->stores.count = 0;
  gpu_bytes_format(e->out, "\n.visible .entry %s(", name);
  if (e->facts->block_bytes > 0) gpu_bytes_format(e->out, ".param .align 8 .b8 block[%u]", e->facts->block_bytes);
  if (e->facts->pointer_count > 0)
    gpu_bytes_format(e->out, "%s.param .align 8 .b8 pointers[%u]", e->facts->block_bytes > 0 ? ", " : "",
                     8 * e->facts->pointer_count);
  gpu_bytes_format(e->out, ")\n.reqntid %u, %u, %u\n{\n", entry->workgroup[0], entry->workgroup[1],
                   entry->workgroup[2]);
}

static void write_entry(ptx_emitter *e, uint32_t number) {
  size_t at[PTX_REGISTERS];
  begin_entry(e, number);
  declare_registers(e, at);
  if (e->entry->shared_bytes > 0 && (e->facts->flags & PTX_SHARED_DYNAMIC) == 0)
    gpu_bytes_format(e->out, ".shared .align 16 .b8 shared_memory[%llu];\n",
                     (unsigned long long)e->entry->shared_bytes);
  if (e->entry->local_bytes > 0)
    gpu_bytes_format(e->out, ".local .align 16 .b8 local_memory[%llu];\n", (unsigned long long)e->entry->local_bytes);
  ptx_head(e);
  ptx_body(e);
  gpu_bytes_text(e->out, "}\n");
  settle_registers(e, at);
}

/* ---- The emitter ----------------------------------------------------------------------------- */

static void count_use(ptx_emitter *e, uint32_t v) {
  if (v != 0 && e->uses[v] != 255) e->uses[v]++;
}

static void count_uses(ptx_emitter *e) {
  for (uint32_t i = 0; i < e->h->insns.count; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->h, i);
    gpu_opcode op = gpu_opcode_of(in->op);
    if (in->result != 0) e->makers[in->result] = i + 1;
    for (int k = 0; k < 4; k++)
      if (op.kind[k] == GPU_VA || op.kind[k] == GPU_OV) count_use(e, in->arg[k]);
  }
  for (uint32_t i = 0; i < e->h->accesses.count; i++) {
    const vyre_kernel_access *a = gpu_access(e->h, i);
    count_use(e, a->base);
    count_use(e, a->index);
    if (a->bound_kind == VYRE_KERNEL_BOUND_VALUE) count_use(e, a->bound);
  }
}

static bool make_room(ptx_emitter *e) {
  const vyre_kernel_header *h = e->h;
  size_t values = (size_t)h->values.count + 1;
  e->values = calloc(values, sizeof *e->values);
  e->makers = calloc(values, sizeof *e->makers);
  e->uses = calloc(values, sizeof *e->uses);
  e->done = calloc((size_t)h->insns.count + 1, sizeof *e->done);
  e->slots = calloc((size_t)h->slots.count + 1, sizeof *e->slots);
  e->constant_tables = calloc((size_t)h->tables.count + 1, sizeof *e->constant_tables);
  e->pointers = calloc((size_t)e->facts->pointer_count + 1, sizeof *e->pointers);
  e->lengths = calloc((size_t)h->bindings.count + 1, sizeof *e->lengths);
  e->places = malloc(PTX_PLACES * sizeof *e->places);
  return e->values != NULL && e->makers != NULL && e->uses != NULL && e->done != NULL && e->slots != NULL &&
         e->constant_tables != NULL &&
         e->pointers != NULL && e->lengths != NULL && e->places != NULL;
}

static void free_room(ptx_emitter *e) {
  free(e->values);
  free(e->makers);
  free(e->uses);
  free(e->done);
  free(e->slots);
  free(e->constant_tables);
  free(e->pointers);
  free(e->lengths);
  free(e->places);
  free(e->blocks);
}

static void write_module(ptx_emitter *e) {
  const vyre_kernel_header *h = e->h;
  count_uses(e);
  ptx_place_tables(e);
  for (uint32_t v = 1; v <= h->constants.count; v++) e->values[v].part[0] = ptx_make(PTX_CONSTANT, v);
  size_t top = write_top(e);
  if ((e->facts->flags & PTX_SHARED_DYNAMIC) != 0)
    gpu_bytes_text(e->out, ".extern .shared .align 16 .b8 shared_memory[];\n");
  for (uint32_t i = 0; i < h->tables.count; i++) write_table(e, i);
  for (uint32_t i = 0; i < h->entries.count && e->status == VYRE_OK; i++) write_entry(e, i);
  settle_top(e, top);
  uint8_t *end = gpu_bytes_room(e->out, 1);
  if (end != NULL) *end = 0;
}

vyre_status ptx_emit(const vyre_kernel_header *kernel, const ptx_target *target, gpu_bytes *text, ptx_facts *facts,
                     vyre_error *error) {
  ptx_emitter e = { .h = kernel, .target = *target, .facts = facts, .error = error, .out = text };
  *facts = (ptx_facts){ .sm = PTX_MIN_SM, .version = LEAST_VERSION };
  if (e.target.shared_limit == 0) e.target.shared_limit = PTX_STATIC_SHARED;
  if (e.target.param_limit == 0) e.target.param_limit = PTX_PARAM_LIMIT;
  if (kernel->values.count > PTX_NUMBER_MASK || kernel->insns.count > PTX_NUMBER_MASK)
    return gpu_fail(error, VYRE_ERR_LIMIT, gpu_name, "the kernel has more than %d values or instructions. "
                    "Fix: make the program smaller", PTX_NUMBER_MASK);
  place_pointers(kernel, facts);
  place_parameters(&e);
  check_arrays(&e);
  if (e.status == VYRE_OK) {
    if (make_room(&e)) write_module(&e);
    else text->failed = true;
    free_room(&e);
  }
  if (text->failed) return gpu_no_memory(error);
  return e.status;
}
