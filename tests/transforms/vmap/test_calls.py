"""Functions of the program under vmap: what their tapes hold belongs to each element."""

import numpy as np
import pytest

from tapeless import grad, jacfwd, jacrev, jit, tree, value_and_grad, vmap
from tapeless.transforms.optimize import outline

#: A mask that selects as many of each row, or not.
ROWS = {
    "alike": np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8], [0.55, 0.65, 0.9]]),
    "uneven": np.array([[0.1, 0.2, 0.4], [0.5, 0.1, 0.6], [0.5, 0.5, 0.5]]),
}


def masked(x, v):
    v[v > 0.3] = np.sin(x)
    return np.sum(v * v) * x


def as_many_as_a_mask_selects(x, v):
    n = int(np.sum(v > 0.3))
    return np.sum(np.sin(np.arange(n) * x)) * np.sum(v)


def called_thrice(f):
    return lambda x, v: f(x, v.copy()) * f(0.5 * x, 0.9 * v) + f(x * x, 0.5 * v)


@pytest.fixture(autouse=True)
def _small_functions_are_functions(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("f", [masked, as_many_as_a_mask_selects])
def test_lengths_that_masks_decide(f, rows):
    function, v = called_thrice(f), ROWS[rows]

    def slopes(x):
        def twice(x, v):
            return sum(np.sum(a) for a in tree.leaves(value_and_grad(function)(x, v)))

        return vmap(grad(twice))(x * np.array([1.0, 0.9, 0.8]), v)

    step = 1e-6
    expected = (slopes(0.7 + step) - slopes(0.7 - step)) / (2 * step)
    for derivative in (jacrev(slopes), jacfwd(slopes), jit(jacrev(slopes))):
        np.testing.assert_allclose(derivative(0.7), expected, rtol=1e-7)


def halved(a, n):
    """Calls itself as often as data says."""
    if abs(a) < 0.3:
        return a
    return np.sum(np.ones(n) * np.sin(a)) + halved(a / 2, n) * a


def called_once(v):
    return halved(np.sum(v), int(np.sum(v > 0)))


def called_in_a_loop(v):
    k = 0.0
    for i in range(3):
        k = np.sin(k + halved(v[i] + 0.5 + k, 2) * v[0])
    return k


def called_on_one_side(v):
    if v[0] < 0.2:
        v = np.sin(v) * halved(v[0], 2)
    return np.sum(v**3) * v[0]


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("f", [called_once, called_in_a_loop, called_on_one_side])
def test_tapes_that_a_batch_of_cotangents_shares(f, form):
    slopes = grad(f)
    v, steps = np.array([0.71, -0.43, 1.23, 0.31]), 1e-6 * np.eye(4)
    expected = np.transpose([(slopes(v + d) - slopes(v - d)) / 2e-6 for d in steps])
    results = [form(jacrev(slopes))(v), form(vmap(jacrev(slopes)))(np.stack([v, 0.9 * v]))[0]]
    results += [form(jacrev(vmap(slopes)))(v[None])[0, :, 0]]
    for actual in results:
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    third = np.transpose([(jacrev(slopes)(v + d) - jacrev(slopes)(v - d)) / 2e-6 for d in steps])
    np.testing.assert_allclose(jacrev(jacrev(slopes))(v), third, rtol=1e-4, atol=1e-5)


def settled(a):
    """Keeps a list for its backward loop on one side only."""
    if a > 0.3:
        k = a
        while k > 0.2:
            k = 0.5 * np.sin(k)
        return k + settled(a / 2) * a
    return a


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("x", [0.8, -0.8])
def test_lists_that_a_side_lacks(form, x):
    """One that all elements of a batch share, and that the last call has not."""
    slopes = grad(lambda v: settled(x + v[0] * v[1]) * np.sum(v))
    v, steps = np.array([0.71, -0.43, 0.31]), 1e-6 * np.eye(3)
    second = jacrev(slopes)
    expected = np.transpose([(slopes(v + d) - slopes(v - d)) / 2e-6 for d in steps])
    np.testing.assert_allclose(form(second)(v), expected, rtol=1e-6, atol=1e-7)
    third = np.stack([(second(v + d) - second(v - d)) / 2e-6 for d in steps], axis=-1)
    np.testing.assert_allclose(form(jacrev(second))(v), third, rtol=1e-5, atol=1e-6)
