"""Backward loops that carry a few numbers linearly: what multiplies these is computed ahead."""

import re

import numpy as np
import pytest

from tapeless import grad
from tapeless.dispatch.jit_options import Options
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.lowering.optimize import linear_recurrences
from tapeless.transforms.lowering.optimize.linear_recurrences import BLOCK
from tests.transforms.c.compiled import checked, library, normal

LONG = 2 * BLOCK + 5


def oscillator(u):
    """Van der Pol's, by steps of Runge and Kutta: two numbers are carried."""
    x, v, total = 0.3, 0.1, 0.0
    for a in u:
        k = (1 - x**2) * v - x + a
        q, w = v + 0.02 * k, x + 0.02 * v
        m = (1 - w**2) * q - w + a
        r, y = v + 0.02 * m, x + 0.02 * q
        n = (1 - y**2) * r - y + a
        s, z = v + 0.04 * n, x + 0.04 * r
        o = (1 - z**2) * s - z + a
        x = x + 0.04 / 6 * (v + 2 * q + 2 * r + s)
        v = v + 0.04 / 6 * (k + 2 * m + 2 * n + o)
        total = total + x * x + 0.3 * v * v + 0.1 * a**2
    return total


def parameters(k, u):
    """Numbers that passes only add to: what is differentiated by."""
    x, v = 0.3, 0.1
    for a in u:
        w = x + 0.02 * v * k["mass"]
        q = v - 0.02 * (k["spring"] * w - a * v) / (1.0 + w * w)
        x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * k["spring"] * x * w
    return x * x + v


def three_numbers(u):
    """Lorenz's equations."""
    x, y, z = 1.0, 0.5, -0.5
    for a in u:
        p, q = x + 0.005 * (y - x), y + 0.005 * (x * (2.0 - z) - y)
        r = z + 0.005 * (x * y - 2.0 * z)
        x, y, z = (
            x + 0.01 * 10.0 * (q - p) * (1 + 0.1 * a),
            y + 0.01 * (p * (28.0 - r) - q),
            z + 0.01 * (p * q - 2.7 * r),
        )
    return x + y * z


def from_the_third(u):
    x, v = 0.3, 0.1
    for k in range(2, len(u) - 1):
        w = x + 0.02 * v * u[k - 1]
        q = v - 0.02 * (w - u[k] * v) / (1.0 + w * w)
        x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * x * w * u[k - 2]
    return x * x + v


def in_loop(u):
    """A loop in another one: blocks of its passes are made anew each time."""
    x, v = 0.3, 0.1
    for s in range(3):
        x = 0.9 * x + 0.01 * s
        for a in u:
            w = x + 0.02 * v * a
            q = v - 0.02 * (w - a * v) / (1.0 + w * w)
            x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * x * w
    return x * x + v


def divided(u):
    """Carried numbers are divided by what is known ahead."""
    x, v = 0.3, 0.1
    for a in u:
        w = (x + 0.3 * v) / (2.0 + a * a)
        q = v + 0.1 * (w - v * w) / (1.0 + w * w)
        x, v = x + 0.05 * (q - a * w) / (1.5 + q * q), -(v - 0.1 * (w - q * x) / (2.0 + w * q))
    return x * x + v


def slope(f, u, k):
    """The derivative by the k-th element, in longer numbers."""
    h = np.zeros(len(u), np.longdouble)
    h[k] = 1e-5
    return (f(u + h) - f(u - h)) / (2 * h[k])


def coefficients(function, *args):
    """How many arrays of coefficients the C of a function has."""
    text = JitToC(function).module_for(args, {}).source
    return len(set(re.findall(r"coefficients\w*", text)))


PROGRAMS = [oscillator, three_numbers, from_the_third, in_loop, divided]


@pytest.fixture
def whether_it_pays_or_not(monkeypatch):
    monkeypatch.setattr(linear_recurrences, "GAIN", 10.0)
    monkeypatch.setattr(linear_recurrences, "WORTH", -1000)


@pytest.mark.usefixtures("whether_it_pays_or_not")
@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, LONG])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, n, tmp_path):
    """The numbers that the test program under sanitizers compares with are those of array form,
    which agree with differences."""
    u = 0.5 * normal(n, seed=1)
    expected = grad(f)(u)
    for k in (0, 3, n // 2, n - 1):
        np.testing.assert_allclose(expected[k], float(slope(f, u, k)), rtol=1e-6, atol=1e-9)
    assert coefficients(grad(f), u)
    checked(grad(f), (u,), tmp_path)


@pytest.mark.usefixtures("whether_it_pays_or_not")
@pytest.mark.parametrize("f", [oscillator, divided])
def test_single_precision(f, tmp_path):
    u = (0.5 * normal(LONG, seed=1)).astype(np.float32)
    module = checked(grad(f), (u,), tmp_path)
    assert f"float coefficients[{BLOCK}]" in module.source


@pytest.mark.usefixtures("whether_it_pays_or_not")
def test_numbers_that_passes_only_add_to(tmp_path):
    k, u = {"mass": 1.2, "spring": 0.7}, 0.5 * normal(LONG, seed=2)
    for name, value in grad(parameters)(k, u).items():
        h = 1e-6
        ends = [parameters({**k, name: k[name] + s}, u) for s in (h, -h)]
        np.testing.assert_allclose(value, (ends[0] - ends[1]) / (2 * h), rtol=1e-6)
    assert coefficients(grad(parameters), k, u)
    checked(grad(parameters), (k, u), tmp_path)


def test_passes_wait_for_a_product_and_two_sums():
    """A pass of the loop that waits is a product with a matrix of two rows."""
    text = JitToC(grad(oscillator)).module_for((0.5 * normal(LONG),), {}).source
    waiting = text[text.rindex("place_2 = ") :].partition("}")[0]
    assert waiting.count("coefficients") == coefficients(grad(oscillator), normal(LONG))
    assert waiting.count("*") < 20
    assert "/" not in waiting.replace("//", "")


def short(u):
    """A pass waits for two products: no more than it would with coefficients."""
    x = 0.3
    for a in u:
        x = x * a + 0.1 * x
    return x


def chosen(u):
    """What a pass does with the numbers is decided by its element."""
    x, v = 0.3, 0.1
    for a in u:
        if a > 0:
            w = x + 0.02 * v * a
            q = v - 0.02 * (w - a * v) / (1.0 + w * w)
            x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * x * w
        else:
            x, v = 0.9 * v, x
    return x * x + v


def few(u):
    x, v = 0.3, 0.1
    for k in range(5):
        w = x + 0.02 * v * u[k]
        q = v - 0.02 * (w - u[k] * v) / (1.0 + w * w)
        x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * x * w
    return x * x + v


@pytest.mark.usefixtures("whether_it_pays_or_not")
@pytest.mark.parametrize("f", [chosen, few])
def test_other_loops_stay(f, tmp_path):
    u = 0.5 * normal(LONG, seed=1)
    assert not coefficients(grad(f), u)
    checked(grad(f), (u,), tmp_path)


def test_loops_for_which_it_does_not_pay():
    assert not coefficients(grad(short), 0.5 * normal(LONG, seed=1))


def test_what_is_written_is_computed_where_rounding_counts():
    """Without `fastmath` no sum has another order."""
    u = 0.5 * normal(LONG, seed=1)
    text = JitToC(grad(oscillator), Options(fastmath=False)).module_for((u,), {}).source
    assert "coefficients" not in text


@pytest.mark.usefixtures("whether_it_pays_or_not")
def test_slopes_that_are_not_finite(tmp_path):
    """An infinite slope gives no finite number, and no other element is touched."""

    def roots(u):
        x, v = 0.3, 0.1
        for a in u:
            w = x + 0.02 * v * np.sqrt(a)
            q = v - 0.02 * (w - a * v) / (1.0 + w * w)
            x, v = x + 0.05 * q * (1.0 - 0.1 * w * q), q - 0.05 * x * w
        return x * x + v

    u = np.abs(normal(LONG, seed=1))
    u[BLOCK + 3] = 0.0
    with np.errstate(divide="ignore"):
        expected, result = grad(roots)(u), library(grad(roots), (u,), tmp_path)(u)
    assert not np.isfinite(result[BLOCK + 3])
    others = np.arange(LONG) != BLOCK + 3
    np.testing.assert_allclose(result[others], expected[others], rtol=1e-12)
