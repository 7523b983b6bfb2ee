from numba import njit
import numpy as np


@njit(nogil=True, error_model="numpy")
def while_loop_kernel(x_2, n):
    stop_1 = False
    x = x_2
    i = 0
    while not stop_1 and i < n:  # line 91
        stop_1_2 = x > 10  # line 92
        if not stop_1_2:  # line 92
            x = 1.5 * x  # line 94
            i = i + 1  # line 95
        stop_1 = stop_1_2
    return x, i


def while_loop(x, n):
    """while_loop.  From test_kernels.py:88."""
    x, i = while_loop_kernel(x, n)
    return x, i
