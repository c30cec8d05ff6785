/* Is this block a kernel? First whether header and tables lie in it, so that everything else can be read. */
#include "lower/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <vyre/lower.h>

#include "base/error.h"

/* ---- Faults ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 0))) static bool note(verifier *v, vyre_status status, const char *table,
                                                       uint32_t number, const char *format, va_list args) {
  if (v->status != VYRE_OK) return false;
  char where[64], text[256];
  snprintf(where, sizeof where, "%s %u", table, number);
  vsnprintf(text, sizeof text, format, args);
  const char *fix = status == VYRE_ERR_UNSUPPORTED ? "read it with the version of vyre that made it, or lower again"
                                                   : "lower the program again";
  v->status = vyre_fail(v->error, status, where, "%s %u of the kernel: %s. Fix: %s.", table, number, text, fix);
  return false;
}

bool verify_fault(verifier *v, const char *table, uint32_t number, const char *format, ...) {
  va_list args;
  va_start(args, format);
  note(v, VYRE_ERR_INVALID_FILE, table, number, format, args);
  va_end(args);
  return false;
}

bool verify_unknown(verifier *v, const char *table, uint32_t number, const char *format, ...) {
  va_list args;
  va_start(args, format);
  note(v, VYRE_ERR_UNSUPPORTED, table, number, format, args);
  va_end(args);
  return false;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool check_header(verifier *v, size_t bytes) {
  const vyre_kernel_header *h = v->h;
  const uint32_t known = VYRE_KERNEL_CONTRACT | VYRE_KERNEL_FLUSH | VYRE_KERNEL_UNCHECKED | VYRE_KERNEL_COUNTS_MASKED |
                         VYRE_KERNEL_STEPS | VYRE_KERNEL_PROGRESS | VYRE_KERNEL_NO_TIME_BUDGET;
  if (h->magic != VYRE_KERNEL_MAGIC)
    return verify_fault(v, "header", 0, "its magic is 0x%llX, a kernel's is 0x%llX", (unsigned long long)h->magic,
                        (unsigned long long)VYRE_KERNEL_MAGIC);
  if (h->form_major != VYRE_KERNEL_FORM_MAJOR)
    return verify_unknown(v, "header", 0, "its form is %u.%u, this library has %u.%u", h->form_major, h->form_minor,
                          VYRE_KERNEL_FORM_MAJOR, VYRE_KERNEL_FORM_MINOR);
  if (h->header_bytes < sizeof *h || h->header_bytes > bytes || h->header_bytes % 8 != 0)
    return verify_fault(v, "header", 0, "it says to have %u bytes, the record has %zu", h->header_bytes, sizeof *h);
  if (h->bytes != bytes || bytes % 8 != 0 || bytes > VYRE_KERNEL_MAX_BYTES)
    return verify_fault(v, "header", 0, "the block says to have %u bytes, there are %zu", h->bytes, bytes);
  if ((h->flags & ~known) != 0) return verify_unknown(v, "header", 0, "flags 0x%X, known are 0x%X", h->flags, known);
  if (h->result > VYRE_KERNEL_RESULT_D2) return verify_unknown(v, "header", 0, "result class %u", h->result);
  if (((h->flags & VYRE_KERNEL_STEPS) != 0) != (h->steps != 0))
    return verify_fault(v, "header", 0, "the flag STEPS and a limit of %llu steps", (unsigned long long)h->steps);
  return true;
}

/* A table of records of |size| bytes that begin at multiples of |alignment|. */
static bool check_table(verifier *v, const char *name, const vyre_kernel_table *t, uint32_t size, uint32_t alignment) {
  const vyre_kernel_header *h = v->h;
  uint64_t end = t->offset + (uint64_t)t->count * t->stride;
  if (t->zero != 0) return verify_unknown(v, name, 0, "a word of its table that should be 0 is %u", t->zero);
  if (t->stride < size || (size > 1 && t->stride % alignment != 0))
    return verify_fault(v, name, 0, "its records are %u bytes apart and have %u", t->stride, size);
  if (size == 1 && t->stride != 1) return verify_fault(v, name, 0, "its bytes are %u bytes apart", t->stride);
  if (t->offset % (alignment < 8 ? 8 : alignment) != 0 || t->offset < h->header_bytes || end > h->bytes)
    return verify_fault(v, name, 0, "it lies at %u and ends at %llu, the block has %u bytes", t->offset,
                        (unsigned long long)end, h->bytes);
  return true;
}

static bool check_tables(verifier *v) {
  const vyre_kernel_header *h = v->h;
#define TABLE(name, type, alignment) check_table(v, #name, &h->name, (uint32_t)sizeof(type), alignment)
  return TABLE(values, vyre_kernel_value, 8) && TABLE(constants, vyre_kernel_constant, 8) &&
         TABLE(insns, vyre_kernel_insn, 4) && TABLE(operands, uint32_t, 4) && TABLE(accesses, vyre_kernel_access, 8) &&
         TABLE(slots, vyre_kernel_slot, 4) && TABLE(entries, vyre_kernel_entry, 8) &&
         TABLE(params, vyre_kernel_param, 4) && TABLE(bindings, vyre_kernel_binding, 8) &&
         TABLE(shared, vyre_kernel_array, 8) && TABLE(locals, vyre_kernel_array, 8) &&
         TABLE(tables, vyre_kernel_table_data, 8) && TABLE(table_bytes, uint8_t, 16) &&
         TABLE(hidden_bindings, vyre_kernel_hidden_binding, 8) && TABLE(hidden_words, vyre_kernel_hidden_word, 4) &&
         TABLE(specs, vyre_kernel_spec, 8) && TABLE(strings, uint8_t, 1);
#undef TABLE
}

bool verify_layout(verifier *v, const void *kernel, size_t bytes) {
  v->h = kernel;
  if (bytes < sizeof *v->h || (uintptr_t)kernel % 8 != 0)
    return verify_fault(v, "header", 0,
                        "%zu bytes at an address of which %u is left modulo 8; a kernel has at least %zu", bytes,
                        (unsigned)((uintptr_t)kernel % 8), sizeof *v->h);
  return check_header(v, bytes) && check_tables(v);
}

vyre_status vyre_kernel_verify(const void *kernel, size_t bytes, vyre_error *error) {
  verifier v = { .error = error };
  if (verify_layout(&v, kernel, bytes) && verify_records(&v)) verify_insns(&v);
  return v.status;
}
