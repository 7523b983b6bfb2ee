"""Lists in C: lists of lists, sums of lists, items that get other lengths."""

from collections import deque

import numpy as np
import pytest

from tapeless import grad
from tests.transforms.c.compiled import checked, library, normal


def bins(x):
    """A list of lists, whose lengths depend on values."""
    held = [[] for _ in range(4)]
    for v in x:
        held[int(v * 4) % 4].append(v * v)
    return sum(len(inner) * sum(inner) for inner in held)


def moved(x):
    """Items of several lengths, which others replace: longer and shorter ones."""
    parts = [x[:k] * k for k in range(1, 4)]
    parts[0] = x[2:7]
    parts[1] = x[:1]
    parts[-1] = np.concatenate([parts[0], parts[1]])
    return np.concatenate(parts) * 2, parts[1]


def halves(x):
    """A loop that makes a list anew, of which the backward loop adds up what all passes give."""
    saved = []
    while x.size > 1:
        saved.append(x[::2])
        x = x[::2] + x[1::2] if x.size % 2 == 0 else x[1:] * 2
    return sum(s @ s for s in saved) + x[0] ** 3


def window(x):
    held, total = deque(maxlen=3), 0.0
    for v in x:
        held.append(v * v)
        total += sum(held) / len(held) * v
    return total


def doubled(x, n):
    """Lists of lists of rows."""
    rows = []
    for k in range(n):
        inner = [x * j for j in range(k + 1)]
        rows.append(inner)
    total = np.zeros(2)
    for inner in rows[::-1]:
        for row in inner:
            total = total + row
    return total


PROGRAMS_OF_LISTS = {
    "bins": (bins, (np.abs(normal(20)),)),
    "gradient of bins": (grad(bins), (np.abs(normal(20)),)),
    "items of other lengths": (moved, (normal(9),)),
    "halves": (halves, (normal(16),)),
    "gradient of halves": (grad(halves), (normal(12),)),
    "gradient of a window": (grad(window), (normal(9),)),
    "lists of rows": (doubled, (normal(2), 3)),
}


@pytest.mark.parametrize("name", PROGRAMS_OF_LISTS)
def test_numbers_of_numpy(name, tmp_path):
    function, args = PROGRAMS_OF_LISTS[name]
    expected = None if name.startswith("gradient") else function(*args)
    checked(function, args, tmp_path, expected)


def test_gradients_agree_with_finite_differences():
    """So that what C is compared with is right."""
    for function, n in ((bins, 20), (halves, 12), (window, 9)):
        x = np.abs(normal(n)) + 0.01
        for k in range(n):
            step = np.eye(n)[k] * 1e-6
            slope = (function(x + step) - function(x - step)) / 2e-6
            assert np.isclose(grad(function)(x)[k], slope, rtol=1e-5, atol=1e-6)


def test_lists_that_are_longer_than_there_is_room_for(tmp_path):
    """The wrapper asks for more room until it is enough."""
    run = library(grad(bins), (np.abs(normal(20)),), tmp_path)
    x = np.abs(normal(3000, seed=2))
    np.testing.assert_allclose(run(x), grad(bins)(x), rtol=1e-12)
