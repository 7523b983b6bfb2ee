"""Finds the array whose rows are a value in all passes of a loop, where there is one already.

for i in range(n): v = x[i + 1]      v in all passes is x[1 : n + 1]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index

WHOLE = (slice(None), slice(0, None))


class RowsOfPasses:
    """The passes of a loop of `count` passes, the index of the first of which is `start`."""

    def __init__(
        self, at: Var, start: int, count: Size, definitions: Mapping[Any, Any], inside: set[Var]
    ) -> None:
        self.at, self.start, self.count = at, start, count
        self.definitions, self.inside = definitions, inside

    def of(self, v: Atom) -> Callable[[], Atom] | None:
        """What records, in the open block, the array whose row k is a value in pass k; None if
        the array has to be filled first."""
        s = self.definitions.get(v)
        if not isinstance(s, Let) or s.op is not index or s.args[0] in self.inside:
            return None
        key, array = s.params["key"], s.args[0]
        first = self.shift(s.args[-1])
        if first is None or len(s.args) != 2 or not _is_row(key):
            return None
        if first == 0 and array.type.shape[0] == self.count:
            return lambda: array
        if not dims.at_least(array.type.shape[0], self.count + first):
            return None  # NumPy would raise an error
        rows = slice(first or None, self.count + first)
        return lambda: index(array, key=(rows,))

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


def _is_row(key: Any) -> bool:
    """Whether a key picks one entry of the first axis."""
    return (
        bool(key)
        and isinstance(key[0], Slot)
        and key[0].k == 0
        and all(e in WHOLE for e in key[1:])
    )
