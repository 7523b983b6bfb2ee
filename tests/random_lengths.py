"""Source text of random functions whose loops make arrays, or lists of numbers, longer and shorter.

A function takes a vector x of five numbers, a number p and a number of passes n; a and b are the
arrays or lists, s a number, q a list. Statements are written from templates, in which {v} is one of
the arrays and {w} the other one, {s} a number, {c} a constant; ";" begins a line.
"""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Templates:
    """What a program is written from, between "|": what a and b begin with, how they change, the
    tests of branches, and the results."""

    begins: str
    changes: str
    tests: str
    results: str


LOOPS = """for i in range(n):|for i in range(n, 0, -1):|for i in range(1, n):
while len(a) > 2 and i < 8:|while len(a) < 9 and i < 8:|while s < 5 and i < 7:"""
NUMBERS = (
    """x[i % len(x)]|s * 0.1|{v}[-1]|{c}|np.sin(s)|{v}[0] * 0.5|p|np.tanh(s) * {v}[len({v}) // 2]"""
)
ENDS = "len(a) > 12|len(a) == 0|s > 50"

ARRAYS = Templates(
    begins="""np.empty(0)|np.zeros(1)|np.array([p])|x.copy()|x[:3].copy()|np.array([p, 0.5])
x * p|np.arange(4) * p|x[::2].copy()|x + 1|np.ones(3) * p""",
    changes="""{v} = np.append({v}, {s})|{v} = np.append({v}, [{s}, {s}])|{v} = {v}[1:]
{v} = {v}[:-1]|{v} = np.concatenate([{v}, {w}[:2]])|{v} = {v}[1:-1]
{v} = 0.5 * ({v}[1:] + {v}[:-1])|{v} = {v}[::2]
{v} = np.hstack([{s}, {v}])|{v} = np.delete({v}, np.argmin({v}))|{v} = np.insert({v}, 0, {s})
{v} = {v}[{v} > {c}]|{v} = {v}[::-1] * {c}|{v} = np.sin({v})|{v} = np.diff({v})|{v} = np.cumsum({v})
{v} = {v}[:max(len({v}) // 2, 1)]|{v}, {w} = {w}, np.append({v}, {s})|{v}, {w} = {w}[1:], {v}
{w} = {v}.copy()|{w} = {v}|{v} = np.zeros(len({v}) + 1) + {s}|{v} = np.sort({v})
{v} = np.concatenate([{v}[1:], {v}[:1]])|{v} = np.repeat({v}, 2)|{v}[0] = {s}|{v}[-1] *= {c}
y = np.zeros(2 * len({v}) - 1); y[::2] = {v}; y[1::2] = 0.5 * ({v}[1:] + {v}[:-1]); {v} = y
{v}[:len({v}) // 2] += {c}|s += {v}[0] * {c}|s += {v}[-1]|s += np.sum({v})|s += len({v}) * {c}
s += np.sum({v}[1:] * {v}[:-1])|s += np.max({v})|s += np.mean({v}) * {s}|q.append(np.sum({v}))
{v} = np.where({v} > {c}, {v}, 0.0)|{v} = {v} - np.mean({v})|{v} = np.clip({v}, -2, 2)
{v} = np.convolve({v}, np.array([0.5, 0.25]))|q.append({v}[0])""",
    tests="""s > {c}|{v}[0] > {c}|len({v}) > 3|i % 2 == 0|np.sum({v}) < {c}|x[i % len(x)] > {c}""",
    results="""s + np.sum(a)|s + np.sum(a) * 0.1 + np.sum(b)|s + np.sum(a[:2])|s + len(a)
s + np.sum(b) + sum(q)|s + np.sum(a) + len(q) * 0.1""",
)
LISTS = Templates(
    begins="""[]|[p]|[p, 0.5]|[0.0]|[x[0], x[1], p]|[v for v in x]|list(x)
[v for v in x if v > 0.1]""",
    changes="""{v} = {v} + [{s}]|{v} = [{s}] + {v}|{v} = {v} + [{s}, {s}]|{v} = {v} + {w}[:2]
{v} = {v}[1:]|{v} = {v}[:-1]|{v}.append({s})|{v} = list({v})|{v} = {v}.copy(); {v}.append({s})
{w} = {v}|{w} = {v} + []|{v}[0] = {s}|{v}[-1] += {c}|{v}.pop()|{v} = [z * {c} for z in {v}]
{v} = [z for z in {v} if z > {c}]|{v} = {v}[::-1]|{v} = {v} + [sum({v})]|s += {v}[0]|s += sum({v})
s += {v}[-1] * {c}|s += len({v}) * {c}|{v}, {w} = {w}, {v} + [{s}]|{v} = {v}[-2:] + [{s}]
{v} = [{s}]|{v} = []|{v} += [{s}]|s += max({v})|q = {v}|s += sum(q) * 0.1|{v} = [*{v}, {s}]
s += np.sum(np.array({v}))|{v} = sorted({v})""",
    tests="""s > {c}|{v}[0] > {c}|len({v}) > 3|i % 2 == 0|sum({v}) < {c}|x[i % len(x)] > {c}""",
    results="""s + sum(a)|s + sum(a) * 0.1 + sum(b)|s + len(a) + sum(q)|s + sum(b)
s + np.sum(np.array(a))""",
)


def choices(text: str) -> list[str]:
    return text.replace("\n", "|").split("|")


class Writer:
    """Writes one program."""

    def __init__(self, seed: int, templates: Templates) -> None:
        self.random, self.templates = random.Random(seed), templates

    def one_of(self, text: str) -> str:
        """One of the templates, filled in."""
        arrays = self.random.sample("ab", 2)
        line = self.random.choice(choices(text))
        while "{s}" in line:
            line = line.replace("{s}", self.random.choice(choices(NUMBERS)), 1)
        while "{c}" in line:
            line = line.replace("{c}", self.random.choice(["0.3", "0.7", "-0.2", "0.9"]), 1)
        return line.replace("{v}", arrays[0]).replace("{w}", arrays[1])

    def changes(self) -> list[str]:
        return self.one_of(self.templates.changes).split("; ")

    def statement(self) -> list[str]:
        """A change, perhaps under a test."""
        if self.random.random() > 0.2:
            return self.changes()
        lines = [
            f"if {self.one_of(self.templates.tests)}:",
            *(f"    {line}" for line in self.changes()),
        ]
        if self.random.random() < 0.4:
            lines += ["else:", *(f"    {line}" for line in self.changes())]
        return lines

    def program(self) -> str:
        loop = self.one_of(LOOPS)
        body = [line for _ in range(self.random.randint(1, 4)) for line in self.statement()]
        if loop.startswith("while"):
            body.append("i += 1")
        if self.random.random() < 0.3:
            body += [f"if {self.one_of(ENDS)}:", "    break"]
        lines = [
            *(
                f"a = {self.one_of(self.templates.begins)}",
                f"b = {self.one_of(self.templates.begins)}",
                "s, q, i = 0.0, [], 0",
            ),
            *(
                loop,
                *(f"    {line}" for line in body),
                f"return {self.one_of(self.templates.results)}",
            ),
        ]
        return "import numpy as np\n\n\ndef f(x, p, n):\n" + "".join(f"    {z}\n" for z in lines)
