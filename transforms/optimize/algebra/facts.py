"""Answers what rules ask about an atom: what defines it, and whether it can be replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.ops.primitives import new_arrays, shapes
from tapeless.transforms.ops.primitives.arithmetic import mul, neg
from tapeless.transforms.ops.primitives.constant_folding import is_number

Uses = Mapping[Var, int]  # how often variables are read; those made by rules are not in it
Rule = Callable[[Let, Uses], Any]

#: Whether products, quotients and sums stay as they are written, to the last digit.
as_written: ContextVar[bool] = ContextVar("as_written", default=False)


def operand_of_negation(a: Atom) -> Any:
    """x for -x, else None."""
    let = defining_statement(a, neg)
    return let.args[0] if let is not None and a.type.dtype.kind in "fc" else None


def number(a: Atom) -> Any:
    """The value of a Python number, else None."""
    if isinstance(a, Literal) and a.type.weak and type(a.value) in (int, float):
        return a.value
    return None


def coefficient_and_value(a: Atom) -> tuple[Any, Atom]:
    """(c, x) for c * x with a Python number c, (-1, x) for -x, else (1, a)."""
    let = defining_statement(a, mul)
    if let is not None and (c := number(let.args[0])) is not None:
        return c, let.args[1]
    if (inner := operand_of_negation(a)) is None:
        return 1, a
    c, x = coefficient_and_value(inner)
    return -c, x


def is_zeros(a: Atom) -> bool:
    """Whether all elements of an array are a zero that is known now."""
    let = defining_statement(a, new_arrays.zeros, new_arrays.full, shapes.broadcast_to)
    return let is not None and (let.op is new_arrays.zeros or is_number(let.args[0], 0))


def fits(a: Atom, t: Type) -> bool:
    """Whether an atom has the dtype and the shape of a result: sizes with other names are equal,
    or broadcasting would have failed."""
    return a.type.dtype == t.dtype and same_shape(a.type.shape, t.shape)


def same_shape(a: tuple[Size, ...], b: tuple[Size, ...]) -> bool:
    return len(a) == len(b) and all((m == 1) == (n == 1) for m, n in zip(a, b, strict=True))


def is_read_once(a: Atom, uses: Uses) -> bool:
    """Whether a value is read here only, so that it goes away if it is not read here."""
    return isinstance(a, Var) and uses.get(a, 1) <= 1


def is_float(*atoms: Atom) -> bool:
    return all(a.type.dtype.kind == "f" for a in atoms)


def as_precise(s: Let, *atoms: Atom) -> bool:
    """Whether what is computed of these first has the dtype of a result, or is Python's number: of
    another dtype it would be rounded, overflow or wrap around elsewhere."""
    return all(a.type.weak or a.type.dtype == s.outs[0].type.dtype for a in atoms)


def is_integer(a: Atom) -> bool:
    """Whether an atom is a Python integer, which never overflows."""
    return bool(a.type.dtype.kind == "i" and a.type.weak)


def short(value: float, *others: float) -> bool:
    """Whether a number reads as well as those that it was made of."""
    return len(repr(value)) <= max([6, *(len(repr(float(v))) for v in others)])
