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
def iterated_grad_kernel(first, last, x, x_bar, x_2, x_bar_2):
    for i in range(first, last):
        for j in range(x.shape[1]):
            x_2[j] = x[i, j]
        for j in range(x.shape[1]):
            x_bar_2[j] = 1
        for i_2 in range(4):  # line 12
            for j in range(x.shape[1]):
                t = 0.5 * x_2[j]  # line 13
                sin_x = sin(x_2[j])
                x_bar_3 = 0.1 * (x_bar_2[j] * sin_x) + 0.1 * (x_bar_2[j] * x_2[j] * cos(x_2[j]))
                x_bar_2[j] = x_bar_3 + 0.5 * x_bar_2[j]
                x_2[j] = t + 0.1 * (sin_x * x_2[j])
        for j in range(x.shape[1]):
            x_bar[i, j] = 2 * x_2[j] * x_bar_2[j]  # line 12


def iterated_grad(x):
    """d iterated / d x.  From test_fuse_reverse_loop.py:11."""
    x_bar = empty(x.shape, np.float64)
    x_2 = empty((x.shape[1],), np.float64)
    x_bar_2 = empty(x_2.shape, np.float64)
    in_parallel(iterated_grad_kernel, x.shape[0], 150 * x.shape[1], x, x_bar, own=(x_2, x_bar_2))
    return x_bar
