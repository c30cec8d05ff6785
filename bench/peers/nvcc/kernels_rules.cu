/* Rules and filters over columns. */
#include "launch.h"

/* ---- Conditions ---- */

struct rules {
  const uint32_t *__restrict__ matched, *__restrict__ count, *__restrict__ offset;
  const uint32_t *__restrict__ a, *__restrict__ b, *__restrict__ c, *__restrict__ d;
  const uint32_t *__restrict__ min_count, *__restrict__ max_offset, *__restrict__ min_size, *__restrict__ max_size,
    *__restrict__ max_entropy;
};

__global__ static void condition_eval(rules t, uint32_t size, uint32_t entropy, uint32_t *__restrict__ fired,
                                      unsigned n) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  bool found = __ldg(&t.matched[__ldg(&t.a[r])]) != 0 && __ldg(&t.matched[__ldg(&t.b[r])]) != 0;
  bool often = __ldg(&t.count[__ldg(&t.c[r])]) >= __ldg(&t.min_count[r]);
  bool early = __ldg(&t.offset[__ldg(&t.d[r])]) <= __ldg(&t.max_offset[r]);
  bool sized = size >= __ldg(&t.min_size[r]) && size <= __ldg(&t.max_size[r]);
  if (found && often && early && sized && entropy <= __ldg(&t.max_entropy[r])) atomicOr(&fired[r / 32], 1u << r % 32);
}

static void run_condition_eval(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[3];
  const uint32_t *p[12];
  for (int i = 0; i < 12; i++) p[i] = peer_array<uint32_t>(l, i);
  rules t = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]};
  PEER_LAUNCH(condition_eval, peer_blocks(n, c.block), c.block, t, (uint32_t)l->params[0], (uint32_t)l->params[1],
              peer_array<uint32_t>(l, 12), n);
}

/* ---- Entropy ---- */

__global__ static void entropy_window(const uint8_t *__restrict__ data, const uint32_t *__restrict__ weight,
                                      uint32_t *__restrict__ fired, unsigned windows) {
  unsigned strip = blockIdx.x * blockDim.x + threadIdx.x, first = strip * 32;
  if (first >= windows) return;
  uint32_t count[256];
  for (int b = 0; b < 256; b++) count[b] = 0;
  uint32_t sum = 0, bits = 0;
  for (unsigned k = 0; k < 256; k++) {
    uint8_t byte = data[first + k];
    uint32_t had = count[byte], has = had + 1;
    count[byte] = has;
    sum += weight[has] - weight[had];
  }
  for (unsigned s = 0; s < 32; s++) {
    unsigned at = first + s;
    bits |= (uint32_t)(sum < 13421773 && at < windows) << s;
    uint8_t gone = data[at];
    uint32_t lost = count[gone], left = lost - 1;
    count[gone] = left;
    sum -= weight[lost] - weight[left];
    if (at + 256 >= windows + 255) continue; /* behind the last byte */
    uint8_t come = data[at + 256];
    uint32_t had = count[come], has = had + 1;
    count[come] = has;
    sum += weight[has] - weight[had];
  }
  fired[strip] = bits;
}

static void run_entropy_window(const peer_launch *l, peer_config c) {
  unsigned windows = (unsigned)l->counts[0] - 255;
  PEER_LAUNCH(entropy_window, peer_blocks(windows, 32 * c.block), c.block, peer_array<uint8_t>(l, 0),
              peer_array<uint32_t>(l, 1), peer_array<uint32_t>(l, 2), windows);
}

/* ---- Filters: one record a thread, or four ---- */

__device__ static uint32_t filter(uint32_t token, uint32_t points, uint32_t s) {
  uint32_t mixed = token ^ s * 2654435761u;
  bool chosen = (mixed & 0x1F) == 0 && (s & 1) == 1;
  bool enough = points >= 500 + (s >> 8 & 127);
  bool paired = (mixed >> 5 & 3) == (s & 3);
  return chosen && enough && paired ? (mixed & 0xFFFF) + points : 0;
}

__device__ static uint32_t route_of(uint32_t signal, uint32_t h, uint32_t threshold) {
  uint32_t risk = ((signal ^ h * 0x9E3779B9) & 0x3FF) + (h & 0xFF);
  uint32_t way = (uint32_t)(risk >= threshold) * 2 + (uint32_t)((h >> 16) % 8 >= 4);
  return way << 24 | risk;
}

struct filters {
  __device__ static uint32_t of(uint32_t a, uint32_t b, uint32_t c) { return filter(a, b, c); }
};
struct routes {
  __device__ static uint32_t of(uint32_t a, uint32_t b, uint32_t c) { return route_of(a, b, c); }
};

template <class Op>
__global__ static void map1(const uint32_t *__restrict__ a, const uint32_t *__restrict__ b,
                            const uint32_t *__restrict__ c, uint32_t *__restrict__ out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Op::of(a[i], b[i], c[i]);
}

template <class Op>
__global__ static void map4(const uint4 *__restrict__ a, const uint4 *__restrict__ b, const uint4 *__restrict__ c,
                            uint4 *__restrict__ out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  uint4 x = a[i], y = b[i], z = c[i];
  out[i] = make_uint4(Op::of(x.x, y.x, z.x), Op::of(x.y, y.y, z.y), Op::of(x.z, y.z, z.z), Op::of(x.w, y.w, z.w));
}

template <class Op> static void run_map(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[3], blocks = peer_blocks(n, (uint64_t)c.block * c.width);
  auto one = map1<Op>;
  auto four = map4<Op>;
  if (c.width == 1)
    PEER_LAUNCH(one, blocks, c.block, peer_array<uint32_t>(l, 0), peer_array<uint32_t>(l, 1),
                peer_array<uint32_t>(l, 2), peer_array<uint32_t>(l, 3), n);
  else
    PEER_LAUNCH(four, blocks, c.block, peer_array<uint4>(l, 0), peer_array<uint4>(l, 1), peer_array<uint4>(l, 2),
                peer_array<uint4>(l, 3), n);
}

/* ---- Headers ---- */

__device__ static uint32_t u16_at(const uint8_t *__restrict__ data, uint32_t p) {
  return data[p] | (uint32_t)data[p + 1] << 8;
}
__device__ static uint32_t u32_at(const uint8_t *__restrict__ data, uint32_t p) {
  return u16_at(data, p) | u16_at(data, p + 2) << 16;
}

__global__ static void header_fields(const uint8_t *__restrict__ data, uint32_t *__restrict__ fired, unsigned files) {
  unsigned file = blockIdx.x * blockDim.x + threadIdx.x;
  if (file >= files) return;
  uint32_t start = file * 1024;
  if (u16_at(data, start) != 0x5A4D) return;
  uint32_t e = u32_at(data, start + 0x3C);
  if (e > 776) return;
  uint32_t pe = start + e, sections = u16_at(data, pe + 6);
  bool is_pe64 = u32_at(data, pe) == 0x4550 && u16_at(data, pe + 4) == 0x8664;
  if (!is_pe64 || sections < 3 || u32_at(data, pe + 8) < 0x60000000) return;
  uint32_t entry = u32_at(data, pe + 40), table = pe + 24 + u16_at(data, pe + 20);
  for (uint32_t s = 0; s < sections; s++) {
    uint32_t section = table + s * 40;
    if (entry - u32_at(data, section + 12) >= u32_at(data, section + 8)) continue;
    if ((u32_at(data, section + 36) & 0x20000000) == 0) atomicOr(&fired[file / 32], 1u << file % 32);
    return;
  }
}

static void run_header_fields(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)(l->counts[0] / 1024);
  PEER_LAUNCH(header_fields, peer_blocks(n, c.block), c.block, peer_array<uint8_t>(l, 0), peer_array<uint32_t>(l, 1),
              n);
}

/* ---- Hits ---- */

__global__ static void hit_bitmap(const uint32_t *__restrict__ file, const uint32_t *__restrict__ pattern,
                                  uint32_t *bitmap, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t p = pattern[i], *word = &bitmap[file[i] * 32 + p / 32], bit = 1u << p % 32;
  if ((*(volatile uint32_t *)word & bit) == 0) atomicOr(word, bit);
}

static void run_hit_bitmap(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[0];
  PEER_LAUNCH(hit_bitmap, peer_blocks(n, c.block), c.block, peer_array<uint32_t>(l, 0), peer_array<uint32_t>(l, 1),
              peer_array<uint32_t>(l, 2), n);
}

/* ---- Quantified rules ---- */

__global__ static void quantified(const uint32_t *__restrict__ start, const uint32_t *__restrict__ need,
                                  const uint32_t *__restrict__ ids, const uint8_t *__restrict__ matched,
                                  uint32_t *__restrict__ fired, unsigned n) {
  __shared__ uint32_t bits[1024 / 32];
  unsigned me = threadIdx.x, words = blockDim.x / 32, r = blockIdx.x * blockDim.x + me;
  if (me < words) bits[me] = 0;
  __syncthreads();
  if (r < n) {
    uint32_t wanted = need[r], found = 0, end = start[r + 1];
    for (uint32_t p = start[r]; p < end; p++) {
      found += matched[ids[p]];
      if (found == wanted) break;
    }
    if (found == wanted) atomicOr(&bits[me / 32], 1u << me % 32);
  }
  __syncthreads();
  if (me < words && blockIdx.x * words + me < (n + 31) / 32) fired[blockIdx.x * words + me] = bits[me];
}

static void run_quantified(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[1];
  PEER_LAUNCH(quantified, peer_blocks(n, c.block), c.block, peer_array<uint32_t>(l, 0), peer_array<uint32_t>(l, 1),
              peer_array<uint32_t>(l, 2), peer_array<uint8_t>(l, 3), peer_array<uint32_t>(l, 4), n);
}

#define PEER_SWEEP_MAP {{128, 1}, {256, 1}, {512, 1}, {64, 4}, {128, 4}, {256, 4}, {512, 4}, {1024, 4}}

const peer_row peer_rules[] = {
  {"condition_eval", run_condition_eval, PEER_SWEEP},
  {"entropy_window", run_entropy_window, PEER_SWEEP},
  {"fused_filter", run_map<filters>, PEER_SWEEP_MAP},
  {"header_fields", run_header_fields, PEER_SWEEP},
  {"hit_bitmap", run_hit_bitmap, PEER_SWEEP},
  {"quantified", run_quantified, PEER_SWEEP},
  {"route", run_map<routes>, PEER_SWEEP_MAP},
  {NULL, NULL, {}},
};
