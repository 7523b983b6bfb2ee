"""Provides NumPy under the names of jax.numpy: a program that says `jnp` only changes this import.

Functions are NumPy's where it has them, and mean the same in a transformed function as `np` does.
Outside, they give arrays with `.at`, `.block_until_ready()`, `.device` and their kin.

>>> import tapeless
>>> import tapeless.numpy as jnp
>>> x = jnp.arange(3.0).at[1].add(10.0)
>>> x
Array([ 0., 11.,  2.], dtype=float64)
>>> tapeless.grad(lambda x: jnp.sum(jnp.cos(x) * x.at[0].set(2.0)))(x).round(3)
Array([ 0.   , 11.004, -2.235], dtype=float64)
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.numpy instead of {__name__}")

from typing import Any

import numpy as np

from tapeless.numpy import (
    extra_keywords,
    fft,
    fixed_size_results,
    linalg,
    products,
    same_as_numpy,
    sets,
    take_and_put,
)
from tapeless.numpy.array_functions import Ufunc, functions_by_name, missing, ours
from tapeless.numpy.elementwise import frompyfunc
from tapeless.numpy.vectorized import vectorize

_held: dict[str, Any] = {
    **{name: getattr(np, name) for name in same_as_numpy.OBJECTS.split()},
    **functions_by_name(np, same_as_numpy.FUNCTIONS),
    **ours(
        fixed_size_results,
        "argwhere bincount compress extract flatnonzero mask_indices nonzero repeat where",
    ),
    **ours(products, "convolve correlate dot einsum inner matmul matvec tensordot vdot vecdot"),
    **ours(products, "vecmat"),
    **ours(sets, "intersect1d setdiff1d setxor1d union1d unique unique_all unique_counts"),
    **ours(sets, "unique_inverse unique_values"),
    **ours(take_and_put, "fill_diagonal place put put_along_axis take take_along_axis"),
    **ours(
        extra_keywords,
        "argsort astype clip count_nonzero dstack histogram hstack indices isscalar",
    ),
    **ours(extra_keywords, "polydiv polymul prod ravel_multi_index roots sort sum vstack"),
    "ComplexWarning": np.exceptions.ComplexWarning,
    "complex_": np.complex128,
    "fft": fft,
    "float_": np.float64,
    "frompyfunc": frompyfunc,
    "linalg": linalg,
    "ndarray": np.ndarray,  # which all arrays are, also while staging
    "ufunc": Ufunc,
    "vectorize": vectorize,
}
globals().update(_held)
__all__ = sorted(_held)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
