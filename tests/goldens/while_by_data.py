import numpy as np


def while_by_data_value_and_grad(x):
    """while_by_data and d while_by_data / d x.  From test_goldens.py:65."""
    x_saved = []  # line 68
    steps = 0
    while x < 100 and steps < 20:
        x_saved.append(x)
        x = x * x + 0.1  # line 69
        steps += 1  # line 70

    x_bar = 1.0  # line 68
    for _ in range(steps):
        x_2 = x_saved.pop()
        x_bar = 2 * x_bar * x_2  # line 69
    return x, x_bar
