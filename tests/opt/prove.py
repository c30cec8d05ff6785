#!/usr/bin/env python3
"""Proves the rules of expressions, for all inputs, with Z3.

usage: prove.py [--fast] [--only ID] [--z3 PROGRAM] [--constants PROGRAM] [--seconds N] [--kept FILE] RULES.def OPS.def

Each row of the table becomes obligations in SMT-LIB: its pattern and its result give the same, at 8, 16 and 32 bits, for
signed and unsigned operands; what a row says of types it is proved for. Floats are those of 16 and of 32 bits. A
precondition that nothing meets is a fault. Where Z3 does not end, there is an argument, or literals are taken from a list
instead; the output says so. The constants of divisions and products, as the optimizer computes them (--constants prints
them), are proved one by one: all by arithmetic on whole numbers (certified), those of 8 bits and powers of two by Z3 as
well. --fast does 8 bits alone, and no floats. --kept names a file that takes what Z3 has proved, by the hash of the
question, so that a run which was ended goes on where it was.

Exit: 0 all is proved, 1 something is wrong or stays open, 2 wrong usage, 77 there is no Z3.
"""
import argparse
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../libvyre/opt'))
sys.dont_write_bytecode = True
import rules  # noqa: E402

INTEGERS = {'u32': (32, False), 'i32': (32, True), 'u64': (64, False), 'i64': (64, True)}
FLOATS = {16: (5, 11), 32: (8, 24), 64: (11, 53)}
NARROW_BITS = {'u8': (8, False), 'u16': (16, False), 'i8': (8, True), 'i16': (16, True)}
RNE = 'RNE'

# Rows that are true by what the words mean, so that there is nothing to prove.
BY_DEFINITION = {'reciprocal': 'rcp(x) is 1/x, rounded once'}

# What Z3 does not decide at 16 or 32 bits within minutes is accepted where all of 8 bits (of floats: what is said here) is
# proved, and the argument does not depend on the width. Everything else that stays open is a fault.
BIJECTION = 'x k^-1 is a bijection that takes the multiples of an odd k to 0 .. MAX / k'
ONE_ROUNDING = 'the product with 1 is exact, so both round the same number once'
ARGUED = {
    'div_div': 'floor(floor(x / a) / b) is floor(x / (a b)) for all natural numbers',
    'div_div_zero': 'x / a is below 2^w / a, hence below b',
    'div_of_rest': 'x - x mod k is the multiple of k that x / k counts',
    'mod_mod': 'a remainder is below its divisor',
    'divisible_odd': BIJECTION, 'not_divisible_odd': BIJECTION, 'divisible_even': BIJECTION,
    'not_divisible_even': BIJECTION,
    'fma_one': ONE_ROUNDING, 'fma_one_left': ONE_ROUNDING, 'fma_minus_one': ONE_ROUNDING,
    'fma_minus_one_left': ONE_ROUNDING,
    'fma_minus_zero': 'x y + -0 is x y, zeros of either sign included; both round it once',
    'fma_neg_neg': '(-x) (-y) is x y exactly; both round the same number once',
    'div_neg_neg': 'proved at 16 bits; the sign of a quotient does not touch its magnitude',
    'div_power': 'proved at 16 bits; a power of two scales exactly',
    'mul_neg': 'proved at 16 bits; the sign of a product does not touch its magnitude',
    'neg_mul': 'proved at 16 bits; the sign of a product does not touch its magnitude',
    'mul_neg_neg': 'proved at 16 bits; the sign of a product does not touch its magnitude',
}


class Sort:
    """Of a type: BOOL, bits or float."""

    def __init__(self, kind, width=0, is_signed=False):
        self.kind, self.width, self.is_signed = kind, width, is_signed

    def smt(self):
        if self.kind == 'bool':
            return 'Bool'
        if self.kind == 'bits':
            return f'(_ BitVec {self.width})'
        return '(_ FloatingPoint %d %d)' % FLOATS[self.width]


BOOL = Sort('bool')


def bv(value, width):
    return f'(_ bv{value % (1 << width)} {width})'


class Model:
    """One choice of types for a rule: how its expressions read in SMT-LIB."""

    def __init__(self, rule, main, named):
        self.rule, self.main, self.named = rule, main, named
        self.fixed_literals = {}

    def sort(self, t):
        t = t.root()
        if t.fixed == 'bool':
            return BOOL
        if t.fixed == 'count':
            return Sort('bits', self.main.width if self.main.kind == 'bits' else 32)
        name = self.named.get(t.fixed, t.fixed)
        if name in INTEGERS:
            return Sort('bits', *INTEGERS[name])
        if name in ('f32', 'f64'):
            return Sort('float', 32 if name == 'f32' else 64)
        if name == 'bool':
            return BOOL
        return self.main

    def name(self, n):
        return n.word

    def declarations(self):
        out = []
        seen = set()
        for n in self.rule.pattern.walk():
            if not (n.is_variable() or n.is_literal_name()) or n.word in seen:
                continue
            seen.add(n.word)
            s = self.sort(n.type)
            if n.word in self.fixed_literals:
                out.append(f'(define-fun {n.word} () {s.smt()} {bv(self.fixed_literals[n.word], s.width)})')
            elif s.kind == 'float':
                out.append(f'(declare-const {n.word}_bits (_ BitVec {s.width}))')
                out.append(f'(define-fun {n.word} () {s.smt()} ((_ to_fp %d %d) {n.word}_bits))' % FLOATS[s.width])
            else:
                out.append(f'(declare-const {n.word} {s.smt()})')
        return out

    def number(self, n):
        s = self.sort(n.type)
        if n.word in ('true', 'false'):
            return n.word
        if n.word in rules.COUNTS:
            width = self.main.width
            return bv(width if n.word == 'W' else width - 1, s.width)
        if s.kind == 'float':
            exponent, digits = FLOATS[s.width]
            if n.word in ('0.0', '-0.0'):
                return f'(_ {"-" if n.word[0] == "-" else "+"}zero {exponent} {digits})'
            value = n.word.lstrip('-')
            made = f'((_ to_fp {exponent} {digits}) {RNE} {value})'
            return f'(fp.neg {made})' if n.word[0] == '-' else made
        if n.word == 'MIN':
            return bv(1 << (s.width - 1) if s.is_signed else 0, s.width)
        if n.word == 'MAX':
            return bv((1 << (s.width - 1)) - 1 if s.is_signed else (1 << s.width) - 1, s.width)
        return bv(int(n.word), s.width)

    def term(self, n):
        if n.is_variable() or n.is_literal_name():
            return n.word
        if n.is_leaf():
            return self.number(n)
        args = [self.term(a) for a in n.args]
        if n.word == 'cast':
            return self.cast(n, args[0])
        s = self.sort(n.args[1 if n.word == 'select' else 0].type)
        if n.word in rules.BUILTINS:
            return self.builtin(n, args[0], s)
        if n.word == 'select':
            return f'(ite {" ".join(args)})'
        if s.kind == 'bool':
            return {'land': '(and %s %s)', 'lor': '(or %s %s)', 'lnot': '(not %s)', 'eq': '(= %s %s)',
                    'ne': '(distinct %s %s)'}[n.word] % tuple(args)
        if s.kind == 'float':
            return self.float_term(n.word, args, s)
        return self.integer_term(n.word, args, s)

    def integer_term(self, op, args, s):
        a, b = args[0], args[-1]
        w, sign = s.width, s.is_signed
        zero, ones, one = bv(0, w), bv(-1, w), bv(1, w)
        plain = {'add': 'bvadd', 'sub': 'bvsub', 'mul': 'bvmul', 'bitand': 'bvand', 'bitor': 'bvor', 'bitxor': 'bvxor'}
        if op in plain:
            return f'({plain[op]} {a} {b})'
        less, most = ('bvslt', 'bvsle') if sign else ('bvult', 'bvule')
        comparisons = {'eq': f'(= {a} {b})', 'ne': f'(distinct {a} {b})', 'lt': f'({less} {a} {b})',
                       'gt': f'({less} {b} {a})', 'le': f'({most} {a} {b})', 'ge': f'({most} {b} {a})'}
        if op in comparisons:
            return comparisons[op]
        count = f'(bvand {b} {bv(w - 1, w)})'
        back = f'(bvand (bvneg {b}) {bv(w - 1, w)})'
        wide = (lambda x: f'((_ sign_extend {w}) {x})') if sign else (lambda x: f'((_ zero_extend {w}) {x})')
        bit = lambda i, x: f'((_ extract {i} {i}) {x})'
        if op in ('clz', 'ctz'):
            out = bv(w, w)
            for i in (range(w) if op == 'clz' else reversed(range(w))):
                out = f'(ite (= {bit(i, "?v")} #b1) {bv(w - 1 - i if op == "clz" else i, w)} {out})'
            return f'(let ((?v {a})) {out})'
        if op == 'popcount':
            bits = ' '.join(f'((_ zero_extend {w - 1}) {bit(i, "?v")})' for i in range(w))
            return f'(let ((?v {a})) (bvadd {bits}))'
        if op == 'reverse_bits':
            return f'(let ((?v {a})) (concat {" ".join(bit(i, "?v") for i in range(w))}))'
        return {
            'div': f'(ite (= {b} {zero}) {zero if sign else ones} ({"bvsdiv" if sign else "bvudiv"} {a} {b}))',
            'mod': f'(ite (= {b} {zero}) {zero} ({"bvsrem" if sign else "bvurem"} {a} {b}))',
            'shl': f'(bvshl {a} {count})',
            'shr': f'({"bvashr" if sign else "bvlshr"} {a} {count})',
            'rotl': f'(bvor (bvshl {a} {count}) (bvlshr {a} {back}))',
            'rotr': f'(bvor (bvlshr {a} {count}) (bvshl {a} {back}))',
            'min': f'(ite ({less} {a} {b}) {a} {b})',
            'max': f'(ite ({less} {a} {b}) {b} {a})',
            'absdiff': f'(ite (bvult {a} {b}) (bvsub {b} {a}) (bvsub {a} {b}))',
            'sat_add': f'(ite (bvult (bvadd {a} {b}) {a}) {ones} (bvadd {a} {b}))',
            'sat_sub': f'(ite (bvult {a} {b}) {zero} (bvsub {a} {b}))',
            'sat_mul': f'(ite (= ((_ extract {2 * w - 1} {w}) (bvmul {wide(a)} {wide(b)})) {zero}) (bvmul {a} {b}) {ones})',
            'mulhi': f'((_ extract {2 * w - 1} {w}) (bvmul {wide(a)} {wide(b)}))',
            'neg': f'(bvneg {a})',
            'bitnot': f'(bvnot {a})',
            'abs': f'(ite (bvslt {a} {zero}) (bvneg {a}) {a})',
            'sign': f'(ite (bvslt {a} {zero}) {ones} (ite (= {a} {zero}) {zero} {one}))',
        }[op]

    def float_term(self, op, args, s):
        a, b = args[0], args[-1]
        exponent, digits = FLOATS[s.width]
        rounded = {'add': 'fp.add', 'sub': 'fp.sub', 'mul': 'fp.mul', 'div': 'fp.div', 'fma': 'fp.fma', 'sqrt': 'fp.sqrt'}
        if op in rounded:
            return f'({rounded[op]} {RNE} {" ".join(args)})'
        integral = {'floor': 'RTN', 'ceil': 'RTP', 'round': 'RNE', 'trunc': 'RTZ'}
        if op in integral:
            return f'(fp.roundToIntegral {integral[op]} {a})'
        zero, one = f'(_ +zero {exponent} {digits})', f'((_ to_fp {exponent} {digits}) {RNE} 1.0)'
        first = {'min': f'(or (fp.lt {a} {b}) (and (fp.eq {a} {b}) (fp.isNegative {a})) (fp.isNaN {b}))',
                 'max': f'(or (fp.gt {a} {b}) (and (fp.eq {a} {b}) (fp.isNegative {b})) (fp.isNaN {b}))'}
        if op in first:
            return f'(ite {first[op]} {a} {b})'
        return {
            'eq': f'(fp.eq {a} {b})', 'ne': f'(not (fp.eq {a} {b}))', 'lt': f'(fp.lt {a} {b})', 'gt': f'(fp.gt {a} {b})',
            'le': f'(fp.leq {a} {b})', 'ge': f'(fp.geq {a} {b})', 'neg': f'(fp.neg {a})', 'abs': f'(fp.abs {a})',
            'is_nan': f'(fp.isNaN {a})', 'is_inf': f'(fp.isInfinite {a})',
            'is_finite': f'(not (or (fp.isNaN {a}) (fp.isInfinite {a})))',
            'rcp': f'(fp.div {RNE} {one} {a})',
            'sign': f'(ite (fp.isNaN {a}) {a} (ite (fp.isZero {a}) {zero} (ite (fp.isNegative {a}) (fp.neg {one}) {one})))',
        }[op]

    def builtin(self, n, a, s):
        w = s.width
        if n.word == 'exact_reciprocal':
            exponent, digits = FLOATS[w]
            bits = f'{n.args[0].word}_bits'
            field = f'((_ extract {w - 2} {digits - 1}) {bits})'
            return (f'(and (= ((_ extract {digits - 2} 0) {bits}) {bv(0, digits - 1)}) '
                    f'(bvugt {field} {bv(0, exponent)}) (bvult {field} {bv(-2, exponent)}))')
        if n.word == 'log2':
            return self.integer_term('ctz', [a], s)
        if n.word == 'odd':
            return f'(bvlshr {a} {self.integer_term("ctz", [a], s)})'
        x = a
        for _ in range(5 if w > 48 else 4 if w > 24 else 3 if w > 12 else 2):
            x = f'(let ((?x {x})) (bvmul ?x (bvsub {bv(2, w)} (bvmul {a} ?x))))'
        return x

    def cast(self, n, a):
        of, to = self.sort(n.args[0].type), self.sort(n.type)
        if n.cast in NARROW_BITS:
            width, is_signed = NARROW_BITS[n.cast]
            grown = 'sign_extend' if is_signed else 'zero_extend'
            return f'((_ {grown} {of.width - width}) ((_ extract {width - 1} 0) {a}))'
        if n.cast in ('f16', 'bf16'):
            exponent, digits = (5, 11) if n.cast == 'f16' else (8, 8)
            return f'((_ to_fp 8 24) {RNE} ((_ to_fp {exponent} {digits}) {RNE} {a}))'
        if to.kind == 'bool':
            if of.kind == 'bool':
                return a
            return f'(not (fp.isZero {a}))' if of.kind == 'float' else f'(distinct {a} {bv(0, of.width)})'
        if to.kind == 'float':
            exponent, digits = FLOATS[to.width]
            if of.kind == 'bool':
                return f'(ite {a} ((_ to_fp {exponent} {digits}) {RNE} 1.0) (_ +zero {exponent} {digits}))'
            if of.kind == 'float':
                return f'((_ to_fp {exponent} {digits}) {RNE} {a})'
            return f'((_ to_fp{"" if of.is_signed else "_unsigned"} {exponent} {digits}) {RNE} {a})'
        if of.kind == 'bool':
            return f'(ite {a} {bv(1, to.width)} {bv(0, to.width)})'
        if of.kind == 'float':  # of what is in range, which is all that the table has
            return f'((_ fp.to_{"sbv" if to.is_signed else "ubv"} {to.width}) RTZ {a})'
        if to.width <= of.width:
            return f'((_ extract {to.width - 1} 0) {a})'
        return f'((_ {"sign" if of.is_signed else "zero"}_extend {to.width - of.width}) {a})'

    def script(self, meets_precondition=False):
        lines = self.declarations()
        if self.rule.when is not None:
            lines.append(f'(assert {self.term(self.rule.when)})')
        if not meets_precondition:
            lines.append(f'(assert (not (= {self.term(self.rule.pattern)} {self.term(self.rule.result)})))')
        return '\n'.join(lines)

    def describe(self):
        named = ' '.join(f'{k}={v}' for k, v in self.named.items())
        sort = self.main
        main = {'bool': 'bool', 'bits': f'{"i" if sort.is_signed else "u"}{sort.width}', 'float': f'f{sort.width}'}[sort.kind]
        given = ' '.join(f'{k}={v:#x}' for k, v in self.fixed_literals.items())
        return ' '.join(x for x in (main if not named else named, given) if x)


# ---- Obligations ----------------------------------------------------------------------------------

class Obligation:
    """|expect| is what Z3 is to say: unsat of a proof, sat of a precondition that something meets."""

    def __init__(self, what, script, expect='unsat', rule=None, model=None):
        self.what, self.script, self.expect, self.rule, self.model = what, script, expect, rule, model
        self.answer = None


def models(rule, fast):
    if rule.named:
        for types in itertools.product(*rule.named.values()):
            named = dict(zip(rule.named, types))
            first = types[0]
            main = Sort('bits', *INTEGERS[first]) if first in INTEGERS else Sort('bits', 32)
            uses_floats = any(t[0] == 'f' for t in types) or 'f64' in rule.pattern_text
            if not (fast and uses_floats):
                yield Model(rule, main, named)
        return
    kinds = set()
    for t in rule.classes:
        t = t.split('x')[0]
        kinds.add('float' if t[0] == 'f' else 'bool' if t == 'bool' else 'signed' if t[0] == 'i' else 'unsigned')
    if rule.types_text == 'ANY':
        kinds = {'unsigned'}
    if not rule.classes:
        kinds = {'concrete'}
    for kind in sorted(kinds):
        if kind == 'bool':
            yield Model(rule, BOOL, {})
        elif kind == 'concrete':
            if not (fast and ('f16' in rule.pattern_text or 'f32' in rule.pattern_text)):
                yield Model(rule, Sort('bits', 32), {})
        elif kind == 'float':
            for width in () if fast else (16, 32):
                yield Model(rule, Sort('float', width), {})
        else:
            for width in (8,) if fast else (8, 16, 32):
                yield Model(rule, Sort('bits', width, kind == 'signed'), {})


def obligations(table, fast, only):
    for rule in table.rules:
        if (only and rule.full_id() != only) or rule.exact == 'CONTRACT' or rule.id in BY_DEFINITION:
            continue
        for model in models(rule, fast):
            what = f'{rule.full_id()} ({model.describe()})'
            yield Obligation(what, model.script(), 'unsat', rule, model)
            if rule.when is not None:
                yield Obligation(what + ' is met', model.script(True), 'sat', rule, model)


# What stands for literals where Z3 can't do all of them: corners, and any.
def literals_for(width, count):
    r = random.Random(width)
    corners = [1, 2, 3, 5, 6, 7, 10, 12, 13, 100, 255, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1,
               (1 << width) - 2, (1 << (width // 2)) + 1]
    return [c % (1 << width) for c in corners] + [r.getrandbits(width) >> r.randrange(width - 2) for _ in range(count)]


def by_cases(o):
    """The obligation with literals from the list."""
    names = [n for n in o.rule.order if n[0] == 'k']
    width = o.model.main.width
    values = literals_for(width, 8)
    picks = [(v,) for v in values] if len(names) == 1 else [(values[i], values[(i * 7 + 3) % len(values)])
                                                              for i in range(len(values))]
    for pick in picks:
        m = Model(o.rule, o.model.main, o.model.named)
        m.fixed_literals = dict(zip(names, pick))
        yield Obligation(f'{o.rule.full_id()} ({m.describe()})', m.script(), 'unsat', o.rule, m)


# ---- Constants of divisions and products ----------------------------------------------------------

def constant_obligations(program, fast):
    """Lines of |program|: what it is, the width, the literal, and the constants that the optimizer takes for it."""
    text = subprocess.run([program] + (['--fast'] if fast else []), check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        kind, *numbers = line.split()
        if kind == 'sum':
            w, factor, *terms = [int(n) for n in numbers]
            total = bv(0, w)
            for t in terms:
                shifted = f'(bvshl x {bv(abs(t) - 1, w)})'
                total = f'({"bvsub" if t < 0 else "bvadd"} {total} {shifted})'
            wanted = f'(bvmul x {bv(factor, w)})'
        elif kind == 'power':
            w, k = [int(n) for n in numbers]
            whole = f'(bvadd (bvand (bvashr x {bv(w - 1, w)}) {bv((1 << k) - 1, w)}) x)'
            divided = f'(bvsdiv x {bv(1 << k, w)})'  # by the smallest number, where k is w - 1
            total = f'(concat (bvashr {whole} {bv(k, w)}) (bvsub x (bvand {whole} {bv(-1 << k, w)})))'
            wanted = f'(concat {divided if k < w - 1 else "(bvneg " + divided + ")"} (bvsrem x {bv(1 << k, w)}))'
        else:
            w, d, multiplier, before, after, fixup = [int(n) for n in numbers]
            extend = 'sign_extend' if kind == 'signed' else 'zero_extend'
            high = (f'((_ extract {2 * w - 1} {w}) (bvmul ((_ {extend} {w}) (bvlshr x {bv(before, w)})) '
                    f'((_ {extend} {w}) {bv(multiplier, w)})))')
            if kind == 'signed':
                if fixup:
                    high = f'(bvadd {high} x)'
                total = f'(bvsub (bvashr {high} {bv(after, w)}) (bvashr x {bv(w - 1, w)}))'
                wanted = f'(bvsdiv x {bv(d, w)})'
            else:
                if fixup:
                    high = f'(let ((?t {high})) (bvadd ?t (bvlshr (bvsub x ?t) {bv(1, w)})))'
                total = f'(bvlshr {high} {bv(after, w)})'
                wanted = f'(bvudiv x {bv(d, w)})'
        yield Obligation(line, f'(declare-const x (_ BitVec {w}))\n(assert (not (= {total} {wanted})))'), line


def certified(line):
    """Without a solver. With e = m d - 2^p, m x / 2^p is x / d + e x / (d 2^p). For 0 <= x <= X its floor is that of x / d
    iff 0 <= e and e c < 2^p, c being the largest x <= X with x mod d = d - 1. For x = -y, y up to Y, one more than its
    floor is -(y / d) rounded up iff 0 < e and e c <= 2^p, c being the same of Y."""
    kind, *numbers = line.split()
    if kind == 'sum':
        w, factor, *terms = [int(n) for n in numbers]
        return (sum((-1 if t < 0 else 1) << (abs(t) - 1) for t in terms) - factor) % (1 << w) == 0
    if kind == 'power':
        return True  # Z3 does all of them
    w, d, m, before, after, fixup = [int(n) for n in numbers]
    last = lambda most: most - (most + 1) % d
    if kind == 'signed':
        m += ((1 << w) if fixup else 0) - ((m >> (w - 1)) << w)
        power, most = 1 << (w + after), (1 << (w - 1)) - 1
        e = m * d - power
        return 0 < e and e * last(most) < power and e * last(most + 1) <= power
    power = 1 << (w + after + fixup)
    m += (1 << w) if fixup else 0
    d >>= before
    e = m * d - power
    return 0 <= e and e * last(((1 << w) - 1) >> before) < power


# ---- Asking ---------------------------------------------------------------------------------------

class Kept:
    """Answers of Z3, a line each: hash of the question and answer. What was not decided is asked again."""

    def __init__(self, path):
        self.path, self.answers, self.lock = path, {}, threading.Lock()
        if path and os.path.exists(path):
            with open(path, encoding='ascii') as file:
                self.answers = dict(line.split() for line in file if line.count(' ') == 1 and line.endswith('\n'))

    @staticmethod
    def name(o):
        return hashlib.sha256(o.script.encode()).hexdigest()

    def recall(self, o):
        o.answer = self.answers.get(self.name(o), o.answer)
        return self.name(o) in self.answers

    def keep(self, batch):
        if self.path:
            with self.lock, open(self.path, 'a', encoding='ascii') as file:
                file.writelines(f'{self.name(o)} {o.answer}\n' for o in batch if o.answer in ('sat', 'unsat'))


class Solver:
    def __init__(self, z3, seconds, kept=None):
        self.z3, self.seconds, self.kept = z3, seconds, Kept(kept)

    def ask(self, batch):
        """Many in one process; (reset) makes each a question of its own."""
        text = []
        batch = [o for o in batch if not self.kept.recall(o)]
        if not batch:
            return
        for o in batch:
            text += ['(reset)', f'(set-option :timeout {self.seconds * 1000})', o.script, '(check-sat)', '(echo "next")']
        done = subprocess.run([self.z3, '-in'], input='\n'.join(text), capture_output=True, text=True)
        answers = done.stdout.split('next\n')
        for o, a in itertools.zip_longest(batch, answers[:len(batch)], fillvalue=''):
            a = a.strip()
            o.answer = 'unknown' if a == 'timeout' else a or 'no answer'
        self.kept.keep(batch)

    def ask_all(self, all_of_them, size=24):
        batches = [all_of_them[i:i + size] for i in range(0, len(all_of_them), size)]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(self.ask, batches))


def settle(solver, open_ones, wrong):
    """Those of the open ones that are good all the same: by argument, or with every choice of literals from the list."""
    accepted, cases = [], {}
    for o in open_ones:
        if o.rule.id in ARGUED and o.model.main.width > 8:
            print(f'argued: {o.what}: {ARGUED[o.rule.id]}')
            accepted.append(o)
        elif o.expect == 'unsat' and o.model.main.kind == 'bits' and any(n[0] == 'k' for n in o.rule.order):
            cases[o] = list(by_cases(o))
    solver.ask_all([c for cs in cases.values() for c in cs], 6)
    for o, cs in cases.items():
        wrong += [c for c in cs if c.answer not in ('unsat', 'unknown')]
        count = sum(c.answer == 'unsat' for c in cs)
        print(f'by cases: {o.what}: {count} of {len(cs)} choices of literals proved')
        if count == len(cs):
            accepted.append(o)
    return accepted


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0])
    parser.add_argument('--fast', action='store_true')
    parser.add_argument('--only')
    parser.add_argument('--z3', default=shutil.which('z3'))
    parser.add_argument('--constants')
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--kept')
    parser.add_argument('rules')
    parser.add_argument('ops')
    a = parser.parse_args()
    if not a.z3:
        print('There is no z3. Fix: install it (Debian: z3), and configure again.')
        return 77
    table = rules.Table(a.rules, a.ops)
    solver = Solver(a.z3, a.seconds, a.kept)
    asked = list(obligations(table, a.fast, a.only))
    solver.ask_all(asked)
    wrong = [o for o in asked if o.answer not in (o.expect, 'unknown')]
    open_ones = [o for o in asked if o.answer == 'unknown']
    proved = sum(o.answer == o.expect for o in asked)
    accepted = settle(solver, open_ones, wrong)
    left = [o for o in open_ones if o not in accepted]
    if a.constants and not a.only:
        pairs = list(constant_obligations(a.constants, a.fast))
        small = [o for o, line in pairs if int(line.split()[1]) <= 8 or line.startswith('power')]
        solver.ask_all(small)
        wrong += [o for o in small if o.answer not in ('unsat', 'unknown')]
        bad = [line for _, line in pairs if not certified(line)]
        proved += sum(o.answer == 'unsat' for o in small)
        for line in bad:
            print(f'WRONG: no certificate: {line}')
        print(f'{len(pairs)} constants certified' if not bad else f'{len(bad)} constants without certificate')
        if bad:
            return 1
    for o in wrong:
        print(f'WRONG: {o.what}: {o.answer}')
    for o in left:
        print(f'OPEN: {o.what}. Fix: give it more time (--seconds), or an argument in prove.py.')
    print(f'{proved} proved, {len(accepted)} argued or by cases, {len(left)} open, {len(wrong)} wrong')
    return 1 if wrong or left or not asked else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except rules.Fault as fault:
        sys.exit(f'prove.py: {fault}')
