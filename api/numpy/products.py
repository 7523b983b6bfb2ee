"""Multiplies arrays with sums in another dtype, by `preferred_element_type`."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def wide(preferred: Any, *arrays: Any) -> Any:
    """The factors, in the dtype that the product is wanted in."""
    if preferred is None:
        return arrays
    return tuple(np.asarray(a).astype(preferred) for a in arrays)


def dot(a: Any, b: Any, *, preferred_element_type: Any = None) -> Any:
    """np.dot, in the dtype `preferred_element_type` where one is given.

    >>> import tapeless.numpy as jnp
    >>> jnp.dot(jnp.ones(3), jnp.ones(3))
    Array(3., dtype=float64)
    """
    return np.dot(*wide(preferred_element_type, a, b))


def vdot(a: Any, b: Any, *, preferred_element_type: Any = None) -> Any:
    """np.vdot, in the dtype `preferred_element_type` where one is given."""
    return np.vdot(*wide(preferred_element_type, a, b))


def inner(a: Any, b: Any, *, preferred_element_type: Any = None) -> Any:
    """np.inner, in the dtype `preferred_element_type` where one is given."""
    return np.inner(*wide(preferred_element_type, a, b))


def matmul(a: Any, b: Any, *, preferred_element_type: Any = None) -> Any:
    """np.matmul, in the dtype `preferred_element_type` where one is given."""
    return np.matmul(*wide(preferred_element_type, a, b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, preferred_element_type: Any = None) -> Any:
    """np.vecdot, in the dtype `preferred_element_type` where one is given."""
    x1, x2 = wide(preferred_element_type, x1, x2)
    product: Any = np.linalg.vecdot  # its stub has no axis
    return product(x1, x2, axis=axis)


def matvec(x1: Any, x2: Any, /) -> Any:
    """The product of a matrix and a vector, or of stacks of them."""
    return (np.asarray(x1) @ np.asarray(x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """The product of a conjugated vector and a matrix, or of stacks of them."""
    return (np.conj(x1)[..., None, :] @ np.asarray(x2))[..., 0, :]


def tensordot(a: Any, b: Any, axes: Any = 2, *, preferred_element_type: Any = None) -> Any:
    """np.tensordot, in the dtype `preferred_element_type` where one is given."""
    a, b = wide(preferred_element_type, a, b)
    return np.tensordot(a, b, axes)


def einsum(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto", preferred_element_type: Any = None
) -> Any:
    """np.einsum, in the dtype `preferred_element_type` where one is given.

    The order of products is chosen by its cost.

    >>> import tapeless.numpy as jnp
    >>> jnp.einsum("ij,j->i", jnp.eye(2), jnp.array([1.0, 2.0]))
    Array([1., 2.], dtype=float64)
    """
    if not isinstance(subscripts, str):  # operands and their axes in turn
        return np.einsum(subscripts, *operands)
    operands = wide(preferred_element_type, *operands)
    return np.einsum(subscripts, *operands, optimize=len(operands) > 2 and optimize is not False)


def convolve(a: Any, v: Any, mode: Any = "full", *, preferred_element_type: Any = None) -> Any:
    """np.convolve, in the dtype `preferred_element_type` where one is given."""
    a, v = wide(preferred_element_type, a, v)
    return np.convolve(a, v, mode)


def correlate(a: Any, v: Any, mode: Any = "valid", *, preferred_element_type: Any = None) -> Any:
    """np.correlate, in the dtype `preferred_element_type` where one is given."""
    a, v = wide(preferred_element_type, a, v)
    return np.correlate(a, v, mode)
