/* A peer is hostile until its lines say otherwise: every field is bounded and every number read whole. */
#include "peer_host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats.h"

#define PREPARE_TIMEOUT_NS 300000000000u /* it may tune itself */
#define ANSWER_TIMEOUT_NS 120000000000u
#define GRACE_NS 2000000000u

static const char *const clock_names[BENCH_CLOCKS] = {"device", "resident", "readback", "e2e"};

static vyre_status refuse(const bench_peer *peer, const char *line, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_IO, peer->child.path, "It answered \"%.120s\", which is not of the protocol.", line);
}

/* The reason of "no REASON", or NULL. */
static const char *refusal(const char *line) {
  if (strncmp(line, "no", 2) != 0 || (line[2] != ' ' && line[2] != '\0')) return NULL;
  return line[2] && line[3] ? line + 3 : "it gives no reason";
}

static vyre_status hear(bench_peer *peer, uint64_t timeout_ns, char line[BENCH_LINE_BYTES], vyre_error *error) {
  vyre_status status = bench_child_hear(&peer->child, timeout_ns, line, error);
  if (status != VYRE_OK) return status;
  const char *reason = refusal(line);
  return reason ? vyre_fail(error, VYRE_ERR_UNSUPPORTED, peer->child.path, "%.400s", reason) : VYRE_OK;
}

/* ---- Beginning --------------------------------------------------------------------------------- */

static vyre_status tell_work(bench_peer *peer, const bench_work *work, vyre_error *error) {
  bench_child *child = &peer->child;
  vyre_status status = bench_child_say(child, error, "case %s %" PRIu64 "\n", work->id, work->n);
  for (uint32_t i = 0; i < work->array_count && status == VYRE_OK; i++) {
    const bench_array *a = &work->arrays[i];
    status = bench_child_say(child, error, "array %s %s %s %" PRIu64 " %" PRIu64 "\n", a->name,
                             a->output ? "out" : "in", vyre_type_describe(a->type)->spelling, a->count, a->offset);
  }
  for (uint32_t i = 0; i < work->param_count && status == VYRE_OK; i++)
    status = bench_child_say(child, error, "param %s %.17g\n", work->params[i].name, work->params[i].value);
  if (status == VYRE_OK && work->buffer_sets > 1)
    status = bench_child_say(child, error, "param buffer_sets %" PRIu32 "\n", work->buffer_sets);
  return status == VYRE_OK ? bench_child_say(child, error, "ready\n") : status;
}

/* A decimal number that is the whole of |text|. */
static bool whole_number(const char *text, uint64_t *out) {
  if (text[0] < '0' || text[0] > '9') return false;
  char *end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return *end == '\0' && errno == 0;
}

/* Cuts the fields behind "ok ". Fields that are not there are empty. */
static bool read_identity(bench_peer_identity *who, const char *line) {
  if (strncmp(line, "ok ", 3) != 0) return false;
  snprintf(who->text, sizeof who->text, "%s", line + 3);
  const char *fields[9];
  char *at = who->text;
  for (int i = 0; i < 9; i++) {
    fields[i] = at ? at : "";
    char *tab = at ? strchr(at, '\t') : NULL;
    if (tab) *tab = '\0';
    at = tab ? tab + 1 : NULL;
  }
  if (at) return false; /* a tenth */
  who->name = fields[0];
  who->version = fields[1];
  who->build = fields[2];
  who->flags = fields[3];
  who->how = fields[4];
  who->device = fields[5];
  who->kind = fields[6];
  who->bytes = 0;
  who->parts = 1;
  bool has_bytes = !fields[7][0] || whole_number(fields[7], &who->bytes);
  bool has_parts = !fields[8][0] || (whole_number(fields[8], &who->parts) && who->parts > 0);
  return fields[0][0] && has_bytes && has_parts;
}

/* One that ended before it had heard all may have said why. */
static vyre_status last_words(bench_peer *peer, vyre_status status, vyre_error *error) {
  char line[BENCH_LINE_BYTES];
  vyre_error reason = VYRE_ERROR_INIT;
  if (hear(peer, PREPARE_TIMEOUT_NS, line, &reason) != VYRE_ERR_UNSUPPORTED) return status;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, reason.where, "%s", reason.text);
}

vyre_status bench_peer_begin(bench_peer *peer, const char *path, const bench_work *work, vyre_error *error) {
  *peer = (bench_peer){0};
  char line[BENCH_LINE_BYTES];
  vyre_status status = bench_child_start(&peer->child, path, work->file, error);
  if (status != VYRE_OK) return status;
  status = tell_work(peer, work, error);
  if (status != VYRE_OK) return last_words(peer, status, error);
  status = hear(peer, PREPARE_TIMEOUT_NS, line, error);
  if (status != VYRE_OK) return status;
  return read_identity(&peer->who, line) ? VYRE_OK : refuse(peer, line, error);
}

void bench_peer_end(bench_peer *peer) {
  if (peer->child.pid > 0) bench_child_say(&peer->child, NULL, "quit\n");
  bench_child_end(&peer->child, GRACE_NS);
}

/* ---- Requests ---------------------------------------------------------------------------------- */

/* A time, or "-" for one that is not known. Moves behind it. */
static bool read_time(const char **at, double *out) {
  *out = -1;
  if (**at != ' ') return false;
  const char *text = *at + 1;
  if (text[0] == '-' && (text[1] == ' ' || text[1] == '\0')) {
    *at = text + 1;
    return true;
  }
  char *end;
  *out = strtod(text, &end);
  *at = end;
  return text[0] >= '0' && text[0] <= '9' && bench_is_time(*out);
}

vyre_status bench_peer_sample(bench_peer *peer, bench_clock clock, uint32_t launches, bench_times *out,
                              vyre_error *error) {
  char line[BENCH_LINE_BYTES];
  vyre_status status =
      bench_child_say(&peer->child, error, "sample %s %" PRIu32 "\n", clock_names[clock], launches);
  if (status == VYRE_OK) status = hear(peer, ANSWER_TIMEOUT_NS, line, error);
  if (status != VYRE_OK) return status;
  const char *at = line + 4;
  if (strncmp(line, "time", 4) != 0 || !read_time(&at, &out->wall_ns) || !read_time(&at, &out->device_ns) || *at)
    return refuse(peer, line, error);
  return VYRE_OK;
}

vyre_status bench_peer_do(bench_peer *peer, const char *request, vyre_error *error) {
  char line[BENCH_LINE_BYTES];
  vyre_status status = bench_child_say(&peer->child, error, "%s\n", request);
  if (status == VYRE_OK) status = hear(peer, ANSWER_TIMEOUT_NS, line, error);
  if (status != VYRE_OK) return status;
  return strcmp(line, "done") == 0 ? VYRE_OK : refuse(peer, line, error);
}
