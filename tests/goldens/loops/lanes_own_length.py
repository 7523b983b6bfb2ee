from math import exp, sin
from numba import njit
from numpy import trunc
import numpy as np


@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def own_length_vmap_kernel(x, a, out):
    out_2 = scratch((x.shape[0],), np.int64)
    a_3 = scratch((32,), np.float64)
    for i in range(x.shape[0]):
        t = trunc(4 * x[i])  # line 42
        if not -9.223372036854776e+18 <= t < 9.223372036854776e+18:
            if t != t:
                raise ValueError("cannot convert float NaN to integer")
            raise OverflowError("an integer of more than 64 bits: use floats, or no jit")
        out_2[i] = np.int64(t)
    for i_2 in range(0, x.shape[0], 32):
        lanes = min(32, x.shape[0] - i_2)
        for k in range(lanes):
            a_2 = a[i_2 + k]
            a_3[k] = a_2
        longest = 0
        for k in range(lanes):
            longest = max(longest, out_2[i_2 + k])
        for k_2 in range(longest):
            for k in range(lanes):
                a_4 = a_3[k]
                more = k_2 < out_2[i_2 + k]
                a_5 = sin(a_4) + k_2 if k_2 % 2 == 0 else a_4 * exp(-x[i_2 + k])
                a_3[k] = a_5 if more else a_4
        for k in range(lanes):
            out[i_2 + k] = a_3[k]


def own_length_vmap(x, a):
    """own_length for a batch.  From test_lanes.py:41."""
    if len(a) != len(x):  # line 42
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, np.float64)
    own_length_vmap_kernel(x, a, out)
    return out
