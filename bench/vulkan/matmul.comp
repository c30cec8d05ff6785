#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef FUSED
#include "fma.glsl"
#endif

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform params { uint n; };
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { float c[]; };

const uint TILE = 16;
shared float tile_a[TILE * TILE], tile_b[TILE * TILE];

void main() {
  uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
  uint line = gl_LocalInvocationID.y * TILE, cell = line + gl_LocalInvocationID.x;
  precise float sum = 0.0;
  for (uint t = 0; t < (n + TILE - 1) / TILE; t++) {
    uint across = t * TILE + gl_LocalInvocationID.x, down = t * TILE + gl_LocalInvocationID.y;
    tile_a[cell] = row < n && across < n ? a[row * n + across] : 0.0;
    tile_b[cell] = down < n && column < n ? b[down * n + column] : 0.0;
    barrier();
    for (uint k = 0; k < TILE; k++) {
      float x = tile_a[line + k], y = tile_b[k * TILE + gl_LocalInvocationID.x];
#ifdef FUSED
      sum = once(x, y, sum);
#else
      sum += x * y;
#endif
    }
    barrier();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
