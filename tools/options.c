/* Parser and help, from the rows of options_table.c. Own code rather than getopt_long, which takes abbreviations that
 * break when an option is added, and can not tell what was meant. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "output.h"

#define MAX_CANDIDATES 64
#define HELP_COLUMN 28
#define HELP_WIDTH 100

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Letters to insert, drop, replace or swap to get from one word to the other. */
static size_t distance(const char *a, const char *b) {
  enum { LONGEST = 48 };
  size_t rows = strlen(a), columns = strlen(b);
  if (rows > LONGEST || columns > LONGEST) return SIZE_MAX;
  size_t table[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= rows; i++) table[i][0] = i;
  for (size_t j = 0; j <= columns; j++) table[0][j] = j;
  for (size_t i = 1; i <= rows; i++) {
    for (size_t j = 1; j <= columns; j++) {
      size_t best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      best = least_of(best, least_of(table[i - 1][j], table[i][j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = least_of(best, table[i - 2][j - 2] + 1);
      table[i][j] = best;
    }
  }
  return table[rows][columns];
}

const char *options_suggest(const char *word, const char *const *candidates, size_t count) {
  const char *best = NULL;
  size_t least = strlen(word) / 3 + 2;
  for (size_t i = 0; i < count; i++) {
    size_t d = strcasecmp(word, candidates[i]) == 0 ? 0 : distance(word, candidates[i]);
    if (d >= least || d >= strlen(candidates[i])) continue;
    best = candidates[i];
    least = d;
  }
  return best;
}

command_id options_find_command(const char *name) {
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(command_rows[i].name, name) == 0) return (command_id)i;
  return COMMAND_COUNT;
}

static const option_row *find_long(command_id command, const char *name, size_t bytes) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const option_row *row = &option_rows[i];
    if (options_takes(row, command) && strlen(row->name) == bytes && memcmp(row->name, name, bytes) == 0) return row;
  }
  return NULL;
}

static const option_row *find_letter(command_id command, char letter) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (options_takes(&option_rows[i], command) && option_rows[i].letter == letter) return &option_rows[i];
  return NULL;
}

static void complain_unknown(command_id command, const char *word) {
  const char *candidates[MAX_CANDIDATES];
  size_t count = 0;
  for (size_t i = 0; i < OPTION_COUNT && count < MAX_CANDIDATES; i++)
    if (options_takes(&option_rows[i], command)) candidates[count++] = option_rows[i].name;
  char name[64];
  size_t bytes = least_of(strcspn(word, "="), sizeof name - 1);
  memcpy(name, word, bytes);
  name[bytes] = '\0';
  const char *guess = options_suggest(name + strspn(name, "-"), candidates, count);
  const char *own = command_rows[command].name;
  if (guess) {
    output_complain("%s: there is no option %s. Fix: did you mean --%s?", own, name, guess);
  } else {
    output_complain("%s: there is no option %s. Fix: `vyre %s --help` lists them.", own, name, own);
  }
}

/* True if an earlier value of the same option stands in the way of this one. */
static bool is_repeated(const parsed_options *o, const option_row *row, const char *text) {
  if (row->repeat == REPEAT_MANY) return false;
  for (size_t i = 0; i < o->value_count; i++) {
    if (o->values[i].row != row) continue;
    if (row->repeat == REPEAT_ONCE) return true;
    size_t bytes = strcspn(text, "=");
    if (strcspn(o->values[i].text, "=") == bytes && memcmp(o->values[i].text, text, bytes) == 0) return true;
  }
  return false;
}

static bool add_value(parsed_options *o, const option_row *row, const char *text) {
  const char *own = command_rows[o->command].name;
  if (row->repeat == REPEAT_NAMED) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
      output_complain("%s: --%s wants %s, but found '%s'. Fix: write --%s %s.", own, row->name, row->argument, text,
                      row->name, row->argument);
      return false;
    }
  }
  if (is_repeated(o, row, text)) {
    if (row->repeat == REPEAT_NAMED) {
      output_complain("%s: --%s is given twice for %.*s. Fix: keep one of them.", own, row->name,
                      (int)strcspn(text, "="), text);
    } else {
      output_complain("%s: --%s is given twice. Fix: keep one of them.", own, row->name);
    }
    return false;
  }
  o->values[o->value_count++] = (option_value){row, text};
  return true;
}

/* One word that starts with a dash, and the word after it if that is its argument. */
static bool parse_option(parsed_options *o, int count, char **words, int *at) {
  const char *word = words[*at];
  const char *own = command_rows[o->command].name;
  const option_row *row;
  const char *text = NULL; /* the argument, if it is in the same word */
  if (word[1] == '-') {
    size_t bytes = strcspn(word + 2, "=");
    row = find_long(o->command, word + 2, bytes);
    if (word[2 + bytes] == '=') text = word + 2 + bytes + 1;
  } else {
    row = find_letter(o->command, word[1]);
    if (word[2]) text = word + 2;
  }
  if (!row) {
    complain_unknown(o->command, word);
    return false;
  }
  if (!row->argument) {
    if (text) {
      output_complain("%s: --%s takes no argument, but found '%s'. Fix: remove it.", own, row->name, text);
      return false;
    }
    return add_value(o, row, NULL);
  }
  if (!text) {
    if (*at + 1 >= count) {
      output_complain("%s: --%s wants an argument %s. Fix: give it.", own, row->name, row->argument);
      return false;
    }
    text = words[++*at];
  }
  return add_value(o, row, text);
}

static bool check_operands(const parsed_options *o) {
  const command_row *row = &command_rows[o->command];
  if (options_has(o, OPT_SHOW_HELP)) return true;
  if (o->operand_count < row->least) {
    output_complain("%s: %s is missing. Fix: write `vyre %s %s`.", row->name, row->operands, row->name, row->operands);
    return false;
  }
  size_t most = row->most || !row->least ? row->most : SIZE_MAX;
  if (o->operand_count > most) {
    output_complain("%s: '%s' is one operand too many. Fix: write `vyre %s%s%s`.", row->name, o->operands[most],
                    row->name, row->operands[0] ? " " : "", row->operands);
    return false;
  }
  return true;
}

bool options_parse(command_id command, int count, char **words, parsed_options *out) {
  *out = (parsed_options){.command = command};
  size_t room = (size_t)count + 1;
  out->values = calloc(room, sizeof *out->values);
  out->operands = calloc(room, sizeof *out->operands);
  if (!out->values || !out->operands) {
    output_complain("memory is exhausted");
    return false;
  }
  bool options_end = false;
  for (int i = 0; i < count; i++) {
    const char *word = words[i];
    if (!options_end && strcmp(word, "--") == 0) {
      options_end = true;
    } else if (!options_end && word[0] == '-' && word[1]) {
      if (!parse_option(out, count, words, &i)) return false;
    } else {
      out->operands[out->operand_count++] = word;
    }
  }
  return check_operands(out);
}

bool options_wants_json(command_id command, int count, char **words) {
  if (!options_takes(&option_rows[OPT_JSON], command)) return false;
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
    if (strcmp(words[i], "--json") == 0) return true;
  return false;
}

void options_free(parsed_options *o) {
  free(o->values);
  free(o->operands);
  *o = (parsed_options){.command = COMMAND_COUNT};
}

const char *options_get(const parsed_options *o, option_id id) {
  for (size_t i = 0; i < o->value_count; i++)
    if (o->values[i].row->id == id) return o->values[i].text ? o->values[i].text : o->values[i].row->name;
  return NULL;
}

bool options_has(const parsed_options *o, option_id id) {
  return options_get(o, id) != NULL;
}

bool options_next(const parsed_options *o, option_id id, size_t *at, char name[OPTION_NAME_ROOM], const char **value) {
  for (; *at < o->value_count; (*at)++) {
    const option_value *v = &o->values[*at];
    if (v->row->id != id) continue;
    size_t bytes = strcspn(v->text, "=");
    *value = v->text + bytes + 1;
    bytes = least_of(bytes, OPTION_NAME_ROOM - 1);
    memcpy(name, v->text, bytes);
    name[bytes] = '\0';
    (*at)++;
    return true;
  }
  return false;
}

/* Prints |text| from |column| on, in lines that begin at |indent|. */
static void print_wrapped(FILE *file, const char *text, int column, int indent) {
  while (*text) {
    int bytes = (int)strcspn(text, " ");
    if (column > indent && column + 1 + bytes > HELP_WIDTH) {
      fprintf(file, "\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      fputc(' ', file);
      column++;
    }
    fprintf(file, "%.*s", bytes, text);
    column += bytes;
    text += bytes;
    text += strspn(text, " ");
  }
  fputc('\n', file);
}

static void print_option(FILE *file, const option_row *row) {
  int column =
      row->letter ? fprintf(file, "  -%c, --%s", row->letter, row->name) : fprintf(file, "      --%s", row->name);
  if (row->argument) column += fprintf(file, " %s", row->argument);
  if (column >= HELP_COLUMN - 1) {
    fputc('\n', file);
    column = 0;
  }
  fprintf(file, "%*s", HELP_COLUMN - column, "");
  print_wrapped(file, row->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_form(FILE *file, const char *spelling, const char *help) {
  fprintf(file, "      %-*s", HELP_COLUMN - 6, spelling);
  print_wrapped(file, help, HELP_COLUMN, HELP_COLUMN);
}

static void print_forms(FILE *file) {
  fputs("\nSRC is one of:\n", file);
#define SOURCE(spelling, help) print_form(file, spelling, help);
#include "forms.def"
  fputs("\nDST is one of:\n", file);
#define DESTINATION(spelling, help) print_form(file, spelling, help);
#include "forms.def"
}

void options_print_help(FILE *file) {
  fputs("Usage: vyre COMMAND [argument]...\n\nRuns, checks and converts vyre programs.\n\nCommands:\n", file);
  for (size_t i = 0; i < COMMAND_COUNT; i++) fprintf(file, "  %-10s%s\n", command_rows[i].name, command_rows[i].gist);
  fputs("\n`vyre COMMAND --help` tells more; `vyre --version` names the version.\n"
        "Exit status: 0 done, 1 the job failed, 2 wrong usage or bad input.\n",
        file);
}

void options_print_command_help(FILE *file, command_id command) {
  const command_row *row = &command_rows[command];
  fprintf(file, "Usage: vyre %s%s%s [option]...\n\n", row->name, row->operands[0] ? " " : "", row->operands);
  print_wrapped(file, row->text, 0, 0);
  fputs("\nOptions:\n", file);
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (options_takes(&option_rows[i], command)) print_option(file, &option_rows[i]);
  if (command == COMMAND_RUN) print_forms(file);
}
