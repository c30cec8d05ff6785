/* Sums, sorting, matrices, bodies and pictures; the addition of two arrays, and the copy of one. */
#include "launch.h"

/* ---- A sum: one element a thread and step, or four ---- */

__device__ static uint32_t total_of(uint32_t v) { return v; }
__device__ static uint32_t total_of(uint4 v) { return v.x + v.y + v.z + v.w; }

template <typename T>
__global__ static void reduce_sum(const T *__restrict__ v, uint32_t *__restrict__ total, unsigned n) {
  __shared__ uint32_t part[1024];
  unsigned me = threadIdx.x;
  uint32_t sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + me; i < n; i += gridDim.x * blockDim.x) sum += total_of(v[i]);
  part[me] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (me < half) part[me] += part[me + half];
    __syncthreads();
  }
  if (me == 0) atomicAdd(total, part[0]);
}

template <typename T> static void run_sum_of(const peer_launch *l, peer_config c) {
  auto function = reduce_sum<T>;
  unsigned n = (unsigned)(l->counts[0] / c.width);
  PEER_LAUNCH(function, peer_resident((const void *)function, c.block), c.block, peer_array<T>(l, 0),
              peer_array<uint32_t>(l, 1), n);
}

static void run_reduce_sum(const peer_launch *l, peer_config c) {
  if (c.width == 1) run_sum_of<uint32_t>(l, c);
  else run_sum_of<uint4>(l, c);
}

/* ---- Sorting: 512 keys by up to 256 threads ---- */

/* |THREADS| work on one tile, the block on as many tiles as it has such groups. */
template <int THREADS> __global__ static void bitonic_sort(uint32_t *__restrict__ keys) {
  extern __shared__ uint32_t tiles[];
  unsigned group = threadIdx.x / THREADS, me = threadIdx.x % THREADS, groups = blockDim.x / THREADS;
  uint32_t *tile = tiles + 512 * group, *mine = keys + (size_t)(blockIdx.x * groups + group) * 512;
  for (unsigned i = me; i < 512; i += THREADS) tile[i] = mine[i];
  __syncthreads();
  for (unsigned stage = 0; stage < 9; stage++) {
    for (unsigned s = 0; s <= stage; s++) {
      unsigned distance = 1u << (stage - s);
#pragma unroll
      for (unsigned p = me; p < 256; p += THREADS) {
        bool upwards = (p >> stage & 1) == 0 || stage == 8;
        unsigned left = p * 2 - (p & (distance - 1)), right = left + distance;
        uint32_t a = tile[left], b = tile[right];
        if ((a > b) == upwards) {
          tile[left] = b;
          tile[right] = a;
        }
      }
      __syncthreads();
    }
  }
  for (unsigned i = me; i < 512; i += THREADS) mine[i] = tile[i];
}

static void run_bitonic_sort(const peer_launch *l, peer_config c) {
  unsigned threads = c.block < 256 ? c.block : 256, groups = c.block / threads;
  auto function = threads == 64 ? bitonic_sort<64> : threads == 128 ? bitonic_sort<128> : bitonic_sort<256>;
  PEER_LAUNCH_SHARED(function, (unsigned)(l->counts[0] / 512 / groups), c.block, groups * 2048,
                     peer_array<uint32_t>(l, 0));
}

/* ---- Matrices ---- */

template <int TILE>
__global__ static void matmul(unsigned n, const float *__restrict__ a, const float *__restrict__ b,
                              float *__restrict__ c) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  unsigned x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (unsigned t = 0; t < (n + TILE - 1) / TILE; t++) {
    unsigned across = t * TILE + x, down = t * TILE + y;
    tile_a[y][x] = row < n && across < n ? a[row * n + across] : 0;
    tile_b[y][x] = down < n && column < n ? b[down * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum = fmaf(tile_a[y][k], tile_b[k][x], sum);
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

static void run_matmul(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->params[0], tiles = peer_blocks(n, c.width);
  auto function = c.width == 8 ? matmul<8> : c.width == 16 ? matmul<16> : matmul<32>;
  PEER_LAUNCH(function, dim3(tiles, tiles), dim3(c.width, c.width), n, peer_array<float>(l, 0), peer_array<float>(l, 1),
              peer_array<float>(l, 2));
}

/* ---- Bodies ---- */

template <int TILE>
__global__ static void nbody(float softening, const float4 *__restrict__ bodies, float4 *__restrict__ pull,
                             unsigned n) {
  __shared__ float4 tile[TILE];
  unsigned i = blockIdx.x * TILE + threadIdx.x;
  float4 here = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float x = 0, y = 0, z = 0;
  for (unsigned t = 0; t < (n + TILE - 1) / TILE; t++) {
    unsigned at = t * TILE + threadIdx.x;
    tile[threadIdx.x] = at < n ? bodies[at] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 16
    for (int k = 0; k < TILE; k++) {
      float4 other = tile[k];
      float dx = other.x - here.x, dy = other.y - here.y, dz = other.z - here.z;
      float nearness = __frsqrt_rn(dx * dx + dy * dy + dz * dz + softening);
      float weight = other.w * nearness * nearness * nearness;
      x += dx * weight;
      y += dy * weight;
      z += dz * weight;
    }
    __syncthreads();
  }
  if (i < n) pull[i] = make_float4(x, y, z, 0);
}

static void run_nbody(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[0];
  auto function = c.block == 64 ? nbody<64> : c.block == 128 ? nbody<128> : c.block == 256 ? nbody<256>
                                                        : c.block == 512 ? nbody<512> : nbody<1024>;
  PEER_LAUNCH(function, peer_blocks(n, c.block), c.block, peer_float(l, 0), peer_array<float4>(l, 0),
              peer_array<float4>(l, 1), n);
}

/* ---- A layer with weights of 4 bits ---- */

__global__ static void linear_i4(const float4 *__restrict__ x, const uint32_t *__restrict__ packed,
                                 const float *__restrict__ scale, const uint32_t *__restrict__ zero,
                                 const float *__restrict__ bias, float *__restrict__ y, unsigned outputs) {
  unsigned o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= outputs) return;
  float sum = bias[o];
  for (unsigned g = 0; g < 4; g++) {
    float s = scale[g * outputs + o], z = (float)zero[g * outputs + o];
#pragma unroll
    for (unsigned w = g * 8; w < g * 8 + 8; w++) {
      uint32_t word = packed[w * outputs + o];
      float4 low = x[2 * w], high = x[2 * w + 1];
      const float in[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int k = 0; k < 8; k++) sum += in[k] * ((float)(word >> (4 * k) & 15) - z) * s;
    }
  }
  y[o] = sum;
}

static void run_linear_i4(const peer_launch *l, peer_config c) {
  unsigned n = (unsigned)l->counts[5];
  PEER_LAUNCH(linear_i4, peer_blocks(n, c.block), c.block, peer_array<float4>(l, 0), peer_array<uint32_t>(l, 1),
              peer_array<float>(l, 2), peer_array<uint32_t>(l, 3), peer_array<float>(l, 4), peer_array<float>(l, 5), n);
}

/* ---- Pictures ---- */

__global__ static void luma_histogram(const uint8_t *__restrict__ rgb, uint32_t *__restrict__ counts, unsigned pixels) {
  __shared__ uint32_t own[256];
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
    uint32_t r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    atomicAdd(&own[((66 * r + 129 * g + 25 * b + 128) >> 8) + 16], 1);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
    if (own[b] != 0) atomicAdd(&counts[b], own[b]);
}

static void run_luma_histogram(const peer_launch *l, peer_config c) {
  PEER_LAUNCH(luma_histogram, peer_resident((const void *)luma_histogram, c.block), c.block, peer_array<uint8_t>(l, 0),
              peer_array<uint32_t>(l, 1), (unsigned)(l->counts[0] / 3));
}

__global__ static void sobel(unsigned width, unsigned height, const uint8_t *__restrict__ picture,
                             uint8_t *__restrict__ edges) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned left = max(x, 1u) - 1, right = min(x + 1, width - 1), row = y * width;
  const uint8_t *here = picture + row;
  const uint8_t *above = y > 0 ? here - width : here, *below = y < height - 1 ? here + width : here;
  int nw = above[left], n = above[x], ne = above[right], w = here[left], e = here[right], sw = below[left],
      s = below[x], se = below[right];
  int across = ne + 2 * e + se - (nw + 2 * w + sw), down = sw + 2 * s + se - (nw + 2 * n + ne);
  float length = sqrtf((float)(across * across + down * down));
  edges[row + x] = (uint8_t)min((uint32_t)length, 255u);
}

static void run_sobel(const peer_launch *l, peer_config c) {
  unsigned width = (unsigned)l->params[0], height = (unsigned)l->params[1], rows = c.block / c.width;
  PEER_LAUNCH(sobel, dim3(peer_blocks(width, c.width), peer_blocks(height, rows)), dim3(c.width, rows), width, height,
              peer_array<uint8_t>(l, 0), peer_array<uint8_t>(l, 1));
}

/* ---- Two arrays, and one ---- */

/* |UNROLL| times 16 bytes a thread, loaded before the first is stored; cached as usual, or as what is used once. */
template <int UNROLL, bool ONCE>
__global__ static void add(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ o,
                           unsigned n) {
  unsigned first = blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
  float4 x[UNROLL], y[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    unsigned i = first + u * blockDim.x;
    if (i >= n) continue;
    x[u] = ONCE ? __ldcs(&a[i]) : a[i];
    y[u] = ONCE ? __ldcs(&b[i]) : b[i];
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    unsigned i = first + u * blockDim.x;
    if (i >= n) continue;
    float4 sum = make_float4(x[u].x + y[u].x, x[u].y + y[u].y, x[u].z + y[u].z, x[u].w + y[u].w);
    if (ONCE) __stcs(&o[i], sum);
    else o[i] = sum;
  }
}

/* Widths of 4, 8 and 16 elements; one more for what is used once. The number of elements is a multiple of 4. */
static void run_add(const peer_launch *l, peer_config c) {
  auto function = c.width == 4 ? add<1, false> : c.width == 5 ? add<1, true> : c.width == 8 ? add<2, false>
                  : c.width == 9 ? add<2, true> : c.width == 16 ? add<4, false> : add<4, true>;
  uint64_t width = c.width / 4 * 4, n = peer_bytes(l, 2) / 16;
  PEER_LAUNCH(function, peer_blocks(4 * n, c.block * width), c.block, peer_array<float4>(l, 0),
              peer_array<float4>(l, 1), peer_array<float4>(l, 2), (unsigned)n);
}

/* By the driver. */
static void run_copy(const peer_launch *l, peer_config) {
  cudaMemcpyAsync(l->arrays[1], l->arrays[0], peer_bytes(l, 0), cudaMemcpyDeviceToDevice, peer_stream);
}

const peer_row peer_numbers[] = {
  {"add", run_add, {{256, 4}, {256, 5}, {1024, 4}, {256, 8}, {512, 9}, {128, 16}, {256, 16}, {256, 17}}},
  {"bitonic_sort", run_bitonic_sort, PEER_SWEEP},
  {"copy", run_copy, {{1, 1}}},
  {"linear_i4", run_linear_i4, PEER_SWEEP},
  {"luma_histogram", run_luma_histogram, PEER_SWEEP},
  {"matmul", run_matmul, {{64, 8}, {256, 16}, {1024, 32}}},
  {"nbody", run_nbody, PEER_SWEEP},
  {"reduce_sum", run_reduce_sum, {{128, 1}, {256, 1}, {512, 1}, {1024, 1}, {128, 4}, {256, 4}, {512, 4}, {1024, 4}}},
  {"sobel", run_sobel, {{64, 32}, {128, 32}, {256, 32}, {256, 16}, {512, 32}, {1024, 32}, {256, 64}, {256, 128}}},
  {NULL, NULL, {}},
};
