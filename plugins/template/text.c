/* What was compiled, as text for people: the steps that the engine takes, each with its number and what it leads to.
 * Your compiler's own listing goes here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

enum operand { NO, VA, OV, AC, SL, PA, BI, SP, HW, IN, LI, IM };
static const struct opcode {
  const char *spelling;
  uint8_t kind[4];
} opcodes[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) [number] = { spelling, { k0, k1, k2, k3 } },
#include <vyre/kernel_ops.def>
#undef X
};

static void put_type(FILE *to, vyre_kernel_type type) {
  static const char letters[] = { [VYRE_KERNEL_CLASS_UINT] = 'u', [VYRE_KERNEL_CLASS_SINT] = 'i',
                                  [VYRE_KERNEL_CLASS_FLOAT] = 'f', [VYRE_KERNEL_CLASS_BRAIN] = 'b' };
  if (type.cls == VYRE_KERNEL_CLASS_BOOL) fprintf(to, "bool");
  else fprintf(to, "%c%u", type.cls < sizeof letters ? letters[type.cls] : '?', type.bits);
  if (type.lanes > 1) fprintf(to, "x%u", type.lanes);
}

/* A constant is shown by its bits, another value by its number. */
static void put_value(FILE *to, const engine_code *code, uint32_t value) {
  if (value <= code->header->constants.count) fprintf(to, "0x%" PRIX64, code->constants[value].word);
  else fprintf(to, "%%%u", value);
}

static void put_place(FILE *to, const engine_code *code, uint32_t number) {
  static const char *const spaces[] = { "?", "binding", "shared", "local", "table", "hidden" };
  const place *p = &code->places[number];
  const vyre_kernel_access *a = VYRE_KERNEL_AT(vyre_kernel_access, code->header, accesses, number);
  fprintf(to, "%s%u[", spaces[p->space], p->number);
  if (p->base != 0) put_value(to, code, p->base), fprintf(to, " bytes + ");
  put_value(to, code, p->index);
  fprintf(to, "] of ");
  put_type(to, a->element);
}

static void put_operand(FILE *to, const engine_code *code, uint8_t kind, uint32_t arg) {
  const vyre_kernel_header *h = code->header;
  switch ((enum operand)kind) {
    case VA:
    case OV: put_value(to, code, arg); break;
    case AC: put_place(to, code, arg); break;
    case PA: fprintf(to, "%s", engine_text(code, VYRE_KERNEL_AT(vyre_kernel_param, h, params, arg)->name)); break;
    case BI: fprintf(to, "%s", engine_text(code, VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, arg)->name)); break;
    case SP: fprintf(to, "0x%" PRIX64, VYRE_KERNEL_AT(vyre_kernel_spec, h, specs, arg)->bits); break;
    case SL: fprintf(to, "slot%u", arg); break;
    case HW: fprintf(to, "word%u", arg); break;
    case IN: fprintf(to, "@%u", arg); break;
    default: fprintf(to, "%u", arg);
  }
}

static void put_step(FILE *to, const engine_code *code, uint32_t number) {
  static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst" };
  static const char *const scopes[] = { "workgroup", "device", "system" };
  const step *s = &code->steps[number];
  const struct opcode *o = &opcodes[s->op];
  fprintf(to, "%6u  ", number);
  if (s->result != 0) {
    fprintf(to, "%%%u = ", s->result);
    put_type(to, VYRE_KERNEL_AT(vyre_kernel_value, code->header, values, s->result)->type);
    fprintf(to, " ");
  }
  fprintf(to, "%s", o->spelling);
  bool is_ordered = s->op == VYRE_KERNEL_FENCE || (s->op >= VYRE_KERNEL_ATOMIC_LOAD && s->op <= VYRE_KERNEL_ATOMIC_CAS);
  if (is_ordered && s->order < 5 && s->scope < 3) fprintf(to, " %s %s", orders[s->order], scopes[s->scope]);
  for (int k = 0; k < 4; k++) {
    if (o->kind[k] == NO || (o->kind[k] == OV && s->arg[k] == 0)) continue;
    fprintf(to, k > 0 && o->kind[k - 1] != NO ? ", " : " ");
    put_operand(to, code, o->kind[k], s->arg[k]);
  }
  fprintf(to, "\n");
}

void engine_print(const engine_code *code, FILE *to) {
  const vyre_kernel_header *h = code->header;
  fprintf(to, "program %s\n", code->name);
  for (uint32_t i = 0; i < h->bindings.count; i++)
    fprintf(to, "binding%u %s\n", i, engine_text(code, VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i)->name));
  for (uint32_t i = 0; i < h->entries.count; i++) {
    const vyre_kernel_entry *e = VYRE_KERNEL_AT(vyre_kernel_entry, h, entries, i);
    fprintf(to, "entry %u: %u x %u x %u invocations, %" PRIu64 " shared bytes\n", i, e->workgroup[0], e->workgroup[1],
            e->workgroup[2], e->shared_bytes);
    for (uint32_t k = 0; k < e->insn_count; k++) put_step(to, code, e->insn_first + k);
  }
}
