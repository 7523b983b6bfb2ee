import numpy as np


def last_store(shape, key):
    """Which elements of a fancy store survive: where an index repeats, the last one wins."""
    winner = np.empty(shape, int)
    order = np.arange(winner[key].size).reshape(winner[key].shape)
    winner[key] = order
    return winner[key] == order


def fancy_indexing_grad(v, k):
    """d fancy_indexing / d v.  From test_goldens.py:142."""
    product = 2 * v[k]  # line 144
    v = v.copy()
    v[k] = product
    mask = v > 0.25  # line 145

    v_bar = np.zeros(v.shape)
    v_bar[mask] = 2 * v[mask]
    v_k_bar = v_bar[k]  # line 144
    v_bar[k] = 0.0
    np.add.at(v_bar, k, np.where(last_store(v.shape, k), 2 * v_k_bar, 0.0))
    return v_bar
