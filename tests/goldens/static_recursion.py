import numpy as np


def static_recursion_grad(x):
    """d static_recursion / d x.  From test_goldens.py:103."""
    x_bar = x * x  # line 100

    return x_bar + x_bar + x_bar
