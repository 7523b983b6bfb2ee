"""np.matrix: arguments, constants and results; products, powers, rows and columns."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, value_and_grad, vjp, vmap

A = np.matrix([[1.0, 0.5], [0.2, 2.0]])
TURN = np.matrix("0.0 -1.0; 1.0 0.0")
COLUMN = np.array([[1.0], [2.0]])


def changed(m):
    m = m.copy()
    m[0, 1] = 5
    m *= 2
    m += 1
    m[:, 0] = np.matrix([[7.0], [8.0]])
    m[1] = np.array([3.0, 4.0])
    m **= 2
    return m


def over_rows(m):
    total = 0.0
    for row in m:
        total = total + row * row.T
    for i in range(2):
        total = total + m[i, i] * m[:, i].T * m[:, i]
    return total


PROGRAMS = [
    lambda m: m * TURN,
    lambda m: (m * 2, 2 * m, m / 2, 1 / m, m // 1, -m, abs(m), m > 1, m == m, m**3),
    lambda m: (m * COLUMN, COLUMN.T * m, m * [[1.0], [2.0]], np.array([1.0, 2.0]) * m),
    lambda m: (m @ m, m.dot(m), np.dot(m, np.array([1.0, 2.0])), np.dot(COLUMN[:, 0], m)),
    lambda m: (m[0], m[0, :], m[:, 0], m[:, :1], m[1, 1], m[np.array([1, 0])], m[m > 1]),
    lambda m: (m.T, m.H, m.I, m.A, m.A1, m.getT(), m.getI(), m[:, 0].I),
    lambda m: (m.sum(), m.sum(axis=0), m.sum(axis=1), m.mean(1), m.max(0), m.std(axis=1)),
    lambda m: (np.sum(m, axis=1), np.mean(m, axis=0), np.max(m), m.argmax(1), m.all(), m.prod(0)),
    lambda m: (m.flatten(), m.ravel(), m.reshape(4, 1), m.squeeze(), m.copy(), m.tolist()),
    lambda m: (np.linalg.inv(m), np.linalg.solve(m, m[:, 0]), np.linalg.det(m), np.trace(m)),
    lambda m: (tuple(np.linalg.eigh(m * m.T)), tuple(np.linalg.qr(m)), np.linalg.norm(m)),
    lambda m: (np.hstack([m, m]), np.vstack((m, m[0])), np.concatenate([m, m], 1)),
    lambda m: (np.kron(m, m), np.diag(m), np.outer(m, m), np.tile(m, 2), np.sin(m), np.real(m)),
    lambda m: (np.asarray(m), np.array(m), np.asanyarray(m), np.multiply(m, m), np.zeros_like(m)),
    lambda m: (np.bmat([[m, m], [m, TURN]]), np.block([[m, m]]), np.asmatrix(COLUMN), m.shape),
    lambda m: (np.matrix(m.A), np.matrix([m[0, 0], 2.0]), np.matrix(3.0), len(m), list(m.flat)),
    changed,
    over_rows,
]


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(b, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    m = A.copy()
    assert_same(jit(f)(m), f(A.copy()))
    assert_same(m, A)


def test_the_class_is_told():
    def told(m):
        return isinstance(m, np.matrix), isinstance(m, np.ndarray), type(m) is np.matrix, m.ndim

    assert jit(told)(A) == told(A)


def test_a_store_goes_to_the_matrix_of_the_caller():
    held = A.copy()

    def stores(x):
        held[0, 1] = x
        return held * held

    assert_same(jit(stores)(3.0), A.copy() * 0 + stores(3.0))
    assert held[0, 1] == 3.0


def test_a_constant_that_is_another_matrix_later_is_read_anew():
    here = {"turn": A.copy()}
    f = jit(lambda x: here["turn"] * x)
    for scale in (1.0, 2.0):
        here["turn"] = A * scale
        assert_same(f(2.0), A * scale * 2.0)


def test_derivatives():
    def loss(m):
        return np.sum(m * m.T)

    expected = grad(lambda a: np.sum(a @ a.T))(np.asarray(A))
    for slope in (grad(loss)(A), value_and_grad(loss)(A)[1], jit(grad(loss))(A)):
        assert_same(slope, np.asmatrix(expected))
    product, pullback = vjp(lambda m: m * m.T, A)
    assert_same(product, A * A.T)
    assert_same(pullback(A * 0 + 1)[0], np.asmatrix(expected))
    _, tangent = jvp(lambda m: m * m.T, (A,), (TURN,))
    assert_same(tangent, TURN * A.T + A * TURN.T)

    def energy(x):
        return np.sum(np.matrix([[x, 1.0], [0.0, x]]) * np.matrix([[x], [x]]))

    np.testing.assert_allclose(grad(energy)(2.0), 9.0)
    np.testing.assert_allclose(hessian(energy)(2.0), 4.0)
    rows = vmap(lambda x: np.asarray(np.matrix([[x, 1.0]]) * COLUMN))(np.arange(3.0))
    np.testing.assert_allclose(rows, np.arange(3.0)[:, None, None] + 2)


def test_axes_that_are_too_many_or_do_not_fit():
    with pytest.raises(ValueError, match="too large to be a matrix"):
        jit(lambda x: np.matrix(x))(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="shape"):
        jit(lambda m: m * np.array([1.0, 2.0]))(A)


def test_the_inner_product_of_matrices_is_that_of_all_elements():
    a = np.matrix([[1.0, 2.0], [0.5, 0.2]])
    b = np.matrix([[3.0, 1.0], [2.0, -1.0]])
    assert np.asarray(jit(np.vdot)(a, b)).item() == pytest.approx(np.vdot(a.A, b.A))
    np.testing.assert_allclose(grad(lambda x: np.sum(np.vdot(x, b)))(a), b.A)
