"""Sums in backward loops: what does not wait for the pass before is added first."""

import time

import numpy as np
import pytest

from tapeless import grad, hessian, jit
from tapeless.transformations.compilation.jit_to_c import JitToC
from tests.transforms.c.compiled import checked, normal


def two_steps(x, v, w):
    """Steps of Runge and Kutta: each slope is scaled and added to what the next one is of."""
    for a in w:
        first = v - a * x
        second = v + 0.1 * first - a * (x + 0.1 * v)
        x, v = x + 0.1 * (v + 0.1 * first), v + 0.1 * (first + second) / (1.0 + a * a)
    return x + v


def chosen(x, v, w):
    for a in w:
        if a > 0:
            x, v = x + 0.5 * (v - a * (x - 0.25 * v) / 3.0), v - 0.3 * (x + a * v)
        else:
            x, v = 0.9 * (x + a * (v + 0.1 * x)), v
    return x * v


def inner_loops(x, v, w):
    for a in w:
        for b in w[:3]:
            x, v = x + 0.2 * (v - b * (x + 0.1 * a * v)), v - 0.1 * (x - a * (b + v))
    return x - v


def negative(x, v, w):
    """All terms are negative."""
    for a in w:
        x, v = -(x + a * (v + 0.5 * x)), -a * (x + 0.3 * (v - x))
    return x + v


def equal_terms(x, v, w):
    """Coefficients of one value are added up."""
    for a in w:
        t = 0.5 * (x + a * v)
        x, v = x + 0.1 * (t + a * (t - x)) / a, v + (t - 0.1 * (a * t - v)) / a
    return x + v


def divided_by_late(x, v, w):
    for a in w:
        x, v = (2.0 + a) / (3.0 + 0.1 * (x + 0.1 * v)), 0.5 * (v + a * (x - v))
    return x * v


W = normal(7, seed=1)
PROGRAMS = [two_steps, chosen, inner_loops, negative, equal_terms, divided_by_late]


def slope(f, x, *args):
    """The derivative by the first argument, in longer numbers."""
    h = np.longdouble(1e-6)
    x = np.longdouble(x)
    return (f(x + h, *args) - f(x - h, *args)) / (2 * h)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, dtype):
    x, v, w = dtype(0.7), dtype(-0.4), W.astype(dtype)
    result = jit(grad(f))(x, v, w)
    assert result.dtype == dtype
    expected = slope(f, x, np.longdouble(v), w)
    np.testing.assert_allclose(result, expected, rtol=1e-8 if dtype is np.float64 else 5e-5)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    result = jit(hessian(f))(0.7, -0.4, W)
    h = 1e-5
    expected = (grad(f)(0.7 + h, -0.4, W) - grad(f)(0.7 - h, -0.4, W)) / (2 * h)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_in_c(f, tmp_path):
    args = (0.7, -0.4, W)
    checked(grad(f), args, tmp_path, expected=jit(grad(f), fastmath=False)(*args))


def test_one_division_does_for_all_terms():
    text = JitToC(grad(equal_terms)).module_for((0.7, -0.4, W), {}).source
    backward = text.partition("k--" if "k--" in text else "--)")[2]
    assert backward.count("1.0 / a") == 1
    assert backward.count("/ a") == 1


def test_sums_stay_where_numbers_must():
    exact = jit(grad(two_steps), fastmath=False)
    assert exact.source(0.7, -0.4, W) != jit(grad(two_steps)).source(0.7, -0.4, W)
    np.testing.assert_allclose(exact(0.7, -0.4, W), jit(grad(two_steps))(0.7, -0.4, W), rtol=1e-14)


def test_long_sums_do_not_double_with_each_step(tmp_path):
    """Each step is written out in the two terms of the next."""
    file = tmp_path / "deep.py"
    steps = "".join(f"        x = x * a + x * (a - {k}.5)\n" for k in range(24))
    file.write_text(f"def deep(x, w):\n    for a in w:\n{steps}    return x\n")
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    f, w = scope["deep"], 0.5 + normal(9) / 50
    started = time.process_time()
    np.testing.assert_allclose(jit(grad(f))(0.5, w), f(1.0, w), rtol=1e-12)
    assert time.process_time() - started < 20


def thirds(x, n):
    """Exact in the order in which it is written, and in no other."""
    for k in reversed(range(n)):
        x = (x - 3.0 * k) / 3.0
    return x


def test_what_the_user_computes_is_left_in_order():
    for x in range(0, 3**8, 3**5):
        assert jit(thirds)(float(x), 4) == thirds(float(x), 4)


def test_zeros_and_infinities():
    w = np.array([0.0, 1.0, -0.0, 2.0])
    for f in (two_steps, chosen, inner_loops, negative):
        assert jit(grad(f))(0.7, -0.4, w) == pytest.approx(grad(f)(0.7, -0.4, w), rel=1e-12)
    with np.errstate(all="ignore"):
        assert np.isnan(jit(grad(two_steps))(np.inf, 0.0, w)) == np.isnan(
            grad(two_steps)(np.inf, 0.0, w)
        )
