"""Source text of random functions that call helpers with all kinds of arguments, make objects of
classes with inheritance and properties, run generators, change closures, and leave loops in several
ways with `finally` behind them.

A function takes floats x and y, a vector v, a number of passes n and a float s. In templates

    {S}  is an expression for a number, {V} for a vector of as many elements as v, {T} a test,
         {O} an object, {F} a function of a number
    {s}  is the name of a number that may be set, {v} of a vector, {o} of an object
    ;    begins a line, which is the body of what ends with a colon; further colons nest deeper
"""

import random
import re

HEADER = """import contextlib
import functools
import itertools

import numpy as np


def plain(a, b=0.3, *rest, c, d=0.7, **more):
    return a * b + c * d + sum(rest) * 0.1 + sum(more.values()) - len(more)


def scaled(a, /, by=0.5, *, shift=0.1):
    return a * by + shift


def passes_on(*args, **kwargs):
    return plain(*args, **kwargs) * 0.5 + kwargs["c"]


def with_defaults(a, items=(0.1, 0.2), *, table={"p": 0.4}, f=lambda e: e * 0.5):
    return f(a) + items[0] * table["p"] + len(items)


def several(a, b):
    return a + b, a * b, {"d": a - b}


def counter(start=0.0):
    total = start

    def add(a):
        nonlocal total
        total = total + a
        return total

    return add


def makers(n):
    return [lambda e, k=k: e * (k + 1) for k in range(n)]


def upto(a, n):
    for k in range(n):
        if a > 4.0:
            return
        a = a * 1.3 + 0.1
        yield a
    yield -a


def pairs(v):
    left = None
    for e in v:
        if left is not None:
            yield left, e
        left = e


def delegating(a, n):
    yield a * 0.5
    count = yield from upto(a, n)
    yield a if count is None else count


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) * 0.9 + len(args)

    return wrapper


@logged
def decorated(a, b=0.2):
    return a - b * a


@contextlib.contextmanager
def scope(log, a):
    log.append(a)
    try:
        yield a * 2
    finally:
        log.append(-a)


class Base:
    scale = 0.8
    made = 0

    def __init__(self, a, *, b=0.2):
        self.a, self._b = a, b

    @property
    def b(self):
        return self._b * self.scale

    @b.setter
    def b(self, value):
        self._b = value + 0.1

    @classmethod
    def of(cls, a):
        return cls(a * 0.5)

    @staticmethod
    def twice(a):
        return a + a

    def value(self, k=1):
        return self.a * k + self.b

    def __call__(self, a):
        return self.value() - a

    def __add__(self, other):
        return type(self)(self.a + (other.a if isinstance(other, Base) else other))

    def __eq__(self, other):
        return isinstance(other, Base) and self.a == other.a

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self.a < other.a

    def __iter__(self):
        yield self.a
        yield self.b

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return (self.a, self.b)[k]

    def __enter__(self):
        self.a = self.a + 1.0
        return self

    def __exit__(self, kind, error, trace):
        self.a = self.a - 0.5
        return kind is ValueError


class Child(Base):
    scale = 1.2

    def __init__(self, a, **options):
        super().__init__(a, **options)
        self.log = [a]

    @property
    def b(self):
        return super().b + 0.05

    @b.setter
    def b(self, value):
        self._b = value * 0.5

    def value(self, k=2):
        self.log.append(k * self.a)
        return super().value(k) * 0.9 + len(self.log)

    def __getattr__(self, name):
        if name.startswith("x_"):
            return self.a * len(name)
        raise AttributeError(name)


class Mixin:
    def value(self, k=1):
        return super().value(k + 1) + 0.3

    def __radd__(self, other):
        return other + self.a


class Mixed(Mixin, Child):
    __slots__ = ()

    def __neg__(self):
        return -self.a


"""

EXPRESSIONS = {
    "S": """x|y|s|x|y|p|q|p|q|0.7|-0.4|({S} + {S})|({S} * {S})|({S} - {S})|np.sin({S})|np.tanh({S})
plain({S}, c={S})|plain({S}, {S}, {S}, c={S}, e={S})|plain(*({S}, {S}), **dict(c={S}, d={S}))
passes_on({S}, {S}, c={S}, g={S})|passes_on(*[{S}, {S}, {S}], c={S})|scaled({S}, shift={S})
scaled({S}, *[{S}], **{"shift": {S}})|with_defaults({S})|with_defaults({S}, [{S}], f={F})
with_defaults({S}, table={"p": {S}, "r": 1})|several({S}, {S})[1]|several({S}, {S})[2]["d"]
sum(several({S}, {S})[:2])|{O}.value()|{O}.value(2)|{O}.b|{O}.a|{O}({S})|{O}[1]|{O}[0]|sum({O})
max(*{O})|len({O}) * {S}|({O} + {S}).value()|({O} + {O}).a|Base.twice({S})|{o}.twice({S})
{O}.scale * {S}
type({O}).scale * {S}|Child.of({S}).b|getattr({O}, "a")|Child({S}).x_y|getattr({o}, "zz", {S})
sum(upto({S}, 3))|sum(a * b for a, b in pairs({V}))|max(upto({S}, 2))|next(iter(upto({S}, 2)))
sum(delegating({S}, 2))|list(upto({S}, 2))[-1]|decorated({S})|decorated({S}, b={S})|{F}({S})
add({S})
functools.reduce(lambda a, b: a * 0.5 + b, [{S}, {S}, {S}])|functools.partial(plain, {S}, c={S})()
functools.partial(scaled, by={S})({S})|sum(f({S}) for f in makers(3))|makers(2)[1]({S})|np.sum({V})
sum(map(lambda a, b: a * b, {V}, {V}))|sum(a for a in {V} if a > {S})|sorted({V})[0]
({S} if {T} else {S})
(lambda a, *b, c={S}: a * c + sum(b))({S}, {S})|max({V}, key=lambda e: e * e)
min([{S}, {S}], default=0)
sum(e for e, _ in zip({V}, range(2)))|[e * {S} for e in {V}][1]|{"a": {S}, **{"b": {S}}}["b"]
({T} and {S} or {S})|sum(k * e for k, e in enumerate({V}, 1))|(w := {S}) * w|abs({S})|float({S})
sum(itertools.accumulate([{S}, {S}]))|sum(itertools.chain([{S}], {V}))|sum([{S}, {S}], {S})
sum(a * b for a, b in itertools.pairwise({V}))|min({O}, {O}).a|sorted([{O}, {O}])[1].a|{V}[0]
{V}[-1]
sum(itertools.takewhile(lambda e: e < {S}, {V}))|next((e for e in {V} if e > {S}), {S})""",
    "V": """v|v|w|u|({V} + {V})|({V} * {S})|np.array([{F}(e) for e in {V}])|np.sin({V})|{V}[::-1]
np.array(sorted({V}))|np.array([*{V}])|np.array(list(map({F}, {V})))|np.where({V} > {S}, {V}, {S})
np.array([a + b for a, b in zip({V}, {V})])|np.cumsum({V})
np.array([e if e > 0 else {S} for e in {V}])""",
    "T": """{S} > {S}|{S} < {S}|{T} and {T}|not {T}|{S} > 0.5|{O} == {O}|{O} < {O}
any(e > {S} for e in {V})
all(e < {S} for e in {V})|{S} < {S} < {S}|isinstance({O}, Child)|len({O}) == 2|{S} > {S} or {T}
hasattr({o}, "log")|bool({S} > 0)|n > 2""",
    "O": """o|r|o|r|Base({S})|Child({S})|Mixed({S})|Child({S}, b={S})|Mixed.of({S})|({O} + {O})
copied(o)""",
    "F": """np.sin|(lambda e: e * {S})|f1|functools.partial(plain, c={S})|{O}|decorated|scaled
(lambda e, k=2: e * k)""",
    "s": "p|q",
    "v": "w|u",
    "o": "o|r",
}
LINES = """{s} = {S}|{s} += {S}|{s} *= {S}|{v} = {V}|{v}[0] = {S}|{v}[1:] *= {S}|{o} = {O}
{o}.a = {S}
{o}.b = {S}|{o}.a += {S}|{o}.b *= {S}|{s}, {v}[0] = {S}, {S}|add({S})|log.append({S})|{o} += {S}
{s} = log.pop() if log else {S}|{s} = bump_by({S}, {s})|{s} = {s} + (-Mixed({S}))|{v}[::-1] += {S}
{v}[:] = [{F}(e) for e in {v}]|{s} = {s} if {T} else {S}|setattr({o}, "a", {S})
{s} = {o}.twice({s})"""
BLOCKS = """
{o}.extra = {S}
{s} = {o}.extra + {s}

{s}, *more = {S}, {S}, {S}
{s} += sum(more)

def f1(e, k={S}):
    return e * k + {s}

def bump(e):
    nonlocal {s}
    {s} = {s} + e
    return {s}
{s} = bump({S}) + bump({S})

for e in {V}:
    {s} = {s} * 0.5 + e

for e in upto({S}, n):
    {s} = {s} + e
    {o}.a = {o}.a * 0.5 + e * 0.1

for k in range(n):
    if {T}:
        break
    {s} = {s} * 0.7 + {S}
    {s} = {s} + 0.1

for k in range(n):
    if {T}:
        continue
    {o}.a = {o}.a + {S} * 0.1

for k in range(n):
    try:
        {s} = {s} + {S}
        if {T}:
            break
    finally:
        q = q * 0.9 + 0.1

for k in range(n):
    try:
        if {T}:
            continue
        {s} = {s} + 0.3
    finally:
        log.append({s})

for k in range(n):
    try:
        if {T}:
            raise ValueError("early")
        p = p * 0.9
    except ValueError:
        q = q + 0.2
    else:
        q = q - 0.1
    finally:
        p = p + 0.05

for k in range(n):
    if {T}:
        break
    {s} = {s} + 0.2
else:
    {s} = {s} * {S}

i = 0
while i < 5:
    i += 1
    if {T}:
        break
    if {T}:
        continue
    {s} = {s} * 0.8 + {S}

i = 0
while True:
    i += 1
    try:
        if i > n:
            break
        if {T}:
            {s} = {s} + 0.1
            continue
        {s} = {s} * 0.9
    finally:
        q = q + 0.01

i = 0
while {T} and i < 4:
    i += 1
    {s} = {s} * 0.5 + 0.1
    if {T}:
        {o} = {O}
    else:
        {s} = {s} + 1

with {O} as t:
    {s} = {s} + t.a

with scope(log, {S}) as t:
    {s} = {s} + t

with {O} as t:
    if {T}:
        raise ValueError
    {s} = {s} + 2

try:
    {s} = {s} + {S}
    if {T}:
        return {S}
finally:
    log.append(1.0)

try:
    if {T}:
        raise KeyError("k")
    {s} = {S}
except (KeyError, IndexError) as error:
    {s} = {s} + 0.4
finally:
    {s} = {s} * 0.9

if {T}:
    {s} = {S}
else:
    {o} = {O}

if {T}:
    {o}.a = {S}
    {s} = {s} + {o}.value()

if {T}:
    return {S} + {s}

objects = [{O}, {O}]
for each in objects:
    each.a = each.a + {S}
    {s} = {s} + each.value()

objects = [Base(e) for e in {V}]
{s} = {s} + sum(each.b for each in objects)

objects = {"a": {O}, "b": {O}}
{s} = sum(each.a for each in objects.values())

gen = upto({S}, n)
{s} = {s} + next(gen)
{s} = {s} + sum(gen)

gen = (e * {S} for e in {V})
{s} = {s} + next(gen) + next(gen, 0.0)

it = iter({V})
{s} = {s} + next(it)
for e in it:
    {s} = {s} - e * 0.1

fs = [lambda e: e * {s}, lambda e: e + {s}]
{s} = {S}
q = q + sum(f(0.5) for f in fs)

fs = [lambda e, k=k: e + k * {s} for k in range(3)]
{s} = {s} + fs[1](0.2) + fs[-1](0.1)

cells = [0.0]
def put(e):
    cells[0] = cells[0] + e
put({S})
put({S})
{s} = {s} + cells[0]

match bool({S} > 0):
    case True:
        {s} = {s} + 1.0
    case _:
        {s} = {s} - {S}

table = {}
table["a"] = {S}
table.setdefault("b", {S})
{s} = {s} + sum(table.values())

global_list.append({S})
{s} = {s} + global_list.pop()

a1, (b1, c1) = {S}, ({S}, {S})
{s} = {s} + a1 * b1 - c1

del log[:]
log.extend([{S}, {S}])
{s} = {s} + log[0]

first, *_, last = {V}
{s} = {s} + first * last

old = {o}
{o} = {O}
old.a = {S}
{s} = {s} + {o}.a

for each in (o, r):
    each.b = {S}
    if {T}:
        break
else:
    {s} = {s} + o.b

d = vars({o})
{o}.a = {S}
{s} = {s} + d["a"]

for k, e in enumerate({V}):
    for j in range(k):
        if {T}:
            break
        {s} = {s} + e * j * 0.1
    else:
        continue
    {s} = {s} * 0.9
    break

class Local(Base):
    def value(self, k=1):
        return self.a * {s}
{o} = Local({S})

counts = [counter({S}) for _ in range(2)]
counts[0]({S})
{s} = {s} + counts[0](0.1) + counts[1](0.2)

try:
    for e in delegating({S}, n):
        if {T}:
            raise StopIteration
        {s} = {s} + e
except StopIteration:
    {s} = {s} + 0.7

@logged
def local(e, *, k=1.0):
    return e * k
{s} = {s} + local({S}, k={S})

{v}[0], {v}[1] = {v}[1] * 0.5, {v}[0]
{o}.a, {s} = {s}, {o}.a
"""
TOKEN = re.compile(r"\{(\w)\}")
TAIL = """
def copied(o):
    return type(o)(o.a)


def bump_by(a, b, *, gain=0.5):
    def inner(c):
        nonlocal a
        a = a + c * gain
        return a

    inner(b)
    return inner(0.1) + a


global_list = []
"""


def choices(text):
    return [e.strip() for e in re.split(r"(?<!\|)\|(?!\|)|\n", text) if e.strip()]


RULES = {kind: choices(text) for kind, text in EXPRESSIONS.items()}
LEAVES = {"S": ["x", "y", "s", "p", "q", "0.7", "-0.4"], "V": ["v", "w", "u"]}
LEAVES |= {"T": ["x > y", "p > 0.5"], "O": ["o", "r"], "F": ["np.sin", "f1", "scaled"]}
TEMPLATES = [*choices(LINES), *2 * BLOCKS.strip("\n").split("\n\n")]


def program(seed):
    """The text of a module with a function f."""
    generator = random.Random(seed)

    def expression(kind, depth):
        if kind in "svo":
            return generator.choice(RULES[kind])
        template = generator.choice(RULES[kind] if depth else LEAVES[kind])
        text = TOKEN.sub(lambda m: expression(m[1], max(depth - 1, 0)), template)
        return text if text.isidentifier() else f"({text})"

    def statement():
        names = {kind: generator.choice(RULES[kind]) for kind in "svo"}
        template = generator.choice(TEMPLATES)
        return TOKEN.sub(lambda m: names.get(m[1]) or expression(m[1], 2), template)

    start = "p, q, w, u, log = x * 1.0, y * 1.0, v.copy(), v * 0.5, []"
    lines = [start, "o, r, add = Base(x), Child(y), counter(0.1)", "f1 = lambda e: e * 0.3"]
    for _ in range(generator.choice([2, 3, 4])):
        lines += statement().split("\n")
    total = "p * 0.3 + q + o.value() + r.value() * 0.2 + sum(log) + np.sum(w * u)"
    lines.append(f"return {total} + {expression('S', 2)}")
    body = "\n".join("    " + line for line in lines)
    return f"{HEADER}{TAIL}\n\ndef f(x, y, v, s, n):\n{body}\n"
