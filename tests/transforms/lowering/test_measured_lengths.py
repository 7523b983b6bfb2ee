"""Lengths that are known when the program runs only, in compiled gradients."""

from types import SimpleNamespace

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Var
from tapeless.transforms.lowering.kernels.nests import Nests
from tests.corpus.differences import gradient


def from_the_largest(m, v):
    part = m.reshape(-1)[np.argmax(v) :]
    m[:, 1:] = np.tanh(m[:, :-1])
    return np.tanh(part[0] + part[len(v) - 1]) * v[0]


def before_the_end(m, v):
    part = m.reshape(-1)[-len(v) :]
    m[:, 1:] = np.tanh(m[:, :-1])
    return np.tanh(part[0] + part[len(v) - 1]) * np.sum(part)


@pytest.mark.parametrize("function", [from_the_largest, before_the_end])
def test_compiled_gradients(function):
    compiled = tapeless.jit(tapeless.grad(function))
    m = np.linspace(0.1, 0.6, 6).reshape(2, 3)
    for v in (np.array([0.5, 0.2, 0.1]), np.array([0.5, 0.7, 0.1])):
        expected = gradient(lambda p, v=v: function(p.reshape(2, 3).copy(), v), m.ravel(), 1e-6)
        np.testing.assert_allclose(compiled(m, v).ravel(), expected, rtol=1e-5, atol=1e-8)


def test_what_is_as_long_as_a_part_that_only_a_kernel_sees():
    def above(w, c):
        k = 0
        for i in range(len(w)):
            if w[i] > 0.1:
                k += 1
        return np.sum(w[k:]) * c

    for w in (np.array([0.3, 0.0, 0.2, 0.1, 0.05]), np.zeros(3)):
        k = np.sum(w > 0.1)
        expected = 1.5 * (np.arange(len(w)) >= k)
        np.testing.assert_array_equal(tapeless.jit(tapeless.grad(above))(w, 1.5), expected)


def test_a_length_that_is_computed_twice():
    """Both are one after simplification, also in the shapes of what the second one made."""

    def spread(x):
        first, second = (np.repeat(np.arange(int(x.shape[0] / 1)), 2) for _ in range(2))
        out = np.zeros_like(x)
        np.add.at(out, second, x[first])
        return np.sum(out**2)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tapeless.jit(tapeless.grad(spread))(x), 8 * x)


def test_lengths_of_one_name_come_in_the_order_of_axes():
    """Not in that of a set: other processes look for the same text in the cache."""
    for _ in range(20):
        kept = []
        sizes = [dims.symbol("length", None, Var(None, "length")) for _ in range(3)]
        found = [next(iter(dims.symbols(n))) for n in sizes]
        kernel = SimpleNamespace(
            measured={},
            canon=lambda n: n,
            in_scope=lambda s: True,
            keep_start=lambda s, axis: None,
            length=lambda s, axis: (s, axis),
            kept_as=lambda stem, length, kept=kept: kept.append(length[1]),
            analysis=SimpleNamespace(
                lengths={x: (None, k) for k, x in enumerate(found)}, is_known=lambda n: False
            ),
        )
        Nests.keep_lengths(kernel, sizes)
        assert kept == [0, 1, 2]
