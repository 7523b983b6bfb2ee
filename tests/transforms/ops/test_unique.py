"""Unique rows, and NaN that is or is not equal to itself: as NumPy says, emitted and compiled."""

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, jit

ROWS = np.array([[1.0, 2.0, 1.0], [0.0, 1.0, 0.0], [1.0, 2.0, 1.0]])
HOLES = np.array([np.nan, 1.0, np.nan, 1.0])

CASES = {
    "rows": (lambda x: np.unique(x, axis=0), ROWS),
    "columns": (lambda x: np.unique(x, True, True, True, axis=-1), ROWS),
    "planes": (lambda x: np.unique(x[None] > 1, axis=1, return_counts=True), ROWS),
    "nan": (lambda x: np.unique(x, return_counts=True), HOLES),
    "each nan": (lambda x: np.unique(x, True, True, True, equal_nan=False), HOLES),
    "all": (lambda x: tuple(np.unique_all(x)), HOLES),
    "counts": (lambda x: tuple(np.unique_counts(x)), HOLES),
    "inverse": (lambda x: tuple(np.unique_inverse(x)), HOLES),
    "values": (lambda x: np.sort(np.unique_values(x)), HOLES),
}


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    f, x = CASES[name]
    emitted = tapeless.value_and_grad(lambda x: (x[0].sum(), f(x)), has_aux=True)(x)[0][1]
    for found in (emitted, jit(f)(x)):
        pairs = zip(tapeless.tree.leaves(found), tapeless.tree.leaves(f(x)), strict=True)
        for a, b in pairs:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_the_derivative_is_that_of_the_first_of_equal_rows():
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    slope = grad(lambda x: np.sum(np.unique(x, axis=0) * weights))(ROWS)
    np.testing.assert_array_equal(slope, [[4, 5, 6], [1, 2, 3], [0, 0, 0]])


@pytest.mark.parametrize("size", [None, 4])
def test_of_jax(size):
    """As JAX: `unique` takes NaN for equal unless told, `unique_counts` does not."""
    wanted = {True: 2, False: 3}
    for equal, count in wanted.items():
        f = lambda x, e=equal: jnp.unique(x, return_counts=True, equal_nan=e, size=size)  # noqa: E731
        for found in (f(HOLES), jit(f)(HOLES)):
            np.testing.assert_array_equal(found[0][:count], [1.0, np.nan, np.nan][:count])
            np.testing.assert_array_equal(found[1][:count], [2, 2] if equal else [2, 1, 1])
    np.testing.assert_array_equal(jnp.unique_counts(HOLES, size=size).counts[:3], [2, 1, 1])


def test_an_axis_that_is_not_there():
    with pytest.raises(np.exceptions.AxisError):
        jit(lambda x: np.unique(x, axis=2))(ROWS)
