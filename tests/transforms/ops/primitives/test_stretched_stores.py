"""Stores that stretch a value of which data decides whether it is one element long."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit


def first_of_the_others(x):
    large, y = x > 1, x * x
    y[~large] = y[large][:1]
    return (y * y).sum()


def part_of_a_slice(x):
    y = x * x
    y[: int(x[2])] = y[x > 2.5]
    return (y * y).sum()


def columns(x):
    large, y = x > 1.5, np.zeros((3, 2))
    y[~large] = np.stack([x[large][:1] ** 2, x[large]], axis=1)
    return (y * y).sum()


def rows(x):
    large, y = x > 1.5, np.ones((2, 3))
    y[:, ~large] = np.outer([1.0, 2.0], x[large] ** 2)[:, :1] * x[:2, None]
    return (y * y).sum()


def last(x):
    y = x * x
    y[:2] = y[x > 2.3]
    return (y * y).sum()


STRETCHED = np.array([0.5, 2.0, 1.2])  # one element, into two


def differences(f, x):
    return [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))]


@pytest.mark.parametrize("f", [first_of_the_others, columns, rows])
@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f))], ids=["grad", "jit"])
def test_masks(f, transform):
    slope = transform(f)
    np.testing.assert_allclose(slope(STRETCHED), differences(f, STRETCHED), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (part_of_a_slice, np.array([0.5, 3.0, 2.2])),
        (part_of_a_slice, np.array([0.5, 3.0, 2.7])),
        (last, np.array([0.5, 3.0, 2.2])),
        (last, np.array([0.5, 3.0, 2.7])),
    ],
)
def test_slices(f, x):
    np.testing.assert_allclose(grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-6)


def test_second_derivative():
    x, f = STRETCHED, first_of_the_others
    expected = [(grad(f)(x + s) - grad(f)(x - s)) / 2e-6 for s in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-6, atol=1e-6)


def test_other_lengths_raise():
    with pytest.raises(ValueError, match=r"could not broadcast|cannot assign|cannot reshape"):
        grad(part_of_a_slice)(np.array([2.6, 1.0, 3.2]))


def test_compiled_code_says_that_it_does_not_stretch():
    with pytest.raises(ValueError, match="is not stretched, even if it is 1"):
        jit(part_of_a_slice)(np.array([0.5, 3.0, 2.2]))
