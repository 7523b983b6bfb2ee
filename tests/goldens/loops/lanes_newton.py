from math import cos, sin
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
def newton_vmap_kernel(first, last, x, a, out):
    step = scratch((32,), np.float64)
    x_3 = scratch((32,), np.float64)
    for i in range(first, last, 32):  # line 17
        lanes = min(32, last - i)
        for k in range(lanes):
            x_2 = x[i + k]
            step[k] = 1.0
            x_3[k] = x_2
        going = 1
        while going > 0:
            going = 0
            for k in range(lanes):
                step_2 = step[k]
                x_4 = x_3[k]
                a_2 = a[i + k]
                more = abs(step_2) > 1e-10
                step_3 = (x_4 - a_2 * sin(x_4) - 1) / (1 - a_2 * cos(x_4))  # line 18
                x_5 = x_4 - step_3  # line 19
                step[k] = step_3 if more else step_2
                x_3[k] = x_5 if more else x_4
                going += more
        for k in range(lanes):
            out[i + k] = x_3[k]  # line 17


def newton_vmap(x, a):
    """newton for a batch.  From test_lanes.py:15."""
    if len(a) != len(x):  # line 17
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    in_parallel(newton_vmap_kernel, len(x), 531, x, a, out)
    return out
