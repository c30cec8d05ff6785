/* The commands: each takes its parsed options and gives the exit status. */
#ifndef VYRE_TOOLS_COMMANDS_H
#define VYRE_TOOLS_COMMANDS_H

#include "options.h"

int cmd_run(const parsed_options *o);
int cmd_check(const parsed_options *o);
int cmd_fmt(const parsed_options *o);
int cmd_pack(const parsed_options *o);
int cmd_unpack(const parsed_options *o);
int cmd_backends(const parsed_options *o);
int cmd_opt(const parsed_options *o);
int cmd_fuse(const parsed_options *o);
int cmd_emit(const parsed_options *o);
int cmd_bench(const parsed_options *o);
int cmd_conform(const parsed_options *o);

/* Where peers are if --peers does not say; NULL: beside the installed command. Each program that has cmd_bench says. */
extern const char *const bench_default_peers;

#endif
