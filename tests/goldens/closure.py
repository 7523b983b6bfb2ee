import numpy as np


def closure_grad(v, scale):
    """d closure / d v, scale.  From test_goldens.py:108."""
    t = np.tanh(v * scale)  # line 111
    a = 2 * v  # line 113
    t_2 = np.tanh(a * scale)  # line 111

    t_3 = t * (1 - t_2 ** 2)
    t = t_2 * (1 - t ** 2)
    return (2 * (t_3 * scale) + t * scale, np.sum(t_3 * a) + np.sum(t * v))
