/* The process itself: what a call of the plugin leaves in it, and memory whose end is the end of the world. */
#ifndef VYRE_TOOLS_CONFORM_PROCESS_H
#define VYRE_TOOLS_CONFORM_PROCESS_H

#include "kit.h"

/* What can be counted from outside. */
typedef struct process_state {
  uint32_t threads, files, children, libraries;
  uint64_t allocated; /* bytes of malloc that are in use; 0 where that can't be told */
  uint64_t blocked;   /* signals of this thread: bit number - 1 */
  uint64_t place[2];  /* device and inode of the current directory */
  uint32_t mode_mask;
  int rounding;       /* of this thread's floats, as FE_* */
  bool flushes;       /* this thread's floats have no subnormals */
} process_state;
void process_look(process_state *out);

enum {
  PROCESS_THREADS = 1u << 0,
  PROCESS_FILES = 1u << 1,
  PROCESS_CHILDREN = 1u << 2,
  PROCESS_LIBRARIES = 1u << 3,
  PROCESS_MEMORY = 1u << 4,
  PROCESS_ALL = PROCESS_THREADS | PROCESS_FILES | PROCESS_CHILDREN | PROCESS_LIBRARIES | PROCESS_MEMORY
};
/* kit_fail for each of |what| (PROCESS_*) that there is more of than before. */
bool process_compare(kit *k, const char *call, const process_state *before, const process_state *after, uint32_t what);
/* kit_fail for what is the host's and is not as it was: open files that are gone, blocked signals, the current directory
 * and mode mask, rounding and subnormals. */
bool process_is_kept(kit *k, const char *call, const process_state *before, const process_state *after);

/* |bytes| bytes, zero, behind which there is nothing: the first byte beyond is no memory. Never freed; NULL without
 * memory. Aligned to 8 if bytes is. */
void *process_end_of_page(uint64_t bytes);

/* dlsym. */
void *process_symbol(void *library, const char *name);

/* Bytes of malloc in use by the whole process, to see growth; 0 where that can't be told. */
uint64_t process_allocated(void);

#endif
