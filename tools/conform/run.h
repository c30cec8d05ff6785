/* Running checks, each in a process of its own. */
#ifndef VYRE_TOOLS_CONFORM_RUN_H
#define VYRE_TOOLS_CONFORM_RUN_H

#include "kit.h"
#include "outcome.h"

typedef enum check_group {
  GROUP_STATIC,   /* the file, before anything of it runs */
  GROUP_ABI,      /* the plugin's table, called by the kit itself */
  GROUP_RESOURCE, /* the same without memory, again and again, in other orders */
  GROUP_NUMERIC,  /* programs beside the oracle */
  GROUP_RANDOM,   /* random programs beside the oracle */
  GROUP_COUNT
} check_group;

typedef struct check_row {
  const char *id;
  check_group group;
  uint32_t policy; /* VBP-n; 0 for none */
  void (*function)(kit *k);
  const char *what;
} check_row;

extern const check_row check_rows[];
extern const uint32_t check_count;
extern const char *const check_group_names[GROUP_COUNT];

/* What came of a check. */
typedef struct check_result {
  const check_row *row;
  kit_verdict verdict;
  char *text; /* why it failed or was skipped, one or more lines; "" for a pass */
  char *note; /* "" for none */
  uint64_t ns, programs;
} check_result;

/* "pass", "fail", "skip", "crash", "timeout". */
const char *check_verdict_name(kit_verdict verdict);

/* What the plugin's descriptor says; texts are empty where it can't be asked. */
typedef struct plugin_identity {
  char version[256], build_id[256];
  uint32_t abi_major, abi_minor;
  uint64_t fingerprint;
} plugin_identity;

/* Both: no plugin may have been opened and no thread started by this process. False, with a message, if the process or
 * its memory can't be had. Free a result's texts. */
bool check_run(const kit_settings *settings, const check_row *row, check_result *out);
bool check_identify(const kit_settings *settings, plugin_identity *out);

#endif
