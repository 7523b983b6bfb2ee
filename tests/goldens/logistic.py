import numpy as np


def logistic_grad(x):
    """d logistic / d x.  From test_goldens.py:25."""
    t = np.exp(x)  # line 27
    t_2 = t + 1
    t_3 = t / t_2

    return t_3 - t_3 / t_2 * t
