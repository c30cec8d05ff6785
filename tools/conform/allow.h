/* The list of failures that are known: an ini file that says for each which check, why, and for how long.
 *
 *   [unsupported]                 what the plugin does not do, and refuses
 *   [expected failure]            what it does wrong
 *   abi.fork = 2027-06-30 the vendor's library starts threads
 *
 * The day is the last on which the line holds. A list hides nothing: lines that are used are shown, and one whose check
 * passes is itself a failure. */
#ifndef VYRE_TOOLS_CONFORM_ALLOW_H
#define VYRE_TOOLS_CONFORM_ALLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct allow_entry {
  char *id, *reason;
  char day[11];        /* YYYY-MM-DD */
  const char *section; /* static */
  uint32_t line;
} allow_entry;

typedef struct allow_list {
  allow_entry *entries;
  size_t count;
} allow_list;

/* Reads a list. |today| is YYYY-MM-DD. Gives an exit status; what is wrong has been said, all of it. Free in any case.
 */
int allow_read(const char *path, const char *today, allow_list *out);
void allow_free(allow_list *list);
/* The line of that check, or NULL. */
const allow_entry *allow_find(const allow_list *list, const char *id);

#endif
