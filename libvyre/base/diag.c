/* A set of findings: bounded, in source order, and rendered with the line that each is about. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "base/writer.h"

enum { WINDOW = 120, WINDOW_BEFORE = 80, MESSAGE_BYTES = 1024 };

typedef struct code_row {
  vyre_code code;
  vyre_severity severity;
  char name[5];
  const char *gist, *fix;
} code_row;

#define LETTER_V 'V'
#define LETTER_S 'S'
#define LETTER_W 'W'
static const code_row code_rows[] = {
#define X(family, number, severity, gist, fix)                                                       \
  { VYRE_##family##number, VYRE_SEVERITY_##severity,                                                 \
    { LETTER_##family, '0' + number / 100, '0' + number / 10 % 10, '0' + number % 10, 0 }, gist, fix },
#include <vyre/codes.def>
#undef X
};

/* A place in the source, advanced line by line and code point by code point. */
typedef struct place {
  size_t offset, line_start;
  uint32_t line, column;
} place;

typedef struct finding {
  const code_row *row;
  const char *message, *fix;
  uint32_t offset;
  place at; /* line 0: none */
} finding;

struct vyre_diagnostics {
  vyre_arena texts;
  char *file;
  const unsigned char *source;
  size_t bytes;
  place cursor; /* where the last search ended: findings come mostly in order */
  uint32_t kept_of[2], seen[2]; /* by severity */
  uint32_t kept;
  finding findings[2 * VYRE_MAX_DIAGNOSTICS];
};

static const code_row *find_row(vyre_code code) {
  for (size_t i = 0; i < sizeof code_rows / sizeof *code_rows; i++)
    if (code_rows[i].code == code) return &code_rows[i];
  return NULL;
}

const char *vyre_code_name(vyre_code code) {
  const code_row *row = find_row(code);
  return row != NULL ? row->name : NULL;
}

const char *vyre_code_gist(vyre_code code) {
  const code_row *row = find_row(code);
  return row != NULL ? row->gist : NULL;
}

const char *vyre_code_fix(vyre_code code) {
  const code_row *row = find_row(code);
  return row != NULL ? row->fix : NULL;
}

vyre_severity vyre_code_severity(vyre_code code) {
  const code_row *row = find_row(code);
  return row != NULL ? row->severity : VYRE_SEVERITY_ERROR;
}

static place first_place(const vyre_diagnostics *d) {
  bool mark = d->bytes >= 3 && memcmp(d->source, "\xEF\xBB\xBF", 3) == 0;
  size_t start = mark ? 3 : 0;
  return (place){ start, start, 1, 1 };
}

vyre_status vyre_diagnostics_create(const char *file, const char *source, size_t bytes, vyre_diagnostics **out) {
  *out = NULL;
  vyre_diagnostics *d = calloc(1, sizeof *d);
  if (d == NULL) return VYRE_ERR_NO_MEMORY;
  if (file != NULL) {
    d->file = vyre_arena_copy(&d->texts, file, strlen(file));
    if (d->file == NULL) {
      free(d);
      return VYRE_ERR_NO_MEMORY;
    }
  }
  d->source = (const unsigned char *)source;
  d->bytes = source != NULL ? bytes : 0;
  d->cursor = first_place(d);
  *out = d;
  return VYRE_OK;
}

void vyre_diagnostics_destroy(vyre_diagnostics *d) {
  if (d == NULL) return;
  vyre_arena_free(&d->texts);
  free(d);
}

/* Bytes of the line end at |p|: LF, CR or CR LF; 0 if there is none. */
static size_t line_end(const unsigned char *p, size_t left) {
  if (left == 0) return 0;
  if (p[0] == '\n') return 1;
  if (p[0] != '\r') return 0;
  return left > 1 && p[1] == '\n' ? 2 : 1;
}

static place locate(vyre_diagnostics *d, size_t offset) {
  if (offset > d->bytes) offset = d->bytes;
  place at = d->cursor;
  if (offset < at.offset) at = first_place(d);
  while (at.offset < offset) {
    const unsigned char *p = d->source + at.offset;
    size_t left = d->bytes - at.offset, step = line_end(p, left);
    bool ends = step > 0;
    if (!ends) step = vyre_utf8_length(p, left);
    if (step == 0) step = 1;
    if (at.offset + step > offset) break; /* inside of a code point or a CR LF: its beginning */
    at.offset += step;
    at.column = ends ? 1 : at.column + 1;
    if (!ends) continue;
    at.line++;
    at.line_start = at.offset;
  }
  d->cursor = at;
  return at;
}

/* "gist: what was found"; the gist alone if there is no memory for more. */
static const char *compose(vyre_diagnostics *d, const code_row *row, const char *found) {
  if (found[0] == 0) return row->gist;
  vyre_writer w = { 0 };
  vyre_write(&w, "%s: ", row->gist);
  vyre_write_escaped(&w, found, strlen(found));
  const char *message = w.failed ? NULL : vyre_arena_copy(&d->texts, w.data, w.count);
  vyre_writer_free(&w);
  return message != NULL ? message : row->gist;
}

/* The body of a function is read at each of its calls, and its faults are said once. */
static bool is_known(const vyre_diagnostics *d, const finding *f) {
  if (f->offset == VYRE_NO_POSITION) return false;
  for (uint32_t i = 0; i < d->kept; i++) {
    const finding *have = &d->findings[i];
    if (have->row == f->row && have->offset == f->offset && strcmp(have->message, f->message) == 0) return true;
  }
  return false;
}

static void insert(vyre_diagnostics *d, const finding *f) {
  uint32_t at = d->kept++;
  for (; at > 0 && d->findings[at - 1].offset > f->offset; at--) d->findings[at] = d->findings[at - 1];
  d->findings[at] = *f;
}

__attribute__((format(printf, 5, 0))) static void add(vyre_diagnostics *d, vyre_code code, uint32_t offset,
                                                      const char *fix, const char *format, va_list args) {
  const code_row *row = find_row(code);
  if (d == NULL || row == NULL) return;
  if (d->kept_of[row->severity] == VYRE_MAX_DIAGNOSTICS) {
    d->seen[row->severity]++;
    return;
  }
  char found[MESSAGE_BYTES];
  int length = vsnprintf(found, sizeof found, format, args);
  if (length < 0) found[0] = 0;
  if (length >= MESSAGE_BYTES) memcpy(found + MESSAGE_BYTES - 4, "...", 4);

  finding f = { .row = row, .offset = offset, .message = compose(d, row, found), .fix = row->fix };
  if (is_known(d, &f)) return;
  if (offset != VYRE_NO_POSITION && d->source != NULL) f.at = locate(d, offset);
  const char *own = fix != NULL ? vyre_arena_copy(&d->texts, fix, strlen(fix)) : NULL;
  if (own != NULL) f.fix = own;
  d->seen[row->severity]++;
  d->kept_of[row->severity]++;
  insert(d, &f);
}

void vyre_diag(vyre_diagnostics *d, vyre_code code, uint32_t offset, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(d, code, offset, NULL, format, args);
  va_end(args);
}

void vyre_diag_fix(vyre_diagnostics *d, vyre_code code, uint32_t offset, const char *fix, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(d, code, offset, fix, format, args);
  va_end(args);
}

uint32_t vyre_diagnostics_errors(const vyre_diagnostics *d) { return d->seen[VYRE_SEVERITY_ERROR]; }
uint32_t vyre_diagnostics_warnings(const vyre_diagnostics *d) { return d->seen[VYRE_SEVERITY_WARNING]; }

bool vyre_diagnostics_get(const vyre_diagnostics *d, uint32_t index, vyre_diagnostic *out) {
  if (index >= d->kept) return false;
  const finding *f = &d->findings[index];
  *out = (vyre_diagnostic){ f->row->code, f->row->severity, f->offset, f->at.line, f->at.column,
                            f->message,   f->fix };
  return true;
}

static size_t step_back(const unsigned char *line, size_t at) {
  size_t back = at - 1;
  while (back > 0 && at - back < 4 && line[back] >= 0x80 && line[back] < 0xC0) back--;
  return vyre_utf8_length(line + back, at - back) == at - back ? back : at - 1;
}

static size_t step_forward(const unsigned char *p, size_t left) {
  size_t length = vyre_utf8_length(p, left);
  return length > 0 ? length : 1;
}

/* The line around the caret, at most WINDOW code points of it, and the caret below. */
static void render_line(vyre_writer *w, const vyre_diagnostics *d, const place *at) {
  const unsigned char *line = d->source + at->line_start;
  size_t left = d->bytes - at->line_start, caret = at->offset - at->line_start;
  size_t start = caret, end = caret, before = 0, after = 0;
  while (end < left && line_end(line + end, left - end) == 0 && after < WINDOW) {
    end += step_forward(line + end, left - end);
    after++;
  }
  size_t room = after < WINDOW - WINDOW_BEFORE ? WINDOW - after : WINDOW_BEFORE;
  for (; start > 0 && before < room; before++) start = step_back(line, start);
  for (; before + after > WINDOW; after--) end = step_back(line, end);

  vyre_writer below = { 0 };
  const char *lead = start > 0 ? "  ..." : "  ";
  vyre_write_text(w, lead);
  vyre_write_repeat(&below, ' ', strlen(lead));
  for (size_t i = start; i < end;) {
    size_t columns, taken = vyre_write_escaped_point(w, line + i, left - i, &columns);
    if (i < caret) vyre_write_repeat(&below, line[i] == '\t' ? '\t' : ' ', columns);
    i += taken;
  }
  bool cut = end < left && line_end(line + end, left - end) == 0;
  vyre_write(w, "%s\n", cut ? "..." : "");
  vyre_write_text(&below, "^\n");
  if (below.failed) w->failed = true;
  else vyre_write_bytes(w, below.data, below.count);
  vyre_writer_free(&below);
}

static void render_finding(vyre_writer *w, const vyre_diagnostics *d, const finding *f) {
  if (d->file != NULL) {
    vyre_write_escaped(w, d->file, strlen(d->file));
    vyre_write_text(w, ":");
  }
  if (f->at.line > 0) vyre_write(w, "%u:%u:", f->at.line, f->at.column);
  if (d->file != NULL || f->at.line > 0) vyre_write_text(w, " ");
  bool error = f->row->severity == VYRE_SEVERITY_ERROR;
  vyre_write(w, "%s %s: %s\n", error ? "error" : "warning", f->row->name, f->message);
  if (f->at.line > 0) render_line(w, d, &f->at);
  bool asks = f->fix[strlen(f->fix) - 1] == '?';
  vyre_write(w, "  Fix: %s%s\n", f->fix, asks ? "" : ".");
}

static void render_rest(vyre_writer *w, uint32_t rest, const char *what) {
  if (rest > 0) vyre_write(w, "%u more %s%s not shown.\n", rest, what, rest == 1 ? " is" : "s are");
}

char *vyre_diagnostics_render(const vyre_diagnostics *d) {
  vyre_writer w = { 0 };
  for (uint32_t i = 0; i < d->kept; i++) render_finding(&w, d, &d->findings[i]);
  render_rest(&w, d->seen[VYRE_SEVERITY_ERROR] - d->kept_of[VYRE_SEVERITY_ERROR], "error");
  render_rest(&w, d->seen[VYRE_SEVERITY_WARNING] - d->kept_of[VYRE_SEVERITY_WARNING], "warning");
  return vyre_writer_take(&w);
}
