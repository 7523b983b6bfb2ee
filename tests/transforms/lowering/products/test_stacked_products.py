"""Products of a stack of matrices and one matrix are one product, and so are their derivatives."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.test_util import check_grads

RNG = np.random.default_rng(0)
A, C = RNG.normal(size=(5, 4, 3, 6)), RNG.normal(size=(6, 2))


def stack(a, c):
    return a @ c


def of_rows(a, c):
    return (a.reshape(5, 12, 1, 6) @ c).reshape(5, 12, 2)


def of_views(a, c):
    return np.swapaxes(a, 0, 2)[:, ::2] @ c[:, ::-1]


def in_a_loop(a, c):
    total = 0.0
    for k in range(3):
        total = total + np.tanh((a * k) @ c) @ c.T[:2]
    return total


def by_its_transpose(a, c):
    return a @ c @ c.T


def of_shifted_parts(a, c):
    out = 0.0
    for i in range(2):
        for j in range(2):
            out = out + a[:, i : 3 + i, j : 2 + j] @ (c * (1 + i - 3 * j))
    return out


def of_wide_matrices(a, c):
    total = 0.0
    wide = np.repeat(c, 200, axis=1)
    for k in range(2):
        total = total + a[:, k : k + 3] @ wide
    return total[..., ::100]


def by_a_vector(a, c):
    total = np.swapaxes(a, 0, 1)[:2] @ c[:, 0]
    for k in range(2):
        total = total + np.tanh(a[k : k + 2, :, 0] @ c[:, 1])[:, :1, None]
    return total


FUNCTIONS = [
    by_a_vector,
    stack,
    of_rows,
    of_views,
    in_a_loop,
    by_its_transpose,
    of_shifted_parts,
    of_wide_matrices,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_derivatives(function):
    np.testing.assert_allclose(jit(function)(A, C), function(A, C), rtol=1e-12)
    check_grads(jit(function), (A, C), order=1, modes=["rev"])

    def loss(a, c):
        return np.sum(function(a, c) ** 2)

    for form in (grad(loss, (0, 1)), jit(grad(loss, (0, 1)))):
        step = 1e-6
        for k, slope in enumerate(form(A, C)):
            direction = RNG.normal(size=slope.shape)
            ends = [
                loss(*(x + s * step * direction if j == k else x for j, x in enumerate((A, C))))
                for s in (1, -1)
            ]
            quotient = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(np.sum(slope * direction), quotient, rtol=1e-6, atol=1e-6)


def test_the_derivative_is_one_product():
    def loss(c, a):
        return np.sum((a @ c) * 2.0)

    source = grad(lambda c, a, w: np.sum((a @ c) * w)).source(C, A, RNG.normal(size=(5, 4, 3, 2)))
    assert source.count("@") == 1
    assert "reshape" in source
    assert "sum" not in source.partition('"""')[2].partition('"""')[2]
    np.testing.assert_allclose(grad(loss)(C, A), 2 * np.sum(A, (0, 1, 2))[:, None] * np.ones(2))


def test_shifted_parts_are_not_copied():
    """A convolution in small loops: what is multiplied is read where it lies."""
    for slope in (of_shifted_parts, grad(lambda a, c: np.sum(of_shifted_parts(a, c) ** 2), (0, 1))):
        text = jit(slope).source(A, C)
        kernels = text[: text.rindex("\ndef ")]
        assert "start" not in kernels
        assert "product(" not in kernels


def test_lengths_of_zero_and_one():
    for a in (A[:0], A[:1], A[:, :0], A[:1, :1, :1]):
        assert jit(stack)(a, C).shape == (a @ C).shape
        np.testing.assert_allclose(jit(stack)(a, C), a @ C)
        slope = jit(grad(lambda c, a: np.sum(a @ c)))(C, a)
        np.testing.assert_allclose(slope, np.sum(a, (0, 1, 2))[:, None] * np.ones(2), atol=1e-12)


def test_batches_and_second_derivatives():
    np.testing.assert_allclose(vmap(stack, (0, None))(A, C), A @ C)

    def loss(c):
        return np.sum(np.tanh(A @ c) ** 2)

    direction = np.random.default_rng(1).normal(size=C.shape)
    second = grad(lambda c: np.sum(grad(loss)(c) * direction))(C)
    ends = [np.sum(grad(loss)(C + s * 1e-6 * second) * direction) for s in (1, -1)]
    np.testing.assert_allclose(np.sum(second**2), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
