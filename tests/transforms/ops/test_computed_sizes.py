"""Sizes that are computed from others, and happen to be one."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import ShapeError


def second_half(w, x):
    return x[:, x.shape[-1] // 2 :] @ w


def total(w, x):
    return np.sum(second_half(w, x) ** 2)


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("change", [lambda f: f, jit], ids=["plain", "jit"])
def test_a_part_is_multiplied_with_a_matrix(columns, change):
    x, w = np.arange(4.0 * columns).reshape(4, columns), np.ones((columns // 2, 3))
    np.testing.assert_allclose(change(second_half)(w, x), second_half(w, x))
    batch = change(vmap(second_half, (None, 0)))(w, np.stack([x, -x]))
    np.testing.assert_allclose(batch[1], second_half(w, -x))
    w_bar, x_bar = change(grad(total, (0, 1)))(w, x)
    part, slope = x[:, columns // 2 :], 2 * second_half(w, x)
    np.testing.assert_allclose(w_bar, part.T @ slope)
    np.testing.assert_allclose(x_bar, np.hstack([np.zeros_like(part), slope @ w.T]))


def test_a_part_that_does_not_fit():
    with pytest.raises(ShapeError, match="do not fit"):
        jit(second_half)(np.ones((1, 3)), np.ones((4, 6)))


Y = np.arange(1.0, 6.0)


def stored(x):
    a = np.zeros(5)
    a[:] = x[x > 3]
    return np.sum(a * Y)


def added_at(x):
    a = np.zeros(5)
    np.add.at(a, np.array([0, 0, 1]), x[x > 3])
    return np.sum(a * Y)


ONE_OF_FIVE = {
    "stored": stored,
    "added at": added_at,
    "product": lambda x: np.sum(x[x > 3] * Y),
    "sum of two": lambda x: np.sum(x[x > 3] + x[x > 1]),
    "full": lambda x: np.sum(np.full(5, x[x > 3]) * Y),
    "broadcast_to": lambda x: np.sum(np.broadcast_to(x[x > 3], (5,)) * Y),
    "where": lambda x: np.sum(np.where(Y > 2, x[x > 3], Y) * Y),
    "einsum": lambda x: np.einsum("i,i->", x[x > 3], Y),
    "squeeze": lambda x: np.sum(np.squeeze(x[x > 3]) * Y),
    "interp": lambda x: np.sum(np.interp(Y, x[x > 3], x[x > 3] * 2) * Y),
    "resize": lambda x: np.sum(np.resize(x[x > 3], 5) * Y),
    "polyval": lambda x: np.sum(np.polyval(x[x > 3], Y)),
    "convolve": lambda x: np.sum(np.convolve(x[x > 3], Y, "same") * Y),
}


@pytest.mark.parametrize("name", ONE_OF_FIVE)
def test_a_length_of_one_that_data_decides_is_right_or_refused(name):
    """NumPy stretches it; here it is known only when the program runs that it is one."""
    f, x, step = ONE_OF_FIVE[name], np.array([0.4, 1.3, 3.6, 2.1, 0.9]), 1e-6 * np.eye(5)
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    refused = ("full", "broadcast_to", "einsum", "squeeze")
    for run, expected in ((jit(f), f(x)), (grad(f), slopes), (jit(grad(f)), slopes)):
        if name in refused:
            with pytest.raises(ValueError, match=r"lengths differ|cannot assign|number of axes"):
                run(x)
        else:
            np.testing.assert_allclose(run(x), expected, rtol=1e-6, atol=1e-8)


def test_what_does_not_fit_into_a_shape_of_one():
    for f in (lambda x: np.full((1,), x), lambda x: np.broadcast_to(x, (1,))):
        with pytest.raises(ShapeError, match="could not broadcast"):
            jit(f)(Y)


def test_a_length_from_data_is_not_stretched_after_others_have_seen_the_call():
    """The error says so, where NumPy would stretch an array of one element."""

    def stored(x):
        x[0] = 0.1
        return np.sum(x * x[x > 0.6])

    def printed(x):
        print("once")  # noqa: T201 (what others see)
        return np.sum(x * x[x > 0.6])

    for f in (stored, printed):
        for form in (grad, lambda f: jit(grad(f))):
            with pytest.raises(ValueError, match="one that run-time values decide is not stretch"):
                form(f)(np.array([0.5, -0.2, 0.7]))
