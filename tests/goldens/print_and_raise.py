import numpy as np


def print_and_raise_grad(x):
    """d print_and_raise / d x.  From test_goldens.py:118."""
    print("the argument is", x)  # line 120
    if x < 0:  # line 121
        raise ValueError(f"no root of {x}")  # line 122
    return 0.5 / np.sqrt(x)
