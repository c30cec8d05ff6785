/* Sums, sorting, matrices, bodies and pictures. */
#include "kernels/reference.h"

#include <math.h>
#include <stdlib.h>

uint32_t reference_sum(const uint32_t *v, size_t n) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum;
}

static int compare_keys(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

void reference_sort(uint32_t *keys, size_t n) {
  for (size_t first = 0; first < n; first += 512)
    qsort(keys + first, n - first < 512 ? n - first : 512, sizeof *keys, compare_keys);
}

void reference_matmul(const float *a, const float *b, size_t n, float *c) {
  for (size_t row = 0; row < n; row++)
    for (size_t column = 0; column < n; column++) {
      float sum = 0;
      for (size_t k = 0; k < n; k++) sum = fmaf(a[row * n + k], b[k * n + column], sum);
      c[row * n + column] = sum;
    }
}

void reference_pull(const float *bodies, size_t n, float softening, float *pull) {
  for (size_t i = 0; i < n; i++) {
    float sum[3] = {0};
    for (size_t k = 0; k < n; k++) {
      float way[3];
      for (int axis = 0; axis < 3; axis++) way[axis] = bodies[4 * k + axis] - bodies[4 * i + axis];
      float square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] + softening;
      float nearness = (float)(1 / sqrtl(square)); /* 64 bits of precision are enough for one rounding */
      float weight = bodies[4 * k + 3] * nearness * nearness * nearness;
      for (int axis = 0; axis < 3; axis++) sum[axis] += way[axis] * weight;
    }
    for (int axis = 0; axis < 3; axis++) pull[4 * i + axis] = sum[axis];
    pull[4 * i + 3] = 0;
  }
}

/* All values are exact, so that any order gives the same. */
void reference_linear_i4(const float *x, const uint32_t *packed, const float *scale, const uint32_t *zero,
                         const float *bias, size_t outputs, float *y) {
  for (size_t o = 0; o < outputs; o++) {
    double sum = bias[o];
    for (size_t k = 0; k < 256; k++) {
      int weight = (int)(packed[k / 8 * outputs + o] >> (4 * (k % 8)) & 15), at_zero = (int)zero[k / 64 * outputs + o];
      sum += (double)x[k] * (weight - at_zero) * scale[k / 64 * outputs + o];
    }
    y[o] = (float)sum;
  }
}

void reference_luma(const uint8_t *rgb, size_t pixels, uint32_t counts[256]) {
  for (; pixels > 0; pixels--, rgb += 3) counts[16 + (66 * rgb[0] + 129 * rgb[1] + 25 * rgb[2] + 128) / 256]++;
}

static int pixel_at(const uint8_t *picture, size_t width, size_t height, long x, long y) {
  if (x < 0) x = 0;
  if (y < 0) y = 0;
  if (x >= (long)width) x = (long)width - 1;
  if (y >= (long)height) y = (long)height - 1;
  return picture[(size_t)y * width + (size_t)x];
}

void reference_sobel(const uint8_t *picture, size_t width, size_t height, uint8_t *edges) {
  static const int smooth[3] = {1, 2, 1}, slope[3] = {-1, 0, 1};
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++) {
      int across = 0, down = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          int p = pixel_at(picture, width, height, (long)x + dx, (long)y + dy);
          across += slope[dx + 1] * smooth[dy + 1] * p;
          down += smooth[dx + 1] * slope[dy + 1] * p;
        }
      float length = sqrtf((float)(across * across + down * down));
      edges[y * width + x] = length < 255 ? (uint8_t)length : 255;
    }
}
