"""Loops over data: one body, whatever it writes, and the passes that Python would make."""

# ruff: noqa: B905 (users write zip so)

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import For, While
from tests.transforms.staging import block_of, close_to, compiled, every, slope

V = np.array([0.3, -0.5, 0.9])


def passes(a, b, c):
    found = 0
    for k in range(a, b, c):
        found = found * 10 + k + 5
    return found


def leaving(a, b, c):
    found = 0
    for k in range(b):
        if k == a:
            continue
        if k == c:
            break
        found = found * 10 + k
    else:
        found = -found - 1
    return found


def last_index(a, b, c):
    k = -7
    for k in range(b):
        if k > a:
            break
    return k * 10 + c


def countdown(a, b, c):
    total = 0
    while a < b:
        a += 1
        if a == c:
            continue
        total = total * 10 + a
        if total > 500:
            break
    else:
        total += 1000
    return total


def nested(a, b, c):
    total = 0
    for i in range(b):
        for j in range(i, a):
            if j == c:
                break
            total += 10 * i + j
        else:
            total += 100
        if total > 150:
            return -total
    return total


@pytest.mark.parametrize("function", [leaving, last_index, countdown, nested])
def test_passes_are_those_of_python(function):
    """The program staged for one input, run on all."""
    run = compiled(block_of(function, 1, 3, 2))
    for args in itertools.product(range(5), repeat=3):
        assert run(*args) == (function(*args),), args


@pytest.mark.parametrize("step", [-2, -1, 1, 2])
def test_ranges_with_a_step(step):
    block = block_of(lambda a, b: passes(a, b, step), 1, 3)
    assert len(list(every(block, For))) == 1
    for a, b in itertools.product(range(-3, 5), repeat=2):
        assert compiled(block)(a, b) == (passes(a, b, step),)


def rows(m):
    total = 0.0
    for k, row in enumerate(m):
        total = total + np.sum(row) * (k + 1)
    return total


def zipped(m):
    total = 0.0
    for a, b in zip(m[0], m[1]):
        total = total + a * b
    return total


def backwards(m):
    y = 0.0
    for row in reversed(m):
        y = np.sin(y) + row[0] * row[-1]
    return y


def columns(m):
    y = 1.0
    for column in m.T:
        y = y * np.sum(column)
    return y


@pytest.mark.parametrize("function", [rows, zipped, backwards, columns])
def test_iteration_over_arrays(function):
    m = np.array([[0.3, -0.5, 0.9], [1.1, 0.2, 0.7]])
    assert len(list(every(block_of(function, m), For))) == 1
    close_to(tapeless.grad(function)(m), slope(function, m), 1e-6)


# -- what the body writes


def type_changes(x, n):
    y = 0
    for _ in range(n):
        y = y + x
    return y * 1.0


def first_set_inside(x, n):
    for k in range(n):
        y = x * k
    return y * 1.5


def none_at_first(x, n):
    best = None
    for k in range(n):
        y = np.sin(x * (k + 1))
        if best is None or y > best:
            best = y
    return best


def fibonacci(x, n):
    a, b = x, 1.0
    for _ in range(n):
        a, b = b, a * b + a
    return a


def attributes(x, n):
    class State:
        value = 1.0
        history = ()

    state = State()
    for _ in range(n):
        state.value = state.value * x
        state.history = (state.value,)
    return state.value + state.history[0]


def dictionary(x, n):
    d = {"a": x, "b": 1.0}
    for _ in range(n):
        d["b"] = d["b"] * d["a"]
    return d["b"]


def nonlocal_(x, n):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v

    for k in range(n):
        add(x**k)
    return total


@pytest.mark.parametrize(
    "function",
    [type_changes, first_set_inside, none_at_first, fibonacci, attributes, dictionary, nonlocal_],
)
def test_what_the_body_writes_is_carried(function):
    close_to(tapeless.grad(function)(0.7, 4), slope(lambda x: function(x, 4), 0.7), 1e-6)


def test_a_variable_of_no_pass_is_unset():
    grad = tapeless.grad(lambda x, n: first_set_inside(x, n) + 0.0)
    assert grad(0.7, 3) == 3.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(0.7, 0)


def test_only_what_changes_is_carried():
    def f(x, w, n):
        scale = np.sum(w)
        for _ in range(n):
            shifted = x + scale
            x = np.sin(shifted)
        return x

    (loop,) = every(block_of(f, 0.5, V, 3), For)
    assert {p.name for p in loop.carries} <= {"x", "shifted", "_", "ran"}


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_while_of_any_number_of_passes(n):
    def f(x, n):
        while n > 0:
            x = np.sin(x) + 0.1 * n
            n -= 1
        return x

    assert len(list(every(block_of(f, 0.7, 3), While))) == 1
    close_to(tapeless.grad(f)(0.7, n), slope(lambda x: f(x, n), 0.7), 1e-6)


def test_a_loop_over_python_objects_is_unrolled_and_said_to_be():
    def f(x):
        for layer in (np.sin, np.exp, lambda v: v * v):
            x = layer(x)
        return x

    assert not list(every(block_of(f, 0.7), For))
    close_to(tapeless.grad(f)(0.7), slope(f, 0.7), 1e-6)

    def by_index(x, n):
        for k in range(n):
            x = [np.sin, np.cos, np.tanh][k](x)
        return x

    grad = tapeless.grad(by_index)
    close_to(grad(0.7, 3), slope(lambda x: by_index(x, 3), 0.7), 1e-6)
    assert "unrolled" in grad.stages()["notes"]


def sometimes_named(x, v, n):
    for k in range(n):
        for _ in range(k):
            other = x
    return x * np.sum(v) + (other if n > 2 else 0.0)


def sometimes_an_alias(x, v, n):
    for k in range(n):
        for _ in range(k):
            other = v
            v = v * other[1]
    return x * np.sum(v * v)


def sometimes_in_a_list(x, v, n):
    k, w = 0, np.sin(v)
    while k < n and x < 0.8:
        k += 1
        j = 0
        while x < 0.5 and j < 2:
            j += 1
            other = v if x < 0.2 or x + x > 0.35 else w
        pair = [v, w]
    return x * np.sum(v - w) + (pair[0][1] + other[2] if n > 2 else 0.0)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("f", [sometimes_named, sometimes_an_alias, sometimes_in_a_list])
def test_a_second_name_that_no_pass_sets_leaves_the_first_one_set(f, n):
    value, found = tapeless.value_and_grad(f)(0.3, V, n)
    close_to(value, f(0.3, V, n), 1e-12)
    close_to(found, slope(lambda x: f(x, V, n), 0.3), 1e-6)


def exchanged(v, a, b, x):
    for _ in v:
        if 0.5 < x < 0.9:
            break
        a, b = b, a * x
    return x * np.sum(a)


@pytest.mark.parametrize("passes", [1, 2, 4, 5])
@pytest.mark.parametrize("x", [0.3, 0.7])
def test_each_pass_is_made_where_an_unrolled_loop_may_be_left(passes, x):
    v, a, b = np.ones(passes), np.ones((2, 3)), np.full((3, 4), 2.0)  # shapes that need unrolling
    value, found = tapeless.value_and_grad(exchanged, argnums=3)(v, a, b, x)
    close_to(value, exchanged(v, a, b, x), 1e-12)
    close_to(found, slope(lambda y: exchanged(v, a, b, y), x), 1e-6)


def test_a_loop_that_returns_nothing_early(capsys):
    def search(m, key):
        i, j = m.shape[0] - 1, 0
        while i >= 0 and j < m.shape[1]:
            if key == m[i, j]:
                print("found", i, j)  # noqa: T201
                return
            if key < m[i, j]:
                i -= 1
            else:
                j += 1
        print("not found")  # noqa: T201

    fast, m = tapeless.jit(search), np.array([[2.0, 5.0, 7.0], [4.0, 8.0, 13.0]])
    for where in (m, m[:0]):
        for key in (8.0, 3.0):
            search(where, key)
            expected = capsys.readouterr().out
            fast(where, key)
            assert capsys.readouterr().out == expected


def test_a_length_from_a_dict_that_each_pass_leaves_as_it_was():
    def widths(x, n):
        options, total = {"n": n}, 0.0
        for i in range(len(x)):
            if not callable(options):  # which may change it, for all that is known
                w = np.zeros(options["n"])
                w[0] = np.sin(x[i])
                total += np.sum(w + x[i])
        return total

    x = np.arange(4.0)
    for n in (3, 5):
        np.testing.assert_allclose(tapeless.jit(widths)(x, n), widths(x, n))
        np.testing.assert_allclose(tapeless.grad(widths)(x, n), np.cos(x) + n)
