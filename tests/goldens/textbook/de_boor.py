import numpy as np


def de_boor_grad(knots, coeffs, x, degree):
    """d de_boor / d coeffs.  From test_goldens_textbook.py:67."""
    k = np.searchsorted(knots, x, side="right") - 1  # line 69
    d = []  # line 70
    for i in range(degree + 1):
        d.append(coeffs[i + k - degree])
    for r in range(1, degree + 1):  # line 71
        for j in range(degree, r - 1, -1):  # line 72
            knots_part = knots[j + k - degree]  # line 73
            alpha = (x - knots_part) / (knots[j + 1 + k - r] - knots_part)
            d[j] = (1 - alpha) * d[j - 1] + alpha * d[j]  # line 74

    d_bar = [0.0] * len(d)  # line 75
    d_bar[degree] += 1.0
    for r in reversed(range(1, degree + 1)):  # line 71
        for j in range(r, degree + 1):  # line 72
            knots_part = knots[j + k - degree]  # line 73
            alpha = (x - knots_part) / (knots[j + 1 + k - r] - knots_part)
            d_j_bar = d_bar[j]  # line 74
            d_bar[j] = d_j_bar * alpha
            d_bar[j - 1] += d_j_bar * (1 - alpha)
    coeffs_bar = np.zeros(coeffs.shape)  # line 70
    for i in reversed(range(degree + 1)):
        item_bar = d_bar.pop()
        coeffs_bar[i + k - degree] += item_bar
    return coeffs_bar
