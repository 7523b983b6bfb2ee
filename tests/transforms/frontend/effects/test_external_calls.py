"""Calls of functions without a rule, where a program is traced: they are made when it runs."""

import json
import random
import time

import numpy as np
import pytest
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.stats

import tapeless
from tapeless import grad, jit, vmap
from tapeless.transforms.errors import NotDifferentiableError
from tests.corpus.differences import gradient

RNG = np.random.default_rng(0)
X = np.array([0.5, 1.5, 2.5])
LAPLACE = scipy.sparse.diags([[-1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0]], [-1, 0, 1]).tocsr()
pytestmark = pytest.mark.usefixtures("traced")


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


ASKED = {
    "attribute": lambda a, x: a.data[:3] @ x + a.nnz,
    "copied": lambda a, x: np.sum(a.toarray() @ x),
    "element": lambda a, x: a[0, 1] * np.sum(x),
    "made again": lambda a, x: np.sum((-2.0 * a).T @ x),
    "np.matrix": lambda a, x: np.asarray(a.sum(axis=0)).ravel() @ x,
    "in a list": lambda a, x: np.sum(scipy.sparse.hstack([a, a]).toarray()[0, :3] * x),
    "compared": lambda a, x: (a > 1.5).sum() * x[0],
    "length": lambda a, x: len(str(a)) * x[0],
    "tested": lambda a, x: x[0] if (a > 3.0).nnz else x[1],
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED.keys())
def test_what_they_hold_is_asked_for_in_each_call(asked):
    matrix = LAPLACE.copy()
    f = jit(lambda x: asked(matrix, x))
    for scale in (1.0, 20.0, 1.0, 2.0):
        matrix.data[:] = scale * LAPLACE.data
        assert f(X) == pytest.approx(asked(matrix, X))


def test_objects_are_made_of_values_of_the_program():
    def f(x):
        scaled = scipy.sparse.csr_matrix((x, ([0, 1, 2], [2, 1, 0])), shape=(3, 3))
        total = np.sum(scaled @ x)
        for k in range(3):
            total = total + np.sum((scipy.sparse.diags(x + k) @ LAPLACE) @ x)
        return total

    ours = jit(f)
    for scale in (1.0, 3.0):
        assert ours(scale * X) == pytest.approx(f(scale * X))
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-6)


def stored_item(x, a):
    a[0, 0] = 9.0
    return np.sum(a @ x)


def stored_data(x, a):
    a.data[0] = 9.0
    return np.sum(a @ x)


def stored_attribute(x, a):
    a.data = 2 * a.data
    return np.sum(a @ x)


def scaled_in_place(x, a):
    a *= 2
    return np.sum(a @ x)


def sorted_in_place(x, a):
    a.sort_indices()
    return np.sum(a @ x)


def run_over(x, a):
    return sum(row.sum() for row in a) * x[0]


def returned(x, a):
    return 2.0 * a


def shown(x, a):
    return f"{a}" == "" or x[0]


@pytest.mark.parametrize(
    "program",
    [
        *(stored_item, stored_data, stored_attribute, scaled_in_place, sorted_in_place),
        *(run_over, returned, shown),
    ],
)
def test_what_would_be_done_while_staging_only_is_refused(program):
    matrix = LAPLACE.copy()
    with pytest.raises(tapeless.TapelessError):
        jit(lambda x: program(x, matrix))(X)
    np.testing.assert_array_equal(matrix.toarray(), LAPLACE.toarray())


def test_stores_to_what_a_matrix_has_too_show_in_it():
    matrix = LAPLACE.copy()
    data = matrix.data

    def f(x):
        data[0] = 9.0
        return np.sum(matrix @ x)

    assert jit(f)(X) == pytest.approx(6.5)
    assert data[0] == 9.0


def test_masked_arrays_keep_their_operations():
    masked = np.ma.masked_less(np.array([1.0, 2.0, 3.0]), 1.5)

    def f(x):
        return (masked * x).sum()

    assert jit(f)(X) == pytest.approx(f(X))


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
    assert ours == pytest.approx([np.sum(X) * random.random() for _ in range(3)])


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
        RNG.permuted(y := x.copy(), out=y)
        return np.sum(y * x)

    with pytest.raises(tapeless.TapelessError):
        jit(f)(X)


def test_a_store_of_what_is_there_is_refused():
    """Staging sees no change, and the program's arrays are read-only."""

    def level(x, q):
        return np.nanquantile(x, q, None, None, True)

    with pytest.raises(tapeless.TapelessError, match="nanquantile has no rule, and stores to"):
        jit(level).plain(np.array(1.5), 0.3)


@pytest.mark.parametrize("x", [np.array(1.5), X])
def test_to_overwrite_an_input_is_an_offer(x):
    def level(x, q, overwritten):
        return np.nanquantile(x, q, overwrite_input=overwritten)

    assert jit(level).plain(x.copy(), 0.3, True) == level(x.copy(), 0.3, True)


def test_a_matrix_is_one_parameter():
    def f(x):
        for _ in range(3):
            x = x - 0.1 * (LAPLACE @ x)
        return np.sum(x**2) + LAPLACE[0, 1] * x[0] + LAPLACE[0, 1] + 0.0 * LAPLACE.max()

    source = grad(f).source(X)
    assert source.count("LAPLACE_matmul,") == source.count("LAPLACE_getitem,") == 1
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-6)


def test_options_that_a_rule_does_not_have(traced):
    def f(x):
        a = np.outer(x, x) + np.diag(x)
        q, r, _ = scipy.linalg.qr(a[:, :2], pivoting=True)
        return np.sum(np.abs(q)) + np.sum(r**2)

    assert np.isclose(jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(vmap(f)(np.stack([X, 2 * X])), [f(X), f(2 * X)], rtol=1e-12)
    with pytest.raises(tapeless.errors.NotDifferentiableError, match="qr"):
        grad(f)(X)


def test_options_of_how_a_system_is_solved(traced):
    def f(x):
        return np.sum(scipy.sparse.linalg.spsolve(LAPLACE, x**2, permc_spec="NATURAL") ** 2)

    assert jit(f)(X) == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-6)


def shot_noise(x):
    np.random.seed(3)
    jumps = scipy.stats.norm.rvs(loc=0.0, scale=1.0, size=4)
    waits = scipy.stats.gamma(2.0, scale=0.5).rvs(size=4)
    return np.sum(jumps * waits * x) + np.random.normal()


def test_draws_of_scipy_are_made_when_the_program_runs():
    f = jit(lambda x: x * scipy.stats.norm.rvs(size=3))
    assert not np.any(f(1.0) == f(1.0))
    np.testing.assert_allclose(jit(shot_noise)(2.0), shot_noise(2.0))
    np.testing.assert_allclose(grad(shot_noise)(2.0), shot_noise(3.0) - shot_noise(2.0))
    np.testing.assert_allclose(tapeless.vmap(shot_noise)(np.array([2.0])), [shot_noise(2.0)])


def test_staging_takes_no_numbers_of_scipy():
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    jit(lambda x: x * scipy.stats.norm.rvs(size=3)).source(1.0)
    assert np.random.rand() == expected


def test_a_seed_of_its_own_is_a_constant():
    f = jit(lambda x: x * scipy.stats.norm.rvs(size=3, random_state=7))
    np.testing.assert_array_equal(f(1.0), scipy.stats.norm.rvs(size=3, random_state=7))
