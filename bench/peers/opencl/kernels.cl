/* The works of the OpenCL peer. WIDE is 1 or 16: elements of a work-item, as one vector. A work-item of the last, not
 * whole vector does its elements one by one. */
#if WIDE == 16
#define V(type) type##16
#define LOAD(p, i) vload16(i, p)
#define STORE(v, p, i) vstore16(v, i, p)
#define LOAD_HALF(p, i) vload_half16(i, p)
#define STORE_HALF(v, p, i) vstore_half16_rte(v, i, p)
#define TO(type, v) convert_##type##16(v)
#define AS(type, v) as_##type##16(v)
#else
#define V(type) type
#define LOAD(p, i) (p)[i]
#define STORE(v, p, i) (p)[i] = (v)
#define LOAD_HALF(p, i) vload_half(i, p)
#define STORE_HALF(v, p, i) vstore_half_rte(v, i, p)
#define TO(type, v) convert_##type(v)
#define AS(type, v) as_##type(v)
#endif

#define MAP(whole, single)                                              \
  size_t i = get_global_id(0);                                          \
  if ((i + 1) * WIDE <= n) {                                            \
    whole;                                                              \
  } else {                                                              \
    for (ulong k = i * WIDE; k < n; k++) single;                        \
  }

kernel void add_f32(global const float *restrict a, global const float *restrict b, global float *restrict o, ulong n) {
  MAP(STORE(LOAD(a, i) + LOAD(b, i), o, i), o[k] = a[k] + b[k])
}

kernel void add_u8(global const uchar *restrict a, global const uchar *restrict b, global uchar *restrict o, ulong n) {
  MAP(STORE(LOAD(a, i) + LOAD(b, i), o, i), o[k] = a[k] + b[k])
}

kernel void add_f16(global const half *restrict a, global const half *restrict b, global half *restrict o, ulong n) {
  MAP(STORE_HALF(LOAD_HALF(a, i) + LOAD_HALF(b, i), o, i), vstore_half_rte(vload_half(k, a) + vload_half(k, b), k, o))
}

/* bf16 is the upper half of an f32. To the nearest, ties to even; NaN stays quiet. */
ushort narrow(float sum) {
  uint bits = as_uint(sum);
  return (ushort)((sum == sum ? bits + 0x7FFFu + ((bits >> 16) & 1u) : bits | 0x400000u) >> 16);
}

#if WIDE == 16
ushort16 narrow_wide(float16 sum) {
  uint16 bits = as_uint16(sum);
  return convert_ushort16(select(bits | 0x400000u, bits + 0x7FFFu + ((bits >> 16) & 1u), as_int16(sum == sum)) >> 16);
}
#else
#define narrow_wide narrow
#endif

kernel void add_bf16(global const ushort *restrict a, global const ushort *restrict b, global ushort *restrict o,
                     ulong n) {
  MAP(STORE(narrow_wide(AS(float, TO(uint, LOAD(a, i)) << 16) + AS(float, TO(uint, LOAD(b, i)) << 16)), o, i),
      o[k] = narrow(as_float((uint)a[k] << 16) + as_float((uint)b[k] << 16)))
}

#define STRENGTH(x) \
  ((x) / 7u + (x) % 10u + (x) / 641u + (x) % 1000u + (x) / 65536u + (x) % 4096u + ((9u * (x)) ^ (31u * (x))))

kernel void reduce_strength(global const uint *restrict x, global uint *restrict o, ulong n) {
  MAP(V(uint) v = LOAD(x, i); STORE(STRENGTH(v), o, i), o[k] = STRENGTH(x[k]))
}

#define EXACT(x) (((x) >> 8) * 12u / 12u + ((x) >> 8) * 100u / 25u)

kernel void divide_exact(global const uint *restrict x, global uint *restrict o, ulong n) {
  MAP(V(uint) v = LOAD(x, i); STORE(EXACT(v), o, i), o[k] = EXACT(x[k]))
}

/* By divisors that the host has turned into multiplications; elements 0 to 5 of each vector. */
#define DIVIDE(x, k) ((mul_hi(x, (V(uint))(m.s##k)) + (((x) - mul_hi(x, (V(uint))(m.s##k))) >> f.s##k)) >> s.s##k)
#define DIVIDE_ONE(x, k) ((mul_hi(x, m.s##k) + (((x) - mul_hi(x, m.s##k)) >> f.s##k)) >> s.s##k)
#define RUNTIME(x, by)                                                                                   \
  (by(x, 0) + ((x) - by(x, 1) * d.s1) + by(x, 2) + ((x) - by(x, 3) * d.s3) + by(x, 4) + ((x) - by(x, 5) * d.s5) + \
   ((9u * (x)) ^ (31u * (x))))

kernel void reduce_runtime(global const uint *restrict x, global uint *restrict o, ulong n, uint8 d, uint8 m, uint8 f,
                           uint8 s) {
  MAP(V(uint) v = LOAD(x, i); STORE(RUNTIME(v, DIVIDE), o, i), o[k] = RUNTIME(x[k], DIVIDE_ONE))
}

/* Each work-item sums a stretch of its own; the second launch, of one work-item, sums the sums. */
kernel void sum_parts(global const uint *restrict v, global uint *restrict parts, ulong n) {
  ulong items = get_global_size(0), me = get_global_id(0), vectors = n / 16;
  uint16 sum = 0;
  for (ulong i = vectors * me / items; i < vectors * (me + 1) / items; i++) sum += vload16(i, v);
  uint8 s8 = sum.lo + sum.hi;
  uint4 s4 = s8.lo + s8.hi;
  uint total = s4.x + s4.y + s4.z + s4.w;
  if (me == 0)
    for (ulong k = vectors * 16; k < n; k++) total += v[k];
  parts[me] = total;
}

kernel void sum_all(global const uint *restrict parts, global uint *restrict o, ulong n) {
  uint total = 0;
  for (ulong k = 0; k < n; k++) total += parts[k];
  o[0] = total;
}

kernel void nothing(void) {
}
