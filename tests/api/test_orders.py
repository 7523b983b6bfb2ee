"""Derivatives of higher orders of batched loops and recursion to a depth that data sets.

The right values are mpmath's derivatives of the same functions, run with its sine.
"""

import functools

import mpmath
import numpy as np
import pytest

from tapeless import (
    checkpoint,
    custom_jvp,
    grad,
    hessian,
    jacrev,
    jit,
    jvp,
    lax,
    linearize,
    pmap,
    vmap,
)


def settles(x, sin=np.sin):
    y = x
    while y < 2:
        y = 1.5 * y + 0.1 * sin(y)
    return y * x


def breaks(x, sin=np.sin):
    total = 0.0
    for k in range(5):
        if x * k > 1.5:
            break
        total = total + sin(x * k)
    return total * x


def iterated(x, sin=np.sin):
    y = x
    while True:
        z = 0.5 * sin(y + x)
        if abs(z - y) < 1e-2:
            break
        y = z
    return z


def halves(x, sin=np.sin):
    if x < 0.2:
        return x
    return sin(x) + halves(x / 2, sin) * x


FUNCTIONS = [settles, breaks, iterated, halves]
POINTS = np.array([0.3, 0.9, 1.4])
ROWS = np.stack([POINTS, POINTS + 0.47])


@functools.cache
def derivative_at(f, x, order):
    with mpmath.workdps(40):
        return float(mpmath.diff(lambda y: f(y, mpmath.sin), mpmath.mpf(x), order))


def derivatives(f, points, order):
    return np.vectorize(lambda x: derivative_at(f, x, order))(points)


def summed(f):
    return grad(lambda x: np.sum(f(x)))


def assert_derivatives(actual, f, points, order):
    np.testing.assert_allclose(actual, derivatives(f, points, order), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_order_of_batches(f):
    ones = np.ones(3)
    slopes = summed(vmap(f))
    assert_derivatives(summed(slopes)(POINTS), f, POINTS, 2)
    assert_derivatives(jit(summed(slopes))(POINTS), f, POINTS, 2)
    assert_derivatives(linearize(slopes, POINTS)[1](ones), f, POINTS, 2)
    assert_derivatives(jvp(slopes, (POINTS,), (ones,))[1], f, POINTS, 2)
    assert_derivatives(np.diag(hessian(lambda x: np.sum(vmap(f)(x)))(POINTS)), f, POINTS, 2)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_order_of_batches_of_batches(f):
    ones = np.ones(ROWS.shape)
    assert_derivatives(linearize(vmap(vmap(grad(f))), ROWS)[1](ones), f, ROWS, 2)
    assert_derivatives(linearize(pmap(vmap(grad(f))), ROWS)[1](ones), f, ROWS, 2)
    assert_derivatives(summed(vmap(vmap(grad(f))))(ROWS), f, ROWS, 2)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_third_order(f):
    assert_derivatives(vmap(grad(grad(grad(f))))(POINTS), f, POINTS, 3)
    assert_derivatives(summed(summed(summed(vmap(f))))(POINTS), f, POINTS, 3)
    assert_derivatives(vmap(summed(summed(summed(vmap(f)))))(ROWS), f, ROWS, 3)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_fourth_order(f):
    assert_derivatives(grad(grad(grad(grad(f))))(0.9), f, 0.9, 4)


def until(x):
    return lax.while_loop(lambda y: y < 2, lambda y: y * 1.5, x)


def rises(x):
    y = x
    while y < 2:
        y = y * 1.5
    return y


def grows(x):
    for _ in range(5):
        if x > 1:
            break
        x = x * 1.3
    return x


@pytest.mark.parametrize("f", [rises, grows, until])
def test_checkpoint_of_a_loop_that_data_ends_in_a_batch(f):
    slopes = np.array([grad(f)(x) for x in POINTS.tolist()])
    step = 1e-6
    np.testing.assert_allclose(
        slopes, [(f(x + step) - f(x - step)) / (2 * step) for x in POINTS.tolist()], rtol=1e-8
    )
    kept = checkpoint(f)
    np.testing.assert_allclose(summed(vmap(kept))(POINTS), slopes)
    np.testing.assert_allclose(jit(summed(vmap(kept)))(POINTS), slopes)
    np.testing.assert_allclose(summed(pmap(kept))(POINTS), slopes)
    np.testing.assert_allclose(jacrev(vmap(kept))(POINTS), np.diag(slopes))
    wide = summed(lambda x: vmap(checkpoint(vmap(f)))(x))(np.stack([POINTS, POINTS]))
    np.testing.assert_allclose(wide, [slopes, slopes])


def test_a_loop_in_two_calls_of_a_function_with_a_rule():
    """A variable that a function inside of the loop reads belongs to its own call."""

    @custom_jvp
    def total(x, rate):
        made = 0.0
        while x < 3:
            for k in range(3):
                at = x + 0.5 * k
                made += (lambda: rate * at)()
            x += 1
        return made

    @total.defjvp
    def _(primals, tangents):
        return total(*primals), tangents[1] * total(primals[0], 1.0)

    slope = grad(lambda rate: total(0.25, rate) + total(1.25, rate * rate))(1.5)
    at = [x + 0.5 * k for x in (0.25, 1.25, 2.25) for k in range(3)]
    assert slope == pytest.approx(sum(at) + 2 * 1.5 * sum(at[3:]))


def test_a_rule_that_loops_until_its_tangent_is_exact_enough():
    """How often a loop runs depends on tangents: reverse mode runs the rule for each entry."""

    @custom_jvp
    def geometric(x, v):
        total, term = 0.0, 1.0
        while abs(term) > 1e-15:
            total += term
            term *= x
        return total * np.sum(np.sin(v))

    @geometric.defjvp
    def _(primals, tangents):
        (x, v), (x_dot, v_dot) = primals, tangents
        total, term, k = 0.0, x_dot, 1
        while abs(term) > 1e-15:
            total += term
            k += 1
            term = x_dot * k * x ** (k - 1)
        slope = np.sum(np.cos(v) * v_dot) / (1 - x)
        return geometric(x, v), total * np.sum(np.sin(v)) + slope

    x, v = 0.4, np.array([0.1, 0.5, 0.9])
    total = np.sum(np.sin(v))
    for slopes in (grad(geometric, (0, 1)), jit(grad(geometric, (0, 1)))):
        x_bar, v_bar = slopes(x, v)
        np.testing.assert_allclose(x_bar, total / (1 - x) ** 2, rtol=1e-12)
        np.testing.assert_allclose(v_bar, np.cos(v) / (1 - x), rtol=1e-12)
    many = vmap(grad(geometric), in_axes=(0, None))(np.array([0.4, 0.2]), v)
    np.testing.assert_allclose(many, total / (1 - np.array([0.4, 0.2])) ** 2, rtol=1e-12)
    np.testing.assert_allclose(grad(grad(geometric))(x, v), 2 * total / (1 - x) ** 3, rtol=1e-9)


def test_a_rule_made_of_recursion_and_its_tangent():
    """Tangents are arguments of a call of which the value does not depend on them."""

    @custom_jvp
    def ruled(x):
        return halves(x)

    ruled.defjvp(lambda primals, tangents: jvp(halves, primals, tangents))
    assert_derivatives(grad(ruled)(0.9), halves, 0.9, 1)
    assert_derivatives(grad(grad(ruled))(0.9), halves, 0.9, 2)


def test_recursion_on_a_constant_inside_of_a_transformation():
    def inner(x, y):
        return y * y if halves(x) < 0.9 else y

    slope = grad(lambda y: grad(inner)(0.3, y) + grad(inner, 1)(0.3, y))
    assert slope(0.7) == 2.0


def test_second_order_of_a_checkpoint_on_one_side_in_a_loop():
    kept = checkpoint(settles)

    def f(x, m):
        m = m.copy()
        for k in range(2):
            if x > 0.5:
                m[k] += kept(x)
        return np.sum(np.sin(m))

    m = np.array([0.3, 0.9])
    twice = summed(summed(lambda x: vmap(f, in_axes=(0, None))(x, m)))(POINTS)
    step = 1e-5
    for x, actual in zip(POINTS, twice, strict=True):
        first = [grad(f)(x + s, m) for s in (step, -step)]
        np.testing.assert_allclose(actual, (first[0] - first[1]) / (2 * step), rtol=1e-6)


def broken_off(x, v):
    """A loop that breaks, on one side of a branch: on the other it has no number of passes."""
    if x < -0.5:
        for k in range(len(v)):
            if v[k] < x:
                break
            v = v * np.sin(v)
    return x + np.sum(v * v)


def settled_on_one_side(x, v):
    if x < -0.5:
        while abs(v[0]) > 0.1:
            v = v * np.sin(v)
    return x + np.sum(v * v)


@pytest.mark.parametrize("f", [broken_off, settled_on_one_side])
@pytest.mark.parametrize("around", [lambda g: g, jit], ids=["plain", "jit"])
def test_second_order_of_a_rule_whose_loop_one_side_does_not_reach(f, around):
    """What is saved of each pass has no length where no pass is counted."""
    ruled = custom_jvp(lambda x, v: f(x, v))
    ruled.defjvp(lambda primals, tangents: jvp(f, primals, tangents))
    twice = around(grad(lambda v, x: np.sum(np.sin(grad(ruled, 1)(x, v)))))
    v, step = np.array([0.3, 0.75, -0.2]), 1e-5
    for x in (-0.77, 0.3):

        def first(v, x=x):
            return np.sum(np.sin(grad(f, 1)(x, v)))

        steps = step * np.eye(3)
        expected = [(first(v + s) - first(v - s)) / (2 * step) for s in steps]
        np.testing.assert_allclose(twice(v, x), expected, rtol=1e-6, atol=1e-9)
