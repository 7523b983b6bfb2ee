import numpy as np


def lennard_jones_by_reciprocals_grad(pos):
    """d lennard_jones_by_reciprocals / d pos.  From test_goldens_textbook.py:89."""
    pos_bar = np.zeros(pos.shape)  # line 94
    for i in reversed(range(pos.shape[0])):  # line 92
        for j in reversed(range(i)):  # line 93
            x = pos[i, 0] - pos[j, 0]  # line 94
            y = pos[i, 1] - pos[j, 1]
            z = pos[i, 2] - pos[j, 2]
            s = 1.0 / (x * x + y * y + z * z)  # line 95
            product = s * s  # line 96
            s6 = product * s
            product_2 = 4 * s6  # line 97
            s6_bar = product_2 - 4.0 + product_2
            s_bar = s6_bar * product + 2 * s6_bar * s * s  # line 96
            t_bar = s_bar * product  # line 95
            z_bar = -2 * t_bar * z
            y_bar = -2 * t_bar * y
            x_bar = -2 * t_bar * x
            pos_bar[j, 2] -= z_bar  # line 94
            pos_bar[i, 2] += z_bar
            pos_bar[j, 1] -= y_bar
            pos_bar[i, 1] += y_bar
            pos_bar[j, 0] -= x_bar
            pos_bar[i, 0] += x_bar
    return pos_bar
