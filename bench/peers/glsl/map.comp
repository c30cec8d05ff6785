/* The maps of the Vulkan peer, one for each of the names that may be defined. Every array is words of 16 bytes, the
 * last one filled up. An invocation loads VECTORS words before it stores one. */
#version 450
#extension GL_EXT_buffer_reference : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint VECTORS = 1;

struct divider {
  uint divisor, magic, first, second;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer source {
  uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer target {
  uvec4 v[];
};
layout(push_constant, std430) uniform arguments {
  source a, b;
  target o;
  uint n;
  divider by[6];
};

#if defined ADD_F32
uvec4 apply(uvec4 x, uvec4 y) {
  return floatBitsToUint(uintBitsToFloat(x) + uintBitsToFloat(y));
}
#elif defined ADD_U8
uvec4 apply(uvec4 x, uvec4 y) {
  return ((x & 0x7F7F7F7Fu) + (y & 0x7F7F7F7Fu)) ^ ((x ^ y) & 0x80808080u);
}
#elif defined ADD_F16
/* By hand, since GLSL leaves rounding and subnormal numbers open. */
float widen(uint h) {
  uint magnitude = h & 0x7FFFu;
  float value = magnitude < 0x400u    ? float(magnitude) * (1.0 / 16777216.0)
                : magnitude < 0x7C00u ? uintBitsToFloat((magnitude << 13) + 0x38000000u)
                                      : uintBitsToFloat((magnitude << 13) | 0x7F800000u);
  return (h & 0x8000u) == 0u ? value : -value;
}

uint narrow(float f) {
  uint bits = floatBitsToUint(f), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;
  if (magnitude >= 0x47800000u) return sign | 0x7C00u;
  if (magnitude < 0x38800000u) return sign | uint(roundEven(uintBitsToFloat(magnitude) * 16777216.0));
  magnitude -= 0x38000000u;
  return sign | ((magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

uint add(uint x, uint y) {
  return narrow(widen(x & 0xFFFFu) + widen(y & 0xFFFFu)) | (narrow(widen(x >> 16) + widen(y >> 16)) << 16);
}

uvec4 apply(uvec4 x, uvec4 y) {
  return uvec4(add(x.x, y.x), add(x.y, y.y), add(x.z, y.z), add(x.w, y.w));
}
#elif defined ADD_BF16
/* The upper half of the rounded sum. */
uvec4 narrow(vec4 sum) {
  uvec4 bits = floatBitsToUint(sum);
  uvec4 rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
  return mix(rounded, bits | 0x400000u, isnan(sum)) & 0xFFFF0000u;
}

uvec4 apply(uvec4 x, uvec4 y) {
  uvec4 low = narrow(uintBitsToFloat(x << 16) + uintBitsToFloat(y << 16));
  return (low >> 16) | narrow(uintBitsToFloat(x & 0xFFFF0000u) + uintBitsToFloat(y & 0xFFFF0000u));
}
#elif defined STRENGTH
uvec4 apply(uvec4 x, uvec4 y) {
  return x / 7u + x % 10u + x / 641u + x % 1000u + x / 65536u + x % 4096u + ((9u * x) ^ (31u * x));
}
#elif defined RUNTIME
uvec4 divide(uvec4 x, uint k) {
  uvec4 high, low;
  umulExtended(x, uvec4(by[k].magic), high, low);
  return (high + ((x - high) >> by[k].first)) >> by[k].second;
}

uvec4 remainder(uvec4 x, uint k) {
  return x - divide(x, k) * by[k].divisor;
}

uvec4 apply(uvec4 x, uvec4 y) {
  return divide(x, 0) + remainder(x, 1) + divide(x, 2) + remainder(x, 3) + divide(x, 4) + remainder(x, 5) +
         ((9u * x) ^ (31u * x));
}
#elif defined EXACT
uvec4 apply(uvec4 x, uvec4 y) {
  uvec4 w = x >> 8;
  return w * 12u / 12u + w * 100u / 25u;
}
#elif defined COPY
uvec4 apply(uvec4 x, uvec4 y) {
  return x;
}
#endif

void main() {
  uint block = gl_WorkGroupSize.x * VECTORS;
  for (uint at = gl_WorkGroupID.x * block; at < n; at += gl_NumWorkGroups.x * block) {
    uvec4 x[VECTORS], y[VECTORS];
    for (uint k = 0; k < VECTORS; k++) {
      uint i = at + k * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
      if (i >= n) continue;
      x[k] = a.v[i];
      y[k] = INPUTS == 2 ? b.v[i] : uvec4(0);
    }
    for (uint k = 0; k < VECTORS; k++) {
      uint i = at + k * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
      if (i < n) o.v[i] = apply(x[k], y[k]);
    }
  }
}
