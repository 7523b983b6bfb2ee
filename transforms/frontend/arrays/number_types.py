"""Remembers the types that a number has in Python where run-time values decide which.

s = 0 if x > 1 else 0.5        is a float in the program, and an int in Python where x > 1

What depends on the type, as `isinstance(s, int)` does, has no value for all data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.core.operation import types_given
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.shapes import cast

Answer = TypeVar("Answer")
WORDS = {"i": "int", "u": "int", "f": "float", "c": "complex", "b": "bool"}


def record_types(a: Atom, of: Iterable[Atom]) -> None:
    """Notes that a number of the program is one of others, each of its own type."""
    if isinstance(a, Var) and isinstance(a.type, Type) and not a.type.shape:
        trace().number_types[a] = frozenset(t for b in of for t in _types(b))


def record_types_of(x: Any, of: Iterable[Atom]) -> None:
    """The same of a number of the user's."""
    if isinstance(x, Value) and x.cell is not None:
        record_types(x.cell.atom, of)


def same_for_all(x: Value, type_of: Type, ask: Callable[[Type], Answer]) -> Answer:
    """What `ask` says of the type of a number; UnsupportedError if run-time values decide."""
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
    """The types that a value may have in Python: noted, or those that the operation which computes
    it gives for the types of its operands. They are kept, so that each is computed once."""
    if not isinstance(a, Var):
        return frozenset([a.type])
    types_of, definitions, pending = trace().number_types, trace().definitions, [a]
    while pending:
        b = pending[-1]
        statement = definitions.get(b)
        if b in types_of:
            pending.pop()
        elif statement is None or not _is_of_numbers(statement):
            types_of[b] = frozenset([b.type])
        elif waiting := [x for x in statement.args if isinstance(x, Var) and x not in types_of]:
            pending += waiting
        else:
            types_of[b] = _of_operands(statement)
    return types_of[a]


def _of_operands(s: Let) -> frozenset[Any]:
    """The types of a result, by those of the operands."""
    operands = [_types(x) for x in s.args]
    own = frozenset([s.outs[0].type])
    if all(len(types) == 1 for types in operands):
        return own
    if s.op.infer is types_given:  # a function of the user's
        return own.union(*operands)
    choices = itertools.product(*operands)
    return frozenset(s.op.infer(*map(Var, types), **s.params) for types in choices)


def _is_of_numbers(s: Let) -> bool:
    """Whether an operation computes one number of numbers, of which none is a truth value; a cast
    gives the type that it is asked for."""
    if s.op is cast or len(s.outs) != 1:
        return False
    return all(
        isinstance(a.type, Type) and not a.type.shape and a.type.dtype.kind != "b"
        for a in (*s.args, *s.outs)
    )


def _name(t: Type) -> str:
    return WORDS[t.dtype.kind] if t.weak else f"np.{t.dtype.name}"
