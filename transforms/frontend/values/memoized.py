"""Remembers results of functions under `functools.cache` within a run, where a repeated call gives
them again.

fib(n - 1) + fib(n - 2)      enters `fib` once for each number, not twice
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Atom, Block, Literal
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import Structure, flatten
from tapeless.transforms.ops.primitives.function_calls import acts


def remember_result(
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
        result, block = t.calls.remembered.get(key, (None, None))
    except TypeError:  # an argument is not hashable, as a list that stands for a tuple
        return call(f.__wrapped__, *args, **kwargs)
    if block is None or not any(block is b for b in t.blocks):
        elsewhere, block = block, t.blocks[-1]
        result, computed = run_observed(lambda: call(f.__wrapped__, *args, **kwargs))
        if elsewhere is not None and computed is None:
            raise UnsupportedError(
                f"{f.__name__}() does more than to give a value, is under functools.cache, and "
                "data decides whether it was called with these arguments before",
                "call it before the test or loop, too",
            )
        t.calls.misses.append(Miss(next(t.serials), key, computed, result))
        _make_room(f)
    else:
        del t.calls.remembered[key]  # the one that was used last stands last
    t.calls.remembered[key] = (result, block)
    return result


@dataclass(frozen=True)
class Miss:
    """A call whose result was not kept from an earlier one; `computed` is what it gave, if another
    call gives the same and does nothing else."""

    serial: int
    key: Any
    computed: Structure | None
    result: Any

    def is_stale_in_passes(self, began: int, varies: Callable[[Atom], bool]) -> bool:
        """Whether the passes of a loop behind the one that began then are given what this call
        gave, where they would compute something else."""
        function, positional, named = self.key
        values = (function, function.__wrapped__, *positional, *(v for _, v in named))
        if self.serial < began or any(_of_a_pass(v, began, varies) for v in values):
            return False
        return self.computed is None or not same_in_each_pass(
            self.computed, flatten(self.result), varies
        )


def _of_a_pass(value: Any, began: int, varies: Callable[[Atom], bool]) -> bool:
    """Whether an argument is another one in each pass, as far as can be told."""
    if isinstance(value, tuple):
        is_symbol = len(value) == 2 and value[0] is Symbol
        return varies(value[1]) if is_symbol else any(_of_a_pass(v, began, varies) for v in value)
    return bool(trace().birth(value) > began)


def run_observed(compute: Callable[[], Any]) -> tuple[Any, Structure | None]:
    """What a computation gives, and the structure of that if it does nothing else: it stores
    nothing that is older, prints and draws nothing."""
    t = trace()
    start = len(t.blocks[-1])
    with t.watching() as writes:
        value = compute()
    acted = writes.old or acts(Block((), tuple(t.blocks[-1][start:]), ()))
    return value, None if acted else flatten(value)


def same_in_each_pass(
    computed: Structure, final: Structure, varies: Callable[[Atom], bool]
) -> bool:
    """Whether a pass leaves what it computed as it was, and each computes the same."""
    before, after = list(computed.leaves()), list(final.leaves())
    alike = len(before) == len(after) and all(
        a is b or (isinstance(a, Literal) and a == b) for a, b in zip(before, after, strict=True)
    )
    return alike and not any(map(varies, after))


def _make_room(f: functools._lru_cache_wrapper[Any]) -> None:
    """Forgets the call that was not used for the longest time, where a cache is full."""
    most = f.cache_parameters()["maxsize"]
    kept = [k for k in trace().calls.remembered if k[0] is f] if most is not None else []
    if most is not None and len(kept) >= most:
        del trace().calls.remembered[kept[0]]


def forget(f: functools._lru_cache_wrapper[Any]) -> None:
    """f.cache_clear()"""
    kept = trace().calls.remembered
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
