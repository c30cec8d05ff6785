/* What a check leaves behind, in memory that its process shares with the kit: it outlives a crash. The plugin may have
 * written over anything in it, so no number in it is believed and every text is ended again. */
#ifndef VYRE_TOOLS_CONFORM_OUTCOME_H
#define VYRE_TOOLS_CONFORM_OUTCOME_H

#include <stdint.h>

#include "kit.h"

typedef enum kit_verdict { KIT_PASS, KIT_FAIL, KIT_SKIP, KIT_CRASH, KIT_TIMEOUT } kit_verdict;

enum { KIT_MOST_FAILURES = 8 };

struct kit_outcome {
  uint32_t verdict;   /* kit_verdict */
  uint32_t has_ended; /* the check has come to its end */
  uint32_t failures;
  uint32_t zero;
  uint64_t programs;
  char text[8192]; /* failures, one or more lines each; or why it was skipped */
  char note[1024];
  char doing[1024];
  /* From the descriptor, by a process that only looks at it. */
  char version[256], build_id[256];
  uint64_t fingerprint;
  uint32_t abi_major, abi_minor;
};

#endif
