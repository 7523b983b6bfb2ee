"""Source text of random functions over arrays: slices, views, stencils, masks, rows and columns.

A function takes a float x, a number of passes s, vectors v and u of n numbers and w of m, matrices
a and b of n rows and m columns and c of n and n, places k of n, and flags q. It is written from
templates, in which

    {V}         is any expression for a vector of n numbers; {S} a number, {W} a vector of m, {A} a
                matrix of n and m, {C} one of n and n, {Q} n flags, {I} a place in n, {J} one in m
    {v}         is the name of one; {v1} is the same name wherever it stands
    {+v}        is a new name; {*i} is that of a loop, for its body
    {block}     are further statements
"""

import re
from dataclasses import dataclass

HEADER = """import numpy as np


def softmax(e):
    t = np.exp(e - e.max(axis=-1, keepdims=True))
    return t / t.sum(axis=-1, keepdims=True)


def smooth(e):
    out = np.zeros_like(e)
    out[1:] += 0.5 * e[:-1]
    out[:-1] += np.sin(e[1:])
    out[:] = out + 0.25 * e
    return out


def halved(e, j):
    e[j] *= 0.5
    e[j] += 0.1


def f(x, s, v, u, w, a, b, c, k, q):
    n, m = a.shape
"""
EVERY = """np.sin({E})|np.tanh({E})|(0.5 * {E})|(-{E})|({E} + {E})|({E} - {E})|({E} * {E})
({E} * {S})
({E} / (2 + np.cos({E})))|np.maximum({E}, 0.1)|np.where({E} > 0.13, {E}, {S})|np.abs({E})"""
ARRAY = """{E}[::-1]|np.roll({E}, 1)|np.cumsum({E}, axis=0)|{E}.copy()|np.sort({E}, axis=-1)
smooth({E})
softmax({E})|np.zeros_like({E})|np.maximum.accumulate({E}, axis=0)"""
EXPRESSIONS = {
    "S": """np.sum({V})|{A}.mean()|({V} @ {V})|np.max({A})|{v}[{I}]|{a}[{I}, {J}]|{c}[{I}][{I}]
        np.sum({V}[{Q}])|np.median({V})|np.trace({C})|np.sort({W})[{J}]|np.argmin({V}) * 0.2
        np.linalg.det(2 * np.eye(n) + 0.2 * np.sin({C}))
        np.searchsorted(np.sort({V}), {S}) * 0.3""",
    "V": """{A}.sum(axis=1)|{A}.max(axis=1)|({A} @ {W})|{a}[:, {J}]|{c}[{I}]|np.diagonal({C})|{V}[k]
        np.concatenate([{V}[1:], {V}[:1]])|np.concatenate([{V}[:1], np.diff({V})])|{C}.mean(axis=0)
        np.linalg.solve(3 * np.eye(n) + 0.3 * np.sin({C}), {V})|np.bincount(k, {V}, n)
        np.where({Q}, {V}, {S})|{V}[np.argsort({V})]|np.arange(n) * 0.1""",
    "W": "{A}.sum(axis=0)|{A}.min(axis=0)|({V} @ {A})|{a}[{I}]|np.cumsum({A}, axis=1)[-1]",
    "A": """np.outer({V}, {W})|({C} @ {A})|({A} * {W})|({V}[:, None] - {A})|{A}[:, ::-1]|{A}[k]
        ({A} - {A}.mean(axis=1, keepdims=True))|np.tril({A})|({A}.T * {V}).T|{A}.T.T
        np.concatenate([{A}[1:], {A}[:1]])""",
    "C": """np.outer({V}, {V})|({A} @ {A}.T)|{C}.T|np.eye(n) * {V}|np.diag({V})|np.triu({C})
{C}[k][:, k]
        np.linalg.inv(2 * np.eye(n) + 0.2 * np.sin({C}))""",
}
NUMBERS = "SVWAC"
OTHERS = {
    "Q": "q|({V} > 0.1)|(np.sin({V}) < 0.3)|({Q} & ({V} > {S}))",
    "T": "({S} > 0.17)|s > 2|q[{I}]|np.any({Q})|{i} % 2 == 0|{i} == 1|(-0.5 < {S} < 0.9)",
    "I": "0|-1|{i}|{i}|{i}|{i} - 1|({i} + 1) % n|k[{i}]|-{i}|np.argmax({v})",
    "J": "0|-1|{j}|{j}|{j}|{j} - 1|({j} + 1) % m|-{j}|{i} % m",
    "O": "=|+=|-=|*=",
}
STATEMENTS = """{v1}[1:] {O} np.sin({v}[:-1])|{v1}[:-1] {O} 0.5 * {v1}[1:]
{v1}[::-1] {O} np.sin({v1}[::-1])
{v}[{I}] {O} np.tanh({S})|{v}[{Q}] {O} np.sin({S})|{v}[k] {O} np.tanh({V})|{v}[::2] *= np.sin({S})
np.add.at({v}, k, np.sin({V}))|{v}[:0:-1] {O} np.cos({v}[1:])|{v}[:] = np.tanh({V})|halved({v}, {I})
{a}[{I}, {J}] {O} np.tanh({S})|{a}[{I}] {O} np.sin({W})|{a}[:, {J}] {O} np.tanh({V})
{a}.T[{J}] = {V}
{a1}[1:, :-1] {O} 0.5 * {a1}[:-1, 1:]|{a1}[1:] {O} np.sin({a1}[:-1])|{a}[{a} > 0.2] {O} np.sin({S})
{a1}[1:, :-1] {O} 0.5 * {a1}[:-1, -2::-1]|{c1}[:] {O} np.sin({c1}.T)|{c}[{I}, 1:] {O} np.sin({S})
np.fill_diagonal({c}, np.sin({S}))|{c}[np.arange(n), k] {O} np.tanh({V})|{c}[{Q}] *= np.sin({S})
{+s} = np.tanh({S})|{+v} = np.sin({V})|{+a} = np.tanh({A})|{+c} = np.sin({C})|{v} = np.tanh({V})
{a} = np.sin({A})|{s} = np.sin({S})|{v} {O} np.tanh({V})|{a} {O} np.sin({A})|{+v} = np.zeros(n)
{+v} = {v}[::-1]|{+v} = {c}[:, {I}]|{+v} = {v}|{+w} = {a}[{I}]|{+c} = {c}.T|{+a} = {a}[:, ::-1]
{v1}, {v2} = {v2}, {v1}|{v1}, {v2} = {v2}, np.sin({V})|{a1}, {a2} = {a2}, {a1}
{v1} = {v1}[::-1]|{a1} = {a1}[:, ::-1]|{c1} = {c1}.T|{c1} = 0.5 * {c1} + np.sin({c1}).T
{v1}, {v2} = {v2}[::-1], {v1}|{c1} = {c1}[::-1, ::-1]|{v1} = {v1}[::-1] * {v} - {v1}
{a}{y} {O} np.sin({S})|{a1}{y1} {O} np.sin({a}{y1})|{c1}{y1} {O} np.tanh({c}{y1})|{a}{y}{y} *= 0.7
{v}{p} {O} np.sin({S})|{v1}{p1} {O} np.tanh({v}{p1})|{v}{p}{p} += 0.3|{a}.T{y} *= 0.6"""
NESTED = """if {T}:
    {block}

if {T}:
    {block}
else:
    {block}

for {*i} in range(n):
    {block}

for {*i} in range(1, n):
    {block}

for {*i} in reversed(range(n)):
    {block}

for {*j} in range(m):
    {block}

for {*z} in range(s):
    {block}

for {*i} in range(n):
    {block}
    if {T}:
        break

for {*i}, {*w} in enumerate({a}):
    {block}

for {*i} in range(1, n - 1):
    {v1}[{*i}] = 0.5 * {v2}[{*i}] + 0.2 * ({v1}[{*i} - 1] + {v2}[{*i} + 1])

for {*z} in range(s):
    {a1}[1:-1, 1:-1] += 0.1 * ({a1}[2:, 1:-1] + {a1}[:-2, 1:-1] - 2 * {a1}[1:-1, 1:-1])

{+a} = np.zeros((n, m))
for {*i} in range(n):
    {+a}[{*i}] = np.tanh({a1}[{*i}] + 0.3 * {+a}[{*i} - 1])

{+v} = {v1}.copy()
for {*z} in range(s):
    {+v}, {v1} = np.tanh({v1} + 0.2 * {+v}), {+v}

{+v} = np.zeros(n)
for {*i} in range(n):
    {+v}[{*i}:] += 0.2 * {v1}[{*i}] * {v2}[: n - {*i}]

for {*i} in range(n):
    {a1}[{*i}] = softmax({a1}[{*i}] + {a2}[{*i}])
    {v1}[{*i}] = {a1}[{*i}].sum() * 0.3 + {a2}[{*i}].max()

for {*z} in range(s):
    {+a} = {a1}.copy()
    {+a}{y1} {O} 0.5 * {a2}{y1}
    {a1} = 0.9 * {+a}

for {*v} in {c}.T:
    {*v} {O} np.sin({*v})
    {block}

for {*z} in range(s):
    {v1} = np.linalg.solve(3 * np.eye(n) + 0.2 * np.sin({c1}), {v1} + 0.1)

{+c} = np.zeros((n, n))
for {*i} in range(n - 1):
    {+c}[{*i}, {*i} + 1] = {v1}[{*i}]
    {+c}[{*i} + 1, {*i}] += {v2}[{*i} + 1] * {v1}[{*i}]
{a1} *= np.sin({+c}[:, 0][:, None])"""
#: `x, x = x, value`, which CPython 3.11.2 takes for x.
TWICE = re.compile(r"^( *)(\w+), \2 = \2, (.*)$")
TOKEN = re.compile(r"\{([+*]?)([A-Za-z])(\d?)\}")
START = {"s": "x", "v": "vu", "w": "w", "a": "ab", "c": "c", "i": "", "j": "", "z": ""}
START |= {  # parts, by a key
    "p": ("[1:]", "[:-1]", "[::2]", "[::-1]", "[1:-1]", "[:2]", "[-2:]", "[k]"),
    "y": ("[1:]", "[:-1]", "[:, 1:]", "[:, :-1]", "[::-1]", "[:, ::-1]", "[1:, ::2]", "[:, :1]"),
}


def choices(text):
    return [e.strip() for e in re.split(r"[|\n]", text)]


def _expressions(kind, text):
    general = EVERY if kind == "S" else f"{EVERY}|{ARRAY}"
    return choices(f"{text}|{general}".replace("{E}", f"{{{kind}}}"))


RULES = {kind: _expressions(kind, text) for kind, text in EXPRESSIONS.items()}
RULES |= {kind: choices(text) for kind, text in OTHERS.items()}
SIMPLE, WITH_BLOCKS = choices(STATEMENTS), NESTED.split("\n\n")


@dataclass
class Scope:
    """The names of each kind that can be used."""

    names: dict[str, list[str]]

    def inner(self):
        return Scope({kind: list(names) for kind, names in self.names.items()})


class Writer:
    """Writes one program by the choices of a generator."""

    def __init__(self, generator, statements):
        self.choice, self.random = generator.choice, generator.random
        self.statements, self.count = statements, 0

    def program(self):
        scope = Scope({kind: list(names) for kind, names in START.items()})
        body = [f"{name} = {name}.copy()" for name in "vuwabc" if self.random() < 0.5]
        body += self.block(scope, self.statements, 0)
        terms = list(scope.names["s"])
        terms += [f"np.sum({name} * {name})" for kind in "vwac" for name in scope.names[kind]]
        body += [f"return {' + '.join(terms)}, {self.expression('V', scope, 1)}"]
        lines = HEADER + "\n".join("    " + line for line in body)
        return f"{lines}\n\n\ndef g(*args):\n    total, parts = f(*args)\n" + (
            "    return total + np.sum(np.sin(parts))\n"
        )

    def block(self, scope, size, depth):
        lines = []
        for _ in range(self.choice(range(1, size + 1))):
            nested = depth < 3 and self.random() < 0.45
            template = self.choice(WITH_BLOCKS if nested else SIMPLE)
            lines += self.written(template, scope, depth)
        return lines

    def written(self, template, scope, depth):
        """The lines of a statement; names that it makes are known after it."""
        known, lines, inner = {}, [], scope.inner()
        for line in template.split("\n"):
            pad = line[: len(line) - len(line.lstrip())]
            if line.strip() == "{block}":
                lines += [pad + text for text in self.block(inner.inner(), 3, depth + 1)]
                continue
            around = scope if not pad else inner
            text = TOKEN.sub(lambda m, s=around: self.token(m, s, known), line)
            lines.append(TWICE.sub(r"\1\2 = \3", text))
            for (mark, kind, _), name in known.items():
                if mark == "*" and name not in inner.names[kind]:
                    inner.names[kind].append(name)
        for (mark, kind, _), name in known.items():
            if mark == "+":
                scope.names[kind].append(name)
        return lines

    def token(self, match, scope, known, depth=2):
        mark, kind, number = key = match.groups()
        if kind.isupper():
            return self.expression(kind, scope, depth)
        if key in known:
            return known[key]
        if mark:
            self.count += 1
            name = f"{kind}{self.count}"
        else:
            name = self.choice(scope.names[kind] or ["0"])
        if mark or number:
            known[key] = name
        return name

    def expression(self, kind, scope, depth):
        if kind in NUMBERS and (depth <= 0 or self.random() < 0.2):
            return self.choice(scope.names[kind.lower()])
        template = RULES[kind][0] if depth <= 0 else self.choice(RULES[kind])
        return TOKEN.sub(lambda m: self.token(m, scope, {}, depth - 1), template)
