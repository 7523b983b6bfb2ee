import numpy as np


def simulate_vmap(k, x, n):
    """simulate for a batch.  From test_goldens_batched.py:87."""
    x = x.copy()
    for _ in range(n):  # line 89
        mask = x > 0  # line 90
        x_2 = x - k * np.sin(x)  # line 91
        x += k  # line 93
        x = np.where(mask, x_2, x)
    return x.copy()
