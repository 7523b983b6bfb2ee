"""Products of small complex matrices in loops are compiled, those of large ones a library's."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
M = RNG.normal(size=(8, 4, 4)) + 1j * RNG.normal(size=(8, 4, 4))
V = M[0, 0].copy()


def chain(m, v, steps):
    p = np.zeros(m.shape[1:], dtype=m.dtype)
    for k in range(steps):
        p = p + m[k % 8] @ m[(3 * k) % 8]
    return p


def power_iteration(m, v, steps):
    for _ in range(steps):
        v = m[0] @ v
        v = v / np.sqrt(np.sum(np.abs(v) ** 2))
    return v


def adjoint(m, v, steps):
    for k in range(steps):
        v = m[k % 8].conj().T @ v
        v = v / np.sqrt(np.vdot(v, v).real)
    return v


def costly_operands(m, v, steps):
    for _ in range(steps):
        v = (m[0] * 2 + 1) @ np.exp(v * 1j)
        v = v / np.max(np.abs(v))
    return v


def vector_first(m, v, steps):
    p = m[0]
    for k in range(steps):
        p = np.exp(p * 0.01) @ m[1] / 9 + np.outer(v, v @ p) / 40 + (v @ v) * k
    return p


def rectangular(m, v, steps):
    a, b = m[0, :3], m[1, :, :2]
    total = np.zeros((3, 2), complex)
    for k in range(steps):
        total = total * 0.5 + (a * k) @ b
    return total


FUNCTIONS = [chain, power_iteration, adjoint, costly_operands, vector_first, rectangular]


CASES = [*((f, np.complex128) for f in FUNCTIONS), (adjoint, np.complex64)]


@pytest.mark.parametrize(("function", "dtype"), CASES)
def test_values(function, dtype):
    m, v = M.astype(dtype), V.astype(dtype)
    compiled = jit(function)
    got, wanted = compiled(m, v, 6), function(m, v, 6)
    assert got.dtype == wanted.dtype
    error = 1e-12 if dtype == np.complex128 else 1e-4
    np.testing.assert_allclose(got, wanted, rtol=error, atol=error)
    assert compiled.explain(m, v, 6).loops == ()


@pytest.mark.parametrize("function", [chain, power_iteration, vector_first])
def test_derivatives(function):
    def loss(x, y, v, steps):
        out = function(x + 1j * y, v, steps)
        return np.sum(out.real * np.arange(out.size).reshape(out.shape) + out.imag**2)

    x, y = M.real.copy(), M.imag.copy()
    slopes = jit(grad(loss, (0, 1)))(x, y, V, 3)
    for k, slope in enumerate(slopes):
        direction = RNG.normal(size=x.shape)
        step = 1e-6 * np.array([direction if k == 0 else 0 * x, direction if k == 1 else 0 * x])
        ends = [loss(x + s * step[0], y + s * step[1], V, 3) for s in (1, -1)]
        np.testing.assert_allclose(np.sum(slope * direction), (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


def test_large_matrices_are_multiplied_by_the_library():
    m = np.tile(M, (1, 10, 10)) / 40
    compiled = jit(chain)
    np.testing.assert_allclose(compiled(m, V, 5), chain(m, V, 5))
    assert "matmul(" in compiled.source()
    np.testing.assert_allclose(compiled(M, V, 5), chain(M, V, 5))
    assert "matmul(" not in compiled.source()


def test_real_and_complex_matrices_together():
    def mixed(m, v, steps):
        for _ in range(steps):
            v = m.real[0] @ v / 3
        return v

    np.testing.assert_allclose(jit(mixed)(M, V, 5), mixed(M, V, 5))
