"""The order of a norm of vectors is a number as any other: it has derivatives, and may differ from
element to element of a batch."""

import numpy as np
import pytest
import scipy.linalg as sl

import tapeless
from tapeless.transforms.errors import NotDifferentiableError

X = np.array([1.3, -2.1, 0.7, -1.2])
ORDERS = (2.5, 1.0, 2.0, 0.5, -1.5, np.inf, -np.inf, 0.0)
NORMS = {
    "norm": np.linalg.norm,
    "norm of rows": lambda x, p: np.linalg.norm(np.outer(x, x), p, axis=1),
    "norm over a tuple": lambda x, p: np.linalg.norm(np.outer(x, x), axis=(0,), ord=p),
    "kept": lambda x, p: np.linalg.norm(np.outer(x, x), p, 0, keepdims=True),
    "vector_norm": lambda x, p: np.linalg.vector_norm(x.reshape(2, 2), ord=p),
    "vector_norm kept": lambda x, p: np.linalg.vector_norm(x.reshape(2, 2), ord=p, keepdims=True),
    "vector_norm of rows": lambda x, p: np.linalg.vector_norm(x.reshape(2, 2), axis=1, ord=p),
    "scipy": lambda x, p: sl.norm(x, p),
    "scipy of rows": lambda x, p: sl.norm(np.outer(x, x), ord=p, axis=0),
}


@pytest.mark.parametrize("name", NORMS)
def test_one_program_for_all_orders(name):
    f = NORMS[name]
    compiled = tapeless.jit(f)
    for order in ORDERS:
        for x in (X, np.zeros(4), np.array([np.nan, 1.0, 0.0, np.inf]), X.astype("f4")):
            with np.errstate(all="ignore"):
                if name.startswith("scipy") and not np.isfinite(x).all():
                    continue
                expected = f(x, order)
                result = compiled(x, order)
            if not isinstance(expected, float) or isinstance(expected, np.float64):
                assert result.dtype == expected.dtype
            assert np.shape(result) == np.shape(expected)
            np.testing.assert_allclose(result, expected, rtol=1e-6 if x.dtype == "f4" else 1e-14)
    assert len(compiled.compilations) <= 2  # one a dtype


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("order", [2.5, 1.0, -1.5])
def test_derivatives_by_the_order(name, order):
    def total(x, p):
        values = NORMS[name](x, p)
        return np.sum(values * np.cos(np.arange(values.size).reshape(values.shape)))

    expected = (total(X, order + 1e-6) - total(X, order - 1e-6)) / 2e-6
    slopes = [(total(X + h, order) - total(X - h, order)) / 2e-6 for h in 1e-6 * np.eye(4)]
    for form in (lambda f: f, tapeless.jit):
        by_both = form(tapeless.grad(total, argnums=(0, 1)))(X, order)
        np.testing.assert_allclose(by_both[0], slopes, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(by_both[1], expected, rtol=1e-6, atol=1e-8)
    _, tangent = tapeless.jvp(total, (X, order), (np.zeros(4), 1.0))
    np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-8)


def test_a_batch_of_orders():
    orders = np.array(ORDERS)
    result = tapeless.vmap(np.linalg.norm, in_axes=(None, 0))(X, orders)
    np.testing.assert_allclose(result, [np.linalg.norm(X, p) for p in ORDERS])


@pytest.mark.usefixtures("traced")
def test_powers_and_orders_of_matrices_have_no_derivative():
    a = np.array([[2.0, 0.3], [0.3, 1.5]])
    programs = (lambda t: np.sum(sl.fractional_matrix_power(a, t)), lambda p: np.linalg.norm(a, p))
    for program in programs:
        assert tapeless.jit(program)(1.0) == pytest.approx(program(1.0))
        with pytest.raises(NotDifferentiableError, match="must be known"):
            tapeless.grad(program)(1.0)
