from math import tanh
from numba import njit
import numpy as np


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def around_a_library_call_kernel(first, last, x, out):
    for i in range(first, last):
        for j in range(x.shape[1]):
            out[i, j] = tanh(x[i, j])  # line 101


@njit(nogil=True, error_model="numpy")
def around_a_library_call_kernel_2(first, last, n, out):
    for i in range(first, last):
        for j in range(n.shape[1]):
            t = n[i, j] + 1  # line 101
            out[i, j] = 0 if t <= 0 else t


def around_a_library_call(x, w):
    """around_a_library_call.  From test_kernels.py:99."""
    if w.shape[0] != x.shape[1]:  # line 101
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    t = x.shape[0]
    in_parallel(around_a_library_call_kernel, t, 16 * w.shape[0], x, out)
    product = out @ w
    out = empty((t, w.shape[1]), np.float64)
    in_parallel(around_a_library_call_kernel_2, out.shape[0], 6 * w.shape[1], product, out)
    return out
