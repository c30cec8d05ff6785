/* Writes what people read about settings from the table: etc/vyre.ini, docs/config.md and the manual page vyre.ini(5).
 * `make config-docs` runs it; a test says when one of the three is stale. */
#include <stdio.h>
#include <string.h>

#include "base/config.h"

enum { WIDTH = 110 };

static const char *const how_it_works[] = {
  "A setting has the value of the first of these that gives one: the command line or call, the environment, "
  "the file, the default. `vyre_config_get` says which of them it was.",
  "The file is the first that there is of: the one that `--config` or the call names; the one that the variable "
  "`VYRE_CONFIG` names (if it is empty, no file is read); `$XDG_CONFIG_HOME/vyre/vyre.ini`, or "
  "`~/.config/vyre/vyre.ini` where that variable is not set; `vyre/vyre.ini` in the installation's directory for "
  "configuration: of the installation that libvyre lies in, which may have been moved, if that directory belongs to "
  "its prefix, then as it was configured. Only one file is read. A named file that is not there is an error; one of the others that may not "
  "be read is passed over with a warning.",
  "A process with more rights than its user (set-user-ID, file capabilities) ignores the environment and says so once.",
  "The file is UTF-8 text of at most 1 MiB without control characters; a byte order mark and CR LF are allowed. A line "
  "is `[section]`, `key = value`, or a comment that starts with `#` or `;`. After a value, a `;` behind a space starts "
  "a comment. A line but for a comment takes at most 198 bytes; a longer one is an error, never cut. "
  "Spaces at the start of a line do not count. A list may be given in several lines with the same key. Any other key "
  "that is given twice has its last value, "
  "with a warning. A key or section that does not exist is a warning with the name that may have been meant; a value "
  "that does not fit is an error. A key without a value is unset, where that is possible.",
  "An environment variable that is empty counts as not set. A value of type path list that begins with `+` stands "
  "before the list of the next source instead of in place of it.",
  "Settings of a plugin from elsewhere stand below `[backend NAME]`, NAME being the backend's name, or in the "
  "environment as `VYRE_BACKEND_NAME_KEY` in capitals, which wins. What they are the plugin's manual says; they are "
  "handed to it as they are written, so a size is a number of bytes there unless that manual says otherwise. Backends "
  "that have a section of their own below take no such section. A file may have 256 such keys.",
};

static void write_wrapped(FILE *out, const char *prefix, const char *text) {
  size_t column = 0;
  while (*text != 0) {
    size_t word = strcspn(text, " ");
    if (column > 0 && column + 1 + word > WIDTH) {
      fputc('\n', out);
      column = 0;
    }
    column += (size_t)fprintf(out, "%s%.*s", column == 0 ? prefix : " ", (int)word, text);
    text += word;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

static void write_ini(FILE *out) {
  fputs("# Settings of vyre. Each line that is commented out shows the default: remove its # and change it.\n"
        "# docs/config.md and vyre.ini(5) say how this file is found and what may stand in it.\n"
        "# Generated from libvyre/include/vyre/config_keys.def by `make config-docs`.\n", out);
  const vyre_config_section *section;
  for (uint32_t s = 0; (section = vyre_config_section_at(s)) != NULL; s++) {
    fputs("\n", out);
    write_wrapped(out, "# ", section->help);
    fprintf(out, "[%s]\n", section->name);
    for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
      const vyre_config_key_info *info = vyre_config_describe(key);
      if (strcmp(info->section, section->name) != 0) continue;
      char wanted[128];
      vyre_config_wanted(info, wanted, sizeof wanted);
      fputs("\n", out);
      write_wrapped(out, "# ", info->help);
      fprintf(out, "# Takes %s. Environment: %s.\n", wanted, info->environment);
      fprintf(out, "#%s =%s%s\n", info->name, info->default_text[0] != 0 ? " " : "", info->default_text);
    }
  }
  fputs("\n# Settings of a plugin that is not listed here, as its manual has them. Environment: VYRE_BACKEND_NAME_KEY.\n"
        "# [backend NAME]\n# key = value\n", out);
}

static void write_markdown_keys(FILE *out, const char *section) {
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const vyre_config_key_info *info = vyre_config_describe(key);
    if (strcmp(info->section, section) != 0) continue;
    char wanted[128];
    vyre_config_wanted(info, wanted, sizeof wanted);
    fprintf(out, "\n### `%s`\n\n", info->name);
    write_wrapped(out, "", info->help);
    fprintf(out, "\n- Takes %s.\n- Default: ", wanted);
    fprintf(out, info->default_text[0] != 0 ? "`%s`" : "unset%s", info->default_text);
    fprintf(out, ".\n- Environment: `%s`.\n- Since %s.\n", info->environment, info->since);
  }
}

static void write_markdown(FILE *out) {
  fputs("# Settings\n\n"
        "<!-- Generated from libvyre/include/vyre/config_keys.def by `make config-docs`. -->\n", out);
  for (size_t i = 0; i < sizeof how_it_works / sizeof *how_it_works; i++) {
    fputc('\n', out);
    write_wrapped(out, "", how_it_works[i]);
  }
  const vyre_config_section *section;
  for (uint32_t s = 0; (section = vyre_config_section_at(s)) != NULL; s++) {
    fprintf(out, "\n## `[%s]`\n\n", section->name);
    write_wrapped(out, "", section->help);
    write_markdown_keys(out, section->name);
  }
}

/* A paragraph of roff: code between ` becomes bold, and nothing is taken for a request. */
static void write_roff(FILE *out, const char *text) {
  bool bold = false;
  for (; *text != 0; text++) {
    if (*text == '`') {
      bold = !bold;
      fputs(bold ? "\\fB" : "\\fR", out);
    } else if (*text == '\\') {
      fputs("\\e", out);
    } else if (*text == '-') {
      fputs("\\-", out);
    } else {
      fputc(*text, out);
    }
  }
  fputc('\n', out);
}

static void write_manual_keys(FILE *out, const char *section) {
  for (uint32_t key = 0; key < VYRE_CONFIG_KEY_COUNT; key++) {
    const vyre_config_key_info *info = vyre_config_describe(key);
    if (strcmp(info->section, section) != 0) continue;
    char wanted[128];
    vyre_config_wanted(info, wanted, sizeof wanted);
    fprintf(out, ".TP\n.B %s\n", info->name);
    write_roff(out, info->help);
    fprintf(out, "Takes %s. Default: %s. Environment: \\fB%s\\fR.\n", wanted,
            info->default_text[0] != 0 ? info->default_text : "unset", info->environment);
  }
}

static void write_manual(FILE *out) {
  fputs(".\\\" Generated from libvyre/include/vyre/config_keys.def by `make config\\-docs`.\n"
        ".TH VYRE.INI 5 \"\" vyre \"File formats\"\n.SH NAME\nvyre.ini \\- settings of vyre\n.SH DESCRIPTION\n", out);
  for (size_t i = 0; i < sizeof how_it_works / sizeof *how_it_works; i++) {
    if (i > 0) fputs(".PP\n", out);
    write_roff(out, how_it_works[i]);
  }
  const vyre_config_section *section;
  for (uint32_t s = 0; (section = vyre_config_section_at(s)) != NULL; s++) {
    fprintf(out, ".SH [%s]\n", section->name);
    write_roff(out, section->help);
    write_manual_keys(out, section->name);
  }
  fputs(".SH SEE ALSO\n.BR vyre (1)\n", out);
}

int main(int argc, char **argv) {
  const char *what = argc == 2 ? argv[1] : "";
  if (strcmp(what, "ini") == 0) write_ini(stdout);
  else if (strcmp(what, "markdown") == 0) write_markdown(stdout);
  else if (strcmp(what, "man") == 0) write_manual(stdout);
  else return fputs("usage: config_dump ini|markdown|man\n", stderr), 2;
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
