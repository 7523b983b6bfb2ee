"""Memory of kernels for arrays of branches: lengths of the other side may be negative."""

import numpy as np
import pytest

import tapeless


def smoothed(values, window):
    if len(window) <= len(values):
        return np.convolve(values, window, mode="same")
    first = (len(window) - 1) // 2
    return np.convolve(values, window, mode="full")[first : first + len(values)]


def local_lines(t, y, at, widths):
    order = np.argsort(t)
    t, y = t[order], y[order]
    span = np.asarray(widths * len(t) + 1)
    if not np.all(span > 0):
        raise ValueError("spans must be positive")
    window = np.ones(span)
    moments = [t**p for p in np.asarray([0, 1, 2]) + np.zeros(3)]
    w, tw, ttw = (smoothed(m, window) - 0.5 * m for m in moments)
    yw, tyw = (smoothed(y * m, window) - 0.5 * y * m for m in moments[:2])
    determinant = w * ttw - tw * tw
    if np.any(determinant == 0):
        raise ValueError("points are repeated")
    k = np.minimum(len(t) - 1, np.searchsorted(t, at))
    slope, intercept = tyw * w - tw * yw, ttw * yw - tyw * tw
    return np.sum((slope[k] * at + intercept[k]) / determinant[k])


@pytest.mark.parametrize("widths", [1, 5])
def test_memory_of_the_other_side(widths):
    t, at = np.linspace(0.1, 1.0, 20), np.linspace(0.2, 0.9, 5)
    y = np.cos(7 * t)
    slopes = tapeless.jit(tapeless.grad(local_lines, argnums=(0, 1)))(t, y, at, widths)
    for k, slope in enumerate(slopes):
        d = np.cos(1.0 + np.arange(20.0))
        high, low = (
            local_lines(*(a + s * 1e-6 * d * (j == k) for j, a in enumerate((t, y))), at, widths)
            for s in (1, -1)
        )
        np.testing.assert_allclose(np.sum(slope * d), (high - low) / 2e-6, rtol=1e-5)
