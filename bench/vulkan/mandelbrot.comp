#version 450

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform params { uint width, height; };
layout(set = 0, binding = 0, std430) writeonly buffer Steps { uint steps[]; };

const uint LIMIT = 200;

void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  if (at.x >= width || at.y >= height) return;
  precise float scale = 2.5 / float(height);
  precise float re = (float(at.x) - float(width) * 0.5) * scale - 0.6;
  precise float im = (float(height) * 0.5 - float(at.y)) * scale;
  precise float x = 0.0, y = 0.0;
  uint n = 0;
  while (true) {
    precise float xx = x * x, yy = y * y, distance = xx + yy;
    if (distance > 4.0 || n == LIMIT) break;
    y = 2.0 * x * y + im;
    x = xx - yy + re;
    n++;
  }
  steps[at.y * width + at.x] = n;
}
