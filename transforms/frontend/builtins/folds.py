"""Stages sum, any, all, math.fsum and math.prod: item by item, or as a reduction of an array."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Type
from tapeless.transforms.frontend.arrays.number_types import record_types
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms
from tapeless.transforms.frontend.builtins.min_max import (
    column_of,
    list_of_lazy,
    materialize,
    of_python,
)
from tapeless.transforms.frontend.control_flow.branches import choose, short_circuit
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension, must_roll
from tapeless.transforms.frontend.control_flow.iteration import any_item_is, fold
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.creation import as_array
from tapeless.transforms.ops.primitives.dtypes import result_dtype


def _reduce_rolled(x: Any, function: Any) -> Any:
    """Whether all or any in something rolled is true, as an array operation."""
    x = materialize(x)
    column = column_of(x)
    return apply(FUNCTIONS[function], x if column is None else column, axis=0)


def _fold_rolled(x: Any, column: Any, ufunc: np.ufunc, start: Any) -> Any:
    """A sum or product of something rolled and `start`, as one array operation."""
    if isinstance(x, Symbol) and type(x.shape[0]) is int and x.shape[0] == 0:
        return start
    if column.dtype.kind == "b" and _is_truth(start) and not of_python(x):
        return _fold_truths(column, ufunc, start)
    dtype = _result_dtype(column, ufunc, start)
    options = {} if dtype.kind not in "iu" and dtype == column.dtype else {"dtype": dtype}
    result = apply(FUNCTIONS[JOINS[ufunc]], column, axis=0, **options)
    result = python_number(result) if of_python(x) else result
    count = column.type.shape[0]
    if ufunc is np.add and not dims.is_given(count):
        trace().sums[result.value()] = count  # Python's 0 if data leaves nothing
        record_types(result.value(), (result.value(), atom(atoms(start))))
    if type(start) is int and start == ufunc.identity:
        return result
    return special_methods.binary("Add" if ufunc is np.add else "Mult", start, result)


def _is_truth(x: Any) -> bool:
    dtype = x.dtype if isinstance(x, Symbol) else getattr(x, "dtype", np.dtype(type(x)))
    return bool(dtype.kind == "b")


def _fold_truths(column: Any, ufunc: np.ufunc, start: Any) -> Any:
    """A sum or product that begins with a truth value, of NumPy's: each sum is one."""
    join, combine = (np.any, np.logical_or) if ufunc is np.add else (np.all, np.logical_and)
    return apply(FUNCTIONS[combine], apply(FUNCTIONS[join], column, axis=0), start)


def _result_dtype(column: Any, ufunc: np.ufunc, start: Any) -> np.dtype[Any]:
    """The dtype that Python's sums have from the first item on: integers stay as wide as they
    are, where NumPy's become wider."""
    items, first = column.type, as_array(atoms(start)).type
    return result_dtype(ufunc, (first, Type(items.dtype, items.shape[1:])))


#: Which function of NumPy makes one of all.
JOINS: dict[np.ufunc, Any] = {np.add: np.sum, np.multiply: np.prod}


def sum_(hooks: Any, x: Any, start: Any = 0) -> Any:
    if isinstance(x, Lazy):
        return x.sum(hooks, start)
    x = materialize(x) if must_roll(x) else x
    column = column_of(x) if must_roll(x) else None
    if column is not None:
        return _fold_rolled(x, column, np.add, start)
    return fold(hooks, functools.partial(special_methods.binary, "Add"), x, start)


def _truths(x: Any) -> Any:
    """What numbers do for the truth of the items: the numbers, or their truth."""
    x = materialize(x)
    column = column_of(x) if must_roll(x) else None
    if not must_roll(x) or (column is not None and column.ndim == 1):
        return x
    return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: truth(item)), False))


def _identity(value: Any) -> Any:
    return value


def any_or_all(conjunction: bool) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        if isinstance(x, Advancing) and not isinstance(x, Lazy) and x.pushes:
            x = Lazy((x, lambda item: (lambda: True, lambda: item), False))
        if isinstance(x, Lazy) and x.rolls() and not x.spent(leaves=True):
            outcome = any_item_is(hooks, x, not conjunction)
            return python_number(
                choose(outcome, lambda: False, lambda: True) if conjunction else outcome
            )
        if must_roll(x):
            x = _truths(x)
        if must_roll(x):
            return python_number(_reduce_rolled(x, np.all if conjunction else np.any))
        for v in x:  # no further than Python goes
            decided = truth(v)
            if isinstance(decided, Symbol):
                rest = [decided, *x.rest()] if isinstance(x, Advancing) else list(x)
                result = short_circuit(
                    tuple(functools.partial(_identity, v) for v in rest), conjunction
                )
                return python_number(truth(result))
            if decided != conjunction:
                return decided
        return conjunction

    return run


def fsum(hooks: Any, x: Any) -> Any:
    x = materialize(x) if isinstance(x, Iterator) else x
    if not must_roll(x) and not has_symbols(list(x)):
        return math.fsum(x)
    return python_number(sum_(hooks, x, np.float64(0)))


def prod(hooks: Any, x: Any, *, start: Any = 1) -> Any:
    x = list_of_lazy(x)
    if must_roll(x):
        x = materialize(x)
        column = column_of(x)
        return _fold_rolled(x, x if column is None else column, np.multiply, start)
    return fold(hooks, functools.partial(special_methods.binary, "Mult"), x, start)
