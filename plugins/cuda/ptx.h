/* The PTX emitter: from the kernel form straight to text.
 *
 * A module has one `.visible .entry` for each entry point of the kernel, named by ptx_entry_name. Its text says the
 * lowest `.target` and `.version` that its instructions need, and never one above what the target allows; whoever
 * compiles it (ptxas, the driver) names the architecture that it is for.
 *
 * Launching. Entry point i is launched with blockDim = the entry's workgroup (which the text requires) and gridDim =
 * the piece of the grid; the parameters of each entry point are the same two:
 *
 *   name      bytes                      holds
 *   block     facts.block_bytes          the launch block (gpu_launch_block)
 *   pointers  8 * facts.pointer_count    addresses: bindings by slot, then hidden bindings where facts.hidden says
 *
 * `block` begins at byte 0, `pointers` at facts.block_bytes, a multiple of 8; facts.param_bytes are both together, so
 * that one buffer with CU_LAUNCH_PARAM_BUFFER_POINTER serves. A pointer that no launch has may be 0 as long as the
 * length is 0.
 *
 * Where the block has to lie in memory (device lengths, indirect grids, more parameters than fit), the same kernel is
 * emitted once more with PTX_BLOCK_IN_MEMORY: `block` is then 8 bytes, the address of the launch block in device
 * memory, aligned to 8, which the entry reads as memory that does not change during the launch. Only such a module may
 * be launched with a larger grid than the block's words say: workgroups beyond it leave at once. Emission costs little, so
 * both may be made at compile time and the second one be loaded when a launch first needs it. If both parts together
 * exceed target.param_limit, the block is in memory whether or not it was asked for: facts.flags tell.
 *
 * Tables of the kernel are part of the module. Shared memory is static up to 48 KiB. Above (PTX_SHARED_DYNAMIC) all of
 * it is dynamic: the launch passes entry.shared_bytes, after CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES was set.
 *
 * A launch with PTX_COOPERATIVE is cooperative, whole (no pieces), and STATE is zero when it starts. Everything else
 * that must hold at a launch (hidden bindings) is as vyre/kernel.h says. Accesses out of range are not counted.
 *
 * Subgroups are warps, or parts of warps where the kernel requires a smaller size; 1, 2, 4, 8, 16 and 32 all work. */
#ifndef CUDA_PTX_H
#define CUDA_PTX_H

#include "plugins/gpu/kernel.h"

enum {
  PTX_BLOCK_IN_MEMORY = 1u << 0, /* target: wanted; facts: so it is */
  PTX_COOPERATIVE = 1u << 1,     /* facts: has a grid barrier of its own */
  PTX_SHARED_DYNAMIC = 1u << 2   /* facts: shared memory is given at the launch */
};

enum {
  PTX_MIN_SM = 70,
  PTX_STATIC_SHARED = 48 * 1024,
  PTX_PARAM_LIMIT = 4096,        /* every target and driver */
  PTX_PARAM_LIMIT_LARGE = 32764  /* sm_70 and above since PTX 8.1, with a driver of CUDA 12.1 or newer */
};

/* What to emit for. */
typedef struct ptx_target {
  uint32_t sm;           /* 70, 75, 80, 90, 120, ...: instructions up to it are used */
  uint32_t version;      /* highest PTX version that the driver reads, 10 * major + minor; 0 for any */
  uint32_t flags;        /* PTX_BLOCK_IN_MEMORY */
  uint32_t shared_limit; /* bytes of a workgroup: 48 KiB, or the device's opt-in maximum; 0 for 48 KiB */
  uint32_t param_limit;  /* PTX_PARAM_LIMIT*; 0 for PTX_PARAM_LIMIT */
} ptx_target;

/* What came of it; all that launching needs beside the kernel's launch part. */
typedef struct ptx_facts {
  uint32_t sm, version;  /* as the text says */
  uint32_t flags;        /* PTX_* */
  uint32_t block_bytes, pointer_count, param_bytes;
  uint32_t hidden[5];    /* by vyre_kernel_hidden_kind: 1 + its place in pointers; 0 if the module has none. STATE may
                            be here without being in the kernel's table */
} ptx_facts;

/* Appends the module's text, with a NUL that b->count does not count. The same input gives the same bytes. What is
 * appended where it fails is to be thrown away.
 * Errors: UNSUPPORTED (an instruction that no PTX version up to the target's has, by its name), LIMIT (shared memory
 * above the limit: names total, limit, each array with its bytes), INVALID_FILE (a kernel whose numbers lead outside of
 * its tables), NO_MEMORY. */
vyre_status ptx_emit(const vyre_kernel_header *kernel, const ptx_target *target, gpu_bytes *text, ptx_facts *facts,
                     vyre_error *error);

/* The entry's name in the module, from the program's name and its number, at most PTX_NAME_ROOM - 1 bytes. */
enum { PTX_NAME_ROOM = 80 };
void ptx_entry_name(const vyre_kernel_header *kernel, uint32_t entry, char name[PTX_NAME_ROOM]);

/* The opcodes that the emitter takes, for the descriptor, and the VYRE_NEED_* bits that a module can satisfy. */
enum { PTX_OPCODE_COUNT = 84 };
extern const vyre_opcode_support ptx_opcodes[PTX_OPCODE_COUNT];
#define PTX_NEEDS ((1ull << 20) - 1) /* all of needs.def; GRID_SYNC where launches can be cooperative */

#endif
