"""The public transformations, with JAX's names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeless.autodiff import Grad, Jvp


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Grad:
    """The gradient of a scalar function.

    >>> import numpy as np
    >>> grad(lambda x: x ** 2 * np.sin(x))(0.0)
    0.0
    """
    return Grad(fun, argnums, has_aux, holomorphic, argnames)


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Grad:
    """The value and the gradient."""
    return Grad(fun, argnums, has_aux, holomorphic, argnames, with_value=True)


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """The value and the derivative along a tangent."""
    return Jvp(fun, None, has_aux)(*primals, *tangents)
