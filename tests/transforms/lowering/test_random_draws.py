"""Compiled loops that draw from NumPy's generators: numbers and states of NumPy, bit by bit."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tapeless
from tapeless.transforms.ops.primitives.random_draws import IN_KERNELS

BITS = [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]


def same_draws(function, *args, bits=np.random.PCG64, compiled=True, **options):
    """Compares results and what the generators draw next with NumPy's."""
    ours, theirs = (np.random.Generator(bits(7)) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error" if compiled else "ignore", tapeless.PerformanceWarning)
        jitted = tapeless.jit(function, **options)
        got = jitted(ours, *args)
    want = function(theirs, *args)
    for a, b in zip(np.atleast_1d(got), np.atleast_1d(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13 if options.get("fastmath", True) else 0)
    assert [*ours.integers(1000, size=3), ours.random()] == [
        *theirs.integers(1000, size=3),
        theirs.random(),
    ]
    return jitted


CALLS = {
    "random": "random()",
    "standard_normal": "standard_normal()",
    "standard_exponential": "standard_exponential()",
    "standard_cauchy": "standard_cauchy()",
    "normal": "normal(x, 0.5 + abs(x))",
    "uniform": "uniform(x, x + 2)",
    "exponential": "exponential(1 + abs(x))",
    "laplace": "laplace(x, 0.5)",
    "logistic": "logistic(x, 0.5)",
    "gumbel": "gumbel(x, 0.5)",
    "lognormal": "lognormal(0.1, 0.5)",
    "rayleigh": "rayleigh(1 + abs(x))",
    "standard_gamma": "standard_gamma(0.7)",
    "gamma": "gamma(2.5, 0.5)",
    "beta": "beta(0.5, 1.5)",
    "chisquare": "chisquare(3)",
    "standard_t": "standard_t(4.5)",
    "weibull": "weibull(1.5)",
    "pareto": "pareto(3.0)",
    "power": "power(2.0)",
    "poisson": "poisson(3.5)",
    "integers": "integers(-5, 10 + i)",
    "choice": "choice(3 + i)",
}


def test_that_each_method_has_a_case():
    assert CALLS.keys() == IN_KERNELS.keys()


def drawing(tmp_path, call):
    """A function of a file, which draws in a loop under a test."""
    path = tmp_path / "drawing.py"
    path.write_text(
        "def drawing(rng, x, n):\n"
        "    total = 0.0\n"
        "    for i in range(n):\n"
        f"        x = 0.9 * x + 0.1 * rng.{call}\n"
        "        if rng.random() < 0.3:\n"
        f"            total += rng.{call}\n"
        "    return x, total\n"
    )
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["drawing"]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_numbers_of_each_method(tmp_path, call):
    jitted = same_draws(drawing(tmp_path, call), 1.0, 60)
    assert "drawing_kernel(" in jitted.source(np.random.default_rng(7), 1.0, 60)


def walk(rng, x, n):
    path = np.zeros(n)
    for i in range(n):
        x = x + rng.normal()
        if x > 2:
            x = rng.uniform(-1, 1)
        path[i] = x
    return path


@pytest.mark.parametrize("bits", BITS)
def test_bit_generators(bits):
    same_draws(walk, 0.5, 40, bits=bits)


def gibbs(rng, n):
    x = y = 0.0
    pairs = np.zeros((n, 2))
    for i in range(n):
        x = rng.normal(0.5 * y, 1.0)
        y = rng.normal(0.5 * x, 1.0)
        pairs[i, 0] = x
        pairs[i, 1] = y
    return pairs


def metropolis(rng, n):
    x, accepted = 0.0, 0
    for _ in range(n):
        step = x + rng.normal()
        if np.log(rng.random()) < 0.5 * (x * x - step * step):
            x = step
            accepted += 1
    return x, accepted


def until(rng, limit):
    total, count = 0.0, 0
    while total < limit:
        total += rng.exponential(0.5)
        count += 1
    return total, count


def unread(rng, n):
    total = 0.0
    for _ in range(n):
        rng.random()
        total += rng.random()
    return total, n


def shuffled(rng, x):
    x = x.copy()
    for i in range(len(x) - 1, 0, -1):
        j = rng.integers(0, i + 1)
        x[i], x[j] = x[j], x[i]
    return x


def ising(rng, spins, n):
    spins = spins.copy()
    size = len(spins)
    for _ in range(n):
        i, j = rng.integers(0, size), rng.integers(size)
        around = spins[(i + 1) % size, j] + spins[i - 1, j] + spins[i, (j + 1) % size]
        if around * spins[i, j] <= 0 or rng.random() < 0.2:
            spins[i, j] = -spins[i, j]
    return spins


def nested(rng, n, m):
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = rng.standard_normal()
    return out


def by_columns(rng, n, m):
    out = np.zeros((n, m))
    for j in range(m):
        for i in range(n):
            out[i, j] = rng.random() + out[i, j - 1]
    return out


def rows(rng, x, n):
    for _ in range(n):
        x = x + 0.1 * rng.standard_normal(3)
    return x


def matrices(rng, x, n):
    for _ in range(n):
        x = 0.5 * x + rng.uniform(-1, 1, x.shape)
    return x


def means(rng, mu, n):
    total = np.zeros_like(mu)
    for _ in range(n):
        total += rng.normal(mu, 0.1)
    return total


def left_early(rng, n):
    x = 0.0
    for i in range(n):
        x += rng.normal() + 0.01 * i
        if abs(x) > 3:
            break
    return x, i


def events(rng, n):
    queue, time, served = 0, 0.0, 0
    for _ in range(n):
        gap = rng.exponential(1.0)
        time += gap
        done = rng.poisson(gap)
        served += min(done, queue)
        queue = max(queue - done, 0) + 1
    return time, served, queue


SPINS = np.where(np.arange(36).reshape(6, 6) % 5 < 2, 1, -1)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (gibbs, (30,)),
        (metropolis, (60,)),
        (until, (20.0,)),
        (unread, (30,)),
        (shuffled, (np.arange(20.0),)),
        (ising, (SPINS, 200)),
        (nested, (5, 7)),
        (by_columns, (5, 7)),
        (rows, (np.arange(3.0), 20)),
        (matrices, (np.ones((4, 5)), 20)),
        (means, (np.arange(4.0), 20)),
        (left_early, (100,)),
        (events, (50,)),
    ],
)
@pytest.mark.parametrize("fastmath", [True, False])
def test_programs(function, args, fastmath):
    same_draws(function, *args, fastmath=fastmath)


def scaled(rng, scale, n):
    total = 0.0
    for _ in range(n):
        total += rng.normal(0.0, scale)
    return total


def between(rng, low, high, n):
    total = 0
    for _ in range(n):
        total += rng.integers(low, high)
    return total


@pytest.mark.parametrize(
    ("function", "args", "error", "message"),
    [
        (scaled, (-1.0, 5), ValueError, "scale < 0"),
        (between, (3, 3, 5), ValueError, "low >= high"),
    ],
)
def test_parameters_that_numpy_refuses(function, args, error, message):
    for call in (function, tapeless.jit(function)):
        with pytest.raises(error, match=message):
            call(np.random.default_rng(0), *args)


def ended_by_draws(rng):
    count, total = 0, 0.0
    while rng.random() < 0.95 and count < 100:
        total = np.sin(total + rng.exponential())
        count += 1
    while (number := rng.integers(6)) != 5:
        total += number
    return count, total


def within_bounds(rng, x):
    total = 0.0
    for v in x:
        while True:
            step = rng.normal()
            if 0 < v + step < 1:
                break
        total += v + step
    return total


def smallest_integer(rng, n):
    numbers = np.zeros(n, np.int64)
    for i in range(n):
        numbers[i] = rng.integers(-(2**63), 2**63 - 1)
    return numbers % 1000


@pytest.mark.parametrize(
    ("function", "args"),
    [(ended_by_draws, ()), (within_bounds, (np.linspace(0, 1, 20),)), (smallest_integer, (9,))],
)
def test_tests_of_loops_are_evaluated_once(function, args):
    same_draws(function, *args)


def caught(rng, scales):
    total = 0.0
    for scale in scales:
        try:
            total += rng.normal(0.0, scale)
        except ValueError:
            total -= rng.random()
    return total


def caught_bounds(rng, x):
    total = 0.0
    for i in range(len(x)):
        try:
            total += rng.uniform(x[i], x[i - 1]) + rng.integers(i)
        except (ValueError, OverflowError):
            total -= 10
        else:
            total += rng.random()
    return total


def caught_array(rng, x):
    try:
        return np.sum(rng.exponential(x))
    except ValueError:
        return rng.random()


@pytest.mark.parametrize("function", [caught, caught_bounds, caught_array])
def test_what_numpy_refuses_is_caught(function):
    x = np.random.default_rng(0).random(20) - 0.4
    same_draws(function, x)
    same_draws(function, np.abs(x))


def test_what_is_not_known_to_be_refused_is_not_caught():
    def counts(rng, x):
        try:
            return rng.binomial(5, x)
        except ValueError:
            return 0

    with pytest.raises(tapeless.TapelessError, match="an except clause catches it"):
        tapeless.jit(counts)(np.random.default_rng(0), 0.5)


def by_driver_and_kernels(rng, x):
    total, y = 0.0, x.copy()
    if x[0] >= 0:
        total += sum(rng.gamma(1.5) for _ in range(2))
        y[:3] = rng.integers(9, size=3)  # the driver draws behind the kernel
    return [total, *y]


def test_order_of_kernels_and_driver():
    same_draws(by_driver_and_kernels, np.linspace(0, 1, 6))


def test_text_runs_with_numba():
    numba = pytest.importorskip("numba")
    text = tapeless.jit(gibbs).source(np.random.default_rng(7), 30)
    names = {"njit": numba.njit}
    exec(text, names)
    rng = np.random.default_rng(7)
    got = names["gibbs_kernel"]
    assert got is not None
    np.testing.assert_array_equal(
        names["gibbs"](rng, 30, *[rng][: text.count("rng_") > 0]),
        gibbs(np.random.default_rng(7), 30),
    )


def test_derivative():
    def loss(rng, a, n):
        x = 0.0
        for _ in range(n):
            x = a * x + rng.normal()
        return x * x

    h = 1e-6
    up, down = (loss(np.random.default_rng(3), 0.8 + d, 30) for d in (h, -h))
    got = tapeless.jit(tapeless.grad(loss, argnums=1))(np.random.default_rng(3), 0.8, 30)
    np.testing.assert_allclose(got, (up - down) / (2 * h), rtol=1e-5)


def summed(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.random()
    return total


def test_threads_take_turns_with_a_generator():
    compiled, n, calls = tapeless.jit(summed, fastmath=False), 20_000, 8
    one = np.random.default_rng(5)
    wanted = sorted(summed(one, n) for _ in range(calls))
    shared = np.random.default_rng(5)
    compiled(np.random.default_rng(0), n)
    with ThreadPoolExecutor(4) as pool:
        got = sorted(pool.map(lambda _: compiled(shared, n), range(calls)))
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert shared.random() == one.random()
    assert shared.bit_generator.lock.acquire(blocking=False)
    shared.bit_generator.lock.release()


def test_an_error_leaves_the_generator_to_others():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="scale < 0"):
        tapeless.jit(scaled)(rng, -1.0, 5)
    with ThreadPoolExecutor(1) as pool:
        assert 0 <= pool.submit(rng.random).result(timeout=20) < 1


def product_of_two(a, b, n):
    total = 0.0
    for _ in range(n):
        total += a.random() * b.random()
    return total


def test_threads_wait_for_several_generators_in_one_order():
    compiled = tapeless.jit(product_of_two, fastmath=False)
    pair = np.random.default_rng(1), np.random.default_rng(2)
    compiled(*pair, 3)
    pool = ThreadPoolExecutor(4)
    calls = [pool.submit(compiled, *pair[:: 1 - k % 2 * 2], 1_000_000) for k in range(40)]
    pool.shutdown(wait=False)
    assert all(call.result(timeout=60) > 0 for call in calls)


def test_one_generator_as_two_arguments():
    compiled, shared, other = (
        tapeless.jit(product_of_two, fastmath=False),
        *map(np.random.default_rng, (3, 3)),
    )
    np.testing.assert_allclose(
        compiled(shared, shared, 100), product_of_two(other, other, 100), rtol=1e-12
    )
