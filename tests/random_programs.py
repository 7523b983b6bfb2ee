"""Source text of random functions: smooth or branching, nested, writing in place, all of which run.

A function takes a float x, a vector v, a matrix m with rows like v, and a number of passes n.
Values stay near one: whatever is stored or summed up goes through a bounded function first.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

SCALAR, VECTOR, MATRIX = "scalar", "vector", "matrix"
SHAPES = (SCALAR, VECTOR, MATRIX)

HEADER = """import numpy as np


def mix(a, b):
    return np.tanh(a) + 0.5 * a * np.cos(b)


def scale_in_place(target, factor):
    target *= np.sin(factor)
    target[0] += 0.3


def clipped(a):
    if np.sum(a) > 0.2:
        return np.sin(a)
    return 0.5 * a


def power(a, k):
    return a if k == 0 else a * np.cos(power(a, k - 1))


class Cell:
    def __init__(self, state):
        self.state = state

    def step(self, a):
        self.state = np.tanh(self.state * 0.5 + a)
        return self.state
"""


@dataclass
class Scope:
    """The names that can be used at one place of a program."""

    scalar: list[str]
    vector: list[str]
    matrix: list[str]
    columns: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)  # a number, or None
    in_loop: int = 0
    passes: int = 1

    def inner(self, **changes: object) -> "Scope":
        copied = {
            name: list(value) if isinstance(value, list) else value
            for name, value in vars(self).items()
        }
        return Scope(**{**copied, **changes})


class Writer:
    """Writes one program by choices that it is given: of a hypothesis strategy, or random."""

    def __init__(self, choose: Callable[[Iterable], object], statements: int = 6):
        self.choose = choose
        self.statements = statements
        self.count = 0

    def chance(self, percent: int) -> bool:
        return self.choose(range(100)) < percent

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def program(self) -> str:
        scope = Scope(["x"], ["v"], ["m"])
        body = []
        if self.chance(70):
            body += ["v = v * 1.0"] if self.chance(50) else ["v = v.copy()", "m = m.copy()"]
        body += self.block(scope, self.statements, depth=0)
        if len(body) == 0:
            body = ["pass"]
        lines = [HEADER, "", "def f(x, v, m, n):"]
        lines += ["    " + line for line in body]
        lines += ["    return " + self.total(scope)]
        return "\n".join(lines) + "\n"

    def total(self, scope: Scope) -> str:
        terms = [f"{name}" for name in scope.scalar]
        terms += [f"np.sum({name} * {name})" for name in scope.vector]
        terms += [f"np.sum(np.sin({name}))" for name in scope.matrix]
        terms += [f"sum({name})" for name in scope.lists]
        terms += [f"np.sum({name}['a'])" for name in scope.dicts]
        terms += [f"np.sum({name}.state)" for name in scope.cells]
        terms += [f"(0.5 * x if {name} is None else {name} ** 2)" for name in scope.maybe]
        terms += [f"(x if {name} else v[0])" for name in scope.flags]
        terms += [f"v[-1] * {name}" for name in scope.counts]
        return " + ".join(f"{1 + k / 7:.2f} * {term}" for k, term in enumerate(terms))

    # expressions

    def expression(self, shape: str, scope: Scope, depth: int = 2) -> str:
        names = getattr(scope, shape)
        if names and self.chance(25 if depth else 80):
            return self.choose(names)
        if depth == 0 and not names:
            return {SCALAR: "0.7", VECTOR: "np.ones(len(v))", MATRIX: "np.ones(m.shape)"}[shape]
        if depth == 0:
            return self.choose(names)
        a = self.expression(shape, scope, depth - 1)
        kind = self.choose(range(10))
        if kind < 4:
            b = self.expression(self.choose(SHAPES[: SHAPES.index(shape) + 1]), scope, depth - 1)
            operator = self.choose(["+", "-", "*", "+", "*"])
            return f"({a} {operator} {b})"
        if kind < 6:
            return self.choose(
                ["np.tanh({})", "np.sin({})", "np.cos({})", "(({}) ** 2)", "(({}) / 2)", "(-({}))",
                 "np.exp(-({}) ** 2)", "clipped({})", "np.sqrt(1 + ({}) ** 2)", "power({}, 2)"]
            ).format(a)  # fmt: skip
        if kind == 6:
            b = self.expression(shape, scope, depth - 1)
            return self.choose(
                ["mix({}, {})", "np.where(np.sin({0}) > 0.1, {0}, {1})", "np.maximum({}, {})",
                 "({0} if {2} else {1})", "({} / (1.5 + np.cos({})))"]
            ).format(a, b, self.condition(scope))  # fmt: skip
        return getattr(self, "own_" + shape)(a, scope, depth)

    def own_scalar(self, a: str, scope: Scope, depth: int) -> str:
        vector = self.expression(VECTOR, scope, depth - 1)
        matrix = self.choose(scope.matrix)
        choices = [
            f"{self.choose(scope.vector)}[{self.column(scope)}]",
            f"{matrix}[{self.row(scope)}, {self.column(scope)}]",
            f"np.sum({vector})", f"{self.choose(scope.vector)}.mean()", f"({vector} @ v)",
            f"np.max({vector})", f"np.linalg.norm({vector})", f"{matrix}.sum()", f"max({a}, x)",
            f"abs({a})", f"float(len(v)) * {a}", "sum(e * e for e in v)",
            f"sum([np.sin(e) for e in {vector}])",
        ]  # fmt: skip
        choices += [f"0.1 * {name}" for name in scope.columns + scope.rows]
        choices += [f"{name}[-1]" for name in scope.lists] + [f"{name}[0]" for name in scope.lists]
        choices += [f"{name}['a'][0]" for name in scope.dicts]
        choices += [f"{name}['b']" for name in scope.dicts]
        choices += [f"{name}.step({a})" for name in scope.cells]
        return self.choose(choices)

    def own_vector(self, a: str, scope: Scope, depth: int) -> str:
        matrix = self.expression(MATRIX, scope, depth - 1)
        scalar = self.expression(SCALAR, scope, depth - 1)
        choices = [
            f"{self.choose(scope.matrix)}[{self.row(scope)}]", f"{matrix}.sum(axis=0)",
            f"{a}[::-1]", f"np.cumsum({a})", f"np.roll({a}, 1)", f"np.full(len(v), {scalar})",
            f"np.concatenate([{a}[:1], v[1:]])",
            f"({matrix}.T @ {self.choose(scope.matrix)}[:, 0])",
            f"np.array([{scalar} * e for e in {a}])", f"{a}.copy()", f"np.sort({a})",
            f"({a} * {matrix}).mean(axis=0)", f"{matrix}.T[:, {self.row(scope)}]",
            f"{a} @ np.eye(len(v))",
        ]  # fmt: skip
        choices += [f"{name}['a']" for name in scope.dicts]
        return self.choose(choices)

    def own_matrix(self, a: str, scope: Scope, depth: int) -> str:
        vector = self.expression(VECTOR, scope, depth - 1)
        return self.choose(
            [f"np.outer({self.choose(scope.matrix)}[:, 0], {vector})", f"{a}[::-1]",
             f"{a} * {vector}",
             f"{a} * {self.choose(scope.matrix)}[:, :1]", f"{a}.T.T", f"{a}.copy()",
             f"np.array([{vector} + e[0] for e in {a}])", f"{a}.reshape(m.shape)",
             f"({a} - {a}.mean(axis=1, keepdims=True))", f"np.zeros_like({a})"]
        )  # fmt: skip

    def bounded(self, shape: str, scope: Scope) -> str:
        return f"{self.choose(['np.tanh', 'np.sin'])}({self.expression(shape, scope)})"

    def condition(self, scope: Scope) -> str:
        a = self.expression(SCALAR, scope, 1)
        choices = [
            f"{a} > 0.15", f"{a} < {self.choose(scope.scalar)} + 0.3", f"-0.5 < {a} < 0.7",
            f"v[0] > 0.1 and {a} < 0.9", f"x < 0.2 or {a} > 0.35", f"not {a} > 0.05", "n > 2",
            f"np.any({self.choose(scope.vector)} > 0.6)",
        ]  # fmt: skip
        choices += scope.flags + [f"not {name}" for name in scope.flags]
        choices += [f"{name} is None or {name} < {a}" for name in scope.maybe]
        choices += [f"{name} is not None and {name} > {a}" for name in scope.maybe]
        choices += [f"{name} < 2" for name in scope.counts]
        choices += [f"{name} % 2 == 0" for name in scope.columns + scope.rows]
        choices += [f"{name} == 1" for name in scope.columns + scope.rows]
        return self.choose(choices)

    def column(self, scope: Scope) -> str:
        return self.choose(
            ["0", "1", "-1", "n - 1", "np.argmax(v)"] + 3 * scope.columns + scope.rows
            + [f"({name} + 1) % len(v)" for name in scope.columns]
            + [f"{name} % len(v)" for name in scope.counts]
            + [f"{name} - 1" for name in scope.columns] + [f"-{name}" for name in scope.columns]
        )  # fmt: skip

    def row(self, scope: Scope) -> str:
        return self.choose(
            ["0", "-1", "1"] + 3 * scope.rows + [f"{name} - 1" for name in scope.rows]
        )

    # statements

    def block(self, scope: Scope, size: int, depth: int) -> list[str]:
        lines = []
        for _ in range(self.choose(range(1, size + 1))):
            lines += self.statement(scope, depth)
        return lines

    def statement(self, scope: Scope, depth: int) -> list[str]:
        kinds = [self.assign] * 4 + [self.store] * 6 + [self.call] * 2 + [self.grow, self.keep]
        kinds += [self.augment, self.closure, self.tell, self.count_up, self.perhaps, self.shift]
        if depth == 0 or self.chance(50):  # an alias made by a branch may be refused
            kinds += [self.view] * 2 + [self.alias] * 2 + [self.swap] * 2 + [self.cell, self.pair]
        if depth < 3:
            kinds += [self.branch] * 4 + [self.loop] * 5 + [self.repeat] * 2
            kinds += [self.search] * 2 + [self.extreme]
        if scope.in_loop:
            kinds += [self.leave] * 2
        if depth < 2:
            kinds += [self.early_return]
        return self.choose(kinds)(scope, depth)

    def assign(self, scope: Scope, depth: int) -> list[str]:
        shape = self.choose(SHAPES)
        names = getattr(scope, shape)
        value = self.bounded(shape, scope)
        name = self.choose(names) if names and self.chance(60) else self.fresh(shape[0])
        if name not in names:
            names.append(name)
        return [f"{name} = {value}"]

    def augment(self, scope: Scope, depth: int) -> list[str]:
        shape = self.choose(SHAPES)
        operator = self.choose(["+=", "-=", "*="])
        value = self.bounded(self.choose(SHAPES[: SHAPES.index(shape) + 1]), scope)
        return [f"{self.choose(getattr(scope, shape))} {operator} {value}"]

    def store(self, scope: Scope, depth: int) -> list[str]:
        operator = self.choose(["=", "+=", "=", "*="])
        if self.chance(50):
            name, column = self.choose(scope.vector), self.column(scope)
            other = self.choose(scope.vector)
            target, value = self.choose(
                [(f"[{column}]", self.bounded(SCALAR, scope)),
                 (f"[{column}]", f"np.tanh({other}[{column}] + {other}[{self.column(scope)}])"),
                 ("[1:]", f"np.sin({other}[:-1])"), ("[:-1]", f"np.tanh({name}[1:])"),
                 ("[::2]", f"{self.bounded(SCALAR, scope)}"), ("[::-1]", f"np.sin({other})"),
                 (f"[{other} > 0.3]", self.bounded(SCALAR, scope)),
                 ("[:]", self.bounded(VECTOR, scope)),
                 ("[[0, -1]]", f"np.sin({other}[[1, 0]])"), ("[...]", self.bounded(VECTOR, scope))]
            )  # fmt: skip
            return [f"{name}{target} {operator} {value}"]
        name, row, column = self.choose(scope.matrix), self.row(scope), self.column(scope)
        target, value = self.choose(
            [(f"[{row}, {column}]", self.bounded(SCALAR, scope)),
             (f"[{row}]", self.bounded(VECTOR, scope)),
             (f"[{row}][{column}]", self.bounded(SCALAR, scope)),
             (f"[:, {column}]", f"np.sin({self.choose(scope.matrix)}[:, {self.column(scope)}])"),
             (f".T[{column}]", self.bounded(SCALAR, scope)),
             ("[:, 1:]", f"np.tanh({name}[:, :-1])"), ("[1:]", f"np.sin({name}[:-1])"),
             (f"[{row}, 1:]", f"np.sin({self.choose(scope.vector)}[1:])"),
             (f"[{name} > 0.2]", self.bounded(SCALAR, scope)),
             (".ravel()[1:3]", self.bounded(SCALAR, scope))]
        )  # fmt: skip
        return [f"{name}{target} {operator} {value}"]

    def view(self, scope: Scope, depth: int) -> list[str]:
        name = self.fresh("view")
        source = self.choose(scope.matrix)
        value = self.choose(
            [f"{source}[{self.row(scope)}]", f"{self.choose(scope.vector)}[:]",
             f"{self.choose(scope.vector)}[::-1]", f"{source}[{self.row(scope)}, :]",
             f"{source}.T[:, {self.row(scope)}]", f"{source}[::-1][0]",
             f"{self.choose(scope.vector)}[:][::-1]", f"{source}.ravel()[:len(v)]",
             f"{source}.reshape(-1)[-len(v):]", f"{source}.T.ravel()[:len(v)]",
             f"np.atleast_2d({self.choose(scope.vector)})[0]",
             f"({source}[0] if {self.condition(scope)} else {source}[-1])"]
        )  # fmt: skip
        scope.vector.append(name)
        return [f"{name} = {value}"]

    def alias(self, scope: Scope, depth: int) -> list[str]:
        shape = self.choose([VECTOR, MATRIX])
        name = self.fresh("alias")
        names = getattr(scope, shape)
        value = self.choose(names)
        if self.chance(40):
            value = f"({value} if {self.condition(scope)} else {self.choose(names)})"
        names.append(name)
        return [f"{name} = {value}"]

    def pair(self, scope: Scope, depth: int) -> list[str]:
        name = self.fresh("pair")
        first, second = self.choose(scope.vector), self.choose(scope.vector)
        value = self.choose(
            [f"[{first}, {second}]", f"[row for row in {self.choose(scope.matrix)}]",
             f"list({self.choose(scope.matrix)})", f"[{first}, {second}][::-1]"]
        )  # fmt: skip
        scope.vector += [f"{name}[0]", f"{name}[-1]"]
        return [f"{name} = {value}"]

    def call(self, scope: Scope, depth: int) -> list[str]:
        target = self.choose(scope.vector + scope.matrix + ["m[0]", "v[1:]", "m.T"])
        return self.choose(
            [[f"scale_in_place({target}, {self.expression(SCALAR, scope, 1)})"],
             [f"np.add.at({self.choose(scope.vector)}, [0, 0, 1], {self.bounded(SCALAR, scope)})"],
             [f"np.multiply({target}, {self.bounded(SCALAR, scope)}, out={target})"],
             [f"{self.choose(scope.vector)}.fill({self.bounded(SCALAR, scope)})"]]
        )  # fmt: skip

    def grow(self, scope: Scope, depth: int) -> list[str]:
        if scope.lists and self.chance(80):
            name = self.choose(scope.lists)
            value = self.bounded(SCALAR, scope)
            return [f"{name}.append({value})" if self.chance(75) else f"{name}[-1] = {value}"]
        name = self.fresh("items")
        line = f"{name} = [{self.bounded(SCALAR, scope)}]"
        scope.lists.append(name)
        return [line]

    def swap(self, scope: Scope, depth: int) -> list[str]:
        shape = self.choose(SHAPES)
        a, b = self.choose(getattr(scope, shape)), self.choose(getattr(scope, shape))
        vector = self.choose(scope.vector)
        return [
            f"{a}, {b} = {b}, {a}"
            if self.chance(70)
            else f"{vector}[0], {vector}[-1] = {vector}[-1], {vector}[0]"
        ]

    def keep(self, scope: Scope, depth: int) -> list[str]:
        if scope.dicts and self.chance(75):
            name = self.choose(scope.dicts)
            return self.choose(
                [[f"{name}['a'] = {self.bounded(VECTOR, scope)}"],
                 [f"{name}['a'][{self.column(scope)}] += {self.bounded(SCALAR, scope)}"],
                 [f"{name}['b'] = {self.bounded(SCALAR, scope)}"], [f"{name}['b'] += x"],
                 [f"{name}['a'] = {self.choose(scope.vector)} * 1.0"]]
            )  # fmt: skip
        name = self.fresh("table")
        value = self.choose([self.choose(scope.vector), self.bounded(VECTOR, scope)])
        scope.dicts.append(name)
        return [f"{name} = {{'a': {value}, 'b': x}}"]

    def cell(self, scope: Scope, depth: int) -> list[str]:
        name = self.fresh("cell")
        line = f"{name} = Cell({self.bounded(self.choose([SCALAR, VECTOR]), scope)})"
        scope.cells.append(name)
        return [line]

    def closure(self, scope: Scope, depth: int) -> list[str]:
        name, result = self.fresh("local"), self.fresh("s")
        captured = self.choose(scope.scalar)
        lines = [f"{name} = lambda a: np.sin(a) * {captured}"]
        if self.chance(50):
            lines += [f"{captured} = {self.bounded(SCALAR, scope)}"]
        lines += [f"{result} = {name}({self.expression(SCALAR, scope, 1)})"]
        scope.scalar.append(result)
        return lines

    def nested(self, scope: Scope, depth: int, **changes: object) -> list[str]:
        lines = self.block(scope.inner(**changes), 4, depth + 1)
        return ["    " + line for line in lines]

    def branch(self, scope: Scope, depth: int) -> list[str]:
        lines = [f"if {self.condition(scope)}:", *self.nested(scope, depth)]
        if self.chance(30):
            lines += [f"elif {self.condition(scope)}:", *self.nested(scope, depth)]
        if self.chance(60):
            lines += ["else:", *self.nested(scope, depth)]
        return lines

    def loop(self, scope: Scope, depth: int) -> list[str]:
        inside = {"in_loop": scope.in_loop + 1}
        index, item = self.fresh("i"), self.fresh("e")
        vector, sums = self.choose(scope.vector), f"{self.choose(scope.matrix)}.sum(axis=0)"
        head, changes = self.choose(
            [(f"for {index} in range(len(v)):", {"columns": [*scope.columns, index]}),
             (f"for {index} in range(1, len(v)):", {"columns": [*scope.columns, index]}),
             (f"for {index} in reversed(range(n)):", {"columns": [*scope.columns, index]}),
             (f"for {index} in range(len(v) - 1, 0, -1):", {"columns": [*scope.columns, index]}),
             (f"for {index} in range(n):", {"columns": [*scope.columns, index]}),
             (f"for {index} in range({self.choose(scope.columns or ['n'])}):",
              {"columns": [*scope.columns, index]}),
             (f"for {index} in range(m.shape[0]):", {"rows": [*scope.rows, index]}),
             (f"for {item} in {vector}:", {"scalar": [*scope.scalar, item]}),
             (f"for {item} in {self.choose(scope.matrix)}:", {"vector": [*scope.vector, item]}),
             (f"for {index}, {item} in enumerate({vector}):",
              {"columns": [*scope.columns, index], "scalar": [*scope.scalar, item]}),
             (f"for {index}, {item} in zip(range(len(v)), {sums}):",
              {"columns": [*scope.columns, index], "scalar": [*scope.scalar, item]}),
             (f"for {item} in ({self.choose(scope.scalar)}, 0.5):",
              {"scalar": [*scope.scalar, item]})]
        )  # fmt: skip
        lines = [head, *self.nested(scope, depth, **inside, **changes)]
        if self.chance(10):
            lines += ["else:", *self.nested(scope, depth)]
        return lines

    def repeat(self, scope: Scope, depth: int) -> list[str]:
        count, moving = self.fresh("k"), self.choose(scope.scalar)
        test = self.choose(
            [f"{count} < n", f"{count} < 3 and {moving} < 0.8", f"{moving} < 0.5 and {count} < 4"]
        )
        changes = {"in_loop": scope.in_loop + 1}
        lines = [f"{count} = 0", f"while {test}:", f"    {count} += 1"]
        return [*lines, *self.nested(scope, depth, **changes)]

    def tell(self, scope: Scope, depth: int) -> list[str]:
        """A truth value that is made, or made anew."""
        value = self.condition(scope)
        if scope.flags and self.chance(75):
            name = self.choose(scope.flags)
            value = self.choose([value, f"{name} or ({value})", f"{name} and ({value})"])
            return [f"{name} = {value}"]
        name = self.fresh("flag")
        scope.flags.append(name)
        return [f"{name} = bool({value})"]

    def count_up(self, scope: Scope, depth: int) -> list[str]:
        if scope.counts and self.chance(75):
            return [f"{self.choose(scope.counts)} += 1"]
        name = self.fresh("count")
        scope.counts.append(name)
        return [f"{name} = 0"]

    def perhaps(self, scope: Scope, depth: int) -> list[str]:
        """A number that may be None."""
        if scope.maybe and self.chance(75):
            name, value = self.choose(scope.maybe), self.bounded(SCALAR, scope)
            return self.choose(
                [[f"if {self.condition(scope)}:", f"    {name} = {value}"],
                 [f"if {name} is not None:", f"    {name} = {name} * {value}"],
                 [f"if {name} is None:", f"    {name} = {value}"],
                 [f"if {name} is None or {name} < {value}:", f"    {name} = {value}"]]
            )  # fmt: skip
        name = self.fresh("maybe")
        scope.maybe.append(name)
        return [f"{name} = None"]

    def shift(self, scope: Scope, depth: int) -> list[str]:
        """Two numbers that move on together, as of a recurrence."""
        a, b = self.choose(scope.scalar), self.choose(scope.scalar)
        value = self.bounded(SCALAR, scope)
        # `x, x = x, value` is x in CPython 3.11.2
        return [f"{a} = {value}" if a == b else f"{a}, {b} = {b}, {value}"]

    def search(self, scope: Scope, depth: int) -> list[str]:
        """A while loop that a flag ends; its counter goes up anywhere in it."""
        count, flag = self.fresh("k"), self.fresh("found")
        lines = self.block(
            scope.inner(in_loop=scope.in_loop + 1, flags=[*scope.flags, flag]), 3, depth + 1
        )
        told = self.choose([[f"{flag} = bool({self.condition(scope)})"],
                            [f"if {self.condition(scope)}:", f"    {flag} = True"],
                            [f"if v[{count} % len(v)] > 0.1:", f"    {flag} = True"],
                            [f"{flag} = bool(v[{count} % len(v)] > 0.1)"]])  # fmt: skip
        step = f"{count} += 1"
        first = "continue" in " ".join(lines) or self.chance(50)
        lines = [step, *lines] if first else [*lines, step]
        at = self.choose([k for k, line in enumerate(lines) if line[:2] not in ("  ", "el")])
        lines = [*lines[:at], *told, *lines[at:]] if self.chance(70) else [*lines, *told]
        test = self.choose(
            [f"not {flag} and {count} < n", f"{count} < 4 and not {flag}", f"{count} < n"]
        )
        after = [f"if {flag}:", f"    v[{count} % len(v)] *= 0.5"] if self.chance(50) else []
        scope.counts.append(count)
        scope.flags.append(flag)
        head = [f"{count}, {flag} = 0, False", f"while {test}:"]
        return [*head, *("    " + line for line in lines), *after]

    def extreme(self, scope: Scope, depth: int) -> list[str]:
        """The largest element and where it is."""
        top, at, i = self.fresh("top"), self.fresh("at"), self.fresh("i")
        vector = self.choose(scope.vector)
        scope.scalar.append(top)
        scope.counts.append(at)
        return [
            f"{top}, {at} = {vector}[0] * 1.0, 0",
            f"for {i} in range(1, len(v)):",
            f"    if {vector}[{i}] * {self.expression(SCALAR, scope, 0)} > {top}:",
            f"        {top}, {at} = np.tanh({vector}[{i}]), {i}",
        ]

    def leave(self, scope: Scope, depth: int) -> list[str]:
        way = self.choose(["break", "continue"])
        return [f"if {self.condition(scope)}:", f"    {way}"]

    def early_return(self, scope: Scope, depth: int) -> list[str]:
        result = f"return 1.0 * {self.bounded(SCALAR, scope)}"
        return [f"if {self.condition(scope)}:", f"    {result}"]
