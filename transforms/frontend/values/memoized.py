"""Functions under `functools.cache`: within a run, what a call gave is given again.

fib(n - 1) + fib(n - 2)      enters `fib` once for each number, not twice
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace


def remembered(
    f: functools._lru_cache_wrapper[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    call: Callable[..., Any],
) -> Any:
    """What the function gives for these arguments; it is called only if that was not made before,
    where it can be seen from here."""
    t = trace()
    key = (f, tuple(map(_key, args)), tuple((k, _key(v)) for k, v in kwargs.items()))
    try:
        result, block = t.remembered.get(key, (None, None))
    except TypeError:  # an argument is not hashable, as a list that stands for a tuple
        return call(f.__wrapped__, *args, **kwargs)
    if block is None or not any(block is b for b in t.blocks):
        block = t.blocks[-1]
        result = call(f.__wrapped__, *args, **kwargs)
        t.remembered[key] = (result, block)
    return result


def _key(value: Any) -> Any:
    """Two symbols are equal if they stand for one value."""
    if isinstance(value, Symbol) and not value.mutable:
        return (Symbol, value.value())
    return value
