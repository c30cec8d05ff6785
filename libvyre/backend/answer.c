/* What a plugin answers, made sound: callers only ever see statuses that status.def has, with a text that ends. */
#include <stdio.h>

#include "backend/objects.h"
#include "base/error.h"

static bool is_status(vyre_status status) {
  switch (status) {
#define X(name, number, reaction, text) case number:
#include <vyre/status.def>
#undef X
    return true;
  default: return false;
  }
}

vyre_status vyre_plugin_answer(const char *who, vyre_status status, vyre_error *error) {
  if (status == VYRE_OK) return status;
  if (!is_status(status))
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, who,
                     "The plugin answers %d, which is no status (VBP-15). Fix: report it to the plugin's "
                     "author.", status);
  if (error == NULL || error->size < sizeof *error) return status;
  error->where[sizeof error->where - 1] = 0;
  error->text[sizeof error->text - 1] = 0;
  if (error->status != status || error->text[0] == 0)
    vyre_fail(error, status, who, "%s, and the plugin gave no reason (VBP-15).", vyre_status_text(status));
  return status;
}

void vyre_plugin_completion(vyre_completion *completion) {
  completion->text[sizeof completion->text - 1] = 0;
  if (is_status(completion->status)) return;
  snprintf(completion->text, sizeof completion->text,
           "The plugin ended the work with %d, which is no status (VBP-15). Fix: report it to the plugin's author.",
           completion->status);
  completion->status = VYRE_ERR_BROKEN_PLUGIN;
}
