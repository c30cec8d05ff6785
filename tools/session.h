/* Settings, log and context of a command that uses backends. */
#ifndef VYRE_TOOLS_SESSION_H
#define VYRE_TOOLS_SESSION_H

#include <vyre/config.h>
#include <vyre/device.h>
#include <vyre/log.h>

#include "options.h"

typedef struct session {
  vyre_config *config;
  vyre_log *log;
  vyre_context *context;
} session;

/* Loads the settings, with --config and --backend-path of |options|. Gives an exit status; close in any case. */
int session_load(const parsed_options *options, session *out);
/* The same, with the plugin in the file |plugin|, of --target, before all others; NULL for none. */
int session_load_plugin(const parsed_options *options, const char *plugin, session *out);
/* Shows what is odd in the settings. */
void session_warn(const session *s);
/* Changes a setting, for the option |source|. Gives an exit status. */
int session_set(session *s, vyre_config_key key, const char *text, const char *source);
/* Makes the context, once the settings are as they should be. Gives an exit status. */
int session_open(session *s);
void session_close(session *s);

#endif
