/* Probing a plugin in a process of its own, so that one which crashes, hangs or exits harms nobody else. */
#ifndef VYRE_TOOLS_ISOLATE_H
#define VYRE_TOOLS_ISOLATE_H

#include "session.h"

/* What came of it. */
typedef struct isolated_plugin {
  const char *verdict; /* as vyre_verdict_name, or "crashed", "exited", "hung" */
  vyre_status status;
  char version[256], build_id[256], reason[1024];
  uint32_t device_count;
  vyre_capabilities *devices; /* NULL without any; the caller frees it */
} isolated_plugin;

/* Loads the plugin at |path| alone, in a process of its own, for at most |timeout_ns|. No plugin may have been opened
 * and no thread started by this process. |s| is the session that it was listed with. Gives an exit status, OUTPUT_DONE
 * also where the plugin is no good. */
int isolate_probe(const session *s, const char *path, uint64_t timeout_ns, isolated_plugin *out);

#endif
