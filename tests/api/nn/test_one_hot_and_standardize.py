"""Classes as vectors."""

import numpy as np

from tapeless import grad, jit, nn, vmap


def test_one_hot():
    x = np.array([[0, 2], [-1, 3]])
    want = [[[1, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]]
    np.testing.assert_array_equal(nn.one_hot(x, 3), want)
    np.testing.assert_array_equal(nn.one_hot(x, 3, axis=0), np.moveaxis(want, -1, 0))
    np.testing.assert_array_equal(nn.one_hot(x, 3, axis=1), np.moveaxis(want, -1, 1))
    assert nn.one_hot(x, 3).dtype == float
    assert nn.one_hot(1, 3, dtype=bool).tolist() == [False, True, False]


def test_one_hot_under_transformations():
    labels = np.array([0, 2, 1])
    np.testing.assert_array_equal(jit(lambda x: nn.one_hot(x, 3))(labels), np.eye(3)[labels])
    np.testing.assert_array_equal(vmap(lambda x: nn.one_hot(x, 3))(labels), np.eye(3)[labels])
    slopes = grad(lambda w: np.sum(nn.one_hot(labels, 3) @ w))(np.ones(3))
    np.testing.assert_array_equal(slopes, np.ones(3))


def test_one_hot_over_a_named_axis():
    """Each element of the axis gets its own entry."""
    made = vmap(lambda x, _: nn.one_hot(x, 3, axis="i"), (None, 0), axis_name="i")
    np.testing.assert_array_equal(made(2, np.zeros(3)), [0, 0, 1])


def test_standardizing_by_known_numbers_keeps_float32():
    made = nn.standardize(np.array([1.0, 3.0], np.float32), mean=1.0)
    np.testing.assert_allclose(made, [0, 2 / np.sqrt(4 + 1e-5)], rtol=1e-6)
    assert made.dtype == np.float32
