/* The verifier's state: a kernel from anywhere, and what of it has been found good so far. */
#ifndef VYRE_LOWER_VERIFY_H
#define VYRE_LOWER_VERIFY_H

#include "lower/form.h"

typedef struct verifier {
  const vyre_kernel_header *h;
  vyre_error *error;
  vyre_status status;
} verifier;

/* Notes a fault at record |number| of |table|; false. Later faults are not noted. */
__attribute__((format(printf, 4, 5))) bool verify_fault(verifier *v, const char *table, uint32_t number,
                                                        const char *format, ...);
/* The same for something that this library does not know. */
__attribute__((format(printf, 4, 5))) bool verify_unknown(verifier *v, const char *table, uint32_t number,
                                                          const char *format, ...);

/* Header and tables lie in the block. verify.c */
bool verify_layout(verifier *v, const void *kernel, size_t bytes);
/* Every record by itself, given a good layout. verify_records.c */
bool verify_records(verifier *v);
/* Instructions: types, order of definition, blocks, accesses; given good records. verify_insns.c */
bool verify_insns(verifier *v);

static inline vyre_type verify_value_type(const verifier *v, uint32_t value) {
  return form_type_named(VYRE_KERNEL_AT(vyre_kernel_value, v->h, values, value)->type);
}

#endif
