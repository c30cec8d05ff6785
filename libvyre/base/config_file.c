/* Finding vyre.ini, reading it whole, and taking it line by line through inih.
 *
 * inih has a line limit that it does not report, joins indented lines to the value before, and passes over what
 * follows a section's name. So it gets its lines from here, where all three are refused or prevented. */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "base/self.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/writer.h"

typedef struct reading {
  vyre_config *config;
  vyre_error *error;
  const char *path, *text;
  size_t bytes, at;
  uint32_t line;
  vyre_status status; /* once not OK, the rest is passed over */
} reading;

/* ---- Lines ---- */

__attribute__((format(printf, 3, 4))) static void refuse(reading *r, vyre_status status, const char *format, ...) {
  char where[VYRE_ERROR_WHERE_BYTES], text[VYRE_ERROR_TEXT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  snprintf(where, sizeof where, "%s:%u", r->path, r->line);
  r->status = vyre_fail(r->error, status, where, "%s", text);
}

/* The first byte that no text file has; the text's end if there is none. */
static size_t find_bad_byte(const char *text, size_t bytes) {
  size_t end = vyre_utf8_fault(text, bytes);
  for (size_t i = 0; i < end; i++) {
    unsigned char c = (unsigned char)text[i];
    bool line_end = c == '\n' || (c == '\r' && i + 1 < bytes && text[i + 1] == '\n');
    if ((c < 0x20 && c != '\t' && !line_end) || c == 0x7F) return i;
  }
  return end;
}

static bool check_bytes(reading *r) {
  size_t bad = find_bad_byte(r->text, r->bytes);
  if (bad == r->bytes) return true;
  r->line = 1;
  for (size_t i = 0; i < bad; i++) r->line += r->text[i] == '\n';
  refuse(r, VYRE_ERR_INVALID_CONFIG,
         "A settings file is UTF-8 text without control characters, and byte %zu is 0x%02X. "
         "Fix: save the file as UTF-8 text.",
         bad, (unsigned char)r->text[bad]);
  return false;
}

/* Behind a section's name only a comment may follow. */
static bool is_plain_section(const char *line, size_t bytes) {
  const char *close = memchr(line, ']', bytes);
  if (bytes == 0 || line[0] != '[' || close == NULL) return true;
  const char *end = line + bytes, *p = close + 1;
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  return p == end || *p == ';' || *p == '#';
}

/* A reader as inih wants it: one line with its LF in at most |capacity| bytes, NULL at the end. */
static char *next_line(char *out, int capacity, void *context) {
  reading *r = context;
  if (r->status != VYRE_OK || r->at == r->bytes) return NULL;
  const char *line = r->text + r->at, *end = memchr(line, '\n', r->bytes - r->at);
  if (end == NULL) end = r->text + r->bytes;
  r->at = (size_t)(end - r->text) + (end < r->text + r->bytes);
  r->line++;
  while (line < end && (*line == ' ' || *line == '\t')) line++;
  if (end > line && end[-1] == '\r') end--;
  size_t bytes = (size_t)(end - line);
  bool comment = bytes > 0 && (line[0] == ';' || line[0] == '#');
  if (comment) bytes = 1;
  if (bytes + 2 > (size_t)capacity) {
    refuse(r, VYRE_ERR_LIMIT, "The line has %zu bytes, and at most %d can be read. Fix: give a list in several lines "
           "that begin with the same key, or use the environment variable.", bytes, capacity - 2);
    return NULL;
  }
  if (!is_plain_section(line, bytes)) {
    refuse(r, VYRE_ERR_INVALID_CONFIG, "Something follows a section's name. Fix: put it on a line of its own.");
    return NULL;
  }
  memcpy(out, line, bytes);
  memcpy(out + bytes, "\n", 2);
  return out;
}

/* ---- Keys ---- */

static bool is_section(const char *name) {
  const vyre_config_section *row;
  for (uint32_t i = 0; (row = vyre_config_section_at(i)) != NULL; i++)
    if (strcmp(row->name, name) == 0) return true;
  return false;
}

static bool warn_unknown_section(reading *r, const char *section) {
  vyre_suggestion s = vyre_suggest(section);
  const vyre_config_section *row;
  for (uint32_t i = 0; (row = vyre_config_section_at(i)) != NULL; i++) vyre_suggest_offer(&s, row->name);
  if (s.best != NULL)
    return vyre_config_warn(r->config, "%s:%u: there is no section [%s]. Fix: did you mean [%s]?", r->path, r->line,
                            section, s.best);
  if (vyre_config_is_backend(section))
    return vyre_config_warn(r->config, "%s:%u: there is no section [%s]. Fix: remove it, or write [backend %s] for "
                            "settings of a plugin; docs/config.md lists the others.",
                            r->path, r->line, section, section);
  return vyre_config_warn(r->config, "%s:%u: there is no section [%s]. Fix: remove it; docs/config.md lists them all.",
                          r->path, r->line, section);
}

/* A plugin's own settings; those of one that the table knows have their place there. */
static bool take_backend_key(reading *r, const char *backend, const char *name, const char *value) {
  if (is_section(backend))
    return vyre_config_warn(r->config, "%s:%u: the settings of %s are known. Fix: move `%s` into [%s].", r->path,
                            r->line, backend, name, backend);
  const vyre_config_backend_value *old = vyre_config_backend_find(r->config, backend, name);
  if (old != NULL && !vyre_config_warn(r->config, "%s:%u: [backend %s] %s was given in line %u already; this line "
                                       "counts. Fix: keep one.", r->path, r->line, backend, name, old->line))
    return false;
  if (old != NULL || r->config->backend_values.count < VYRE_CONFIG_MAX_BACKEND_KEYS)
    return vyre_config_backend_keep(r->config, backend, name, value, r->line);
  refuse(r, VYRE_ERR_LIMIT, "There are more than %d keys in sections [backend NAME]. Fix: remove those of plugins that "
         "are not used.", VYRE_CONFIG_MAX_BACKEND_KEYS);
  return true;
}

static bool warn_no_key(reading *r) {
  return vyre_config_warn(r->config, "%s:%u: there is no key before the value. Fix: write `key = value`, or remove the "
                          "line.", r->path, r->line);
}

/* |home| names the sections that have such a key, "" if none has. */
static bool warn_no_section(reading *r, const char *name, const char *home) {
  return vyre_config_warn(r->config, "%s:%u: `%s` stands below no section. Fix: put it below %s.", r->path, r->line,
                          name, home[0] != 0 ? home : "the section that it belongs to");
}

static bool warn_unknown_key(reading *r, const char *section, const char *name) {
  vyre_suggestion near = vyre_suggest(name);
  char home[128] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < VYRE_CONFIG_KEY_COUNT; i++) {
    const vyre_config_key_info *info = vyre_config_describe(i);
    if (strcmp(info->section, section) == 0) vyre_suggest_offer(&near, info->name);
    if (strcmp(info->name, name) == 0 && used < sizeof home)
      used += (size_t)snprintf(home + used, sizeof home - used, "%s[%s]", used > 0 ? " or " : "", info->section);
  }
  if (section[0] == 0) return warn_no_section(r, name, home);
  if (home[0] != 0)
    return vyre_config_warn(r->config, "%s:%u: [%s] has no key `%s`. Fix: move it into %s.", r->path, r->line,
                            section, name, home);
  if (near.best != NULL)
    return vyre_config_warn(r->config, "%s:%u: [%s] has no key `%s`. Fix: did you mean `%s`?", r->path, r->line,
                            section, name, near.best);
  return vyre_config_warn(r->config, "%s:%u: [%s] has no key `%s`. Fix: remove it; docs/config.md lists them all.",
                          r->path, r->line, section, name);
}

/* Lists go on in further lines; of anything else the last line counts. */
static bool warn_repeated(reading *r, vyre_config_key key) {
  const vyre_config_key_info *info = vyre_config_describe(key);
  const vyre_config_value *old = &r->config->values[key];
  if (old->origin != VYRE_CONFIG_FROM_FILE) return true;
  if (info->type == VYRE_CONFIG_PATHS || info->type == VYRE_CONFIG_NAMES) return true;
  return vyre_config_warn(r->config, "%s:%u: [%s] %s was given in line %u already; this line counts. Fix: keep one.",
                          r->path, r->line, info->section, info->name, old->line);
}

/* A handler as inih wants it: 1 if all is well. */
static int take_key(void *context, const char *section, const char *name, const char *value) {
  reading *r = context;
  if (r->status != VYRE_OK) return 0;
  const char *backend = vyre_config_backend_of(section);
  vyre_config_key key;
  bool kept = true;
  if (vyre_config_find_in(section, name, &key)) {
    kept = warn_repeated(r, key);
    vyre_config_place place = { VYRE_CONFIG_FROM_FILE, r->path, r->line };
    if (kept) r->status = vyre_config_take(r->config, key, value, place, r->error);
  } else if (section[0] != 0 && !is_section(section) && backend == NULL) {
    kept = warn_unknown_section(r, section);
  } else if (name[0] == 0) {
    kept = warn_no_key(r);
  } else if (backend != NULL) {
    kept = take_backend_key(r, backend, name, value);
  } else {
    kept = warn_unknown_key(r, section, name);
  }
  if (!kept) r->status = vyre_fail_memory(r->error, r->path);
  return r->status == VYRE_OK;
}

vyre_status vyre_config_read_text(vyre_config *config, const char *path, const char *text, size_t bytes,
                                  vyre_error *error) {
  reading r = { .config = config, .error = error, .path = path, .text = text, .bytes = bytes };
  if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at = 3;
  if (!check_bytes(&r)) return r.status;
  int bad = ini_parse_stream(next_line, &r, take_key, &r);
  if (bad == -2 && r.status == VYRE_OK) return vyre_fail_memory(error, path);
  if (bad <= 0 || (r.status != VYRE_OK && (uint32_t)bad >= r.line)) return r.status;
  r.line = (uint32_t)bad;
  refuse(&r, VYRE_ERR_INVALID_CONFIG,
         "The line is neither `[section]` nor `key = value` nor a comment. Fix: correct it, or put # before it.");
  return r.status;
}

/* ---- The file ---- */

static vyre_status refuse_file(vyre_status status, const char *path, const char *what, const char *fix,
                               vyre_error *error) {
  return vyre_fail(error, status, path, "The settings file %s. Fix: %s.", what, fix);
}

static vyre_status refuse_errno(const char *path, vyre_error *error) {
  int reason = errno;
  char what[128];
  snprintf(what, sizeof what, "can't be read: %s", strerror(reason));
  if (reason == ENOENT || reason == ENOTDIR)
    return refuse_file(VYRE_ERR_NOT_FOUND, path, what, "correct the path", error);
  if (reason == EACCES || reason == EPERM)
    return refuse_file(VYRE_ERR_DENIED, path, what, "make it readable, or name another file", error);
  return refuse_file(VYRE_ERR_IO, path, what, "correct the path or the file system", error);
}

static vyre_status read_bytes(int file, const char *path, char **out, size_t *bytes, vyre_error *error) {
  struct stat info;
  if (fstat(file, &info) != 0) return refuse_errno(path, error);
  if (!S_ISREG(info.st_mode))
    return refuse_file(VYRE_ERR_INVALID_FILE, path, "is not a regular file", "name a text file", error);
  size_t capacity = VYRE_CONFIG_MAX_FILE_BYTES + 1, count = 0;
  if (info.st_size < (off_t)capacity) capacity = (size_t)info.st_size + 1;
  char *text = malloc(capacity);
  if (text == NULL) return vyre_fail_memory(error, path);
  while (count < capacity) {
    ssize_t got = read(file, text + count, capacity - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      vyre_status status = refuse_errno(path, error);
      free(text);
      return status;
    }
    if (got == 0) break;
    count += (size_t)got;
  }
  if (count == capacity) {
    free(text);
    return refuse_file(VYRE_ERR_LIMIT, path, "has more than 1 MiB, or grows while it is read",
                       "name a file with settings only", error);
  }
  *out = text;
  *bytes = count;
  return VYRE_OK;
}

/* Takes the file at |path|, which is in the arena or static. */
static vyre_status take_file(vyre_config *config, const char *path, vyre_error *error) {
  int file;
  do file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (file < 0 && errno == EINTR);
  if (file < 0) return refuse_errno(path, error);
  char *text = NULL;
  size_t bytes = 0;
  vyre_status status = read_bytes(file, path, &text, &bytes, error);
  close(file);
  if (status != VYRE_OK) return status;
  config->file = path;
  status = vyre_config_read_text(config, path, text, bytes, error);
  free(text);
  return status;
}

/* A named file must be there. */
static vyre_status take_named(vyre_config *config, const char *path, vyre_error *error) {
  const char *copy = vyre_arena_copy(&config->texts, path, strlen(path));
  return copy != NULL ? take_file(config, copy, error) : vyre_fail_memory(error, "vyre_config_load");
}

static bool is_absent(vyre_status status) { return status == VYRE_ERR_NOT_FOUND || status == VYRE_ERR_DENIED; }

/* A place that is only looked at: no file is no fault, one that may not be read is a warning. */
static vyre_status try_place(vyre_config *config, const char *directory, const char *below, vyre_error *error) {
  vyre_writer path = { 0 };
  vyre_write(&path, "%s%s/vyre.ini", directory, below);
  vyre_error trial = VYRE_ERROR_INIT;
  vyre_status status = VYRE_ERR_NO_MEMORY;
  if (!path.failed) status = take_named(config, path.data, &trial);
  if (status == VYRE_ERR_DENIED &&
      !vyre_config_warn(config, "%s is passed over: it may not be read. Fix: make it readable.", path.data))
    status = VYRE_ERR_NO_MEMORY;
  vyre_writer_free(&path);
  if (status == VYRE_ERR_NO_MEMORY) return vyre_fail_memory(error, "vyre_config_load");
  if (status != VYRE_OK && !is_absent(status)) vyre_fail(error, status, trial.where, "%s", trial.text);
  return status;
}

/* The installation's file: of the one that this library lies in, which may have been moved, then as configured. */
static vyre_status try_installation(vyre_config *config, vyre_error *error) {
  char *own;
  if (vyre_self_place(VYRE_CONFIG_DIR, &own) != VYRE_OK) return vyre_fail_memory(error, "vyre_config_load");
  bool is_moved = own != NULL && strcmp(own, VYRE_CONFIG_DIR) != 0;
  vyre_status status = is_moved ? try_place(config, own, "", error) : VYRE_ERR_NOT_FOUND;
  free(own);
  return is_absent(status) ? try_place(config, VYRE_CONFIG_DIR, "", error) : status;
}

static vyre_status search(vyre_config *config, bool environment, vyre_error *error) {
  const char *base = environment ? vyre_env_get("XDG_CONFIG_HOME") : NULL;
  const char *home = environment ? vyre_env_get("HOME") : NULL;
  vyre_status status = VYRE_ERR_NOT_FOUND;
  if (base != NULL && base[0] == '/') status = try_place(config, base, "/vyre", error);
  else if (home != NULL && home[0] == '/') status = try_place(config, home, "/.config/vyre", error);
  if (is_absent(status)) status = try_installation(config, error);
  return is_absent(status) ? VYRE_OK : status;
}

vyre_status vyre_config_read_file(vyre_config *config, const vyre_config_options *options, vyre_error *error) {
  if (options->path != NULL) return take_named(config, options->path, error);
  const char *named = options->no_environment ? NULL : vyre_env_get("VYRE_CONFIG");
  if (named == NULL) return search(config, !options->no_environment, error);
  return named[0] != 0 ? take_named(config, named, error) : VYRE_OK;
}
