/* The `vyre` command: finds the command that is named and gives it its options. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "failure.h"
#include "options.h"
#include "output.h"

const char *const bench_default_peers = NULL; /* beside the installed command */

/* Before a command there are two options. */
static int complain_option(const char *word) {
  static const char *const names[] = {"--help", "--version"};
  const char *guess = options_suggest(word, names, 2);
  if (guess) {
    output_complain("there is no option %s. Fix: did you mean `vyre %s`?", word, guess);
  } else {
    output_complain("there is no option %s before a command. Fix: `vyre help` lists the commands.", word);
  }
  return OUTPUT_USAGE;
}

static int complain_command(const char *word) {
  if (word[0] == '-') return complain_option(word);
  const char *names[COMMAND_COUNT];
  for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = command_rows[i].name;
  const char *guess = options_suggest(word, names, COMMAND_COUNT);
  if (guess) {
    output_complain("there is no command '%s'. Fix: did you mean `vyre %s`?", word, guess);
  } else {
    output_complain("there is no command '%s'. Fix: `vyre help` lists them.", word);
  }
  return OUTPUT_USAGE;
}

static int cmd_help(const parsed_options *o) {
  if (o->operand_count == 0) {
    options_print_help(stdout);
    return OUTPUT_DONE;
  }
  command_id command = options_find_command(o->operands[0]);
  if (command == COMMAND_COUNT) return complain_command(o->operands[0]);
  options_print_command_help(stdout, command);
  return OUTPUT_DONE;
}

static int dispatch(const parsed_options *o) {
  if (options_has(o, OPT_SHOW_HELP)) {
    options_print_command_help(stdout, o->command);
    return OUTPUT_DONE;
  }
  output_set_quiet(options_has(o, OPT_QUIET));
  switch (o->command) {
  case COMMAND_RUN:
    return cmd_run(o);
  case COMMAND_CHECK:
    return cmd_check(o);
  case COMMAND_FMT:
    return cmd_fmt(o);
  case COMMAND_PACK:
    return cmd_pack(o);
  case COMMAND_UNPACK:
    return cmd_unpack(o);
  case COMMAND_BACKENDS:
    return cmd_backends(o);
  case COMMAND_OPT:
    return cmd_opt(o);
  case COMMAND_FUSE:
    return cmd_fuse(o);
  case COMMAND_EMIT:
    return cmd_emit(o);
  case COMMAND_BENCH:
    return cmd_bench(o);
  case COMMAND_CONFORM:
    return cmd_conform(o);
  case COMMAND_HELP:
    return cmd_help(o);
  case COMMAND_COUNT:
    break;
  }
  return OUTPUT_USAGE;
}

int main(int argc, char **argv) {
  output_prepare();
  if (argc < 2) {
    options_print_help(stderr);
    return OUTPUT_USAGE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    puts(PACKAGE_STRING);
    return output_finish(OUTPUT_DONE);
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    options_print_help(stdout);
    return output_finish(OUTPUT_DONE);
  }
  command_id command = options_find_command(argv[1]);
  if (command == COMMAND_COUNT) return complain_command(argv[1]);
  if (options_wants_json(command, argc - 2, argv + 2)) failure_want();
  parsed_options options;
  int result = options_parse(command, argc - 2, argv + 2, &options) ? dispatch(&options) : OUTPUT_USAGE;
  options_free(&options);
  return output_finish(result);
}
