/* The numeric self-test: what Vulkan leaves to the device, such as subnormals, exact division and exact fma, and what a
 * driver's compiler is known to get wrong, is found by runs of the emitter's own code, once for each device and driver. */
#include "plugins/vulkan/selftest.h"

#include <string.h>

#include "plugins/vulkan/compile.h"
#include "plugins/vulkan/device.h"
#include "plugins/vulkan/selftest_kernel.h"
#include "plugins/vulkan/spirv.h"

/* Operands and results, in which the copy is the first operand and the product stands twice. */
typedef struct row {
  uint64_t operand[SELFTEST_OPERANDS], result[SELFTEST_OPS];
} row;

#define X(a, b, c, add, sub, mul, less, equal, min, max, floor, ceil, div, sqrt, fma) \
  { { a, b, c }, { a, add, sub, mul, mul, less, equal, min, max, floor, ceil, div, sqrt, fma } },
static const row rows32[SELFTEST_ROWS] = {
#define SELFTEST_F32
#include "plugins/vulkan/selftest.inc"
#undef SELFTEST_F32
};
static const row rows64[SELFTEST_ROWS] = {
#define SELFTEST_F64
#include "plugins/vulkan/selftest.inc"
#undef SELFTEST_F64
};
#undef X

typedef struct format {
  uint32_t bits;
  const row *rows;
  uint64_t infinity, least; /* bits of infinity and of the least normal number */
} format;
static const format f32 = { 32, rows32, 0x7F800000, 0x00800000 };
static const format f64 = { 64, rows64, 0x7FF0000000000000, 0x0010000000000000 };

enum { ALL = VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION };

/* What is established: promises of each type. f64 is 0 where there is none. WRONG beside them says that plain sums or
 * products of normal numbers are not right. */
enum { WRONG = 1 << 30 };
typedef struct findings {
  uint32_t f32, f64;
  uint32_t exactly; /* SPIRV_EXACTLY: what the promises of f32, and right integers, rest on */
  uint32_t u64;     /* 1 where it is right */
} findings;

/* ---- Judging --------------------------------------------------------------------------------- */

static uint64_t magnitude(const format *f, uint64_t bits) { return bits & ~(UINT64_C(1) << (f->bits - 1)); }

/* The least normal number counts: it may be what a smaller result was rounded to. */
static bool is_tiny(const format *f, uint64_t bits) {
  return magnitude(f, bits) != 0 && magnitude(f, bits) <= f->least;
}

static bool is_same(const format *f, uint64_t wanted, uint64_t found) {
  return wanted == found || (magnitude(f, wanted) > f->infinity && magnitude(f, found) > f->infinity);
}

static bool is_about_tiny(const format *f, const row *r, uint32_t op, uint64_t wanted) {
  const uint32_t of_one = 1u << SELFTEST_COPY | 1u << SELFTEST_SQRT | 1u << SELFTEST_FLOOR | 1u << SELFTEST_CEIL;
  uint32_t operands = op == SELFTEST_FMA ? 3 : (of_one >> op & 1) != 0 ? 1 : 2;
  for (uint32_t i = 0; i < operands; i++)
    if (is_tiny(f, r->operand[i])) return true;
  return is_tiny(f, wanted);
}

/* The promise that a wrong result breaks. A sum of the other kind breaks them all. */
static uint32_t broken_by(uint32_t op, bool about_tiny) {
  switch (op) {
    case SELFTEST_DIV:
    case SELFTEST_SQRT: return VYRE_NUMERIC_DIVISION;
    case SELFTEST_FMA: return VYRE_NUMERIC_FMA;
    default: return about_tiny ? VYRE_NUMERIC_SUBNORMALS : ALL | WRONG;
  }
}

static uint64_t read_number(const format *f, const uint8_t *data, uint32_t index) {
  uint64_t number = 0;
  memcpy(&number, data + index * (f->bits / 8), f->bits / 8);
  return number;
}

/* What a device that flushes makes of subnormals in a division says nothing about division. */
static uint32_t judge(const format *f, const uint8_t *results) {
  uint32_t broken = 0;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t op = 0; op < SELFTEST_OPS; op++)
      for (uint32_t i = 0; i < SELFTEST_ROWS; i++) {
        const row *r = &f->rows[i];
        uint64_t wanted = r->result[op];
        bool about_tiny = is_about_tiny(f, r, op, wanted);
        bool is_base = op < SELFTEST_DIV;
        if (is_base != (pass == 0) || (about_tiny && (broken & VYRE_NUMERIC_SUBNORMALS) != 0)) continue;
        if (!is_same(f, wanted, read_number(f, results, op * SELFTEST_ROWS + i))) broken |= broken_by(op, about_tiny);
      }
  return (ALL & ~broken) | (broken & WRONG);
}

/* ---- Integers -------------------------------------------------------------------------------- */

static const uint32_t integer_param = 0x98765432;
static const uint64_t edges[] = {
  0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 7139205961, 7139205963, 0x7FFFFFFFFFFFFFFF,
  0x8000000000000000, 0xFFFFFFFF00000000, 0xFFFFFFFF7FFFFFFF, UINT64_MAX - 1, UINT64_MAX,
};
enum { EDGES = sizeof edges / sizeof *edges, INTEGER_OPERANDS = 2 };
_Static_assert(SELFTEST_ROWS == EDGES * 8, "a row for each edge beside every second one");

static uint64_t integer_operand(uint32_t operand, uint32_t at) {
  return edges[operand == 0 ? at % EDGES : at / EDGES * 2 + 1];
}

static uint64_t source_of(uint32_t source, uint32_t at) {
  switch (source) {
    case SELFTEST_LOW: return (uint32_t)integer_operand(0, at);
    case SELFTEST_PARAM: return integer_param;
    case SELFTEST_LENGTH: return INTEGER_OPERANDS * SELFTEST_ROWS;
    default: return integer_operand(0, at);
  }
}

static uint64_t saturated(uint32_t form, uint64_t x, uint64_t y) {
  if (form < 2) return x > UINT64_MAX - y ? UINT64_MAX : x + y;
  uint64_t from = form == 2 ? y : x, less = form == 2 ? x : y;
  return from > less ? from - less : 0;
}

static bool are_integers_right(const uint8_t *results) {
  for (uint32_t block = 0; block < SELFTEST_SATURATIONS; block++)
    for (uint32_t at = 0; at < SELFTEST_ROWS; at++) {
      const uint32_t other = block / 4 % (SELFTEST_LIMITS + 1);
      uint64_t x = source_of(block / 4 / (SELFTEST_LIMITS + 1), at), found;
      uint64_t y = other < SELFTEST_LIMITS ? selftest_limits[other] : integer_operand(1, at);
      memcpy(&found, results + (block * SELFTEST_ROWS + at) * sizeof found, sizeof found);
      if (found != saturated(block % 4, x, y)) return false;
    }
  return true;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* What is to be run: a kernel, and rows of |operands| and |results| numbers. */
typedef struct question {
  gpu_bytes kernel;
  uint32_t bytes, operands, results; /* bytes of a number */
  uint64_t (*operand)(const struct question *q, uint32_t operand, uint32_t at);
  const format *f;
  const void *params;
  uint32_t param_bytes;
} question;

/* All that a run makes; what is NULL was not made. */
typedef struct trial {
  vyre_plugin_device *device;
  vyre_plugin_executable *executable;
  vyre_plugin_buffer *operands, *results;
  vyre_plugin_set *set;
  vyre_plugin_batch *batch;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
} trial;

static const uint64_t patience_ns = UINT64_C(30) * 1000000000;

static vyre_status load_kernel(trial *t, const vyre_capabilities *caps, const question *q, vyre_error *error) {
  const vyre_host *host = t->device->host;
  vyre_bytes blob = { .size = sizeof blob };
  const vyre_kernel_header *kernel;
  vyre_status status = q->kernel.failed ? gpu_no_memory(error)
                                        : gpu_kernel_open(q->kernel.data, q->kernel.count, &kernel, error);
  if (status == VYRE_OK) status = vulkan_emit(host, caps, kernel, &blob, error);
  if (status == VYRE_OK)
    status = vulkan_executable_load(t->device, blob.data, blob.length, &t->executable, error);
  host->free(host->ctx, blob.data, blob.length);
  return status;
}

static void write_operands(const question *q, uint8_t *to) {
  for (uint32_t k = 0; k < q->operands; k++)
    for (uint32_t i = 0; i < SELFTEST_ROWS; i++) {
      const uint64_t number = q->operand(q, k, i);
      memcpy(to + (k * SELFTEST_ROWS + i) * q->bytes, &number, q->bytes);
    }
}

static vyre_status make_buffers(trial *t, const question *q, vyre_error *error) {
  uint64_t row_bytes = q->bytes * SELFTEST_ROWS;
  vyre_status status =
    vulkan_buffer_make(t->device, VYRE_MEMORY_HOST_WRITE, row_bytes * q->operands, &t->operands, error);
  if (status == VYRE_OK)
    status = vulkan_buffer_make(t->device, VYRE_MEMORY_HOST_READ, row_bytes * q->results, &t->results, error);
  if (status != VYRE_OK) return status;
  write_operands(q, t->operands->host);
  return vulkan_buffer_flush(t->operands, 0, t->operands->bytes, error);
}

static vyre_status make_batch(trial *t, const question *q, vyre_error *error) {
  const vyre_bind binds[2] = {
    { .buffer = t->operands, .bytes = t->operands->bytes, .elements = q->operands * SELFTEST_ROWS },
    { .flags = VYRE_BIND_WRITTEN, .buffer = t->results, .bytes = t->results->bytes,
      .elements = q->results * SELFTEST_ROWS },
  };
  const vyre_set_request request = {
    .size = sizeof request, .bind_count = 2, .binds = binds, .params = q->params, .param_bytes = q->param_bytes
  };
  vyre_status status = vulkan_set_create(t->executable, &request, &t->set, error);
  const vyre_dispatch dispatch = { .size = sizeof dispatch,
                                   .executable = t->executable,
                                   .set = t->set,
                                   .grid = { SELFTEST_ROWS / SELFTEST_GROUP, 1, 1 } };
  const vyre_command command = { .kind = VYRE_COMMAND_DISPATCH, .record = &dispatch };
  return status == VYRE_OK ? vulkan_batch_create(t->device, &command, 1, &t->batch, error) : status;
}

static vyre_status run_batch(trial *t, vyre_error *error) {
  vyre_completion completion = { .size = sizeof completion };
  vyre_status status = vulkan_queue_create(t->device, 0, &t->queue, error);
  if (status == VYRE_OK) status = vulkan_timeline_create(t->device, 0, &t->timeline, error);
  const vyre_point end = { .timeline = t->timeline, .value = 1 };
  const vyre_submit submit = {
    .size = sizeof submit, .batch = t->batch, .signals = &end, .signal_count = 1, .completion = &completion
  };
  if (status == VYRE_OK) status = vulkan_submit(t->queue, &submit, error);
  if (status != VYRE_OK) return status;
  status = vulkan_timeline_wait(t->timeline, 1, patience_ns, error);
  if (status == VYRE_ERR_TIMEOUT) { /* the record above is gone when this returns, so the work has to be over */
    vulkan_lose(t->device, "the self-test");
    vulkan_timeline_wait(t->timeline, 1, patience_ns, NULL);
  }
  if (status == VYRE_OK && completion.status != VYRE_OK)
    return gpu_fail(error, completion.status, gpu_name, "%s", completion.text);
  return status == VYRE_OK ? vulkan_buffer_invalidate(t->results, 0, t->results->bytes, error) : status;
}

static void end_trial(trial *t) {
  if (t->queue != NULL) vulkan_queue_destroy(t->queue);
  if (t->timeline != NULL) vulkan_timeline_destroy(t->timeline);
  if (t->batch != NULL) vulkan_batch_destroy(t->batch);
  if (t->set != NULL) vulkan_set_destroy(t->set);
  if (t->operands != NULL) vulkan_buffer_destroy(t->operands);
  if (t->results != NULL) vulkan_buffer_destroy(t->results);
  if (t->executable != NULL) vulkan_executable_destroy(t->executable);
}

/* The results lie in t->results until end_trial, which has to be called in any case. Frees the kernel. */
static vyre_status ask(trial *t, const vyre_capabilities *caps, question *q, vyre_error *error) {
  vyre_status status = load_kernel(t, caps, q, error);
  if (status == VYRE_OK) status = make_buffers(t, q, error);
  if (status == VYRE_OK) status = make_batch(t, q, error);
  if (status == VYRE_OK) status = run_batch(t, error);
  gpu_bytes_free(&q->kernel);
  return status;
}

static uint64_t float_operand(const question *q, uint32_t operand, uint32_t at) {
  return q->f->rows[at].operand[operand];
}

static vyre_status try_format(vyre_plugin_device *device, const vyre_capabilities *caps, const format *f,
                              uint32_t *promises, vyre_error *error) {
  trial t = { .device = device };
  question q = { .bytes = f->bits / 8, .operands = SELFTEST_OPERANDS, .results = SELFTEST_OPS,
                 .operand = float_operand, .f = f };
  selftest_kernel(f->bits, (caps->needs & VYRE_NEED_FLOAT64) != 0, &q.kernel);
  vyre_status status = ask(&t, caps, &q, error);
  if (status == VYRE_OK) *promises = judge(f, t.results->host);
  end_trial(&t);
  return status;
}

static uint64_t u64_operand(const question *q, uint32_t operand, uint32_t at) {
  (void)q;
  return integer_operand(operand, at);
}

static vyre_status try_integers(vyre_plugin_device *device, const vyre_capabilities *caps, bool *are_right,
                                vyre_error *error) {
  trial t = { .device = device };
  question q = { .bytes = 8, .operands = INTEGER_OPERANDS, .results = SELFTEST_SATURATIONS, .operand = u64_operand,
                 .params = &integer_param, .param_bytes = sizeof integer_param };
  selftest_integer_kernel(&q.kernel);
  vyre_status status = ask(&t, caps, &q, error);
  if (status == VYRE_OK) *are_right = are_integers_right(t.results->host);
  end_trial(&t);
  return status;
}

/* Sets what the emitter does exactly where the device's own operations are not. */
static void emit_exactly(vyre_capabilities *caps, uint32_t exactly) {
  spirv_target target = spirv_target_of(caps);
  target.features = (target.features & ~(uint32_t)SPIRV_EXACTLY) | exactly;
  spirv_target_keep(&target, caps);
}

/* The ways around promises of f32 that are broken. Those of f64 need that it is there; quotients and fma lose subnormals
 * without it, too. */
static uint32_t ways_around(const vulkan_facts *facts, uint32_t broken) {
  const bool has_f64 = (facts->caps.needs & VYRE_NEED_FLOAT64) != 0;
  uint32_t ways = (broken & VYRE_NUMERIC_SUBNORMALS) != 0 ? SPIRV_KEEP_32 : 0;
  if (has_f64 && (broken & (VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_DIVISION)) != 0) ways |= SPIRV_WIDE_32;
  return ways;
}

/* Of a device that flushes the first run says nothing about subnormals in quotients and fma, so that the last one counts. A
 * way that does not lead to its promise is given up, and with it whatever else it led to: all is run again without. */
static vyre_status try_ways(vyre_plugin_device *device, const vulkan_facts *facts, vyre_capabilities *all,
                            findings *found, vyre_error *error) {
  uint32_t broken = facts->exactly ? ALL : ALL & ~found->f32, ways;
  while ((found->f32 & WRONG) == 0 && (ways = ways_around(facts, broken)) != 0) {
    uint32_t promises = 0;
    emit_exactly(all, ways);
    vyre_status status = try_format(device, all, &f32, &promises, error);
    if (status != VYRE_OK || (promises & WRONG) != 0) return status;
    const uint32_t in_vain = broken & ~promises & (VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_DIVISION);
    if (in_vain == 0) {
      found->exactly |= ways;
      found->f32 = promises;
      return VYRE_OK;
    }
    broken &= ~in_vain;
  }
  return VYRE_OK;
}

/* NVIDIA's compiler errs in some contexts and not in others, so that what it did right here says little. */
static bool is_known_to_err(const vulkan_facts *facts) {
  return facts->driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}

/* First as the device does it, then with comparisons by words. */
static vyre_status try_u64(vyre_plugin_device *device, const vulkan_facts *facts, vyre_capabilities *all,
                           findings *found, vyre_error *error) {
  static const uint32_t ways[] = { 0, SPIRV_WORDS_64 };
  bool are_right = false;
  for (uint32_t i = facts->exactly || is_known_to_err(facts); i < 2 && !are_right; i++) {
    emit_exactly(all, ways[i]);
    vyre_status status = try_integers(device, all, &are_right, error);
    if (status != VYRE_OK) return status;
    if (are_right) found->exactly |= ways[i];
  }
  found->u64 = are_right;
  return VYRE_OK;
}

/* The emitter has to write what it would for a device that can do everything: only so is it seen what the device does. */
static vyre_status run(vyre_plugin *plugin, vulkan_facts *facts, findings *found, vyre_error *error) {
  vyre_plugin_device *device;
  vyre_capabilities all = facts->caps;
  all.numeric |= ALL;
  vyre_status status = vulkan_device_start(plugin, facts, &device, error);
  if (status != VYRE_OK) return status;
  facts->caps.numeric |= ALL; /* of the device that the executables are loaded on */
  status = try_format(device, &all, &f32, &found->f32, error);
  if (status == VYRE_OK && (facts->caps.needs & VYRE_NEED_FLOAT64) != 0)
    status = try_format(device, &all, &f64, &found->f64, error);
  if (status == VYRE_OK) status = try_ways(device, facts, &all, found, error);
  if (status == VYRE_OK && (facts->caps.needs & VYRE_NEED_INT64) != 0)
    status = try_u64(device, facts, &all, found, error);
  facts->caps.numeric &= ~(uint32_t)ALL;
  vulkan_device_close(device);
  return status;
}

/* ---- Keeping --------------------------------------------------------------------------------- */

/* Whatever may change what a device does. The host adds the plugin's build. */
typedef struct cache_key {
  char what[16];
  uint8_t device[VK_UUID_SIZE], driver[VK_UUID_SIZE], pipelines[VK_UUID_SIZE];
  char text[VK_MAX_DRIVER_INFO_SIZE];
  uint64_t features, exactly;
  uint32_t vendor, id, version, api;
} cache_key;

static cache_key key_of(const vulkan_facts *facts) {
  const VkPhysicalDeviceProperties *p = &facts->properties;
  cache_key key;
  memset(&key, 0, sizeof key);
  memcpy(key.what, "selftest", sizeof "selftest");
  memcpy(key.device, facts->id.deviceUUID, VK_UUID_SIZE);
  memcpy(key.driver, facts->id.driverUUID, VK_UUID_SIZE);
  memcpy(key.pipelines, p->pipelineCacheUUID, VK_UUID_SIZE);
  memcpy(key.text, facts->driver.driverInfo, strnlen(facts->driver.driverInfo, sizeof key.text));
  key.features = facts->features;
  key.exactly = facts->exactly;
  key.vendor = p->vendorID;
  key.id = p->deviceID;
  key.version = p->driverVersion;
  key.api = facts->api;
  return key;
}

static bool recall(const vyre_host *host, const cache_key *key, findings *out) {
  vyre_bytes bytes = { .size = sizeof bytes };
  if (host->cache_get == NULL || host->cache_get(host->ctx, key, sizeof *key, &bytes) != VYRE_OK) return false;
  bool is_whole = bytes.length == sizeof *out;
  if (is_whole) memcpy(out, bytes.data, sizeof *out);
  host->free(host->ctx, bytes.data, bytes.length);
  return is_whole;
}

static void keep(const vyre_host *host, const cache_key *key, const findings *found) {
  if (host->cache_put != NULL) host->cache_put(host->ctx, key, sizeof *key, found, sizeof *found);
}

/* ---- The record ------------------------------------------------------------------------------ */

/* A promise is one for all types. Of a device whose f64 keeps fewer of those that every program rests on, f64 is given up,
 * not f32. */
static void apply(const vyre_plugin *plugin, vulkan_facts *facts, const findings *found) {
  const char *name = facts->properties.deviceName;
  uint32_t promises = found->f32 & ALL;
  if ((found->f32 & WRONG) != 0)
    gpu_log(plugin->host, VYRE_LOG_WARNING, "selftest",
            "%s adds or multiplies f32 wrongly, so nothing is promised of its floats. Fix: update its driver.", name);
  if ((facts->caps.needs & VYRE_NEED_FLOAT64) != 0) {
    uint32_t base = VYRE_NUMERIC_SUBNORMALS;
    bool is_less = (found->f64 & WRONG) != 0 || (promises & base & ~found->f64) != 0;
    if (is_less) {
      facts->caps.needs &= ~(uint64_t)VYRE_NEED_FLOAT64;
      gpu_log(plugin->host, VYRE_LOG_WARNING, "selftest",
              "%s does not compute f64 as IEEE 754 says, so it counts as a device without. Fix: update its driver.", name);
    } else {
      promises &= found->f64;
    }
  }
  if ((facts->caps.needs & VYRE_NEED_INT64) != 0 && found->u64 == 0) {
    facts->caps.needs &= ~(uint64_t)VYRE_NEED_INT64;
    gpu_log(plugin->host, VYRE_LOG_WARNING, "selftest",
            "%s computes sums or differences of u64 wrongly, so it counts as a device without. Fix: update its driver.",
            name);
  }
  facts->caps.numeric |= promises;
  emit_exactly(&facts->caps, found->exactly);
  gpu_log(plugin->host, VYRE_LOG_DEBUG, "selftest", "%s: f32 0x%x, f64 0x%x, exactly 0x%x, promised 0x%x.", name,
          found->f32, found->f64, found->exactly, facts->caps.numeric);
}

static vyre_status establish(vyre_plugin *plugin, vulkan_facts *facts, vyre_error *error) {
  const cache_key key = key_of(facts);
  findings found = { 0, 0, 0, 0 };
  vyre_error why = VYRE_ERROR_INIT;
  if (!recall(plugin->host, &key, &found)) {
    vyre_status status = run(plugin, facts, &found, &why);
    if (status == VYRE_ERR_NO_MEMORY) return gpu_fail_vendor(error, status, why.vendor_code, why.where, "%s", why.text);
    if (status != VYRE_OK) {
      gpu_log(plugin->host, VYRE_LOG_WARNING, "selftest",
              "%s could not be tested, so nothing is promised of its floats: %s", facts->properties.deviceName, why.text);
      facts->tested = true;
      return VYRE_OK;
    }
    keep(plugin->host, &key, &found);
  }
  apply(plugin, facts, &found);
  facts->tested = true;
  return VYRE_OK;
}

vyre_status vulkan_selftest(vyre_plugin *plugin, vulkan_facts *facts, vyre_error *error) {
  pthread_mutex_lock(&plugin->lock);
  vyre_status status = facts->tested ? VYRE_OK : establish(plugin, facts, error);
  pthread_mutex_unlock(&plugin->lock);
  return status;
}
