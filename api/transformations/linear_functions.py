"""Transposes linear functions, and lets functions have gradients of their own: `linear_transpose`,
`closure_convert`, `custom_gradient`, `fwd_and_bwd`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.argument_checks import checked_argnums
from tapeless.staging.emitted_names import base_name, check_callable
from tapeless.staging.subprogram import Subprogram, emit_all, fresh_input, is_value, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.check_grads import fresh
from tapeless.transformations.custom_rules import CustomVjp
from tapeless.transformations.eval_shape import stand_in
from tapeless.transformations.public_functions import vjp
from tapeless.transforms.analysis.free_variables import close
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.language import Block
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Any] = ()
) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: for `fun(x) = a @ x`, `y -> (a.T @ y,)`.

    fun      a linear function of floats and arrays of them
    primals  numbers, arrays or `ShapeDtypeStruct`s: only shapes and dtypes matter

    Returns a function of a value built like the result of `fun`, which gives a tuple with a value
    for each primal. It is the pull-back at zero; that `fun` is linear is checked by its values at
    two points, outside of functions that are transformed.

    Raises ValueError where it is not.

    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> linear_transpose(lambda x: a @ x, np.ones(2))(np.array([1.0, 0.0]))
    (array([1., 2.]),)
    """
    if tuple(reduce_axes):
        raise ArgumentError(f"linear_transpose: reduce_axes is {reduce_axes!r}", "leave it out")
    zeros = tree.map(_zeros, primals)
    value, pull = vjp(fun, *zeros)
    if not active() and any(np.any(leaf) for leaf in tree.leaves(value)):
        _refuse(fun, "is not 0 at 0")
    some = tree.map(_sample_point, zeros)

    def transpose(y: Any) -> tuple[Any, ...]:
        cotangents: tuple[Any, ...] = pull(y)
        if not active():
            elsewhere = vjp(fun, *some)[1](y)
            pairs = zip(tree.leaves(cotangents), tree.leaves(elsewhere), strict=True)
            if not all(np.allclose(a, b, equal_nan=True) for a, b in pairs):
                _refuse(fun, "has another derivative elsewhere")
        return cotangents

    return transpose


def _refuse(fun: Any, why: str) -> None:
    raise ArgumentError(
        f"linear_transpose: {base_name(fun)} is not linear: it {why}",
        "linearize it at a point: vjp(fun, x) gives the transpose of the derivative there",
    )


def _zeros(x: Any) -> Any:
    if not is_value(x) and not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise ArgumentTypeError(f"linear_transpose: {type(x).__name__} is no array")
    if active() and hasattr(x, "shape"):
        return call_user(np.zeros, x.shape, x.dtype)
    x = stand_in(x)
    return np.zeros(x.shape, x.dtype) if isinstance(x, np.ndarray) else type(x)(0)


def _sample_point(x: Any) -> Any:
    numbers = np.random.default_rng(0).uniform(-1.0, 1.0, np.shape(x))
    return numbers.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(numbers)


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """A function that reads no variables of the program from outside, and what it reads, as values
    to be passed on: for rules of `custom_vjp`, which know of arguments only.

    fun           a function
    example_args  arguments, of the shapes that it is called with

    Returns `(converted, values)`, with `converted(*args, *values) == fun(*args)`. Outside of a
    function that is transformed there is nothing to be passed on, and `fun` is returned.

    >>> from tapeless import grad
    >>> def f(x):
    ...     converted, values = closure_convert(lambda y: x * y, 2.0)
    ...     return converted(2.0, *values)
    >>> grad(f)(3.0)
    2.0
    """
    check_callable(fun, "closure_convert")
    if not active():
        return fun, []
    leaves, structure = tree.flatten(example_args)
    pairs = [fresh_input(x) if is_value(x) else (None, x) for x in leaves]
    region = Subprogram(fun, tree.unflatten(structure, [s for _, s in pairs]), {})
    parameters = [v for v, _ in pairs if v is not None]
    results = [a for a in region.atoms if a is not None]
    read = [v for v in close(region.body, results).params if v not in parameters]
    smooth = [v for v in read if v.type.differentiable]

    def call_converted(*args: Any) -> Any:
        split = len(args) - len(smooth)
        new = [x for x in tree.leaves(args[:split]) if is_value(x)]
        argument_of = dict(
            zip((*parameters, *smooth), (_atom(x) for x in (*new, *args[split:])), strict=True)
        )
        block, _ = refresh(Block((), tuple(region.body), tuple(results)), argument_of)
        emit_all(block.body)
        remaining = iter(block.results)
        values = zip(region.leaves, region.atoms, strict=True)
        return tree.unflatten(
            region.structure, [x if a is None else symbol(next(remaining), x) for x, a in values]
        )

    return _SameOutputs(call_converted), [symbol(v) for v in smooth]


class _SameOutputs:
    """A function of ours that user code calls in a staged run."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun

    def __call__(self, *args: Any) -> Any:
        return self.fun(*args)

    __staged_call__ = __call__


def _atom(x: Any) -> Any:
    return fresh_input(x)[0]


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the derivative that it returns: `fun(*args)` gives `(value, pull)`, and
    `pull(cotangent)` the cotangent of the argument, or a tuple of those of the arguments.

    Returns the function of the value alone. For other rules see `custom_vjp` and `custom_jvp`.

    >>> from tapeless import grad
    >>> @custom_gradient
    ... def f(x):
    ...     return x**2, lambda ct: ct * 100 * x
    >>> f(3.0), grad(f)(3.0)
    (9.0, 300.0)
    """
    check_callable(fun, "custom_gradient")
    function = CustomVjp(_Value(fun))

    def backward(residuals: Any, cotangent: Any) -> tuple[Any, ...]:
        bars = call_user(residuals.pull, cotangent)
        return tuple(bars) if isinstance(bars, (tuple, list)) else (bars,)

    function.defvjp(_Forward(fun), _SameOutputs(backward))
    return function


class _Value:
    """The value of a function that gives its pull-back as well."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun, self.__wrapped__, self.__name__ = fun, fun, base_name(fun)
        self.__doc__ = fun.__doc__

    def __call__(self, *args: Any) -> Any:
        return call_user(self.fun, *args)[0]

    __staged_call__ = __call__


class _Forward(_Value):
    """The value, and the pull-back, which is not looked into."""

    def __call__(self, *args: Any) -> Any:
        value, pull = call_user(self.fun, *args)
        return value, _Kept(pull)

    __staged_call__ = __call__


class _Kept:
    """A pull-back that is handed on."""

    def __init__(self, pull: Callable[..., Any]) -> None:
        self.pull = pull


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two halves of reverse mode: `fwd(*args)` gives `(value, residuals)`, or
    `(value, residuals, aux)`, and `bwd(residuals, cotangent)` the cotangents of the arguments.

    argnums  which arguments: a position, or several, for which a tuple is returned
    has_aux  whether `fun` returns `(value, aux)`
    jitted   of JAX; what is emitted runs as it is

    >>> fwd, bwd = fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
    >>> value, residuals = fwd(2.0, 3.0)
    >>> value, bwd(residuals, 1.0)
    (6.0, (3.0, 2.0))
    """
    chosen = checked_argnums(argnums, "fwd_and_bwd")
    many = chosen if isinstance(chosen, tuple) else (chosen,)

    def fwd(*args: Any) -> Any:
        return vjp(fun, *fresh(args), has_aux=has_aux)

    def bwd(residuals: Any, cotangent: Any) -> Any:
        bars = residuals(cotangent)
        cotangents = tuple(bars[k] for k in many)
        return cotangents if isinstance(chosen, tuple) else cotangents[0]

    return fwd, bwd


__all__ = ["closure_convert", "custom_gradient", "fwd_and_bwd", "linear_transpose"]
