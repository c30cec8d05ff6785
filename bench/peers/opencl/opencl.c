/* The OpenCL peer, for PoCL's CPU device. Buffers lie in host memory that the device uses where it is, so that nothing
 * is copied for any clock. The width of a work-item and the size of a work-group are those that were fastest here. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#include "../divide.h"
#include "../peer.h"
#include "kernels_cl.h"
#include "peer_identity.h"

enum { MAX_INPUTS = 2, MAX_SETS = 64, DIVISORS = 6 };

/* |kernel| maps; if |reduces|, sum_parts and sum_all take its place. */
typedef struct cl_work {
  const char *id, *type, *inputs[MAX_INPUTS], *output, *kernel;
  size_t element;
  bool reduces;
} cl_work;

static const cl_work works[] = {
  {"elementwise.add", "f32", {"a", "b"}, "o", "add_f32", 4, false},
  {"elementwise.add", "u8", {"a", "b"}, "o", "add_u8", 1, false},
  {"elementwise.add", "f16", {"a", "b"}, "o", "add_f16", 2, false},
  {"elementwise.add", "bf16", {"a", "b"}, "o", "add_bf16", 2, false},
  {"integer.strength_reduction", "u32", {"x"}, "o", "reduce_strength", 4, false},
  {"integer.strength_reduction.exact", "u32", {"x"}, "o", "divide_exact", 4, false},
  {"integer.strength_reduction.runtime", "u32", {"x"}, "o", "reduce_runtime", 4, false},
  {"reduce.sum", "u32", {"v"}, "o", NULL, 4, true},
};

typedef struct buffer {
  void *host;
  cl_mem memory;
} buffer;

/* A way to launch. */
typedef struct plan {
  cl_kernel kernel;
  uint32_t wide;
  size_t global, local; /* local 0: the implementation's choice */
} plan;

static struct {
  const cl_work *work;
  const peer_array *result;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program narrow, vector; /* WIDE 1 and 16 */
  buffer in[MAX_SETS][MAX_INPUTS], out[MAX_SETS], parts;
  uint32_t set_count, next, last;
  cl_ulong n;
  plan plan;
  cl_kernel sum_all;
  bool by_runtime;
  cl_uint8 dividers[4]; /* divisors, magic numbers, first and second shifts */
} me;

#define TRY(call)                                                                      \
  do {                                                                                 \
    cl_int code_ = (call);                                                             \
    if (code_ != CL_SUCCESS) return peer_reason("OpenCL error %d of %s", code_, #call); \
  } while (0)

static const char *find_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char name[128] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (strcmp(name, "Portable Computing Language")) continue;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &me.device, NULL) == CL_SUCCESS) return NULL;
  }
  return "there is no CPU device of PoCL. Fix: install its driver (Debian: pocl-opencl-icd)";
}

static const char *build_program(const char *options, cl_program *out) {
  const char *source = cl_source;
  cl_int code;
  *out = clCreateProgramWithSource(me.context, 1, &source, NULL, &code);
  TRY(code);
  if (clBuildProgram(*out, 1, &me.device, options, NULL, NULL) == CL_SUCCESS) return NULL;
  static char log[512];
  clGetProgramBuildInfo(*out, me.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  return peer_reason("the kernels do not compile: %s", log);
}

static const char *open_device(void) {
  const char *fault = find_device();
  if (fault) return fault;
  cl_int code;
  me.context = clCreateContext(NULL, 1, &me.device, NULL, NULL, &code);
  TRY(code);
  me.queue = clCreateCommandQueue(me.context, me.device, 0, &code);
  TRY(code);
  fault = build_program("-cl-std=CL1.2 -DWIDE=1", &me.narrow);
  return fault ? fault : build_program("-cl-std=CL1.2 -DWIDE=16", &me.vector);
}

/* ---- Buffers ---- */

static const char *make_buffer(uint64_t bytes, const void *from, buffer *out) {
  out->host = peer_memory(bytes);
  if (!out->host) return "out of memory";
  if (from) memcpy(out->host, from, bytes);
  cl_int code;
  out->memory = clCreateBuffer(me.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, out->host, &code);
  TRY(code);
  return NULL;
}

static const char *take_arrays(const peer_work *work) {
  me.result = peer_find(work, me.work->output);
  me.n = peer_find(work, me.work->inputs[0])->count;
  if (me.n == 0 || me.result->count != (me.work->reduces ? 1 : me.n)) return "the output has not the input's length";
  me.set_count = peer_buffer_sets(work, MAX_SETS);
  if (!me.set_count) return peer_reason("buffer_sets is not 1 to %d", MAX_SETS);
  const char *fault = NULL;
  for (uint32_t s = 0; !fault && s < me.set_count; s++) {
    for (int k = 0; !fault && k < MAX_INPUTS && me.work->inputs[k]; k++) {
      const peer_array *input = peer_find(work, me.work->inputs[k]);
      if (input->count != me.n || strcmp(input->type, me.work->type)) return "the inputs differ in length or type";
      fault = make_buffer(input->bytes, input->host, &me.in[s][k]);
    }
    if (!fault) fault = make_buffer(me.result->bytes, NULL, &me.out[s]);
  }
  return fault;
}

static const char *take_divisors(const peer_work *work) {
  me.by_runtime = true;
  for (int k = 0; k < DIVISORS; k++) {
    const char name[] = {'d', (char)('0' + k), '\0'};
    double value = peer_value(work, name);
    if (!(value >= 1 && value <= UINT32_MAX)) return peer_reason("divisor %s is %g, not 1 to 2^32 - 1", name, value);
    divider by = divider_of((uint32_t)value);
    me.dividers[0].s[k] = by.divisor;
    me.dividers[1].s[k] = by.magic;
    me.dividers[2].s[k] = by.first;
    me.dividers[3].s[k] = by.second;
  }
  return NULL;
}

/* ---- One launch ---- */

static const char *enqueue(cl_kernel kernel, size_t global, size_t local) {
  TRY(clEnqueueNDRangeKernel(me.queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
  return NULL;
}

static const char *enqueue_map(uint32_t set) {
  cl_uint k = 0;
  for (; k < MAX_INPUTS && me.work->inputs[k]; k++)
    TRY(clSetKernelArg(me.plan.kernel, k, sizeof(cl_mem), &me.in[set][k].memory));
  TRY(clSetKernelArg(me.plan.kernel, k, sizeof(cl_mem), &me.out[set].memory));
  TRY(clSetKernelArg(me.plan.kernel, k + 1, sizeof me.n, &me.n));
  for (cl_uint a = 0; me.by_runtime && a < 4; a++)
    TRY(clSetKernelArg(me.plan.kernel, k + 2 + a, sizeof *me.dividers, &me.dividers[a]));
  return enqueue(me.plan.kernel, me.plan.global, me.plan.local);
}

static const char *enqueue_sum(uint32_t set) {
  cl_ulong parts = me.plan.global;
  TRY(clSetKernelArg(me.plan.kernel, 0, sizeof(cl_mem), &me.in[set][0].memory));
  TRY(clSetKernelArg(me.plan.kernel, 1, sizeof(cl_mem), &me.parts.memory));
  TRY(clSetKernelArg(me.plan.kernel, 2, sizeof me.n, &me.n));
  const char *fault = enqueue(me.plan.kernel, me.plan.global, me.plan.local);
  if (fault) return fault;
  TRY(clSetKernelArg(me.sum_all, 0, sizeof(cl_mem), &me.parts.memory));
  TRY(clSetKernelArg(me.sum_all, 1, sizeof(cl_mem), &me.out[set].memory));
  TRY(clSetKernelArg(me.sum_all, 2, sizeof parts, &parts));
  return enqueue(me.sum_all, 1, 1);
}

/* One operation, until it is done. */
static const char *launch(void) {
  const char *fault;
  if (!me.work) fault = enqueue(me.plan.kernel, me.plan.global, me.plan.local);
  else fault = me.work->reduces ? enqueue_sum(me.next) : enqueue_map(me.next);
  if (fault) return fault;
  me.last = me.next;
  me.next = (me.next + 1) % me.set_count;
  TRY(clFinish(me.queue));
  return NULL;
}

/* ---- The fastest way ---- */

static const char *try_out(const plan *candidate, plan *best, double *best_ns) {
  me.plan = *candidate;
  const char *fault = launch(); /* compiles for this size */
  double begun = peer_now();
  for (int i = 0; !fault && (i < 3 || (i < 1000 && peer_now() - begun < 3e6)); i++) {
    double start = peer_now();
    fault = launch();
    double took = peer_now() - start;
    if (took >= *best_ns) continue;
    *best_ns = took;
    *best = *candidate;
  }
  return fault;
}

static const char *tune_map(void) {
  static const size_t locals[] = {0, 64, 256, 1024, 4096};
  size_t most = 0;
  TRY(clGetDeviceInfo(me.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
  plan best = {0};
  double best_ns = 1e300;
  for (uint32_t wide = 1; wide <= 16; wide *= 16) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(wide == 1 ? me.narrow : me.vector, me.work->kernel, &code);
    TRY(code);
    size_t items = (size_t)(me.n + wide - 1) / wide;
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++) {
      size_t local = locals[i], unit = local ? local : 64;
      if (local > most || (local > 64 && local > items)) continue;
      plan candidate = {kernel, wide, (items + unit - 1) / unit * unit, local};
      const char *fault = try_out(&candidate, &best, &best_ns);
      if (fault) return fault;
    }
  }
  me.plan = best;
  return NULL;
}

static const char *tune_sum(void) {
  enum { MOST_PARTS = 4096 };
  const char *fault = make_buffer(MOST_PARTS * sizeof(cl_uint), NULL, &me.parts);
  if (fault) return fault;
  cl_int code;
  cl_kernel kernel = clCreateKernel(me.vector, "sum_parts", &code);
  TRY(code);
  me.sum_all = clCreateKernel(me.vector, "sum_all", &code);
  TRY(code);
  plan best = {0};
  double best_ns = 1e300;
  for (size_t parts = 1; parts <= MOST_PARTS; parts *= 2) {
    plan candidate = {kernel, 16, parts, 1};
    if ((fault = try_out(&candidate, &best, &best_ns))) return fault;
  }
  me.plan = best;
  return NULL;
}

static const char *prepare_launch_probe(void) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(me.narrow, "nothing", &code);
  TRY(code);
  me.plan = (plan){kernel, 1, 1, 1};
  me.set_count = 1;
  return NULL;
}

static const cl_work *find_work(const peer_work *work) {
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    if (strcmp(works[i].id, work->id)) continue;
    if (!strcmp(works[i].type, peer_find(work, works[i].output)->type)) return &works[i];
  }
  return NULL;
}

static void identify(peer_identity *identity) {
  static char version[128], device[128], how[160];
  clGetDeviceInfo(me.device, CL_DRIVER_VERSION, sizeof version - 1, version, NULL);
  clGetDeviceInfo(me.device, CL_DEVICE_NAME, sizeof device - 1, device, NULL);
  if (me.work)
    snprintf(how, sizeof how,
             "buffers in host memory, %u elements a work-item, %zu work-items, groups of %zu (0: PoCL's choice); "
             "fastest of those tried", me.plan.wide, me.plan.global, me.plan.local);
  else
    snprintf(how, sizeof how, "clEnqueueNDRangeKernel of one work-item without work, clFinish");
  identity->name = PEER_NAME;
  identity->version = version;
  identity->build = PEER_BUILD;
  identity->flags = "-cl-std=CL1.2";
  identity->how = how;
  identity->device = device;
  identity->kind = "cpu";
}

static const char *prepare(const peer_work *work, peer_identity *identity) {
  bool launch_probe = !strcmp(work->id, "probe.t_launch");
  me.work = peer_is_probe(work) ? NULL : find_work(work);
  if (!me.work && !launch_probe) return peer_reason("there is no \"%s\" of this type", work->id);
  const char *fault = open_device();
  if (!fault && launch_probe) fault = prepare_launch_probe();
  if (!fault && me.work) fault = take_arrays(work);
  if (!fault && !strcmp(work->id, "integer.strength_reduction.runtime")) fault = take_divisors(work);
  if (!fault && me.work) fault = me.work->reduces ? tune_sum() : tune_map();
  if (fault) return fault;
  identify(identity);
  for (int k = 0; me.work && k < MAX_INPUTS && me.work->inputs[k]; k++) identity->bytes += me.n * me.work->element;
  if (me.work && !me.work->reduces) identity->bytes += me.n * me.work->element;
  return NULL;
}

/* ---- Measuring ---- */

/* The host's memory is the device's, so the wall clocks are the same. */
static const char *sample(peer_clock clock, uint32_t launches, peer_times *times) {
  if (clock == PEER_DEVICE) return "a CPU has no clock of its own";
  double start = peer_now();
  for (uint32_t i = 0; i < launches; i++) {
    const char *fault = launch();
    if (fault) return fault;
  }
  times->wall_ns = (peer_now() - start) / launches;
  return NULL;
}

/* Maps the buffer, which in host memory only makes it the host's turn, and calls |use| on it. */
static const char *with_result(uint32_t set, void (*use)(void *result)) {
  cl_int code;
  void *result = clEnqueueMapBuffer(me.queue, me.out[set].memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                    me.result->bytes, 0, NULL, NULL, &code);
  TRY(code);
  use(result);
  TRY(clEnqueueUnmapMemObject(me.queue, me.out[set].memory, result, 0, NULL, NULL));
  TRY(clFinish(me.queue));
  return NULL;
}

static void copy_out(void *result) {
  memcpy(me.result->host, result, me.result->bytes);
}

static void spoil(void *result) {
  memset(result, 0xA5, me.result->bytes);
}

static const char *output(void) {
  return me.work ? with_result(me.last, copy_out) : NULL;
}

static const char *poison(void) {
  const char *fault = NULL;
  for (uint32_t s = 0; me.work && !fault && s < me.set_count; s++) fault = with_result(s, spoil);
  return fault;
}

int main(void) {
  return peer_main(&(peer_program){prepare, sample, output, poison});
}
