/* Planning: what becomes of several programs together. docs/planning.md tells it with an example.
 *
 * Fusion joins programs, the arms, into one that does in one launch what the arms do launched one after the other, in
 * order, on the same buffers and parameters. A buffer or parameter that several arms name is one and the same thing.
 *
 * Threads: every function may be called from any thread. */
#ifndef VYRE_PLAN_H
#define VYRE_PLAN_H

#include <vyre/ir.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_FUSE_MAX_ARMS 256u
/* A fused launch may have at most so many times the invocations of its largest arm. */
#define VYRE_FUSE_MULTIPLIER 4u
#define VYRE_NO_ARM UINT32_MAX

typedef enum vyre_fuse_reason {
  VYRE_FUSE_FINE = 0,
#define X(name, spelling, gist, fix) VYRE_FUSE_##name,
#include <vyre/fuse_reasons.def>
#undef X
  VYRE_FUSE_REASONS
} vyre_fuse_reason;

/* Why programs were not fused. Texts are the record's own, cut where they are longer. */
typedef struct vyre_fuse_refusal {
  uint32_t size;            /* sizeof(vyre_fuse_refusal) */
  uint32_t reason;          /* vyre_fuse_reason */
  uint32_t arm;             /* which arm, from 0, or VYRE_NO_ARM */
  uint32_t other;           /* the one that it does not go with, or VYRE_NO_ARM */
  uint32_t own[3];          /* GEOMETRY: workgroup of the arm; LAUNCH: invocations along each axis; else 0 */
  uint32_t fused[3];        /* the same of the whole */
  uint64_t own_threads;     /* OVER_DISPATCH: invocations of the largest arm; else 0 */
  uint64_t fused_threads;   /* OVER_DISPATCH: of the whole, UINT64_MAX where that does not fit */
  char subject[256];        /* CONTRACT: the name; SELF_ALIASING: the operation or program; else "" */
  char text[VYRE_ERROR_TEXT_BYTES]; /* what is wrong, in a sentence */
  const char *fix;          /* static storage */
} vyre_fuse_refusal;
#define VYRE_FUSE_REFUSAL_INIT { sizeof(vyre_fuse_refusal), 0, 0, 0, { 0 }, { 0 }, 0, 0, { 0 }, { 0 }, 0 }

typedef struct vyre_fuse_options {
  uint32_t size;    /* sizeof(vyre_fuse_options) */
  uint32_t zero;
  const char *name; /* of the fused program; NULL for "fused" */
  /* The grid of each arm in workgroups, each axis at least 1; borrowed for the call. The result is then right for the
   * grid that vyre_fuse gives, and for no other. NULL: every arm would run over one grid that is not known, and the
   * result is right for any. Knowing it saves barriers, and refuses what is launched over too much. */
  const uint32_t (*grids)[3];
} vyre_fuse_options;
#define VYRE_FUSE_OPTIONS_INIT { sizeof(vyre_fuse_options), 0, 0, 0 }

/* Fuses |count| programs. None gives a program that does nothing, one gives that program, once more retained. Of more,
 * each stands in a block of its own, all under one region, with barriers in between where an arm needs what one before
 * it did. Variables of arm k end in "_a<k>". The caller owns *out. The same arms give the same program.
 *
 * |options| may be NULL. |grid|, three numbers, gets the grid to launch the result over, if options->grids says those
 * of the arms, else zeros; it may be NULL. |refusal| may be NULL; its reason is FINE unless programs were refused.
 *
 * What the caller sees to:
 * - An arm that runs in a larger workgroup or grid than its own has its effects under `if (gid.x < n)`, which is
 *   checked; that its own launch covers all gid.x below n is taken for granted.
 * - A `write` buffer starts as zero. Where a later arm reads it, it is `rw` in the result: bind it with zeros (as
 *   vyre_arg_out does).
 *
 * Errors, with *out NULL: INVALID_ARGUMENT (options or arms that are not there; or the programs can not be fused, which
 * |refusal| tells), LIMIT (more arms than VYRE_FUSE_MAX_ARMS, or the result passes a limit of programs), NO_MEMORY,
 * INTERNAL (the result is no valid program: a defect). */
VYRE_API vyre_status vyre_fuse(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options,
                               vyre_program **out, uint32_t *grid, vyre_fuse_refusal *refusal, vyre_error *error);

/* The same with the statements of all arms in one block. Variables keep their names but where two arms have the same. */
VYRE_API vyre_status vyre_fuse_shared(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options,
                                      vyre_program **out, uint32_t *grid, vyre_fuse_refusal *refusal,
                                      vyre_error *error);

/* "over-dispatch"; NULL for a number that is no reason. Static storage. */
VYRE_API const char *vyre_fuse_reason_name(uint32_t reason);

#ifdef __cplusplus
}
#endif
#endif
