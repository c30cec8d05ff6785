/* Recording diagnostics: the inside of vyre/diagnostic.h. */
#ifndef VYRE_BASE_DIAG_H
#define VYRE_BASE_DIAG_H

#include <vyre/diagnostic.h>

/* Adds a finding of |code| at byte |offset| (or VYRE_NO_POSITION). The formatted text says what was found there
 * ("index has type f32"); the code's gist and fix come from the table. |d| may be NULL: nothing happens then.
 * Errors beyond VYRE_MAX_DIAGNOSTICS are counted only. Severity is the table's. */
__attribute__((format(printf, 4, 5))) void vyre_diag(vyre_diagnostics *d, vyre_code code, uint32_t offset,
                                                     const char *format, ...);

/* The same with a fix that is closer than the code's own: a sentence without its point, or with a question mark. */
__attribute__((format(printf, 5, 6))) void vyre_diag_fix(vyre_diagnostics *d, vyre_code code, uint32_t offset,
                                                         const char *fix, const char *format, ...);

/* Severity of a code. */
vyre_severity vyre_code_severity(vyre_code code);

#endif
