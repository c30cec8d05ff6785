#version 450

layout(local_size_x = 256) in;
layout(push_constant) uniform params { uint n; };
layout(set = 0, binding = 0, std430) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 1, std430) buffer Counts { uint counts[256]; };

shared uint own[256];

void main() {
  uint me = gl_LocalInvocationID.x;
  own[me] = 0;
  barrier();
  for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * 256) {
    uint w = words[i];
    atomicAdd(own[w & 0xFF], 1);
    atomicAdd(own[w >> 8 & 0xFF], 1);
    atomicAdd(own[w >> 16 & 0xFF], 1);
    atomicAdd(own[w >> 24], 1);
  }
  barrier();
  atomicAdd(counts[me], own[me]);
}
