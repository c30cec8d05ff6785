/* Has the machine that libvyre runs on what a plugin was compiled for? Processor and operating system are asked: the
 * wider registers are of no use where the system does not save them. */
#include "backend/objects.h"

const char *vyre_host_cpu_lacks(uint64_t wanted) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if ((wanted & VYRE_CPU_SSE42) != 0 && !__builtin_cpu_supports("sse4.2")) return "SSE4.2";
  if ((wanted & VYRE_CPU_AVX) != 0 && !__builtin_cpu_supports("avx")) return "AVX";
  if ((wanted & VYRE_CPU_AVX2) != 0 && !__builtin_cpu_supports("avx2")) return "AVX2";
  if ((wanted & VYRE_CPU_FMA) != 0 && !__builtin_cpu_supports("fma")) return "FMA";
  if ((wanted & VYRE_CPU_BMI2) != 0 && !__builtin_cpu_supports("bmi2")) return "BMI2";
  if ((wanted & VYRE_CPU_AVX512F) != 0 && !__builtin_cpu_supports("avx512f")) return "AVX-512F";
  wanted &= ~(uint64_t)(VYRE_CPU_SSE42 | VYRE_CPU_AVX | VYRE_CPU_AVX2 | VYRE_CPU_FMA | VYRE_CPU_BMI2 |
                        VYRE_CPU_AVX512F);
#endif
  return wanted != 0 ? "an instruction set that this library does not know" : NULL;
}
