"""Numbers the values of a program: values that are surely equal have the same number."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.joining import stack_op
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.random_keys.key_slices import EACH, WHOLE, KeySlice, path_of


class Numbers:
    """The numbers of the variables seen so far, and what is known of each number."""

    def __init__(self) -> None:
        self.of: dict[Var, int] = {}
        self.table: dict[Hashable, int] = {}
        self.count = itertools.count()
        self.places: dict[int, KeySlice] = {}
        self.made_of: dict[int, tuple[int, ...]] = {}
        self.stacked: dict[int, tuple[int, ...]] = {}  # of arrays that are put together: the rows
        self.literals: dict[int, Any] = {}
        self.logic: dict[int, tuple[Any, tuple[int, ...]]] = {}  # what makes truth values
        self.choices: dict[int, tuple[int, int, int]] = {}  # test, and what it decides between
        self.passes: dict[int, tuple[int, int]] = {}  # of indices of loops: the loop, and the pass

    def fresh(self) -> int:
        return next(self.count)

    def number(self, key: Hashable, made_of: tuple[int, ...] = ()) -> int:
        """The number of what is told from others by `key`."""
        if key not in self.table:
            number = self.table[key] = self.fresh()
            self.made_of[number] = made_of
        return self.table[key]

    def __call__(self, a: Atom) -> int:
        if isinstance(a, Literal):
            number = self.number(("literal", type(a.value), repr(a.value), str(a.type)))
            self.literals[number] = a.value
            return number
        if a not in self.of:
            self.of[a] = self.fresh()
        return self.of[a]

    def all(self, atoms: Iterable[Atom]) -> list[int]:
        return [self(a) for a in atoms]

    def let(self, s: Let) -> None:
        """Gives the results of an operation their numbers."""
        args = self.all(s.args)
        if s.op in (identity, copy):
            self.of[s.outs[0]] = args[0]
            return
        if (constant := self.fold(s, args)) is not None:
            self.of[s.outs[0]] = self(constant)
            return
        params = frozen(s.params)
        if not s.op.pure or params is None:
            self.of |= {v: self.fresh() for v in s.outs}
            return
        for k, v in enumerate(s.outs):
            self.of[v] = number = self.number((s.op, *args, k, params), tuple(args))
            if _is_truth(v):
                self.logic[number] = (s.op, tuple(args))
        if s.op is stack_op and s.params["axis"] == 0:
            self.stacked[self.of[s.outs[0]]] = tuple(args)
        if s.op is index:
            self.place_part(self.of[s.outs[0]], s, args)

    def fold(self, s: Let, args: list[int]) -> Literal | None:
        """What an operation on integers that are known gives."""
        values = [self.literals.get(n) for n in args]
        if s.op.ufunc is None or not values or not all(isinstance(v, int) for v in values):
            return None
        with np.errstate(all="ignore"):
            value = s.op.ufunc(*values)
        return Literal(value.item(), s.outs[0].type) if value.dtype.kind in "bi" else None

    def index(self, span: tuple[int, ...], k: int) -> int:
        """The index of pass k of a loop over a span."""
        loop = self.number(("loop", *span))
        number = self.number(("index", loop, k))
        self.passes[number] = loop, k
        return number

    def place_part(self, number: int, s: Let, args: list[int]) -> None:
        if any(a.type.shape for a in s.args[1:]):
            return
        path = path_of(s.params["key"], args[1:], s.args[0].type.shape)
        part = None if path is None else self.place(args[0]).part(path)
        if part is not None:
            self.places[number] = part

    def place(self, n: int) -> KeySlice:
        """Which part of what a value is."""
        return self.places.get(n) or KeySlice(n)

    def rows(self, place: KeySlice) -> tuple[int, ...]:
        """The values that a part of an array is put together of; none if it cannot be said."""
        rows = self.stacked.get(place.root, ())
        step, *inner = place.path or (WHOLE,)
        if any(part != WHOLE for part in inner):
            return ()
        step = step[1] if isinstance(step, tuple) and step[0] == "each" else step
        if isinstance(step, int):
            return rows[step : step + 1]
        return rows[step] if isinstance(step, slice) else ()

    def row(self, batch: int, axis: int) -> int:
        """What vmap takes of a batch."""
        number = self.number(("row", batch, axis), (batch,))
        place = self.place(batch).part((*[WHOLE] * axis, EACH))
        if place is not None:
            self.places[number] = place
        return number

    def choice(self, test: int, a: int, b: int) -> int:
        """What is `a` or `b` by a test."""
        if a == b:
            return a
        number = self.number(("choice", test, a, b), (a, b))
        self.choices[number] = (test, a, b)
        return number

    def is_derived(self, n: int, blamed: set[int]) -> bool:
        """Whether a value is made of one of those."""
        pending, seen = list(self.made_of.get(n, ())), set[int]()
        while pending:
            number = pending.pop()
            if number in blamed:
                return True
            if number not in seen:
                seen.add(number)
                pending += self.made_of.get(number, ())
        return False

    def is_known(self, test: int, way: bool) -> bool:
        """Whether a test is a constant that goes this way."""
        return test in self.literals and bool(self.literals[test]) is way


def _is_truth(v: Var) -> bool:
    return isinstance(v.type, Type) and not v.type.shape and v.type.dtype.kind == "b"


def frozen(value: Any) -> Hashable | None:
    """A parameter of an operation as something that can be looked up; None if there is none."""
    if isinstance(value, slice):
        return ("slice", repr(value))
    if isinstance(value, (tuple, list, dict)):
        parts = value.items() if isinstance(value, dict) else value
        elements = tuple(map(frozen, parts))
        return None if None in elements else (type(value), *elements)
    try:
        hash(value)
    except TypeError:
        return None
    return ("value", type(value), value)
