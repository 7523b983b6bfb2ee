"""Tells which part of an array of keys a value is, and whether two parts have a key in common.

keys[0], keys[1]        have none
keys[0], keys[:2]       have
keys[i], keys[j]        are not known to have
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.index_keys import Slot

WHOLE = slice(None)
EACH = ("each", WHOLE)  # what vmap takes of an axis


@dataclass(frozen=True)
class KeySlice:
    """A part of the array with the number `root`.

    path  for each axis an integer, a slice, ("each", slice) of vmap, or ("at", n) for the index
          with the number n; axes that are not there are whole
    """

    root: int
    path: tuple[Any, ...] = ()

    def part(self, path: tuple[Any, ...]) -> KeySlice | None:
        """The part at a path of this one; None where it cannot be said."""
        remaining, keys = list(path), []
        for step in self.path:
            part = remaining.pop(0) if remaining and isinstance(step, slice) else WHOLE
            if part == WHOLE:
                keys.append(step)
            elif step == WHOLE:
                keys.append(part)
            elif part == EACH:
                keys.append(("each", step))
            else:
                return None
        return KeySlice(self.root, (*keys, *remaining))

    def meets(self, other: KeySlice) -> bool:
        """Whether some key is surely in both."""
        pairs = zip(self.path, other.path, strict=False)
        return self.root == other.root and all(_meet(a, b) for a, b in pairs)


def path_of(key: Any, numbers: list[int], shape: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The path that the key of an index names; `numbers` are those of its atoms."""
    keys: list[Any] = []
    for k, step in enumerate(key):
        if isinstance(step, Slot):
            keys.append(("at", numbers[step.k]))
        elif isinstance(step, int) and k < len(shape):
            length = shape[k]
            if step < 0 and not isinstance(length, int):
                return None
            keys.append(step + length if step < 0 else step)
        elif isinstance(step, slice) and _is_plain(step):
            keys.append(step)
        else:
            return None
    return tuple(keys)


def _is_plain(s: slice) -> bool:
    """Whether it is known where a slice lies."""
    bounds = all(b is None or (isinstance(b, int) and b >= 0) for b in (s.start, s.stop))
    return bounds and s.step in (None, 1)


def _meet(a: Any, b: Any) -> bool:
    a, b = (s[1] if isinstance(s, tuple) and s[0] == "each" else s for s in (a, b))
    if a == b or WHOLE in (a, b):
        return True
    if isinstance(a, tuple) or isinstance(b, tuple):
        return False
    (low, high), (start, stop) = _span(a), _span(b)
    return max(low, start) < min(high, stop)


def _span(step: int | slice) -> tuple[float, float]:
    if isinstance(step, int):
        return step, step + 1
    return step.start or 0, float("inf") if step.stop is None else step.stop
