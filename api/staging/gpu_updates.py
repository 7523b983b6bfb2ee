"""Updates arrays on a GPU functionally: `x.at[key].set(v)` is a changed copy, made by a kernel.

x.at[1:, k].add(v)      becomes      jit(update)(x, [k], v), a program for the shape of the key

CuPy's own stores let any of several values for one element win, and wrap indices around.
"""

from __future__ import annotations

import functools
from typing import Any

from tapeless.transformations.compilation.jit import jit
from tapeless.transforms.frontend.arrays import functional_updates as updates

__staged__ = True  # plain code: a staged run enters it


class GpuUpdateAt:
    """What `x.at` is: an index chooses elements."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> GpuUpdate:
        return GpuUpdate(self.array, key)


class GpuUpdate:
    """Elements of an array on a GPU, which a kernel reads, or replaces in a copy."""

    def __init__(self, array: Any, key: Any) -> None:
        self.array, self.key = array, key

    def __getattr__(self, method: str) -> Any:
        if method not in CHANGES:
            raise AttributeError(f"x.at[...] has no {method!r}; it has {', '.join(CHANGES)}")
        return functools.partial(_changed_copy, method, self.array, self.key)


CHANGES = (
    *("get", "set", "add", "subtract", "multiply", "mul", "divide", "power"),
    *("min", "max", "apply"),
)


def _changed_copy(method: str, array: Any, key: Any, *values: Any, **how: Any) -> Any:
    """`array.at[key].method(*values)`, by a program for the GPU: made once for a kind of key."""
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [k for k in parts if not isinstance(k, slice) and k is not None and k is not Ellipsis]
    fixed = tuple(Ellipsis if k is Ellipsis else _frozen(k) for k in parts)
    static = tuple(sorted(how.items()))
    if method == "apply":
        return _updater(method, fixed, static, values[0])(array, arrays)
    return _updater(method, fixed, static, None)(array, arrays, *values)


def _frozen(k: Any) -> Any:
    """What a program is made for: slices; where it has an argument instead, that."""
    return ("slice", k.start, k.stop, k.step) if isinstance(k, slice) else k is None


@functools.lru_cache(256)
def _updater(method: str, fixed: Any, static: Any, function: Any) -> Any:
    how = dict(static)

    def update(array: Any, arrays: Any, *values: Any) -> Any:
        rest = list(arrays)
        key = tuple(_thaw_key(k, rest) for k in fixed)
        chosen = getattr(updates.At(array)[key], method)
        return chosen(*(() if function is None else (function,)), *values, **how)

    update.__name__ = f"at_{method}"
    return jit(update, backend="gpu")


def _thaw_key(k: Any, rest: list[Any]) -> Any:
    if k is Ellipsis or k is True:
        return ... if k is Ellipsis else None
    return slice(*k[1:]) if isinstance(k, tuple) else rest.pop(0)
