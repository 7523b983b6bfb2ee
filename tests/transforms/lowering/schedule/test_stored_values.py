"""Nests read values of earlier ones where these have stored them."""

import numpy as np
import pytest

import tapeless

A = np.random.default_rng(0).random((9, 11))


def two_grids(a, b, n):
    for _ in range(n):
        b[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.1 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:])
        a[1:-1, 1:-1] = b[1:-1, 1:-1] + 0.1 * (b[2:, 1:-1] + b[:-2, 1:-1] + b[1:-1, 2:])


def named_between(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[1:-1] = new
        a[1:-1] = new + b[2:] - b[:-2] + 2 * new


def stored_over(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[1:-1] = new
        b[2:-2] = 0.5 * a[2:-2]
        a[1:-1] = new + b[2:] - b[:-2]


def stored_over_while_read(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[1:-1] = new
        c = a[2:] + new
        b[:-2] = new + c
        a[1:-1] = new * b[1:-1]


def stored_in_steps(a, b, n):
    for _ in range(n):
        new = np.tanh(a[:4])
        b[::2][:4] = new
        a[1:5] = new + b[:4] * b[1:5]


def stretched(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1])
        b[:] = new
        a[1:] = a[:-1] + b[1:] * new


def of_whole_numbers(a, b, n):
    whole = np.zeros(b.shape, dtype=int)
    for _ in range(n):
        new = 10 * a[1:-1]
        whole[1:-1] = new
        a[1:-1] = new + whole[2:] - whole[:-2]
    b[:] = whole


def read_two_passes_later(a, b, n):
    last = np.zeros_like(a[1:-1])
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[1:-1] = new
        a[1:-1] = new + b[2:] - b[:-2] + last
        last = new


def summed(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[1:-1] = new
        a[1:-1] = (new - np.mean(new)) / (1 + np.max(new, axis=0))


def flipped(a, b, n):
    for _ in range(n):
        new = np.tanh(a[1:-1])
        b[-2:0:-1] = new
        a[1:-1] = new + b[2:] - b[:-2]


FUNCTIONS = [
    two_grids,
    named_between,
    stored_over,
    stored_over_while_read,
    stored_in_steps,
    stretched,
    of_whole_numbers,
    read_two_passes_later,
    summed,
    flipped,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("fastmath", [True, False])
def test_value(function, fastmath):
    wanted = A.copy(), 0.5 * A
    function(*wanted, 4)
    arrays = A.copy(), 0.5 * A
    tapeless.jit(function, fastmath=fastmath)(*arrays, 4)
    for array, want in zip(arrays, wanted, strict=True):
        np.testing.assert_allclose(array, want, rtol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivative(function):
    def loss(a):
        a, b = a.copy(), 0.5 * a
        function(a, b, 3)
        return np.sum(a * a) + np.sum(np.sin(b))

    if function is of_whole_numbers:
        return  # jumps
    direction = np.cos(np.arange(A.size)).reshape(A.shape)
    difference = (loss(A + 1e-6 * direction) - loss(A - 1e-6 * direction)) / 2e-6
    gradient = tapeless.jit(tapeless.grad(loss))(A)
    np.testing.assert_allclose(np.sum(gradient * direction), difference, rtol=1e-6)


def test_that_two_grids_need_no_other_array():
    compiled = tapeless.jit(two_grids)
    text = compiled.source(A, A.copy(), 4)
    assert "scratch" not in text
    assert "empty" not in text
    assert text.count("for j in range") == 2
