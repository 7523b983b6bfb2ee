"""Tells which operations raise an error where Python's would, and computes the test of whether they
do.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, static
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.frontend.arrays.symbols import atoms, wrap
from tapeless.transforms.ops.linalg.eigen import eig
from tapeless.transforms.ops.linalg.factorisations import cholesky, eigh, full_svd, svd
from tapeless.transforms.ops.linalg.least_squares import least_squares, pinv
from tapeless.transforms.ops.linalg.solve import inv, solve
from tapeless.transforms.ops.numpy.argmax import argmax, argmin
from tapeless.transforms.ops.numpy.histograms import (
    bincount,
    binned,
    digitize,
    histogram,
    weighted_bincount,
)
from tapeless.transforms.ops.numpy.reductions import amax, amin, any_
from tapeless.transforms.ops.numpy.repeating import repeat_counts
from tapeless.transforms.ops.primitives import random_draws
from tapeless.transforms.ops.primitives.arithmetic import floordiv, fmod, mod, truediv
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
)
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    arccos,
    arccosh,
    arcsin,
    arctanh,
    cosh,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    power,
    sinh,
    sqrt,
)
from tapeless.transforms.ops.primitives.factorisable import factorises
from tapeless.transforms.ops.primitives.random_draws import (
    IN_KERNELS,
    INTEGERS,
    REALS,
    Refused,
    draw,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import FIRST_PLACE

DIVISIONS: dict[Op, Callable[[Any, Any], Any]] = {
    truediv: operator.truediv,
    floordiv: operator.floordiv,
    mod: operator.mod,
}
PYTHON: dict[str, Any] = {"b": True, "i": 1, "f": 1.0, "c": 1j}
#: Whether functions of `math` raise ValueError for a number.
DOMAINS: dict[Op, Callable[[Atom], Any]] = {
    sqrt: lambda x: less(x, 0.0),
    **dict.fromkeys((log, log2, log10), lambda x: less_equal(x, 0.0)),
    log1p: lambda x: less_equal(x, -1.0),
    **dict.fromkeys((arcsin, arccos), lambda x: greater(absolute(x), 1.0)),
    arccosh: lambda x: less(x, 1.0),
    arctanh: lambda x: greater_equal(absolute(x), 1.0),
}

#: The largest numbers of which they have a result; above, they raise OverflowError.
LARGEST = {
    **dict.fromkeys((exp, expm1), math.log(sys.float_info.max)),
    **dict.fromkeys((sinh, cosh), math.asinh(sys.float_info.max)),
}
EVEN = (sinh, cosh)  # raise it for negative numbers, too


#: What reductions that choose an element say where there is none.
CHOOSING = {
    amax: "zero-size array to reduction operation maximum which has no identity",
    amin: "zero-size array to reduction operation minimum which has no identity",
    argmax: "attempt to get argmax of an empty sequence",
    argmin: "attempt to get argmin of an empty sequence",
}


#: Errors of NumPy's own functions for what an argument holds, of which no test is known.
OF_CONTENTS = dict.fromkeys(
    (bincount, weighted_bincount, repeat_counts, digitize, histogram, binned),
    ValueError,
)

#: What computes a factorisation: a function of numpy.linalg that fails where it does, and what the
#: error says.
FAILURES: dict[Op, tuple[str, str]] = {
    cholesky: ("cholesky", "Matrix is not positive definite"),
    **dict.fromkeys((inv, solve), ("inv", "Singular matrix")),
    eigh: ("eigh", "Eigenvalues did not converge"),
    eig: ("eig", "Eigenvalues did not converge"),
    **dict.fromkeys((svd, full_svd, pinv), ("svd", "SVD did not converge")),
    least_squares: ("svd", "SVD did not converge in Linear Least Squares"),
}


def _length(x: Atom) -> dims.Size:
    return x.type.shape[0]  # type: ignore[no-any-return]


def failures(s: Let) -> Iterator[tuple[Exception, Callable[[], Atom]]]:
    """The errors that an operation may raise, and the tests of whether it does."""
    op, args = s.op, s.args
    if op is draw:
        parameters = random_draws.parameters(s)
        for refused in random_draws.refusals(s):
            if _may_hold(refused, parameters):
                yield refused.error(refused.message), partial(_is_refused, refused, parameters)
    elif op in FAILURES:
        message = FAILURES[op][1]
        yield (
            np.linalg.LinAlgError(message),
            lambda: logical_not(factorises(args[0], method=FAILURES[op][0])),
        )
    elif op in CHOOSING and args[0].type.ndim == 1 and not dims.at_least(_length(args[0]), 1):
        yield ValueError(CHOOSING[op]), lambda: equal(axis_size(args[0], axis=0), 0)
    elif not _of_python(args):
        return
    elif op in DIVISIONS and isinstance(args[1], Var):
        yield _by_zero(op, args), lambda: equal(args[1], 0)
    elif op is power and args[0].type.dtype.kind == "f" and _is_count(args[1]):
        error = OverflowError(34, "Numerical result out of range")
        largest = _largest_base(int(static(args[1], "")))
        yield error, lambda: _is_new(greater(absolute(args[0]), largest), args[0])
    elif len(args) != 1 or args[0].type.dtype.kind == "c":
        return
    elif op in DOMAINS:
        yield ValueError("math domain error"), lambda: DOMAINS[op](args[0])
    elif op in LARGEST:
        yield OverflowError("math range error"), lambda: _too_large(op, args[0])


def may_raise(s: Let) -> Iterator[tuple[type[Exception], list[Var]]]:
    """The errors by which an operation may fail, and the operands that decide whether it does."""
    op, unknown = s.op, [a for a in s.args if isinstance(a, Var)]
    if op is draw:
        yield from _errors_of_draw(s)
    elif op in FAILURES:
        yield np.linalg.LinAlgError, []
    elif op in FIRST_PLACE:
        rest = (a for a in s.args[FIRST_PLACE[op] :] if isinstance(a, Var))
        places = [a for a in rest if a.type.dtype.kind in "iu"]
        if places:
            yield IndexError, places
    elif op in OF_CONTENTS:
        yield OF_CONTENTS[op], unknown
    elif unknown and _of_python(s.args):
        root = op is power and not _is_count(s.args[1])  # of zero or of a negative number
        if root or (op in DIVISIONS and unknown[-1] is s.args[1]):
            yield ZeroDivisionError, unknown[-1:]
        if root or op in (*DOMAINS, fmod) or op.math_errors:
            yield ValueError, unknown
        if op in (power, *LARGEST, exp2) or op.math_errors:
            yield OverflowError, unknown


def _errors_of_draw(s: Let) -> Iterator[tuple[type[Exception], list[Var]]]:
    """What NumPy raises for parameters of a distribution."""
    parameters = random_draws.parameters(s)
    for refused in random_draws.refusals(s):
        if _may_hold(refused, parameters):
            yield refused.error, [a for a in refused.reads(parameters) if isinstance(a, Var)]
    if s.params["name"] in {*REALS, *INTEGERS, "randint"} - IN_KERNELS.keys():
        unknown = [a for a in parameters if isinstance(a, Var)]
        if unknown:
            yield ValueError, unknown


def _may_hold(refused: Refused, parameters: tuple[Atom, ...]) -> bool:
    """Whether a draw may refuse its parameters: those of its test are unknown, or refused."""
    if any(isinstance(a, Var) for a in refused.reads(parameters)):
        return True
    return bool(refused.holds(*(getattr(a, "value", None) for a in parameters)))


def _is_refused(refused: Refused, parameters: tuple[Atom, ...]) -> Atom:
    """Whether NumPy refuses any of the parameters of a draw."""
    test = atom(atoms(refused.holds(*map(wrap, parameters))))
    if test.type.shape:
        test = any_(test, axes=tuple(range(test.type.ndim)), keepdims=False)
    return test


def _by_zero(op: Op, args: tuple[Atom, ...]) -> ZeroDivisionError:
    """Python's own error, whose text tells integers from floats."""
    a, b = (PYTHON[x.type.dtype.kind] for x in args)
    try:
        DIVISIONS[op](a, 0 * b)
    except ZeroDivisionError as e:
        return e.with_traceback(None)
    raise AssertionError(op)


def _of_python(args: tuple[Atom, ...]) -> bool:
    return all(getattr(a.type, "weak", False) for a in args)


def _is_count(a: Atom) -> bool:
    return isinstance(a, Literal) and a.type.dtype.kind == "i" and a.value >= 0


def _largest_base(exponent: int) -> float:
    """The largest number with a finite power."""
    if exponent < 2:
        return sys.float_info.max
    x: float = sys.float_info.max ** (1 / exponent)
    while _overflows(x, exponent):
        x = math.nextafter(x, 0)
    while not _overflows(after := math.nextafter(x, math.inf), exponent):
        x = after
    return x


def _overflows(x: float, exponent: int) -> bool:
    try:
        return math.isinf(x**exponent)
    except OverflowError:
        return True


def _too_large(op: Op, x: Atom) -> Any:
    return _is_new(greater(absolute(x) if op in EVEN else x, LARGEST[op]), x)


def _is_new(overflows: Any, x: Atom) -> Any:
    """Whether a finite number is why."""
    return logical_and(overflows, less(absolute(x), math.inf))
