/* Lines of text from templates, registers, refusals. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugins/cuda/ptx_emit.h"

enum { LINE_ROOM = 1024 }; /* of a template with everything that it can name */

static const char register_letters[] = " rdphq";

static char *put_decimal(char *to, uint32_t number) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) *to++ = digits[--count];
  return to;
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
  switch (kind) {
    case PTX_CONSTANT: return put_constant(e, to, number, as_float);
    case PTX_SMALL: return put_decimal(to, number);
    case PTX_WIDE: return put_number(to, e->wide[number % PTX_WIDES]);
    default:
      *to++ = register_letters[kind < PTX_REGISTERS ? kind : 0];
      return put_decimal(to, number);
  }
}

static char *put_word(char *to, const char *word) {
  while (*word != 0) *to++ = *word++;
  return to;
}

/* Registers of one line, made as they are named. */
typedef struct temps {
  ptx_operand reg[PTX_REGISTERS][PTX_TEMPS];
} temps;

static ptx_operand temp(ptx_emitter *e, temps *t, char letter, char digit) {
  uint32_t kind = (uint32_t)(strchr(register_letters, letter) - register_letters), i = (uint32_t)(digit - '0');
  if (t->reg[kind][i] == PTX_NONE) t->reg[kind][i] = ptx_new(e, kind);
  return t->reg[kind][i];
}

void ptx_write(ptx_emitter *e, const char *template, const ptx_operand *operands) {
  char *start = gpu_bytes_room(e->out, LINE_ROOM), *to = start;
  if (start == NULL) return;
  temps t = { 0 };
  for (const char *s = template; *s != 0; s++) {
    if (s[0] == '%' && s[1] == '%') {
      *to++ = *s++;
    } else if (*s == '%') {
      if ((e->h->flags & VYRE_KERNEL_CONTRACT) == 0) to = put_word(to, ".rn");
    } else if (*s == '^') {
      if ((e->h->flags & VYRE_KERNEL_FLUSH) != 0) to = put_word(to, ".ftz");
    } else if (*s != '$' && *s != '&') {
      *to++ = *s;
    } else if (s[1] >= '0' && s[1] <= '9') {
      to = put_operand(e, to, operands[s[1] - '0'], *s == '&');
      s++;
    } else {
      to = put_operand(e, to, temp(e, &t, s[1], s[2]), false);
      s += 2;
    }
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
