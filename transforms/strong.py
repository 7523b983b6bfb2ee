"""Scalars that are no Python scalars: where that decides a dtype, they are spelled with theirs.

np.float64(3.0) * x is of float64 where x is of float32; 3.0 * x would not be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Type,
    Var,
    blocks,
    operands,
    statements,
)
from tapeless.transforms.core.rewriting import substitute
from tapeless.transforms.dead_code import dead_code
from tapeless.transforms.ops.shapes import cast
from tapeless.transforms.text import number, template

PYTHON: dict[str, Any] = {"i": 0, "f": 0.0, "c": 0j}
RAISE = ("truediv", "floordiv", "mod", "power")  # where NumPy's numbers give inf or nan


def deciding(args: tuple[Atom, ...]) -> Iterator[int]:
    """The arguments of an elementwise operation that are constants and would not give the same
    dtype as Python scalars."""
    for k, a in enumerate(args):
        if type(a) is Literal and not a.type.weak and a.type.dtype.kind in PYTHON:
            strong = [o.type for o in args if type(o) is not Literal and not _weak(o)]
            found = {t.dtype for t in strong}
            if found and found != {a.type.dtype} and _decides(a, found):
                yield k


def forced(block: Block) -> set[tuple[Let, int]]:
    """The constants that are computed with Python scalars only, where the result decides a dtype:
    in `(K * s) * x`, where K is of float64, s a Python float and x of float32."""
    made: dict[Atom, Let] = {}
    found: set[tuple[Let, int]] = set()
    for s in statements(block):
        if not isinstance(s, Let) or not s.op.elementwise:
            continue
        computed = [a for a in s.args if a in made]
        others = {a.type.dtype for a in s.args if not (_scalar(a) or a in made or _is_test(a))}
        either = s.op.name == "select" and not s.outs[0].type.shape
        if not others or either:
            made |= {out: s for out in s.outs if not _weak(out)}
            continue
        for a in computed:
            if a.type.dtype.kind in PYTHON and _decides(a, others):
                found |= set(_sources(a, made))
    return found


def _is_test(a: Atom) -> bool:
    return a.type.dtype.kind == "b" and not a.type.shape


def _scalar(a: Atom) -> bool:
    return type(a) is Literal or _weak(a)


def _sources(a: Atom, made: dict[Atom, Let]) -> Iterator[tuple[Let, int]]:
    """The constant that a value has its dtype from, or each that it may be."""
    s = made[a]
    for k, arg in enumerate(s.args):
        known = arg in made
        if known:
            yield from _sources(arg, made)
        elif type(arg) is Literal and not arg.type.weak:
            yield s, k
            known = True
        if known and s.op.name != "select":
            return


def _weak(a: Atom) -> bool:
    return not isinstance(a.type, Type) or a.type.weak


def _decides(a: Atom, others: set[np.dtype[Any]]) -> bool:
    return bool(
        np.result_type(a.type.dtype, *others) != np.result_type(PYTHON[a.type.dtype.kind], *others)
    )


def typed(a: Atom) -> ast.expr:
    """A constant with its dtype."""
    assert isinstance(a, Literal)
    plain = a.value.item() if isinstance(a.value, np.generic) else a.value
    made: ast.expr = template(f"np.{a.type.dtype.name}({{0}})", {"0": number(plain)})
    return made


def plain(block: Block) -> Block:
    """The block without casts of Python's numbers to NumPy's that decide nothing."""
    found = Plain(block)
    drop = {v: a for v, a in found.casts.items() if v not in found.needed}
    return dead_code(substitute(block, drop)) if drop else block


class Plain:
    """Which numbers of NumPy's, made of Python's, matter.

    casts    how they were made
    needed   those that decide a dtype, or whether an error is raised
    of       for each value that would be Python's without some of them, which those are
    """

    def __init__(self, block: Block) -> None:
        self.casts: dict[Var, Atom] = {}
        self.needed: set[Var] = set()
        self.of: dict[Atom, set[Var]] = {}
        self.block(block)

    def block(self, block: Block) -> None:
        for s in block.body:
            if isinstance(s, Let):
                self.let(s)
                continue
            self.keep(operands(s))
            for b in blocks(s):
                self.block(b)
                self.keep(b.results)

    def keep(self, values: Iterable[Atom]) -> None:
        self.needed.update(*(self.of.get(a, ()) for a in values))

    def let(self, s: Let) -> None:
        sources = set[Var]().union(*(self.of.get(a, ()) for a in s.args))
        if _of_python(s):
            self.casts[s.outs[0]] = s.args[0]
            self.of[s.outs[0]] = {s.outs[0], *sources}
        elif s.op.elementwise and not self.decides(s):
            if not self.others(s):
                self.of |= {v: sources for v in s.outs if v.type.dtype.kind in PYTHON}
        else:
            self.needed |= sources

    def decides(self, s: Let) -> bool:
        others = self.others(s)
        if not others:
            return s.op.name in RAISE
        return any(_decides(a, others) for a in s.args if a in self.of)

    def others(self, s: Let) -> set[np.dtype[Any]]:
        """The dtypes of arguments that are NumPy's in any case; tests have no say."""
        found = (a for a in s.args if not (_scalar(a) or a in self.of or _is_test(a)))
        return {a.type.dtype for a in found}


def _of_python(s: Let) -> bool:
    """Whether a statement makes a number of NumPy's of one of Python's."""
    if s.op is not cast or s.params.get("python") or not _weak(s.args[0]):
        return False
    dtype = s.outs[0].type.dtype
    return bool(dtype == s.args[0].type.dtype and dtype.kind in "fc")
