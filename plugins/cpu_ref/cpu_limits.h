/* The limits of this backend. */
#ifndef CPU_LIMITS_H
#define CPU_LIMITS_H

#define CPU_MAX_WORKGROUP 4096u          /* invocations */
#define CPU_DEFAULT_SUBGROUP 32u
#define CPU_MAX_INSNS (1u << 26)
#define CPU_MAX_SHARED_BYTES (64u << 20) /* of a workgroup, and of an invocation's local memory */
#define CPU_MEMORY_LIMIT (8ull << 30)    /* bytes that the state of a launch may take, if not configured */
#define CPU_MAX_PAUSE_NS 1000000u        /* one pause() waits no longer */
#define CPU_STEP_TRAP 0xFFFFFFFFu        /* trap code of the step limit */
#define CPU_MAX_RESIDENT 64u             /* workgroups that take turns in a persistent launch, as max_resident says */

#endif
