"""Sums in loops whose passes wait for each other: with fastmath the latest term comes last."""

import re
import subprocess

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.dispatch.jit_options import Options
from tapeless.transformations.compilation.jit_to_c import JitToC
from tests.transforms.c.compiled import SANITIZERS, STRICT, needs_compiler, normal

FAST = Options(fastmath=True)


def reactor(u):
    """An exponential of a quotient, scaled and added to what has been there for long."""
    x, y = 0.8, 0.5
    for k in range(u.shape[0]):
        rate = x * np.exp(-2.0 / (y + 1.5))
        slope = 0.5 - y + 2.0 * rate + 0.3 * (u[k] - y)
        x, y = x + 0.1 * (1.0 - x - rate), y + 0.1 * slope
    return x + y


def tanks(u):
    x, y = 1.0, 0.5
    for k in range(u.shape[0]):
        first, second = np.sqrt(x + 0.1), np.sqrt(y + 0.1)
        x = x + 0.05 * (0.5 * u[k] ** 2 - 0.3 * first)
        y = y - 0.05 * (0.2 * second - 0.3 * first) / 0.7
    return x * y


def squares(u):
    """A product of late numbers is no sum of its parts."""
    x, y = 0.4, 0.3
    for k in range(u.shape[0]):
        x, y = x + 0.1 * ((1.0 - y**2) * x - y + u[k]), y + 0.1 * x * (x + 0.1 * y) / (2.0 + y)
    return x - y


def signs(u):
    x = 0.2
    for k in range(u.shape[0]):
        wave = np.sin(x)
        x = -(u[k] - (0.1 - (wave - 2.0) * -0.5) - x * 0.5)
    return x


def with_branches(u):
    x, y = 0.2, 0.1
    for k in range(u.shape[0]):
        if u[k] > 0:
            y = np.cos(x) + y
        x = 0.3 * (y - 2.0 * (x + u[k] * y))
    return x + y


def until_small(u):
    x, n = 3.0, 0
    while x > 0.1:
        x = 0.25 * (x - 0.1 * (np.exp(-x) * u[0] + x)) + 0.01 * u[1]
        n += 1
    return x + n


def rows(u):
    """Loops in loops."""
    total = 0.0
    for k in range(u.shape[0]):
        x = u[k]
        for _ in range(3):
            x = 0.5 * (x - 0.2 * (np.sin(x) + total)) + 0.1
        total = total + 0.1 * x
    return total


PROGRAMS = [reactor, tanks, squares, signs, with_branches, until_small, rows]
U = normal(9, seed=3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", PROGRAMS)
def test_values(f, dtype):
    u = U.astype(dtype)
    np.testing.assert_allclose(
        jit(f, fastmath=True)(u), f(u), rtol=1e-13 if dtype is np.float64 else 2e-5
    )


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    expected = [(f(U + h) - f(U - h)) / 2e-6 for h in 1e-6 * np.eye(U.size)]
    np.testing.assert_allclose(jit(grad(f), fastmath=True)(U), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("transform", [lambda f: f, grad])
@pytest.mark.parametrize("f", PROGRAMS)
def test_in_c(f, transform, tmp_path):
    needs_compiler()
    g = transform(f)
    files = JitToC(g, FAST).files((U,), {}, g(U), (U,), inline=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = [name for name in files if name.endswith(".c")]
    command = ["gcc", *STRICT, *SANITIZERS, "-march=native", *sources, "-o", "test", "-lm"]
    for run in (command, ["./test"]):
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_one_product_and_one_sum_wait_for_the_latest():
    text = JitToC(reactor, FAST).module_for((U,), {}).source
    exponential = re.search(r"double (\w+) = exp\(", text)[1]
    last_terms = re.findall(rf"[+-] {exponential} \* \([\d.]+ \* x\w*\);", text)
    assert len(last_terms) == 2
    plain = JitToC(reactor).module_for((U,), {}).source
    assert not re.findall(r"[+-] exp\w* \* \([\d.]+ \* x\w*\);", plain)


def thirds(x, n):
    """Exact in the order in which it is written, and in no other."""
    for k in range(n):
        x = (x - 3.0 * k) / 3.0
    return x


def test_what_the_user_computes_is_left_in_order_unless_asked_for():
    for fastmath in (None, False):
        for x in range(0, 3**8, 3**5):
            assert jit(thirds, fastmath=fastmath)(float(x), 4) == thirds(float(x), 4)


def integers(n):
    x = 1
    for k in range(n):
        x = (x + 3 * (k - x)) % 1_000_003
    return x


def independent(u):
    """Passes that wait for nothing."""
    y = np.empty(u.shape[0])
    for k in range(u.shape[0]):
        y[k] = 0.5 * (np.exp(u[k]) - 2.0 * (u[k] + 1.0))
    return y


@pytest.mark.parametrize(("f", "args"), [(integers, (50,)), (independent, (U,))])
def test_other_loops_stay(f, args):
    assert JitToC(f, FAST).module_for(args, {}).source == JitToC(f).module_for(args, {}).source
    np.testing.assert_allclose(jit(f, fastmath=True)(*args), f(*args))
