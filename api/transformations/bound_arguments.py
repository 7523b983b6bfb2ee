"""Binds some positional arguments of a function to values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeless.staging.emitted_names import base_name
from tapeless.staging.user_calls import call_user
from tapeless.transforms.errors import ArgumentTypeError


class Fixed:
    """The function of its other arguments; `values` are those given, by position."""

    def __init__(self, fun: Callable[..., Any], values: Mapping[int, Any]) -> None:
        self.fun, self.values = fun, values
        functools.update_wrapper(self, fun, updated=())
        self.__name__ = base_name(fun)
        try:
            params = list(inspect.signature(fun).parameters.values())
        except (TypeError, ValueError):
            return
        remaining = [
            p for k, p in enumerate(params) if k not in values or p.kind is p.VAR_POSITIONAL
        ]
        self.__signature__ = inspect.Signature(remaining)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        remaining = iter(args)
        count = len(args) + len(self.values)
        whole = [self.values[k] if k in self.values else next(remaining) for k in range(count)]
        return call_user(self.fun, *whole, **kwargs)

    __staged_call__ = __call__


def positions(positions_given: int | Sequence[int], what: str) -> tuple[int, ...]:
    """Positions of arguments, in order; refuses what are none."""
    numbers = (
        tuple(positions_given) if isinstance(positions_given, (tuple, list)) else (positions_given,)
    )
    if not all(isinstance(k, (int, np.integer)) and k is not True and k >= 0 for k in numbers):
        raise ArgumentTypeError(
            f"pmap: {what} must be positions of arguments, not {positions_given!r}",
            f"count arguments from 0: {what}=(0, 1)",
        )
    return tuple(sorted({int(k) for k in numbers}))
