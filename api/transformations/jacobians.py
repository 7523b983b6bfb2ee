"""Computes matrices of derivatives: along each direction of a basis, or back from each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tapeless import tree
from tapeless.dispatch.transformation import Transformed
from tapeless.dispatch.typed_function import P, TypedFunction
from tapeless.staging.argument_checks import (
    check_input,
    checked_argnums,
    checked_flag,
    positions,
)
from tapeless.staging.emitted_names import argument_names, base_name
from tapeless.staging.subprogram import as_overwritable, emit_all, refuse_shared, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.forward_and_reverse import Grad
from tapeless.transformations.linearized_call import Half, PullBack, PushForward, ValueTree
from tapeless.transformations.mapping.vmap import record_statements
from tapeless.transformations.public_functions import jvp
from tapeless.transforms.core import dims
from tapeless.transforms.core.batching_context import is_nested
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Type, Var
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import ArgumentTypeError, NotDifferentiableError
from tapeless.transforms.ops.primitives.new_arrays import eye, ones, zero
from tapeless.transforms.ops.primitives.shapes import move, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import part
from tapeless.transforms.vmap.batch import Batch


class Restricted:
    """A function of some of its positional arguments; the others stay as they are."""

    def __init__(
        self, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], at: tuple[int, ...]
    ) -> None:
        self.fun, self.args, self.kwargs, self.at = fun, args, kwargs, at
        self.__name__ = base_name(fun)

    def __call__(self, *chosen: Any) -> Any:
        args = list(self.args)
        for k, value in zip(self.at, chosen, strict=True):
            args[k] = value
        return call_user(self.fun, *args, **self.kwargs)

    __staged_call__ = __call__


class Jacobian(Transformed):
    """The derivatives of all results by all elements of the chosen arguments."""

    half: type[Half]
    title = ""  # what errors say of the transformation

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: int | Sequence[int] = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
    ) -> None:
        self.argnums = checked_argnums(argnums, self.title)
        self.has_aux = checked_flag(has_aux, self.title, "has_aux")
        self.holomorphic = checked_flag(holomorphic, self.title, "holomorphic")
        super().__init__(fun)

    def options(self) -> tuple[Any, ...]:
        return (self.argnums, self.has_aux, self.holomorphic)

    def describe(self) -> str:
        return f"the Jacobian of {base_name(self.fun)}"

    def function_name(self) -> str:
        """The name of the user's function."""
        return base_name(self.fun)

    def argument_positions(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        return positions(args, self.argnums, self.title, self.function_name())

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = argument_names(self.fun, args, {})
        for k in self.argument_positions(args):
            check_input(args[k], self.title, names[k], self.holomorphic)

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.check(args, kwargs)
        at = self.argument_positions(args)
        passed = tree.leaves((args, kwargs))
        (args, kwargs), own = as_overwritable((args, kwargs), ())
        restricted = Restricted(self.fun, args, kwargs, at)
        half = self.half(restricted, tuple(args[k] for k in at), {}, self.has_aux, self.title)
        refuse_shared(passed, own)
        self.check_results(half.returned)
        with record_statements():
            blocks = self.entries(half)
        rows = [tree.unflatten(half.arguments.structure, map(_array, row)) for row in blocks]
        if not isinstance(self.argnums, tuple):
            rows = [row[0] for row in rows]
        else:
            rows = [tuple(row) for row in rows]
        matrix = tree.unflatten(half.returned.structure, rows)
        return (matrix, half.aux) if self.has_aux else matrix

    def check_results(self, returned: ValueTree) -> None:
        """Refuses results without derivative."""
        if len(returned.smooth) != len(returned.likes):
            raise NotDifferentiableError(
                f"{self.title}: {self.function_name()} returns values that have no derivative",
                "return floats, and the rest by has_aux=True",
            )
        if not self.holomorphic and any(k.dtype.kind == "c" for k in returned.kinds):
            raise ArgumentTypeError(
                f"{self.title} needs real results; {self.function_name()} returns complex numbers",
                "pass holomorphic=True, or take real and imaginary parts",
            )

    def entries(self, half: Half) -> list[list[Atom]]:
        """The blocks of the Jacobian, by leaves of the results and of the arguments."""
        raise NotImplementedError


class ForwardJacobian(Jacobian):
    """By columns: one derivative along each element of the arguments."""

    suffix, half = "jacfwd", PushForward
    title = suffix

    def entries(self, half: Half) -> list[list[Atom]]:
        starts, derivative_columns = over_basis(half, half.arguments.kinds)
        columns = list(zip(half.arguments.kinds, starts, strict=True))
        return [
            [_input_axes_last(part(d, 0, a, a + _count(x)), x, y) for x, a in columns]
            for d, y in zip(derivative_columns, half.returned.kinds, strict=True)
        ]


class BackwardJacobian(Jacobian):
    """By rows: one derivative back from each element of the results."""

    suffix, half = "jacrev", PullBack
    title = suffix

    def entries(self, half: Half) -> list[list[Atom]]:
        starts, derivative_rows = over_basis(half, half.returned.kinds)
        rows = zip(half.returned.kinds, starts, strict=True)
        kinds = half.arguments.kinds
        return [
            [
                reshape(part(d, 0, a, a + _count(y)), shape=(*y.shape, *x.shape))
                for d, x in zip(derivative_rows, kinds, strict=True)
            ]
            for y, a in rows
        ]


class HessianRows(BackwardJacobian):
    """The gradient of each result, of which `Hessian` takes the derivative."""

    title = "hessian"


class Hessian(ForwardJacobian):
    """All second derivatives: forward over reverse."""

    title = "hessian"

    fun: HessianRows

    def function_name(self) -> str:
        return base_name(self.fun.fun)


def _array(a: Atom) -> Any:
    return symbol(a, np.zeros(0))


def _count(t: Type) -> Size:
    return dims.product(t.shape)


def _input_axes_last(block: Atom, x: Type, y: Type) -> Any:
    """A block with its first axis, which runs over all elements of `x`, behind the others."""
    moved = move(block, (0,), (y.ndim,))
    return reshape(moved, shape=(*y.shape, *x.shape))


def over_basis(half: Half, kinds: list[Type]) -> tuple[list[Size], list[Atom]]:
    """The derivative for all vectors of a basis, of the leaves one after the other: where each leaf
    starts in it, and the results with a first axis for the basis."""
    starts: list[Size] = []
    total: Size = 0
    for kind in kinds:
        starts.append(total)
        total = total + _count(kind)
    if total == 1:
        return starts, _single(half, kinds)
    batch = Batch(total, is_nested())
    element_of: dict[Var, Atom] = {}
    for vector, kind, start in zip(half.given, kinds, starts, strict=True):
        element = Var(vector.type, vector.name)
        element_of[vector] = element
        batch.env[element] = (_basis(total, kind, start), 0)
    block, _ = refresh(Block((), tuple(half.body), tuple(half.results)), element_of)
    batch.block(block.body, block.results)
    return starts, [batch.front(a) for a in block.results]


def _single(half: Half, kinds: list[Type]) -> list[Atom]:
    """The same where the basis is one vector."""
    element_of = {
        v: _ones_of_type(k)
        for v, k in zip(half.given, kinds, strict=True)
        if dims.product(k.shape) == 1
    }
    element_of |= {v: zero(v.type) for v in half.given if v not in element_of}
    block, _ = refresh(Block((), tuple(half.body), tuple(half.results)), element_of)
    emit_all(block.body)
    return [reshape(a, shape=(1, *a.type.shape)) for a in block.results]


def _ones_of_type(kind: Type) -> Atom:
    return ones(shape=kind.shape, dtype=kind.dtype) if kind.shape else atom(kind.dtype.type(1))


def _basis(total: Size, kind: Type, start: Size) -> Any:
    """The part of the unit vectors that belongs to one leaf."""
    whole = eye(sides=(total, total), k=0, dtype=kind.dtype)
    own = part(whole, 1, start, start + _count(kind))
    return reshape(own, shape=(total, *kind.shape))


def jacfwd(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> TypedFunction[P, Any]:
    """The Jacobian of a function, column by column in forward mode: for few inputs.

    argnums      the positional argument or arguments to differentiate by
    has_aux      `fun` returns a pair (value, anything)
    holomorphic  inputs and outputs are complex, and `fun` is complex differentiable

    Returns a function of the same arguments. It returns, for each leaf of the result, a tree built
    like the argument (a tuple of trees for a tuple of argnums), whose leaves have the shape of the
    result followed by that of the argument; (jacobian, aux) with `has_aux`.

    Raises ValueError for argnums that do not fit, TypeError for what has no derivative.

    >>> import numpy as np
    >>> jacfwd(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return cast("TypedFunction[P, Any]", ForwardJacobian(fun, argnums, has_aux, holomorphic))


def jacrev(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TypedFunction[P, Any]:
    """The Jacobian of a function, row by row in reverse mode: for few outputs.

    Arguments, results and errors are those of `jacfwd`; integers are refused as ever, whatever
    `allow_int` says.

    >>> import numpy as np
    >>> jacrev(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """
    return cast("TypedFunction[P, Any]", BackwardJacobian(fun, argnums, has_aux, holomorphic))


jacobian = jacrev


def hessian(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> TypedFunction[P, Any]:
    """The matrix of second derivatives of a function, forward over reverse.

    Arguments and errors are those of `jacfwd`. For each leaf of the result, the function that is
    returned gives a tree of trees built like the argument, of second derivatives.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    rows = HessianRows(fun, argnums, has_aux, holomorphic)
    return cast("TypedFunction[P, Any]", Hessian(rows, argnums, has_aux, holomorphic))


def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a function that returns one number, times a vector, without the Hessian.

    primals   the positional arguments, a tuple or list
    tangents  the vector: one part for each primal, with its structure, shapes and dtypes

    Returns the product: built like the argument, or a tuple if there are several. It costs as much
    as a few evaluations of the function.

    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    """
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(Grad(fun, argnums), primals, tangents)[1]


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]
