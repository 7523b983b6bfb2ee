import numpy as np


def steps_to_one_vmap(x):
    """steps_to_one for a batch.  From test_goldens_batched.py:62."""
    going = x > 1  # line 65
    n = np.zeros(x.shape, np.int64)
    x = x.copy()
    while np.any(going):
        n_2 = n[going]
        x_2 = x[going]
        x_2 = np.where(n_2 % 2 == 0, x_2 / 2, x_2 - 1)  # line 66
        x[going] = x_2  # line 65
        n[going] += 1
        going[going] = x_2 > 1
    return x, n
