/* NumPy array files (.npy): one buffer's elements, in and out.
 *
 * The format is described by NumPy Enhancement Proposal 1 and the reference page numpy.lib.format. Its header is a
 * Python dictionary, of which exactly what NumPy writes is understood, in any order and spacing: arrays with named
 * fields, Python objects and Fortran order of more than one dimension are refused. */
#ifndef VYRE_TOOLS_NPY_H
#define VYRE_TOOLS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/ir.h>

#define NPY_REASON_BYTES 256

/* Whether arrays of |element| exist: bf16 has none. */
bool npy_has(vyre_type element);

/* Reads the bytes of a file into |*count| elements of |element|, as a buffer holds them; the caller frees *data. False,
 * with a reason that ends in a Fix, for anything else than exactly such an array. */
bool npy_decode(const uint8_t *bytes, size_t length, vyre_type element, uint8_t **data, uint64_t *count,
                char reason[NPY_REASON_BYTES]);

/* Makes the bytes of a file of version 1 with one dimension. The caller frees *out. False without memory. */
bool npy_encode(vyre_type element, const uint8_t *data, uint64_t count, uint8_t **out, size_t *length);

#endif
