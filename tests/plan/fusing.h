/* Fusing programs in text, and looking at what comes of it. */
#ifndef VYRE_TESTS_FUSING_H
#define VYRE_TESTS_FUSING_H

#include <vyre/plan.h>

#include "../cpu_ref/trial.h"

enum { FUSING_MAX = 8 };

typedef struct fusing {
  vyre_program *arms[FUSING_MAX], *fused;
  uint32_t count, grids[FUSING_MAX][3], grid[3];
  bool shared;
  vyre_status status;
  vyre_fuse_refusal refusal;
  vyre_error error;
  char *text; /* of the fused program, NULL if there is none */
} fusing;

/* Fuses; |x| workgroups along x for each, or 0 for a grid that is not known. */
void fuse(fusing *f, uint32_t x, const char *const *texts, uint32_t count);
/* With a grid for each, and one block for all if f->shared says so before. */
void fuse_over(fusing *f, const uint32_t (*grids)[3], const char *const *texts, uint32_t count);
void fuse_end(fusing *f);

#define FUSE(f, x, ...)                                           \
  do {                                                            \
    const char *const texts_[] = { __VA_ARGS__ };                 \
    fuse(f, x, texts_, sizeof texts_ / sizeof *texts_);           \
  } while (0)

/* The fused program has this text. */
void fuse_gives(const fusing *f, const char *text);
/* It was refused so, and what the refusal says holds |word|. */
void fuse_refuses(const fusing *f, vyre_fuse_reason reason, const char *word);
uint32_t fuse_count(const fusing *f, const char *word); /* occurrences in the text */

/* Runs the arms one after the other, and the fused program, each on the same random words: |elements| in each buffer
 * whose length is free, parameters |i| + 1. Memory must end the same. */
void fuse_runs_alike(const fusing *f, uint64_t elements, uint64_t seed);

#endif
