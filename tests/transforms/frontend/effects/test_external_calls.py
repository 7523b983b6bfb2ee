"""Calls of functions without a rule, where a program is traced: they are made when it runs."""

import json
import random
import time
import warnings

import numpy as np
import pytest
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg

import tapeless
from tapeless import grad, jit, vmap
from tapeless.transforms.errors import NotDifferentiableError
from tests.corpus.differences import gradient

X = np.array([0.5, 1.5, 2.5])
LAPLACE = scipy.sparse.diags([[-1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0]], [-1, 0, 1]).tocsr()


@pytest.fixture(autouse=True)
def _traced():
    with tapeless.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", tapeless.PerformanceWarning)
        yield


def solved(x):
    return np.sum(scipy.sparse.linalg.spsolve(LAPLACE, x) * x) + np.sum(LAPLACE @ x)


def test_objects_of_other_libraries_are_passed_on():
    for scale in (1.0, 3.0):
        assert jit(solved)(scale * X) == pytest.approx(solved(scale * X))
    xs = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(solved)(xs), [solved(x) for x in xs])


def test_their_changes_are_seen():
    matrix = LAPLACE.copy()
    f = jit(lambda x: np.sum(matrix @ x))
    before = f(X)
    matrix.data *= 2
    assert f(X) == pytest.approx(2 * before)


def test_products_and_systems_have_derivatives():
    matrix = scipy.sparse.random(3, 3, 0.8, random_state=1).tocsr() + 4 * scipy.sparse.eye(3)

    def f(x):
        y = scipy.sparse.linalg.spsolve(matrix, np.sin(x))
        return np.sum((matrix @ y) * x) + np.sum(matrix.T.dot(x * y) ** 2)

    expected = gradient(f, X)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(jit(grad(f))(X), expected, rtol=1e-6)
    direction = np.array([0.3, -1.0, 0.2])
    assert tapeless.jvp(f, (X,), (direction,))[1] == pytest.approx(expected @ direction, rel=1e-6)
    bend = tapeless.jvp(grad(f), (X,), (direction,))[1]
    second = gradient(lambda x: grad(f)(x) @ np.array([1.0, 2.0, -1.0]), X) @ direction
    assert bend @ np.array([1.0, 2.0, -1.0]) == pytest.approx(second, rel=1e-5)


def test_other_derivatives_through_them_are_refused():
    with pytest.raises(NotDifferentiableError, match="has no derivative"):
        grad(lambda x: np.sum(scipy.signal.medfilt(x)))(X)


def test_derivatives_beside_them():
    def f(x):
        scale = np.sum(LAPLACE @ tapeless.stop_gradient(x))
        return scale * np.sum(x**2)

    np.testing.assert_allclose(grad(f)(X), 2 * np.sum(LAPLACE @ X) * X)


def test_clocks_run():
    def timed(x):
        start = time.perf_counter()
        y = np.sum(x**2)
        return y, time.perf_counter() - start

    f = jit(timed)
    spans = [f(X)[1] for _ in range(3)]
    assert all(0 < span < 10 for span in spans)
    assert len(set(spans)) == 3
    np.testing.assert_allclose(grad(lambda x: timed(x)[0])(X), 2 * X)


def test_draws_are_new_in_each_call():
    f = jit(lambda x: np.sum(x) * random.random())
    random.seed(3)
    ours = [f(X) for _ in range(3)]
    random.seed(3)
    drawn = [random.random() for _ in range(1 + 3)]
    assert ours == pytest.approx([np.sum(X) * d for d in drawn[1:]])  # one was drawn while staging


def test_text_of_values():
    def f(x):
        return len(json.dumps(float(x[0]))) * np.sum(x)

    for first in (0.5, 0.25, 0.5):
        x = np.array([first, 1.5])
        assert jit(f)(x) == pytest.approx(f(x))


def test_results_of_another_shape_are_another_way():
    def f(x):
        peaks, properties = scipy.signal.find_peaks(x, height=1.0)
        return np.sum(x[peaks]) + np.sum(properties["peak_heights"]) + len(peaks)

    ours = jit(f)
    x = np.array([0.0, 2.0, 0.5, 1.5, 0.0, 3.0, 1.0])
    for scale in (1.0, 0.6, 0.1, 1.0):
        assert ours(scale * x) == pytest.approx(f(scale * x))


def test_stores_to_arguments_are_refused():
    def f(x):
        np.random.shuffle(y := x.copy())
        return np.sum(y * x)

    with pytest.raises(tapeless.TapelessError):
        jit(f)(X)
