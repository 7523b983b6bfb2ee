from math import tanh
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def product(a, b, out):
    """out = a @ b, of matrices, added up in any order."""
    np.dot(a, b, out)


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def around_a_library_call_kernel(x, w, out):
    out_2 = scratch((x.shape[0], x.shape[1]), np.float64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out_2[i, j] = tanh(x[i, j])  # line 101
    product(out_2, w, out)
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            t = out[i, j] + 1
            out[i, j] = 0 if t <= 0 else t


def around_a_library_call(x, w):
    """around_a_library_call.  From test_kernels.py:99."""
    if w.shape[0] != x.shape[1]:  # line 101
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty((x.shape[0], w.shape[1]), np.float64)
    around_a_library_call_kernel(x, w, out)
    return out
