from numba import njit
import numpy as np


@njit(nogil=True, error_model="numpy")
def while_loop_kernel(x_2, n):
    stop_1 = False
    x = x_2
    i = 0
    while True:  # line 92
        if stop_1:
            t_2 = False
        else:
            t = i < n  # line 91
            t_2 = t
        if not (t_2):
            break
        stop_1_2 = x > 10  # line 92
        if not (stop_1_2):  # line 92
            x_3 = 1.5 * x  # line 94
            i_2 = i + 1  # line 95
            x = x_3
            i = i_2
        stop_1 = stop_1_2
    return x, i


def while_loop(x, n):
    """while_loop.  From test_kernels.py:88."""
    x, i = while_loop_kernel(x, n)
    return x, i
