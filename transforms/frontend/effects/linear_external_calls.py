"""Differentiates products with matrices of other libraries, and solutions of such systems, which
are calls by the program.

LAPLACE @ x      becomes      LAPLACE_matmul(x)          with a parameter that does it

Their transposes are calls, too.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.effects.external_arguments import with_holes
from tapeless.transforms.frontend.effects.external_calls import (
    ExternalCall,
    depends_on_values,
    external_call,
    form_of,
    observed_value,
    parameter,
)
from tapeless.transforms.frontend.trace.provenance import qualified_name
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.linear_calls import linear_call

#: Options of spsolve that say how it solves, and not what.
WAYS_TO_SOLVE = frozenset({"permc_spec", "use_umfpack"})


def call_outside(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], pure: bool = True) -> Any:
    """The result of a call of a function without a rule (`external_call`), which has a derivative
    where the function is known to be linear."""
    transposed = _transpose(f, args, kwargs)
    if transposed is None:
        return external_call(f, args, kwargs, pure)
    return _call_linear(f, transposed, args[0], args[1], kwargs)


def _transpose(f: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Callable[..., Any] | None:
    """What is transposed to f(matrix, x), if that is linear in an array x."""
    name = getattr(f, "__name__", "")
    solves = name == "spsolve" and str(f.__module__).startswith("scipy.sparse")
    if options.keys() - (WAYS_TO_SOLVE if solves else set()):
        return None
    if len(args) != 2 or not is_foreign(args[0]) or not isinstance(args[1], Symbol):
        return None
    matrix, kinds = args[0], (getattr(args[0], "dtype", None), args[1].type.dtype)
    if isinstance(matrix, np.ndarray):  # np.matrix, which gives another one
        return None
    real = all(isinstance(k, np.dtype) and k.kind in "biuf" for k in kinds)
    if not real or not hasattr(matrix, "T") or kinds[1].kind != "f" or depends_on_values(matrix):
        return None
    if f is operator.matmul or name == "dot":
        return _transposed_product
    return _transposed_solver(f) if solves else None


def _transposed_product(matrix: Any, x: Any) -> Any:
    return matrix.T @ x


@functools.cache
def _transposed_solver(solve: Callable[..., Any]) -> Callable[..., Any]:
    return lambda matrix, x, **options: solve(matrix.T, x, **options)


def _call_linear(f: Any, transposed: Any, matrix: Any, x: Symbol, options: dict[str, Any]) -> Any:
    run, name = trace(), getattr(f, "__name__", "product")
    atoms: list[Atom] = []
    args: Any = (with_holes((matrix, x), atoms), options)
    call, back = ExternalCall(f, args), ExternalCall(transposed, args)
    back.__name__ = f"{call.__name__}_transposed"
    value = call.result([observed_value(a, name) for a in atoms])
    if type(value) is not np.ndarray or value.dtype.kind != "f":
        raise UnsupportedError(
            f"{qualified_name(f)} gives no array of NumPy", "make it one outside"
        )
    call.form = form_of(value, [])
    run.call.relies_on_results = True
    run.note(f"{qualified_name(f)} has no rule: the program calls it")
    functions = parameter(call), parameter(back)
    out = linear_call(*functions, *atoms, sizes=value.shape, dtype=value.dtype)
    if run.call.values is not None and len(run.blocks) == 1:
        run.call.values.give(out, value)
    return wrap(out)
