"""A value of length one that NumPy stretches where it is stored, or meets others, though its length
depends on run-time values."""

import numpy as np
import pytest

from tapeless import grad, jit, jvp, vmap
from tests.transforms.staging import close_to, slope

Y = np.arange(1.0, 5.0)
ONE = np.array([False, True, False, False])
TWO = np.array([True, False, True, False])


def other_part(y, k):
    y = y.copy()
    y[~k] = np.sin(y[k])[:1]
    return np.sum(y * y)


def part_of_length(y, k):
    z = np.zeros((6, 2))
    z[2:5] = np.outer(np.sin(y[k][:1]), y[:2])
    return np.sum(z * z)


def at_places(y, k):
    y = y.copy()
    places = np.flatnonzero(k)
    y[places] = y[places[:1]] * y[3]
    np.add.at(y, [0, 0, 1], y[places[:1]] ** 2)
    return np.sum(y * y)


def of_list(y, k):
    z = np.zeros(6)
    z[1:4] = [e * e for e in y if e > 3.5]
    z[z < 1] += y[0]
    return np.sum(z * z)


def copied(y, k):
    z = np.zeros((2, 4))
    np.copyto(z, y[k][:1])
    np.sin(y[k][-1:], out=z[1])
    return np.sum(z * z)


def in_a_loop(y, k):
    z = np.zeros(4)
    for i in range(3):
        z[i:] = y[k][:1] * i
    return np.sum(z * z)


def same_mask(y, k):
    z = np.zeros(4)
    z[y > 0.5] = y[y > 0.5] ** 2
    z[k] *= 2
    return np.sum(z * z)


def operands(y, k):
    first, last, others = y[k][:1], y[k][-1:], y[~k]
    total = np.sum(others * first) + np.sum(np.maximum(last, y)) + np.sum(first * last)
    return total + np.sum(np.where(y > 2.5, first, y) * (np.outer(y, y) + first))


def rows_of_pivots(y, k):
    a = np.outer(y, y) + np.diag(np.cos(y))
    for i in range(3):
        p = i + int(np.argmax(np.abs(a[i:, i])))
        a -= a[p : p + 1] * a[:, i : i + 1] / (9 + a[i, i])
    a[1:] *= a[np.flatnonzero(k)[:1]]
    return np.sum(a * a) * 0.01


@pytest.mark.parametrize("k", [ONE, TWO], ids=["one", "two"])
@pytest.mark.parametrize("f", [operands, rows_of_pivots])
def test_operands_with_one_element_at_most(f, k):
    test_derivatives_of_stores_that_stretch(f, k)


@pytest.mark.parametrize("make", [lambda f: jit(f).plain, jit, grad])
def test_an_operand_without_elements(make):
    def product(y, k):
        return np.sum(y * y[k][:1])

    with pytest.raises(ValueError, match="could not be broadcast together"):
        make(product)(Y, Y > 9)
    np.testing.assert_allclose(make(product)(Y, ONE), make(lambda y, k: np.sum(y * y[1]))(Y, ONE))


@pytest.mark.parametrize("k", [ONE, TWO], ids=["one", "two"])
@pytest.mark.parametrize(
    "f", [other_part, part_of_length, at_places, of_list, copied, in_a_loop, same_mask]
)
def test_derivatives_of_stores_that_stretch(f, k):
    expected = slope(lambda y: f(y, k), Y)
    close_to(grad(f)(Y, k), expected, 1e-7)
    value, tangent = jvp(lambda y: f(y, k), (Y,), (Y,))
    close_to(value, f(Y, k))
    close_to(tangent, expected @ Y, 1e-7)
    close_to(vmap(grad(f), (0, None))(np.stack([Y, Y]), k), [expected] * 2, 1e-7)
    close_to(jit(f)(Y, k), f(Y, k))
    close_to(jit(grad(f))(Y, k), expected, 1e-7)


def test_parts_that_are_read_by_the_same_mask_are_not_asked_for_their_length():
    assert "arange" not in grad(same_mask).source(Y, TWO)


def reversed_slices(x, y):
    x = x.copy()
    x[1:-1] = y[-2:0:-1]
    x[::2] = y[::-2]
    return np.sum(x * x)


def test_slices_of_arguments_are_not_asked_for_their_length():
    assert "arange" not in grad(reversed_slices).source(np.arange(7.0), np.arange(7.0))


def test_other_lengths_are_refused_as_numpy_does():
    for k in (np.array([True, True, True, False]), np.array([True, True, False, False, False])):
        y = np.arange(1.0, len(k) + 1)
        for form in (all_of_part, jit(all_of_part), grad(all_of_part), jit(grad(all_of_part))):
            with pytest.raises(ValueError, match=r"lengths differ|cannot assign"):
                form(y, k)


def all_of_part(y, k):
    y = y.copy()
    y[~k] = y[k]
    return np.sum(y)


def from_one_that_is_read_twice(y, k):
    return np.sum((y - y[k[1] : k[1] + 1]) ** 2)


def from_two_that_are_read_twice(y, k):
    return np.sum((y[k[0] : k[0] + 2] - y[2 * k[1] - 1 : 2 * k[1]]) ** 2)


@pytest.mark.parametrize("f", [from_one_that_is_read_twice, from_two_that_are_read_twice])
def test_bounds_that_are_computed_twice_are_the_same(f):
    y, k = np.array([1.0, -2.0, 0.5, 3.0]), np.array([1, 2])
    expected = slope(lambda y: f(y, k), y)
    close_to(jit(f)(y, k), f(y, k))
    for transformed in (grad(f), jit(grad(f))):
        close_to(transformed(y, k), expected, 1e-7)
