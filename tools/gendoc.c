/* Writes what is installed beside the command and says the same as its --help: the manual page and the completions
 * of bash, zsh and fish. It runs at build time, as `gendoc man|bash|zsh|fish`, and links nothing of vyre. */
#include <config.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

/* ---- Manual page --------------------------------------------------------------------------- */

#define MAN_WIDTH 78

/* A word as troff takes it: no escapes, no requests, every dash a dash that can be copied. Gives its columns. */
static int roff_word(const char *text, size_t bytes) {
  int columns = 0;
  if (*text == '.' || *text == '\'') columns += printf("\\&");
  for (size_t i = 0; i < bytes; i++) {
    switch (text[i]) {
    case '\\':
      columns += printf("\\e");
      break;
    case '-':
      columns += printf("\\-");
      break;
    case '`':
      columns += printf("\\(ga");
      break;
    case '~':
      columns += printf("\\(ti");
      break;
    case '^':
      columns += printf("\\(ha");
      break;
    default:
      putchar(text[i]);
      columns++;
    }
  }
  return columns;
}

static void roff(const char *text) {
  roff_word(text, strlen(text));
}

/* Lines of words. */
static void paragraph(const char *text) {
  int column = 0;
  while (*text) {
    size_t bytes = strcspn(text, " ");
    if (column > 0) {
      bool fits = column + 1 + (int)bytes <= MAN_WIDTH;
      putchar(fits ? ' ' : '\n');
      column = fits ? column + 1 : 0;
    }
    column += roff_word(text, bytes);
    text += bytes;
    text += strspn(text, " ");
  }
  putchar('\n');
}

/* A line by itself. */
static void whole_line(const char *text) {
  roff(text);
  putchar('\n');
}

static void section(const char *name) {
  printf(".SH %s\n", name);
}

static void tagged(const char *tag, const char *help) {
  fputs(".TP\n.B ", stdout);
  whole_line(tag);
  paragraph(help);
}

static void man_option(const option_row *row) {
  fputs(".TP\n.B ", stdout);
  if (row->letter) printf("\\-%c, ", row->letter);
  fputs("\\-\\-", stdout);
  roff(row->name);
  if (row->argument) {
    fputs(" \\fI", stdout);
    roff(row->argument);
    fputs("\\fR", stdout);
  }
  putchar('\n');
  paragraph(row->help);
}

static void man_synopsis(void) {
  section("SYNOPSIS");
  for (int c = 0; c < COMMAND_COUNT; c++) {
    if (c) puts(".br");
    printf(".B vyre %s\n", command_rows[c].name);
    if (command_rows[c].operands[0]) {
      fputs(".I ", stdout);
      whole_line(command_rows[c].operands);
    }
    if (c != COMMAND_HELP) puts("[\\fIoption\\fR]...");
  }
}

static void man_commands(void) {
  section("COMMANDS");
  for (int c = 0; c < COMMAND_COUNT; c++) {
    printf(".SS \"vyre %s\"\n", command_rows[c].name);
    paragraph(command_rows[c].text);
    for (int i = 0; i < OPTION_COUNT; i++)
      if (options_takes(&option_rows[i], (command_id)c)) man_option(&option_rows[i]);
  }
}

static void man_forms(void) {
  section("SOURCES");
  puts("What fills a buffer: the\n.I SRC\nof\n.BR \\-\\-in .");
#define SOURCE(spelling, help) tagged(spelling, help);
#include "forms.def"
  section("DESTINATIONS");
  puts("Where a buffer goes: the\n.I DST\nof\n.BR \\-\\-out .");
#define DESTINATION(spelling, help) tagged(spelling, help);
#include "forms.def"
  puts(".PP");
  paragraph(
      "Files are written beside their places and renamed when the whole run has succeeded: a failed run leaves them "
      "as they were. Data goes to standard output; messages, and what a program prints, go to standard error.");
}

static void man_exit_status(void) {
  section("EXIT STATUS");
  tagged("0", "Done.");
  tagged(
      "1",
      "The job failed: the program is not valid, a binding is missing or has the wrong size, the backend is missing or "
      "refuses, the program trapped, results differ, time ran out, or output could not be written.");
  tagged("2", "The command line is not understood, or a file can not be read or is malformed.");
}

static void man_key(const char *section_name, const char *name, const char *fallback, const char *environment,
                    const char *help) {
  fputs(".TP\n.B ", stdout);
  for (const char *c = section_name; *c; c++) putchar(tolower((unsigned char)*c));
  printf(".%s", name);
  fputs("\\fR (", stdout);
  if (fallback[0]) {
    fputs("default ", stdout);
    roff(fallback);
  } else {
    fputs("unset", stdout);
  }
  printf("; environment %s)\n", environment);
  paragraph(help);
}

static void man_settings(void) {
  section("SETTINGS");
  paragraph(
      "A setting has the value of the first of these that gives one: the command line, the environment, the file, "
      "the default. The file is the one of --config, else the one that the variable VYRE_CONFIG names, else "
      "vyre/vyre.ini in $XDG_CONFIG_HOME or ~/.config, else that of the installation. Its sections are in brackets, "
      "its keys are written name = value.");
#define SECTION(id, name, help)
#define KEY(group, id, name, type, low, high, choices, default_text, environment, since, help)                         \
  man_key(#group, name, default_text, environment, help);
#include <vyre/config_keys.def>
}

static void man_examples(void) {
  section("EXAMPLES");
  puts("Run a program on values from the command line:\n.PP\n.EX\n"
       "$ vyre run saxpy.vyre \\-\\-set a=2 \\-\\-in x=1,2,3,4 \\-\\-in y=10,20,30,40 \\-\\-out y=\\-\n12 24 36 "
       "48\n.EE\n.PP\n"
       "Run it on files, and compare with the reference interpreter:\n.PP\n.EX\n"
       "$ vyre run saxpy.vyre \\-\\-set a=2 \\-\\-in x=@x.npy \\-\\-in y=@y.npy \\-\\-out y=@z.npy \\-\\-verify\n.EE");
}

static void write_man(void) {
  puts(".\\\" Generated from tools/options.def; change that.\n.TH VYRE 1 \"\" \"" PACKAGE_STRING
       "\" \"User Commands\"");
  section("NAME");
  puts("vyre \\- run and check data\\-parallel programs");
  man_synopsis();
  section("DESCRIPTION");
  paragraph(
      "A vyre program is written once, as text or through the C library, and runs with the same results on every "
      "backend that is installed. This command runs such programs on data from files or the command line, checks and "
      "formats them, and shows which backends there are.");
  puts(".PP");
  paragraph("A program is the name of a file with text or wire form, or - for standard input. Words after -- are no "
            "options.");
  man_commands();
  man_forms();
  man_exit_status();
  man_settings();
  man_examples();
}

/* ---- Completions --------------------------------------------------------------------------- */

static bool is_path(const option_row *row) {
  return strcmp(row->complete, COMPLETE_FILE) == 0 || strcmp(row->complete, COMPLETE_DIRECTORY) == 0;
}

static bool has_words(const option_row *row) {
  return row->complete[0] && !is_path(row);
}

static void command_names(void) {
  for (int c = 0; c < COMMAND_COUNT; c++) printf("%s%s", c ? " " : "", command_rows[c].name);
}

static const char *bash_action(const option_row *row) {
  if (strcmp(row->complete, COMPLETE_DIRECTORY) == 0) return "directories";
  if (row->repeat == REPEAT_NAMED && is_path(row)) return "data";
  return is_path(row) ? "files" : "words";
}

static void bash_argument(command_id c, const option_row *row) {
  if (!row->argument) return;
  printf("    %s:--%s", command_rows[c].name, row->name);
  if (row->letter) printf("|%s:-%c", command_rows[c].name, row->letter);
  printf(") __vyre_%s", bash_action(row));
  if (has_words(row)) printf(" %s", row->complete);
  puts(" ;;");
}

static void bash_options(command_id c) {
  printf("    %s) __vyre_words", command_rows[c].name);
  for (int i = 0; i < OPTION_COUNT; i++)
    if (options_takes(&option_rows[i], c)) printf(" --%s", option_rows[i].name);
  puts(" ;;");
}

static const char bash_head[] =
    "# Completion of vyre for bash. Generated from tools/options.def.\n\n"
    "# bash replaces only what stands behind the last of $COMP_WORDBREAKS, which = usually is, or from an @ or $ on\n"
    "# that is one of them. So words are taken from the line as it is, and what bash keeps is cut off each answer:\n"
    "#   $head$value is the word as it was typed, $value what is to be completed, $kept what bash keeps of it.\n"
    "__vyre_reply() {\n"
    "  local word=$head$value kept answer i\n"
    "  for ((i = ${#word}; i > 0; i--)); do [[ $COMP_WORDBREAKS == *\"${word:i-1:1}\"* ]] && break; done\n"
    "  ((i > 0)) && [[ ${word:i-1:1} == [@$] ]] && ((i--))\n"
    "  kept=${word:0:i}\n"
    "  while IFS= read -r answer; do\n"
    "    [[ $1 == data ]] && printf -v answer %q \"$answer\"\n"
    "    [[ $1 == data && -d ${answer/#\\~/$HOME} ]] && answer+=/\n"
    "    answer=$head$answer\n"
    "    COMPREPLY+=(\"${answer#\"$kept\"}\")\n"
    "  done\n"
    "  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace\n"
    "}\n\n"
    "__vyre_words() { __vyre_reply < <(compgen -W \"$*\" -- \"$value\"); }\n"
    "__vyre_files() { compopt -o filenames; __vyre_reply < <(compgen -f -- \"$value\"); }\n"
    "__vyre_directories() { compopt -o filenames; __vyre_reply < <(compgen -d -- \"$value\"); }\n\n"
    "# BUFFER=@FILE: what is behind the @ is a file's name, which bash does not know.\n"
    "__vyre_data() {\n"
    "  [[ $value == *=@* ]] || return\n"
    "  head=$head${value%%=@*}=@ value=${value#*=@}\n"
    "  __vyre_reply data < <(compgen -f -- \"$value\")\n"
    "}\n\n"
    "_vyre() {\n"
    "  local line=${COMP_LINE:0:COMP_POINT} head= value option words\n"
    "  read -ra words <<<\"$line\"\n"
    "  [[ $line == *[[:space:]] ]] && words+=('')\n"
    "  local last=$((${#words[@]} - 1))\n"
    "  value=${words[last]} option=${words[last-1]}\n"
    "  COMPREPLY=()\n"
    "  if ((last == 1)); then\n"
    "    __vyre_words";

static void write_bash(void) {
  fputs(bash_head, stdout);
  for (int c = 0; c < COMMAND_COUNT; c++) printf(" %s", command_rows[c].name);
  puts(" --help --version\n    return\n  fi\n"
       "  [[ $value == --*=* ]] && head=${value%%=*}= option=${value%%=*} value=${value#*=}\n"
       "  case ${words[1]}:$option in");
  for (int c = 0; c < COMMAND_COUNT; c++)
    for (int i = 0; i < OPTION_COUNT; i++)
      if (options_takes(&option_rows[i], (command_id)c)) bash_argument((command_id)c, &option_rows[i]);
  puts("    *) __vyre_operand ;;\n  esac\n}\n");
  puts("# No argument of an option: an option, or an operand.\n__vyre_operand() {\n"
       "  [[ -n $head ]] && return\n"
       "  if [[ $value != -* && ${words[1]} != help ]]; then\n    __vyre_files\n    return\n  fi\n"
       "  case ${words[1]} in");
  for (int c = 0; c < COMMAND_COUNT; c++)
    if (c != COMMAND_HELP) bash_options((command_id)c);
  fputs("    help) __vyre_words --help", stdout);
  for (int c = 0; c < COMMAND_COUNT; c++) printf(" %s", command_rows[c].name);
  puts(" ;;\n  esac\n}\n\ncomplete -F _vyre vyre");
}

/* The first sentence of a help text, without what means something between the quotes of zsh and fish. */
static void short_help(const char *help, const char *escaped) {
  for (const char *c = help; *c; c++) {
    bool ends = *c == '.' && (c[1] == '\0' || (c[1] == ' ' && isupper((unsigned char)c[2])));
    if (ends) return;
    if (strchr(escaped, *c)) putchar('\\');
    putchar(*c == '\'' ? '"' : *c);
  }
}

static void zsh_option(const option_row *row) {
  const char *prefix = row->repeat == REPEAT_ONCE ? "" : "*";
  fputs("        '", stdout);
  if (row->letter && row->argument) {
    printf("(-%c --%s)'{-%c+,--%s=}'[", row->letter, row->name, row->letter, row->name);
  } else if (row->letter) {
    printf("(-%c --%s)'{-%c,--%s}'[", row->letter, row->name, row->letter, row->name);
  } else {
    printf("%s--%s%s[", prefix, row->name, row->argument ? "=" : "");
  }
  short_help(row->help, "[]\\:");
  putchar(']');
  if (row->argument) {
    putchar(':');
    for (const char *c = row->argument; *c; c++) putchar(isalpha((unsigned char)*c) ? tolower((unsigned char)*c) : ' ');
    putchar(':');
    if (strcmp(row->complete, COMPLETE_DIRECTORY) == 0) {
      fputs("_files -/", stdout);
    } else if (row->repeat == REPEAT_NAMED && is_path(row)) {
      fputs("_vyre_data", stdout);
    } else if (is_path(row)) {
      fputs("_files", stdout);
    } else if (has_words(row)) {
      printf("(%s)", row->complete);
    }
  }
  puts("' \\");
}

static void write_zsh(void) {
  puts("#compdef vyre\n# Completion of vyre for zsh. Generated from tools/options.def.\n\n"
       "# BUFFER=@FILE: what is behind the @ is a file's name.\n"
       "_vyre_data() { compset -P '*=@' && _files; }\n\n_vyre() {\n"
       "  local -a commands\n  commands=(");
  for (int c = 0; c < COMMAND_COUNT; c++) printf("    '%s:%s'\n", command_rows[c].name, command_rows[c].gist);
  puts("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
       "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in");
  for (int c = 0; c < COMMAND_COUNT; c++) {
    printf("    %s)\n      _arguments -s -S \\\n", command_rows[c].name);
    for (int i = 0; i < OPTION_COUNT; i++)
      if (options_takes(&option_rows[i], (command_id)c)) zsh_option(&option_rows[i]);
    if (c == COMMAND_HELP) {
      fputs("        '1:command:(", stdout);
      command_names();
      puts(")'");
    } else {
      puts(command_rows[c].operands[0] ? "        '*:file:_files'" : "        && return");
    }
    puts("      ;;");
  }
  puts("  esac\n}\n\n_vyre \"$@\"");
}

static void fish_option(command_id c, const option_row *row) {
  printf("complete -c vyre -n '__fish_seen_subcommand_from %s' -l %s", command_rows[c].name, row->name);
  if (row->letter) printf(" -s %c", row->letter);
  bool is_data = row->repeat == REPEAT_NAMED && is_path(row);
  if (row->argument) fputs(is_path(row) && !is_data ? " -r -F" : " -x", stdout);
  if (is_data) fputs(" -a '(__vyre_data)'", stdout);
  if (has_words(row)) printf(" -a '%s'", row->complete);
  fputs(" -d '", stdout);
  short_help(row->help, "\\");
  puts("'");
}

static void write_fish(void) {
  puts("# Completion of vyre for fish. Generated from tools/options.def.\n\n"
       "# BUFFER=@FILE: what is behind the @ is a file's name.\n"
       "function __vyre_data\n"
       "  set -l value (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))\n"
       "  set -l parts (string match -r '^([^=]*=@)(.*)$' -- $value); or return\n"
       "  for file in $parts[3]*\n"
       "    test -d $file; and set file $file/\n"
       "    echo $parts[2]$file\n"
       "  end\n"
       "end\n\n"
       "complete -c vyre -n __fish_use_subcommand -f -l help -d 'Show help'\n"
       "complete -c vyre -n __fish_use_subcommand -f -l version -d 'Name the version'");
  for (int c = 0; c < COMMAND_COUNT; c++)
    printf("complete -c vyre -n __fish_use_subcommand -f -a %s -d '%s'\n", command_rows[c].name, command_rows[c].gist);
  for (int c = 0; c < COMMAND_COUNT; c++) {
    bool takes_files = command_rows[c].operands[0] && c != COMMAND_HELP;
    if (!takes_files) printf("complete -c vyre -n '__fish_seen_subcommand_from %s' -f\n", command_rows[c].name);
    for (int i = 0; i < OPTION_COUNT; i++)
      if (options_takes(&option_rows[i], (command_id)c)) fish_option((command_id)c, &option_rows[i]);
  }
  fputs("complete -c vyre -n '__fish_seen_subcommand_from help' -a '", stdout);
  command_names();
  puts("'");
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*write)(void);
  } forms[] = {{"man", write_man}, {"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
  for (size_t i = 0; argc == 2 && i < sizeof forms / sizeof forms[0]; i++) {
    if (strcmp(argv[1], forms[i].name) != 0) continue;
    forms[i].write();
    return fflush(stdout) == 0 ? 0 : 1;
  }
  fputs("usage: gendoc man|bash|zsh|fish\n", stderr);
  return 2;
}
