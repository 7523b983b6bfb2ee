from math import exp, sqrt
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def branch_vmap_kernel(first, last, x, a, out):
    x_3 = scratch((32,), np.float64)
    for i in range(first, last, 32):  # line 57
        lanes = min(32, last - i)
        for k in range(lanes):
            x_2 = x[i + k]
            x_3[k] = x_2
        going = 1
        while going > 0:
            going = 0
            for k in range(lanes):
                x_4 = x_3[k]
                a_2 = a[i + k]
                more = exp(x_4) < 20
                t = sqrt(a_2) if x_4 > 1 else a_2
                x_5 = x_4 + t  # line 58
                x_3[k] = x_5 if more else x_4
                going += more
        for k in range(lanes):
            out[i + k] = x_3[k]  # line 57


def branch_vmap(x, a):
    """branch for a batch.  From test_lanes.py:56."""
    if len(a) != len(x):  # line 57
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    in_parallel(branch_vmap_kernel, len(x), 435, x, a, out)
    return out
