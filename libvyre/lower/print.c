/* A kernel as text: declarations first, then the instructions of each entry point, indented by blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>

#include "base/error.h"
#include "base/writer.h"
#include "lower/verify.h"

typedef struct printer {
  const vyre_kernel_header *h;
  vyre_writer w;
  uint32_t depth;
} printer;

#define AT(type, table, i) VYRE_KERNEL_AT(type, p->h, table, i)

static const char *type_text(vyre_kernel_type type) { return vyre_type_describe(form_type_named(type))->spelling; }

static const char *uniform_text(uint32_t uniform) {
  static const char *const texts[] = { " grid", " workgroup", " subgroup", "" };
  return texts[uniform];
}

static void name(printer *p, uint32_t at) {
  const char *text = VYRE_KERNEL_TEXT(p->h, at);
  vyre_write_escaped(&p->w, text, strlen(text));
}

/* ---- Declarations ---------------------------------------------------------------------------- */

static void print_flags(printer *p) {
  static const char *const names[] = { "contract", "flush", "unchecked", "counts_masked", "steps", "progress",
                                       "no_time_budget" };
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((p->h->flags >> i & 1) != 0) vyre_write(&p->w, " %s", names[i]);
}

static void print_header(printer *p) {
  const vyre_kernel_header *h = p->h;
  vyre_write(&p->w, "kernel ");
  name(p, h->name);
  vyre_write(&p->w, " form %u.%u result D%u", h->form_major, h->form_minor, h->result);
  print_flags(p);
  if (h->ulp != VYRE_ULP_UNSET) vyre_write(&p->w, " ulp(%u)", h->ulp);
  if (h->steps != 0) vyre_write(&p->w, " steps(%" PRIu64 ")", h->steps);
  vyre_write(&p->w, "\nlaunch block %u bytes", h->launch_bytes);
  if (h->spill_bytes != 0) vyre_write(&p->w, ", spill %" PRIu64 " bytes a workgroup", h->spill_bytes);
  vyre_write(&p->w, "\n");
}

static void print_launch(printer *p) {
  static const char *const words[] = { "", "grid.x", "grid.y", "grid.z", "origin.x", "origin.y", "origin.z", "command",
                                       "work_budget", "time_budget" };
  static const char *const accesses[] = { "read", "rw", "", "", "write" };
  static const char *const hidden[] = { "", "diagnostics", "spill", "state", "stop" };
  for (uint32_t i = 0; i < p->h->params.count; i++) {
    const vyre_kernel_param *x = AT(vyre_kernel_param, params, i);
    vyre_write(&p->w, "param %u ", i);
    name(p, x->name);
    vyre_write(&p->w, ": %s at %u\n", type_text(x->type), x->offset);
  }
  for (uint32_t i = 0; i < p->h->bindings.count; i++) {
    const vyre_kernel_binding *b = AT(vyre_kernel_binding, bindings, i);
    vyre_write(&p->w, "binding %u %s ", i, accesses[b->access]);
    name(p, b->name);
    if (b->length != 0)
      vyre_write(&p->w, ": %s[%" PRIu64 "] count at %u\n", type_text(b->element), b->length, b->count_offset);
    else vyre_write(&p->w, ": %s[] count at %u\n", type_text(b->element), b->count_offset);
  }
  for (uint32_t i = 0; i < p->h->hidden_words.count; i++) {
    const vyre_kernel_hidden_word *x = AT(vyre_kernel_hidden_word, hidden_words, i);
    vyre_write(&p->w, "hidden word %u %s: %s at %u\n", i, words[x->kind], type_text(x->type), x->offset);
  }
  for (uint32_t i = 0; i < p->h->hidden_bindings.count; i++) {
    const vyre_kernel_hidden_binding *b = AT(vyre_kernel_hidden_binding, hidden_bindings, i);
    vyre_write(&p->w, "hidden binding %u %s %" PRIu64 " bytes\n", i, hidden[b->kind], b->bytes);
  }
}

static void print_constants(printer *p) {
  for (uint32_t i = 0; i < p->h->specs.count; i++) {
    const vyre_kernel_spec *s = AT(vyre_kernel_spec, specs, i);
    vyre_write(&p->w, "spec %u id %u %s 0x%" PRIX64 "\n", i, s->id, type_text(s->type), s->bits);
  }
  for (uint32_t i = 0; i < p->h->tables.count; i++) {
    const vyre_kernel_table_data *t = AT(vyre_kernel_table_data, tables, i);
    vyre_write(&p->w, "table %u ", i);
    name(p, t->name);
    vyre_write(&p->w, ": %s[%" PRIu64 "] at %" PRIu64 "\n", type_text(t->element), t->length, t->offset);
  }
  for (uint32_t i = 0; i < p->h->constants.count; i++)
    vyre_write(&p->w, "%%%u = %s 0x%" PRIX64 "\n", i + 1, type_text(AT(vyre_kernel_value, values, i + 1)->type),
               AT(vyre_kernel_constant, constants, i)->bits);
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void print_access(printer *p, uint32_t number) {
  static const char *const spaces[] = { "", "binding", "shared", "local", "table", "hidden" };
  static const char *const flags[] = { "coherent", "streaming", "last_use", "read_only" };
  const vyre_kernel_access *a = AT(vyre_kernel_access, accesses, number);
  vyre_write(&p->w, "%s %u", spaces[a->space], a->number);
  if (a->base != 0) vyre_write(&p->w, " + %%%u", a->base);
  vyre_write(&p->w, " as %s[%%%u]", type_text(a->element), a->index);
  if (a->bound_kind == VYRE_KERNEL_BOUND_STATIC) vyre_write(&p->w, " below %" PRIu64, a->limit);
  if (a->bound_kind == VYRE_KERNEL_BOUND_LENGTH) vyre_write(&p->w, " below length");
  if (a->bound_kind == VYRE_KERNEL_BOUND_VALUE) vyre_write(&p->w, " below %%%u", a->bound);
  if (a->alignment != form_bytes(form_type_named(a->element))) vyre_write(&p->w, " align %u", a->alignment);
  for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if ((a->flags >> i & 1) != 0) vyre_write(&p->w, " %s", flags[i]);
}

static void print_operand(printer *p, uint32_t kind, uint32_t arg) {
  switch ((form_kind)kind) {
    case FORM_VA:
    case FORM_OV: vyre_write(&p->w, "%%%u", arg); break;
    case FORM_AC: print_access(p, arg); break;
    case FORM_SL: {
      vyre_write(&p->w, "slot %u", arg);
      const char *text = VYRE_KERNEL_TEXT(p->h, AT(vyre_kernel_slot, slots, arg)->name);
      if (*text != 0) {
        vyre_write(&p->w, " ");
        vyre_write_escaped(&p->w, text, strlen(text));
      }
      break;
    }
    case FORM_PA:
      vyre_write(&p->w, "%u ", arg);
      name(p, AT(vyre_kernel_param, params, arg)->name);
      break;
    case FORM_BI:
      vyre_write(&p->w, "%u ", arg);
      name(p, AT(vyre_kernel_binding, bindings, arg)->name);
      break;
    default: vyre_write(&p->w, "%u", arg);
  }
}

/* Operands with commas, without what is left out at the end. Where structure leads to is not shown. */
static void print_operands(printer *p, const vyre_kernel_insn *x) {
  const uint8_t *kinds = form_ops[x->op].kinds;
  const char *separator = " ";
  for (int k = 0; k < 4; k++) {
    bool is_absent = kinds[k] == FORM_NO || kinds[k] == FORM_IN || (kinds[k] == FORM_OV && x->arg[k] == 0);
    if (is_absent || kinds[k] == FORM_LI) continue;
    if (x->op == VYRE_KERNEL_LENGTH && k == 1 && x->arg[k] == 0) continue;
    vyre_write_text(&p->w, separator);
    print_operand(p, kinds[k], x->arg[k]);
    separator = ", ";
  }
  if (x->op != VYRE_KERNEL_PRINT) return;
  for (uint32_t i = 0; i < x->arg[2]; i++) vyre_write(&p->w, ", %%%u", *AT(uint32_t, operands, x->arg[1] + i));
}

static void print_aux(printer *p, const vyre_kernel_insn *x) {
  static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst" };
  static const char *const scopes[] = { "workgroup", "device", "system" };
  if (form_is_atomic(x->op) || x->op == VYRE_KERNEL_FENCE) vyre_write(&p->w, " %s %s", orders[x->aux], scopes[x->aux2]);
  if (x->op == VYRE_KERNEL_WAIT) vyre_write(&p->w, " %u", x->aux);
  if (x->op == VYRE_KERNEL_COPY_ASYNC && x->aux != 0) vyre_write(&p->w, " workgroup");
}

/* Facts that say more than the type does. */
static void print_facts(printer *p, uint32_t value) {
  const vyre_kernel_value *x = AT(vyre_kernel_value, values, value);
  uint64_t mask = x->type.bits == 32 ? UINT32_MAX : UINT64_MAX;
  vyre_write(&p->w, "  //%s", uniform_text(x->uniform));
  if (x->type.cls == VYRE_KERNEL_CLASS_UINT && x->type.lanes == 1 && (x->least != 0 || x->most != mask))
    vyre_write(&p->w, " %" PRIu64 "..%" PRIu64, x->least, x->most);
  if (x->trailing_zeros != 0) vyre_write(&p->w, " zeros %u", x->trailing_zeros);
}

static bool has_facts(const printer *p, uint32_t value) {
  const vyre_kernel_value *x = AT(vyre_kernel_value, values, value);
  bool is_bounded = x->type.cls == VYRE_KERNEL_CLASS_UINT && x->type.lanes == 1 &&
                    (x->least != 0 || x->most != (x->type.bits == 32 ? UINT32_MAX : UINT64_MAX));
  return x->uniform != VYRE_KERNEL_UNIFORM_NONE || x->trailing_zeros != 0 || is_bounded;
}

static void print_insn(printer *p, const vyre_kernel_insn *x) {
  bool begins = x->op == VYRE_KERNEL_IF || x->op == VYRE_KERNEL_LOOP;
  bool divides = x->op == VYRE_KERNEL_ELSE || x->op == VYRE_KERNEL_CONTINUING;
  bool ends = x->op == VYRE_KERNEL_END_IF || x->op == VYRE_KERNEL_END_LOOP;
  if (divides || ends) p->depth--;
  vyre_write_repeat(&p->w, ' ', 2 * ((size_t)p->depth + 1));
  if (begins || divides) p->depth++;
  if (x->result != 0)
    vyre_write(&p->w, "%%%u = %s ", x->result, type_text(AT(vyre_kernel_value, values, x->result)->type));
  vyre_write_text(&p->w, vyre_kernel_op_describe(x->op).spelling);
  print_aux(p, x);
  print_operands(p, x);
  if (x->result != 0 && has_facts(p, x->result)) print_facts(p, x->result);
  vyre_write(&p->w, "\n");
}

static void print_array(printer *p, const char *kind, uint32_t number, const vyre_kernel_array *a) {
  vyre_write(&p->w, "  %s %u ", kind, number);
  name(p, a->name);
  vyre_write(&p->w, ": %s[%" PRIu64 "] at %" PRIu64 "%s\n", type_text(a->element), a->length, a->offset,
             (a->flags & VYRE_KERNEL_ARRAY_NEEDS_ZERO) != 0 ? " zero" : "");
}

static void print_entry(printer *p, uint32_t number) {
  const vyre_kernel_entry *e = AT(vyre_kernel_entry, entries, number);
  vyre_write(&p->w, "entry %u workgroup(%u, %u, %u)", number, e->workgroup[0], e->workgroup[1], e->workgroup[2]);
  if (e->subgroup != 0) vyre_write(&p->w, " subgroup(%u)", e->subgroup);
  vyre_write(&p->w, " {\n");
  for (uint32_t i = e->shared_first; i < e->shared_first + e->shared_count; i++)
    print_array(p, "shared", i, AT(vyre_kernel_array, shared, i));
  for (uint32_t i = e->local_first; i < e->local_first + e->local_count; i++)
    print_array(p, "local", i, AT(vyre_kernel_array, locals, i));
  for (uint32_t i = e->slot_first; i < e->slot_first + e->slot_count; i++) {
    const vyre_kernel_slot *s = AT(vyre_kernel_slot, slots, i);
    vyre_write(&p->w, "  slot %u ", i);
    name(p, s->name);
    vyre_write(&p->w, ": %s%s%s\n", type_text(s->type), s->uniform != VYRE_KERNEL_UNIFORM_NONE ? "  //" : "",
               uniform_text(s->uniform));
  }
  for (uint32_t i = e->insn_first; i < e->insn_first + e->insn_count; i++)
    print_insn(p, AT(vyre_kernel_insn, insns, i));
  vyre_write(&p->w, "}\n");
}

vyre_status vyre_kernel_print(const void *kernel, size_t bytes, char **out, size_t *length, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_kernel_verify(kernel, bytes, error);
  if (status != VYRE_OK) return status;
  printer p = { .h = kernel };
  print_header(&p);
  print_launch(&p);
  print_constants(&p);
  for (uint32_t i = 0; i < p.h->entries.count; i++) print_entry(&p, i);
  if (length != NULL) *length = p.w.count;
  *out = vyre_writer_take(&p.w);
  return *out != NULL ? VYRE_OK : vyre_fail_memory(error, "kernel");
}
