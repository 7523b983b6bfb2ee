from numba import njit
import numpy as np


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def transposed_read_kernel(first, last, x, out):
    for i in range(first, last):
        for j in range(x.shape[0]):
            t = x[i, j] * x[i, j]  # line 37
            out[i, j] = (x[i, j] + t + 3) * (t + x[i, j] * x[j, i])


def transposed_read(x):
    """transposed_read.  From test_kernels.py:35."""
    if x.shape[1] != x.shape[0]:  # line 37
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    in_parallel(transposed_read_kernel, x.shape[0], 10 * x.shape[1], x, out)
    return out
