"""Loop-invariant values are computed ahead of loops, and nothing else is."""

import re
import warnings

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

W = np.array([0.5, 1.5, 2.0])
X = np.array([0.3, -0.7, 1.1, 0.2])


def sum_of_exponentials(w):
    total = 0.0
    for i in range(len(X)):
        total += X[i] * np.sum(np.exp(w))
    return total


def nested(w):
    total = 1.0
    for i in range(len(X)):
        for j in range(len(w)):
            total += X[i] * w[j] * np.sum(np.sin(w * w)) + np.cos(w[1])
    return total


def in_an_arm(w):
    total = 0.0
    for i in range(len(X)):
        if X[i] > 0:
            for j in range(3):
                total += X[i] * j * np.linalg.norm(w) + np.sum(np.sqrt(w))
    return total


def chosen_each_pass(w):
    total = 0.0
    for i in range(len(X)):
        scale = np.sum(np.log(w)) if w[0] > 1 else np.sum(np.tanh(w))
        total += scale * X[i] ** 2 * total + scale
    return total


def until_large(w):
    total = 0.0
    for i in range(len(X)):
        total += np.sum(np.exp(w)) * (1 + X[i])
        if total > 30:
            break
    return total


def overwritten(w):
    v = w.copy()
    total = 0.0
    for i in range(len(X)):
        total += X[i] * np.sum(np.exp(v))
        v[0] = v[0] * 0.5
    return total


FUNCTIONS = [sum_of_exponentials, nested, in_an_arm, chosen_each_pass, until_large, overwritten]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [lambda f: f, tapeless.jit], ids=["array", "jit"])
def test_values_and_derivatives_are_right(function, transform):
    expected = gradient(lambda v: function(v.copy()), W)
    value, slope = transform(tapeless.value_and_grad(function))(W)
    np.testing.assert_allclose(value, function(W))
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
    np.testing.assert_allclose(transform(function)(W), function(W))
    rows = np.array([W, W + 1, W[::-1]])
    np.testing.assert_allclose(
        transform(tapeless.vmap(function))(rows), [function(row) for row in rows]
    )


@pytest.mark.parametrize(
    "function",
    [sum_of_exponentials, nested, chosen_each_pass, until_large],
    ids=lambda f: f.__name__,
)
def test_no_array_is_saved_for_each_pass(function):
    source = tapeless.grad(function).source(W)
    assert not re.search(r"_saved = np\.empty\(\(", source)


def lines_in_loops(source):
    return [line for line in source.splitlines() if line.startswith(" " * 8)]


@pytest.mark.parametrize("function", [sum_of_exponentials, nested, until_large])
def test_no_pass_computes_them(function):
    inside = lines_in_loops(tapeless.grad(function).source(W))
    assert inside
    assert not any("np.sum" in line or "np.exp" in line for line in inside)


def test_what_changes_is_computed_in_each_pass():
    inside = lines_in_loops(tapeless.grad(overwritten).source(W))
    assert any("np.exp(v)" in line for line in inside)


def logarithms(w, n):
    total = 0.0
    for _ in range(n):
        total += np.sum(np.log(w))
    return total


@pytest.mark.parametrize("transform", [lambda f: f, tapeless.jit], ids=["array", "jit"])
def test_a_loop_without_passes_computes_and_warns_of_nothing(transform):
    zeros = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, slope = transform(tapeless.value_and_grad(logarithms))(zeros, 0)
    assert value == 0.0
    np.testing.assert_array_equal(slope, zeros)
    np.testing.assert_allclose(tapeless.grad(logarithms)(W, 5), 5 / W)


def downwards(w, n):
    total = 0.0
    for i in range(n, 2, -1):
        total += i * np.sum(np.exp(w))
    return total


@pytest.mark.parametrize("n", [0, 2, 3, 6])
def test_a_loop_downwards(n):
    np.testing.assert_allclose(tapeless.grad(downwards)(W, n), sum(range(3, n + 1)) * np.exp(W))


def inverses(a, n):
    total = 0.0
    for i in range(n):
        print("pass", i)  # noqa: T201 (tells where an error is raised)
        total += np.linalg.inv(a)[0, 0]
    return total


@pytest.mark.parametrize("transform", [lambda f: f, tapeless.jit], ids=["array", "jit"])
def test_an_error_is_raised_where_it_was(transform, capsys):
    with pytest.raises(np.linalg.LinAlgError):
        transform(inverses)(np.zeros((2, 2)), 3)
    assert capsys.readouterr().out == "pass 0\n"


def maxima(v, n):
    total = 0.0
    for i in range(n):
        print("pass", i)  # noqa: T201 (tells where an error is raised)
        total += np.max(v)
    return total


def test_reductions_of_nothing_raise_where_they_did(capsys):
    with pytest.raises(ValueError, match="zero-size"):
        tapeless.jit(maxima)(np.zeros(0), 3)
    assert capsys.readouterr().out == "pass 0\n"


def in_an_untaken_arm(w, n):
    total = 0.0
    for i in range(n):
        if w[0] * i > 100:
            total += np.sum(np.log(w))
    return total


def test_what_one_arm_computes_stays_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tapeless.value_and_grad(in_an_untaken_arm)(np.zeros(3), 4)[0] == 0.0
