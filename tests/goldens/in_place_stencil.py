import numpy as np


def in_place_stencil_grad(u, steps):
    """d in_place_stencil / d u.  From test_goldens.py:72."""
    u_2 = u.copy()
    for _ in range(steps):  # line 76
        for i_2 in range(1, u.shape[0] - 1):
            t = u_2[i_2]
            t_2 = u_2[i_2 - 1] - 2 * t + u_2[i_2 + 1]
            u_2[i_2] = t + 0.1 * t_2

    u_bar = 2 * u_2
    for _ in reversed(range(steps)):
        for i_2 in reversed(range(1, u.shape[0] - 1)):
            t = u_bar[i_2]
            u_bar[i_2] = 0.0
            t_2 = 0.1 * t
            u_bar[i_2 + 1] += t_2
            u_bar[i_2] += -0.2 * t
            u_bar[i_2 - 1] += t_2
            u_bar[i_2] += t
    return u_bar
