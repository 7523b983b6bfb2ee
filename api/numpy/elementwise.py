"""Makes ufuncs of functions of numbers (`frompyfunc`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.numpy.vectorized import vectorize
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


class PythonUfunc:
    """A function of numbers, element by element over arrays that broadcast."""

    def __init__(self, func: Callable[..., Any], nin: int, nout: int, identity: Any) -> None:
        self.nin, self.nout, self.nargs, self.identity = nin, nout, nin + nout, identity
        self.__name__ = getattr(func, "__name__", "ufunc")
        self.each = vectorize(func)

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.nin:
            raise ArgumentError(f"{self.__name__} takes {self.nin} arguments, not {len(args)}")
        return self.each(*args)

    def outer(self, a: Any, b: Any) -> Any:
        """Each element of the first with each of the second."""
        a, b = np.asarray(a), np.asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b)

    def accumulate(self, a: Any, axis: int = 0) -> Any:
        """The results for the first element, the first two, and so on, along an axis."""
        rows = np.moveaxis(np.asarray(a), axis, 0)
        total, totals = rows[0], [rows[0]]
        for row in rows[1:]:
            total = self(total, row)
            totals.append(total)
        return np.moveaxis(np.stack(totals), 0, axis)

    def reduce(self, a: Any, axis: int = 0, keepdims: bool = False, initial: Any = None) -> Any:
        """The result for all elements along an axis, from the first on."""
        rows = np.moveaxis(np.asarray(a), axis, 0)
        if initial is None:
            total, rest = rows[0], rows[1:]
        else:
            total, rest = np.broadcast_to(initial, rows.shape[1:]).astype(rows.dtype), rows
        for row in rest:
            total = self(total, row)
        return np.expand_dims(total, axis) if keepdims else total

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__}>"


def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None
) -> PythonUfunc:
    """A ufunc of a function of `nin` numbers that returns `nout`; it is staged, not called for each
    element.

    >>> import tapeless.numpy as jnp
    >>> larger = jnp.frompyfunc(lambda a, b: a if a > b else b, 2, 1)
    >>> jnp.asarray(larger(jnp.array([1.0, 5.0]), 3.0)), jnp.asarray(larger.reduce(jnp.arange(4)))
    (Array([3., 5.], dtype=float64), Array(3, dtype=int64))
    """
    return PythonUfunc(func, nin, nout, identity)
