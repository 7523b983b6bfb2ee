import numpy as np


def static_recursion_grad(x):
    """d static_recursion / d x.  From test_goldens.py:105."""
    return 3 * x * x
