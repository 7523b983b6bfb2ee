"""Source text of random functions that hold every construct of Python, right or wrong.

A function f(x, m, s, n) takes a vector, a matrix, a float and an integer. Unlike those of
`random_programs`, they hold mistakes, few in some and many in others: shapes, types, names and
constructs that do not go together.
"""

# ruff: noqa: E501, E741, SIM905  (tables of expressions, each kind by a letter)
from __future__ import annotations

import random

HEADER = """import contextlib
import functools
import itertools
import math
import numpy as np
from collections import defaultdict, deque, namedtuple
from dataclasses import dataclass

LIMIT = 3
TABLE = np.arange(4.0)
NAMES = ["a", "b"]
Pair = namedtuple("Pair", "u v")


def helper(a, b=2.0, *rest, scale=1.0, **more):
    return np.sum(a) * b * scale


def vector_of(a):
    return a * np.ones(3)


@dataclass
class Point:
    p: float
    q: float = 1.0


class Thing:
    kind = "thing"

    def __init__(self, w):
        self.w = w

    def apply(self, v):
        return self.w * v

    @property
    def twice(self):
        return self.w * 2

    def __len__(self):
        return 3

    def __getitem__(self, k):
        return self.w * k
"""

NUMBERS = ["0", "1", "2", "-1", "0.5", "3.0", "1e-3", "-2.5", "True", "1j", "10**3", "n", "s"]
UNARY = """sin cos exp log sqrt abs tanh sum mean max min prod cumsum sort argsort argmax ravel
transpose square sign floor isnan isfinite any all diff flip unique trace diag norm nonzero
atleast_2d asarray array copy zeros_like ones_like real conj squeeze std median cumprod""".split()
BINARY = """add subtract multiply divide power maximum minimum dot matmul outer arctan2 mod
hypot logaddexp greater equal cross inner kron append array_equal isin interp tensordot""".split()
OPERATORS = "+ - * / // % ** @ & | ^ << >> and or == != < <= > >= is in".split()
AUGMENTED = "+= -= *= /= //= %= **= @= &= |=".split()
ATTRIBUTES = """shape dtype size ndim T real imag flat nbytes w kind twice p q u missing
keys append __class__ __name__ itemsize strides""".split()
METHODS = """sum() mean(axis=0) max(axis=1) reshape(-1) reshape(3,1) reshape(n,2) astype(int)
astype("f4") astype(np.float32) copy() transpose() dot(x) tolist() item() ravel() argmax()
sort() fill(0.0) clip(0,1) get("a") get("z",1.0) keys() items() append(s) pop() pop(0) apply(s)
index(s) upper() join(NAMES) split() cumsum(axis=2) swapaxes(0,1) update(a=s) missing() any()
round(2) repeat(2) squeeze() trace() std() conj() extend(x) insert(0,s) setdefault("q",s) count(s)
format(s) view() take([0,1]) nonzero() tobytes() prod() min() all() flatten() diagonal()""".split()
WORDS = "a b c d e g h k p q".split()


S, V, M, N, B, L, D, O = "number vector matrix integer truth list dict object".split()
#: Expressions of each kind, and what they are made of.
RIGHT = {
    S: """({S} + {S}) ({S} * {S}) ({S} - {S}) ({S} / (1.5 + abs({S}))) np.sin({S}) np.exp(-abs({S}))
        np.sum({V}) np.mean({M}) {V}[0] {V}[-1] {V}[{N} % 3] {M}[0, 1] {M}[{N} % 2, {N} % 3] max({S}, {S})
        np.dot({V}, {V}) float({S}) abs({S}) -{S} ({S} if {B} else {S}) helper({V}) helper({S}, b={S})
        sum({L}) {L}[0] {D}["a"] {D}.get("z", {S}) {O}.w {O}.twice {O}.apply({S}) np.max({V})
        math.sin(0.5) np.linalg.norm({V}) {S}**2 np.maximum({S}, {S}) np.prod({V}) len({V}) {N} 0.5
        (lambda v: v * {S})({S}) sum([i0 * {S} for i0 in {V}]) sum(i0 for i0 in {L}) np.sqrt({S} ** 2 + 1)
        (w0 := {S}) {V}.sum() {M}.mean() functools.reduce(lambda v, w: v + w, {L}) np.trace({M} @ {M}.T)
        min({L}) sorted({V})[0] np.linalg.det({M} @ {M}.T) Point({S}).p Pair({S}, {S}).v np.float64({S})""",
    V: """({V} + {V}) ({V} * {S}) np.sin({V}) np.tanh({V}) ({V} / (2.0 + {V}**2)) {M}[0] {M}[{N} % 2]
        {V}[::-1] np.sort({V}) np.cumsum({V}) np.where({V} > {S}, {V}, {S}) {M}.sum(axis=0) {V}.copy()
        np.array([{S}, {S}, {S}]) ({M}.T @ np.ones(2)) vector_of({S}) np.zeros(3) np.full(3, {S})
        np.maximum({V}, {V}) np.roll({V}, 1) np.stack([{S}, {S}, {S}]) ({V} if {B} else {V}) np.exp(-{V}**2)
        np.array([i0 * {S} for i0 in {V}]) np.concatenate([{V}[:1], {V}[1:]]) np.clip({V}, -1, 1)
        {V}.astype(float) np.interp({V}, [0.0, 1.0], [0.0, 2.0]) np.cross({V}, {V}) np.linspace(0, {S}, 3)""",
    M: """({M} + {M}) ({M} * {V}) np.outer({V}[:2], {V}) np.sin({M}) {M}[::-1] np.stack([{V}, {V}])
        np.vstack([{V}, {V}]) {M}.reshape(2, 3) {M}.reshape(3, 2).T np.where({M} > {S}, {M}, 0.0) {M}.copy()
        np.einsum('ij,j->ij', {M}, {V}) np.concatenate([{M}[:1], {M}[1:]]) np.ones((2, 3)) ({M} - {S})
        np.array([{V}, {V}]) np.tile({V}, (2, 1)) np.broadcast to({V}, (2, 3)) np.cumsum({M}, axis=1)""",
    N: """{N} 2 1 ({N} + 1) ({N} * 2) len({V}) {M}.shape[0] {V}.size {M}.ndim int({S}) np.argmax({V}) ({N} // 2)
        len({L}) int(np.floor({S})) max({N}, 1) ({N} if {B} else 1) {V}.shape[-1]""",
    B: """({S} > {S}) ({N} == 2) ({S} < {S} < {S}) (not {B}) ({B} and {B}) ({B} or {B}) bool({S}) ("a" in {D})
        np.any({V} > {S}) np.all({M} > 0) ({S} is None) isinstance({S}, float) np.isfinite({S}) True
        hasattr({O}, 'w') ({N} > 0)""",
    L: """[{S}, {S}] [i0 * 2 for i0 in {L}] [i0 for i0 in {V} if i0 > {S}] ({L} + [{S}]) list({V}) sorted({L})
        [{S} for i0 in range({N})] list(map(lambda v: v * {S}, {L})) [0.0]*3 {L}[:1] {V}.tolist()
        [i0 + j0 for i0, j0 in zip({V}, {V})] list(reversed({L}))""",
    D: """{{'a': {S}}} {{'a': {S}, 'b': {V}}} dict(a={S}) {{**{D}, 'a': {S}}} dict({D}) {{k0: {S} for k0 in NAMES}}""",
    O: """Thing({S}) Thing({S}) Thing({V}.sum())""",
}


def _split(text: str) -> list[str]:
    """What spaces outside of brackets separate."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c.isspace() and depth == 0:
            found.append("")
        else:
            found[-1] += " " if c.isspace() else c
    return [" ".join(form.split()) for form in found if form]


LEAVES = {S: "0.5", V: "np.ones(3)", M: "np.ones((2, 3))", N: "2", B: "True"}
LEAVES |= {L: "[0.5, 1.0]", D: "{'a': 0.5, 'b': 1.0}", O: "Thing(0.5)"}
FORMS = {kind: _split(text) for kind, text in RIGHT.items()}


class Writer:
    """Writes one program, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rate = self.random.choice([0, 1, 3, 10, 60])  # per cent of mistakes
        self.kinds = {"x": V, "m": M, "s": S, "n": N}
        self.names = ["x", "m", "s", "n"]
        self.fresh = 0
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def name(self) -> str:
        if self.chance(2):
            return self.pick(
                ["undefined", "LIMIT", "TABLE", "NAMES", "np", "helper", "len", "Point"]
            )
        return self.pick(self.names)

    def new(self, kind: str = S) -> str:
        if self.chance(35):
            name = self.pick(self.names)
        else:
            self.fresh += 1
            name = f"{self.pick(WORDS)}{self.fresh}"
            self.names.append(name)
        self.kinds[name] = kind
        return name

    def of(self, kind: str, d: int = 3) -> str:
        """An expression of some kind, or a mistake."""
        if self.chance(self.rate):
            return self.anything(min(d, 2))
        held = [name for name in self.names if self.kinds.get(name) == kind]
        if held and (d <= 0 or self.chance(25)):
            return self.pick(held)
        forms = FORMS[kind]
        if d <= 0:
            return LEAVES[kind]
        parts = {k: _Parts(self, k, d - 1) for k in RIGHT}
        return self.pick(forms).format_map(
            {**parts, **dict(zip("SVMNBLDO", parts.values(), strict=True))}
        )

    def expression(self, d: int = 3) -> str:
        return self.of(self.pick([S, S, V, V, M, N, B, L, D, O]), d)

    # -- expressions

    def index(self, d: int) -> str:
        return self.pick(
            [
                *("0", "-1", "1", "n", "7", ":", "1:", "::-1", ":n", "...", "None", "i0"),
                *('"a"', "0, 1", ":, 0", "..., 0", "[0, 1]", "x > 0", "n - 1", "True", "s"),
                self.anything(d - 1),
            ]
        )

    def anything(self, d: int = 3) -> str:
        """Any expression at all."""
        if d <= 0 or self.chance(18):
            return self.name() if self.chance(70) else self.pick(NUMBERS)
        e = lambda: self.anything(d - 1)  # noqa: E731 (a word for what comes most often)
        kinds = [
            *[lambda: f"({e()} {self.pick(OPERATORS)} {e()})"] * 8,
            *[lambda: f"np.{self.pick(UNARY)}({e()})"] * 6,
            *[lambda: f"np.{self.pick(BINARY)}({e()}, {e()})"] * 3,
            *[lambda: f"{self.name()}[{self.index(d)}]"] * 5,
            *[lambda: f"{self.name()}.{self.pick(METHODS)}"] * 3,
            *[lambda: f"{self.name()}.{self.pick(ATTRIBUTES)}"] * 2,
            lambda: f"-{e()}",
            lambda: f"(not {e()})",
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f"({self.name()} < {e()} < {e()})",
            lambda: f"[{e()}, {e()}]",
            lambda: f"({e()}, {e()})",
            lambda: f"{{'a': {e()}, 'b': {e()}}}",
            lambda: f"{{{e()}, {e()}}}",
            lambda: f"[{e()} for i0 in {e()}]",
            lambda: f"[i0 for i0 in {e()} if {e()}]",
            lambda: f"sum(i0 * {e()} for i0 in {e()})",
            lambda: f"{{i0: {e()} for i0 in {e()}}}",
            lambda: f"[i0 * j0 for i0 in {e()} for j0 in {e()}]",
            lambda: f"(lambda v, w=1.0: v * {e()})({e()})",
            lambda: f"list(map(lambda v: v * {e()}, {e()}))",
            lambda: f"len({e()})",
            lambda: f"{self.pick(['float', 'int', 'bool', 'str', 'abs', 'complex'])}({e()})",
            lambda: f"{self.pick(['sum', 'max', 'min', 'sorted', 'list', 'tuple', 'set'])}({e()})",
            lambda: f"{self.pick(['range', 'any', 'all', 'iter', 'dict', 'next', 'round'])}({e()})",
            lambda: (
                f"{self.pick(['zip', 'max', 'min', 'divmod', 'pow', 'isinstance'])}({e()}, {e()})"
            ),
            lambda: f"list(enumerate({e()}))",
            lambda: (
                f"helper({e()}, {self.pick(['', '2.0', '*x', 'scale=s', 'b=x, q=1', '1, 2, 3'])})"
            ),
            lambda: f"helper({self.pick(['', '*m', '**{}', 'b=1', 'zz=s', 'x, b=s, scale=n'])})",
            lambda: f"vector_of({e()})",
            lambda: f"Point({e()}, {e()}).{self.pick(['p', 'q', 'r'])}",
            lambda: f"Thing({e()}){self.pick(['.w', '.apply(s)', '.twice', '[1]', '.kind', '.z'])}",
            lambda: f"Pair({e()}, {e()})",
            lambda: f"f'{{{self.name()}}}'",
            lambda: f"'%s' % {self.name()}",
            lambda: f"(w0 := {e()})",
            lambda: f"np.zeros({e()})",
            lambda: f"np.full({e()}, {e()})",
            lambda: f"np.arange({e()})",
            lambda: f"np.linspace(0, {e()}, {e()})",
            lambda: f"np.where({e()}, {e()}, {e()})",
            lambda: f"np.concatenate([{e()}, {e()}])",
            lambda: f"np.stack(({e()}, {e()}), axis={self.pick(['0', '1', '5', 'n'])})",
            lambda: f"np.reshape({e()}, {self.pick(['-1', '(2, 3)', '(n, -1)', '(-1, -1)', 's'])})",
            lambda: (
                f"np.einsum('{self.pick(['ij,j->i', 'i,i', 'ij', 'ij->ji', 'i->ij', '??'])}', m, {e()})"
            ),
            lambda: (
                f"np.sum({e()}, axis={self.pick(['0', '1', '-1', '(0, 1)', 'None', 'n', 's'])})"
            ),
            lambda: (
                f"np.linalg.{self.pick(['solve', 'inv', 'det', 'norm', 'eigh', 'svd', 'qr'])}({e()})"
            ),
            lambda: f"np.linalg.solve({e()}, {e()})",
            lambda: (
                f"np.array([{e()}, {e()}], dtype={self.pick(['float', 'int', 'object', 'None', 'np.float32'])})"
            ),
            lambda: (
                f"np.{self.pick(['expand_dims', 'roll', 'tile', 'repeat', 'take', 'split'])}({e()}, {e()})"
            ),
            lambda: f"np.clip({e()}, {e()}, {e()})",
            lambda: f"math.{self.pick(['sin', 'sqrt', 'floor', 'gcd', 'hypot', 'log'])}({e()})",
            lambda: f"functools.reduce(lambda v, w: v + w, {e()})",
            lambda: f"getattr({self.name()}, '{self.pick(ATTRIBUTES)}')",
            lambda: f"hasattr({self.name()}, '{self.pick(ATTRIBUTES)}')",
            lambda: f"type({self.name()})",
            lambda: f"np.random.{self.pick(['rand(3)', 'normal(s)', 'default_rng(0)', 'nope()'])}",
            lambda: f"x.{self.pick(['sum', 'mean', 'max'])}(keepdims={self.pick(['True', 's'])})",
            lambda: (
                f"np.{self.pick(['nope', 'sin', 'sum'])}({e()}, {self.pick(['nope=1', 'axis=9', 'out=x'])})"
            ),
        ]
        return self.pick(kinds)()

    # -- statements

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def block(self, size: int) -> None:
        self.depth += 1
        known = list(self.names)
        before = len(self.lines)
        for _ in range(self.random.randrange(1, size + 1)):
            self.statement()
        if len(self.lines) == before:
            self.put("pass")
        if self.chance(50):
            self.names = known
        self.depth -= 1

    def statement(self) -> None:
        deep = self.depth > 3
        simple = [
            *[self.assign] * 9,
            *[self.augmented] * 4,
            *[self.store] * 3,
            *[self.other] * 5,
        ]
        nested = [
            *[self.branch] * 4,
            *[self.loop] * 4,
            self.while_loop,
            self.attempt,
            self.function,
            self.inner_class,
            self.managed,
            self.match,
        ]
        self.pick(simple if deep else [*simple, *nested])()

    def assign(self) -> None:
        if self.chance(self.rate):
            target = self.pick(["a, b", "a, *b", "(a, b), c", "q1 = q2", self.new()])
            self.put(f"{target} = {self.anything()}")
            return
        kind = self.pick([S, S, S, V, V, M, N, B, L, D, O])
        e = self.of(kind)
        self.put(f"{self.new(kind)} = {e}")

    def one(self, kind: str) -> str:
        """The name of a variable of some kind."""
        return self.pick([n for n in self.names if self.kinds.get(n) == kind] or self.names)

    def augmented(self) -> None:
        if self.chance(self.rate):
            at = self.pick(["", "", "[0]", "[:]", "[n]", ".w", "[0, 1]"])
            self.put(f"{self.name()}{at} {self.pick(AUGMENTED)} {self.anything(2)}")
            return
        kind, at, value = self.pick(
            [(S, "", S), (V, "", V), (M, "", V), (V, "[0]", S), (V, "[1:]", S)]
        )
        self.put(f"{self.one(kind)}{at} {self.pick(['+=', '-=', '*='])} {self.of(value, 2)}")

    def store(self) -> None:
        if self.chance(self.rate):
            at = [f"[{self.index(2)}]", "[0]", "[1:]", ".w", ".kind", "['k']", "[x > 0]"]
            self.put(f"{self.name()}{self.pick(at)} = {self.anything(2)}")
            return
        places = [(V, "[0]", S), (V, "[:]", V), (M, "[0]", V), (M, "[:, 1]", S), (L, "[0]", S)]
        places += [(D, "['a']", S), (O, ".w", S), (V, "[n % 3]", S), (M, "[n % 2, 0]", S)]
        kind, at, value = self.pick(places)
        if any(self.kinds.get(n) == kind for n in self.names):
            self.put(f"{self.one(kind)}{at} = {self.of(value, 2)}")
        else:
            self.assign()

    def other(self) -> None:
        if not self.chance(max(self.rate, 4)):
            self.assign()
            return
        e = self.expression(2)
        self.put(
            self.pick(
                [
                    f"del {self.name()}{self.pick(['', '[0]', '.w'])}",
                    f"assert {e}, 'no'",
                    f"assert {e}",
                    f"print({self.name()}, end='')",
                    f"{self.name()}.{self.pick(METHODS)}",
                    f"{self.new()}: float = {e}",
                    "global LIMIT",
                    "LIMIT = LIMIT + 1",
                    "import math as mm",
                    f"if {e}: raise ValueError('bad', {self.name()})",
                    f"if {e}: return {self.name()}",
                    "pass",
                    f"{e}",
                    f"{self.new()} = lambda v: v * {e}",
                    f"{self.new()} = [0.0] * {self.pick(['3', 'n', 'len(x)'])}",
                    f"{self.new()} = Thing({e})",
                    f"{self.new()} = {{'a': {e}}}",
                    f"{self.new()} = deque([{e}])",
                    f"{self.new()} = defaultdict(float)",
                    "yield s" if self.chance(8) else "pass",
                    f"raise RuntimeError({e})" if self.chance(20) else "pass",
                    f"return {e}" if self.chance(30) else "pass",
                    self.pick(["break", "continue"]) if self.loops else "pass",
                    "exec('1')" if self.chance(20) else "pass",
                ]
            )
        )

    def branch(self) -> None:
        self.put(f"if {self.of(B, 2)}:")
        self.block(2)
        if self.chance(30):
            self.put(f"elif {self.of(B, 2)}:")
            self.block(2)
        if self.chance(50):
            self.put("else:")
            self.block(2)

    def loop(self) -> None:
        over = self.pick(
            [
                *("range(3)", "range(n)", "x", "m", "range(len(x))", "enumerate(x)", "zip(x, x)"),
                *(
                    "NAMES",
                    "reversed(x)",
                    "range(1, 4, 2)",
                    "[s, s]",
                    "range(0)",
                    "itertools.count()",
                ),
                self.expression(2),
            ]
        )
        pair = "enumerate" in over or "zip" in over
        kind = V if over == "m" else N if "range" in over else S
        target = (
            self.pick(["i1, v1", "i1, v1", "v1"]) if pair else self.pick([self.new(kind), "i1"])
        )
        self.kinds |= {"i1": N, "v1": S}
        self.names += [t for t in target.split(", ") if t not in self.names]
        self.put(f"for {target} in {over}:")
        self.loops += 1
        self.block(3)
        self.loops -= 1
        if self.chance(10):
            self.put("else:")
            self.block(1)

    def while_loop(self) -> None:
        self.fresh += 1
        k = f"k{self.fresh}"
        self.put(f"{k} = 0")
        self.put(f"while {k} < 4 and {self.of(B, 2)}:")
        self.put(f"    {k} += 1")
        self.loops += 1
        self.block(2)
        self.loops -= 1

    def attempt(self) -> None:
        self.put("try:")
        self.block(2)
        kind = self.pick(["ValueError", "Exception", "(TypeError, IndexError)", "KeyError", "x"])
        if self.chance(80):
            self.put(f"except {kind} as error:")
            self.block(1)
            if self.chance(20):
                self.put("else:")
                self.block(1)
            if self.chance(30):
                self.put("finally:")
                self.block(1)
        else:
            self.put("finally:")
            self.block(1)

    def function(self) -> None:
        self.fresh += 1
        name = f"fun{self.fresh}"
        params = self.pick(["v", "v", "v", "v, w=s", "*v", "v, **kw", "v, *, w=1.0", "v, w", ""])
        if self.chance(8):
            self.put("@functools.lru_cache")
        self.put(f"{self.pick(['def', 'def', 'def', 'def', 'async def'])} {name}({params}):")
        names, loops = self.names, self.loops
        self.loops = 0
        self.names = [*names, *(["v"] if "v" in params else [])]
        if self.chance(15):
            self.put(f"    nonlocal {self.pick(['s', 'x', 'a1', self.pick(self.names)])}")
        self.block(2)
        self.put(f"    {self.pick(['return', 'return', 'return', 'yield'])} {self.of(S, 2)}")
        self.names, self.loops = names, loops
        call = self.pick(
            [f"{name}(s)", f"{name}(s)", f"{name}(x, w=n)", f"{name}()", f"list({name}(x))"]
        )
        self.put(f"{self.new()} = {call}")

    def inner_class(self) -> None:
        self.fresh += 1
        base = self.pick(["", "(Thing)", "(x)"]) if self.chance(self.rate) else ""
        self.put(f"class C{self.fresh}{base}:")
        self.put(f"    value = {self.of(S, 1)}")
        self.put("    def go(self, v):")
        self.put(f"        return v * {self.pick(['self.value', 's', '2'])}")
        use = (
            self.pick(["().go(s)", "()", ".value", "(1)"]) if self.chance(self.rate) else "().go(s)"
        )
        self.put(f"{self.new()} = C{self.fresh}{use}")

    def managed(self) -> None:
        manager = self.pick(
            [
                *("contextlib.suppress(ValueError)", "contextlib.nullcontext(s) as c0"),
                *("np.errstate(all='ignore')", "x", "open('/nonexistent')", "Thing(s) as c0"),
            ]
        )
        self.put(f"with {manager}:")
        self.block(2)

    def match(self) -> None:
        self.put(f"match {self.expression(1)}:")
        for case in self.random.sample(
            ["1", "[a, b]", "{'a': z0}", "Point(p=0.0)", "0 | 2", "str()", "float(y0)", "(a, *b)"],
            2,
        ):
            self.put(f"    case {case}:")
            self.depth += 1
            self.block(1)
            self.depth -= 1
        self.put("    case _:")
        self.depth += 1
        self.block(1)
        self.depth -= 1

    def program(self) -> str:
        """The module, with a function `f`."""
        for _ in range(self.random.randrange(1, 6)):
            self.statement()
        last = self.pick([*["np.sum({})"] * 4, "{}", "({}, s)", "{{'r': {}}}", "float({})"])
        self.put(f"return {last.format(self.of(self.pick([S, V, M]), 2))}")
        return f"{HEADER}\n\ndef f(x, m, s, n):\n" + "\n".join(self.lines) + "\n"


class _Parts:
    """Gives another expression each time that it is shown."""

    def __init__(self, writer: Writer, kind: str, d: int) -> None:
        self.writer, self.kind, self.d = writer, kind, d

    def __format__(self, spec: str) -> str:
        return self.writer.of(self.kind, self.d)
