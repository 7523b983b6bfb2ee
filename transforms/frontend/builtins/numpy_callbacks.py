"""Stages NumPy functions that call a function of the user: np.piecewise, np.vectorize and their
like.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, ValuesView
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.memory_layout import in_order
from tapeless.transforms.frontend.arrays.memory_order import element_strides
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.builtins.comparison import has_run_time_order
from tapeless.transforms.frontend.builtins.replacements import stand_in
from tapeless.transforms.frontend.builtins.ufuncs_of_python import of_python_code
from tapeless.transforms.frontend.builtins.vectorized import call_vectorized
from tapeless.transforms.frontend.control_flow.comprehensions import comprehension
from tapeless.transforms.frontend.objects.special_methods import array_of
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.prelude.numpy import linalg, matrices, polynomial_fits, structured_arrays
from tapeless.transforms.prelude.numpy.function_table import plain_code_of
from tapeless.transforms.prelude.numpy.misc import insert_at, of_rows
from tapeless.transforms.prelude.numpy.sliding_windows import copy_strided, sliding_window_view


def _numpy(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call_numpy(function, args, kwargs)


def _stack_results(call: Any, items: Any) -> Any:
    """The results of `call` for all items, as the rows of one array; a loop that is rolled."""
    results = comprehension(
        "ListComp", (items, lambda item: (lambda: True, lambda: call(item)), False)
    )
    return _numpy(np.stack, results)


def _piecewise(hooks: Any, /, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = _numpy(np.asarray, x)
    tests = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    tests = [_numpy(np.atleast_1d, test) for test in tests]
    if len(funclist) == len(tests) + 1:
        any_test = functools.reduce(lambda a, b: a | b, tests)
        tests.append(_numpy(np.logical_not, any_test))
    line = x if x.ndim else x.reshape(1)
    result = _numpy(np.zeros_like, line)
    for test, function in zip(tests, funclist, strict=True):
        is_function = callable(function)
        result[test] = hooks.call(function, line[test], *args, **kw) if is_function else function
    return result if x.ndim else result.reshape(())


def _apply_along_axis(
    hooks: Any, /, func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    arr = _numpy(np.asarray, arr)
    if arr.ndim == 1:
        return _numpy(np.asarray, hooks.call(func1d, arr, *args, **kwargs))
    moved = _numpy(np.moveaxis, arr, axis, -1)
    *lead, length = moved.shape
    rows = moved.reshape(functools.reduce(lambda a, b: a * b, lead), length)
    result = _stack_results(lambda row: hooks.call(func1d, row, *args, **kwargs), rows)
    result = result.reshape(*lead, *result.shape[1:])
    extra = result.ndim - len(lead)
    first = axis % arr.ndim
    return _numpy(
        np.moveaxis,
        result,
        tuple(range(len(lead), result.ndim)),
        tuple(range(first, first + extra)),
    )


def _apply_over_axes(hooks: Any, func: Any, a: Any, axes: Any) -> Any:
    result = _numpy(np.asarray, a)
    for axis in axes if isinstance(axes, (list, tuple)) else [axes]:
        reduced = hooks.call(func, result, axis)
        result = reduced if reduced.ndim == result.ndim else _numpy(np.expand_dims, reduced, axis)
    return result


def _insert(hooks: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """In an array the positions are data; a list or a slice of them is known."""
    if isinstance(obj, (Symbol, np.ndarray)) and obj.ndim:
        return hooks.call(insert_at, arr, _numpy(np.asarray, obj), values, axis)
    return hooks.call_native(np.insert, (arr, obj, values), {"axis": axis})


def _polyval(hooks: Any, p: Any, x: Any) -> Any:
    p = _numpy(np.asarray, array_of(p))
    return hooks.call(of_rows, p, x) if p.ndim > 1 else hooks.call_native(np.polyval, (p, x), {})


def _windows(hooks: Any, /, x: Any, *args: Any, writeable: bool = False, **options: Any) -> Any:
    """Windows that nobody may store to, nor look at after a store to the array."""
    if writeable:
        raise UnsupportedError(
            "sliding_window_view with writeable=True", "store to the array that it is a view of"
        )
    windows = hooks.call(sliding_window_view, x, *args, **options)
    if not isinstance(windows, Symbol):
        return windows
    if isinstance(x, Symbol) and x.mutable:
        trace().memory.share(windows.cell, x.memory())
    windows.read_only = True
    return windows


def _as_strided(
    hooks: Any,
    /,
    x: Any,
    shape: Any = None,
    strides: Any = None,
    subok: bool = False,
    writeable: bool = True,
) -> Any:
    """A view of what lies in memory where an array does: nobody may store to it, nor look at it
    after a store to the array."""
    if not has_symbols((x, shape, strides)):
        return np.lib.stride_tricks.as_strided(x, shape, strides, subok, writeable)
    x = _numpy(np.asarray, x)
    shape, apart = _numbers(x.shape if shape is None else shape), _distance_of_elements(x)
    if strides is None:
        strides = x.strides if apart > 1 else _strides_in_order(shape, x.dtype.itemsize)
        if len(strides) != len(shape):
            raise ValueError("mismatch in length of strides and shape")
    view = hooks.call(copy_strided, x, shape, _numbers(strides), apart)
    if isinstance(x, Symbol) and x.mutable:
        trace().memory.share(view.cell, x.memory())
    view.read_only = True
    return view


def _numbers(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _strides_in_order(shape: tuple[Any, ...], step: int) -> tuple[Any, ...]:
    """The strides that NumPy gives to a new shape of elements that lie in order; its documentation
    says that they are those of the array."""
    steps = [step]
    for n in shape[:0:-1]:
        steps.append(steps[-1] * n)
    return tuple(steps[: len(shape)][::-1])


def _distance_of_elements(x: Any) -> int:
    """How many elements of its memory apart the elements of an array lie, if in order."""
    steps, shape = element_strides(x), x.type.shape if isinstance(x, Symbol) else x.shape
    apart = steps[-1] if len(steps) == 1 else 1
    if type(apart) is not int or apart < 1 or (len(steps) > 1 and not in_order(shape, steps)):
        raise UnsupportedError(
            "as_strided of an array whose elements do not lie in order",
            "take a copy first: np.ascontiguousarray(x)",
        )
    return apart


def _by_rule_unless(f: Any, plain: Any, ours: Any) -> Any:
    """By rule for the options that the rule has, else by our code."""

    def call(hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
        if plain(*args, **kwargs):
            return hooks.call_native(f, args, kwargs)
        return hooks.call(ours, *args, **kwargs)

    return call


def _qr(hooks: Any, a: Any, mode: str = "reduced") -> Any:
    a = _numpy(np.asarray, a)
    if mode != "complete" or a.ndim != 2:
        return hooks.call_native(np.linalg.qr, (a, mode), {})
    return type(np.linalg.qr(np.eye(1)))(*hooks.call(linalg.complete_qr, a))


def _scipy_qr(f: Any, hooks: Any, /, a: Any, *args: Any, **kwargs: Any) -> Any:
    """With all columns of q for all lengths; otherwise by rule, where LAPACK does it."""
    named = dict(zip(("overwrite_a", "lwork", "mode", "pivoting"), args, strict=False)) | kwargs
    mode = named.get("mode", "full")
    if mode not in ("full", "r") or named.get("pivoting", False) or not _is_oblong(a):
        return hooks.call_native(f, (a, *args), kwargs)
    from scipy.linalg.blas import find_best_blas_type  # noqa: PLC0415 (the user has SciPy)

    dtype = find_best_blas_type((np.zeros(0, a.dtype),))[1]
    q, r = hooks.call(linalg.complete_qr, a, dtype)
    return (r,) if mode == "r" else (q, r)


def _is_oblong(a: Any) -> bool:
    """Whether it is a matrix of the program that need not be square."""
    matrix = _numpy(np.asarray, a) if has_symbols(a) else a
    if not isinstance(matrix, Symbol) or matrix.ndim != 2:
        return False
    return not trace().equals(*matrix.type.shape).certain


def _scipy_norm(f: Any, hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
    if _norm_has_known_order(*args, **kwargs):
        return hooks.call_native(f, args, kwargs)
    return hooks.call(linalg.scipy_norm, *args, **kwargs)


#: How functions of SciPy's are staged, by the packages and names that users know them by.
SCIPY = {"scipy.linalg.qr": _scipy_qr, "scipy.linalg.norm": _scipy_norm}


def _of_scipy(f: Any) -> Any:
    package = ".".join((getattr(f, "__module__", None) or "").split(".")[:2])
    staged = SCIPY.get(f"{package}.{getattr(f, '__name__', '')}")
    return None if staged is None else functools.partial(staged, f)


def _has_known_order(x: Any, order: Any = None, axis: Any = None) -> bool:
    """Whether the program does not compute the order of a norm; those of matrices must be known."""
    if not isinstance(order, Symbol) or order.type.dtype.kind != "f" or order.type.shape:
        return True
    if isinstance(axis, tuple):
        return len(axis) != 1
    return axis is None and np.ndim(x) != 1


def _norm_has_known_order(*args: Any, **options: Any) -> bool:
    named = dict(zip(("x", "ord", "axis"), args, strict=False)) | options
    x = named.get("x", named.get("a"))  # as SciPy calls it
    return _has_known_order(x, named.get("ord"), named.get("axis"))


def _vector_norm_has_known_order(x: Any, /, axis: Any = None, **options: Any) -> bool:
    """The same of np.linalg.vector_norm, which takes all elements as one vector."""
    return _has_known_order(x, options.get("ord"), 0 if axis is None else axis)


BY_OPTIONS: dict[Any, Any] = {
    np.linalg.norm: (_norm_has_known_order, linalg.norm),
    np.linalg.vector_norm: (_vector_norm_has_known_order, linalg.vector_norm),
    np.linalg.lstsq: (lambda a, b, rcond=None: rcond is None, linalg.lstsq),
    np.polyfit: (
        lambda x, y, deg, rcond=None, full=False, w=None, cov=False: not full and rcond is None,
        polynomial_fits.polyfit,
    ),
    np.linalg.pinv: (lambda *a, **options: len(a) == 1 and not options, linalg.pinv),
    np.linalg.matrix_rank: (
        lambda *a, **options: len(a) == 1 and not options,
        linalg.matrix_rank,
    ),
}


def _one_kind(_: Any = None, dtype: Any = None, *args: Any, **options: Any) -> bool:
    """Whether the elements of a new array have no fields."""
    kind: Any = dtype
    if isinstance(dtype, (list, dict)) or (isinstance(dtype, str) and "," in dtype):
        kind = np.dtype(kind)
    return getattr(kind, "names", None) is None


APPLIED: dict[Any, Any] = {
    **{f: _by_rule_unless(f, _one_kind, ours) for f, ours in structured_arrays.MAKERS.items()},
    **{f: _by_rule_unless(f, plain, ours) for f, (plain, ours) in BY_OPTIONS.items()},
    np.linalg.qr: _qr,
    np.polyval: _polyval,
    np.insert: _insert,
    np.lib.stride_tricks.sliding_window_view: _windows,
    np.lib.stride_tricks.as_strided: _as_strided,
    np.piecewise: _piecewise,
    np.apply_along_axis: _apply_along_axis,
    np.apply_over_axes: _apply_over_axes,
}


def staging_of(f: Any) -> Any:
    """How the function, or the object that np.vectorize made, is staged; None if it is neither."""
    if isinstance(f, np.vectorize):
        return lambda hooks, /, *args, **kwargs: call_vectorized(hooks, f, *args, **kwargs)
    if (staged := of_python_code(f)) is not None:
        return staged
    if (replacement := APPLIED.get(f) or _of_scipy(f)) is not None:
        return replacement
    ours = plain_code_of(f) or stand_in(f)
    staged = None if ours is None else functools.partial(_written_functions, f, ours)
    return functools.partial(_of_polynomials, f, staged) if f in POLYNOMIALS else staged


#: Functions that give a np.poly1d where they get one.
POLYNOMIALS = frozenset({np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyder, np.polyint})


def _of_polynomials(f: Any, staged: Any, hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
    arrays = tuple(map(array_of, args))
    if staged is None:
        result = hooks.call_native(f, arrays, kwargs)
    else:
        result = staged(hooks, *arrays, **kwargs)
    if not any(isinstance(a, np.poly1d) for a in args):
        return result
    if isinstance(result, tuple):
        return tuple(hooks.call(np.poly1d, part) for part in result)
    return hooks.call(np.poly1d, result)


#: Modules whose functions make matrices of ours, or ask for them.
SPARSE = ("scipy.sparse.", "scipy._lib._sparse")
#: Modules whose functions compare items by code that nobody sees.
ORDERING = frozenset({"_heapq", "heapq", "_bisect", "bisect"})


def _written_functions(f: Any, ours: Any, hooks: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Our code for a function, where a symbol or a function of the user is passed, or a class, or
    an iterator, which may give symbols."""
    staged = (
        isinstance(f, type)
        or f in matrices.NUMPY
        or (getattr(f, "__module__", None) or "").startswith(SPARSE)
        or (
            getattr(f, "__module__", "") in ORDERING
            and any(map(has_run_time_order, (*args, *kwargs.values())))
        )
        or any(
            has_symbols(a) or callable(a) or isinstance(a, (Iterator, ValuesView))
            for a in (*args, *kwargs.values())
        )
    )
    return hooks.call(ours, *args, **kwargs) if staged else hooks.call_native(f, args, kwargs)
