"""Jacobians and Hessians against differences, and what they are built like."""

import numpy as np
import pytest

import tapeless
from tapeless import hessian, hvp, jacfwd, jacobian, jacrev, jit, vmap
from tapeless.transforms.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotDifferentiableError,
)

X = np.array([1.0, 2.0, 0.5])
BOTH = pytest.mark.parametrize("jac", [jacfwd, jacrev])


def f(x):
    return np.array([x[0] ** 2 * x[1], np.sin(x[1]), x[0] + x[2]])


def differences(f, x, step=1e-6):
    """The Jacobian of a function of an array, an axis of results first."""
    units = np.eye(x.size).reshape(x.size, *x.shape)
    columns = [(f(x + step * u) - f(x - step * u)) / (2 * step) for u in units]
    return np.moveaxis(np.array(columns), 0, -1).reshape(*np.shape(columns[0]), *x.shape)


@BOTH
def test_a_matrix(jac):
    wanted = [[4.0, 1.0, 0.0], [0.0, np.cos(2.0), 0.0], [1.0, 0.0, 1.0]]
    np.testing.assert_allclose(jac(f)(X), wanted, rtol=1e-14)
    assert jacobian is jacrev


@BOTH
@pytest.mark.parametrize(
    "f",
    [
        lambda m: np.sin(m) @ m.T,
        lambda m: np.sum(m**3),
        lambda m: np.cumsum(m, axis=1)[1],
        lambda m: np.linalg.inv(m @ m.T),
        lambda m: m[0, 0] * m[1],
    ],
)
def test_shapes(jac, f):
    m = np.arange(1.0, 7.0).reshape(2, 3) / 5 + np.eye(2, 3)
    np.testing.assert_allclose(jac(f)(m), differences(f, m), rtol=1e-6, atol=1e-8)


@BOTH
def test_numbers(jac):
    assert jac(lambda x: x**3)(2.0) == 12.0
    np.testing.assert_allclose(jac(lambda x: np.array([x, x**2]))(3.0), [1.0, 6.0])


@BOTH
def test_trees(jac):
    def g(p, y):
        return {"a": np.tanh(p["w"] @ y + p["b"]), "c": (np.sum(p["w"]) * y[0], p["b"][1])}

    p = {"w": np.arange(6.0).reshape(2, 3) / 9, "b": np.array([0.1, 0.2])}
    by_p, by_y = jac(g, argnums=(0, 1))(p, X)["a"]
    assert by_p["w"].shape == (2, 2, 3)
    assert by_p["b"].shape == (2, 2)
    wanted = differences(lambda y: g(p, y)["a"], X)
    np.testing.assert_allclose(by_y, wanted, rtol=1e-8)
    wanted = differences(lambda w: g({**p, "w": w}, X)["a"], p["w"])
    np.testing.assert_allclose(by_p["w"], wanted, rtol=1e-8)
    first, second = jac(g)(p, X)["c"]
    np.testing.assert_allclose(first["w"], np.full((2, 3), X[0]))
    np.testing.assert_array_equal(second["b"], [0.0, 1.0])
    np.testing.assert_array_equal(second["w"], np.zeros((2, 3)))


@BOTH
def test_auxiliary_results(jac):
    value, aux = jac(lambda x: (x**2, {"kept": x[0]}), has_aux=True)(X)
    np.testing.assert_allclose(value, np.diag(2 * X))
    assert aux["kept"] == 1.0


@BOTH
def test_dtypes(jac):
    assert jac(np.sin)(X.astype(np.float32)).dtype == np.float32
    made = jac(lambda z: z**2, holomorphic=True)(np.array([1 + 2j, 3j]))
    np.testing.assert_allclose(made, np.diag([2 + 4j, 6j]))


@BOTH
def test_control_flow(jac):
    def g(x, n):
        for k in range(n):
            x = x * np.sin(x[0]) if x[0] > 0.3 else x + k * x[::-1]
        while np.sum(x) > 1:
            x = x / 2
        return x

    np.testing.assert_allclose(jac(g)(X, 4), differences(lambda x: g(x, 4), X), atol=1e-7)


def test_hessians():
    def g(x):
        return np.sum(x**3) + x[0] * x[1]

    wanted = np.diag(6 * X)
    wanted[0, 1] = wanted[1, 0] = 1
    np.testing.assert_allclose(hessian(g)(X), wanted)
    for pair in (
        jacfwd(jacfwd(g)),
        jacrev(jacrev(g)),
        jacrev(jacfwd(g)),
        jacfwd(tapeless.grad(g)),
        jacrev(tapeless.grad(g)),
    ):
        np.testing.assert_allclose(pair(X), wanted)
    np.testing.assert_allclose(hvp(g, (X,), (np.array([1.0, 2.0, 3.0]),)), wanted @ [1, 2, 3])


def test_hessian_of_several_results_and_arguments():
    def g(x, y):
        return np.array([np.sum(x * y), x[0] ** 2 * y[1]])

    blocks = hessian(g, (0, 1))(X, 2 * X)
    assert blocks[0][1].shape == (2, 3, 3)
    np.testing.assert_array_equal(blocks[0][1][0], np.eye(3))
    np.testing.assert_allclose(blocks[0][0][1], [[4 * X[1], 0, 0], [0] * 3, [0] * 3])


def test_hvp_of_several_arguments():
    got = hvp(lambda x, y: np.sum(x**2 * y), (X, 2 * X), (np.ones(3), np.zeros(3)))
    np.testing.assert_allclose(got[0], 4 * X)
    np.testing.assert_allclose(got[1], 2 * X)


def test_batches_of_matrices():
    xs = np.stack([X, X + 1])
    np.testing.assert_allclose(vmap(jacfwd(f))(xs), [jacfwd(f)(x) for x in xs])
    np.testing.assert_allclose(vmap(jacrev(f))(xs), [jacfwd(f)(x) for x in xs])
    made = vmap(hessian(lambda x: np.sum(x**3)))(xs)
    np.testing.assert_allclose(made, [np.diag(6 * x) for x in xs])


def test_a_hessian_is_one_expression():
    source = hessian(lambda x: np.sum(x**3)).source(X)
    assert "return (np.eye(len(x)) * (6 * x)).T" in source


def test_compiled():
    np.testing.assert_allclose(jit(hessian(lambda x: np.sum(x**3)))(X), np.diag(6 * X))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jacfwd(f)(np.arange(3)), ArgumentTypeError, "jacfwd: cannot differentiate .* int"),
        (lambda: jacrev(f, 1)(X), ArgumentError, "jacrev: argnums is 1, but f is called with 1"),
        (lambda: jacfwd(lambda x: x > 1)(X), NotDifferentiableError, "values that have no deriv"),
        (lambda: jacrev(lambda x: x * 1j)(X), ArgumentTypeError, "jacrev needs real results"),
        (lambda: jacrev(f, has_aux=True)(X), ArgumentTypeError, "returns a pair"),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("transform", [jacfwd, jacrev, hessian])
def test_arguments_that_the_function_overwrites_are_copies(transform):
    def f(x, y):
        y[0] += 0.5
        x[1] *= y[0]
        return np.sum(np.cos(x))

    derivative = transform(f)
    for run in (derivative, jit(derivative), jit(lambda x, y: derivative(x, y))):
        x, y = np.ones(3), np.zeros(3)
        np.testing.assert_allclose(run(x, y), derivative(np.ones(3), np.zeros(3)))
        assert (x.tolist(), y.tolist()) == ([1, 1, 1], [0, 0, 0])
