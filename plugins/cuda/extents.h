/* What the device is told to put where before a launch begins. */
#ifndef CUDA_EXTENTS_H
#define CUDA_EXTENTS_H

#include <stdint.h>

/* One word that the device puts into a launch block, or elsewhere, before what reads it begins. */
typedef enum cuda_patch_kind {
  CUDA_PATCH_LENGTH32 = 0, /* u32 at from -> u64 at to, at most limit */
  CUDA_PATCH_LENGTH64 = 1, /* u64 -> u64 */
  CUDA_PATCH_AXIS = 2,     /* u32 -> u32 */
  CUDA_PATCH_CLOCK = 3     /* the clock in ns -> u64 */
} cuda_patch_kind;
typedef struct cuda_patch {
  uint64_t from, to, limit;
  uint64_t clamped;        /* address of a u64 that counts what was above the limit; 0: nobody counts */
  uint32_t kind, zero;
} cuda_patch;
enum { CUDA_BEGIN_THREADS = 64 }; /* of the one workgroup that does them */

#endif
