/* `vyre bench` of the build tree: the same command by itself, with the peers of the build. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"

const char *const bench_default_peers = BENCH_PEERS_DIR;

int main(int argc, char **argv) {
  output_prepare();
  parsed_options options;
  int result = OUTPUT_USAGE;
  if (options_parse(COMMAND_BENCH, argc - 1, argv + 1, &options)) {
    output_set_quiet(options_has(&options, OPT_QUIET));
    if (options_has(&options, OPT_SHOW_HELP)) {
      options_print_command_help(stdout, COMMAND_BENCH);
      result = OUTPUT_DONE;
    } else {
      result = cmd_bench(&options);
    }
  }
  options_free(&options);
  return output_finish(result);
}
