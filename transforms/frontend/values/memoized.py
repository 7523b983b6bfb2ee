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
    if f.cache_parameters()["maxsize"] == 0:
        return call(f.__wrapped__, *args, **kwargs)
    key = (f, tuple(map(_key, args)), tuple((k, _key(v)) for k, v in kwargs.items()))
    try:
        result, block = t.remembered.get(key, (None, None))
    except TypeError:  # an argument is not hashable, as a list that stands for a tuple
        return call(f.__wrapped__, *args, **kwargs)
    if block is None or not any(block is b for b in t.blocks):
        block = t.blocks[-1]
        result = call(f.__wrapped__, *args, **kwargs)
        _make_room(f)
    else:
        del t.remembered[key]  # the one that was used last stands last
    t.remembered[key] = (result, block)
    return result


def _make_room(f: functools._lru_cache_wrapper[Any]) -> None:
    """Forgets the call that was not used for the longest time, where a cache is full."""
    most = f.cache_parameters()["maxsize"]
    kept = [k for k in trace().remembered if k[0] is f] if most is not None else []
    if most is not None and len(kept) >= most:
        del trace().remembered[kept[0]]


def forget(f: functools._lru_cache_wrapper[Any]) -> None:
    """f.cache_clear()"""
    kept = trace().remembered
    for key in [k for k in kept if k[0] is f]:
        del kept[key]
    f.cache_clear()


def of_cache(f: Any) -> functools._lru_cache_wrapper[Any] | None:
    """The function under `functools.cache` of which this is a method; None if it is no such."""
    this = getattr(f, "__self__", None)
    return this if isinstance(this, functools._lru_cache_wrapper) else None


def _key(value: Any) -> Any:
    """Two symbols are equal if they stand for one value."""
    if isinstance(value, Symbol) and not value.mutable:
        return (Symbol, value.value())
    return value
