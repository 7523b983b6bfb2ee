import numpy as np


def raises_vmap(x):
    """raises for a batch.  From test_goldens_batched.py:113."""
    mask = x < 0  # line 115
    x_2 = x[mask]
    if np.any(mask):  # line 116
        raise ValueError(f"no root of {x_2[0]}")
    return np.sqrt(x)
