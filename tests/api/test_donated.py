"""donate_argnums: results in the memory of arguments that are not needed any more."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.transforms.errors import ArgumentError

X = np.arange(12.0).reshape(4, 3)


def elementwise(x):
    return np.sin(x) * 2


def reads_other_places(x):
    return x[::-1] + np.cumsum(x, axis=0)


def also_returned(x):
    return x + 1, x


def two_results(x):
    return x + 1, x * 2


def a_library_call(x):
    return x @ x.T @ x


def recurrence(x):
    for _ in range(3):
        x = 0.5 * x + np.roll(x, 1, axis=0)
    return x


@pytest.mark.parametrize(
    "function",
    [elementwise, reads_other_places, also_returned, two_results, a_library_call, recurrence],
)
def test_results_take_the_memory_of_an_argument(function):
    compiled = jit(function, donate_argnums=0)
    for n in (4, 5):
        x = np.linspace(0, 1, 3 * n).reshape(n, 3)
        want = function(x.copy())
        got = compiled(x)
        parts = list(zip(got, want, strict=True)) if isinstance(got, tuple) else [(got, want)]
        for a, b in parts:
            np.testing.assert_allclose(a, b, rtol=1e-13)
        assert parts[0][0] is x


def test_nothing_is_allocated_for_them():
    assert "empty(" in jit(elementwise).source(X)
    assert "empty(" not in jit(elementwise, donate_argnums=0).source(X)


def test_leaves_of_containers():
    @jit(donate_argnums=1)
    def step(slopes, params):
        return [p - 0.1 * g for p, g in zip(params, slopes, strict=True)]

    params = [X.copy(), np.ones(3)]
    got = step([X, np.ones(3)], params)
    assert got[0] is params[0]
    assert got[1] is params[1]
    np.testing.assert_allclose(got[0], 0.9 * X)


@pytest.mark.parametrize("function", [lambda x: np.sum(x, axis=0), lambda x: x > 1, lambda x: x.T])
def test_what_does_not_fit_is_left_alone(function):
    x = X.copy()
    np.testing.assert_array_equal(jit(function, donate_argnums=0)(x), function(X))
    np.testing.assert_array_equal(x, X)


def test_arrays_that_are_read_only_are_not_overwritten():
    compiled = jit(elementwise, donate_argnums=0)
    frozen = X.copy()
    frozen.flags.writeable = False
    for x in (X.copy(), frozen, X.copy()):
        np.testing.assert_allclose(compiled(x), elementwise(X), rtol=1e-13)
    np.testing.assert_array_equal(frozen, X)


def test_views():
    compiled = jit(lambda x: np.sin(x) * 2, donate_argnums=0)
    whole = np.zeros((4, 6))
    whole[:, ::2] = X
    compiled(whole[:, ::2])
    np.testing.assert_allclose(whole[:, ::2], elementwise(X), rtol=1e-13)
    assert not whole[:, 1::2].any()


def test_arguments_that_share_memory_are_refused():
    compiled = jit(lambda x, y: x * 2 + y, donate_argnums=0)
    x = X.copy()
    with pytest.raises(ArgumentError, match="share memory"):
        compiled(x, x)
    np.testing.assert_array_equal(x, X)
