"""What runs for `checkify`: the number of the first check that failed goes along as a value."""

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


class FirstFailure:
    """The number of the first check of the user's that failed, or 0."""

    def __init__(self) -> None:
        self.code = np.zeros((), np.int64)


def run(f: Any, args: Any, kwargs: Any, checks: Any, error: Any) -> Any:
    errors = FirstFailure()
    checks.enter(errors)
    try:
        value = f(*args, **kwargs)
    finally:
        checks.leave()
    codes, messages = checks.automatic()
    if len(codes) == 0:
        return error((errors.code,), ()), value
    code = np.where(codes[0] < 0, codes[0], errors.code)
    return error((code, *codes[1:]), messages), value


def record(errors: FirstFailure, pred: Any, note: Any, args: Any, kwargs: Any) -> None:
    if not np.all(pred) and errors.code == 0:
        errors.code = io_callback(note, NUMBER, args, kwargs, ordered=True)


def refuse(pred: Any, msg: str, args: Any, kwargs: Any) -> None:
    if not np.all(pred):
        raise CheckError(msg.format(*args, **kwargs) + FAILED)


def pass_on(errors: FirstFailure, codes: Any, note: Any) -> None:
    if errors.code == 0 and np.any(codes[0] != 0):
        errors.code = io_callback(note, NUMBER, codes, ordered=True)


def throw(codes: Any, raised: Any) -> None:
    if np.any(codes[0] != 0):
        io_callback(raised, None, codes, ordered=True)


__all__: list[str] = []
