/* Diagnostics: what is wrong with a program, where, and what would mend it. */
#ifndef VYRE_DIAGNOSTIC_H
#define VYRE_DIAGNOSTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes: V numbers as they are, S from 1000, W from 2000 on. */
typedef enum vyre_code {
  VYRE_CODE_NONE = 0,
#define VYRE_CODE_BASE_V 0
#define VYRE_CODE_BASE_S 1000
#define VYRE_CODE_BASE_W 2000
#define X(family, number, severity, gist, fix) VYRE_##family##number = VYRE_CODE_BASE_##family + number,
#include <vyre/codes.def>
#undef X
  VYRE_CODE_END
} vyre_code;

typedef enum vyre_severity { VYRE_SEVERITY_ERROR = 0, VYRE_SEVERITY_WARNING = 1 } vyre_severity;

#define VYRE_NO_POSITION UINT32_MAX
#define VYRE_MAX_DIAGNOSTICS 20u /* errors, and likewise warnings, that are kept; more are counted only */

/* One finding. Texts belong to the set that it is in, or to the library. */
typedef struct vyre_diagnostic {
  vyre_code code;
  vyre_severity severity;
  uint32_t offset; /* byte offset in the source, or VYRE_NO_POSITION */
  uint32_t line;   /* from 1; 0 without position */
  uint32_t column; /* from 1, in code points; 0 without position */
  const char *message; /* the code's gist, and after a colon what was found; fit for a terminal */
  const char *fix;     /* the code's fix, or a closer one for this place */
} vyre_diagnostic;

/* A set of findings about one source. Used by one thread at a time; once complete, by any number for reading. */
typedef struct vyre_diagnostics vyre_diagnostics;

/* Makes an empty set for a source called |file| (copied; NULL for none) with the text |source| of |bytes|
 * bytes (borrowed until the set is destroyed; NULL for none: programs from C and wire have no lines).
 * Errors: NO_MEMORY, then *out is NULL. */
VYRE_API vyre_status vyre_diagnostics_create(const char *file, const char *source, size_t bytes,
                                             vyre_diagnostics **out);
/* NULL is allowed. */
VYRE_API void vyre_diagnostics_destroy(vyre_diagnostics *d);

/* Errors and warnings seen, those beyond VYRE_MAX_DIAGNOSTICS included. What is said twice about one place counts once. */
VYRE_API uint32_t vyre_diagnostics_errors(const vyre_diagnostics *d);
VYRE_API uint32_t vyre_diagnostics_warnings(const vyre_diagnostics *d);

/* Those that were kept, by index, in source order where they have positions. False beyond the last. */
VYRE_API bool vyre_diagnostics_get(const vyre_diagnostics *d, uint32_t index, vyre_diagnostic *out);

/* All as text for people: `file:line:column: error V066: message`, the line, a caret, `Fix: ...`.
 * The caller frees it with free(). NULL if memory is exhausted. */
VYRE_API char *vyre_diagnostics_render(const vyre_diagnostics *d);

/* "V066", and the table's gist and fix; NULL for a number that is no code. Static storage. Any thread. */
VYRE_API const char *vyre_code_name(vyre_code code);
VYRE_API const char *vyre_code_gist(vyre_code code);
VYRE_API const char *vyre_code_fix(vyre_code code);

#ifdef __cplusplus
}
#endif
#endif
