"""Raises or records failed checks when a program of `checkify` runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transformations.callbacks import io_callback
from tapeless.transformations.eval_shape import ShapeDtypeStruct

__staged__ = True  # plain NumPy code: a staged run enters it

NUMBER = ShapeDtypeStruct((), np.int64)
FAILED = " (`check` failed)"  # as JAX says it


class CheckError(ValueError):
    """A check failed."""


def run(f: Any, args: Any, kwargs: Any, checks: Any, error: Any) -> Any:
    checks.enter()
    try:
        value = f(*args, **kwargs)
    finally:
        checks.leave()
    return error(*checks.first_failure()), value


def record(pred: Any, note: Any, args: Any, kwargs: Any) -> None:
    if not np.all(pred):
        io_callback(note, NUMBER, args, kwargs, ordered=True)


def refuse(pred: Any, msg: str, args: Any, kwargs: Any) -> None:
    if not np.all(pred):
        raise CheckError(msg.format(*args, **kwargs) + FAILED)


def pass_on(codes: Any, note: Any) -> None:
    if np.any(codes[0] != 0):
        io_callback(note, NUMBER, codes, ordered=True)


def throw(codes: Any, raised: Any) -> None:
    if np.any(codes[0] != 0):
        io_callback(raised, None, codes, ordered=True)


__all__: list[str] = []
