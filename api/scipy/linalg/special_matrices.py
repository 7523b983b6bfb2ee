"""Makes structured matrices from vectors: toeplitz, hankel, circulant, companion, ..."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix with equal numbers along each diagonal.

    c  the first column, of shape (m,)
    r  the first row, of shape (n,), whose first number is not read; conj(c) by default

    >>> toeplitz(np.array([1, 2, 3]), np.array([1, 4]))
    array([[1, 4],
           [2, 1],
           [3, 2]])
    """
    c = np.ravel(c)
    r = np.conj(c) if r is None else np.ravel(r)
    at = np.arange(len(c))[:, None] - np.arange(len(r))
    return np.concatenate((r[1:][::-1], c))[at + len(r) - 1]


def hankel(c: Any, r: Any = None) -> Any:
    """The matrix with equal numbers along each diagonal from the right to the left.

    c  the first column, of shape (m,)
    r  the last row, of shape (n,), whose first number is not read; zeros by default

    >>> hankel(np.array([1, 2]), np.array([2, 3]))
    array([[1, 2],
           [2, 3]])
    """
    c = np.ravel(c)
    r = np.zeros_like(c) if r is None else np.ravel(r)
    at = np.arange(len(c))[:, None] + np.arange(len(r))
    return np.concatenate((c, r[1:]))[at]


def circulant(c: Any) -> Any:
    """The matrix whose columns are c, each turned one further.

    >>> circulant(np.array([1, 2, 3]))
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    c = np.ravel(c)
    n = len(c)
    return c[(np.arange(n)[:, None] - np.arange(n)) % n]


def companion(a: Any) -> Any:
    """The matrix whose eigenvalues are the roots of a polynomial.

    a  coefficients of shape (n,), n at least 2, the highest power first

    >>> companion(np.array([1.0, -3.0, 2.0]))
    array([[ 3., -2.],
           [ 1.,  0.]])
    """
    a = np.ravel(a) * 1.0
    if len(a) < 2:
        raise ArgumentError("companion: a polynomial has two coefficients or more")
    n = len(a) - 1
    return np.concatenate(((-a[1:] / a[0])[None], np.eye(n, dtype=a.dtype)[:-1]))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix that convolves a vector of length n: `convolution_matrix(a, n) @ v` is
    `np.convolve(a, v, mode)`.

    >>> convolution_matrix(np.array([1, 2]), 2)
    array([[1, 0],
           [2, 1],
           [0, 2]])
    """
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"convolution_matrix: mode must be full, same or valid, not {mode!r}")
    a = np.ravel(a)
    m = len(a)
    at = np.arange(n + m - 1)[:, None] - np.arange(n)
    inside = (at >= 0) & (at < m)
    whole = np.where(inside, a[np.where(inside, at, 0)], 0)
    if mode == "same":
        start = (min(m, n) - 1) // 2
        return whole[start : start + max(m, n)]
    return whole[min(m, n) - 1 : max(m, n)] if mode == "valid" else whole


def leslie(f: Any, s: Any) -> Any:
    """The matrix of a population by age.

    f  how many are born to each age, of shape (n,)
    s  which part of each age survives, of shape (n - 1,)

    >>> leslie(np.array([0.0, 2.0]), np.array([0.5]))
    array([[0. , 2. ],
           [0.5, 0. ]])
    """
    s = np.ravel(s)
    aging = np.diag(s) @ np.eye(len(s), len(s) + 1, dtype=s.dtype)
    return np.concatenate((np.ravel(f)[None], aging))


def fiedler(a: Any) -> Any:
    """The distances between all numbers.

    >>> fiedler(np.array([1, 4]))
    array([[0, 3],
           [3, 0]])
    """
    a = np.ravel(a)
    return np.abs(a[:, None] - a)


def fiedler_companion(a: Any) -> Any:
    """A matrix of five diagonals whose eigenvalues are the roots of a polynomial.

    a  coefficients of shape (n,), the highest power first

    Source: M. Fiedler, "A note on companion matrices" (2003).

    >>> fiedler_companion(np.array([1.0, -3.0, 2.0]))
    array([[ 3., -2.],
           [ 1.,  0.]])
    """
    a = np.ravel(a) * 1.0
    if len(a) < 2:
        raise ArgumentError("fiedler_companion: a polynomial has two coefficients or more")
    a = a / a[0]
    n = len(a) - 1
    matrix = np.zeros((n, n), a.dtype)
    even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
    matrix[0, 0] = -a[1]
    matrix[1:2, 0] = 1.0
    matrix[even[: len(odd)], odd] = -a[2::2]
    matrix[even[1:], odd[: len(even) - 1]] = -a[3::2]
    matrix[even[:-1], even[1:]] = 1.0
    matrix[odd[1:], odd[:-1]] = 1.0
    return matrix


def dft(n: int, scale: Any = None, *, dtype: Any = None) -> Any:
    """The matrix of the discrete Fourier transform, as scipy.linalg.dft makes it."""
    matrix = scipy.linalg.dft(n, scale)
    return matrix if dtype is None else matrix.astype(dtype)


def pascal(n: int, kind: Any = None) -> Any:
    """Pascal's triangle as a matrix, as scipy.linalg.pascal makes it: "symmetric" by default."""
    return scipy.linalg.pascal(n, "symmetric" if kind is None else kind)


def invpascal(n: int, kind: Any = None) -> Any:
    """The inverse of `pascal`."""
    return scipy.linalg.invpascal(n, "symmetric" if kind is None else kind)
