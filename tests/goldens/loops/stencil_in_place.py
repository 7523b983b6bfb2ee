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


@njit(nogil=True, error_model="numpy")
def stencil_in_place_kernel(u, steps):
    for i in range(steps):  # line 75
        for i_2 in range(1, u.shape[0] - 1):  # line 76
            t = u[i_2 - 1] - 2 * u[i_2] + u[i_2 + 1]  # line 77
            u[i_2] += 0.1 * t
    total = lost = 0.0  # line 78
    for start in range(0, u.shape[0], 1024):
        part = 0.0
        for i_3 in range(start, min(start + 1024, u.shape[0])):
            part = plus(part, u[i_3])
        total, lost = compensated(total, lost, part)
    total += lost
    return total


def stencil_in_place(u, steps):
    """stencil_in_place.  From test_kernels.py:73."""
    value = stencil_in_place_kernel(u, steps)
    return np.float64(value)
