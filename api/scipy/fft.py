"""Computes cosine transforms: jax.scipy.fft, by SciPy, whose functions transformations know.

>>> import numpy as np
>>> dct(np.array([1.0, 2.0, 3.0])).round(3)
array([12.   , -3.464, -0.   ])
>>> idct(dct(np.array([1.0, 2.0, 3.0]))).round(6)
array([1., 2., 3.])
"""

from __future__ import annotations

from typing import Any

import scipy.fft as _scipy

from tapeless.numpy.array_functions import follow_arguments

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def dct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The cosine transform along an axis.

    x     an array, of real or complex numbers
    type  1 to 4; JAX has the second
    n     the length: x is cut, or filled up with zeros
    norm  "backward" (None is the same), "ortho" or "forward"

    Returns an array of floats, or of complex numbers. Raises ValueError for another type or norm.
    """
    return _scipy.dct(x, type, n, axis, norm)


@follow_arguments
def idct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The inverse of `dct`, with the same arguments."""
    return _scipy.idct(x, type, n, axis, norm)


@follow_arguments
def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The cosine transform along several axes.

    s     the lengths along them: x is cut, or filled up with zeros
    axes  the axes; the last ones if only s is given, or else all

    The other arguments, and errors, are those of `dct`.
    """
    return _scipy.dctn(x, type, s, axes, norm)


@follow_arguments
def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The inverse of `dctn`, with the same arguments."""
    return _scipy.idctn(x, type, s, axes, norm)


__all__ = ["dct", "dctn", "idct", "idctn"]
