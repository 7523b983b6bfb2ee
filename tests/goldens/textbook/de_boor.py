import numpy as np


def de_boor_grad(knots, coeffs, x, degree):
    """d de_boor / d coeffs.  From test_goldens_textbook.py:65."""
    k = np.searchsorted(knots, x, side="right") - 1  # line 67
    n = 1 + k - 2  # line 68
    n_2 = 2 + k
    n_3 = n_2 - 2
    knots_n_3 = knots[n_3]  # line 71
    difference = x - knots_n_3
    n_4 = 3 + k
    alpha = difference / (knots[n_4 - 1] - knots_n_3)
    knots_n = knots[n]
    alpha_2 = (x - knots_n) / (knots[n_2 - 1] - knots_n)
    alpha_3 = difference / (knots[n_4 - 2] - knots_n_3)
    difference_2 = 1 - alpha_3  # line 72

    coeffs_bar = np.zeros(coeffs.shape)  # line 68
    coeffs_bar[n_3] = alpha_3 * alpha
    coeffs_bar[n] += difference_2 * alpha_2 + alpha_3 * (1 - alpha)
    coeffs_bar[k - 2] += difference_2 * (1 - alpha_2)
    return coeffs_bar
