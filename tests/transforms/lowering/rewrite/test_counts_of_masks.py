"""Derivatives read how many elements a mask has picked: a number that the kernel has."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(0)
X, R, W = RNG.random(40), RNG.random(40), RNG.random(5)


def means(x, r, w):
    out = np.zeros(5)
    for i in range(5):
        mask = (r >= i / 5) & (r < (i + 1) / 5)
        out[i] = x[mask].mean()
    return np.sum(out * w)


def centred(x, r, w):
    total = 0.0
    for i in range(len(w)):
        picked = x[r > w[i]]
        total += np.sum((picked - picked.mean()) ** 2) * w[i]
    return total


def deviations(x, r, w):
    total = 0.0
    for i in range(len(w)):
        total += np.std(x[r < 0.3 + 0.1 * i]) * len(x[r > w[i]])
    return total


def of_two_masks(x, r, w):
    total = 0.0
    for i in range(len(w)):
        low, high = x[x < w[i]], x[r > w[i]]
        total += np.mean(low**2) - np.mean(np.sin(high)) * low.size
    return total


def of_matrices(x, r, w):
    a, b = x.reshape(8, 5), r.reshape(8, 5)
    total = 0.0
    for i in range(len(w)):
        total += np.mean(a[b > w[i] / 2] ** 2) + np.mean(a[b[:, 0] > 0.2 * i])
    return total


def repeated(x, r, w):
    for i in range(len(w)):
        x = x - 0.1 * np.mean(x[x > np.mean(x)]) * w[i]
    return np.sum(x**2)


def under_a_test(x, r, w):
    total = 0.0
    for i in range(len(w)):
        picked = x[r > w[i]]
        if picked.size > 5:
            total += np.mean(picked**3)
    return total


COUNTED = [means, repeated]
SAVING = [centred, deviations, of_two_masks, of_matrices, under_a_test]  # what was picked, too


@pytest.mark.parametrize("function", [*COUNTED, *SAVING])
def test_derivatives(function):
    np.testing.assert_allclose(jit(function)(X, R, W), function(X, R, W))
    check_grads(jit(lambda x: function(x, R, W)), (X,), order=1, modes=["rev"])
    slope = jit(grad(function))
    np.testing.assert_allclose(slope(X, R, W), grad(function)(X, R, W), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", COUNTED)
def test_no_loop_is_left_to_the_driver(function):
    assert jit(grad(function)).explain(X, R, W).loops == ()


def test_masks_that_pick_nothing():
    def total(x, r, w):
        result = 0.0
        for i in range(len(w)):
            picked = x[r > 0.3 * i]
            result += np.sum(picked * len(picked)) + np.sum(x) * w[i]
        return result

    counts = np.sum(R[:, None] > 0.3 * np.arange(5), axis=0)
    wanted = np.sum((R[:, None] > 0.3 * np.arange(5)) * counts, axis=1) + np.sum(W)
    np.testing.assert_allclose(jit(grad(total))(X, R, W), wanted)


def only_lengths(x, r, w):
    total = 0.0
    for i in range(len(w)):
        mask = r > w[i]
        total += len(x[mask]) * np.sum(x) + x[mask][0:].size + np.sum(np.ones(len(x[x < w[i]])))
    return total + np.flatnonzero(r > 0.3).size


def of_rows(x, r, w):
    rows = x.reshape(8, 5)
    chosen = rows[np.sum(r.reshape(8, 5), axis=1) > 2.0]
    return len(chosen) * np.sum(x) + chosen.shape[0] * np.sum(np.mean(chosen, axis=0) * w)


@pytest.mark.parametrize("function", [only_lengths, of_rows])
def test_lengths(function):
    np.testing.assert_allclose(jit(function)(X, R, W), function(X, R, W))
    check_grads(jit(lambda x: function(x, R, W)), (X,), order=2, modes=["rev"])


def test_lengths_are_sums_of_masks():
    def size(x, r):
        return len(x[r > 0.5]) * np.sum(x)

    assert "[t" not in (text := jit(size).source(X, R)), text
    assert "np.int64(" in text
    for function in (means, repeated):
        text = jit(grad(function)).source(X, R, W)
        assert "out of bounds" not in text, text
    with pytest.raises(IndexError, match="boolean index did not match"):
        jit(size)(X, R[:-1])


def test_a_share_of_one_number_is_added_as_it_is():
    text = grad(means).source(X, R, W)
    assert "x_bar[mask] += " in text
    assert "broadcast_to" not in text.split("x_bar[mask] += ")[1]
