/* The plugin's table and its objects, without libvyre in between. */
#include "raw.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/wire.h>

static const uint64_t run_timeout_ns = 60000000000u;

/* ---- The library ----------------------------------------------------------------------------- */

bool raw_load(kit *k, raw *out) {
  *out = (raw){.k = k};
  raw_host_init(&out->host, k);
  kit_doing(k, "loading the library");
  out->library = dlopen(k->settings->plugin, RTLD_NOW | RTLD_LOCAL);
  if (out->library == NULL) return kit_fail(k, "the dynamic linker refuses it: %s (VBP-3)", dlerror());
  vyre_backend_query_fn query = NULL;
  void *symbol = dlsym(out->library, VYRE_BACKEND_SYMBOL);
  if (symbol == NULL) return kit_fail(k, "it does not export " VYRE_BACKEND_SYMBOL " (VBP-3)");
  memcpy(&query, &symbol, sizeof query);
  const vyre_backend_request request = {.size = sizeof request,
                                        .sanitizer = VYRE_ABI_SANITIZER,
                                        .host_major_min = VYRE_ABI_MAJOR,
                                        .host_major_max = VYRE_ABI_MAJOR,
                                        .host_minor = VYRE_ABI_MINOR,
                                        .fingerprint = VYRE_ABI_FINGERPRINT};
  kit_doing(k, "asking for the descriptor");
  out->desc = query(&request);
  if (out->desc == NULL)
    return kit_fail(k, "it declines to serve a host of ABI %u.%u (VBP-5)", VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
  if (out->desc->magic != VYRE_ABI_MAGIC || out->desc->size < offsetof(vyre_backend_desc, opcodes) ||
      out->desc->fingerprint != VYRE_ABI_FINGERPRINT || out->desc->ops == NULL)
    return kit_fail(k, "libvyre would refuse its descriptor (VBP-6, VBP-7, VBP-10); `vyre backends --all` says why");
  uint32_t size = out->desc->ops->size;
  memcpy(&out->ops, out->desc->ops, size < sizeof out->ops ? size : sizeof out->ops);
  return true;
}

bool raw_open_device(raw *r) {
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t number = r->k->settings->device;
  kit_doing(r->k, "opening device %u", number);
  r->caps = (vyre_capabilities){.size = sizeof r->caps};
  vyre_status status = r->ops.device_describe(r->plugin, number, &r->caps, &error);
  if (status == VYRE_OK) status = r->ops.device_open(r->plugin, number, &r->device, &error);
  if (status == VYRE_OK && r->device != NULL) return true;
  return kit_fail(r->k, "device %u can't be opened: %s: %s", number, vyre_status_name(status), error.text);
}

bool raw_open(kit *k, raw *out) {
  vyre_error error = VYRE_ERROR_INIT;
  if (!raw_load(k, out)) return false;
  kit_doing(k, "probing");
  vyre_status status = out->ops.probe(&out->host.services, &error);
  if (status == VYRE_OK) status = out->ops.open(&out->host.services, &out->plugin, &error);
  if (status != VYRE_OK || out->plugin == NULL)
    return kit_fail(k, "it does not open: %s: %s", vyre_status_name(status), error.text);
  return raw_open_device(out);
}

void raw_close(raw *r) {
  kit_doing(r->k, "closing device and instance");
  if (r->device != NULL) r->ops.device_close(r->device);
  if (r->plugin != NULL) r->ops.close(r->plugin);
  r->device = NULL;
  r->plugin = NULL;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static bool is_status(vyre_status status) {
  switch (status) {
#define X(name, number, reaction, text) case number:
#include <vyre/status.def>
#undef X
    return true;
  default:
    return false;
  }
}

static bool check_error(raw *r, const char *what, vyre_status status, const vyre_error *error) {
  if (!is_status(status)) return kit_fail(r->k, "%s: it answers %d, which is no status (VBP-15)", what, status);
  if (strnlen(error->text, sizeof error->text) == sizeof error->text ||
      strnlen(error->where, sizeof error->where) == sizeof error->where)
    return kit_fail(r->k, "%s: the text of the error has no end (VBP-15)", what);
  if (error->text[0] == '\0')
    return kit_fail(r->k, "%s: it answers %s and gives no reason (VBP-15)", what, vyre_status_name(status));
  if (error->status != status)
    return kit_fail(r->k, "%s: it answers %s, and its error record says %s (VBP-15)", what, vyre_status_name(status),
                    vyre_status_name(error->status));
  if (status != VYRE_ERR_NO_MEMORY && strstr(error->text, "Fix: ") == NULL)
    return kit_fail(r->k, "%s: the reason that it gives does not say what to do (`Fix: `): %s (VBP-15)", what,
                    error->text);
  return true;
}

bool raw_wants(raw *r, const char *what, vyre_status status, vyre_status wanted, const vyre_error *error) {
  if (status != wanted)
    return kit_fail(r->k, "%s: wanted %s, found %s%s%s", what, vyre_status_name(wanted), vyre_status_name(status),
                    status != VYRE_OK ? ": " : "", status != VYRE_OK ? error->text : "");
  return status == VYRE_OK || check_error(r, what, status, error);
}

bool raw_wants_refusal(raw *r, const char *what, vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return kit_fail(r->k, "%s: wanted a refusal, found VYRE_OK", what);
  return check_error(r, what, status, error);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void fill_request(const vyre_program *program, const vyre_compile_options *options, raw_program *out) {
  static const vyre_compile_options none = VYRE_COMPILE_OPTIONS_INIT;
  const vyre_compile_options *call = options != NULL ? options : &none;
  vyre_program_info info;
  vyre_program_describe(program, &info);
  uint32_t ulp = call->ulp != VYRE_ULP_UNSET ? call->ulp : info.ulp;
  bool contracts = (call->flags & VYRE_OPTION_CONTRACT) != 0 || (info.attributes & VYRE_PROGRAM_CONTRACT) != 0;
  bool flushes = (call->flags & VYRE_OPTION_FLUSH) != 0 || (info.attributes & VYRE_PROGRAM_FLUSH) != 0;
  out->request = (vyre_compile_request){
      .size = sizeof out->request,
      .flags = (ulp != VYRE_ULP_UNSET ? VYRE_COMPILE_ULP : 0u) | (contracts ? VYRE_COMPILE_CONTRACT : 0u) |
               (flushes ? VYRE_COMPILE_FLUSH : 0u) | (call->steps != 0 ? VYRE_COMPILE_STEPS : 0u) |
               ((call->flags & VYRE_OPTION_UNCHECKED) != 0 ? VYRE_COMPILE_UNCHECKED : 0u),
      .ulp_budget = ulp != VYRE_ULP_UNSET ? ulp : 0,
      .subgroup_size = call->subgroup_size != 0 ? call->subgroup_size : info.subgroup,
      .steps = call->steps,
  };
  memcpy(out->request.fingerprint, vyre_program_fingerprint(program), sizeof out->request.fingerprint);
}

static vyre_status lower(raw *r, const vyre_program *program, raw_program *out, vyre_error *error) {
  static const vyre_opcode_support none = {0, 0, 0};
  const vyre_backend_desc *desc = r->desc;
  bool has_opcodes = desc->size >= sizeof *desc && desc->opcodes != NULL;
  if ((desc->flags & VYRE_BACKEND_TAKES_KERNEL) == 0) return VYRE_OK;
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.flags = VYRE_LOWER_COUNT_MASKED;
  options.compile_flags = out->request.flags;
  options.ulp_budget = out->request.ulp_budget;
  options.subgroup_size = out->request.subgroup_size;
  options.steps = out->request.steps;
  options.opcodes = has_opcodes ? desc->opcodes : &none;
  options.opcode_count = has_opcodes ? desc->opcode_count : 0;
  size_t bytes;
  vyre_status status = vyre_lower(program, &options, &out->kernel, &bytes, error);
  out->request.kernel = out->kernel;
  out->request.kernel_bytes = bytes;
  return status;
}

vyre_status raw_request(raw *r, const vyre_program *program, const vyre_compile_options *options, raw_program *out,
                        vyre_error *error) {
  *out = (raw_program){0};
  size_t bytes;
  fill_request(program, options, out);
  vyre_status status = vyre_wire_encode(program, &out->wire, &bytes);
  if (status != VYRE_OK) return status;
  out->request.wire = out->wire;
  out->request.wire_bytes = bytes;
  return lower(r, program, out, error);
}

bool raw_program_make(raw *r, const char *text, raw_program *out) {
  vyre_error error = VYRE_ERROR_INIT;
  *out = (raw_program){0};
  vyre_program *program = kit_parse(r->k, text);
  if (program == NULL) return false;
  vyre_status status = raw_request(r, program, NULL, out, &error);
  out->program = program;
  return status == VYRE_OK || kit_fail(r->k, "the kit's own program is not lowered for it: %s\n%s", error.text, text);
}

void raw_program_free(raw_program *p) {
  free(p->wire);
  free(p->kernel);
  vyre_program_release(p->program);
  *p = (raw_program){0};
}

vyre_status raw_compile(raw *r, const vyre_compile_request *request, vyre_bytes *blob, vyre_error *error) {
  const vyre_host *host = &r->host.services;
  *blob = (vyre_bytes){.size = sizeof *blob};
  vyre_status status = r->ops.compile(host, &r->caps, request, blob, error);
  if (status != VYRE_OK || r->ops.finalize == NULL) return status;
  vyre_bytes final = {.size = sizeof final};
  status = r->ops.finalize(host, &r->caps, blob->data, blob->length, &final, error);
  if (status == VYRE_ERR_UNSUPPORTED) return VYRE_OK;
  raw_blob_free(r, blob);
  *blob = final;
  return status;
}

void raw_blob_free(raw *r, vyre_bytes *blob) {
  r->host.services.free(r->host.services.ctx, blob->data, blob->length);
  *blob = (vyre_bytes){.size = sizeof *blob};
}

vyre_plugin_executable *raw_executable(raw *r, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  raw_program p;
  vyre_bytes blob;
  vyre_plugin_executable *executable = NULL;
  if (raw_program_make(r, text, &p)) {
    vyre_status status = raw_compile(r, &p.request, &blob, &error);
    if (status == VYRE_OK) status = r->ops.executable_load(r->device, blob.data, blob.length, &executable, &error);
    if (status != VYRE_OK)
      kit_fail(r->k, "it refuses a program: %s: %s\n%s", vyre_status_name(status), error.text, text);
    raw_blob_free(r, &blob);
    kit_count_programs(r->k, 1);
  }
  raw_program_free(&p);
  return executable;
}

vyre_status kit_plugin_compile(kit *k, const vyre_program *program, const vyre_compile_options *options,
                               vyre_error *error) {
  static raw r; /* one for all calls of a check */
  if (r.k == NULL && !raw_open(k, &r)) return VYRE_ERR_INTERNAL;
  raw_program p;
  vyre_bytes blob = {.size = sizeof blob};
  vyre_plugin_executable *executable = NULL;
  vyre_status status = raw_request(&r, program, options, &p, error);
  if (status == VYRE_OK) status = raw_compile(&r, &p.request, &blob, error);
  if (status == VYRE_OK) status = r.ops.executable_load(r.device, blob.data, blob.length, &executable, error);
  if (executable != NULL) r.ops.executable_destroy(executable);
  raw_blob_free(&r, &blob);
  raw_program_free(&p);
  kit_count_programs(k, 1);
  return status;
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Properties of the first memory that the host can read and write. */
bool raw_host_memory(const raw *r, uint32_t *properties) {
  const uint32_t wanted = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE;
  for (uint32_t i = 0; i < r->caps.memory_type_count && i < VYRE_MAX_MEMORY_TYPES; i++) {
    *properties = r->caps.memory_types[i].properties;
    if ((*properties & wanted) == wanted) return true;
  }
  return false;
}

vyre_plugin_buffer *raw_buffer(raw *r, uint64_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_buffer_request request = {.size = sizeof request, .bytes = (bytes + 15) & ~(uint64_t)15};
  vyre_plugin_buffer *buffer = NULL;
  if (!raw_host_memory(r, &request.properties)) {
    kit_skip(r->k, "no memory that the host reads and writes is claimed");
    return NULL;
  }
  vyre_status status = r->ops.buffer_create(r->device, &request, &buffer, &error);
  if (status != VYRE_OK)
    kit_fail(r->k, "a buffer of %llu bytes: %s: %s", (unsigned long long)request.bytes, vyre_status_name(status),
             error.text);
  return buffer;
}

uint8_t *raw_map(raw *r, vyre_plugin_buffer *buffer) {
  vyre_error error = VYRE_ERROR_INIT;
  void *address = NULL;
  vyre_status status = r->ops.buffer_map(buffer, &address, &error);
  if (status != VYRE_OK || address == NULL)
    kit_fail(r->k, "mapping a buffer: %s: %s", vyre_status_name(status), error.text);
  return address;
}

static bool is_coherent(const raw *r) {
  uint32_t properties = 0;
  return raw_host_memory(r, &properties) && (properties & VYRE_MEMORY_COHERENT) != 0;
}

void raw_flush(raw *r, vyre_plugin_buffer *buffer, uint64_t bytes) {
  if (!is_coherent(r)) r->ops.buffer_flush(buffer, 0, bytes, NULL);
}

void raw_invalidate(raw *r, vyre_plugin_buffer *buffer, uint64_t bytes) {
  if (!is_coherent(r)) r->ops.buffer_invalidate(buffer, 0, bytes, NULL);
}

bool raw_queue_open(raw *r, raw_queue *out) {
  vyre_error error = VYRE_ERROR_INIT;
  *out = (raw_queue){0};
  vyre_status status = r->ops.queue_create(r->device, 0, &out->queue, &error);
  if (status == VYRE_OK) status = r->ops.timeline_create(r->device, 0, &out->timeline, &error);
  return raw_wants(r, "a queue and a timeline", status, VYRE_OK, &error);
}

void raw_queue_close(raw *r, raw_queue *q) {
  if (q->queue != NULL) r->ops.queue_destroy(q->queue);
  if (q->timeline != NULL) r->ops.timeline_destroy(q->timeline);
  *q = (raw_queue){0};
}

vyre_status raw_run(raw *r, raw_queue *q, vyre_plugin_batch *batch, vyre_completion *out, vyre_error *error) {
  *out = (vyre_completion){.size = sizeof *out};
  vyre_point end = {q->timeline, q->value + 1};
  vyre_submit submit = {.size = sizeof submit, .batch = batch, .signals = &end, .signal_count = 1, .completion = out};
  vyre_status status = r->ops.submit(q->queue, &submit, error);
  if (status != VYRE_OK) return status;
  q->value++;
  status = r->ops.timeline_wait(q->timeline, q->value, run_timeout_ns, error);
  if (status == VYRE_OK) return out->status;
  kit_fail(r->k, "a submission did not end: %s: %s", vyre_status_name(status), error->text);
  kit_end(r->k);
}

vyre_plugin_batch *raw_dispatch(raw *r, vyre_plugin_executable *executable, vyre_plugin_set *set, uint32_t groups) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_dispatch dispatch = {.size = sizeof dispatch, .executable = executable, .set = set, .grid = {groups, 1, 1}};
  vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = &dispatch};
  vyre_plugin_batch *batch = NULL;
  raw_wants(r, "a batch of one dispatch", r->ops.batch_create(r->device, &command, 1, &batch, &error), VYRE_OK, &error);
  return batch;
}
