import numpy as np


def simulate_vmap(k, x, n):
    """simulate for a batch.  From test_goldens_batched.py:89."""
    x = x.copy()
    for _ in range(n):  # line 91
        mask = x > 0  # line 92
        x_2 = x - k * np.sin(x)  # line 93
        x += k  # line 95
        x = np.where(mask, x_2, x)
    return x
