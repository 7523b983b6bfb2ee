import numpy as np


def branch_grad(x):
    """d branch / d x.  From test_goldens.py:44."""
    if x > 0:  # line 46
        y = np.sin(x)  # line 47
        x_bar = y + x * np.cos(x)
    elif x < -1:  # line 48
        y = x ** 3  # line 49
        x_bar = 4 * y
    else:
        x_bar = 4 * x
    return x_bar
