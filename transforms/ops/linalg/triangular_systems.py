"""Defines the operation that solves triangular systems; only to run it takes SciPy.

x = solve_triangular(a, b, lower=True)      a @ x = b, of which the upper part of a is not read
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.primitives.arithmetic import neg, sub
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, swap


def _triangular_source(args: Atoms, params: Params) -> str:
    options = ", trans=1" if params["trans"] else ""
    options += ", lower=True" if params["lower"] else ""
    options += ", unit_diagonal=True" if params["unit"] else ""
    return f"scipy.linalg.solve_triangular({{0}}, {{1}}{options})"


def _triangle(a: Atom, params: Params) -> Any:
    """The part of the matrix that is read, as it is used."""
    k = 1 if params["unit"] else 0
    part = tril(a, k=-k) if params["lower"] else triu(a, k=k)
    return swap(part) if params["trans"] else part


def _triangular_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    a_dot, b_dot = tangents
    if a_dot is not None:
        moved = matmul(_triangle(a_dot, params), outs[0])
        b_dot = neg(moved) if b_dot is None else sub(b_dot, moved)
    return (None if b_dot is None else solve_triangular(primals[0], b_dot, **params),)


def _triangular_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return (None, solve_triangular(args[0], ct, **{**params, "trans": not params["trans"]}))


solve_triangular: Op = Op(
    "solve_triangular",
    lambda a, b, **options: solve.infer(a, b),
    _triangular_source,
    _triangular_jvp,
    _triangular_transpose,
    costly=True,
)
