/* The plugin's own calls of the C library, taken over: its imports of malloc and the like are bound anew to functions
 * of the kit, which count, and of which one can fail. Nobody else's calls are touched. */
#ifndef VYRE_TOOLS_CONFORM_HOOK_H
#define VYRE_TOOLS_CONFORM_HOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Binds the imports of an open library. Gives how many were bound; 0 where the kit does not know how (another machine)
 * or where there are none. Once a process. */
uint32_t hook_imports(void *library);

/* The |n|-th call from now on that allocates memory or starts a thread fails, n from 1; 0: none. */
void hook_fail_at(uint64_t n);
/* Whether it has come to that, and the name of the function that failed; "" before. */
bool hook_has_failed(void);
const char *hook_failed(void);
/* Allocations of the plugin less its frees. */
int64_t hook_live(void);
/* Calls of getenv since hook_imports; the last name that was asked for. */
uint64_t hook_environment_reads(const char **name);

#endif
