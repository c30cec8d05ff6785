#!/usr/bin/env python3
"""Writes selftest.inc: operands of the numeric self-test with the results that IEEE 754 gives, computed in rationals.

Run it after a change, from this directory: python3 selftest_vectors.py > selftest.inc"""
import random
from fractions import Fraction
from math import isqrt

FORMATS = {"F32": (32, 24, 127), "F64": (64, 53, 1023)}
ROWS = 128


class Format:
    def __init__(self, width, precision, bias):
        self.width, self.p, self.bias = width, precision, bias
        self.fraction = precision - 1
        self.infinity = (2 * bias + 1) << self.fraction
        self.sign = 1 << (width - 1)
        self.nan = self.infinity | 1 << (self.fraction - 1)

    def value(self, bits):
        """The rational that finite bits stand for."""
        exponent = (bits & ~self.sign) >> self.fraction
        significand = bits & (1 << self.fraction) - 1
        if exponent != 0:
            significand |= 1 << self.fraction
        result = Fraction(significand) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)
        return -result if bits & self.sign else result

    def round(self, x, negative_zero=False):
        """Bits of a rational, to nearest even; |negative_zero| is the sign of an exact zero."""
        if x == 0:
            return self.sign if negative_zero else 0
        sign, x = (self.sign, -x) if x < 0 else (0, x)
        exponent = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** exponent > x:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        ulp = Fraction(2) ** (exponent - self.fraction)
        count, rest = divmod(x, ulp)
        if rest * 2 > ulp or (rest * 2 == ulp and count & 1):
            count += 1
        if exponent == 1 - self.bias:
            bits = count  # a carry out of the subnormals is the least normal number
        else:
            bits = ((exponent + self.bias - 1) << self.fraction) + count
        return sign | min(bits, self.infinity)

    def sqrt(self, bits):
        x = self.value(bits)
        if bits & self.sign:
            return bits if x == 0 else self.nan
        if x == 0:
            return bits
        shift = 4 * (self.bias + self.p)
        scaled = x.numerator * (1 << 2 * shift) // x.denominator
        root = isqrt(scaled)
        exact = root * root == scaled and (x * (1 << 2 * shift)).denominator == 1
        # Anything strictly between two neighbours of so many bits rounds like its middle.
        return self.round(Fraction(2 * root + (0 if exact else 1), 2 << shift))

    def divide(self, a, b):
        x, y = self.value(a), self.value(b)
        negative = (a ^ b) & self.sign != 0
        if y == 0:
            return self.nan if x == 0 else self.infinity | (self.sign if negative else 0)
        return self.round(x / y, negative)

    def add(self, a, b):
        both_negative = a & self.sign != 0 and b & self.sign != 0
        return self.round(self.value(a) + self.value(b), both_negative)

    def multiply(self, a, b):
        return self.round(self.value(a) * self.value(b), (a ^ b) & self.sign != 0)

    def fma(self, a, b, c):
        negative = (a ^ b) & c & self.sign != 0
        x, y = self.value(a) * self.value(b), self.value(c)
        if x == 0 and y == 0:
            return self.round(Fraction(0), negative)
        return self.round(x + y)


    def choose(self, a, b, least):
        """The lesser or greater; -0 is less than +0."""
        rank = [(self.value(x), x & self.sign == 0) for x in (a, b)]
        return a if (rank[0] <= rank[1]) == least else b

    def whole(self, bits, up):
        x = self.value(bits)
        return self.round(Fraction(-(-x.numerator // x.denominator) if up else x.numerator // x.denominator),
                          bits & self.sign != 0)

    def order(self, a, b, c):
        """a < b ? a : c, a == b ? a : c, min, max, floor and ceil of a."""
        x, y = self.value(a), self.value(b)
        return (a if x < y else c, a if x == y else c, self.choose(a, b, True), self.choose(a, b, False),
                self.whole(a, False), self.whole(a, True))


def distance(x, f):
    """How far a positive rational is from the middle of two neighbours, in units in the last place."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** exponent > x:
        exponent -= 1
    rest = x / Fraction(2) ** (exponent - f.fraction) % 1
    return abs(rest - Fraction(1, 2))


def root_of(f, bits):
    """A square root to about twice the precision: one step of Newton's from the rounded one."""
    root = f.value(f.sqrt(bits))
    return root + (f.value(bits) - root * root) / (2 * root)


def special(f):
    one, tiny, least = f.bias << f.fraction, 1, 1 << f.fraction
    half, two = one - least, one + least
    step = one + 1
    small = [tiny, 2, 3, least - 1, least >> 1, (least >> 1) + 1, least, least + 1, least + 3]
    rows = []
    for a in small:  # operands and results that are subnormal
        rows += [(a, a + 1, one), (a, half, tiny), (a, two, f.sign | a), (a | f.sign, one, a + 1)]
        rows += [(least * 3, a | f.sign, tiny)]
    rows += [(tiny, 0, one), (0, tiny, one), (f.sign | tiny, f.sign, one), (f.sign, f.sign | tiny, one)]
    rows += [(f.sign | tiny, tiny, one), (least - 1, least, one), (f.sign | least, least - 1, one)]
    root = (f.bias - f.bias // 2) << f.fraction  # products of two such are near the least normal number
    rows += [(root + 5, root - least - 7, 0), (root | f.sign, root - 1, least), (root - 3 * least, root, tiny)]
    near = one + (1 << f.fraction // 2)
    rows += [  # products whose low half decides
        (near, near, f.sign | f.multiply(near, near)),
        (step, one - 1, f.sign | one),
        (step, step, f.sign | f.multiply(step, step)),
        (step, one + (1 << f.fraction - 1), tiny),
        (step, one + (1 << f.fraction - 1), f.sign | tiny),
        (step, (one + (1 << f.fraction - 1)) | f.sign, tiny),
        (0, 0, f.sign), (f.sign, 0, f.sign), (f.sign, one, 0), (one, f.sign, f.sign), (one, f.sign | one, one),
        (f.infinity - 1, one, tiny), (f.infinity - 1, half, f.infinity - 1),
    ]
    return rows


def hard(f, draw):
    """Quotients, roots and products with a third that lie close to the middle of two neighbours."""
    def number():
        return (f.bias + draw.randint(-3, 3)) << f.fraction | draw.getrandbits(f.fraction)

    rows = []
    pool = [(number(), number(), number()) for _ in range(6000)]
    by_quotient = sorted(pool, key=lambda r: distance(f.value(r[0]) / f.value(r[1]), f))
    by_root = sorted(pool, key=lambda r: distance(root_of(f, r[0]), f))
    by_fma = sorted(pool, key=lambda r: distance(f.value(r[0]) * f.value(r[1]) + f.value(r[2]), f))
    for order in (by_quotient, by_root, by_fma):
        rows += order[:20]
    return rows + pool[:ROWS]


def main():
    print("/* Operands and results of the numeric self-test. Written by selftest_vectors.py.")
    print(" *")
    print(" *   X(a, b, c, add, sub, mul, less, equal, min, max, floor, ceil, div, sqrt, fma) in bits; a NaN stands for any. */")
    for name, shape in FORMATS.items():
        f = Format(*shape)
        draw = random.Random(20260)
        rows = (special(f) + hard(f, draw))[:ROWS]
        print(f"#ifdef SELFTEST_{name}")
        for a, b, c in rows:
            results = (f.add(a, b), f.add(a, b ^ f.sign), f.multiply(a, b))
            results += f.order(a, b, c) + (f.divide(a, b), f.sqrt(a), f.fma(a, b, c))
            print("X(%s)" % ", ".join("0x%X" % x for x in (a, b, c) + results))
        print("#endif")


main()
