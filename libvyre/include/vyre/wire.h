/* The wire form VIR0: a program as bytes. docs/ir.md has the layout.
 *
 * One program has exactly one wire form: decode(encode(p)) equals p, and encode(decode(b)) equals b for every b
 * that decode accepts. Source positions are not part of it. */
#ifndef VYRE_WIRE_H
#define VYRE_WIRE_H

#include <vyre/ir.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_WIRE_MAGIC "VIR0"        /* the first four bytes */
#define VYRE_WIRE_VERSION 1u          /* the version that is written and read */
#define VYRE_WIRE_HEADER_BYTES 40u    /* magic, version, flags, and the digest of all that follows */

/* The bytes of a program, header and digest included. The caller frees *out with free(). Any thread.
 * Errors: NO_MEMORY, then *out is NULL and *length 0. */
VYRE_API vyre_status vyre_wire_encode(const vyre_program *program, uint8_t **out, size_t *length);

/* Reads a program from |length| bytes that may come from anywhere; they are not kept. The rules of a program are
 * checked as for text: what breaks them goes to |diagnostics| (may be NULL), without positions. The caller owns
 * *out. Any thread.
 * Errors, with *out NULL: INVALID_WIRE (truncated, changed, malformed, or not the form that encode writes; the
 * error's `where` names the byte), INVALID_PROGRAM, LIMIT (more than VYRE_MAX_PROGRAM_BYTES), NO_MEMORY. */
VYRE_API vyre_status vyre_wire_decode(const uint8_t *bytes, size_t length, vyre_diagnostics *diagnostics,
                                      vyre_program **out, vyre_error *error);

#ifdef __cplusplus
}
#endif
#endif
