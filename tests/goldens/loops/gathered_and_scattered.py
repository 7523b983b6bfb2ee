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
def gathered_and_scattered_kernel(v, k, total, out):
    out_2 = scratch((3,), np.float64)
    for i in range(3):
        if not -3 <= k[i] < 3:  # line 84
            raise IndexError(f"index {k[i]} is out of bounds for axis 0 with size 3")
        total[k[i]] += v[i] * v[i]
        if not -3 <= k[i] < 3:  # line 85
            raise IndexError(f"index {k[i]} is out of bounds for axis 0 with size 3")
        out_2[i] = v[k[i]]
    for i in range(3):
        out[i] = total[i] + out_2[i]


def gathered_and_scattered(v, k):
    """gathered_and_scattered.  From test_kernels.py:81."""
    if len(v) != len(k):  # line 84
        raise ValueError("operands could not be broadcast together: the lengths differ")
    if len(v) != 3:  # line 85
        raise ValueError("operands could not be broadcast together: the lengths differ")
    total = np.zeros(3)  # line 83
    out = empty((3,), np.float64)
    gathered_and_scattered_kernel(v, k, total, out)
    return out
