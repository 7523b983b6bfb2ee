import numpy as np


def tanh_shard(x):
    """tanh for the elements of one shard."""
    return np.tanh(x)
