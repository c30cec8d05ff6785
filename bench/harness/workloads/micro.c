/* micro.*: what single calls of libvyre cost: a launch of almost nothing, a buffer's life, copies between host and
 * device. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "harness/driver_host.h"
#include "harness/generate.h"
#include "harness/workload.h"

/* ---- micro.dispatch ----------------------------------------------------------------------------------- */

static void declare_one(bench_work *work) {
  bench_work_array(work, "o", VYRE_TYPE_U32, work->n, true);
}

static void expect_one(bench_work *work) {
  uint32_t *o = bench_work_find(work, "o")->host;
  for (uint64_t i = 0; i < work->n; i++) o[i] = (uint32_t)i + 1;
}

const bench_workload bench_micro_dispatch = {
    .id = "micro.dispatch",
    .variant = "true",
    .title = "a launch that stores n words",
    .check = "every bit",
    .declare = declare_one,
    .expect = expect_one,
    .program = "program dispatch workgroup(1) {\n"
               "  rw o: u32[];\n"
               "  o[gid.x] = gid.x + 1;\n"
               "}\n",
};

/* ---- Buffers and copies ------------------------------------------------------------------------------- */

typedef struct job {
  const struct call *call;
  vyre_device *device;
  vyre_buffer *buffer;
  uint32_t *sent, *received;
  uint64_t bytes;
} job;

typedef struct call {
  const char *id;
  vyre_status (*run)(job *j, vyre_error *error);
  bool keeps_buffer; /* one buffer for all runs, instead of one a run */
} call;

static vyre_status renew(job *j, vyre_error *error) {
  vyre_buffer_destroy(j->buffer);
  j->buffer = NULL;
  return vyre_buffer_create(j->device, j->bytes, 0, &j->buffer, error);
}

static vyre_status write_all(job *j, vyre_error *error) {
  return vyre_buffer_write(j->buffer, 0, j->sent, j->bytes, error);
}

static vyre_status read_all(job *j, vyre_error *error) {
  return vyre_buffer_read(j->buffer, 0, j->received, j->bytes, error);
}

static const call calls[] = {
    {"micro.buffer", renew, false}, {"micro.write", write_all, true}, {"micro.read", read_all, true}};

static vyre_status run(void *ctx, vyre_error *error) {
  job *j = ctx;
  return j->call->run(j, error);
}

static vyre_status compare(const job *j, vyre_error *error) {
  if (memcmp(j->received, j->sent, j->bytes) == 0) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_INTERNAL, j->call->id, "What was read is not what was written.");
}

/* A new buffer is tried out; what was written is read back; what was read is there already. */
static vyre_status check(void *ctx, vyre_error *error) {
  job *j = ctx;
  if (!j->buffer) return vyre_fail(error, VYRE_ERR_INTERNAL, j->call->id, "There is no buffer.");
  vyre_status status = j->call->run == renew ? write_all(j, error) : VYRE_OK;
  if (status == VYRE_OK && j->call->run != read_all) status = read_all(j, error);
  return status == VYRE_OK ? compare(j, error) : status;
}

static void spoil(void *ctx) {
  job *j = ctx;
  memset(j->received, 0xA5, j->bytes);
  if (j->call->run == write_all) vyre_buffer_write(j->buffer, 0, j->received, j->bytes, NULL);
  if (j->call->keeps_buffer) return;
  vyre_buffer_destroy(j->buffer);
  j->buffer = NULL;
}

static void destroy(void *ctx) {
  job *j = ctx;
  vyre_buffer_destroy(j->buffer);
  free(j->sent);
  free(j->received);
  free(j);
}

static vyre_status prepare(job *j, vyre_error *error) {
  j->sent = malloc(j->bytes);
  j->received = malloc(j->bytes);
  if (!j->sent || !j->received) return vyre_fail_memory(error, j->call->id);
  for (uint64_t i = 0; i < j->bytes / sizeof *j->sent; i++) j->sent[i] = bench_hash(5, (uint32_t)i);
  memset(j->received, 0, j->bytes);
  vyre_status status = vyre_buffer_create(j->device, j->bytes, 0, &j->buffer, error);
  return status == VYRE_OK ? write_all(j, error) : status;
}

static vyre_status open_call(const bench_setting *setting, const bench_work *work, bench_driver *out,
                             vyre_error *error) {
  static const bench_host_work host = {"one call of libvyre after the other", run, check, spoil, destroy};
  *out = (bench_driver){.cold_ns = -1};
  job *j = calloc(1, sizeof *j);
  if (!j) return vyre_fail_memory(error, work->id);
  j->device = setting->device;
  j->bytes = work->n * sizeof *j->sent;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].id, work->id) == 0) j->call = &calls[i];
  vyre_status status = prepare(j, error);
  if (status == VYRE_OK) return bench_driver_host(&host, j, work, out, error);
  destroy(j);
  return status;
}

/* Bytes a second of a copy, as what it moved in the median. */
static bool finish_copy(const bench_setting *setting, const bench_work *work, bench_report *report, bench_case *c) {
  const bench_series *series = &c->contestants[0].clocks[BENCH_WALL_RESIDENT];
  (void)setting;
  if (!series->count) return true;
  return bench_case_count(report, c, "copied", "B/s", (double)work->n * sizeof(uint32_t) / series->stats.p50 * 1e9);
}

const bench_workload bench_micro_buffer = {
    .id = "micro.buffer",
    .variant = "true",
    .title = "vyre_buffer_create and vyre_buffer_destroy of 4 n bytes",
    .check = "the buffer holds what is written to it",
    .open = open_call,
};

const bench_workload bench_micro_write = {
    .id = "micro.write",
    .variant = "true",
    .title = "vyre_buffer_write of 4 n bytes",
    .check = "what is read back, every bit",
    .open = open_call,
    .finish = finish_copy,
};

const bench_workload bench_micro_read = {
    .id = "micro.read",
    .variant = "true",
    .title = "vyre_buffer_read of 4 n bytes",
    .check = "what was written before, every bit",
    .open = open_call,
    .finish = finish_copy,
};
