#version 450

layout(local_size_x = 256) in;
layout(push_constant) uniform params { uint n; };
layout(set = 0, binding = 0, std430) readonly buffer V { uint v[]; };
layout(set = 0, binding = 1, std430) buffer Total { uint total; };

shared uint part[256];

void main() {
  uint me = gl_LocalInvocationID.x, sum = 0;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * 256) sum += v[i];
  part[me] = sum;
  barrier();
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    if (me < half_size) part[me] += part[me + half_size];
    barrier();
  }
  if (me == 0) atomicAdd(total, part[0]);
}
