"""Finds the array whose rows are a value in all passes of a loop, where there is one already.

for i in range(n): v = x[i + 1]      v in all passes is x[1 : n + 1]
for i in range(n): v = x[:, i]       v in all passes is x[:, :n].T
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.shapes import transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index

WHOLE = (slice(None), slice(0, None))


class RowsOfPasses:
    """The passes of a loop of `count` passes, the index of the first of which is `start`."""

    def __init__(
        self, at: Var, start: int, count: Size, definitions: Mapping[Any, Any], inside: set[Var]
    ) -> None:
        self.at, self.start, self.count = at, start, count
        self.definitions, self.inside = definitions, inside

    def rows_of(self, v: Atom) -> Callable[[], Atom] | None:
        """What records, in the open block, the array whose row k is a value in pass k; None if
        the array has to be filled first."""
        s = self.definitions.get(v)
        if not isinstance(s, Let) or s.op is not index or s.args[0] in self.inside:
            return None
        array, axis = s.args[0], _axis_of_passes(s.params["key"])
        first = self.shift(s.args[-1])
        if first is None or axis is None:
            return None
        n = array.type.shape[axis]
        if not dims.at_least(n, self.count + first):
            return None  # NumPy would raise an error
        some = slice(first or None, self.count + first)
        key = (*[slice(None)] * axis, some)
        order = (axis, *(k for k in range(array.type.ndim) if k != axis))

        def rows() -> Atom:
            of_all = array if first == 0 and n == self.count else index(array, key=key)
            return transpose(of_all, axes=order) if axis else of_all

        return rows

    def shift(self, a: Atom) -> int | None:
        """The place that an index of a row has in the first pass, if it goes on by one a pass."""
        if a is self.at:
            return self.start
        s = self.definitions.get(a)
        if not isinstance(s, Let) or s.op not in (add, sub) or s.args[0] is not self.at:
            return None
        by = s.args[1]
        if not isinstance(by, Literal) or type(by.value) is not int:
            return None
        first = self.start + (by.value if s.op is add else -by.value)
        return first if first >= 0 else None


def _axis_of_passes(key: Any) -> int | None:
    """The axis of which a key picks one entry, if it takes the others whole."""
    axes = [k for k, e in enumerate(key) if e not in WHOLE]
    return axes[0] if len(axes) == 1 and isinstance(key[axes[0]], Slot) else None
