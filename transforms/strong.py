"""Constants that are no Python scalars: where that decides a dtype, they are spelled with theirs.

np.float64(3.0) * x is of float64 where x is of float32; 3.0 * x would not be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Literal, Type
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


def _weak(a: Atom) -> bool:
    return not isinstance(a.type, Type) or a.type.weak


def _decides(a: Literal, others: set[np.dtype[Any]]) -> bool:
    return bool(
        np.result_type(a.type.dtype, *others) != np.result_type(PYTHON[a.type.dtype.kind], *others)
    )


def typed(a: Atom) -> ast.expr:
    """A constant with its dtype."""
    assert isinstance(a, Literal)
    plain = a.value.item() if isinstance(a.value, np.generic) else a.value
    made: ast.expr = template(f"np.{a.type.dtype.name}({{0}})", {"0": number(plain)})
    return made
