"""Stages np.frompyfunc: its function is entered for each element, given as a number of Python's.

np.frompyfunc(soft, 2, 1)(x, 0.5)      is      np.array([soft(float(v), 0.5) for v in x])

The array has the dtype of the numbers, and not that of objects.
"""

from __future__ import annotations

import functools
import gc
import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.builtins.builtins import BUILTINS
from tapeless.transforms.frontend.builtins.vectorized import broadcast, list_of_calls, size
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.prelude.numpy import folded_functions

#: The methods of ufuncs that are entered, too.
METHODS = {
    "reduce": folded_functions.reduce_rows,
    "accumulate": folded_functions.accumulate_rows,
    "outer": folded_functions.outer,
}
NUMBERS: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def of_python_code(f: Any) -> Any:
    """How what np.frompyfunc made is staged, or a method of it; None for others."""
    owner = f if isinstance(f, np.ufunc) else getattr(f, "__self__", None)
    if not isinstance(owner, np.ufunc) or not owner.__name__.endswith(" (vectorized)"):
        return None
    if owner is f:
        return functools.partial(_apply, f)
    method = METHODS.get(f.__name__)
    return None if method is None else functools.partial(_method, f, method)


def python_function(f: np.ufunc) -> Any:
    """The function that np.frompyfunc was given: of what it refers to, that which is called."""
    return next(held for held in gc.get_referents(f) if callable(held))


def _apply(f: np.ufunc, hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) != f.nin:
        raise TypeError(f"{f.__name__}() takes {f.nin} arguments, but {len(args)} were given")
    _refuse_options(kwargs)
    function = python_function(f)
    arrays = [call_numpy(np.asarray, (a,), {}) for a in args]
    shape, arrays = broadcast(arrays, [0] * len(arrays))

    def call(item: Any) -> Any:
        return hooks.call(function, *(_number(hooks, a) for a in item))

    if not shape:
        return call(arrays)
    if 0 in shape:
        empty = [call_numpy(np.zeros, (shape,), {}) for _ in range(f.nout)]
        return empty[0] if f.nout == 1 else tuple(empty)
    lines = (a.reshape(size(shape)) for a in arrays)
    results = list_of_calls(call, BUILTINS[zip](hooks, *lines))
    if f.nout == 1:
        return _array(results, shape)
    parts = (list_of_calls(operator.itemgetter(k), results) for k in range(f.nout))
    return tuple(_array(part, shape) for part in parts)


def _number(hooks: Any, x: Any) -> Any:
    """An element as a number of Python's."""
    return BUILTINS[NUMBERS[x.dtype.kind]](hooks, x)


def _array(results: Any, shape: Any) -> Any:
    return call_numpy(np.stack, (results,), {}).reshape(*shape)


def _method(f: Any, ours: Any, hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
    dtype = kwargs.pop("dtype", None)
    _refuse_options({k: v for k, v in kwargs.items() if k != "axis"} | {"dtype": dtype})
    if not has_symbols((args, kwargs)) and not any(isinstance(a, Symbol) for a in args):
        args = tuple(map(np.asarray, args))
    return hooks.call(ours, f.__self__, *args, **kwargs)


def _refuse_options(options: dict[str, Any]) -> None:
    """Refuses what changes the result; the dtype of objects is that which it has anyway."""
    for name, value in options.items():
        if value is not None and not (name == "dtype" and value in (object, "O")):
            raise UnsupportedError(
                f"{name}= of a function that np.frompyfunc made",
                "store its result, or convert it: f(x).astype(float)",
            )
