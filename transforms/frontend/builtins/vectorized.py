"""Stages np.vectorize: the function is entered for each element, or for each part that a signature
names.

np.vectorize(dot, signature="(n),(n)->()")(a, b)      is      np.array([dot(p, q) for p, q in ...])
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.frontend.arrays.memory_layout import UNKNOWN
from tapeless.transforms.frontend.arrays.number_types import same_for_all
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.builtins.builtins import BUILTINS
from tapeless.transforms.frontend.control_flow.comprehensions import comprehension
from tapeless.transforms.frontend.trace.trace import trace


def call_vectorized(hooks: Any, f: np.vectorize, /, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs)."""
    call, values = _without_excluded(hooks, f, args, kwargs)
    arrays = [_numpy(np.asarray, v) for v in values]
    core = _core_dimensions(f.signature, len(arrays))
    shape, arrays = broadcast(arrays, core)
    if shape:
        items = BUILTINS[zip](
            hooks, *(a.reshape(size(shape), *a.shape[len(shape) :]) for a in arrays)
        )
        outcome = _map_items(hooks, lambda item: _outcome(call(*item)), items)
    else:
        outcome = call(*values)
    if not isinstance(outcome, tuple):
        return _result(outcome, shape, f.otypes, 0)
    return tuple(_result(part, shape, f.otypes, k) for k, part in enumerate(outcome))


def _numpy(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call_numpy(function, args, kwargs)


def _without_excluded(
    hooks: Any, f: np.vectorize, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """The function of the arguments that are not excluded, and these."""
    places = [k for k in range(len(args)) if k not in f.excluded]
    names = [name for name in kwargs if name not in f.excluded]

    def call(*values: Any) -> Any:
        positional = dict(enumerate(args)) | dict(zip(places, values, strict=False))
        named = kwargs | dict(zip(names, values[len(places) :], strict=True))
        return hooks.call(f.pyfunc, *positional.values(), **named)

    return call, [*(args[k] for k in places), *(kwargs[name] for name in names)]


def _core_dimensions(signature: str | None, count: int) -> list[int]:
    """How many axes of each argument go to one call."""
    if signature is None:
        return [0] * count
    inputs = re.findall(r"\([^)]*\)", signature.partition("->")[0])
    return [len(re.findall(r"\w+", dimensions)) for dimensions in inputs]


def broadcast(arrays: list[Any], core: list[int]) -> tuple[tuple[Any, ...], list[Any]]:
    """The axes over which calls go, and the arrays with all of them."""
    if not any(core):
        arrays = list(_numpy(np.broadcast_arrays, *arrays))
        return arrays[0].shape, arrays
    corners = [a[(..., *[0] * n)] if n else a for a, n in zip(arrays, core, strict=True)]
    shape = _numpy(np.broadcast_arrays, *corners)[0].shape
    parts = [a.shape[a.ndim - n :] for a, n in zip(arrays, core, strict=True)]
    pairs = zip(arrays, parts, strict=True)
    return shape, [_numpy(np.broadcast_to, a, (*shape, *part)) for a, part in pairs]


def size(shape: tuple[Any, ...]) -> Any:
    return functools.reduce(operator.mul, shape)


def _outcome(value: Any) -> Any:
    """What a call gives; its type has to be one for all elements, as that of the first counts."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Symbol):
            same_for_all(part, part.type, lambda kind: kind.dtype)
    return value


def _map_items(hooks: Any, call: Callable[[Any], Any], items: Any) -> Any:
    """The results of all calls, as rows of one array for each part of a result."""
    results = list_of_calls(call, items)
    first = hooks.item(results, 0)
    if not isinstance(first, tuple):
        return _rows(results, first)
    columns = [list_of_calls(operator.itemgetter(k), results) for k in range(len(first))]
    return tuple(_rows(column, part) for column, part in zip(columns, first, strict=True))


def list_of_calls(call: Callable[[Any], Any], items: Any) -> Any:
    return comprehension(
        "ListComp", (items, lambda item: (lambda: True, lambda: call(item)), False)
    )


def _rows(results: Any, first: Any) -> Any:
    """An array of results, of the dtype of the first."""
    rows, dtype = _numpy(np.stack, results), _numpy(np.asarray, first).dtype
    return rows if rows.dtype == dtype else rows.astype(dtype)


def _result(value: Any, shape: tuple[Any, ...], dtypes: Any, place: int) -> Any:
    """A result with the axes over which calls went."""
    array = _numpy(np.asarray, value)
    array = array.reshape(*shape, *array.shape[1:]) if shape else array
    if dtypes is not None and array.dtype != dtypes[place]:
        array = array.astype(dtypes[place])
    atom = array.value() if isinstance(array, Symbol) else None
    if not isinstance(atom, Var):
        return array
    trace().orders.chosen[atom] = UNKNOWN, None  # NumPy keeps the order of the arguments
    return Symbol(atom, is_array=True)
