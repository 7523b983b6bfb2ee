from numba import njit
import numpy as np


@njit(nogil=True, error_model="numpy")
def gathered_and_scattered_kernel(v, out):
    for i in range(v.shape[0]):
        out[i] = v[i] * v[i]  # line 84


@njit(nogil=True, error_model="numpy")
def gathered_and_scattered_kernel_2(k, v, total, out):
    for i in range(3):
        if not -v.shape[0] <= k[i] < v.shape[0]:
            raise IndexError("index is out of bounds for axis 0")
        out[i] = total[i] + v[k[i]]  # line 85


def gathered_and_scattered(v, k):
    """gathered_and_scattered.  From test_kernels.py:81."""
    if len(k) != 3:  # line 85
        raise ValueError("operands could not be broadcast together: the lengths differ")
    total = np.zeros(3)  # line 83
    out = np.empty(v.shape)
    gathered_and_scattered_kernel(v, out)
    np.add.at(total, k, out)  # line 84
    out = np.empty(3)
    gathered_and_scattered_kernel_2(k, v, total, out)
    return out
