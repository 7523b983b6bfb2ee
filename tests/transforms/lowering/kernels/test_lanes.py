"""Elements of a batch that make passes of their own, some at a time, in step."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

SIZES = (1, 5, 32, 71)


def numbers(n, seed=0, low=0.1, high=3.0):
    return np.random.default_rng(seed).uniform(low, high, n)


def newton(x, a):
    step = 1.0
    while abs(step) > 1e-10:
        step = (x - a * np.sin(x) - 1) / (1 - a * np.cos(x))
        x = x - step
    return x


def counted(x, a):
    n, settled = 0, False
    while not settled and n < 40:
        y = np.cos(a * x)
        settled = abs(y - x) < 1e-3
        x, n = y, n + 1
    return x + n


def broken_off(x, a):
    for k in range(30):
        y = x - 0.3 * np.tanh(x - a) / (1 + k)
        if abs(y - x) < 1e-2:
            break
        x = y
    return x + k


def own_length(x, a):
    for k in range(int(4 * x)):
        a = np.sin(a) + k if k % 2 == 0 else a * np.exp(-x)
    return a


def two_loops(x, a):
    while np.exp(x) < 20:
        x = x + 0.1 + a
    total = x
    while total > 1:
        total = np.log(total) * a + 0.1
    return total + x


def branch(x, a):
    while np.exp(x) < 20:
        x = x + (np.sqrt(a) if x > 1 else a)
    return x


FUNCTIONS = (newton, counted, broken_off, own_length, two_loops, branch)


def in_lanes(f):
    return ", 32):" in f.source()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_each_lane_is_the_function(f):
    batched = jit(vmap(f))
    for n in SIZES:
        x, a = numbers(n), numbers(n, 1, 0.1, 0.9)
        wanted = [f(*each) for each in zip(x, a, strict=True)]
        np.testing.assert_allclose(batched(x, a), wanted, rtol=1e-12)
    assert in_lanes(batched)


@pytest.mark.parametrize(
    "f", [counted, broken_off, own_length, two_loops], ids=lambda f: f.__name__
)
def test_gradients_of_lanes_are_those_of_elements(f):
    slopes, single = jit(vmap(grad(f, argnums=(0, 1)))), grad(f, argnums=(0, 1))
    for n in (3, 33):
        x, a = numbers(n), numbers(n, 1, 0.1, 0.9)
        wanted = np.transpose([single(*each) for each in zip(x, a, strict=True)])
        np.testing.assert_allclose(slopes(x, a), wanted, rtol=1e-9, atol=1e-12)


def test_stacks_grow_for_all_lanes():
    def slow(x, a):
        y = x
        while x > 0.1:
            x, y = x - 0.01 * np.cos(0.1 * a * y), y + 0.01 * x * a
        return y

    x, a = numbers(40), numbers(40, 1, 0.3, 0.9)
    slopes = jit(vmap(grad(slow)))
    single = [grad(slow)(*each) for each in zip(x, a, strict=True)]
    np.testing.assert_allclose(slopes(x, a), single, rtol=1e-9)
    assert in_lanes(slopes)
    assert "= grown(" in slopes.source()


def test_single_precision_and_integers_stay_what_they_are():
    def f(x, n):
        while np.exp(x) < 20:
            x, n = x + np.float32(0.5), n + 2
        return x, n

    x, n = numbers(37).astype(np.float32), np.arange(37, dtype=np.int32)
    found = jit(vmap(f))(x, n)
    wanted = [f(*each) for each in zip(x, n, strict=True)]
    for got, want in zip(found, zip(*wanted, strict=True), strict=True):
        assert got.dtype == want[0].dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_parts_of_threads_give_the_same_bits(monkeypatch):
    x, a = numbers(20_000), numbers(20_000, 1, 0.1, 0.9)
    batched = jit(vmap(newton))
    with_threads = batched(x, a)
    alone = jit(vmap(newton), parallel=False)(x, a)
    np.testing.assert_allclose(with_threads, alone, rtol=1e-12)
    assert (with_threads == batched(x, a)).all()


def test_who_is_done_waits_without_harm():
    """The values of an element that is done may be computed on, and are forgotten."""

    def f(x):
        while x > 0:
            x = np.log(x) * 0.5
        return x

    x = np.array([2.0, 1.0, 0.5, np.nan, -1.0, 3.0, 0.0])
    with np.errstate(all="ignore"):
        wanted = [f(each) for each in x]
    np.testing.assert_allclose(jit(vmap(f))(x), wanted, rtol=1e-12)


def of_cheap_passes(x):
    while x > 1:
        x = 0.5 * x
    return x


def that_may_raise(x, n):
    while np.exp(x) > 1.1:
        x, n = x / 2, n // (n + 1)
    return x + n


def of_an_array(x, table):
    while x > 0.1:
        x = np.sin(x) * table[int(2 * x)]
    return x


def nested(x):
    while x > 0.1:
        y = x
        while y > 1:
            y = np.log(y)
        x = 0.5 * np.sin(y)
    return x


@pytest.mark.parametrize(
    ("f", "args", "axes"),
    [
        (of_cheap_passes, (numbers(40),), 0),
        (that_may_raise, (numbers(40), np.arange(40)), 0),
        (of_an_array, (numbers(40), numbers(8, 2, 0.2, 0.8)), (0, None)),
        (nested, (numbers(40),), 0),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_other_loops_take_one_element_after_the_other(f, args, axes):
    batched = jit(vmap(f, in_axes=axes))
    found = batched(*args)
    axes = axes if isinstance(axes, tuple) else (0,) * len(args)
    for k in range(40):
        one = [a if axis is None else a[k] for a, axis in zip(args, axes, strict=True)]
        np.testing.assert_allclose(found[k], f(*one), rtol=1e-12)
    assert not in_lanes(batched)


@pytest.mark.parametrize("f", [newton, broken_off, own_length, branch])
def test_golden(golden, f):
    x = numbers(200)
    golden(f"loops/lanes_{f.__name__}.py", jit(vmap(f)).source(x, x))
