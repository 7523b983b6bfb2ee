"""The `at` methods of ufuncs, also where an index names an element more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.updates import may_repeat, one_by_one

__staged__ = True  # plain NumPy code: a staged run enters it


def _at(ufunc: Any) -> Callable[..., None]:
    def at(a: Any, indices: Any, *b: Any) -> None:
        made = ufunc(a[indices], *b)
        if not np.can_cast(made.dtype, a.dtype, "same_kind"):
            raise ArgumentTypeError(
                f"np.{ufunc.__name__}.at: {made.dtype} does not go into an array of {a.dtype}",
                "convert the array with .astype first",
            )
        if may_repeat(indices):
            one_by_one(ufunc, a, indices, *b)
        else:
            a[indices] = made

    return at


AT = (
    *(np.multiply, np.divide, np.power, np.fmax, np.fmin, np.negative, np.absolute, np.exp),
    *(np.log, np.sqrt, np.square, np.sin, np.cos, np.tanh),
)
NUMPY: dict[Any, Any] = {ufunc.at: _at(ufunc) for ufunc in AT}
