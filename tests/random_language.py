"""Source text of random functions over what Python has beside numbers and arrays.

A function takes numbers x and s, a vector v of three and an integer n. It changes a list L, a
dictionary D, objects P and O of a dataclass and numbers a and b by all kinds of statements, and
returns what depends on all of them. In templates

    {S}   is an expression for a number, {K} for a small integer, {N} for an integer, {B} for a
          truth value, {L} for a list, {I} for a place in it, {T} for a key of the dictionary
    {st}  are further statements; ; begins a line
"""

import random
import re

HEADER = """import contextlib
import functools
import itertools
import math
from collections import deque, defaultdict, namedtuple, Counter, OrderedDict
from dataclasses import dataclass, field, replace
import numpy as np

Pair = namedtuple("Pair", "u v")

@dataclass
class Pt:
    p: float
    q: float = 1.0
    items: list = field(default_factory=list)
    def scale(self, k):
        self.p *= k
        self.items.append(self.p)
        return self
    @property
    def total(self):
        return self.p + self.q + sum(self.items)
    def __add__(self, o):
        return Pt(self.p + (o.p if isinstance(o, Pt) else o), self.q)
    def __lt__(self, o):
        return self.p < o.p
    def __getitem__(self, k):
        return (self.p, self.q)[k]
    def __call__(self, t, *a, k=1.0):
        return self.p * t + k + sum(a)
    def __len__(self):
        return len(self.items)
    def __contains__(self, t):
        return t < self.p
    def __iter__(self):
        yield self.p
        yield self.q
    def __neg__(self):
        return Pt(-self.p, self.q)
    def __eq__(self, o):
        return isinstance(o, Pt) and self.p == o.p

class Stack:
    count = 0
    def __init__(self):
        self.data, self.n = [], 0
    def push(self, t):
        self.data.append(t); self.n += 1
        return self
    def pop(self):
        if not self.data:
            raise IndexError("empty")
        self.n -= 1
        return self.data.pop()
    def __enter__(self):
        self.push(1.0)
        return self
    def __exit__(self, kind, e, tb):
        self.push(-1.0)
        return kind is ValueError

def gen(xs, t):
    for e in xs:
        if e > t:
            yield e * 2
        else:
            yield -e

def gen2(xs, t):
    yield t
    yield from gen(xs, t)
    return 3

def star(a, *rest, k=2.0, **more):
    return a * k + sum(rest) + sum(more.values())

def fact(k, t):
    return t if k <= 0 else fact(k - 1, t * 0.5) + k

def find(xs, t):
    for k, e in enumerate(xs):
        if e > t:
            return k
    else:
        return -1

def risky(t):
    if t > 0.5:
        raise ValueError("big")
    if t < -0.5:
        raise KeyError("small")
    return t * 2

@contextlib.contextmanager
def doubling(o, t):
    o.append(t)
    try:
        yield t * 2
    finally:
        o.append(-t)

def counter(start=0.0):
    total = start
    def add(t):
        nonlocal total
        total += t
        return total
    return add
"""

EXPRESSIONS = {
    "S": """x|s|a|b|0.5|2.0|v[0]|v[-1]|v[{I}]|({S} + {S})|({S} * {S})|({S} - {S})|np.sin({S})
abs({S})
({S} if {B} else {S})|max({S}, {S})|min({S}, {S}, 0.3)|sum({L})|L[-1]|L[0]|len(L) * 0.1|float({N})
D["a"]|D.get("b", {S})|D.get("zz", {S})|P.p|P.q|P.total|P[0]|P({S})|P({S}, {S}, k={S})
len(P) * 0.5|sum(P)|star({S})|star({S}, {S}, k={S})|star(*{L}[:2])|star({S}, **{"z": {S}})
fact({K}, {S})|find(v, {S}) * 0.3|sum(gen(v, {S}))|max(gen({L}, {S}), default=0.0)
next(gen2(v, {S}))|sum(e * {S} for e in v if e > {S})|sum([e for e in {L} if {S} > e])
functools.reduce(lambda y, z: y * 0.5 + z, {L}, {S})|(lambda y, z={S}: y * z)({S})
np.sum(v * {S})|v.mean()|np.max(v)|math.sin({S})|math.hypot({S}, 1.0)|({S} // 0.4)|({S} % 0.7)
divmod({S}, 0.3)[1]|int({S} * 3) * 0.1|sorted({L})[0]|sorted({L}, key=lambda e: -e)[0]
sorted({L}, reverse=True)[-1]|min({L}, key=lambda e: abs(e - {S}))
sum(map(lambda e: e * {S}, {L}))|sum(y * z for y, z in zip({L}, v))|Pair({S}, {S}).v|(P + {S}).p
(-P).p|replace(P, p={S}).total|{L}[{I}]|sum(D.values())
{"a": {S}, "b": {S}}[{T}]|[{S}, {S}][bool({B})]
sum(itertools.accumulate({L}))|sum(y for y, in zip({L}))|(1.0 if P < Pt({S}) else {S})
sum(e for k, e in enumerate({L}) if k % 2)|float("1.5") * {S}|len(f"{s:.0f}") * 0.1
math.floor({S})|sum({L}[::-1])|{L}.count({L}[0])|{L}.index(max({L}))|add({S})
sum(x_ ** 2 for x_ in P)|(x < {S} < 0.8) * 1.0|any(e > {S} for e in {L}) + 0.0
all(e < {S} for e in v) * {S}|isinstance({S}, float) * 1.0|np.float64({S})|len(str({K}))
sum(q for q in range({K}))""",
    "L": """L|list(v)|[{S}, {S}]|[e * {S} for e in v]|[e for e in v if e > {S}] + [{S}]
list(gen(v, {S}))
L[:2] + [{S}]|L[1:] + L[:1]|[{S}] * 3|sorted(v)|list(reversed(L))|[*v, {S}]|list(map(abs, v))
[y + z for y in v for z in (1.0, {S})]|list(zip(v, v))[0]|[e if e > {S} else {S} for e in L]
list(D.values())|[k * {S} for k in range(3)]|list(itertools.chain(v, L))[:4]
[q for p_ in [[{S}], list(v)] for q in p_]|v.tolist()
list(itertools.takewhile(lambda e: e < {S}, [0.1, 0.3, 9.0])) + [1.0]
[y - z for y, z in itertools.pairwise(v)]|list(deque(v, maxlen=2))
[fact(k, {S}) for k in range(2)]""",
    "B": """({S} > {S})|({S} < 0.4)|(not {B})|({B} and {B})|({B} or {B})|(0.1 < {S} < 0.6)
("a" in D)
("zz" in D)|(len(L) > 2)|({S} in P)|bool({K} % 2)|any(v > {S})|(P == Pt(0.5))|isinstance(P, Pt)
({K} == 2)|np.all(v < {S})|(L != [])|({S} is not None)|(P < Pt({S}))|hasattr(P, "p")|callable(P)""",
    "N": """{K}|len(L)|find(v, {S})|int({S} * 3)|({K} + {K})|({K} * 2)|v.size|np.argmax(v)
({K} // 2)|(-{K})
({K} % 3)|bool({B})""",
    "K": """0|1|2|3|n|n|(n + 1)|(n - 1)""",
    "I": """0|1|-1|{K} % 2|-2""",
    "T": """"a"|"b"|("a" if {B} else "b")""",
}
SIMPLE = """a = {S}|b = {S}|a, b = b, a|a, b = {S}, {S}|a += {S}|b *= {S}|x = x + {S}|v[{I}] = {S}
v = v * {S}
v[1:] += {S}|v += {S}|v[v > {S}] = {S}|L.append({S})|L.extend({L})|L[0] = {S}|L[-1] += {S}
L.insert(1, {S})|L.reverse()|L.sort()|L = {L}|L += [{S}]|L.pop()|D["a"] = {S}|D["b"] = {S}
D["c"] = D.pop("a", {S}); D["a"] = {S}|D.update(a={S})|D.setdefault("d", {S})|D[{T}] = {S}
D["a"] += {S}|D = {**D, "e": {S}}|P.q += {S}|P.scale({S})|P = Pt({S}, {S})|P.items.append({S})
P = P + {S}|P = replace(P, q={S})|setattr(P, "q", {S})|P, O = O, P|P = max(P, O)|*_, b = {L}
(a, b), _ = ({S}, {S}), 1|del L[0]; L.append({S})|L[:1] = [{S}, {S}]|L[1:2] = []; L.append({S})
L = L[::-1]|assert {S} < 50, "no"|O.p, P.q = P.q, O.p"""
NESTED = """D = {k: e * {S} for k, e in D.items()}
P.p = {S}

O = P
a, *rest_ = {L}; b = sum(rest_) + a

for a, b in [({S}, {S})]: pass
L = [*L, {S}]

L = sorted(L, key=lambda e: (e > {S}, e))
if {B}:
    {st}

if {B}:
    {st}
else:
    {st}

if {B}:
    {st}
elif {B}:
    {st}
else:
    {st}
for i in range({K}):
    {st}

for e in v:
    {st}
    a = a + e

for k, e in enumerate(L):
    a = a + e * k
    if {B}:
        break
else:
    {st}

for i in range(3):
    if {B}:
        continue
    {st}

for e, g in zip(v, {L}):
    b = b + e * g
    {st}

k = 0
while k < 3 and {B}:
    k += 1
    {st}

k = 0
while True:
    k += 1
    {st}
    if k > 2 or {B}:
        break

k = 4
while k := k - 1:
    {st}
else:
    b = b + 0.1

try:
    a = risky({S})
    {st}
except ValueError:
    {st}
except KeyError as error:
    b = b + 0.5
else:
    {st}
finally:
    a = a + 0.1

try:
    {st}
    a = v[{K}] + L[{K}]
except IndexError:
    {st}

try:
    a = D[{T}] + D["q"]
except (KeyError, ValueError):
    {st}

with contextlib.suppress(ValueError, KeyError):
    a = risky({S})
    {st}

with Stack() as S_:
    S_.push({S})
    a = S_.pop() + S_.n
    {st}
b = b + S_.pop()

with doubling(L, {S}) as a:
    {st}

def inner(t, k={S}):
    nonlocal a
    a = a + t
    {st}
    return t * k
b = inner({S})

def inner2(t):
    if t > {S}:
        return a
    return t + b
b = inner2({S}) + inner2({S})

fs = [lambda t, k=k: t * k + a for k in range(3)]
a = sum(f_({S}) for f_ in fs)

fs = [(lambda t: t * k + a) for k in range(2)]
a = fs[0]({S})

match {K}:
    case 0 | 1:
        {st}
    case 2 if {B}:
        {st}
    case _:
        {st}

match ({S}, {K}):
    case (y, 2) if y > 0.2:
        a = y
    case (y, z):
        a = y * z

match P:
    case Pt(p=y, q=1.0):
        a = a + y
    case Pt(q=z):
        b = b + z

match L:
    case [y]:
        a = y
    case [y, *r_, z]:
        a = y + z + len(r_)
    case _:
        {st}

match D:
    case {"a": y, **others}:
        a = y + len(others)

for key in sorted(D):
    a = a + D[key] * len(key)

for key, e in D.items():
    b = b * 0.5 + e

if (w2 := {S}) > {S}:
    a = w2
    {st}

st_ = Stack()
for e in v:
    if e > {S}:
        st_.push(e)
    elif st_.n:
        a = a + st_.pop()
b = b + st_.n

q_ = deque({L})
q_.appendleft({S})
a = q_.popleft() + q_.pop()

cnt = defaultdict(float)
for e in v:
    cnt["p" if e > {S} else "n"] += e
a = a + cnt["p"] - cnt["n"]

seen_ = set()
for e in [1, 2, n, 1]:
    if e not in seen_:
        seen_.add(e)
        a = a + e * {S}

best = None
for e in L:
    if best is None or e > best:
        best = e
a = best

lo, hi = 0, len(L)
while lo < hi:
    mid = (lo + hi) // 2
    if L[mid] < {S}:
        lo = mid + 1
    else:
        hi = mid
b = b + lo

it = iter(v)
a = next(it) + next(it, {S})
for e in it:
    b = b + e

rows = [[{S} for _ in range(2)] for _ in range(2)]
rows[0][1] += a
rows.append(rows[0])
rows[2][0] = b
a = sum(map(sum, rows))

acc = counter({S})
for e in v:
    acc(e)
a = acc(0.0)

M = np.outer(v, v)
M[0] += {S}
M[:, 1] *= {S}
a = np.sum(M * np.arange(3))

if {B}:
    return a + np.sum(v)

pts = [Pt(e) for e in v]
pts[0].scale({S})
pts.sort()
a = pts[0].p + pts[-1].total

u = v
u[0] = {S}
b = b + v[0]

u = v[::-1]
u[:2] += v[:2]
b = b + np.sum(v * u)

if {B}:
    O = P
O.p = O.p + {S}

z1, z2 = [], []
(z1 if {B} else z2).append({S})
a = a + sum(z1) - sum(z2)"""
LEAVES = {"S": ["x", "s", "a", "b", "0.5", "v[0]"], "L": ["L", "[0.2, 0.7]"], "K": ["2", "n"]}
LEAVES |= {"B": ["(x > 0.2)", "(a < b)"], "N": ["n"], "I": ["0"], "T": ['"a"']}
TOKEN = re.compile(r"\{([SLBNKIT])\}")
START = """L, D, P, O = [x, s], {"a": x, "b": s}, Pt(x), Pt(s, x)
a, b = x * 2, s - x
add = counter(x)
v = v.copy()"""
RESULT = """return (a + 2 * b + np.sum(v * np.array([1.0, 2.0, 3.0])) + sum(L) * 0.7
        + sum(D.values()) * 0.3 + P.total * 1.1 + O.total * 0.9 + x)"""


def choices(text):
    return [e.strip() for e in re.split(r"[|\n]", text)]


RULES = {kind: choices(text) for kind, text in EXPRESSIONS.items()}
STATEMENTS, BLOCKS = choices(SIMPLE), NESTED.split("\n\n")


class Writer:
    """Writes one program by a seed."""

    def __init__(self, seed):
        self.choice = random.Random(seed).choice

    def program(self):
        lines = START.split("\n")
        for _ in range(self.choice([1, 2, 3, 4])):
            lines += self.statement(0)
        lines += RESULT.split("\n")
        return f"{HEADER}\n\ndef f(x, s, v, n):\n" + "\n".join("    " + e for e in lines) + "\n"

    def statement(self, depth):
        """The lines of a statement; in a function of its own or deep inside it has no blocks."""
        template = self.choice(STATEMENTS + BLOCKS if depth < 2 else STATEMENTS)
        if depth and "return a" in template:
            template = self.choice(STATEMENTS)
        lines = []
        for line in template.split("\n"):
            pad = line[: len(line) - len(line.lstrip())]
            if line.strip() == "{st}":
                inner = 2 if "nonlocal" in template else depth + 1
                lines += [pad + text for text in self.statement(inner)]
            else:
                lines += [pad + self.filled(part, 2) for part in line.strip().split("; ")]
        return lines

    def filled(self, template, depth):
        return TOKEN.sub(lambda m: self.expression(m[1], depth), template)

    def expression(self, kind, depth):
        text = self.filled(self.choice(RULES[kind] if depth else LEAVES[kind]), max(depth - 1, 0))
        return f"({text})" if kind == "L" and not text.isidentifier() else text
