import numpy as np


def raises_vmap(x):
    """raises for a batch.  From test_goldens_batched.py:111."""
    mask = x < 0  # line 113
    x_2 = x[mask]
    if np.any(mask):  # line 114
        raise ValueError(f"no root of {x_2[0]}")
    return np.sqrt(x)
