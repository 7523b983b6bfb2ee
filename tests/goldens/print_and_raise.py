import numpy as np


def print_and_raise_grad(x):
    """d print_and_raise / d x.  From test_goldens.py:116."""
    print("the argument is", x)  # line 118
    if x < 0:  # line 119
        raise ValueError(f"no root of {x}")  # line 120
    return 0.5 / np.sqrt(x)
