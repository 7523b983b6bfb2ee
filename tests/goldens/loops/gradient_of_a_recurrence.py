from math import cos, sin
from numba import njit
import numpy as np


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def function_grad_kernel(first, last, x, out, x_2, x_bar):
    for i in range(first, last):
        for j in range(x.shape[1]):
            x_2[j] = x[i, j]
        for j in range(x.shape[1]):
            x_bar[j] = np.float32(1)
        for i_2 in range(10):  # line 61
            for j in range(x.shape[1]):
                x_bar[j] = np.float32(0.1) * (x_bar[j] * cos(x_2[j])) + np.float32(0.5) * x_bar[j]
                x_2[j] = np.float32(0.5) * x_2[j] + np.float32(0.1) * sin(x_2[j])
        for j in range(x.shape[1]):
            out[i, j] = x_bar[j]


def function_grad(x):
    """d function / d x.  From test_kernels.py:58."""
    out = empty(x.shape, np.float32)
    x_2 = empty((x.shape[1],), np.float32)
    x_bar = empty(x_2.shape, np.float32)
    in_parallel(function_grad_kernel, x.shape[0], 315 * x.shape[1], x, out, own=(x_2, x_bar))
    return out
