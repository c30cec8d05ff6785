/* What this backend is, what it compiles to, and how that runs: the file to begin with when writing another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "engine.h"

#define NAME "template"
#define VERSION "1.0.0"
/* Differs between builds whose blobs differ: raise it with every change of what compile gives. */
#define BUILD_ID "template-1"

enum { SUBGROUP = 32, MAX_WORKGROUP = 1024, MAX_RESIDENT = 64 };
static const uint32_t max_shared_bytes = 1u << 20;
static const uint64_t memory_limit = 8ull << 30;

const char backend_name[] = NAME;
const uint32_t backend_memory =
  VYRE_MEMORY_DEVICE_LOCAL | VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT;

/* ---- Capabilities ---------------------------------------------------------------------------- */

/* All but loads of 16 bytes in one access. */
static const uint64_t satisfied_needs =
#define X(name, bit, spelling, use) 1ull << (bit) |
#include <vyre/needs.def>
#undef X
  0;
static const uint64_t missing_needs = VYRE_NEED_ATOMIC_LOAD128;

static void describe(const vyre_plugin *plugin, vyre_capabilities *out) {
  vyre_capabilities c = {
    .size = sizeof c,
    .kind = VYRE_DEVICE_CPU,
    .profile = NAME,
    .name = "kernel interpreter",
    .driver = NAME " " VERSION,
    .driver_version = 1,
    .pci = UINT64_MAX,
    .numa_node = -1,
    .dlpack_type = 1, /* kDLCPU */
    .forward_progress = VYRE_PROGRESS_WORKGROUPS,
    .needs = satisfied_needs & ~missing_needs,
    .numeric = VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_ZERO_ORDER,
    .subgroup_sizes = 1 + 2 + 4 + 8 + 16 + 32,
    .subgroup_size = plugin != NULL ? plugin->subgroup : SUBGROUP,
    .max_workgroup_invocations = MAX_WORKGROUP,
    .max_workgroup = { MAX_WORKGROUP, MAX_WORKGROUP, MAX_WORKGROUP },
    .max_shared_bytes = max_shared_bytes,
    .max_bindings = VYRE_MAX_DECLARATIONS,
    .max_param_bytes = VYRE_MAX_DECLARATIONS * 8,
  };
  if (plugin != NULL) {
    c.can = VYRE_CAN_DEVICE_LENGTH | VYRE_CAN_INDIRECT_GRID | VYRE_CAN_TIMESTAMP;
    c.max_queues = BACKEND_MAX_QUEUES;
    c.max_buffer_bytes = plugin->memory_limit;
    c.binding_alignment = 16;
    c.import_kinds = c.export_kinds = 1u << VYRE_HANDLE_HOST_POINTER;
    c.memory_type_count = c.memory_heap_count = 1;
    c.memory_types[0].properties = backend_memory;
    c.memory_heaps[0] = (vyre_memory_heap){ plugin->memory_limit, VYRE_MEMORY_DEVICE_LOCAL, 0 };
  }
  backend_answer(out, &c, sizeof c);
}

/* Opcodes of the kernel form that the engine takes, with every type that the form gives them. What is not here (transcendentals,
 * RSQRT, SHOULD_STOP, TRAP, PRINT) comes expanded into these. */
#define TAKEN(name) { VYRE_KERNEL_##name, 0, UINT64_MAX }
static const vyre_opcode_support opcodes[] = {
  TAKEN(PARAM), TAKEN(SPEC), TAKEN(HIDDEN), TAKEN(LENGTH), TAKEN(GID), TAKEN(WID), TAKEN(LID), TAKEN(NWG), TAKEN(LANE),
  TAKEN(SUBGROUP_ID), TAKEN(SUBGROUP_SIZE), TAKEN(NUM_SUBGROUPS),
  TAKEN(ADD), TAKEN(SUB), TAKEN(MUL), TAKEN(DIV), TAKEN(REM), TAKEN(MULHI), TAKEN(MIN), TAKEN(MAX), TAKEN(NEG),
  TAKEN(ABS), TAKEN(FMA),
  TAKEN(AND), TAKEN(OR), TAKEN(XOR), TAKEN(NOT), TAKEN(SHL), TAKEN(SHR), TAKEN(ROTL), TAKEN(ROTR), TAKEN(POPCOUNT),
  TAKEN(CLZ), TAKEN(CTZ), TAKEN(REVERSE_BITS),
  TAKEN(EQ), TAKEN(NE), TAKEN(LT), TAKEN(LE), TAKEN(SELECT),
  TAKEN(SQRT), TAKEN(FLOOR), TAKEN(CEIL), TAKEN(ROUND), TAKEN(TRUNC),
  TAKEN(RESIZE), TAKEN(TO_FLOAT), TAKEN(TO_INT), TAKEN(REFLOAT), TAKEN(BITCAST), TAKEN(FROM_F16), TAKEN(TO_F16),
  TAKEN(FROM_BF16), TAKEN(TO_BF16), TAKEN(VECTOR), TAKEN(EXTRACT),
  TAKEN(LOAD), TAKEN(STORE),
  { VYRE_KERNEL_ATOMIC_LOAD, 0, ~VYRE_KERNEL_TYPE_BIT(U32X4) }, TAKEN(ATOMIC_STORE), TAKEN(ATOMIC_ADD),
  TAKEN(ATOMIC_SUB), TAKEN(ATOMIC_AND), TAKEN(ATOMIC_OR), TAKEN(ATOMIC_XOR), TAKEN(ATOMIC_MIN), TAKEN(ATOMIC_MAX),
  TAKEN(ATOMIC_XCHG), TAKEN(ATOMIC_CAS),
  TAKEN(COPY_ASYNC), TAKEN(COMMIT), TAKEN(WAIT), TAKEN(FENCE), TAKEN(BARRIER), TAKEN(GRID_BARRIER),
  TAKEN(SUBGROUP_ADD), TAKEN(SUBGROUP_MUL), TAKEN(SUBGROUP_MIN), TAKEN(SUBGROUP_MAX), TAKEN(SUBGROUP_AND),
  TAKEN(SUBGROUP_OR), TAKEN(SUBGROUP_XOR), TAKEN(SUBGROUP_INCLUSIVE_ADD), TAKEN(SUBGROUP_INCLUSIVE_MIN),
  TAKEN(SUBGROUP_INCLUSIVE_MAX), TAKEN(SUBGROUP_EXCLUSIVE_ADD), TAKEN(SUBGROUP_EXCLUSIVE_MIN),
  TAKEN(SUBGROUP_EXCLUSIVE_MAX), TAKEN(SUBGROUP_ANY), TAKEN(SUBGROUP_ALL), TAKEN(SUBGROUP_BALLOT), TAKEN(BROADCAST),
  TAKEN(SHUFFLE), TAKEN(SHUFFLE_XOR), TAKEN(SHUFFLE_UP), TAKEN(SHUFFLE_DOWN),
  TAKEN(CLOCK), TAKEN(PAUSE),
};

/* ---- Blobs ----------------------------------------------------------------------------------- */

static const char magic[8] = "VYTEMPL1";

/* In front of the kernel. */
typedef struct blob_header {
  char magic[8];
  char build_id[32];
  char profile[32];
  uint64_t digest;        /* FNV-1a of header and kernel, this member being 0 */
  uint64_t kernel_bytes;
  uint64_t needs;         /* VYRE_NEED_* */
} blob_header;

static uint64_t hash_on(uint64_t hash, const void *data, uint64_t count) {
  const uint8_t *bytes = data;
  for (uint64_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}

/* Nothing that was changed in a blob is taken. */
static uint64_t digest(const blob_header *header, const void *kernel) {
  blob_header own = *header;
  own.digest = 0;
  return hash_on(hash_on(0xCBF29CE484222325u, &own, sizeof own), kernel, header->kernel_bytes);
}

static vyre_status check_needs(uint64_t needs, vyre_error *error) {
  static const struct { uint64_t bit; const char *spelling; } names[] = {
#define X(name, bit, spelling, use) { 1ull << (bit), spelling },
#include <vyre/needs.def>
#undef X
  };
  uint64_t missing = needs & ~(satisfied_needs & ~missing_needs);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (missing & names[i].bit)
      return backend_fail(error, VYRE_ERR_UNSUPPORTED, NAME,
                          "the program needs %s, which this backend has not. Fix: run it on another one",
                          names[i].spelling);
  if (missing == 0) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_UNSUPPORTED, NAME,
                      "the program needs capabilities 0x%llx that are not known here. Fix: use a newer plugin",
                      (unsigned long long)missing);
}

static vyre_status prepare(const void *kernel, uint64_t bytes, engine_code **code, vyre_error *error) {
  engine_fault fault;
  vyre_status status = engine_prepare(kernel, bytes, code, &fault);
  return status == VYRE_OK ? status : backend_fail(error, status, NAME, "%s", fault.text);
}

/* The kernel has values of its spec constants; those of the request win. */
static vyre_status fix_specs(engine_code *code, const vyre_compile_request *request, vyre_error *error) {
  for (uint64_t i = 0; i < request->spec_count; i++)
    if (!engine_fix_spec(code, request->spec[i].id, request->spec[i].bits))
      return backend_fail(error, VYRE_ERR_INVALID_ARGUMENT, NAME,
                          "a value is given for spec constant %u, which the kernel does not have. Fix: lower the kernel "
                          "with the spec constants of the request",
                          request->spec[i].id);
  return VYRE_OK;
}

static vyre_status write_blob(const vyre_host *host, const engine_code *code, vyre_bytes *blob, vyre_error *error) {
  uint64_t kernel_bytes = code->header->bytes;
  blob_header header = { .kernel_bytes = kernel_bytes, .needs = code->header->needs };
  memcpy(header.magic, magic, sizeof magic);
  strncpy(header.build_id, BUILD_ID, sizeof header.build_id - 1);
  strncpy(header.profile, NAME, sizeof header.profile - 1);
  header.digest = digest(&header, code->kernel);
  uint8_t *bytes = host->alloc(host->ctx, sizeof header + kernel_bytes, 16);
  if (bytes == NULL) return backend_no_memory(error);
  memcpy(bytes, &header, sizeof header);
  memcpy(bytes + sizeof header, code->kernel, kernel_bytes);
  blob->data = bytes;
  blob->length = sizeof header + kernel_bytes;
  return VYRE_OK;
}

static vyre_status compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *given,
                           vyre_bytes *blob, vyre_error *error) {
  const uint32_t known =
    VYRE_COMPILE_ULP | VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED | VYRE_COMPILE_STEPS;
  vyre_compile_request own, *request = &own;
  (void)target;
  blob->data = NULL;
  blob->length = 0;
  backend_take(&own, sizeof own, given);
  vyre_status status = backend_check_flags("a compile request", request->flags, known, error);
  if (status != VYRE_OK) return status;
  engine_code *code;
  status = prepare(request->kernel, request->kernel_bytes, &code, error);
  if (status != VYRE_OK) return status;
  status = check_needs(code->header->needs, error);
  if (status == VYRE_OK) status = fix_specs(code, request, error);
  if (status == VYRE_OK) status = write_blob(host, code, blob, error);
  engine_free(code);
  return status;
}

static vyre_status bad_blob(vyre_error *error, const char *what) {
  return backend_fail(error, VYRE_ERR_INVALID_FILE, NAME, "the executable %s. Fix: compile the program again", what);
}

/* A blob comes from anywhere: its kernel is checked again before anything of it runs. */
static vyre_status read_blob(const uint8_t *blob, uint64_t bytes, engine_code **code, vyre_error *error) {
  blob_header header;
  if (bytes < sizeof header) return bad_blob(error, "is cut off");
  memcpy(&header, blob, sizeof header);
  if (memcmp(header.magic, magic, sizeof magic) != 0) return bad_blob(error, "was not compiled by " NAME);
  if (header.kernel_bytes != bytes - sizeof header) return bad_blob(error, "has another length than it says");
  if (header.build_id[sizeof header.build_id - 1] != 0 || header.profile[sizeof header.profile - 1] != 0)
    return bad_blob(error, "is damaged");
  if (strcmp(header.build_id, BUILD_ID) != 0 || strcmp(header.profile, NAME) != 0)
    return backend_fail(error, VYRE_ERR_UNSUPPORTED, NAME,
                        "the executable was compiled by build %s for %s, this is build " BUILD_ID " of " NAME
                        ". Fix: compile it again",
                        header.build_id, header.profile);
  const uint8_t *kernel = blob + sizeof header;
  if (digest(&header, kernel) != header.digest) return bad_blob(error, "is damaged");
  vyre_status status = prepare(kernel, header.kernel_bytes, code, error);
  if (status != VYRE_OK) return status;
  status = check_needs((*code)->header->needs, error);
  if (status != VYRE_OK) engine_free(*code);
  return status;
}

/* A text as memory of the host. */
static vyre_status give_text(const vyre_host *host, const char *text, size_t length, vyre_bytes *out,
                             vyre_error *error) {
  void *data = host->alloc(host->ctx, length, 16);
  if (data == NULL) return backend_no_memory(error);
  memcpy(data, text, length);
  out->data = data;
  out->length = length;
  return VYRE_OK;
}

static vyre_status disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *out,
                               vyre_error *error) {
  engine_code *code;
  char *text = NULL;
  size_t length = 0;
  out->data = NULL;
  out->length = 0;
  vyre_status status = read_blob(blob, bytes, &code, error);
  if (status != VYRE_OK) return status;
  FILE *to = open_memstream(&text, &length);
  if (to != NULL) {
    fprintf(to, "; build " BUILD_ID ", profile " NAME ", %llu bytes\n", (unsigned long long)bytes);
    engine_print(code, to);
  }
  engine_free(code);
  bool is_complete = to != NULL && !ferror(to);
  if (to != NULL) is_complete = fclose(to) == 0 && is_complete;
  status = is_complete ? give_text(host, text, length, out, error) : backend_no_memory(error);
  free(text);
  return status;
}

/* ---- Executables ----------------------------------------------------------------------------- */

static void executable_destroy(vyre_plugin_executable *executable) {
  engine_free(executable->code);
  free(executable->bindings);
  free(executable);
}

/* What the objects have to know of the kernel. False without memory. */
static bool fill_executable(vyre_plugin_executable *e, const engine_code *code) {
  const vyre_kernel_header *h = code->header;
  e->name = code->name;
  e->binding_count = h->bindings.count;
  e->param_bytes = h->param_bytes;
  e->bindings = calloc((size_t)h->bindings.count + 1, sizeof *e->bindings);
  if (e->bindings == NULL) return false;
  for (uint32_t i = 0; i < h->bindings.count; i++) {
    const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i);
    e->bindings[i].name = engine_text(code, b->name);
    e->bindings[i].element_bytes = engine_element_bytes(b->element);
  }
  return true;
}

static vyre_status executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = backend_check_process(device, error);
  if (status != VYRE_OK) return status;
  engine_code *code;
  status = read_blob(blob, bytes, &code, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_executable *executable = calloc(1, sizeof *executable);
  if (executable == NULL || !fill_executable(executable, code)) {
    engine_free(code);
    free(executable);
    return backend_no_memory(error);
  }
  executable->device = device;
  executable->code = code;
  *out = executable;
  return VYRE_OK;
}

static uint64_t residents(const vyre_plugin_executable *executable) {
  uint64_t fit = executable->device->plugin->memory_limit / engine_group_bytes(executable->code);
  return fit < MAX_RESIDENT ? fit : MAX_RESIDENT;
}

static vyre_status max_resident(vyre_plugin_executable *executable, uint64_t *workgroups, vyre_error *error) {
  (void)error;
  *workgroups = residents(executable);
  return VYRE_OK;
}

static vyre_status executable_report(vyre_plugin_executable *executable, vyre_launch_report *out, vyre_error *error) {
  const engine_code *code = executable->code;
  const vyre_kernel_entry *entry = VYRE_KERNEL_AT(vyre_kernel_entry, code->header, entries, 0);
  vyre_launch_report report = {
    .flags = code->resident ? VYRE_REPORT_NATIVE_GRID_BARRIER : 0,
    .subgroup_size = entry->subgroup != 0 ? entry->subgroup : executable->device->plugin->subgroup,
    .entry_points = code->header->entries.count,
    .shared_bytes = entry->shared_bytes,
    .scratch_bytes = entry->local_bytes,
    .max_resident = residents(executable),
  };
  vyre_status status = backend_check_process(executable->device, error);
  if (status != VYRE_OK) return status;
  memcpy(report.declared_workgroup, entry->workgroup, sizeof report.declared_workgroup);
  memcpy(report.planned_workgroup, entry->workgroup, sizeof report.planned_workgroup);
  pthread_mutex_lock(&executable->device->lock);
  memcpy(report.launched_grid, executable->grid, sizeof report.launched_grid);
  report.launches = executable->launches;
  pthread_mutex_unlock(&executable->device->lock);
  report.spill_bytes = code->header->spill_bytes * report.launched_grid[0] * report.launched_grid[1] *
                       report.launched_grid[2];
  backend_answer(out, &report, sizeof report);
  return VYRE_OK;
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

static void add_report(vyre_completion *c, const engine_report *report) {
  if (report->trap_count > 0 && c->trap_count == 0) {
    c->trap_code = report->trap_code;
    memcpy(c->trap_gid, report->trap_gid, sizeof c->trap_gid);
  }
  c->trap_count += report->trap_count;
  c->masked_loads += report->masked_loads;
  c->masked_stores += report->masked_stores;
  c->masked_atomics += report->masked_atomics;
  c->prints_written += report->prints_written;
  c->prints_dropped += report->prints_dropped;
}

static vyre_status check_budgets(const backend_launch *from, const engine_code *code, vyre_error *error) {
  if (from->dispatch->work_budget > UINT32_MAX)
    return backend_fail(error, VYRE_ERR_LIMIT, from->executable->name,
                        "a work budget of %llu is above the limit of %u. Fix: give a smaller one or none",
                        (unsigned long long)from->dispatch->work_budget, UINT32_MAX);
  if (from->dispatch->time_budget_ns != 0 && code->header->flags & VYRE_KERNEL_NO_TIME_BUDGET)
    return backend_fail(error, VYRE_ERR_UNSUPPORTED, from->executable->name,
                        "the kernel was lowered without a clock. Fix: give no time budget");
  return VYRE_OK;
}

vyre_status backend_run(const backend_launch *from, vyre_completion *completion, uint64_t *printed,
                        vyre_error *error) {
  const vyre_plugin_executable *executable = from->executable;
  const vyre_plugin *plugin = executable->device->plugin;
  vyre_status status = check_budgets(from, executable->code, error);
  if (status != VYRE_OK) return status;
  engine_memory *bound = calloc((size_t)executable->binding_count + 1, sizeof *bound);
  if (bound == NULL) return backend_no_memory(error);
  for (uint32_t i = 0; i < executable->binding_count; i++)
    bound[i] = (engine_memory){ from->data[i], from->bytes[i] };
  engine_launch launch = {
    .code = executable->code,
    .bound = bound,
    .elements = from->elements,
    .params = from->params,
    .grid = { from->grid[0], from->grid[1], from->grid[2] },
    .subgroup = plugin->subgroup,
    .reverse = plugin->reverse,
    .memory_limit = plugin->memory_limit,
    .stop = from->stop,
    .time_budget_ns = from->dispatch->time_budget_ns,
    .work_budget = from->dispatch->work_budget,
    .cancel = from->cancel,
    .prints = from->prints,
    .print_words = from->print_words,
    .command = from->command,
  };
  engine_report report;
  engine_fault fault = { .text = "" };
  status = engine_run(&launch, &report, &fault);
  free(bound);
  add_report(completion, &report);
  *printed += report.print_words;
  return status == VYRE_OK ? status : backend_fail(error, status, executable->name, "%s", fault.text);
}

/* ---- Instances ------------------------------------------------------------------------------- */

static vyre_status probe(const vyre_host *host, vyre_error *error) {
  (void)host, (void)error;
  return VYRE_OK;
}

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  (void)host;
  if (index > 0)
    return backend_fail(error, VYRE_ERR_NOT_FOUND, NAME, "There is one profile, number 0. Fix: ask for that.");
  describe(NULL, out);
  return VYRE_OK;
}

static vyre_status plugin_open(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return backend_no_memory(error);
  uint64_t subgroup = backend_configured(host, "subgroup_size", SUBGROUP);
  bool power = subgroup != 0 && subgroup <= TEMPLATE_MAX_LANES && (subgroup & (subgroup - 1)) == 0;
  (*out)->host = host;
  (*out)->subgroup = power ? (uint32_t)subgroup : SUBGROUP;
  (*out)->memory_limit = backend_configured(host, "memory_limit", memory_limit);
  return VYRE_OK;
}

static void plugin_close(vyre_plugin *plugin) { free(plugin); }

static vyre_status device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error) {
  (void)plugin, (void)error;
  *count = 1;
  return VYRE_OK;
}

static vyre_status device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  if (index != 0)
    return backend_fail(error, VYRE_ERR_NOT_FOUND, NAME, "There is one device, number 0. Fix: ask for that.");
  describe(plugin, out);
  return VYRE_OK;
}

/* ---- The export ------------------------------------------------------------------------------ */

static const vyre_backend_ops ops = {
  .size = sizeof ops,
  .probe = probe,
  .profile = profile,
  .compile = compile,
  .disassemble = disassemble,
  .open = plugin_open,
  .close = plugin_close,
  .device_count = device_count,
  .device_describe = device_describe,
  .device_open = backend_device_open,
  .device_close = backend_device_close,
  .executable_load = executable_load,
  .executable_destroy = executable_destroy,
  .executable_report = executable_report,
  .max_resident = max_resident,
  .buffer_create = backend_buffer_create,
  .buffer_destroy = backend_buffer_destroy,
  .buffer_map = backend_buffer_map,
  .buffer_flush = backend_buffer_sync,
  .buffer_invalidate = backend_buffer_sync,
  .buffer_export = backend_buffer_export,
  .set_create = backend_set_create,
  .set_destroy = backend_set_destroy,
  .batch_create = backend_batch_create,
  .batch_destroy = backend_batch_destroy,
  .queue_create = backend_queue_create,
  .queue_destroy = backend_queue_destroy,
  .submit = backend_submit,
  .timeline_create = backend_timeline_create,
  .timeline_destroy = backend_timeline_destroy,
  .timeline_value = backend_timeline_value,
  .timeline_signal = backend_timeline_signal,
  .timeline_wait = backend_timeline_wait,
  .native = backend_native,
};

static const vyre_backend_desc desc = {
  .magic = VYRE_ABI_MAGIC,
  .size = sizeof desc,
  .abi_major = VYRE_ABI_MAJOR,
  .abi_minor = VYRE_ABI_MINOR,
  .flags = VYRE_BACKEND_TAKES_KERNEL,
  .sanitizer = VYRE_ABI_SANITIZER,
  .fingerprint = VYRE_ABI_FINGERPRINT,
  .name = NAME,
  .version = VERSION,
  .build_id = BUILD_ID,
  .ops = &ops,
  .opcodes = opcodes,
  .opcode_count = sizeof opcodes / sizeof *opcodes,
};

VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request);

const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request) {
  (void)request;
  return &desc;
}
