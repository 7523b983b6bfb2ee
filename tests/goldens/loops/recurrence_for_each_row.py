from math import sin
from numba import njit
import numpy as np


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def recurrence_for_each_row_kernel(first, last, x, out, x_2):
    for i in range(first, last):
        for j in range(x.shape[1]):
            x_2[j] = x[i, j]
        for i_2 in range(10):  # line 53
            for j in range(x.shape[1]):
                x_2[j] = np.float32(0.5) * x_2[j] + np.float32(0.1) * sin(x_2[j])  # line 54
        for j in range(x.shape[1]):
            out[i, j] = x_2[j]


def recurrence_for_each_row(x):
    """recurrence_for_each_row.  From test_kernels.py:51."""
    out = empty(x.shape, np.float32)
    x_2 = empty((x.shape[1],), np.float32)
    in_parallel(recurrence_for_each_row_kernel, x.shape[0], 155 * x.shape[1], x, out, own=(x_2,))
    return out
