"""Source text of random functions over lists of objects, which a comprehension makes, or which are
known: written out one by one.

A function takes a float x, a vector v of three numbers and a number of objects n. Loops over the
lists, over their indices and over pairs of these read and change the objects, whose arrays and
lists may be one; lists are filtered, copied, joined, turned and sorted; objects are put in the
places of others, appended, and compared by `is`. What it returns depends on all of them.
"""

from __future__ import annotations

import random

HEADER = """import numpy as np


class Body:
    def __init__(self, at, speed, mass):
        self.at = at
        self.speed = speed
        self.mass = mass
        self.path = [at, 0.5 * mass]
        self.pair = (0.5 * at, mass)

    def kick(self, a):
        self.speed += a
        self.at = np.tanh(self.at + 0.1 * self.speed[0])
"""

BY_LOOP = "[Body(v[i % 3] * x, v[:2] * (0.5 + 0.2 * i), 1.0 + 0.3 * i) for i in range(n)]"
WRITTEN_OUT = """[
        Body(v[0] * x, v[:2] * 0.5, 1.0),
        Body(v[1] * x, v[:2] * 0.7, 1.3),
        Body(v[2] * x, v[:2] * 0.9, 1.6),
    ]"""

START = """

def f(x, v, n):
    bodies = {bodies}
    others = bodies
    first = bodies[0]
    total = 0.1 * x
"""

END = """    for body in bodies:
        total = np.tanh(total + body.at * body.mass + 0.5 * body.speed[0] - 0.3 * body.speed[1])
        total = np.tanh(total + 0.2 * body.path[0] - 0.4 * body.path[1] + 0.3 * body.pair[0])
    return total + first.at
"""
DEEPEST = 3  # blocks in one another


class RecordWriter:
    """Writes a function: `bodies` are names of objects in scope, `lists` those of lists."""

    source = BY_LOOP

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.count, self.lists = rng, 0, ["bodies", "others"]

    def program(self) -> str:
        lines = [s for _ in range(self.rng.randint(2, 5)) for s in self.statement(["first"], 0)]
        start = START.format(bodies=self.source)
        return HEADER + start + "".join(f"    {line}\n" for line in lines) + END

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def number(self, bodies: list[str]) -> str:
        a, b = self.rng.choice(bodies), self.rng.choice(bodies)
        return self.rng.choice(
            [
                f"0.3 * {a}.at",
                f"np.sin({a}.speed[0] + {b}.mass)",
                f"0.1 * ({a}.speed @ {b}.speed)",
                f"0.2 * {a}.path[{self.rng.randrange(2)}]",
                f"0.1 * {a}.pair[{self.rng.randrange(2)}]",
                "0.5 * x",
                "0.1 * total",
                "0.1 * len(bodies)",
            ]
        )

    def test(self, bodies: list[str]) -> str:
        a, b = self.rng.choice(bodies), self.rng.choice(bodies)
        return self.rng.choice(
            [f"{a} is {b}", f"{a} is not {b}", f"{a}.at > {b}.at", f"{a}.mass < 1.5"]
        )

    def block(self, bodies: list[str], depth: int) -> list[str]:
        lines = [s for _ in range(self.rng.randint(1, 2)) for s in self.statement(bodies, depth)]
        return [f"    {line}" for line in lines]

    def statement(self, bodies: list[str], depth: int) -> list[str]:
        kinds = [self.change] * 4
        if depth < DEEPEST:
            kinds += [self.branch, self.loop, self.loop, self.count_through, self.second_name]
            kinds.append(self.pairs)
        if depth < DEEPEST - 1:
            kinds.append(self.near)
        if depth == 0:
            kinds += [self.exchange, self.grow, self.copy_list]
        return self.rng.choice(kinds)(bodies, depth)

    def change(self, bodies: list[str], depth: int) -> list[str]:
        a, b, e = self.rng.choice(bodies), self.rng.choice(bodies), self.number(bodies)
        return [
            self.rng.choice(
                [
                    f"{a}.at = {e}",
                    f"{a}.at += {e}",
                    f"{a}.speed = np.array([{e}, {b}.at])",
                    f"{a}.speed += {e}",
                    f"{a}.speed[{self.rng.randrange(2)}] = {e}",
                    f"{a}.speed = {b}.speed{self.rng.choice(['', '.copy()', ' * 0.5'])}",
                    f"{a}.kick({e})",
                    f"{a}.path[{self.rng.randrange(2)}] += {e}",
                    f"{a}.path = [{e}, {b}.path[0]]",
                    f"{a}.pair = ({e}, {b}.pair[0])",
                    f"{a}.pair = {b}.pair",
                    f"{a}.path = {b}.path{self.rng.choice(['', '[:]'])}",
                    f"total = np.tanh(total + {e})",
                ]
            )
        ]

    def branch(self, bodies: list[str], depth: int) -> list[str]:
        return [f"if {self.test(bodies)}:", *self.block(bodies, depth + 1)]

    def loop(self, bodies: list[str], depth: int) -> list[str]:
        body, items = self.name("body"), self.rng.choice(self.lists)
        head = self.rng.choice(
            [
                f"for {body} in {items}:",
                f"for _, {body} in enumerate({items}):",
                f"for {body} in reversed({items}):",
                f"for {body} in {items}[1:]:",
                f"for {body}, _ in zip({items}, {self.rng.choice(self.lists)}):",
            ]
        )
        return [head, *self.block([*bodies, body], depth + 1)]

    def count_through(self, bodies: list[str], depth: int) -> list[str]:
        k, items = self.name("k"), self.rng.choice(self.lists)
        span = self.rng.choice(["n", "n - 1", "1, n"])
        inside = [*bodies, f"{items}[{k}]", f"bodies[{k} - 1]", "bodies[-1]", "others[n - 1]"]
        return [f"for {k} in range({span}):", *self.block(inside, depth + 1)]

    def pairs(self, bodies: list[str], depth: int) -> list[str]:
        i, j, a, b = (self.name(stem) for stem in ("i", "j", "body", "body"))
        start = self.rng.choice(["", f"{i} + 1, ", f"{i}, "])
        inner = self.block([*bodies, a, b], depth + 2)
        return [
            f"for {i} in range(n):",
            f"    for {j} in range({start}n):",
            f"        {a}, {b} = {self.rng.choice(self.lists)}[{i}], bodies[{j}]",
            *(f"    {line}" for line in inner),
        ]

    def second_name(self, bodies: list[str], depth: int) -> list[str]:
        body = self.name("body")
        source = self.rng.choice(["bodies[0]", "bodies[-1]", "bodies[n // 2]", "first"])
        inner = [line[4:] for line in self.block([*bodies, body], depth + 1)]
        return [f"{body} = {source}", *inner]

    def near(self, bodies: list[str], depth: int) -> list[str]:
        near, body = self.name("near"), self.name("body")
        items, test = self.rng.choice(self.lists), self.test([*bodies, body])
        lines = self.block([*bodies, body], depth + 1)
        if depth == 0:
            self.lists.append(near)
        filtered = f"{near} = [{body} for {body} in {items} if {test}]"
        return [filtered, f"for {body} in {near}:", *lines]

    def exchange(self, bodies: list[str], depth: int) -> list[str]:
        new = f"Body({self.number(bodies)}, np.ones(2), 2.0)"
        item = self.rng.choice([new, "bodies[1]", "bodies[-1]", "first"])
        return [f"bodies[{self.rng.choice(['0', '-1', 'n // 2'])}] = {item}"]

    def grow(self, bodies: list[str], depth: int) -> list[str]:
        new = f"Body({self.number(bodies)}, np.ones(2), 2.0)"
        return [f"bodies.append({self.rng.choice([new, new, 'bodies[1]', 'first'])})"]

    def copy_list(self, bodies: list[str], depth: int) -> list[str]:
        name = self.rng.choice(["bodies", "others", self.name("items")])
        if name not in self.lists:
            self.lists.append(name)
        copied = self.rng.choice(
            [
                "bodies[:]",
                "list(bodies)",
                "bodies[::-1]",
                "sorted(bodies, key=lambda body: body.at)",
                "bodies + bodies",
                "bodies[1:] + bodies[:1]",
                "[body for body in bodies]",
                "[Body(body.at, body.speed, body.mass) for body in bodies]",
                "[Body(body.at, body.speed.copy(), body.mass) for body in bodies]",
            ]
        )
        return [f"{name} = {copied}"]


class KnownRecordWriter(RecordWriter):
    """The same over a list that is written out, which loops over it need not be."""

    source = WRITTEN_OUT
