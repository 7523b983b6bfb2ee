"""np.concatenate and its kin of lists that loops fill, along each axis, of items of all lengths."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient


def even(x):
    parts = []
    for i in range(1, len(x)):
        parts.append(x[:2] * x[i])  # noqa: PERF401
    return parts


def uneven(x):
    parts = []
    for i in range(1, len(x)):
        parts.append(x[:i] * 2)  # noqa: PERF401
    return parts


def uneven_rows(x):
    parts = []
    for i in range(1, len(x)):
        parts.append(x[:i, None] * x[None, :3])  # noqa: PERF401
    return parts


def uneven_columns(x):
    parts = []
    for i in range(1, len(x)):
        parts.append(x[:2, None] * x[None, :i])  # noqa: PERF401
    return parts


X = np.random.default_rng(0).random(5)
JOINS = [
    (np.concatenate, even, {}),
    (np.concatenate, even, {"axis": -1}),
    (np.concatenate, even, {"axis": None}),
    (np.concatenate, uneven, {}),
    (np.concatenate, uneven, {"axis": -1}),
    (np.concatenate, uneven, {"axis": None}),
    (np.concatenate, uneven_rows, {}),
    (np.concatenate, uneven_rows, {"axis": -2}),
    (np.concatenate, uneven_columns, {"axis": 1}),
    (np.hstack, even, {}),
    (np.hstack, uneven, {}),
    (np.hstack, uneven_columns, {}),
    (np.vstack, even, {}),
    (np.vstack, uneven_rows, {}),
    (np.column_stack, even, {}),
    (np.stack, even, {"axis": 1}),
]


@pytest.mark.parametrize(("join", "parts", "options"), JOINS)
def test_join_is_as_in_numpy(join, parts, options):
    def joined(x):
        return join(parts(x), **options)

    expected = joined(X)
    np.testing.assert_array_equal(tapeless.jit(joined)(X), expected)
    value, tangent = tapeless.jvp(joined, (X,), (np.ones(5),))
    np.testing.assert_array_equal(value, expected)
    step = 1e-6
    slope = (joined(X + step) - joined(X - step)) / (2 * step)
    np.testing.assert_allclose(tangent, slope, rtol=1e-7, atol=1e-8)
    weights = np.random.default_rng(1).random(expected.shape)
    _, pull = tapeless.vjp(joined, X)
    np.testing.assert_allclose(np.sum(pull(weights)[0]), np.sum(weights * tangent), rtol=1e-12)
    batch = tapeless.vmap(joined)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(batch[1], joined(2 * X), rtol=1e-14)


@pytest.mark.parametrize("parts", [even, uneven])
@pytest.mark.parametrize("axis", [1, -2])
def test_axis_that_is_not_there(parts, axis):
    with pytest.raises(np.exceptions.AxisError):
        tapeless.jit(lambda x: np.concatenate(parts(x), axis=axis))(X)


@pytest.mark.parametrize("join", [np.stack, np.vstack])
def test_rows_that_are_not_equally_long(join):
    with pytest.raises(ValueError, match=r"shape|same length"):
        tapeless.jit(lambda x: join(uneven(x)))(X)


def pairs(x):
    return [(v, v**2, 1.0) for v in x]


def pairs_of_arrays(x):
    return [[x * v, v * x**2] for v in x]


@pytest.mark.parametrize("parts", [pairs, pairs_of_arrays])
@pytest.mark.parametrize(
    "join", [np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack, np.dstack]
)
def test_tuples_are_rows(join, parts):
    def f(x):
        return np.sum(join(parts(x)) ** 2)

    np.testing.assert_allclose(tapeless.jit(lambda x: join(parts(x)))(X), join(parts(X)))
    np.testing.assert_allclose(tapeless.grad(f)(X), gradient(f, X), rtol=1e-5)
