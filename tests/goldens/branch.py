import numpy as np


def branch_grad(x):
    """d branch / d x.  From test_goldens.py:42."""
    test = x > 0  # line 44
    if test:
        y = np.sin(x)  # line 45
    elif x < -1:  # line 46
        y = x ** 3  # line 47
    else:
        y = 2 * x  # line 49

    if test:  # line 44
        x_bar = y + x * np.cos(x)
    elif x < -1:  # line 46
        x_bar = y + 3 * x ** 3
    else:
        x_bar = y + 2 * x
    return x_bar
