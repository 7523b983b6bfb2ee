from math import exp
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def plus(a, b):
    """a + b; a loop that adds up in this way may do so in any order."""
    return a + b


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def softmax_kernel(first, last, x, out, e):
    for i in range(first, last):
        largest = -np.inf  # line 42
        for j in range(x.shape[1]):
            t = x[i, j]
            largest = t if t > largest or t != t else largest
        total = 0.0  # line 43
        for j in range(x.shape[1]):
            e_2 = exp(x[i, j] - largest)  # line 42
            e[j] = e_2
            total = plus(total, e_2)  # line 43
        for j in range(x.shape[1]):
            out[i, j] = e[j] / total


def softmax(x):
    """softmax.  From test_kernels.py:40."""
    out = empty(x.shape, np.float64)
    e = empty((x.shape[1],), np.float64)
    in_parallel(softmax_kernel, x.shape[0], 20 * x.shape[1], x, out, own=(e,))
    return out
