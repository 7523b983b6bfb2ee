import numpy as np


def second_derivative_grad_grad(x):
    """d second_derivative_grad / d x.  From test_goldens.py:172."""
    x_saved = np.empty(3)  # line 174
    for i in range(3):
        x_saved[i] = x
        x = np.sin(x)  # line 175
    x_bar_saved = np.empty(3)  # line 174
    x_bar = 1.0
    for i in reversed(range(3)):
        x_bar_saved[i] = x_bar
        x = x_saved[i]
        x_bar *= np.cos(x)  # line 175

    x_saved_bar = np.zeros(3)  # line 174
    x_bar_bar = 1.0
    for i in range(3):
        x = x_saved[i]
        x_saved_bar[i] -= x_bar_bar * x_bar_saved[i] * np.sin(x)
        x_bar_bar *= np.cos(x)
    x_bar = 0.0
    for i in reversed(range(3)):
        x = x_saved[i]
        x_bar = x_bar * np.cos(x) + x_saved_bar[i]
    return x_bar
