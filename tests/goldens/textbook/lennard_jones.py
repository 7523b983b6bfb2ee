import numpy as np


def lennard_jones_grad(pos, sigma):
    """d lennard_jones / d pos.  From test_goldens_textbook.py:76."""
    n = pos.shape[0]  # line 79
    total_saved = []
    for i in range(n):
        for j in range(i + 1, n):  # line 80
            d = pos[i] - pos[j]  # line 81
            total = np.sum(d * d)  # line 82
            total_saved.append(total)

    pos_bar = np.zeros(pos.shape)  # line 81
    for i in reversed(range(n)):  # line 79
        for j in reversed(range(i + 1, n)):  # line 80
            total = total_saved.pop()
            d = pos[i] - pos[j]  # line 81
            ratio = sigma ** 2 / total  # line 82
            s6 = ratio ** 3
            product = 4 * s6  # line 83
            # line 82
            product_2 = 2 * (3 * (product - 4.0 + product) * ratio ** 2 / total) * ratio * d
            pos_bar[j] += product_2  # line 81
            pos_bar[i] -= product_2
    return pos_bar
