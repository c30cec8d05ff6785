/* The texts. Each is small, so that a broken part of it is found among few. */
#include "programs.h"

#include <vyre/ir.h>

const sample_program sample_programs[] = {
    {"program plain workgroup(64) { param n: u32; read x: u32[]; rw y: u32[]; let i = gid.x;"
     " if (i < len(y)) { y[i] = x[i] * 3 + n; } }",
     0},
    {"program flow workgroup(32) { param n: u32; rw y: u32[]; var r = n; for (k in 0..n) { if (k % 3 == 1) { continue; "
     "}"
     " loop { r = r + k; if (r > 40) { break; } else { r = r * 2 + 1; } } } y[gid.x] = select(r > 7, r, 7); }",
     0},
    {"program group workgroup(64) { rw y: u32[]; shared t: u32[64]; local s: u32[4]; t[lid.x] = y[gid.x]; barrier;"
     " s[lid.x % 4] = t[63 - lid.x]; let a = atomic_add(y[0], 1, relaxed, device); atomic_max(t[0], a, acq_rel, "
     "workgroup);"
     " fence(release, device); barrier; y[gid.x] = t[lid.x] + s[lid.x % 4]; }",
     0},
    {"program floats workgroup(64) { param a: f32; read x: f32[]; rw y: f32[]; const k: f32[4] = { 1.0, 2.0, 0.5, -1.0 "
     "};"
     " let v = f32x4(x[gid.x], a, 1.0, 2.0); y[gid.x] = sqrt(abs(v.x)) * k[lid.x % 4] / (v.y + v.z) + floor(v.w); }",
     0},
    {"program lanes workgroup(64) { rw y: u32[]; let s = subgroup_add(y[gid.x]); y[gid.x] = subgroup_shuffle_xor(s, 1) "
     "+"
     " subgroup_ballot(s > 3); }",
     VYRE_NEED_SUBGROUP},
    {"program narrow workgroup(64) { read b: u8[]; rw h: i16[]; h[gid.x] = i16(i32(b[gid.x]) - 7); }",
     VYRE_NEED_STORAGE8 | VYRE_NEED_STORAGE16},
    {"program talk workgroup(64) { rw y: u32[]; if (y[gid.x] == 7) { trap(3); } print(\"{} {}\", gid.x, y[gid.x]); }",
     VYRE_NEED_TRAP | VYRE_NEED_PRINT},
    {"program whole workgroup(64) { rw y: u32[]; let a = y[gid.x]; grid_barrier; y[gid.x] = a + y[0]; }",
     VYRE_NEED_GRID_BARRIER},
};
const uint32_t sample_count = sizeof sample_programs / sizeof *sample_programs;
