"""What the backward part keeps of the forward part: as little as possible, and never twice."""

# ruff: noqa: SIM108 (branches are what is differentiated)

import re
import tracemalloc

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import For, Let
from tests.transforms.staging import close_to, every, lets, slope

U = np.array([0.3, -0.7, 0.9, 1.2])
W = np.array([0.5, 0.8, -0.2, 0.1])


def linear_steps(u, n):
    for _ in range(n):
        u = 0.5 * u + np.roll(u, 1)
    return np.sum(u)


def linear_stores(u, n):
    for _ in range(n):
        for i in range(1, len(u)):
            u[i] = u[i] + 0.5 * u[i - 1]
    return np.sum(u)


def scaled(u, n, w):
    for _ in range(n):
        u = u * w + 1
    return np.sum(u)


def element_products(u, n):
    for _ in range(n):
        for i in range(1, len(u)):
            u[i] = u[i] * u[i - 1]
    return np.sum(u)


def square(u, n):
    for _ in range(n):
        u = u * u
    return np.sum(u)


def cheap(u, n):
    for _ in range(n):
        a = u + 1
        b = (a - 0.5) * 2
        u = a * b * 0.1
    return np.sum(u)


def tanh(u, n):
    for _ in range(n):
        u = np.tanh(u)
    return np.sum(u)


def exp(u, n):
    for _ in range(n):
        u = np.exp(-u)
    return np.sum(u)


def sine(u, n):
    for _ in range(n):
        u = u * np.sin(u)
    return np.sum(u)


def by_index(u, n):
    for k in range(n):
        u = u * (k + 1) / 3 + k
    return np.sum(u)


def read_only(u, n):
    total = 0.0
    for i in range(n):
        total = total + u[i] * u[i - 1]
    return total


def nested(u, n):
    for _ in range(n):
        for _ in range(3):
            u = np.sin(u)
    return np.sum(u)


def scalar_branch(u, n):
    x = u[0]
    for _ in range(n):
        if x > 0.5:
            x = x - 0.1 * x * x
        else:
            x = x + u[1]
    return x


def reduced(u, n):
    total = 0.0
    for _ in range(n):
        total = total + np.sum(u) ** 2
    return total


def reduced_anew(u, n):
    total = 0.0
    for t in range(n):
        total = total + np.sum(u**t) ** 2
    return total


def rows(u, n):
    h = np.zeros((n + 1, len(u)))
    h[0] = u
    for t in range(n):
        h[t + 1] = np.tanh(h[t])
    return np.sum(h)


def until_small(u, n):
    while np.sum(u * u) > 1.0 / n:
        u = np.tanh(u) * 0.9
    return np.sum(u)


def leaving(u, n):
    for _ in range(n):
        u = np.tanh(u)
        if np.sum(u * u) < 0.5:
            break
    return np.sum(u)


def differences_of_neighbours(u, n):
    for _ in range(n):
        u = u - 0.1 * u * (np.roll(u, -1) - np.roll(u, 1))
    return np.sum(u**2)


def pairs(u, n):
    for _ in range(n):
        u = u + 0.1 * np.sum(np.sin(u[:, None] - 2 * u), axis=1)
    return np.sum(u**2)


def pairs_in_a_plane(u, n):
    x = np.stack([u, u**2], axis=1)
    for _ in range(n):
        apart = x[:, None, :] - x
        x = x + 0.1 * np.sum(apart * (np.sum(apart**2, axis=2) + 0.1)[:, :, None] ** -1.5, axis=1)
    return np.sum(x**2)


def implicit(u, n):
    """Each pass fills arrays of its own."""
    for _ in range(n):
        upper, v = np.zeros(len(u)), np.zeros(len(u))
        for i in range(1, len(u)):
            upper[i] = u[i] / (2 + u[i] * upper[i - 1])
        for i in range(len(u) - 2, -1, -1):
            v[i] = u[i] - upper[i] * v[i + 1]
        u = v
    return np.sum(u**2)


def filled_twice(u, n):
    """What the first inner loop stores is overwritten in the second."""
    for _ in range(n):
        v = np.zeros(len(u))
        for i in range(1, len(u)):
            v[i] = 0.5 * u[i] - np.sin(v[i - 1])
        for i in range(1, len(u)):
            v[i] = v[i] * v[i - 1] + u[i - 1]
        u = v
    return np.sum(u**2)


def half_steps(u, n):
    """A step of Verlet: the force is that of what the next pass begins with, too."""
    v = np.zeros(len(u))
    for _ in range(n):
        half = v - 0.1 * u**3
        u = u + 0.2 * half
        v = half - 0.1 * u**3
    return np.sum(u**2)


# What is kept: for each store, its axes with u of length len and n passes; "stack" where the
# number of passes is not known.
KEPT = [
    (linear_steps, []),
    (linear_stores, []),
    (by_index, []),
    (read_only, []),
    (square, ["n len"]),
    (cheap, ["n len"]),
    (tanh, ["n len"]),
    (exp, ["n len"]),
    (sine, ["n len", "n len"]),
    (rows, []),
    (nested, ["n 3 len"]),
    (reduced, []),
    (reduced_anew, ["n"]),
    (element_products, ["n len-1", "n len-1"]),
    (scalar_branch, ["n"]),
    (until_small, ["stack"]),
    (differences_of_neighbours, ["n len"]),
    (pairs, ["n len"]),
    (half_steps, ["n+1 len"]),
]


def _values(case):
    return getattr(case, "values", case)


def simplified(function, *args):
    return tapeless.grad(function).specialise(args, {}).simplified


def kept(function, *args):
    """The axes of everything that is allocated for later."""
    block = simplified(function, *args)
    found = [" ".join(str(s) for s in let.params["shape"]) for let in lets(block, "empty")]
    found = [re.sub(r"u\.shape\[0\]", "len", axes) for axes in found]
    return [re.sub(r" ([+-]) 1", r"\g<1>1", axes) for axes in found] + ["stack"] * len(
        lets(block, "new_stack")
    )


@pytest.mark.parametrize(("function", "expected"), KEPT)
def test_what_is_kept(function, expected):
    assert kept(function, U, 3) == expected


@pytest.mark.parametrize(
    "function", [f for f, _ in map(_values, KEPT)] + [leaving, pairs_in_a_plane, filled_twice]
)
def test_it_is_right_and_well_formed(function):
    verify(simplified(function, U, 3))
    close_to(tapeless.grad(function)(U.copy(), 3), slope(lambda u: function(u, 3), U), 1e-6)


def test_an_array_that_a_pass_fills_is_kept_whole_and_not_each_element_that_is_read():
    """What a pass leaves is what the next one begins with; `upper` is read in both inner loops."""
    u = np.linspace(0.1, 0.9, 50)
    assert kept(implicit, u, 3) == ["n+1 len", "n len"]


def test_what_is_larger_than_the_state_is_computed_again_where_it_is_much():
    """Distances of 300 points in each of 10 passes are more than a cache holds; those of 4 are
    not, and a second program is for them."""
    x, few = np.linspace(0.1, 3.0, 300), np.linspace(0.1, 0.9, 4)
    assert kept(pairs_in_a_plane, x, 10) == ["n len 2"]
    assert "n len len 1" in kept(pairs_in_a_plane, few, 10)
    gradient = tapeless.grad(pairs_in_a_plane)
    for u in (x, few, x):
        direction = np.cos(np.arange(len(u)))
        _, expected = tapeless.jvp(lambda u: pairs_in_a_plane(u, 3), (u,), (direction,))
        close_to(gradient(u, 3) @ direction, expected, 1e-9)


@pytest.mark.parametrize("first", [4, 4000])
def test_functions_of_many_numbers_are_computed_again(first):
    """Whichever size comes first, each has the program that is right for it."""
    gradient = tapeless.grad(sine)
    sizes = (first, 4004 - first)
    for m in sizes:
        u = np.linspace(0.1, 0.9, m)
        found = gradient(u, 200)
        direction = np.cos(np.arange(m))
        close_to(found @ direction, tapeless.jvp(lambda u: sine(u, 200), (u,), (direction,))[1])
    saved = [gradient.source(np.linspace(0.1, 0.9, m), 200).count("np.empty") for m in sizes]
    assert saved == [1 if m == 4000 else 2 for m in sizes]


def test_an_array_that_all_passes_read_is_kept_once():
    """With respect to u alone only w is read, which is at hand; with respect to w, each u is."""
    assert kept(scaled, U, 3, W) == []
    grad = tapeless.grad(scaled, argnums=(0, 2))
    block = grad.specialise((U, 3, W), {}).simplified
    assert len(lets(block, "empty")) == 1


def test_expensive_values_are_not_computed_again():
    """One tanh, in the forward loop; arithmetic is done in both."""
    assert len(lets(simplified(tanh, U, 3), "tanh")) == 1
    forward, backward = every(simplified(cheap, U, 3), For)
    assert lets(backward.body, "add")
    assert {s.op.name for s in every(backward.body, Let)} <= {"index", "add", "sub", "mul"}
    assert lets(forward.body, "update")


def test_cheap_scalars_are_computed_from_the_index():
    def phases(x, n):
        for k in range(n):
            x = x * np.cos(0.1 * k)
        return x

    assert kept(phases, 1.5, 4) == []
    close_to(tapeless.grad(phases)(1.5, 4), np.prod(np.cos(0.1 * np.arange(4))))


@pytest.mark.parametrize("step", [-2, -1, 1, 3])
def test_ranges_with_steps_are_kept_pass_by_pass(step):
    def walk(x, low, high):
        for k in range(low, high, step):
            x = np.sin(x) + 0.1 * k
        return x

    span = (7, 1) if step < 0 else (-3, 8)
    close_to(tapeless.grad(walk)(0.4, *span), slope(lambda x: walk(x, *span), 0.4), 1e-6)


def test_a_loop_without_passes_keeps_nothing():
    def walk(x, low, high):
        for _ in range(low, high):
            x = np.sin(x)
        return x

    assert tapeless.grad(walk)(0.4, 3, 1) == 1.0


def test_ragged_nests_are_kept_on_a_stack():
    def triangle(x, n):
        for k in range(n):
            for _ in range(k):
                x = np.sin(x)
        return x

    assert kept(triangle, 0.4, 4) == ["stack"]
    close_to(tapeless.grad(triangle)(0.4, 4), slope(lambda x: triangle(x, 4), 0.4), 1e-6)


def test_lengths_that_are_computed_in_a_branch():
    def f(x, n, m):
        if n > 2:
            for k in range(n % 3):
                x = np.sin(x) + k
        if m > 0:
            for _ in range(n % m):
                x = np.cos(x)
        return x

    for args in [(5, 2), (5, 0), (1, 3)]:
        args = np.int64(args[0]), np.int64(args[1])
        expected = slope(lambda x, args=args: f(x, *args), 0.4)
        close_to(tapeless.grad(f)(0.4, *args), expected, 1e-6)


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_lengths_of_a_value_that_no_pass_may_set(passes):
    def counted(u, k, n, passes):
        for _ in range(3):
            for _ in range(passes[1]):
                return u[0], np.bincount(k, u, n)
        return u[1], u

    def loss(u, k, n, passes):
        first, counts = counted(u, k, n, passes)
        return first + np.sum(np.sin(counts))

    u, k = np.array([0.3, -0.5, 0.9]), np.array([0, 3, 3])
    args = u, k, 4, np.array([0, passes, 0])
    want = slope(lambda u: loss(u, *args[1:]), u)
    close_to(tapeless.grad(loss)(*args), want, 1e-6)
    close_to(tapeless.jit(tapeless.grad(loss))(*args), want, 1e-6)


# -- measured


def peak(function, *args):
    """The bytes at once in a call: the least of some, as other threads may allocate, too."""
    grad = tapeless.grad(function)
    grad(*args)
    peaks = []
    for _ in range(3):
        tracemalloc.start()
        try:
            grad(*args)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


def growth(function, passes=(40, 160), length=(400, 400)):
    """By how much the peak grows between two sizes."""
    small, large = (
        peak(function, np.linspace(0.1, 0.9, m), n) for n, m in zip(passes, length, strict=True)
    )
    return large / small


@pytest.mark.parametrize("function", [linear_steps, linear_stores, by_index])
def test_memory_of_linear_steps_does_not_grow_with_the_passes(function):
    assert growth(function, (4, 16)) < 1.2


@pytest.mark.parametrize("function", [tanh, sine, rows])
def test_memory_of_a_recurrence_is_passes_times_length(function):
    bytes_per_number = peak(function, np.linspace(0.1, 0.9, 500), 100) / (100 * 500)
    assert bytes_per_number < 8 * 4.5
    assert growth(function) < 4.3
    assert growth(function, (60, 60), (300, 1200)) < 4.3


def test_memory_of_element_stores_is_one_number_each():
    assert growth(element_products, (10, 10), (40, 160)) < 4.3
    assert peak(element_products, np.full(100, 0.9), 20) < 20 * 100 * 8 * 10


def test_checkpoint_trades_memory_for_work():
    def deep(u, n):
        for _ in range(n):
            u = tapeless.checkpoint(lambda v: np.tanh(np.tanh(np.tanh(np.tanh(v))) * v))(u)
        return np.sum(u)

    def plain(u, n):
        for _ in range(n):
            u = np.tanh(np.tanh(np.tanh(np.tanh(u))) * u)
        return np.sum(u)

    u = np.linspace(0.1, 0.9, 500)
    assert peak(deep, u, 50) < 0.5 * peak(plain, u, 50)
    close_to(tapeless.grad(deep)(u, 5), tapeless.grad(plain)(u, 5))


def sine_times_cosine(u, n):
    for _ in range(n):
        u = np.sin(u) * np.cos(u)
    return np.sum(u)


def the_same_twice(u, n):
    for _ in range(n):
        u = u * np.tanh(u) + 0.1 * u**2 * np.tanh(u)
    return np.sum(u)


def on_one_side_only(u, n):
    for k in range(n):
        if k % 2 == 0:
            u = np.sin(u) * 0.5
        u = u * np.cos(u)
    return np.sum(u)


@pytest.mark.parametrize("f", [sine_times_cosine, the_same_twice, on_one_side_only])
def test_what_is_computed_again_may_be_known_already(f):
    close_to(tapeless.grad(f)(U, 3), slope(lambda u: f(u, 3), U))
    first, second = np.cos(U), np.sin(U)
    pushed = tapeless.jvp(lambda u: tapeless.grad(f)(u, 3), (U,), (first,))[1]
    bent = slope(lambda u: float(tapeless.grad(f)(u, 3) @ second), U)
    close_to(pushed @ second, bent @ first, 1e-5)


def test_factors_that_are_saved_serve_the_derivatives_of_each_other():
    source = tapeless.grad(sine_times_cosine).source(U, 3)
    assert source.count("np.sin(") == source.count("np.cos(") == 1
    assert source.count("np.empty(") == 2  # sin_x and cos_x, and not x
    assert "sin_u = sin_u_saved[i]" in source


def recurrent(a, x, n):
    for _ in range(n):
        x = np.tanh(a @ x)
    return np.sum(x)


def recurrent_in_steps(a, x, n):
    for k in range(2 * n, 0, -2):
        x = np.tanh(a @ x + k)
    return np.sum(x * x)


def recurrent_in_two_loops(a, x, n):
    for _ in range(1, n):
        h = x
        for _ in range(3):
            h = np.exp(-((a @ h) ** 2))
        x = x + h
    return np.sum(x)


def two_recurrences(a, x, n):
    y = 0.5 * x
    for _ in range(n):
        x, y = np.exp(-x * y), np.tanh(a @ y) * x
    return np.sum(x * y)


@pytest.mark.parametrize("n", [3, 1, 0])
@pytest.mark.parametrize(
    "f", [recurrent, recurrent_in_steps, recurrent_in_two_loops, two_recurrences]
)
def test_what_a_pass_leaves_and_the_next_begins_with_is_saved_once(f, n):
    a, x = 0.3 * np.outer(U, W) + 0.5 * np.eye(4), U
    both = tapeless.grad(f, argnums=(0, 1))
    found = both(a, x, n)
    close_to(found[0], slope(lambda a: f(a, x, n), a))
    close_to(found[1], slope(lambda x: f(a, x, n), x))
    close_to(tapeless.jit(both)(a, x, n)[0], found[0])
    batched = tapeless.vmap(both, in_axes=(None, 0, None))(a, np.stack([2 * x, x]), n)
    close_to(batched[0][1], found[0])
    assert re.search(r"_saved\[(i - 1, )?0\] = ", both.source(a, x, n))
    tapeless.check_grads(lambda a, x: f(a, x, n), (a, x), order=2)


def test_a_recurrence_keeps_one_vector_a_pass():
    x, n = np.linspace(0.1, 0.9, 20), 2000
    assert peak(lambda p, n: recurrent(*p, n), (np.eye(20), x), n) < 1.2 * 8 * x.size * n


def lengths_in_a_loop_that_nothing_reads(a, c):
    n = len(a)
    for j in range(n):
        np.sin(c[:n])[j]
    return c * 2


def test_lengths_of_loops_that_nothing_reads():
    value, back = tapeless.vjp(lengths_in_a_loop_that_nothing_reads, np.ones(3), np.arange(5.0))
    np.testing.assert_array_equal(value, 2 * np.arange(5.0))
    a_bar, c_bar = back(np.ones(5))
    np.testing.assert_array_equal(a_bar, np.zeros(3))
    np.testing.assert_array_equal(c_bar, np.full(5, 2.0))


def rows_below(x, a):
    for i in range(len(x)):
        x[i] = np.sin(x[i]) + np.sum(a[i] * x[i + 1 :] ** 2, axis=0)
    return np.sum(x**2)


def columns_below(x, a):
    for i in range(len(x)):
        for j in range(x.shape[1]):
            x[i, j] *= np.dot(a[i + 1 :, i], x[i + 1 :, j])
        x[i] += 1
    return np.sum(x**2)


def rows_above(x, a):
    for i in range(len(x) - 1, -1, -1):
        x[i] = np.sin(x[i]) + np.sum(a[i] * x[:i] ** 2, axis=0)
    return np.sum(x**2)


def rows_below_that_are_stored(x, a):
    for i in range(len(x) - 1, -1, -1):
        x[i] = np.sin(x[i]) + np.sum(a[i] * x[i + 1 :] ** 2, axis=0)
        x[i // 2] += 1
    return np.sum(x**2)


def rows_from_the_same_on(x, a):
    for i in range(len(x)):
        x[i] *= 1.5
        x[i] = np.sum(a[i] * x[i:] ** 2, axis=0)
    return np.sum(x**2)


def rows_of_several_rounds(x, a):
    for _ in range(2):
        for i in range(len(x)):
            x[i] = np.sin(x[i]) + np.sum(a[i] * x[i + 1 :] ** 2, axis=0)
    return np.sum(x**2)


@pytest.mark.parametrize(
    ("f", "is_read"),
    [
        (rows_below, True),
        (columns_below, True),
        (rows_above, True),
        (rows_below_that_are_stored, True),  # of the last array: no later pass stores there
        (rows_from_the_same_on, False),
        (rows_of_several_rounds, False),
    ],
)
def test_parts_that_no_earlier_pass_has_stored_are_read_of_the_first_array(f, is_read):
    random = np.random.default_rng(0)
    x, along, a = (random.normal(size=(5, 5)) / 2 for _ in range(3))
    derivative = tapeless.grad(f)
    source = derivative.source(x.copy(), a)
    assert ("x_saved[" not in source) == is_read
    by = 1e-6 * along
    expected = (f(x + by, a) - f(x - by, a)) / 2e-6
    for g in (derivative, tapeless.jit(derivative)):
        start = x.copy()
        close_to(np.sum(g(start, a) * along), expected, 1e-6)
