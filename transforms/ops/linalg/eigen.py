"""Defines eigenvalues and eigenvectors of matrices that need not be symmetric: always complex
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import inverse_gaps, parted
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.reductions import amax
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.elementwise import absolute, conjugate, imag, real
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.lapack_types import check_matrix
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, batch_of_stack, sum


def _complex(a: Atom) -> Any:
    return np.result_type(np.complex64, np.linalg.eigvals(np.eye(1, dtype=a.type.dtype)).dtype)


def _eig_infer(a: Atom) -> tuple[Type, Type]:
    check_matrix(a)
    return Type(_complex(a), a.type.shape[:-1]), Type(_complex(a), a.type.shape)


EIG = '''
def eig(a):
    """Eigenvalues and eigenvectors, as complex numbers also where all of them are real."""
    w, v = np.linalg.eig(a)
    kind = np.result_type(w, np.complex64)
    return w.astype(kind), v.astype(kind)
'''


def _changes(a: Atom, w: Atom, v: Atom, a_dot: Atom) -> Any:
    """How eigenvalues change, and by which combinations of eigenvectors these do."""
    return parted(a, v, v, inverse_gaps(w), solve(v, matmul(a_dot, v)), of="eig")


def _eig_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Eigenvectors stay of length one, and their largest entry stays real, as LAPACK has them."""
    if tangents[0] is None:
        return (None, None)
    w, v = outs
    w_dot, turn = _changes(primals[0], w, v, tangents[0])
    v_dot = matmul(v, turn)
    rows = v.type.ndim - 2
    along = sum(mul(conjugate(v), v_dot), axes=(rows,), keepdims=True)
    v_dot = sub(v_dot, mul(v, along))
    size = absolute(v)
    largest = equal(size, amax(size, axes=(rows,), keepdims=True))
    turn = sum(select(largest, imag(v_dot), 0.0), axes=(rows,), keepdims=True)
    turn = truediv(turn, sum(select(largest, real(v), 0.0), axes=(rows,), keepdims=True))
    return (w_dot, add(v_dot, mul(v, mul(turn, -1j))))


eig: Op = Op("eig", _eig_infer, ("eig({0})", EIG), _eig_jvp, costly=True, batch=batch_of_stack)


def _eigvals_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    w, v = eig(primals[0])
    return (_changes(primals[0], w, v, tangents[0])[0],)


def _eigvals_source(args: Atoms, params: Params) -> str:
    return f"np.linalg.eigvals({{0}}).astype(np.{_complex(args[0]).name})"


eigvals = Op(
    "eigvals",
    lambda a: _eig_infer(a)[0],
    _eigvals_source,
    _eigvals_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _eig(a: Any) -> Any:
    return type(np.linalg.eig(np.eye(1)))(*eig(as_array(a)))


NUMPY: dict[Any, Any] = {
    np.linalg.eig: _eig,
    np.linalg.eigvals: lambda a: eigvals(as_array(a)),
}
