"""What a choice made exactly zero stays zero through functions that the program calls."""

import numpy as np
import pytest

from tapeless import checkpoint, grad, hessian, jacfwd, jit, vmap

FORMS = [lambda f: f, jit]


@checkpoint
def root(a, b):
    y = a
    while abs(y) < 1.2:
        y = y + 1.0
    return np.sqrt(a) * b


def chosen_root(x, w):
    """At x = 0 the root has an infinite slope, and is not chosen."""
    return np.where(x > 0.5, root(x, w), 2.0 * x)


@pytest.mark.parametrize("form", FORMS)
def test_infinite_slopes_of_a_call_that_is_not_chosen(form):
    slopes = grad(chosen_root, argnums=(0, 1))
    assert form(slopes)(0.0, 3.0) == (2.0, 0.0)
    assert form(slopes)(0.64, 3.0) == pytest.approx((1.5 / 0.8, 0.8))
    with np.errstate(divide="ignore", invalid="ignore"):  # of what is not chosen
        by_x, by_w = form(vmap(slopes, (0, None)))(np.array([0.0, 0.64]), 3.0)
    np.testing.assert_allclose(by_x, [2.0, 1.5 / 0.8])
    np.testing.assert_allclose(by_w, [0.0, 0.8])


@checkpoint
def grown(a):
    y = a
    while abs(y) < 1.2:
        y = 1.3 * y + 0.2 * np.cos(a)
    return np.sin(y)


def chosen_twice(x):
    return np.sin(np.where(np.sin(grown(x)) > 0.1, grown(x), x + x))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("x", [0.3, -2.0])
def test_a_call_under_a_choice_by_a_number(form, x):
    """The backward part of the call is linear, and has no types of its own."""
    step = 1e-6
    expected = (chosen_twice(x + step) - chosen_twice(x - step)) / (2 * step)
    assert form(grad(chosen_twice))(x) == pytest.approx(expected, rel=1e-7)
    assert form(jacfwd(chosen_twice))(x) == pytest.approx(expected, rel=1e-7)
    slope = grad(chosen_twice)
    second = (slope(x + step) - slope(x - step)) / (2 * step)
    assert form(hessian(chosen_twice))(x) == pytest.approx(second, rel=1e-6)
