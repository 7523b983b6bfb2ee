from numba import njit
import numpy as np


def zeros(shape, dtype):
    """An array of zeros."""
    return np.zeros(shape, dtype)


@njit(nogil=True, error_model="numpy")
def rosenbrock_jacrev_jacfwd_kernel(x, sums):
    t = 200 * 1.0  # line 12
    t_2 = 400 * 1.0
    t_3 = 1.0 * 2
    for i in range(x.shape[0] - 1):
        sums[i, i] += t_3
        t_4 = x[i]
        t_5 = 2 * t_4
        sums[i, i + 1] -= t * t_5
        t_6 = -t_5 * t
        sums[i, i] -= t_6 * t_5
        sums[i, i] -= t_2 * (x[i + 1] - t_4 * t_4)
        sums[i + 1, i + 1] += t
        sums[i + 1, i] += t_6


def rosenbrock_jacrev_jacfwd(x):
    """the Jacobian of rosenbrock_jacrev.  From test_diagonal_matrices.py:11."""
    sums = zeros((len(x), len(x)), np.float64)  # line 12
    rosenbrock_jacrev_jacfwd_kernel(x, sums)
    return sums
