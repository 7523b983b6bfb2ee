import numpy as np


def log_or_line_vmap(x):
    """log_or_line for a batch.  From test_goldens_batched.py:51."""
    mask = x > 0.5  # line 53
    x_2 = x[mask]
    y = np.log(x_2 - 0.5)  # line 54
    y_2 = x.copy()
    y_2[mask] = y
    return 2 * y_2
