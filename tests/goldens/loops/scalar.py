from math import exp
from numba import njit
import numpy as np


@njit(nogil=True, error_model="numpy")
def scalar_kernel(x):
    t = exp(x)  # line 27
    return t / (t + 1)


def scalar(x):
    """scalar.  From test_kernels.py:25."""
    value = scalar_kernel(x)
    return np.float64(value)
