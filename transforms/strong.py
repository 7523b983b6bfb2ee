"""Constants that are no Python scalars: where that decides a dtype, they are spelled with theirs.

np.float64(3.0) * x is of float64 where x is of float32; 3.0 * x would not be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Block, Let, Literal, Type, statements
from tapeless.transforms.text import number, template

PYTHON: dict[str, Any] = {"i": 0, "f": 0.0, "c": 0j}


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
        others = {a.type.dtype for a in s.args if not (_scalar(a) or a in made)}
        if not others:
            made |= {out: s for out in s.outs if not _weak(out)}
        for a in computed:
            if others and a.type.dtype.kind in PYTHON and _decides(a, others):
                found |= set(_sources(a, made))
    return found


def _scalar(a: Atom) -> bool:
    return type(a) is Literal or _weak(a)


def _sources(a: Atom, made: dict[Atom, Let]) -> Iterator[tuple[Let, int]]:
    """The constant that a value has its dtype from."""
    s = made[a]
    for k, arg in enumerate(s.args):
        if arg in made:
            yield from _sources(arg, made)
            return
        if type(arg) is Literal and not arg.type.weak:
            yield s, k
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
