/* once(a, b, c) is a * b + c, rounded once. Where the device's own fma rounds twice it goes through double: the product is
 * exact there, the sum is rounded to odd, and so rounding it again to float rounds once. */
float once(float a, float b, float c) {
#ifdef EMULATED
  precise double product = double(a) * double(b), sum = product + double(c), part = sum - product;
  precise double error = (product - (sum - part)) + (double(c) - part);
  uvec2 bits = unpackDouble2x32(sum);
  bool inexact = error < 0.0 || error > 0.0, even = (bits.x & 1u) == 0u;
  if (inexact && even) {
    bool outward = (error > 0.0) != (sum > 0.0); /* the sum is beyond the exact one */
    bits.y -= outward && bits.x == 0u ? 1u : 0u;
    bits.x = outward ? bits.x - 1u : bits.x | 1u;
  }
  return float(packDouble2x32(bits));
#else
  return fma(a, b, c);
#endif
}
