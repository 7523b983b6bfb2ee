"""Comprehensions over iterators whose filter depends on data: no item is lost."""

import numpy as np
import pytest

from tapeless import jit, vmap


def numbered(x):
    return [k + v for k, v in enumerate(x) if v > 1]


def mapped(x):
    return [v for v in map(abs, x) if v > 1]


def doubled(x):
    return [v for v in (2 * w for w in x) if v > 1]


def paired(x):
    return [v - w for v, w in zip(x, x[::-1], strict=True) if v > 1]


def nested(x):
    return [v * w for k, v in enumerate(x) for _, w in enumerate(x[k:]) if v > w]


@pytest.mark.parametrize("function", [numbered, mapped, doubled, paired, nested])
def test_items_before_the_first_test(function):
    call = jit(function)
    for x in ([1.0, 2.0], [3.0, 0.0], [-2.0, 0.5]):
        assert call(x) == function(x)


def test_batches():
    x = np.array([[1.0, 2.0], [3.0, 0.0]])
    made = vmap(lambda row: sum([k + v for k, v in enumerate(row) if v > 1]))(x)
    np.testing.assert_array_equal(made, [3.0, 3.0])
