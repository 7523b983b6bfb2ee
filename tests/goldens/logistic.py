import numpy as np


def logistic_grad(x):
    """d logistic / d x.  From test_goldens.py:27."""
    exp_x = np.exp(x)  # line 29
    total = exp_x + 1
    ratio = exp_x / total
    return ratio - ratio / total * exp_x
