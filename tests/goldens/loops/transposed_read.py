from numba import njit
import numpy as np


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def transposed_read_kernel(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            t = x[i, j] * x[i, j]  # line 37
            out[i, j] = (x[i, j] + t + 3) * (t + x[i, j] * x[j, i])


def transposed_read(x):
    """transposed_read.  From test_kernels.py:35."""
    if x.shape[1] != x.shape[0]:  # line 37
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    transposed_read_kernel(x, out)
    return out
