/* Filling the caller's error record. */
#ifndef VYRE_BASE_ERROR_H
#define VYRE_BASE_ERROR_H

#include <vyre/status.h>

/* Writes |status|, |where| (may be NULL) and the formatted text into |error| (may be NULL) and gives |status|,
 * so that a failing function ends with `return vyre_fail(error, ...)`. The text says what was wanted, what
 * was found, and ends with a `Fix:` sentence. Longer texts are cut; the whole also goes to error->log. The arguments
 * may be texts of the record itself. A record whose size says that it is another one is left alone. */
__attribute__((format(printf, 4, 5))) vyre_status vyre_fail(vyre_error *error, vyre_status status, const char *where,
                                                            const char *format, ...);

/* The one for exhausted memory. */
vyre_status vyre_fail_memory(vyre_error *error, const char *where);

#endif
