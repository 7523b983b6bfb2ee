"""Defines the public functions `grad` and `value_and_grad`, with JAX's signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from tapeless.dispatch.typed_function import P, R, TypedFunction
from tapeless.transformations.forward_and_reverse import Grad
from tapeless.transformations.ignored_parameters import check_unneeded


def grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
    *,
    argnames: str | Sequence[str] | None = None,
) -> TypedFunction[P, Any]:
    """The gradient of a function that returns one number.

    fun          returns a float or an array of shape (); with `has_aux` a pair (number, anything)
    argnums      the positional argument or arguments to differentiate by, negative from the end
    argnames     the same for arguments that are passed by name; alone, it replaces argnums
    holomorphic  inputs and output are complex, and `fun` is complex differentiable
    allow_int, reduce_axes
                 of JAX: integers are refused as ever, and there are no axes to reduce

    Of a complex argument z = x + iy, where `fun` is real, the gradient is d/dx - i d/dy, as in JAX.

    Returns a function of the same arguments. It returns the gradient: built like the argument,
    with its shapes and dtypes; a tuple for a tuple of argnums; a dict by name with argnames;
    (gradient, aux) with `has_aux`. The caller's arrays are not changed.

    Raises at the call, before anything runs: ValueError for argnums that do not fit, TypeError
    for arguments that are not floats and for results that are not one float.

    >>> import numpy as np
    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(lambda w, x: np.sum(w["a"] * x))({"a": np.ones(2)}, np.array([3.0, 4.0]))
    {'a': array([3., 4.])}
    """
    check_unneeded("grad", allow_int=allow_int, reduce_axes=reduce_axes)
    gradient = Grad(fun, argnums, has_aux, holomorphic, argnames)
    return cast("TypedFunction[P, Any]", gradient)


def value_and_grad(
    fun: Callable[P, R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
    *,
    argnames: str | Sequence[str] | None = None,
) -> TypedFunction[P, tuple[R, Any]]:
    """The value of a function that returns one number, and its gradient.

    Arguments and errors are those of `grad`. The function that is returned returns
    (value, gradient), or ((value, aux), gradient) with `has_aux`.

    >>> value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    """
    check_unneeded("value_and_grad", allow_int=allow_int, reduce_axes=reduce_axes)
    both = Grad(fun, argnums, has_aux, holomorphic, argnames, with_value=True)
    return cast("TypedFunction[P, tuple[R, Any]]", both)


__all__ = ["grad", "value_and_grad"]
