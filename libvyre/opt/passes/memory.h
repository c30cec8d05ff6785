/* What the passes over memory share: under which expression accesses to the same element are found. */
#ifndef VYRE_OPT_PASSES_MEMORY_H
#define VYRE_OPT_PASSES_MEMORY_H

#include "opt/facts.h"

/* An index as a key: literals of either type are one, and all else must have one value wherever its variables do.
 * 0 where accesses at this index can not be compared. */
static inline uint32_t opt_index_key(opt_unit *u, uint32_t index) {
  uint64_t bits = ir_literal_bits(opt_at(u, index));
  if (opt_is_literal(u, index)) return opt_literal(u, bits <= UINT32_MAX ? VYRE_TYPE_U32 : VYRE_TYPE_U64, bits);
  return opt_is_pure(u, index) ? index : 0;
}

/* What is counted of buffers is counted of groups of them, those that share a bit of opt_binding_bit: a group is forgotten
 * where one of it might have changed, and no statement costs more the more buffers there are. */
enum { OPT_BINDING_GROUPS = 64 };
static inline uint32_t opt_binding_group(uint32_t binding) { return binding % OPT_BINDING_GROUPS; }

/* Of the buffers that are accessed at one index, the last so many are remembered. */
enum { OPT_REMEMBERED = 16 };

/* Whether other invocations can not touch a buffer: local memory, which no barrier or fence is about. */
static inline bool opt_is_private(const opt_unit *u, uint32_t binding) {
  return u->program->buffers.data[binding].access == VYRE_ACCESS_LOCAL;
}

#endif
