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
    """The number of the first check that failed, or 0."""

    def __init__(self) -> None:
        self.code = np.zeros((), np.int64)


def run(f: Any, args: Any, kwargs: Any, enter: Any, leave: Any, error: Any) -> Any:
    errors = FirstFailure()
    enter(errors)
    try:
        value = f(*args, **kwargs)
    finally:
        leave()
    return error(errors.code), value


def record(errors: FirstFailure, pred: Any, note: Any, args: Any, kwargs: Any) -> None:
    if not np.all(pred) and errors.code == 0:
        errors.code = io_callback(note, NUMBER, args, kwargs, ordered=True)


def refuse(pred: Any, msg: str, args: Any, kwargs: Any) -> None:
    if not np.all(pred):
        raise CheckError(msg.format(*args, **kwargs) + FAILED)


def pass_on(errors: FirstFailure, code: Any) -> None:
    codes = np.ravel(code)
    if errors.code == 0:
        errors.code = codes[np.argmax(codes != 0)]


def throw(code: Any, raised: Any) -> None:
    if np.any(code != 0):
        io_callback(raised, None, code, ordered=True)


__all__: list[str] = []
