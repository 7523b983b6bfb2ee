from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def plus(a, b):
    """a + b; a loop that adds up in this way may do so in any order."""
    return a + b


@njit
def compensated(total, lost, part):
    """total + part, and lost with what rounding takes from this sum."""
    new = total + part
    back = new - total
    error = (total - (new - back)) + (part - back)
    return new, lost + error if error == error else lost


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def sums_over_axes_kernel(x, out, out_2):
    t = x.shape[0] * x.shape[1]  # line 48
    for i in range(x.shape[1]):
        out[i] = 0.0
    total = lost = 0.0
    for i in range(x.shape[0]):
        part = 0.0
        out_3 = 0.0
        for j in range(x.shape[1]):
            out[j] = plus(out[j], x[i, j])
            out_3 = plus(out_3, x[i, j] * x[i, j])
            part = plus(part, x[i, j])
        out_2[i] = out_3
        total, lost = compensated(total, lost, part)
    total += lost
    return total / t


def sums_over_axes(x):
    """sums_over_axes.  From test_kernels.py:46."""
    out = empty((x.shape[1],), np.float64)
    out_2 = empty((x.shape[0],), np.float64)
    value = sums_over_axes_kernel(x, out, out_2)
    return out, out_2, np.float64(value)
