import numpy as np


def logistic_vmap(x):
    """logistic for a batch.  From test_goldens_batched.py:28."""
    exp_x = np.exp(x)  # line 30
    return exp_x / (exp_x + 1)
