/* The text form: parse, print, format. docs/language.md defines it. */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include <vyre/ir.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A scalar constant given from outside; wins over the program's own value. */
typedef struct vyre_define {
  const char *name;
  const char *value; /* a literal of the language */
} vyre_define;

/* Expands `call "id"(args)`. Later layers that hold operations provide it; without one every call is V016. */
typedef struct vyre_call_arg {
  vyre_binding binding; /* a buffer passed by name, or VYRE_NO_BINDING */
  vyre_expr value;      /* else a value */
} vyre_call_arg;
typedef struct vyre_call_resolver {
  void *ctx;
  /* Builds the operation's body at the builder's place, in a region of its own; its value, if it has one, goes to
   * |result| and must be visible behind that region. Values among |args| are stable: statements do not change them.
   * NOT_FOUND for an id that is not registered. */
  vyre_status (*expand)(void *ctx, vyre_builder *b, const char *id, const vyre_call_arg *args, uint32_t count,
                        vyre_expr *result);
} vyre_call_resolver;

typedef struct vyre_text_options {
  const vyre_define *defines;
  uint32_t define_count;
  const vyre_call_resolver *resolver; /* or NULL */
} vyre_text_options;

/* Parses |bytes| bytes of text into a program. |options| may be NULL. Faults go to |diagnostics| (may be NULL),
 * which should have been made with the same text. Parsing goes on after a fault, up to 20.
 * Errors: INVALID_PROGRAM, INVALID_ARGUMENT (a define that names no scalar constant), LIMIT, NO_MEMORY. */
VYRE_API vyre_status vyre_text_parse(const char *text, size_t bytes, const vyre_text_options *options,
                                     vyre_diagnostics *diagnostics, vyre_program **out, vyre_error *error);

/* Canonical text of a program; parse(print(p)) equals p. NUL-terminated; the caller frees it with free().
 * |length| may be NULL. Errors: NO_MEMORY. */
VYRE_API vyre_status vyre_text_print(const vyre_program *program, char **out, size_t *length);

/* Formats source text: canonical spacing and indentation, one statement a line; comments, constants and functions
 * stay. The text must be lexically sound. Formatting what was formatted changes nothing.
 * The caller frees *out with free(). Errors: INVALID_PROGRAM, NO_MEMORY. */
VYRE_API vyre_status vyre_text_format(const char *text, size_t bytes, vyre_diagnostics *diagnostics, char **out,
                                      size_t *length, vyre_error *error);

/* Reads |text| as a literal of |type| (a scalar arithmetic type), as `--set` does: "2", "-3", "0x1p-4", "true",
 * "inf", "7u32". Gives its bits. Errors: INVALID_ARGUMENT (not a literal), OUT_OF_RANGE. */
VYRE_API vyre_status vyre_text_literal(vyre_type type, const char *text, uint64_t *bits, vyre_error *error);

#ifdef __cplusplus
}
#endif
#endif
