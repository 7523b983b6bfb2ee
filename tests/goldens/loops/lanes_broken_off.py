from math import tanh
from numba import njit
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def broken_off_vmap_kernel(x, a, out):
    k_2 = scratch((32,), np.int64)
    x_3 = scratch((32,), np.float64)
    count = scratch((32,), np.int64)
    active = scratch((32,), np.bool_)
    out_2 = scratch((x.shape[0],), np.int64)
    out_3 = scratch((x.shape[0],), np.float64)
    for i in range(0, x.shape[0], 32):  # line 33
        lanes = min(32, x.shape[0] - i)
        for k in range(lanes):
            x_2 = x[i + k]
            k_2[k] = 0
            x_3[k] = x_2
        for k in range(lanes):
            count[k] = 0
            active[k] = True
        for k_3 in range(30):
            going = 0
            for k in range(lanes):
                k_4 = k_2[k]
                x_4 = x_3[k]
                more = active[k]
                y = x_4 - 0.3 * tanh(x_4 - a[i + k]) / (1 + k_3)  # line 34
                t = abs(y - x_4) < 0.01  # line 35
                stop_1 = t
                k_2[k] = k_3 if more else k_4
                x_5 = x_4 if t else y
                x_3[k] = x_5 if more else x_4
                count[k] += more
                active[k] = more and not stop_1
                going += active[k]
            if going == 0:
                break
        for k in range(lanes):
            out_2[i + k] = k_2[k]  # line 33
            out_3[i + k] = x_3[k]
    for i_2 in range(x.shape[0]):
        out[i_2] = out_3[i_2] + np.float64(out_2[i_2])  # line 38


def broken_off_vmap(x, a):
    """broken_off for a batch.  From test_lanes.py:32."""
    if len(a) != len(x):  # line 33
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    broken_off_vmap_kernel(x, a, out)
    return out
