"""Provides numpy.linalg under the names, and with the keywords, of jax.numpy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.numpy import matrices, products
from tapeless.numpy.array_functions import functions_by_name, missing, ours

_functions = {
    **functions_by_name(
        np.linalg,
        "cond cross det diagonal eig eigvals inv matrix_norm matrix_power matrix_transpose "
        "multi_dot norm outer qr solve svdvals tensorinv tensorsolve trace vector_norm",
    ),
    **ours(matrices, "cholesky eigh eigvalsh lstsq matrix_rank pinv slogdet svd", __name__),
    **ours(products, "matmul tensordot vecdot", __name__),
}
globals().update(_functions)
__all__ = sorted(_functions)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
