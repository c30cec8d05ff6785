/* Lines of text from templates, registers, refusals. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugins/cuda/ptx_emit.h"

enum { LINE_ROOM = 1024 }; /* of a template with everything that it can name */

static const char register_letters[] = " rdphq";

static char *put_decimal(char *to, uint32_t number) {
  uint32_t digits = number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : number < 10000 ? 4 : 5;
  for (uint32_t rest = number / 100000; rest != 0; rest /= 10) digits++;
  for (uint32_t i = digits; i-- > 0; number /= 10) to[i] = (char)('0' + number % 10);
  return to + digits;
}

static char *put_hexadecimal(char *to, uint64_t number, int digits) {
  for (int i = digits - 1; i >= 0; i--) *to++ = "0123456789ABCDEF"[number >> 4 * i & 15];
  return to;
}

static char *put_number(char *to, uint64_t number) {
  if (number <= 0xFFFF) return put_decimal(to, (uint32_t)number);
  *to++ = '0';
  *to++ = 'x';
  return put_hexadecimal(to, number, number >> 32 != 0 ? 16 : 8);
}

static char *put_constant(const ptx_emitter *e, char *to, uint32_t value, bool as_float) {
  uint64_t bits = VYRE_KERNEL_AT(vyre_kernel_constant, e->h, constants, value - 1)->bits;
  bool wide = ptx_is_wide(ptx_value_type(e, value));
  if (!as_float) return put_number(to, wide ? bits : (uint32_t)bits);
  *to++ = '0';
  *to++ = wide ? 'd' : 'f';
  return put_hexadecimal(to, bits, wide ? 16 : 8);
}

static char *put_operand(const ptx_emitter *e, char *to, ptx_operand o, bool as_float) {
  uint32_t kind = ptx_kind(o), number = ptx_number_of(o);
  if (kind < PTX_REGISTERS) {
    *to++ = register_letters[kind];
    return put_decimal(to, number);
  }
  if (kind == PTX_CONSTANT) return put_constant(e, to, number, as_float);
  return kind == PTX_SMALL ? put_decimal(to, number) : put_number(to, e->wide[number % PTX_WIDES]);
}

static char *put_word(char *to, const char *word) {
  while (*word != 0) *to++ = *word++;
  return to;
}

/* Registers of one line, made as they are named. */
typedef struct temps {
  bool any;
  ptx_operand reg[PTX_REGISTERS][PTX_TEMPS];
} temps;

static ptx_operand temp(ptx_emitter *e, temps *t, char letter, char digit) {
  uint32_t kind = letter == 'r' ? PTX_R : letter == 'd' ? PTX_D : letter == 'p' ? PTX_P : letter == 'h' ? PTX_H : PTX_Q;
  if (!t->any) memset(t, 0, sizeof *t);
  t->any = true;
  ptx_operand *reg = &t->reg[kind][digit - '0'];
  if (*reg == PTX_NONE) *reg = ptx_new(e, kind);
  return *reg;
}

/* One of the marks that templates have, at |s|; |*s| goes to its last character. */
static char *put_mark(ptx_emitter *e, char *to, const char **s, const ptx_operand *operands, temps *t) {
  const char *mark = *s;
  if (mark[0] == '^') return (e->h->flags & VYRE_KERNEL_FLUSH) != 0 ? put_word(to, ".ftz") : to;
  if (mark[0] == '%' && mark[1] != '%') return (e->h->flags & VYRE_KERNEL_CONTRACT) == 0 ? put_word(to, ".rn") : to;
  *s += 1;
  if (mark[0] == '%') {
    *to++ = '%';
    return to;
  }
  if (mark[1] <= '9') return put_operand(e, to, operands[mark[1] - '0'], mark[0] == '&');
  *s += 1;
  return put_operand(e, to, temp(e, t, mark[1], mark[2]), false);
}

static const bool ends_run[256] = { [0] = true, ['$'] = true, ['&'] = true, ['%'] = true, ['^'] = true };

void ptx_write(ptx_emitter *e, const char *template, const ptx_operand *operands) {
  char *start = gpu_bytes_room(e->out, LINE_ROOM), *to = start;
  if (start == NULL) return;
  temps t;
  t.any = false;
  for (const char *s = template;; s++) {
    while (!ends_run[(uint8_t)*s]) *to++ = *s++;
    if (*s == 0) break;
    to = put_mark(e, to, &s, operands, &t);
  }
  *to++ = '\n';
  e->out->count += (size_t)(to - start);
}

ptx_operand ptx_new(ptx_emitter *e, uint32_t kind) {
  if (e->counts[kind] == PTX_NUMBER_MASK)
    ptx_refuse(e, VYRE_ERR_LIMIT, "the kernel needs more than %d registers. Fix: make it smaller", PTX_NUMBER_MASK);
  else e->counts[kind]++;
  return ptx_make(kind, e->counts[kind] - 1);
}

ptx_operand ptx_number(ptx_emitter *e, uint64_t number) {
  if (number <= PTX_NUMBER_MASK) return ptx_make(PTX_SMALL, (uint32_t)number);
  uint32_t at = e->wides++ % PTX_WIDES;
  e->wide[at] = number;
  return ptx_make(PTX_WIDE, at);
}

void ptx_refuse(ptx_emitter *e, vyre_status status, const char *format, ...) {
  if (e->status != VYRE_OK) return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  e->status = gpu_fail(e->error, status, gpu_name, "%s", text);
}

bool ptx_needs(ptx_emitter *e, uint32_t sm, uint32_t version, const char *what) {
  if (sm > e->target.sm) {
    ptx_refuse(e, VYRE_ERR_UNSUPPORTED, "the program needs %s, which takes sm_%u; the target is sm_%u. "
               "Fix: run it on a newer device", what, sm, e->target.sm);
    return false;
  }
  if (e->target.version != 0 && version > e->target.version) {
    ptx_refuse(e, VYRE_ERR_UNSUPPORTED, "the program needs %s, which takes PTX %u.%u; the driver reads %u.%u. "
               "Fix: install a newer driver", what, version / 10, version % 10, e->target.version / 10,
               e->target.version % 10);
    return false;
  }
  if (sm > e->facts->sm) e->facts->sm = sm;
  if (version > e->facts->version) e->facts->version = version;
  return true;
}
