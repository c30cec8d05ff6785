/* The Vulkan peer: GLSL compute shaders on the first GPU, or on a CPU if there is none. The size of a workgroup, the
 * words an invocation takes and the number of workgroups are those that were fastest on the case's own arrays. What a
 * clock asks for is recorded once and submitted again and again. */
#include <stdio.h>
#include <string.h>

#include "../divide.h"
#include "device.h"
#include "peer_identity.h"
#include "shaders.h"

enum { MAX_INPUTS = 2, MAX_SETS = 64, DIVISORS = 6, WORD = 16, SUM_WIDTH = 256 };
#define TUNING_NS 2e9
static const uint32_t poison_word = 0xA5A5A5A5;

typedef enum action { MAP, SUM, NOTHING, TO_DEVICE, TO_HOST } action;

/* A probe has no arrays: |probe_bytes| is the size of those that it makes. */
typedef struct vk_work {
  const char *id, *type, *inputs[MAX_INPUTS];
  action action;
  const uint32_t *code;
  size_t code_bytes;
  uint64_t probe_bytes;
  bool needs_gpu;
} vk_work;

#define SHADER(name) spv_##name, sizeof spv_##name

static const vk_work works[] = {
  {"elementwise.add", "f32", {"a", "b"}, MAP, SHADER(add_f32), 0, false},
  {"elementwise.add", "u8", {"a", "b"}, MAP, SHADER(add_u8), 0, false},
  {"elementwise.add", "f16", {"a", "b"}, MAP, SHADER(add_f16), 0, false},
  {"elementwise.add", "bf16", {"a", "b"}, MAP, SHADER(add_bf16), 0, false},
  {"integer.strength_reduction", "u32", {"x"}, MAP, SHADER(strength), 0, false},
  {"integer.strength_reduction.runtime", "u32", {"x"}, MAP, SHADER(runtime), 0, false},
  {"integer.strength_reduction.exact", "u32", {"x"}, MAP, SHADER(exact), 0, false},
  {"reduce.sum", "u32", {"v"}, SUM, SHADER(sum), 0, false},
  {"probe.t_launch", "", {NULL}, NOTHING, SHADER(nothing), 0, false},
  {"probe.bw_copy", "", {"a"}, MAP, SHADER(copy), 1u << 30, true},
  {"probe.bw_read", "", {"a"}, SUM, SHADER(sum), 1u << 30, true},
  {"probe.bw_h2d", "", {"a"}, TO_DEVICE, NULL, 0, 256u << 20, true},
  {"probe.bw_d2h", "", {"a"}, TO_HOST, NULL, 0, 256u << 20, true},
};

/* As the shaders declare it. */
typedef struct push {
  VkDeviceAddress in[MAX_INPUTS], out;
  uint32_t n;
  struct {
    uint32_t divisor, magic, first, second;
  } by[DIVISORS];
  uint32_t unused;
} push;

typedef struct buffer_set {
  vk_memory in[MAX_INPUTS], out;
} buffer_set;

typedef struct plan {
  VkPipeline pipeline;
  uint32_t size, vectors, groups;
} plan;

static struct {
  const vk_work *work;
  const peer_array *input[MAX_INPUTS], *result;
  buffer_set sets[MAX_SETS];
  vk_memory to_device[MAX_INPUTS], to_host; /* in host memory, beside memory that the host does not see */
  uint32_t set_count, next, last;
  uint64_t bytes, out_bytes; /* of an input, of the output */
  push push;
  plan plan;
  VkCommandBuffer wall[PEER_E2E + 1][MAX_SETS], series;
  uint32_t series_launches;
} me;

/* ---- Recording ---- */

static void copy(VkCommandBuffer commands, const vk_memory *from, const vk_memory *to, uint64_t bytes) {
  VkBufferCopy all = {0, 0, bytes};
  vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &all);
}

static void dispatch(VkCommandBuffer commands, const buffer_set *set) {
  for (int k = 0; k < MAX_INPUTS; k++) me.push.in[k] = set->in[k].address;
  me.push.out = set->out.address;
  me.push.n = (uint32_t)((me.bytes + WORD - 1) / WORD);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, me.plan.pipeline);
  vkCmdPushConstants(commands, vk.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof me.push, &me.push);
  vkCmdDispatch(commands, me.plan.groups, 1, 1);
}

/* One launch, and what orders the next one after it. */
static void record_launch(VkCommandBuffer commands, const buffer_set *set) {
  switch (me.work->action) {
    case TO_DEVICE: copy(commands, &me.to_device[0], &set->in[0], me.bytes); break;
    case TO_HOST: copy(commands, &set->in[0], &me.to_host, me.bytes); break;
    case SUM:
      vkCmdFillBuffer(commands, set->out.buffer, 0, VK_WHOLE_SIZE, 0);
      vk_barrier(commands);
      dispatch(commands, set);
      break;
    default: dispatch(commands, set);
  }
  vk_barrier(commands);
}

/* What the clock adds to a launch: with unified memory, nothing. */
static const char *record_wall(peer_clock clock, const buffer_set *set, VkCommandBuffer *out) {
  VkCommandBuffer commands;
  const char *fault = vk_begin(&commands);
  if (fault) return fault;
  bool copies = !vk.unified && me.result;
  if (copies && clock == PEER_E2E) {
    for (int k = 0; k < MAX_INPUTS && me.input[k]; k++) copy(commands, &me.to_device[k], &set->in[k], me.bytes);
    vk_barrier(commands);
  }
  record_launch(commands, set);
  if (copies && clock != PEER_RESIDENT) {
    copy(commands, &set->out, &me.to_host, me.out_bytes);
    vk_barrier(commands);
  }
  *out = commands;
  return vk_end(commands);
}

static const char *record_series(uint32_t launches) {
  if (me.series) vk_discard(me.series);
  const char *fault = vk_begin(&me.series);
  if (fault) return fault;
  vkCmdResetQueryPool(me.series, vk.stamps, 0, 2);
  vkCmdWriteTimestamp(me.series, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, vk.stamps, 0);
  for (uint32_t i = 0; i < launches; i++) record_launch(me.series, &me.sets[i % me.set_count]);
  vkCmdWriteTimestamp(me.series, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, vk.stamps, 1);
  me.series_launches = launches;
  return vk_end(me.series);
}

/* ---- Measuring ---- */

static const char *sample_device(uint32_t launches, peer_times *times) {
  if (!vk.stamps) return vk.cpu ? "a CPU has no clock of its own" : "the queue has no timestamps";
  const char *fault = launches == me.series_launches ? NULL : record_series(launches);
  if (fault) return fault;
  double start = peer_now();
  if ((fault = vk_run(me.series))) return fault;
  times->wall_ns = (peer_now() - start) / launches;
  if ((fault = vk_elapsed(&times->device_ns))) return fault;
  times->device_ns /= launches;
  me.last = (launches - 1) % me.set_count;
  return NULL;
}

static const char *sample(peer_clock clock, uint32_t launches, peer_times *times) {
  if (clock == PEER_DEVICE) return sample_device(launches, times);
  if (!me.result && clock != PEER_RESIDENT) return "the probe does not have that clock";
  for (uint32_t s = 0; s < me.set_count; s++) {
    const char *fault = me.wall[clock][s] ? NULL : record_wall(clock, &me.sets[s], &me.wall[clock][s]);
    if (fault) return fault;
  }
  double start = peer_now();
  for (uint32_t i = 0; i < launches; i++) {
    const char *fault = vk_run(me.wall[clock][me.next]);
    if (fault) return fault;
    me.last = me.next;
    me.next = (me.next + 1) % me.set_count;
  }
  times->wall_ns = (peer_now() - start) / launches;
  return NULL;
}

/* Records with |record|, runs it once. */
static const char *run_once(void (*record)(VkCommandBuffer commands)) {
  VkCommandBuffer commands;
  const char *fault = vk_begin(&commands);
  if (fault) return fault;
  record(commands);
  vk_barrier(commands);
  fault = vk_end(commands);
  if (!fault) fault = vk_run(commands);
  vk_discard(commands);
  return fault;
}

static void record_output(VkCommandBuffer commands) {
  copy(commands, &me.sets[me.last].out, &me.to_host, me.out_bytes);
}

static const char *output(void) {
  if (!me.result) return NULL;
  const char *fault = vk.unified ? NULL : run_once(record_output);
  if (!fault) memcpy(me.result->host, vk.unified ? me.sets[me.last].out.host : me.to_host.host, me.out_bytes);
  return fault;
}

static void record_poison(VkCommandBuffer commands) {
  for (uint32_t s = 0; s < me.set_count; s++)
    vkCmdFillBuffer(commands, me.sets[s].out.buffer, 0, VK_WHOLE_SIZE, poison_word);
}

static const char *poison(void) {
  if (!me.result) return NULL;
  if (me.to_host.host) memset(me.to_host.host, 0xA5, me.out_bytes);
  return run_once(record_poison);
}

/* ---- The fastest way ---- */

static const char *time_plan(double *best_ns) {
  VkCommandBuffer commands;
  const char *fault;
  if (vk.stamps) {
    fault = record_series(1);
    commands = me.series;
  } else {
    fault = record_wall(PEER_RESIDENT, &me.sets[0], &commands);
  }
  for (int i = 0; !fault && i < 4; i++) {
    double start = peer_now(), took;
    fault = vk_run(commands);
    took = peer_now() - start;
    if (!fault && vk.stamps) fault = vk_elapsed(&took);
    if (i > 0 && took < *best_ns) *best_ns = took; /* the first one warms */
  }
  if (!vk.stamps) vk_discard(commands);
  return fault;
}

static const char *try_out(plan candidate, plan *best, double *best_ns) {
  if (candidate.groups == 0 || candidate.groups > vk.properties.limits.maxComputeWorkGroupCount[0]) return NULL;
  me.plan = candidate;
  double took = 1e300;
  const char *fault = time_plan(&took);
  if (fault || took >= *best_ns) return fault;
  *best_ns = took;
  *best = candidate;
  return NULL;
}

/* Every word once if so many workgroups are allowed, else as many as are. */
static uint32_t groups_for(uint32_t size, uint32_t vectors) {
  uint64_t words = (me.bytes + WORD - 1) / WORD, each = (uint64_t)size * vectors;
  uint64_t groups = (words + each - 1) / each, most = vk.properties.limits.maxComputeWorkGroupCount[0];
  return (uint32_t)(groups < most ? groups : most);
}

/* A slow device is not asked for long: what was found in that time is taken. */
static const char *tune_map(void) {
  const VkPhysicalDeviceLimits *limits = &vk.properties.limits;
  const double until = peer_now() + TUNING_NS;
  plan best = {0};
  double best_ns = 1e300;
  for (uint32_t size = 64; size <= 1024; size *= 2) {
    if (size > limits->maxComputeWorkGroupInvocations || size > limits->maxComputeWorkGroupSize[0]) break;
    for (uint32_t vectors = 1; vectors <= 4 && peer_now() < until; vectors *= 2) {
      plan candidate = {NULL, size, vectors, groups_for(size, vectors)};
      const char *fault = vk_pipeline(me.work->code, me.work->code_bytes, size, vectors, &candidate.pipeline);
      if (!fault) fault = try_out(candidate, &best, &best_ns);
      if (fault) return fault;
    }
  }
  me.plan = best;
  return NULL;
}

static const char *tune_sum(void) {
  plan best = {0}, candidate = {NULL, SUM_WIDTH, 1, 1};
  double best_ns = 1e300;
  const char *fault = vk_pipeline(me.work->code, me.work->code_bytes, SUM_WIDTH, 1, &candidate.pipeline);
  const double until = peer_now() + TUNING_NS;
  const uint32_t most = groups_for(SUM_WIDTH, 1);
  for (; !fault && candidate.groups <= most && candidate.groups <= 8192 && peer_now() < until; candidate.groups *= 2)
    fault = try_out(candidate, &best, &best_ns);
  me.plan = best;
  return fault;
}

static const char *tune(void) {
  switch (me.work->action) {
    case MAP: return tune_map();
    case SUM: return tune_sum();
    case NOTHING:
      me.plan = (plan){NULL, 1, 1, 1};
      return vk_pipeline(me.work->code, me.work->code_bytes, 1, 1, &me.plan.pipeline);
    default: return NULL;
  }
}

/* ---- Preparing ---- */

static const char *take_arrays(const peer_work *work) {
  uint64_t count = peer_find(work, me.work->inputs[0])->count;
  me.result = peer_find(work, "o");
  me.out_bytes = me.result->bytes;
  for (int k = 0; k < MAX_INPUTS && me.work->inputs[k]; k++) {
    me.input[k] = peer_find(work, me.work->inputs[k]);
    if (me.input[k]->count != count || strcmp(me.input[k]->type, me.work->type))
      return "the inputs differ in length or type";
  }
  me.bytes = me.input[0]->bytes;
  if (count == 0 || me.result->count != (me.work->action == SUM ? 1 : count))
    return "the output has not the input's length";
  return me.bytes / WORD < INT32_MAX ? NULL : "the arrays are too large for the shaders";
}

static void size_probe(const peer_work *work) {
  me.bytes = work->n && me.work->probe_bytes ? work->n / WORD * WORD : me.work->probe_bytes;
  me.out_bytes = me.work->action == MAP ? me.bytes : WORD;
}

static const char *take_divisors(const peer_work *work) {
  for (int k = 0; me.work->code == spv_runtime && k < DIVISORS; k++) {
    const char name[] = {'d', (char)('0' + k), '\0'};
    double value = peer_value(work, name);
    if (!(value >= 1 && value <= UINT32_MAX)) return peer_reason("divisor %s is %g, not 1 to 2^32 - 1", name, value);
    divider by = divider_of((uint32_t)value);
    me.push.by[k].divisor = by.divisor;
    me.push.by[k].magic = by.magic;
    me.push.by[k].first = by.first;
    me.push.by[k].second = by.second;
  }
  return NULL;
}

/* Host memory for what is copied to and from the device. */
static const char *allocate_staging(void) {
  const char *fault = NULL;
  for (int k = 0; !fault && k < MAX_INPUTS && me.work->inputs[k]; k++) {
    fault = vk_allocate(me.bytes, true, &me.to_device[k]);
    if (!fault && me.input[k]) memcpy(me.to_device[k].host, me.input[k]->host, me.bytes);
  }
  uint64_t bytes = me.work->action == TO_HOST ? me.bytes : me.out_bytes;
  return fault ? fault : vk_allocate(bytes, true, &me.to_host);
}

static void record_upload(VkCommandBuffer commands) {
  for (uint32_t s = 0; s < me.set_count; s++)
    for (int k = 0; k < MAX_INPUTS && me.input[k]; k++)
      copy(commands, &me.to_device[k], &me.sets[s].in[k], me.bytes);
}

static const char *fill_sets(void) {
  if (!vk.unified) return run_once(record_upload);
  for (uint32_t s = 0; s < me.set_count; s++)
    for (int k = 0; k < MAX_INPUTS && me.input[k]; k++)
      memcpy(me.sets[s].in[k].host, me.input[k]->host, me.bytes);
  return NULL;
}

static const char *allocate(const peer_work *work) {
  me.set_count = peer_buffer_sets(work, MAX_SETS);
  if (!me.set_count) return peer_reason("buffer_sets is not 1 to %d", MAX_SETS);
  if (me.work->action == NOTHING) return NULL;
  const char *fault = NULL;
  for (uint32_t s = 0; s < me.set_count; s++) {
    for (int k = 0; !fault && k < MAX_INPUTS && me.work->inputs[k]; k++)
      fault = vk_allocate(me.bytes, false, &me.sets[s].in[k]);
    if (!fault) fault = vk_allocate(me.out_bytes, false, &me.sets[s].out);
  }
  if (!fault && !vk.unified) fault = allocate_staging();
  return fault ? fault : fill_sets();
}

static const vk_work *find_work(const peer_work *work) {
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    if (strcmp(works[i].id, work->id)) continue;
    if (peer_is_probe(work) || !strcmp(works[i].type, peer_find(work, "o")->type)) return &works[i];
  }
  return NULL;
}

static void identify(peer_identity *identity) {
  static char how[200];
  if (me.plan.pipeline && me.work->action != NOTHING)
    snprintf(how, sizeof how,
             "16 bytes a load, %u loads an invocation, %u workgroups of %u, recorded once; fastest of those tried%s",
             me.plan.vectors, me.plan.groups, me.plan.size, vk.unified ? "; buffers in host memory" : "");
  else
    snprintf(how, sizeof how, "%s", me.work->action == NOTHING ? "vkCmdDispatch of one workgroup without work, fence"
                                                               : "vkCmdCopyBuffer");
  identity->name = PEER_NAME;
  identity->version = vk.driver;
  identity->build = PEER_BUILD;
  identity->flags = "glslangValidator, SPIR-V as it comes";
  identity->how = how;
  identity->device = vk.properties.deviceName;
  identity->kind = vk.cpu ? "cpu" : "gpu";
  for (int k = 0; k < MAX_INPUTS && me.work->inputs[k]; k++) identity->bytes += me.bytes;
  if (me.work->action == MAP) identity->bytes += me.out_bytes;
}

static const char *prepare(const peer_work *work, peer_identity *identity) {
  me.work = find_work(work);
  if (!me.work) return peer_reason("there is no \"%s\" of this type", work->id);
  const char *fault = vk_open(sizeof(push));
  if (!fault && me.work->needs_gpu && vk.cpu) fault = "the device is a CPU, whose memory other peers measure";
  if (!fault && peer_is_probe(work)) size_probe(work);
  else if (!fault) fault = take_arrays(work);
  if (!fault) fault = take_divisors(work);
  if (!fault) fault = allocate(work);
  if (!fault) fault = tune();
  if (!fault) identify(identity);
  return fault;
}

int main(void) {
  return peer_main(&(peer_program){prepare, sample, output, poison});
}
