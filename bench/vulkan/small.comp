#version 450

layout(local_size_x = 64) in;
layout(push_constant) uniform params { uint n; };
layout(set = 0, binding = 0, std430) buffer V { uint v[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n) v[i] += 1;
}
