import numpy as np


def in_place_stencil_grad(u, steps):
    """d in_place_stencil / d u.  From test_goldens.py:72."""
    u_2 = u.copy()
    for _ in range(steps):  # line 76
        for i in range(1, len(u) - 1):
            total = u_2[i - 1] - 2 * u_2[i] + u_2[i + 1]
            u_2[i] += 0.1 * total

    u_bar = 2 * u_2
    for _ in reversed(range(steps)):
        for i in reversed(range(1, len(u) - 1)):
            u_i_bar = u_bar[i]
            t_bar = 0.1 * u_i_bar
            u_bar[i] -= 0.2 * u_i_bar
            u_bar[i + 1] += t_bar
            u_bar[i - 1] += t_bar
    return u_bar
