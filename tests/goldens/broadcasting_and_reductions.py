import numpy as np


def broadcasting_and_reductions_grad(m, v):
    """d broadcasting_and_reductions / d m, v.  From test_goldens.py:136."""
    centred = m - np.mean(m, axis=1, keepdims=True)  # line 138
    product = centred * v  # line 139

    mask = product == np.max(product, axis=0)
    ratio = 1.0 / np.sum(mask, axis=0, dtype=np.float64)
    centred_bar = np.where(mask, np.broadcast_to(ratio, m.shape) * v, 0.0)
    return (
        centred_bar - np.sum(centred_bar, axis=1, keepdims=True) / m.shape[1],
        np.sum(np.where(mask, ratio * centred, 0.0), axis=0),
    )
