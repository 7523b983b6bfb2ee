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
def function_grad_kernel(first, last, x, x_bar, x_2):
    for i in range(first, last):
        for j in range(x.shape[1]):
            x_2[j] = x[i, j]
        for j in range(x.shape[1]):
            x_bar[i, j] = np.float32(1)
        for i_2 in range(10):  # line 60
            for j in range(x.shape[1]):
                x_bar[i, j] = (  # line 61
                    np.float32(0.1) * (x_bar[i, j] * cos(x_2[j])) + np.float32(0.5) * x_bar[i, j]
                )
                x_2[j] = np.float32(0.5) * x_2[j] + np.float32(0.1) * sin(x_2[j])


def function_grad(x):
    """d function / d x.  From test_kernels.py:58."""
    x_bar = empty(x.shape, np.float32)
    x_2 = empty((x.shape[1],), np.float32)
    in_parallel(function_grad_kernel, x.shape[0], 314 * x.shape[1], x, x_bar, own=(x_2,))
    return x_bar
