import numpy as np


def broadcasting_and_reductions_grad(m, v):
    """d broadcasting_and_reductions / d m, v.  From test_goldens.py:134."""
    centred = m - np.mean(m, axis=1, keepdims=True)  # line 136
    t = centred * v  # line 137

    t = t == np.max(t, axis=0)
    t_2 = np.sum(t.astype(np.float64), axis=0)
    centred_bar = np.where(t, np.broadcast_to(1.0 / t_2, m.shape) * v, 0.0)
    return (centred_bar - np.sum(centred_bar, axis=1, keepdims=True) / m.shape[1],
            np.sum(np.where(t, centred / t_2, 0.0), axis=0))
