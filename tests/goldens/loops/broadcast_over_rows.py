from math import cos, sin
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def broadcast_over_rows_kernel(x, y, out):
    out_2 = scratch((x.shape[1],), np.float32)
    for i in range(x.shape[1]):
        out_2[i] = cos(y[i])  # line 32
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = sin(x[i, j]) + out_2[j]


def broadcast_over_rows(x, y):
    """broadcast_over_rows.  From test_kernels.py:30."""
    if len(y) != x.shape[1]:  # line 32
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float32)
    broadcast_over_rows_kernel(x, y, out)
    return out
