"""Except clauses around errors that lengths and integers decide: each call goes Python's way."""

import math
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError

ones = np.ones


def sum_or_double(x, y):
    try:
        z = x + y
    except ValueError:
        z = x * 2
    return z.sum()


def product_or_transposed(x, a):
    try:
        y = a @ x
    except ValueError:
        y = a.T @ x
    return y.sum()


def halves_or_triple(x):
    try:
        y = x.reshape(2, -1)
    except ValueError:
        y = x * 3
    return y.sum()


def store_or_clear(x, k):
    try:
        x[k : k + 2] = np.ones(2)
    except ValueError:
        x[:] = 1
    return (x * x).sum()


def sixth_or_first(x):
    try:
        return x[5] * 2
    except IndexError:
        return x[0] * 3


def element_of_a_row(x):
    try:
        return x[0][5] * 2
    except IndexError:
        return x[0, 0]


def store_sixth(x):
    try:
        x[5] = 2
    except IndexError:
        return x[0]
    return (x * x).sum()


def neighbours(x, n):
    y = 0.0
    for t in range(n):
        try:
            y = y + x[t + 1] * 2
        except IndexError:
            y = y + 3 * x[0]
    return y


def quotients(x, n):
    y = 0.0
    for t in range(n):
        try:
            y = y + x / t
        except ZeroDivisionError:
            y = y + 5 * x
    return y


def quotient_in_place(x, n):
    try:
        x /= n
    except ZeroDivisionError:
        x = 9 * x
    return x


def looked_up_in_each_pass(x, n):
    y = x
    try:
        for _ in range(n):
            y = y * {}["missing"]
    except KeyError:
        y = x * 7
    return y


def added_in_each_pass(x, y, n):
    z = x * 1
    try:
        for _ in range(n):
            z = z + y
    except ValueError:
        z = x * 7
    return z.sum()


def suppressed(x, n):
    z = x * 2
    with suppress(KeyError):
        for _ in range(n):
            {}["missing"]
        z = x
    return z


CALLS = [
    (sum_or_double, [(ones(3), ones(4)), (ones(3), ones(3)), (ones(3), ones(5))], [2, 1, 2]),
    (product_or_transposed, [(ones(3), ones((3, 2))), (ones(3), ones((2, 3)))], [2, 2]),
    (halves_or_triple, [(ones(3),), (ones(4),), (ones(5),)], [3, 1, 3]),
    (store_or_clear, [(ones(4), 1), (ones(4), 3)], [[2, 0, 0, 2], 0]),
    (sixth_or_first, [(ones(3),), (ones(6),)], [[3, 0, 0], [0, 0, 0, 0, 0, 2]]),
    (element_of_a_row, [(ones((1, 3)),), (ones((1, 6)),)], [[[1, 0, 0]], [[0, 0, 0, 0, 0, 2]]]),
    (store_sixth, [(ones(3),), (ones(6),)], [[1, 0, 0], [2, 2, 2, 2, 2, 0]]),
    (neighbours, [(ones(3), 3), (ones(4), 3)], [[3, 2, 2], [0, 2, 2, 2]]),
    (quotients, [(1.0, 3), (1.0, 0)], [6.5, 0]),
    (quotient_in_place, [(1.0, 0), (1.0, 2)], [9, 0.5]),
    (looked_up_in_each_pass, [(2.0, 3), (2.0, 0)], [7, 1]),
    (added_in_each_pass, [(ones(3), ones(4), 2), (ones(3), ones(4), 0)], [7, 1]),
    (suppressed, [(1.0, 0), (1.0, 2)], [1, 2]),
]


@pytest.mark.parametrize(
    ("function", "calls", "expected"), CALLS, ids=[c[0].__name__ for c in CALLS]
)
@pytest.mark.parametrize("around", [lambda f: f, jit], ids=["array", "jit"])
def test_each_call_goes_the_way_of_python(function, calls, expected, around):
    slope = around(grad(function))
    for args, value in [*zip(calls, expected, strict=True)] * 2:
        np.testing.assert_allclose(slope(*args), np.broadcast_to(value, np.shape(args[0])))


def test_in_a_batch():
    slopes = vmap(grad(sum_or_double))
    np.testing.assert_array_equal(slopes(ones((2, 3)), ones((2, 4))), np.full((2, 3), 2.0))
    np.testing.assert_array_equal(slopes(ones((2, 3)), ones((2, 3))), ones((2, 3)))


def test_a_side_of_a_test_on_data():
    def f(x, y):
        z = x
        with suppress(ValueError):
            if x[0] > 0:
                z = x + y
            z = x * 3
        return z.sum()

    slope = grad(f)
    np.testing.assert_array_equal(slope(ones(3), ones(4)), ones(3))
    np.testing.assert_array_equal(slope(-ones(3), ones(4)), 3 * ones(3))


def test_lengths_that_data_decides_are_refused():
    def f(x):
        try:
            y = x[x > 0] + x[x < 0]
        except ValueError:
            y = x
        return y.sum()

    with pytest.raises(UnsupportedError, match="whether this raises ValueError is known only"):
        grad(f)(np.array([1.0, -1.0]))


@pytest.mark.parametrize("transform", [grad, jit])
@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: math.exp2(x) if hasattr(math, "exp2") else math.gamma(x), OverflowError),
        (lambda x: math.lgamma(x) * x, ArithmeticError | ValueError),
        (lambda x: math.fmod(1.0, x), Exception),
        (lambda x: math.pow(x, 0.5), ValueError),
        (lambda x: x**-1, ZeroDivisionError),
        (lambda x: math.gamma(x), ValueError),
    ],
)
def test_errors_of_numbers_are_not_caught_in_silence(transform, function, error):
    kinds = getattr(error, "__args__", error)

    def f(x):
        try:
            y = function(x)
        except kinds:
            y = 0.0
        return y

    with pytest.raises(UnsupportedError, match="depends on the contents"):
        transform(f)(0.5)


def percentile(x, q):
    try:
        return np.percentile(x, q)
    except ValueError:
        return -x[0]


def average(x, w):
    try:
        return np.average(x, weights=w)
    except ZeroDivisionError:
        return -x[0]


def chosen(x, k):
    try:
        y = np.choose(k, [x, 2 * x]).sum()
    except ValueError:
        y = -x[0]
    return y * 2


@pytest.mark.parametrize(
    ("function", "fine", "fails"),
    [
        (percentile, 25.0, 125.0),
        (average, np.array([1.0, 2.0, 0.0]), np.array([1.0, -1.0, 0.0])),
        (chosen, np.array([0, 1, 1]), np.array([0, 1, 2])),
    ],
)
def test_errors_that_rules_raise_are_caught(function, fine, fails):
    x = np.array([3.0, 1.0, 2.0])
    run, slope = jit(function), grad(function)
    for other in (fine, fails, fine):
        np.testing.assert_allclose(run(x, other), function(x, other))
        step = 1e-6 * np.eye(3)
        wanted = [(function(x + e, other) - function(x - e, other)) / 2e-6 for e in step]
        np.testing.assert_allclose(slope(x, other), wanted, atol=1e-8)


@pytest.mark.parametrize("transform", [grad, jit])
@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x, k: x[k].sum(), IndexError),
        (lambda x, k: np.take(x, k).sum(), IndexError),
        (lambda x, k: np.repeat(x, k).sum(), ValueError),
        (lambda x, k: np.bincount(k, weights=x).sum(), ValueError),
    ],
)
def test_errors_of_places_are_not_caught_in_silence(transform, function, error):
    def f(x, k):
        try:
            return function(x, k)
        except error:
            return x[0]

    with pytest.raises(UnsupportedError, match="depends on the contents"):
        transform(f)(np.ones(3), np.array([0, 1, 5]))


def test_functions_that_do_not_raise_are_caught():
    def f(x):
        try:
            y = math.sin(x) + x**2
        except ValueError:
            y = 0.0
        return y

    np.testing.assert_allclose(grad(f)(0.5), math.cos(0.5) + 1)


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return kind is KeyError


@contextmanager
def swallowed():
    with suppress(KeyError):
        yield


def failing_passes(x, n):
    for _ in range(n):
        {}["missing"]
    return x * 2


def in_a_manager(x, n):
    with Swallow():
        x = failing_passes(x, n)
    return 1.0 * x


def in_a_generator(x, n):
    with swallowed():
        x = failing_passes(x, n)
    return 1.0 * x


@pytest.mark.parametrize("function", [in_a_manager, in_a_generator])
@pytest.mark.parametrize("n", [0, 2])
def test_managers_swallow_what_is_raised(function, n):
    assert jit(function)(1.5, n) == function(1.5, n)
    assert grad(function)(1.5, n) == (2.0 if n == 0 else 1.0)


def test_a_loop_without_a_pass_raises_nothing():
    assert jit(failing_passes)(1.5, 0) == 3.0
    with pytest.raises(KeyError, match="missing"):
        jit(failing_passes)(1.5, 1)


def of_a_filled_list(n, k):
    out = []
    for i in range(n):
        out.append(i * 2.0)
        out.append(1.0)
    try:
        return out[k]
    except IndexError:
        return -1.0


def stored_to_a_filled_list(n, k):
    out = [float(i) for i in range(n)]
    try:
        out[k] = 7.0
    except IndexError:
        out.append(-1.0)
    return sum(out)


def emptied(n, k):
    out, count = [float(i) for i in range(n)], 0
    try:
        for _ in range(k):
            out.pop()
            count += 1
    except IndexError:
        return -count
    return count


@pytest.mark.parametrize("f", [of_a_filled_list, stored_to_a_filled_list])
@pytest.mark.parametrize("k", [0, 2, -1, 5, 100, -100])
def test_elements_of_filled_lists(f, k):
    assert jit(f)(8, k) == f(8, k)


def given(xs, k):
    try:
        return xs[k]
    except IndexError:
        return -1


@pytest.mark.parametrize("k", [3, 12, -13])
def test_elements_of_given_lists(k):
    numbers = list(range(12))
    assert jit(given)(numbers, k) == given(numbers, k)
    assert jit(lambda xs: given(xs, 100))(numbers) == -1


@pytest.mark.parametrize("args", [(3, 2), (3, 5), (0, 1)])
def test_lists_that_are_emptied(args):
    assert jit(emptied)(*args) == emptied(*args)
    assert grad(lambda x: x * emptied(*args))(1.0) == emptied(*args)


def test_names_that_a_clause_looks_for_only_where_an_error_comes_to_it():
    def weight(x):
        try:
            inverse = np.linalg.inv(np.array([[1.0 + x[0] ** 2, 0.2], [0.2, 2.0]]))
        except np.linalg.is_no_longer_there.LinAlgError:
            return 1.0
        return x @ inverse @ x

    def first_clause(x):
        try:
            return np.linalg.inv(np.diag(x))[0, 0]
        except np.linalg.LinAlgError:
            return -1.0
        except is_nowhere:  # noqa: F821  # type: ignore[name-defined]
            return -2.0

    x = np.array([0.3, 0.7])
    assert jit(weight)(x) == pytest.approx(weight(x))
    assert jit(first_clause)(x) == pytest.approx(1 / 0.3)
    assert jit(first_clause)(0 * x) == -1.0
