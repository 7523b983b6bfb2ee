"""Solves systems of equations by SciPy, of which the matrix is given by its entries.

>>> import numpy as np
>>> solve_entries(np.array([2.0, 4.0]), np.array([0, 1]), np.array([0, 1]), np.ones(2))
array([0.5 , 0.25])
"""

from __future__ import annotations

from typing import Any


def solve_entries(data: Any, rows: Any, cols: Any, b: Any) -> Any:
    """The solution of A x = b, where A is the sum of data[k] at rows[k], cols[k]; b has one axis,
    or a column for each of several systems."""
    import scipy.sparse.linalg  # noqa: PLC0415 (scipy is optional)

    matrix = scipy.sparse.csc_matrix((data, (rows, cols)), shape=(len(b), len(b)))
    return scipy.sparse.linalg.spsolve(matrix, b)
