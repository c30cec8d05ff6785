#ifndef VYRE_BENCH_CUDA_PROBES_H
#define VYRE_BENCH_CUDA_PROBES_H

#include "device.h"

extern const gpu_probe gpu_probes[];
extern const size_t gpu_probe_count;

#endif
