#!/usr/bin/env python3
"""Reads rules.def and writes the matcher that is made of it.

usage: rules.py matcher RULES.def OPS.def > rules.inc

tests/opt/prove.py reads the table through this file, too.
"""
import itertools
import re
import sys

# ---- The table ------------------------------------------------------------------------------------

CLASSES = {
    'INT': 'u32 i32 u64 i64 u32x2 u32x4 i32x2 i32x4',
    'UNSIGNED': 'u32 u64 u32x2 u32x4',
    'UNSIGNED_SCALAR': 'u32 u64',
    'SIGNED': 'i32 i64 i32x2 i32x4',
    'FLOAT': 'f32 f64 f32x2 f32x4',
    'FLOAT_SCALAR': 'f32 f64',
    'BOOL': 'bool',
}
CLASSES['ANY'] = ' '.join(CLASSES[c] for c in ('INT', 'FLOAT', 'BOOL'))
NARROW = 'u8 u16 i8 i16 f16 bf16'.split()
WIDENED = dict(u8='u32', u16='u32', i8='i32', i16='i32', f16='f32', bf16='f32')
CONCRETE = CLASSES['ANY'].split() + NARROW
COUNTS = ('W', 'W1')
# Constants of rows that are no operators of the language: name, whether they give a count.
BUILTINS = {'log2': 'count', 'odd': 'same', 'inverse': 'same', 'exact_reciprocal': 'bool'}


class Fault(Exception):
    pass


class Node:
    """A leaf (operator '') or an operator with operands; |cast| is the target of a conversion."""

    def __init__(self, word, args=(), cast='', pinned=''):
        self.word, self.args, self.cast, self.pinned = word, list(args), cast, pinned
        self.type = None  # a TypeVar

    def is_leaf(self):
        return not self.args

    def is_literal_name(self):
        return self.is_leaf() and re.fullmatch(r'k[0-9]?', self.word) is not None

    def is_variable(self):
        return self.is_leaf() and re.fullmatch(r'[cxyz]', self.word) is not None

    def is_number(self):
        return self.is_leaf() and not self.is_variable() and not self.is_literal_name()

    def is_constant(self):
        if self.is_leaf():
            return not self.is_variable()
        return all(a.is_constant() for a in self.args)

    def walk(self):
        yield self
        for a in self.args:
            yield from a.walk()

    def text(self):
        if self.is_leaf():
            return self.word + (':' + self.pinned if self.pinned else '')
        head = self.word + (' ' + self.cast if self.cast else '')
        return '(' + head + ''.join(' ' + a.text() for a in self.args) + ')'

    def copy(self):
        return Node(self.word, [a.copy() for a in self.args], self.cast, self.pinned)


def parse(text):
    tokens = re.findall(r'[()]|[^\s()]+', text)
    at = 0

    def one():
        nonlocal at
        if at >= len(tokens):
            raise Fault(f'"{text}" ends too early')
        token = tokens[at]
        at += 1
        if token != '(':
            word, _, pinned = token.partition(':')
            return Node(word, pinned=pinned)
        word = tokens[at]
        at += 1
        cast = ''
        if word == 'cast':
            cast = tokens[at]
            at += 1
        args = []
        while tokens[at] != ')':
            args.append(one())
        at += 1
        return Node(word, args, cast)

    node = one()
    if at != len(tokens):
        raise Fault(f'"{text}" goes on after its end')
    return node


class TypeVar:
    """A type of a rule: equal ones are joined. |fixed| is a name of types that the row declares, 'bool' or 'count'."""

    def __init__(self, fixed=''):
        self.parent, self.fixed = self, fixed

    def root(self):
        while self.parent is not self:
            self = self.parent
        return self

    def join(self, other, where):
        a, b = self.root(), other.root()
        if a is b:
            return
        if a.fixed and b.fixed and a.fixed != b.fixed:
            raise Fault(f'{where}: {a.fixed} is not {b.fixed}')
        b.parent = a
        a.fixed = a.fixed or b.fixed


class Op:
    def __init__(self, name, arity, rule):
        self.name, self.arity, self.rule = name, arity, rule


def read_ops(path):
    ops = {}
    text = re.sub(r'/\*.*?\*/', '', open(path).read(), flags=re.S)
    for m in re.finditer(r'^X\((\w+),\s*"[^"]*",\s*\w+,\s*(\d+),\s*(\w+),', text, flags=re.M):
        ops[m[1].lower()] = Op(m[1], int(m[2]), m[3])
    return ops


class Rule:
    def __init__(self, fields, choice=''):
        self.group, self.id, self.pattern_text, self.result_text, self.types_text, self.when_text, self.exact, self.doc = fields
        self.choice = choice

    def prepare(self, table):
        self.table = table
        self.pattern, self.result = parse(self.pattern_text), parse(self.result_text)
        self.when = parse(self.when_text) if self.when_text else None
        self.named = {}   # type name -> concrete types
        self.classes = []  # of T
        for word in self.types_text.split():
            name, colon, listed = word.partition(':')
            if colon:
                self.named[name] = listed.split(',')
            elif name in CLASSES:
                self.classes += CLASSES[name].split()
            else:
                raise Fault(f'{self.id}: no types are called {name}')
        self.type_vars = {}
        for node in (self.pattern, self.result, self.when):
            if node is not None:
                self.infer(node)
        if self.when is not None:
            self.join(self.when.type, self.fixed('bool'))
        self.join(self.pattern.type, self.result.type)
        self.order = []
        for n in self.pattern.walk():
            if (n.is_variable() or n.is_literal_name()) and n.word not in self.order:
                self.order.append(n.word)
        for node in (self.result, self.when):
            for n in node.walk() if node else ():
                if (n.is_variable() or n.is_literal_name()) and n.word not in self.order:
                    raise Fault(f'{self.id}: {n.word} is not in the pattern')
        self.main = self.find_main()
        if self.main is not None and not self.classes and not self.main.fixed:
            raise Fault(f'{self.id}: its types are open')

    def fixed(self, name):
        if name not in self.type_vars:
            self.type_vars[name] = TypeVar(name)
        return self.type_vars[name]

    def join(self, a, b):
        a.join(b, self.id)

    def leaf_type(self, n):
        if n.word in ('true', 'false'):
            return self.fixed('bool')
        if n.word in COUNTS:
            return TypeVar()
        if n.is_variable() or n.is_literal_name():
            if 'leaf ' + n.word not in self.type_vars:
                self.type_vars['leaf ' + n.word] = TypeVar()
            if n.pinned:
                self.join(self.type_vars['leaf ' + n.word], self.fixed(n.pinned))
            return self.type_vars['leaf ' + n.word]
        return TypeVar()

    def infer(self, n):
        if n.is_leaf():
            n.type = self.leaf_type(n)
            return
        for a in n.args:
            self.infer(a)
        types = [a.type for a in n.args]
        if n.word in BUILTINS:
            kind = BUILTINS[n.word]
            n.type = self.fixed('count') if kind == 'count' else self.fixed('bool') if kind == 'bool' else types[0]
            return
        if n.word == 'cast':
            n.type = self.fixed(n.cast if n.cast not in NARROW else WIDENED[n.cast])
            if n.cast in NARROW:
                self.join(types[0], n.type)
            return
        op = self.table.ops.get(n.word)
        if op is None or len(n.args) != op.arity:
            raise Fault(f'{self.id}: no operator {n.word} of {len(n.args)} operands')
        rule = op.rule
        if rule == 'SHIFT':
            self.join(types[1], self.fixed('count'))
            n.type = types[0]
        elif rule in ('EQUAL', 'ORDER', 'FCLASS'):
            for t in types[1:]:
                self.join(types[0], t)
            n.type = self.fixed('bool')
        elif rule in ('LOGIC', 'LNOT'):
            for t in types:
                self.join(self.fixed('bool'), t)
            n.type = self.fixed('bool')
        elif rule == 'SELECT':
            self.join(self.fixed('bool'), types[0])
            self.join(types[1], types[2])
            n.type = types[1]
        else:
            for t in types[1:]:
                self.join(types[0], t)
            n.type = types[0]

    def find_main(self):
        """The type that the class of the row is about: of what is neither a condition nor a count."""
        found = []
        for n in self.pattern.walk():
            t = n.type.root()
            if t.fixed not in ('count',) and t not in found:
                found.append(t)
        plain = [t for t in found if t.fixed == '']
        if len(plain) > 1:
            raise Fault(f'{self.id}: it has more than one open type')
        if plain:
            return plain[0]
        named = [t for t in found if t.fixed in self.named]
        return named[0] if named else (found[0] if found else None)

    def types_of(self, t):
        """The concrete types that a type variable may be."""
        t = t.root()
        if t.fixed in self.named:
            return self.named[t.fixed]
        if t.fixed in CONCRETE:
            return [t.fixed]
        if t.fixed == 'count':
            return ['count']
        return self.classes

    def full_id(self):
        return self.id + self.choice


class Table:
    def __init__(self, rules_path, ops_path):
        self.ops = read_ops(ops_path)
        text = re.sub(r'/\*.*?\*/', '', open(rules_path).read(), flags=re.S)
        self.commutative = {m[1].lower() for m in re.finditer(r'^COMMUTATIVE\((\w+)\)', text, flags=re.M)}
        self.mirrored = {}
        for m in re.finditer(r'^MIRRORED\((\w+), (\w+)\)', text, flags=re.M):
            self.mirrored[m[1].lower()] = m[2].lower()
            self.mirrored[m[2].lower()] = m[1].lower()
        self.rules = []
        rows = re.findall(r'^RULE\((.*?)\)$', text, flags=re.M | re.S)
        for row in rows:
            fields = [m[1] if m[1] is not None else m[2] for m in re.finditer(r'"([^"]*)"|([^\s,"]+)', row)]
            if len(fields) != 8:
                raise Fault(f'a row has {len(fields)} fields, not 8: {row}')
            self.rules += self.expand(fields)
        seen = set()
        for r in self.rules:
            r.prepare(self)
            if r.full_id() in seen:
                raise Fault(f'{r.full_id()} is there twice')
            seen.add(r.full_id())

    def expand(self, fields):
        """One row for each combination of choices in brackets."""
        choices = [c.split() for c in re.findall(r'\[([^\]]*)\]', fields[2])]
        out = []
        for pick in itertools.product(*choices):
            f = list(fields)
            for p in pick:
                f[2] = re.sub(r'\[[^\]]*\]', p, f[2], count=1)
            for i in (2, 3, 5):
                for j, p in enumerate(pick):
                    f[i] = f[i].replace(f'#{j + 1}', p)
            out.append(Rule(f, ''.join('_' + p for p in pick)))
        return out

    def variants(self, node):
        """The pattern with the operands of commutative operators and comparisons in every order."""
        if node.is_leaf():
            return [node]
        out = []
        for args in itertools.product(*[self.variants(a) for a in node.args]):
            words = [(node.word, list(args))]
            if node.word in self.commutative:
                words.append((node.word, [args[1], args[0]]))
            elif node.word in self.mirrored and any(a.is_leaf() and not a.is_variable() for a in args):
                words.append((self.mirrored[node.word], [args[1], args[0]]))
            for word, a in words:
                n = Node(word, a, node.cast, node.pinned)
                n.type = node.type
                out.append(n)
        return out

    def distinct_variants(self, rule):
        seen, out = set(), []
        for v in self.variants(rule.pattern):
            names = {}
            key = []
            for n in v.walk():
                if n.is_variable() or n.is_literal_name():
                    kind = 'v' if n.is_variable() else 'k'
                    key.append(names.setdefault(n.word, kind + str(len(names))))
                else:
                    key.append(n.word + n.cast)
            key = ' '.join(key)
            if key not in seen:
                seen.add(key)
                out.append(v)
        return out


# ---- The matcher ----------------------------------------------------------------------------------

def c_type(name):
    return 'VYRE_TYPE_' + name.upper()


def c_mask(types):
    return ' | '.join('1u << ' + c_type(t) for t in types)


class Writer:
    """C for one table. In it m is the matcher, e the expression, x[] what the names of a rule stand for."""

    def __init__(self, table, out):
        self.t, self.out = table, out

    def type_of(self, rule, t):
        t = t.root()
        if t.fixed == 'bool' or t.fixed in CONCRETE:
            return c_type(t.fixed)
        for n in rule.pattern.walk():
            if (n.is_variable() or n.is_literal_name()) and n.type.root() is t:
                return f'type_of(m, x[{rule.order.index(n.word)}])'
        if rule.pattern.type.root() is t:
            return 'type_of(m, e)'
        if t.fixed == 'count':
            return f'count_type({self.type_of(rule, rule.main)})'
        raise Fault(f'{rule.full_id()}: the type of a literal does not follow')

    def number(self, rule, n):
        """The bits of a number."""
        if n.word == 'true' or n.word == 'false':
            return '1' if n.word == 'true' else '0'
        if n.word in COUNTS:
            return ('width_of(%s)' if n.word == 'W' else '(width_of(%s) - 1)') % self.type_of(rule, rule.main)
        of = f'ir_component({self.type_of(rule, n.type)})'
        if n.word == 'MIN':
            return f'opt_smallest({of})'
        if n.word == 'MAX':
            return f'opt_largest({of})'
        if '.' in n.word:
            return f'opt_float_bits({of}, {n.word})'
        return f'opt_integer_bits({of}, {n.word})'

    def bits(self, rule, n):
        """The bits of an expression of literals."""
        if n.is_literal_name():
            return f'opt_constant_bits(m->unit, x[{rule.order.index(n.word)}])'
        if n.is_leaf():
            return self.number(rule, n)
        args = [self.bits(rule, a) for a in n.args] + ['0'] * (2 - len(n.args))
        of = f'ir_component({self.type_of(rule, n.args[0].type)})'
        if n.word in BUILTINS:
            return f'constant_{n.word}({of}, {args[0]})'
        return f'compute(VYRE_OP_{n.word.upper()}, {of}, {args[0]}, {args[1]})'

    def build(self, rule, n):
        if n.is_variable():
            return f'x[{rule.order.index(n.word)}]'
        if n.is_constant():
            if n.is_literal_name():
                return f'x[{rule.order.index(n.word)}]'
            return f'opt_constant(m->unit, {self.type_of(rule, n.type)}, {self.bits(rule, n)})'
        if n.word == 'cast':
            to = c_type(n.cast) if n.cast in CONCRETE else self.type_of(rule, n.type)
            return f'make_cast(m, {to}, {self.build(rule, n.args[0])})'
        args = [self.build(rule, a) for a in n.args] + ['0'] * (3 - len(n.args))
        return f'make(m, VYRE_OP_{n.word.upper()}, {", ".join(args)})'

    def evaluation_order(self, node):
        return [n.word for n in node.walk() if n.is_variable()]

    def type_tests(self, rule):
        tests = []
        done = set()
        for n in rule.pattern.walk():
            t = n.type.root()
            if n.word == 'cast':  # match_ has looked at its target
                continue
            if t in done or t.fixed == 'count' or (t.fixed == 'bool' and not n.is_variable()):
                continue
            if t.fixed and t.fixed not in rule.named:
                if n.pinned or n.is_variable():
                    done.add(t)
                    if t.fixed != 'bool' or n.pinned:
                        tests.append(f'type_of(m, x[{rule.order.index(n.word)}]) == {c_type(t.fixed)}')
                continue
            done.add(t)
            tests.append(f'is_one_of({self.type_of(rule, t)}, {c_mask(rule.types_of(t))})')
        return tests

    def write_rule(self, rule):
        """What makes the result of a rule whose pattern has been met, or 0."""
        counts = lambda node, name: sum(1 for n in node.walk() if n.word == name and n.is_leaf())
        tests = [f'!({t})' for t in self.type_tests(rule)]
        for i, name in enumerate(rule.order):
            if re.fullmatch('[cxyz]', name) and counts(rule.result, name) > counts(rule.pattern, name):
                tests.append(f'!is_leaf(m, x[{i}])')
        if rule.when is not None:
            tests.append(f'!{self.bits(rule, rule.when)}')
        name = rule.full_id()
        self.out.append(f'static uint32_t rule_{name}(opt_matcher *m, uint32_t e, const uint32_t *x) {{')
        self.out.append('  (void)m, (void)e, (void)x;')
        if tests:
            self.out.append('  if (' + ' ||\n      '.join(tests) + ') return 0;')
        self.out.append(f'  return {self.build(rule, rule.result)};')
        self.out.append('}')

    # One place of the patterns at a time: the operators that rows want there are cases of a switch, and rows that take
    # anything there come behind it. Each node is looked at once on the way to a row.
    def write_match(self, op, rows):
        self.out.append(f'static uint32_t match_{op}(opt_matcher *m, uint32_t e) {{')
        self.out.append('  const uint32_t at = e;')
        self.children((), rows[0][1], 1)
        self.tree(rows, {()}, 1)
        self.out.append('  return 0;')
        self.out.append('}')

    def name_of(self, place):
        return 'at' + ''.join('_' + str(i) for i in place)

    def children(self, place, node, depth):
        pad, name = '  ' * depth, self.name_of(place)
        for i in range(len(node.args)):
            self.out.append(f'{pad}const uint32_t {name}_{i} = operand(m, {name}, {i});')
        self.out.append(pad + ', '.join(f'(void){name}_{i}' for i in range(len(node.args))) + ';')

    def places(self, node, place=()):
        """Where the pattern wants something, in pre-order: place and operator."""
        if node.is_variable():
            return
        yield place, 'LIT' if node.is_leaf() else node.word.upper()
        for i, a in enumerate(node.args):
            yield from self.places(a, place + (i,))

    def at(self, node, place):
        for i in place:
            node = node.args[i]
        return node

    def tree(self, rows, done, depth):
        open_places = [p for _, v in rows for p, _ in self.places(v) if p not in done]
        if not open_places:
            for rule, variant in rows:
                self.leaf(rule, variant, depth)
            return
        place, pad = min(open_places), '  ' * depth
        wanted, rest = {}, []
        for row in rows:
            want = dict(self.places(row[1])).get(place)
            wanted.setdefault(want, []).append(row) if want else rest.append(row)
        self.out.append(f'{pad}switch (kind_of(m, {self.name_of(place)})) {{')
        for want, chosen in wanted.items():
            self.out.append(f'{pad}  case VYRE_OP_{want}: {{')
            if want != 'LIT':
                self.children(place, self.at(chosen[0][1], place), depth + 2)
            self.tree(chosen, done | {place}, depth + 2)
            self.out.append(f'{pad}    break;')
            self.out.append(f'{pad}  }}')
        self.out.append(f'{pad}  default: break;')
        self.out.append(f'{pad}}}')
        if rest:
            self.tree(rest, done | {place}, depth)

    def literal_test(self, rule, n, at):
        """That a literal of the expression is the number of the pattern."""
        of = f'ir_component(type_of(m, {at}))'
        if n.word in ('true', 'false'):
            return f'is_truth(m, {at}, {n.word})'
        if n.word in ('MIN', 'MAX'):
            bits = f'opt_{"smallest" if n.word == "MIN" else "largest"}({of})'
            return f'ir_is_integer({of}) && opt_constant_bits(m->unit, {at}) == {bits}'
        if '.' in n.word:
            return f'is_float(m, {at}, {n.word})'
        return f'is_integer(m, {at}, {n.word})'

    def leaf(self, rule, variant, depth):
        """All operators are those of the pattern: names that come twice, numbers, targets of conversions."""
        pad = '  ' * depth
        tests, names, targets = [f'(m->groups & OPT_RULES_{rule.group})'], {}, []

        def look(n, place):
            at = self.name_of(place)
            if n.is_variable() or n.is_literal_name():
                if n.word in names:
                    tests.append(f'{at} == {names[n.word]}')
                else:
                    names[n.word] = at
            elif n.is_leaf():
                tests.append(self.literal_test(rule, n, at))
            if n.word == 'cast':
                target = f'target_of(m, {at})'
                if n.cast in CONCRETE:
                    tests.append(f'{target} == {c_type(n.cast)}')
                else:
                    tests.append(f'is_one_of({target}, {c_mask(rule.named[n.cast])})')
                    targets.append((n, target))
            for i, a in enumerate(n.args):
                look(a, place + (i,))

        look(variant, ())
        for n, target in targets:
            tests.extend(f'{target} == type_of(m, {names[x.word]})' for x in variant.walk()
                         if x.is_variable() and x.type.root() is n.type.root())
        if self.evaluation_order(variant) != self.evaluation_order(rule.result):
            tests.append('may_reorder(m, e)')
        got = ', '.join(names[n] for n in rule.order) or '0'
        self.out.append(f'{pad}if ({(" &&" + chr(10) + pad + "    ").join(tests)}) {{')
        self.out.append(f'{pad}  const uint32_t result = rule_{rule.full_id()}(m, e, (uint32_t[]){{ {got} }});')
        self.out.append(f'{pad}  if (result != 0 && took(m, OPT_RULE_{rule.full_id()}, e, result)) return result;')
        self.out.append(f'{pad}}}')

    def write(self):
        o = self.out
        o.append('/* Written by rules.py from rules.def (make opt-rules). */')
        o.append('enum {')
        o.extend(f'  OPT_RULE_{r.full_id()},' for r in self.t.rules)
        o.append('};')
        o.append('')
        o.append('const opt_rule opt_rules[] = {')
        for r in self.t.rules:
            strings = ', '.join(f'"{s}"' for s in (r.full_id(), r.pattern_text, r.result_text, r.when_text, r.types_text))
            o.append(f'  {{ {strings}, OPT_RULES_{r.group}, OPT_{r.exact} }},')
        o.append('};')
        o.append(f'const uint32_t opt_rule_count = {len(self.t.rules)};')
        by_op = {}
        for r in self.t.rules:
            o.append('')
            self.write_rule(r)
            for v in self.t.distinct_variants(r):
                by_op.setdefault(v.word, []).append((r, v))
        for op, rows in by_op.items():
            o.append('')
            self.write_match(op, rows)
        o.append('')
        o.append('static uint32_t match_any(opt_matcher *m, uint32_t e) {')
        o.append('  switch (opt_at(m->unit, e)->op) {')
        o.extend(f'    case VYRE_OP_{op.upper()}: return match_{op}(m, e);' for op in by_op)
        o.append('    default: return 0;')
        o.append('  }')
        o.append('}')


def main(arguments):
    if len(arguments) != 4 or arguments[1] not in ('matcher',):
        sys.exit(__doc__)
    table = Table(arguments[2], arguments[3])
    lines = []
    Writer(table, lines).write()
    print('\n'.join(lines))


if __name__ == '__main__':
    try:
        main(sys.argv)
    except Fault as fault:
        sys.exit(f'rules.py: {fault}')
