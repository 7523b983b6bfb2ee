"""Applies transformations inside of jax.lax's own functions: `run_staged`, `vmap_once`."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import tapeless
from tapeless.staging.user_calls import call_user
from tapeless.transforms.core.builder import active
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.trace.trace import trace


def run_staged(fun: Any, *args: Any) -> Any:
    """fun(*args) as emitted code, which knows the types of what does not run."""
    with tapeless.disable_jit():
        return tapeless.jit(fun)(*args)


def knows_types_only() -> bool:
    """Whether a function is staged, and not traced on values, which tell types as they come."""
    return active() and not trace().tracing


def vmap_once(fun: Any) -> Any:
    """The function for a batch; the same one for the same function, which is then staged once."""
    keep = isinstance(fun, FunctionType) and not active()
    return _cached_vmap(fun) if keep else tapeless.vmap(fun)


@functools.lru_cache(maxsize=64)
def _cached_vmap(fun: FunctionType) -> Any:
    return tapeless.vmap(fun)


def one_of(index: Any, calls: list[Any], first: int = 0) -> Any:
    """The value of the call at a position, found by halves; no other call is made."""
    if len(calls) == 1:
        return call_user(calls[0])
    half = first + len(calls) // 2
    low = functools.partial(one_of, index, calls[: half - first], first)
    high = functools.partial(one_of, index, calls[half - first :], half)
    if active():
        return choose(index < half, low, high)
    return low() if index < half else high()
