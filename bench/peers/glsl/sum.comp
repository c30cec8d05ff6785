/* A sum of u32 onto o, which is 0 before: each workgroup adds its own sum. |n| counts words of 16 bytes, whose last is
 * filled up with zeros. */
#version 450
#extension GL_EXT_buffer_reference : require

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint SIZE = 1;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer source {
  uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer target {
  uint sum;
};
layout(push_constant, std430) uniform arguments {
  source a, b;
  target o;
  uint n;
};

shared uint parts[SIZE];

void main() {
  uint stride = gl_NumWorkGroups.x * SIZE, me = gl_LocalInvocationID.x;
  uvec4 total = uvec4(0);
  for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) total += a.v[i];
  parts[me] = total.x + total.y + total.z + total.w;
  barrier();
  for (uint half_size = SIZE / 2; half_size > 0; half_size /= 2) {
    if (me < half_size) parts[me] += parts[me + half_size];
    barrier();
  }
  if (me == 0) atomicAdd(o.sum, parts[0]);
}
