from numba import njit
import numpy as np


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True, error_model="numpy")
def rosenbrock_grad_kernel(x, out):
    t = -2 * (1 - x[0]) - 400.0 * ((x[1] - x[0] * x[0]) * x[0])  # line 12
    out[0] = t
    out[x.shape[0] - 1] = 200.0 * (x[x.shape[0] - 1] - x[x.shape[0] - 2] * x[x.shape[0] - 2])
    for i in range(x.shape[0] - 2):
        t_2 = -2 * (1 - x[i + 1]) - 400.0 * ((x[i + 2] - x[i + 1] * x[i + 1]) * x[i + 1])
        out[i + 1] = t_2 + 200.0 * (x[i + 1] - x[i] * x[i])


def rosenbrock_grad(x):
    """d rosenbrock / d x.  From test_stores_to_gathers.py:11."""
    out = empty(x.shape, np.float64)
    rosenbrock_grad_kernel(x, out)
    return out
