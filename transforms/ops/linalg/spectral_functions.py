"""Defines functions of a matrix by its eigenvalues, v f(w) v^-1, with derivatives of all orders
also where eigenvalues coincide. Of a Hermitian matrix the inverse of v is v^H.

The n-th derivative in the directions E1, ..., En is, in the basis of the eigenvectors, the sum over
k1, ..., k(n-1) and over the orders of the directions of

    f[w_i, w_k1, ..., w_j] E1[i, k1] ... En[k(n-1), j]

with divided differences f[...] of f, which are derivatives where their arguments coincide (Yu. L.
Daleckii and S. G. Krein, 1956; N. J. Higham, Functions of Matrices, 2008, theorem 3.11 and chapter
3.2). Formulas with 1 / (w_j - w_i) alone are nan there, or miss what f'(w) adds.
"""

from __future__ import annotations

import functools
import itertools
import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import (
    Builder,
    atom,
    broadcast,
    building,
    current,
    defining_statement,
)
from tapeless.transforms.core.language import Atom, Let, Statement, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import adjoint, matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import hermitian_from_triangle, stacks
from tapeless.transforms.ops.linalg.solve import inv
from tapeless.transforms.ops.numpy.indexing import take_along
from tapeless.transforms.ops.numpy.sorting import argsort
from tapeless.transforms.ops.primitives.arithmetic import add, mul, truediv
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    column,
    row,
    sum_to,
    swap,
)
from tapeless.transforms.ops.primitives.strong_zero import strong_div, strong_mul

DIVIDED = '''
def divided_differences(w, *slopes):
    """f[w_i, w_j, ...] for ascending w, of a function with these values and derivatives at w.

    Near quotients are kept within the slopes at both ends, so rounding cannot spoil them."""
    if np.iscomplexobj(slopes[0]):
        real = divided_differences(w, *(s.real for s in slopes))
        return real + 1j * divided_differences(w, *(s.imag for s in slopes))
    table, factorial, eps = slopes[0], 1, np.finfo(w.dtype).eps
    for k, slope in enumerate(slopes[1:], 1):
        factorial *= k
        places = np.sort(np.indices(w.shape[-1:] * (k + 1)), axis=0)
        gap = w[..., places[-1]] - w[..., places[0]]
        rise = table[(..., *places[1:])] - table[(..., *places[:-1])]
        ends = slope[..., places[0]] / factorial, slope[..., places[-1]] / factorial
        quotient = rise / np.where(gap == 0, 1, gap)
        size = np.max(np.abs(w), axis=-1, initial=0).reshape(*w.shape[:-1], *[1] * (k + 1))
        within = np.clip(quotient, np.minimum(*ends), np.maximum(*ends))
        table = np.where(gap <= eps ** (1 / (k + 2)) * size, within, quotient)
    return table
'''


COMPLEX = '''
def complex_differences(w, *slopes):
    """f[w_i, w_j, ...] for complex w of which those that are equal are neighbours.

    Near quotients are means of slopes, so rounding cannot spoil them."""
    table, factorial, eps = slopes[0], 1, np.finfo(w.dtype).eps
    size = np.max(np.abs(w), axis=-1, initial=0)
    for k, slope in enumerate(slopes[1:], 1):
        factorial *= k
        places = np.sort(np.indices(w.shape[-1:] * (k + 1)), axis=0)
        gap = w[..., places[-1]] - w[..., places[0]]
        rise = table[(..., *places[1:])] - table[(..., *places[:-1])]
        mean = sum(slope[..., p] for p in places) / ((k + 1) * factorial)
        near = np.abs(gap) <= eps ** (1 / (k + 2)) * size.reshape(*w.shape[:-1], *[1] * (k + 1))
        table = np.where(near, mean, rise / np.where(near, 1, gap))
    return table
'''
#: The direction, in the complex plane, along which eigenvalues are sorted: two that differ have the
#: same place along it by accident only.
DIRECTION = np.exp(0.7j)


@dataclass(frozen=True, eq=False)
class ScalarFunction:
    """An elementwise function of an eigenvalue and of parameters, as operations on scalars.

    params  the eigenvalue and the parameters
    body    what is computed of them, one result each
    result  the value
    """

    params: tuple[Var, ...]
    body: tuple[Let, ...]
    result: Atom

    def __call__(self, *args: Atom) -> Any:
        """The values for eigenvalues and parameters of any shape."""
        values: dict[Any, Atom] = dict(zip(self.params, args, strict=True))
        for s in self.body:
            out = s.op(*(values.get(a, a) for a in s.args), **s.params)
            if isinstance(out, Var):
                out.name = out.name or s.outs[0].name
            values[s.outs[0]] = out
        return values.get(self.result, self.result)

    @functools.cached_property
    def slope(self) -> ScalarFunction:
        """The derivative by the eigenvalue."""
        return self.derivative_by(0)

    def derivative_by(self, k: int) -> ScalarFunction:
        """The derivative by parameter k."""
        with building(Builder()) as b:
            kind = _dtype_of(self.params[k])
            values: dict[Any, Any] = dict(zip(self.params, self.params, strict=True))
            tangents: dict[Any, Any] = {self.params[k]: atom(kind.type(1))}
            for s in self.body:
                _record_tangent(s, values, tangents)
            result = tangents.get(self.result, atom(_dtype_of(self.result).type(0)))
        return ScalarFunction(self.params, _needed_statements(b.blocks[0], result), result)


def _record_tangent(s: Let, values: dict[Any, Any], tangents: dict[Any, Any]) -> None:
    """Records the statement and its tangent."""
    args = tuple(values.get(a, a) for a in s.args)
    out = s.op(*args, **s.params)
    values[s.outs[0]] = out
    dots = tuple(tangents.get(a) for a in s.args)
    if isinstance(out, Var) and s.op.jvp is not None and any(d is not None for d in dots):
        statements = current().blocks[-1]
        start = len(statements)
        tangents[s.outs[0]] = s.op.jvp(args, dots, (out,), s.params)[0]
        chosen = {d for d in dots if d is not None and _may_be_chosen(d)}
        statements[start:] = _with_strong_zeros(statements[start:], chosen)


def _may_be_chosen(tangent: Atom) -> bool:
    """Whether a choice may have made a tangent exactly zero."""
    let = defining_statement(tangent)
    return let is not None and (let.op is select or any(map(_may_be_chosen, let.args)))


def _with_strong_zeros(body: Sequence[Any], tangents: set[Atom]) -> list[Let]:
    """The statements of a tangent; what a choice made exactly zero stays so when it is scaled."""
    scaled = []
    for s in body:
        k = next((k for k, a in enumerate(s.args) if a in tangents and isinstance(a, Var)), None)
        if s.op is truediv and k == 0:
            s = replace(s, op=strong_div)
        elif s.op is mul and k is not None:
            s = replace(s, op=strong_mul, args=(s.args[k], s.args[1 - k]))
        if k is not None:
            tangents = tangents | set(s.outs)
        scaled.append(s)
    return scaled


def _dtype_of(a: Atom) -> np.dtype[Any]:
    return a.type.dtype  # type: ignore[no-any-return]


def _needed_statements(body: Sequence[Statement], result: Atom) -> tuple[Let, ...]:
    """The statements that the result depends on."""
    wanted, kept = {result}, []
    for s in reversed(body):
        assert isinstance(s, Let)
        if s.outs[0] in wanted:
            wanted.update(s.args)
            kept.append(s)
    return tuple(reversed(kept))


def _split(args: Atoms, f: ScalarFunction) -> tuple[Atoms, Atoms, Atoms]:
    """(a, w, v), the parameters of f, and the directions."""
    count = 2 + len(f.params)
    return args[:3], args[3:count], args[count:]


def _infer(*args: Atom, f: ScalarFunction, of: str) -> Type:
    (_, w, v), parameters, directions = _split(args, f)
    lead = broadcast(
        w.type.shape[:-1],
        *(x.type.shape for x in parameters),
        *(e.type.shape[:-2] for e in directions),
    )
    dtypes = [x.type.dtype for x in (v, *directions)]
    return Type(np.result_type(_dtype_of(f.result), *dtypes), (*lead, *v.type.shape[-2:]))


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    f, of = params["f"], params["of"]
    (a_dot, *_), moved = tangents[:1], tangents[3:]
    count = len(f.params) - 1
    if a_dot is not None and of != "eig":
        a_dot = hermitian_from_triangle(a_dot, of == "lower")
    parts = [] if a_dot is None else [spectral(*primals, a_dot, **params)]
    for k, dot in enumerate(moved[:count], 1):
        if dot is not None:
            by_parameter = spectral(*primals, f=f.derivative_by(k), of=of)
            parts.append(mul(column(column(dot)) if dot.type.shape else dot, by_parameter))
    for k, dot in enumerate(moved[count:], 3 + count):
        if dot is not None:
            parts.append(spectral(*primals[:k], dot, *primals[k + 1 :], **params))
    return (functools.reduce(add, parts) if parts else None,)


def _transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    """The trace of y times the derivative is symmetric in y and the directions."""
    cotangents: list[Any] = [None] * len(args)
    for k in np.flatnonzero(linear):
        moved = spectral(*args[:k], swap(ct), *args[k + 1 :], **params)
        cotangents[k] = _as_part(sum_to(swap(moved), args[k].type), args[k])
    return tuple(cotangents)


def _as_part(cotangent: Any, direction: Atom) -> Any:
    """The cotangent of a direction, which is real where that is."""
    is_real = direction.type.dtype.kind != "c"
    return real(cotangent) if is_real and cotangent.type.dtype.kind == "c" else cotangent


#: (a, w, v, *parameters, *directions) -> the derivative of v f(w) v^-1 in the directions, for the
#: eigenvalues w and eigenvectors v of a matrix `of` which a has a triangle ('lower' or 'upper': it
#: is Hermitian), or all ('eig').
spectral: Op = Op("spectral_function", _infer, "f({0})", _jvp, _transpose, costly=True)


def _batch(op: Op, args: Atoms, axes: Any, params: Params) -> Any:
    _, parameters, directions = _split(args, params["f"])
    ranks = (2, 1, 2, *[0] * len(parameters), *[2] * len(directions))
    return stacks(*ranks)(op, args, axes, params)


spectral.batch = _batch


def _differences_infer(w: Atom, *slopes: Atom) -> Type:
    lead = broadcast(*(a.type.shape[:-1] for a in (w, *slopes)))
    dtype = np.result_type(w.type.dtype, *(_dtype_of(s) for s in slopes))
    return Type(dtype, (*lead, *w.type.shape[-1:] * len(slopes)))


def _differences_source(args: Atoms, params: Params) -> tuple[str, str]:
    places = ", ".join(f"{{{k}}}" for k in range(len(args)))
    if args[0].type.dtype.kind == "c":
        return f"complex_differences({places})", COMPLEX
    return f"divided_differences({places})", DIVIDED


differences = Op("divided_differences", _differences_infer, _differences_source, costly=True)


def products(s: Let) -> Any:
    """Records the products of matrices that a spectral function stands for."""
    f = s.params["f"]
    (_, w, v), parameters, directions = _split(s.args, f)
    if len(directions) > 1 and s.params["of"] == "eig":
        last = w.type.ndim - 1
        order = argsort(real(mul(w, DIRECTION)), axis=last)
        w, v = take_along(w, order, last), take_along(v, row(order), last + 1)
    wide = tuple(column(x) if x.type.shape else x for x in parameters)
    slopes = [_values(f, w, wide)]
    for _ in directions:
        f = f.slope
        slopes.append(_values(f, w, wide))
    back = inv(v) if s.params["of"] == "eig" else adjoint(v)
    if not directions:
        return matmul(mul(v, row(slopes[0])), back)
    inner = [matmul(matmul(back, e), v) for e in directions]
    moved = _in_basis(differences(w, *slopes), inner)
    return matmul(matmul(v, moved), back)


def _values(f: ScalarFunction, w: Atom, parameters: Atoms) -> Any:
    """One value for each eigenvalue, also of a function of the parameters alone."""
    values = f(w, *parameters)
    shape = broadcast(values.type.shape, w.type.shape)
    return values if values.type.shape == shape else broadcast_to(values, shape=shape)


def _in_basis(table: Atom, inner: list[Any]) -> Any:
    """The derivative in the basis of the eigenvectors."""
    if len(inner) == 1:
        return mul(table, inner[0])
    places = string.ascii_lowercase[: len(inner) + 1]
    pairs = ["".join(pair) for pair in itertools.pairwise(places)]
    terms = []
    for order in itertools.permutations(inner):
        operands = (table, *order)
        ends = (places, *pairs)
        lead = [a.type.ndim - len(letters) for a, letters in zip(operands, ends, strict=True)]
        letters = ",".join(
            string.ascii_uppercase[max(lead) - n : max(lead)] + end
            for n, end in zip(lead, ends, strict=True)
        )
        out = string.ascii_uppercase[: max(lead)] + places[0] + places[-1]
        terms.append(einsum(*operands, subscripts=f"{letters}->{out}", optimize=False))
    return functools.reduce(add, terms)
