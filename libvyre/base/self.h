/* Where this library lies: what belongs to an installation is found from there, so that it may be moved as a whole. */
#ifndef VYRE_BASE_SELF_H
#define VYRE_BASE_SELF_H

#include <vyre/status.h>

/* The directory that this library lies in, absolute and without links, to be freed; *out is NULL where that can't be
 * known. Errors: NO_MEMORY. */
vyre_status vyre_self_directory(char **out);

/* What was configured as |place|, in the installation that this library lies in, to be freed. *out is NULL if |place|
 * is not below the prefix, or if the library lies elsewhere than an installation has it. Errors: NO_MEMORY. */
vyre_status vyre_self_place(const char *place, char **out);

#endif
