"""Assigns observations to the nearest code: jax.scipy.cluster.vq."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> Any:
    """For each observation the number of the nearest code, and how far it is: a pair.

    obs        array of shape (m, n), or (m,) of numbers
    code_book  array of shape (k, n), or (k,)

    The distances are differentiable in both. Raises ValueError for shapes that do not fit.

    >>> code, distance = vq(np.array([0.9, 3.5]), np.array([1.0, 3.0]))
    >>> code, distance.round(3)
    (array([0, 1]), array([0.1, 0.5]))
    """
    obs, code_book = np.asarray(obs), np.asarray(code_book)
    if obs.ndim != code_book.ndim or obs.ndim not in (1, 2):
        raise ArgumentError(
            f"vq: obs has shape {obs.shape} and code_book {code_book.shape}",
            "give observations and codes as the rows of matrices",
        )
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    squares = np.sum(np.square(obs[:, None, :] - code_book[None]), axis=-1)
    code = np.argmin(squares, axis=-1)
    nearest = obs - code_book[code]
    return code, np.linalg.norm(nearest, axis=-1)
