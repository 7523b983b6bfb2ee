import numpy as np


def log_or_line_vmap(x):
    """log_or_line for a batch.  From test_goldens_batched.py:53."""
    mask = x > 0.5  # line 55
    x_2 = x[mask]
    y = np.log(x_2 - 0.5)  # line 56
    y_2 = x.copy()
    y_2[mask] = y
    return 2 * y_2
