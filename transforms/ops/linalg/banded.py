"""Solves systems of equations whose matrix has few diagonals, which are kept as rows, by
scipy.linalg: they cost what SciPy's cost, and so do their derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg.blas import find_best_blas_type

from tapeless.transforms.core.builder import atom_of_size, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import ArgumentError, UnsupportedError
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.joining import as_array, concatenate
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, column, row


def _infer(ab: Atom, b: Atom, **params: Any) -> Type:
    return Type(np.result_type(ab.type.dtype, b.type.dtype, np.float32), b.type.shape)


def _shift_diagonal(x: Atom, steps: int) -> Any:
    """x[0] goes to the place `steps`, zeros come after it from the other side."""
    if steps == 0:
        return x
    n = atom_of_size(x.type.shape[0])
    part = get(x, (slice(None, sub(n, steps)),)) if steps > 0 else get(x, (slice(-steps, None),))
    rest = (0,) * (x.type.ndim - 1)
    return pad(part, before=(max(steps, 0), *rest), after=(max(-steps, 0), *rest))


def _rows(ab: Atom, count: int) -> list[Any]:
    return [get(ab, (k,)) for k in range(count)]


def _sum(parts: Any) -> Any:
    first, *more = parts
    for each in more:
        first = add(first, each)
    return first


def _product(ab: Atom, x: Atom, below: int, above: int) -> Any:
    """A matrix of diagonals times x."""
    rows = _rows(ab, below + above + 1)
    scaled = [mul(column(d) if x.type.ndim == 2 else d, x) for d in rows]
    return _sum(_shift_diagonal(part, k - above) for k, part in enumerate(scaled))


def _transpose_bands(ab: Atom, below: int, above: int) -> Any:
    """The diagonals of the transpose."""
    rows = [_shift_diagonal(d, k - above) for k, d in enumerate(_rows(ab, below + above + 1))]
    return concatenate(*[row(d) for d in reversed(rows)], axis=0)


def _hermitian_bands(ab: Atom, lower: bool, beside: int) -> Any:
    """All diagonals of a Hermitian matrix of which one side is given."""
    near = _rows(ab, beside + 1)
    near = near if lower else near[::-1]  # the main one first
    steps = range(1, len(near))
    other = [_shift_diagonal(conjugate(near[k]), k if lower else -k) for k in steps]
    below, over = (near[1:], other) if lower else (other, near[1:])
    rows = [*reversed(over), near[0], *below]
    return concatenate(*[row(d) for d in rows], axis=0)


def _right(tangents: Any, moved: Any) -> Any:
    """What the right-hand side changes by, less what the matrix does."""
    if tangents[0] is None:
        return tangents[1]
    return neg(moved()) if tangents[1] is None else sub(tangents[1], moved())


def _general_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    right = _right(tangents, lambda: _product(tangents[0], outs[0], **params))
    return (None if right is None else solve_banded(primals[0], right, **params),)


def _general_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    below, above = params["below"], params["above"]
    return (None, solve_banded(_transpose_bands(args[0], **params), ct, below=above, above=below))


solve_banded: Op = Op(
    "solve_banded",
    _infer,
    "scipy.linalg.solve_banded(({below}, {above}), {0}, {1})",
    _general_jvp,
    _general_transpose,
    costly=True,
)


def _positive_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    n = params["beside"]
    right = _right(
        tangents, lambda: _product(_hermitian_bands(tangents[0], **params), outs[0], n, n)
    )
    return (None if right is None else solveh_banded(primals[0], right, **params),)


def _positive_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    return (None, solveh_banded(conjugate(args[0]), ct, **params))


solveh_banded: Op = Op(
    "solveh_banded",
    _infer,
    lambda args, params: (
        f"scipy.linalg.solveh_banded({{0}}, {{1}}{', lower=True' if params['lower'] else ''})"
    ),
    _positive_jvp,
    _positive_transpose,
    costly=True,
)


# The functions of scipy.linalg -------------------------------------------------------------------


def _operands(ab: Any, b: Any, name: str) -> tuple[Any, Any, int]:
    """Both in the dtype of the result, and the number of diagonals."""
    ab, b = as_array(ab), as_array(b)
    if ab.type.ndim != 2 or b.type.ndim not in (1, 2):
        raise UnsupportedError(f"scipy.linalg.{name} of several systems", "loop over them")
    diagonal_count = int(
        static(atom_of_size(ab.type.shape[0]), f"{name} needs to know how many diagonals")
    )
    kinds = ab.type.dtype, b.type.dtype
    if name == "solve_banded":  # SciPy's own: integers are float64
        dtype = np.result_type(np.float32, *(k if k.kind in "fc" else np.float64 for k in kinds))
    else:
        dtype = find_best_blas_type([np.zeros(0, k) for k in kinds])[1]
    return cast_to(ab, dtype), cast_to(b, dtype), diagonal_count


def _solve_banded(l_and_u: Any, ab: Any, b: Any, *flags: bool, **options: bool) -> Any:
    below, above = (int(static(k, "how many diagonals there are must be known")) for k in l_and_u)
    ab, b, diagonal_count = _operands(ab, b, "solve_banded")
    if below + above + 1 != diagonal_count:
        raise ArgumentError(
            "invalid values for the number of lower and upper diagonals: "
            f"l+u+1 ({below + above + 1}) does not equal ab.shape[0] ({diagonal_count})"
        )
    return solve_banded(ab, b, below=below, above=above)


def _solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    ab, b, diagonal_count = _operands(ab, b, "solveh_banded")
    return solveh_banded(ab, b, lower=bool(lower), beside=diagonal_count - 1)


RULES = {sl.solve_banded: _solve_banded, sl.solveh_banded: _solveh_banded}
