import numpy as np


def in_place_stencil_grad(u, steps):
    """d in_place_stencil / d u.  From test_goldens.py:74."""
    u = u.copy()
    for _ in range(steps):  # line 76
        for i in range(1, len(u) - 1):  # line 77
            u[i] += 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])  # line 78

    u_bar = 2 * u  # line 76
    for _ in range(steps):
        for i in reversed(range(1, len(u) - 1)):  # line 77
            u_i_bar = u_bar[i]  # line 78
            t_bar = 0.1 * u_i_bar
            u_bar[i] -= 0.2 * u_i_bar
            u_bar[i + 1] += t_bar
            u_bar[i - 1] += t_bar
    return u_bar
