import numpy as np


def recurrence_grad(a, x, n):
    """d recurrence / d a, x.  From test_goldens.py:165."""
    x_saved = np.empty((n + 1, a.shape[0]))  # line 167
    x_saved[0] = x
    for i in range(n):
        x = np.tanh(a @ x)  # line 168
        x_saved[i + 1] = x

    a_bar = np.zeros(a.shape)
    x_bar = np.ones(x.shape)  # line 167
    for i in reversed(range(n)):
        x = x_saved[i]
        x_2 = x_saved[i + 1]
        t_bar = x_bar * (1 - x_2 ** 2)  # line 168
        x_bar = a.T @ t_bar
        a_bar += t_bar[:, np.newaxis] * x
    return a_bar, x_bar
