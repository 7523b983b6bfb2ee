"""Remembers the types that a number has in Python where data decides which.

s = 0 if x > 1 else 0.5        is a float in the program, and an int in Python where x > 1

What depends on the type, as `isinstance(s, int)` does, has no value for all data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace

Answer = TypeVar("Answer")
WORDS = {"i": "int", "u": "int", "f": "float", "c": "complex", "b": "bool"}


def record_types(a: Atom, of: Iterable[Atom]) -> None:
    """Notes that a number of the program is one of others, each of its own type."""
    if not isinstance(a, Var) or not isinstance(a.type, Type) or a.type.shape:
        return
    types = frozenset(t for b in of for t in _types(b))
    if len({(t.dtype, t.weak) for t in types}) > 1:
        trace().number_types[a] = types


def same_for_all(x: Value, type_of: Type, ask: Callable[[Type], Answer]) -> Answer:
    """What `ask` says of the type of a number; UnsupportedError if data decides."""
    types = {type_of} if x.cell is None else _types(x.cell.atom)
    answers = [ask(t) for t in types]
    if any(answer != answers[0] for answer in answers):
        names = " or ".join(sorted({_name(t) for t in types}))
        raise UnsupportedError(
            f"the type of a number that is {names}, as data decides",
            "give it one type on all ways: 0.0 instead of 0, or float(...)",
        )
    return answers[0]


def _types(a: Atom) -> frozenset[Any]:
    """The types that a value may have in Python."""
    alone = frozenset([a.type])
    return trace().number_types.get(a, alone) if isinstance(a, Var) else alone


def _name(t: Type) -> str:
    return WORDS[t.dtype.kind] if t.weak else f"np.{t.dtype.name}"
