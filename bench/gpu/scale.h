/* The kernels at sizes of a GPU: sizes.def. */
#ifndef VYRE_BENCH_GPU_SCALE_H
#define VYRE_BENCH_GPU_SCALE_H

#include "kernels/kernels.h"

uint64_t gpu_scale_count(const char *of, const char *buffer);
const char *gpu_scale_value(const char *of, const char *param);
/* False if the table has no grid for it. */
bool gpu_scale_grid(const char *of, uint64_t grid[3]);
bool gpu_scale_has_floats(const char *of);

#endif
