import numpy as np


def loop_with_branch_grad(k, x, n):
    """d loop_with_branch / d k.  From test_goldens.py:55."""
    x_saved = np.empty(n)  # line 57
    for i in range(n):
        x_saved[i] = x
        if x > 0:  # line 58
            x -= k * np.sin(x)  # line 59
        else:
            x += k  # line 61

    x_bar = 1.0  # line 57
    k_bar = 0.0
    for i in reversed(range(n)):
        x = x_saved[i]
        if x > 0:  # line 58
            k_bar -= x_bar * np.sin(x)
            x_bar -= x_bar * k * np.cos(x)
        else:
            k_bar += x_bar
    return k_bar
