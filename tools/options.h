/* The command line: its tables and its parser. options.def has the rows. */
#ifndef VYRE_TOOLS_OPTIONS_H
#define VYRE_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum command_id {
#define COMMAND(id, name, operands, least, most, gist, text) COMMAND_##id,
#include "options.def"
  COMMAND_COUNT
} command_id;

typedef enum option_id {
#define OPTION(id, letter, name, argument, repeat, complete, commands, help) OPT_##id,
#include "options.def"
  OPTION_COUNT
} option_id;

typedef struct command_row {
  const char *name;
  const char *operands;
  size_t least, most; /* operands; most 0 is any number, unless least is 0 too: none */
  const char *gist;
  const char *text;
} command_row;

typedef enum option_repeat { REPEAT_ONCE, REPEAT_NAMED, REPEAT_MANY } option_repeat;

/* What completions offer for an argument, besides a list of words. */
#define COMPLETE_NONE ""
#define COMPLETE_FILE "<file>"
#define COMPLETE_DIRECTORY "<directory>"

typedef struct option_row {
  option_id id;
  char letter; /* 0 for none */
  const char *name;
  const char *argument; /* NULL for a flag */
  option_repeat repeat;
  const char *complete;
  uint32_t commands; /* bit command_id */
  const char *help;
} option_row;

extern const command_row command_rows[COMMAND_COUNT];
extern const option_row option_rows[OPTION_COUNT];

static inline bool options_takes(const option_row *row, command_id command) {
  return (row->commands >> command & 1) != 0;
}

typedef struct option_value {
  const option_row *row;
  const char *text; /* NULL for a flag */
} option_value;

/* A command line that was understood. Texts belong to argv. */
typedef struct parsed_options {
  command_id command;
  option_value *values;
  size_t value_count;
  const char **operands;
  size_t operand_count;
} parsed_options;

/* The command called |name|, or COMMAND_COUNT. */
command_id options_find_command(const char *name);

/* Reads the words after the command's name. False if they are not understood; it has been said then.
 * Free with options_free in both cases. */
bool options_parse(command_id command, int count, char **words, parsed_options *out);
void options_free(parsed_options *o);

/* Whether --json is among the words, and the command takes it, before any of them has been understood. */
bool options_wants_json(command_id command, int count, char **words);

/* The value of an option that is taken once, or NULL. A flag's value is its name. */
const char *options_get(const parsed_options *o, option_id id);
bool options_has(const parsed_options *o, option_id id);

/* The next value NAME=VALUE of an option from *at on, which starts at 0; moves *at behind it. The name is cut at its
 * room, which is longer than any name of a program. False if there is none. */
#define OPTION_NAME_ROOM 272
bool options_next(const parsed_options *o, option_id id, size_t *at, char name[OPTION_NAME_ROOM], const char **value);

/* Help: of vyre as a whole, and of one command. */
void options_print_help(FILE *file);
void options_print_command_help(FILE *file, command_id command);

/* The word of |count| candidates that |word| is most likely a misspelling of, or NULL. */
const char *options_suggest(const char *word, const char *const *candidates, size_t count);

#endif
