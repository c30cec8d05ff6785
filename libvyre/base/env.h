/* The one place that reads the environment. A process with more rights than its user (set-user-ID and the like) must
 * not be steered by the user's variables, so there every variable is absent. */
#ifndef VYRE_BASE_ENV_H
#define VYRE_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* Value of a variable; NULL if it is not set, or if the environment is ignored. */
const char *vyre_env_get(const char *name);

/* Whether the environment is ignored. */
bool vyre_env_is_ignored(void);

/* Iterates the entries `NAME=value` whose name begins with |prefix|, also where they are ignored: start with
 * *cursor = 0; NULL ends. */
const char *vyre_env_next(const char *prefix, size_t *cursor);

#endif
