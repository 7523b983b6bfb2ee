import numpy as np


def lennard_jones_grad(pos, sigma):
    """d lennard_jones / d pos.  From test_goldens_textbook.py:78."""
    n = pos.shape[0]  # line 81

    pos_bar = np.zeros(pos.shape)  # line 83
    for i in reversed(range(n)):  # line 81
        for j in reversed(range(i + 1, n)):  # line 82
            d = pos[i] - pos[j]  # line 83
            total = np.sum(d * d)  # line 84
            ratio = sigma ** 2 / total
            s6 = ratio ** 3
            product = 4 * s6  # line 85
            # line 84
            product_2 = 2 * (3 * (product - 4.0 + product) * ratio ** 2 / total) * ratio * d
            pos_bar[j] += product_2  # line 83
            pos_bar[i] -= product_2
    return pos_bar
