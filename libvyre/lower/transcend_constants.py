#!/usr/bin/env python3
"""Writes the constants of the transcendental functions: transcend_constants.py DIRECTORY. Needs mpmath.

A polynomial interpolates its function at the Chebyshev nodes of the interval, which is nearly the best that its degree
can do (Trefethen, Approximation Theory and Approximation Practice, chapter 16). It is made of 60 digits, and each
coefficient is rounded once to the form that it is used in."""
import pathlib
import sys

from mpmath import atan, chebyfit, factorial, floor, ln, mp, mpf, nint, pi, sqrt, tan

DIGITS = 110
mp.dps = DIGITS
LN_2 = ln(2)
SLACK = mpf('1.0001')                                         # for arguments that are reduced a little too far
EXP = (LN_2 / 2) ** 2 * SLACK                                 # largest r^2, for |r| <= ln(2) / 2
SIN = (pi / 4) ** 2 * SLACK
LOG = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * SLACK            # s^2, for sqrt(1/2) <= m <= sqrt(2)
ATAN = tan(atan(mpf(1) / 2) / 2) ** 2 * SLACK
F = mpf(1) / 4                                                # f^2, for |f| <= 1/2


def alternating(k):
    return (-1) ** k


# name, what it is, term k of its series in z = r^2, largest z, number of coefficients for f64 and for f32
FLOAT = [
    ('cosh', '(cosh r - 1) / r^2', lambda k: 1 / factorial(2 * k + 2), EXP, 6, 3),
    ('sinh', '(sinh r - r) / r^3', lambda k: 1 / factorial(2 * k + 3), EXP, 5, 3),
    ('log', '(log((1 + s) / (1 - s)) - 2 s) / s^3', lambda k: mpf(2) / (2 * k + 3), LOG, 7, 3),
    ('cos', '(cos r - 1) / r^2', lambda k: -alternating(k) / factorial(2 * k + 2), SIN, 7, 4),
    ('sin', '(sin r - r) / r^3', lambda k: -alternating(k) / factorial(2 * k + 3), SIN, 6, 3),
    ('atan', '(atan t - t) / t^3', lambda k: mpf(-alternating(k)) / (2 * k + 3), ATAN, 8, 4),
]
# The same for words, and how many coefficients are pairs. The words behind are shifted as far as they fit.
PAIR = [
    ('cosh', 'cosh(f ln 2) / 2', lambda k: LN_2 ** (2 * k) / factorial(2 * k) / 2, F, 7, 5),
    ('sinh', 'sinh(f ln 2) / (2 f ln 2)', lambda k: LN_2 ** (2 * k) / factorial(2 * k + 1) / 2, F, 6, 4),
    ('log', 'atanh(s) / (2 s)', lambda k: mpf(1) / (2 * k + 1) / 2, LOG, 9, 6),
    ('log2', 'atanh(s) / (2 s ln 2)', lambda k: mpf(1) / (2 * k + 1) / 2 / LN_2, LOG, 9, 6),
    ('cos', 'cos(f pi/2) / 2', lambda k: alternating(k) * (pi / 2) ** (2 * k) / factorial(2 * k) / 2, F, 8, 6),
    ('sin', 'sin(f pi/2) / (2 f)', lambda k: alternating(k) * (pi / 2) ** (2 * k + 1) / factorial(2 * k + 1) / 2,
     F, 8, 6),
    ('atan', 'atan(t) / (2 t)', lambda k: mpf(alternating(k)) / (2 * k + 1) / 2, ATAN, 10, 7),
]
ALTERNATE = ('cos', 'sin', 'atan')
SHIFTS = {'sin': 21, 'cos': 21}                               # one of them is chosen as the program runs
HEAD = '/* Written by transcend_constants.py. */\n'


def fit(term, largest, count):
    mp.dps = 60
    coefficients = chebyfit(lambda z: sum(term(k) * z ** k for k in range(60)), [0, largest], count)[::-1]
    mp.dps = DIGITS
    return coefficients


def word(x):
    return '0x%08X' % int(nint(x))


def pair(x):
    n = int(nint(x))
    return '{ 0x%08X, 0x%08X }' % (n >> 32, n & 0xFFFFFFFF)


def shift_of(name, coefficient):
    return SHIFTS.get(name, int(floor(-mp.log(coefficient, 2))))


def pair_polynomial(name, what, term, largest, count, pairs):
    coefficients = [abs(c) for c in fit(term, largest, count)]
    shift = shift_of(name, coefficients[pairs])
    return ('\n/* %s */\n' % what + 'static const pair_polynomial %s_polynomial = {\n' % name
            + '  .pairs = %d, .words = %d, .shift = %d, .alternates = %s,\n'
            % (pairs, count - pairs, shift, 'true' if name in ALTERNATE else 'false')
            + '  .pair = { ' + ',\n            '.join(pair(c * 2 ** 64) for c in coefficients[:pairs]) + ' },\n'
            + '  .word = { ' + ', '.join(word(c * mpf(2) ** (32 + shift)) for c in coefficients[pairs:]) + ' }\n};\n')


def form_pair():
    text = HEAD + ''.join(pair_polynomial(*row) for row in PAIR)
    log2_e = int(nint(mpf(2) ** 95 / LN_2))
    text += '\n/* In units of 2^-95. */\nstatic const uint32_t log2_e[] = { %s };\n' % ', '.join(
        word(log2_e >> s & 0xFFFFFFFF) for s in (64, 32, 0))
    text += '\n/* In units of 2^-64. */\n'
    for name, value in [('ln_2', LN_2), ('half_ln_2', LN_2 / 2)]:
        text += 'static const pair_bits %s = %s;\n' % (name, pair(value * 2 ** 64))
    text += '\n/* In units of 2^-62. */\n'
    for name, value in [('atan_half', atan(mpf(1) / 2)), ('quarter_pi', pi / 4), ('atan_2', atan(mpf(2))),
                        ('half_pi', pi / 2), ('whole_pi', +pi)]:
        text += 'static const pair_bits %s = %s;\n' % (name, pair(value * 2 ** 62))
    text += '\n/* Tangents of the angles in the middle between those of 0, 1/2 and 1, in units of 2^-32. */\n'
    text += 'static const uint32_t tan_0_to_half = %s;\n' % word(tan(atan(mpf(1) / 2) / 2) * 2 ** 32)
    text += 'static const uint32_t tan_half_to_1 = %s;\n' % word(tan((atan(mpf(1) / 2) + pi / 4) / 2) * 2 ** 32)
    return text


def rounded(x, digits):
    mp.prec, old = digits, mp.prec
    x = +x
    mp.prec = old
    return x


def pieces(x, digits, count):
    out = []
    for _ in range(count):
        out.append(rounded(x - sum(out), digits))
    return out


def real(name, digits, shifter, large, angle_pieces, column):
    text = ''
    for row in FLOAT:
        text += '\n/* %s */\nstatic const double %s_%s[] = {\n' % (row[1], name, row[0])
        text += ',\n'.join('  ' + float(rounded(c, digits)).hex() for c in fit(*row[2:4], row[column])) + '\n};\n'
    for row, x, count in [('ln_2', LN_2, 2), ('half_pi', pi / 2, angle_pieces)]:
        text += '\nstatic const double %s_%s[] = { %s };\n' % (
            name, row, ', '.join(float(p).hex() for p in pieces(x, digits, count)))
    text += '\nstatic const real real_%s = {\n  .type = VYRE_TYPE_%s, .shifter = %s, .large = %s,\n' % (
        name, name.upper(), shifter, large)
    members = ['ln_2', 'half_pi'] + [row[0] for row in FLOAT]
    text += ',\n'.join('  .%s = { %s_%s, sizeof %s_%s / sizeof(double) }' % (m, name, m, name, m) for m in members)
    return text + '\n};\n'


def form_float():
    text = HEAD + '\n'
    for name, value in [('log2_e', 1 / LN_2), ('ln_2', LN_2), ('atan_half', atan(mpf(1) / 2)), ('quarter_pi', pi / 4),
                        ('half_pi', pi / 2), ('pi', +pi), ('two_over_pi', 2 / pi),
                        ('tan_0_to_half', tan(atan(mpf(1) / 2) / 2)),
                        ('tan_half_to_1', tan((atan(mpf(1) / 2) + pi / 4) / 2))]:
        text += 'static const double %s = %s;\n' % (name, float(value).hex())
    return (text + real('f64', 53, '0x1.8p52', '0x4E800000 /* 2^30 */', 2, 4)
            + real('f32', 24, '0x1.8p23', '0x47800000 /* 2^16 */', 3, 5))


def angle():
    zeros, words = 38, 9
    bits = int(floor(2 / pi * mpf(2) ** (32 * words - zeros)))
    rows = [word(bits >> (32 * i) & 0xFFFFFFFF) for i in range(words)][::-1]
    text = '\n/* %d zeros, then the bits of 2/pi. */\nstatic const uint32_t two_over_pi[] = {\n' % zeros
    return HEAD + text + '  %s,\n  %s\n};\n' % (', '.join(rows[:5]), ', '.join(rows[5:]))


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: transcend_constants.py DIRECTORY')
    for name, text in [('form_pair', form_pair()), ('form_float', form_float()), ('angle', angle())]:
        pathlib.Path(sys.argv[1], 'transcend_%s.inc' % name).write_text(text)


main()
