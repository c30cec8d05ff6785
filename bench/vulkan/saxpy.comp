#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef FUSED
#include "fma.glsl"
#endif

layout(local_size_x = 256) in;
layout(push_constant) uniform params { float a; uint n; };
layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) readonly buffer Y { float y[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Z { float z[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n) {
#ifdef FUSED
    z[i] = once(a, x[i], y[i]);
#else
    precise float sum = a * x[i] + y[i];
    z[i] = sum;
#endif
  }
}
