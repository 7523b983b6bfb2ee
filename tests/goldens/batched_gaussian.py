import numpy as np


def gaussian_vmap(cov, x):
    """gaussian for a batch.  From test_goldens_batched.py:106."""
    low = np.linalg.cholesky(cov)  # line 108
    z = np.linalg.solve(low, x[:, :, np.newaxis]).reshape((cov.shape[0], cov.shape[1]))  # line 109
    return -0.5 * np.sum(z ** 2, axis=1) - np.sum(np.log(np.diagonal(low, 0, -2, -1)), axis=1)
