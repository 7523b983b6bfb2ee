"""Writes reads and stores by arrays of indices outside of kernels.

y = x[k, 1:]      becomes      for i: for j: { at = k[i]; if (at is outside) return 1;
                                               y[i * 2 + j] = x[at * 3 + 1 + j]; }
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapeless.transforms.c.counted_values import CountedValues
from tapeless.transforms.c.strided import ZERO, Steps, Strided, product_of, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import ExpressionPrinter
from tapeless.transforms.c_text.statements import out_of_bounds
from tapeless.transforms.c_text.values import (
    POSTFIX,
    CValue,
    NotPrintedError,
    cast,
    constant,
)
from tapeless.transforms.core.language import Atom, Let
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.lowering.schedule.view_indices import Entry, Place, key_entries
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    FIRST_PLACE,
    Slot,
    add_at,
    gather,
    update,
)


class IndexArrays(CountedValues):
    """Elements that arrays of indices name, one after the other: of a place that is stored to
    twice, the last store stays."""

    def operation(self, s: Let) -> None:
        entries = self.entries_by_arrays(s)
        if entries is None:
            super().operation(s)
        elif s.op is gather:
            lengths = self.lengths_by_arrays(s, entries)
            out = self.make(s.outs[0], lengths)
            self.by_arrays(s, entries, out.lengths, out.strides, out.element, reads=True)
        else:
            self.stored_by_arrays(s, entries)

    @staticmethod
    def entries_by_arrays(s: Let) -> tuple[Entry, ...] | None:
        """The entries of a key, if arrays of indices are among them."""
        if s.op not in (gather, update, add_at):
            return None
        rest = s.args[FIRST_PLACE[s.op] :]
        entries: tuple[Entry, ...] | None = key_entries(
            s.params["key"], rest, s.args[0].type.shape, clipped=True
        )
        named = any(isinstance(e, Place) and e.axes for e in entries or ())
        return entries if named else None

    def stored_by_arrays(self, s: Let, entries: Sequence[Entry]) -> None:
        base, value = self.view(s.args[0]), s.args[1]
        if self.is_constant(base):
            raise NotPrintedError("a store to an argument that is none")
        lengths = self.lengths_by_arrays(s, entries)
        if not value.type.shape:
            number = cast(self.number(value), base.dtype)
            self.by_arrays(s, entries, lengths, (ZERO,) * len(lengths), lambda _: number.text)
        else:
            view = self.view(value)
            if view.memory == base.memory:  # else loop form has copied what is read
                raise NotPrintedError("a store of a part of an array to itself outside of kernels")
            steps = self.broadcast_strides(view, lengths)
            self.by_arrays(s, entries, lengths, steps, view.element)
        self.know(s.outs[0], base)

    def lengths_by_arrays(self, s: Let, entries: Sequence[Entry]) -> tuple[CValue, ...]:
        """How many elements there are along each axis of what a key names."""
        base, rest = self.view(s.args[0]), s.args[FIRST_PLACE[s.op] :]
        lengths: dict[int, CValue] = {}
        for entry, n in zip(entries, base.lengths, strict=True):
            if isinstance(entry, Place):
                pairs = zip(entry.axes, self.lengths_at(entry, rest), strict=True)
                lengths |= {axis: length for axis, length in pairs if axis is not None}
            elif entry.axis is not None:
                lengths[entry.axis] = self.length(entry, n, rest)
        count = max(lengths, default=-1) + 1
        if s.op is gather:
            count = len(s.outs[0].type.shape)
        return tuple(lengths.get(axis, constant(1)) for axis in range(count))

    def lengths_at(self, entry: Place, rest: Sequence[Atom]) -> tuple[CValue, ...]:
        return (
            self.view(rest[entry.at.k]).lengths if isinstance(entry.at, Slot) and entry.axes else ()
        )

    def by_arrays(
        self,
        s: Let,
        entries: Sequence[Entry],
        lengths: Sequence[CValue],
        steps: Sequence[CValue],
        element: object,
        reads: bool = False,
    ) -> None:
        """A loop over all elements that a key names. `element` is the text of the other side, for
        its place, which has these steps; `reads`: it is what gets a value."""
        assert callable(element)
        base, rest = self.view(s.args[0]), s.args[FIRST_PLACE[s.op] :]
        offset, own = base.offset, [ZERO] * len(lengths)
        arrays: list[tuple[int, Strided, Steps]] = []
        for axis, entry in enumerate(entries):
            stride, n = base.strides[axis], base.lengths[axis]
            if not isinstance(entry, Place):
                offset = sum_of(offset, product_of(self.slice_start(entry, n, rest), stride))
                if entry.axis is not None:
                    own[entry.axis] = product_of(stride, constant(entry.step))
            elif entry.axes:
                assert isinstance(entry.at, Slot)
                view, along = self.view(rest[entry.at.k]), [ZERO] * len(lengths)
                for k, step in zip(entry.axes, view.strides, strict=True):
                    if k is not None:
                        along[k] = step
                arrays.append((axis, view, tuple(along)))
            else:
                at = self.index(self.slot(entry.at, rest), n, axis, s)
                offset = sum_of(offset, product_of(at, stride))
        sign = "+=" if s.op is add_at else "="

        def text(places: Sequence[CValue]) -> str:
            place, there, *of_arrays = places
            place = sum_of(offset, place)
            for (axis, view, _), at in zip(arrays, of_arrays, strict=True):
                index = self.checked_index(
                    CValue(view.element(at), view.dtype, POSTFIX), axis, base
                )
                place = sum_of(place, product_of(index, base.strides[axis]))
            here = f"{base.memory}[{place.text}]"
            return f"{element(there)} = {here};" if reads else f"{here} {sign} {element(there)};"

        self.loop_over_elements(
            lengths, (tuple(own), steps, *(along for _, _, along in arrays)), text, s
        )

    def checked_index(self, k: CValue, axis: int, base: Strided) -> CValue:
        """An index from an array, counted from the start, after the test that there is such an
        element."""
        name, n = self.fresh("at_"), base.lengths[axis]
        error = out_of_bounds(axis)
        self.put(f"const i64 {name} = {cast(k, INT).text};")
        at = CValue(name, INT)
        below = arithmetic.compare(ast.Lt(), at, arithmetic.unary(ast.USub(), n))
        outside = ExpressionPrinter.and_or(False, [below, arithmetic.compare(ast.GtE(), at, n)])
        self.put(f"if ({outside.text}) return {self.code(error)};")
        return self.from_start(at, n)
