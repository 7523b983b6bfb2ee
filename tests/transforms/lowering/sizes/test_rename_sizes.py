"""Sizes that are named after what is gone, in compiled derivatives."""

import numpy as np

from tapeless import grad, jit


def factor(a):
    """Cholesky's factor, written with slices of growing length."""
    low = np.zeros(a.shape)
    for i in range(len(a)):
        for j in range(i + 1):
            s = a[i, j] - np.sum(low[i, :j] * low[j, :j])
            if i == j:
                low[i, i] = np.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return np.sum(np.sin(low))


def largest_of_tails(x, n):
    total, k = 0.0, 0
    while k < n:
        total += np.max(x[k:])
        k += 1
    return total


def normalised_by_what_is_selected(d, steps):
    p = 1.0
    for _ in range(steps):
        beta = np.exp(-d / p) / np.sum(np.exp(-d[d > 0.0] / p))
        p = p / 2 + beta[0]
    return p


def test_a_factorisation_by_slices():
    a = 4 * np.eye(3) + np.cos(np.arange(9.0)).reshape(3, 3)
    units = 1e-6 * np.eye(9).reshape(9, 3, 3)
    expected = [(factor(a + u) - factor(a - u)) / 2e-6 for u in units]
    np.testing.assert_allclose(jit(grad(factor))(a).ravel(), expected, rtol=1e-6, atol=1e-8)


def test_slices_have_their_own_lengths_in_a_backward_loop():
    x = np.cos(np.arange(6.0) ** 1.3)
    units = 1e-6 * np.eye(6)
    slopes = [(largest_of_tails(x + u, 4) - largest_of_tails(x - u, 4)) / 2e-6 for u in units]
    np.testing.assert_allclose(jit(grad(largest_of_tails))(x, 4), slopes, atol=1e-8)


def test_what_is_stored_under_a_mask_has_the_length_of_what_was_saved():
    d = np.array([0.3, -0.2, 0.5, 0.1])
    expected = grad(normalised_by_what_is_selected)(d, 3)
    np.testing.assert_allclose(jit(grad(normalised_by_what_is_selected))(d, 3), expected)
