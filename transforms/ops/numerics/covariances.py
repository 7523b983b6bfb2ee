"""Defines covariances and correlations of rows, also of samples with weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.reductions import count, left_of, mean, sum
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_other_size
from tapeless.transforms.ops.numpy.squeezing import UNKNOWN_RANK, squeeze_axes
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import less, not_equal, rint
from tapeless.transforms.ops.primitives.elementwise import conjugate, maximum, minimum, sqrt
from tapeless.transforms.ops.primitives.joining import as_array, concatenate
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, count_up
from tapeless.transforms.ops.primitives.shapes import cast_to, column, reshape, row, swap


def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    for name, v in (("m", m), ("y", y)):
        if v is not None and as_array(v).type.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    if ddof is not None and isinstance(ddof, float) and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    samples = [as_array(v) for v in (m, y) if v is not None]
    rows = [_rows(v, rowvar, second=k > 0) for k, v in enumerate(samples)]
    rows = rows if dtype is None else [cast_to(v, np.dtype(dtype)) for v in rows]
    x = rows[0] if len(rows) == 1 else concatenate(*rows, axis=0)
    covariance = _of_rows(x, ddof if ddof is not None else 0 if bias else 1, fweights, aweights)
    covariance = covariance if dtype is None else cast_to(covariance, np.dtype(dtype))
    return squeeze_axes(covariance, (0, 1))


def _of_rows(x: Atom, ddof: Any, fweights: Any, aweights: Any) -> Any:
    if fweights is None and aweights is None:
        x = x - mean(x, axes=(1,), keepdims=True)
        n = left_of(count(x.type, (1,)), ddof)
        return truediv(matmul(x, _adjoint(x)), n)
    w, n = _weights(x, ddof, fweights, aweights)
    average = truediv(sum(mul(x, row(w)), axes=(1,), keepdims=True), _total(w))
    x = x - average
    return truediv(matmul(x, _adjoint(mul(x, row(w)))), n)


def _weights(x: Atom, ddof: Any, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    """The weights of samples, and what a weighted sum of squares is divided by."""
    frequencies, reliabilities = (
        _check_weights(x, fweights, "fweights"),
        _check_weights(x, aweights, "aweights"),
    )
    if reliabilities is None:
        raise_where(
            not_equal(frequencies, rint(frequencies)), TypeError, "fweights must be integer"
        )
        return frequencies, maximum(_total(frequencies) - ddof, 0.0)
    w = reliabilities if frequencies is None else mul(frequencies, reliabilities)
    total = _total(w)
    lost = ddof * truediv(_total(mul(w, reliabilities)), total)
    return w, total if ddof == 0 else maximum(total - lost, 0.0)


def _check_weights(x: Atom, weights: Any, name: str) -> Any:
    """Weights that the user gives, one for each sample."""
    if weights is None:
        return None
    w = cast_to(as_array(weights), FLOAT)
    if w.type.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.type.shape[0] != x.type.shape[1]:
        test = not_equal(atom_of_size(w.type.shape[0]), atom_of_size(x.type.shape[1]))
        raise_where(test, RuntimeError, f"incompatible numbers of samples and {name}")
    raise_where(less(w, 0.0), ValueError, f"{name} cannot be negative")
    return w


def _total(w: Atom) -> Any:
    return sum(w, axes=(0,), keepdims=False)


def _adjoint(x: Atom) -> Any:
    return swap(conjugate(x) if x.type.dtype.kind == "c" else x)


def _rows(x: Atom, rowvar: bool, second: bool) -> Any:
    x = cast_to(x, np.result_type(x.type.dtype, float))
    if x.type.ndim < 2:
        return reshape(x, shape=(1, *(x.type.shape or (1,))))
    if rowvar:
        return x
    if second:  # np.cov does not turn a second array of one row
        if x.type.shape[0] == 1:
            return x
        require_other_size(x.type.shape[0], 1, ValueError, UNKNOWN_RANK)
    return swap(x)


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if not c.type.shape:
        return c / c
    width = sqrt(get(c, (indices := count_up(c.type.shape[0]), indices)))
    correlation = c / column(width) / row(width)
    return minimum(maximum(correlation, -1.0), 1.0)


NUMPY = {np.cov: _cov, np.corrcoef: _corrcoef}
