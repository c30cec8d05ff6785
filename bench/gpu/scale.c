/* The tables of sizes.def. */
#include "gpu/scale.h"

#include <string.h>

typedef struct size_row {
  const char *of, *name;
  uint64_t count;
} size_row;

typedef struct value_row {
  const char *of, *name, *value;
} value_row;

typedef struct grid_row {
  const char *kernel;
  uint64_t x, y;
} grid_row;

static const size_row sizes[] = {
#define COUNT(kernel, buffer, count) {#kernel, #buffer, count},
#include "gpu/sizes.def"
};
static const value_row values[] = {
#define VALUE(kernel, param, value) {#kernel, #param, value},
#include "gpu/sizes.def"
};
static const grid_row grids[] = {
#define GRID(kernel, x, y) {#kernel, x, y},
#include "gpu/sizes.def"
};
static const char *const floats[] = {
#define FLOATS(kernel) #kernel,
#include "gpu/sizes.def"
};

uint64_t gpu_scale_count(const char *of, const char *buffer) {
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strcmp(sizes[i].of, of) == 0 && strcmp(sizes[i].name, buffer) == 0) return sizes[i].count;
  return 0;
}

const char *gpu_scale_value(const char *of, const char *param) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (strcmp(values[i].of, of) == 0 && strcmp(values[i].name, param) == 0) return values[i].value;
  return NULL;
}

bool gpu_scale_grid(const char *of, uint64_t grid[3]) {
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    if (strcmp(grids[i].kernel, of) != 0) continue;
    grid[0] = grids[i].x;
    grid[1] = grids[i].y;
    grid[2] = 1;
    return true;
  }
  return false;
}

bool gpu_scale_has_floats(const char *of) {
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (strcmp(floats[i], of) == 0) return true;
  return false;
}
