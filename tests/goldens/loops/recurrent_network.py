from math import tanh
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def plus_product(total, a, b):
    """total + a * b; a loop that adds up in this way may do so in any order."""
    return total + a * b


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def recurrent_network_kernel(xs, w, u, h):
    out = scratch((3,), np.float64)
    out_2 = scratch((3,), np.float64)
    for i in range(3):
        h[i] = 0
    for t in range(xs.shape[0]):  # line 68
        for i in range(3):
            out[i] = 0.0
        for i in range(xs.shape[1]):
            for j in range(3):
                out[j] = plus_product(out[j], xs[t, i], w[i, j])  # line 69
        for i in range(3):
            out_2[i] = 0.0
        for i in range(3):
            for j in range(3):
                out_2[j] = plus_product(out_2[j], h[i], u[i, j])
        for i in range(3):
            h[i] = tanh(out[i] + out_2[i])


def recurrent_network(xs, w, u):
    """recurrent_network.  From test_kernels.py:65."""
    if w.shape[0] != xs.shape[1]:  # line 69
        raise ValueError("operands could not be broadcast together: the lengths differ")
    if u.shape[0] != 3:
        raise ValueError("operands could not be broadcast together: the lengths differ")
    if u.shape[1] != 3:
        raise ValueError("operands could not be broadcast together: the lengths differ")
    h = empty((3,), np.float64)
    recurrent_network_kernel(xs, w, u, h)
    return h
