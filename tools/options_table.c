/* The rows of options.def as arrays, by themselves, for the program that writes the manual page at build time. */
#include "options.h"

#define COMMAND(id, name, operands, least, most, gist, text) {name, operands, least, most, gist, text},
const command_row command_rows[COMMAND_COUNT] = {
#include "options.def"
};

#define NONE COMPLETE_NONE
#define FILE COMPLETE_FILE
#define DIRECTORY COMPLETE_DIRECTORY
#define IN(command) (1u << COMMAND_##command)
#define OPTION(id, letter, name, argument, repeat, complete, commands, help)                                           \
  {OPT_##id, letter, name, argument, REPEAT_##repeat, complete, commands, help},
const option_row option_rows[OPTION_COUNT] = {
#include "options.def"
};
#undef NONE
#undef FILE
#undef DIRECTORY
#undef IN
