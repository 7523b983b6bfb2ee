"""Programs that make sparse matrices of what they compute, as SciPy's users write them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import tapeless
from tapeless import grad, jit, jvp, vmap
from tests.corpus.differences import gradient

pytestmark = pytest.mark.filterwarnings("ignore:.*cast to float64", "ignore:spsolve", "ignore:splu")

K = np.linspace(1.0, 2.0, 6)
SECOND = sp.diags([[1.0] * 5, [-2.0] * 6, [1.0] * 5], [-1, 0, 1]).tocsr()
BY_DIAGONALS = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(6, 6))


def heat(k):
    """A bar by finite differences, in implicit steps."""
    n = len(k)
    steps = sp.diags([k[1:n], -2 * k, k[: n - 1]], [-1, 0, 1]).tocsc()
    solver = spl.factorized((sp.eye(n) - 0.1 * steps).tocsc())
    u = np.linspace(0, 1, n)
    for _ in range(3):
        u = solver(u)
    return np.sum(u**2) + np.sum(steps @ u)


def elements(k):
    """Finite elements: entries of small matrices, put together by their places."""
    nodes = np.linspace(0, 1, len(k) + 1)
    rows, cols, values = [], [], []
    load = np.zeros(len(nodes))
    for e in range(len(k)):
        h = nodes[e + 1] - nodes[e]
        small = k[e] / h * np.array([[1.0, -1.0], [-1.0, 1.0]])
        for i, row in enumerate((e, e + 1)):
            load[row] += 0.5 * h * k[0]
            for j, col in enumerate((e, e + 1)):
                rows.append(row)
                cols.append(col)
                values.append(small[i, j])
    matrix = sp.coo_matrix((values, (rows, cols)), shape=(len(nodes), len(nodes))).tocsr()
    free = np.arange(1, len(nodes) - 1)
    u = np.zeros(len(nodes))
    u[free] = spl.spsolve(matrix[free][:, free], load[free])
    return np.sum(u**2) + u @ (matrix @ u)


def longer(k):
    """Diagonals that are longer than there is room."""
    return np.sum((sp.diags([k, k**2], [0, 2], shape=(6, 6)) @ k) ** 2)


def stored(k):
    """Elements that are stored one by one, with fixed values at both ends."""
    n = len(k)
    matrix = sp.lil_matrix((n, n))
    for i in range(1, n - 1):
        matrix[i, i - 1] = k[i]
        matrix[i, i] = -k[i] - k[i + 1]
        matrix[i, i + 1] += k[i + 1]
    matrix[0, 0] = 1.0
    matrix[n - 1, :] = 0
    matrix[n - 1, n - 1] = 1.0
    right = np.full(n, 0.7)
    u = spl.spsolve(matrix.tocsr(), right)
    return u @ u + matrix[1, 1]


def outside(k):
    """Matrices that are made outside of the function."""
    left = sp.eye(6) - k[0] * SECOND
    right = sp.eye(6).tocsc() + 0.1 * BY_DIAGONALS
    moved = np.sum(SECOND @ k * k) + np.sum(BY_DIAGONALS.dot(k) ** 2)
    return np.sum(spl.spsolve(left.tocsc(), k) ** 2) + k @ (right @ k) + moved


def poisson(k):
    """Kronecker products and blocks."""
    ones = np.ones(3)
    line = sp.spdiags(np.array([ones, -2 * ones, ones]), [-1, 0, 1], 3, 3)
    plane = sp.kron(sp.eye(3), line) + sp.kron(line, sp.eye(3)) + sp.diags(np.tile(k, 2)[:9])
    blocks = sp.bmat([[plane, None], [None, k[1] * sp.eye(2)]]).tocsr()
    normal = blocks.T @ blocks
    x = spl.spsolve(normal.tocsc() + 0.1 * sp.identity(11), np.arange(11.0))
    free, even = np.array([0, 2, 5]), np.arange(11) % 2 == 0
    parts = normal[free][:, free].toarray(), np.asarray(normal[1:4, 2:6].sum(axis=0))
    total = sum(np.sum(p**2) for p in parts) + normal[2, 2]
    return x @ x + total + normal[even][:, even].diagonal() @ np.arange(6.0)


def network(k):
    """Resistors between nodes, by the incidence matrix."""
    first, second = np.array([0, 1, 2, 3, 4, 0]), np.array([1, 2, 3, 4, 5, 5])
    signs, edges = np.r_[np.ones(6), -np.ones(6)], np.r_[0:6, 0:6]
    incidence = sp.coo_matrix((signs, (edges, np.r_[first, second])), shape=(6, 6)).tocsr()
    laplacian = incidence.T @ sp.diags(k) @ incidence
    v = spl.splu(laplacian[1:, :][:, 1:].tocsc()).solve(np.ones(5) * k[2])
    beside = (sp.hstack([laplacian, laplacian]) @ np.arange(12.0))[2]
    below = sp.vstack([laplacian, laplacian]).toarray()[7, 1]
    return v @ v + laplacian.multiply(2.0).sum() + beside + below


def walk(k):
    """A random walk, by a matrix of an array; what SciPy says that it is."""
    weights = sp.csr_matrix(np.outer(k, k) * (1 - np.eye(6)))
    moves = sp.diags(1 / np.array(weights.sum(axis=1)).flatten()) @ weights
    p = np.ones(6) / 6
    for _ in range(4):
        p = 0.7 * (moves.T @ p) + 0.05
    known = sp.issparse(moves) + isinstance(moves, sp.spmatrix) + sp.issparse(p)
    return p @ np.arange(6.0) + (weights * p)[1] + moves.todense()[0, 1] + known


def by_rows(k):
    """Arrays of scipy.sparse, whose product by `*` is that of elements."""
    starts = np.array([0, 1, 1, 2, 3, 4, 4])
    a = sp.csr_array((k[:4], np.array([0, 3, 1, 5]), starts), shape=(6, 6))
    return np.sum((a @ a.T).sum(axis=1) ** 2) + np.sum(a.dot(k)) + np.sum(k @ a) + (a * k[5]).sum()


def reused(k):
    """Arrays that are stored to when a matrix has been made of them."""
    values, places = k**2, np.arange(6)
    shared = sp.csr_matrix((values, places, np.arange(7)), shape=(6, 6))
    copied = shared.tocsc()
    values[0] = 10.0
    places[1] = 0
    return np.sum(shared @ k) + 100 * np.sum(copied @ k)


PROGRAMS = [heat, elements, longer, stored, outside, poisson, network, walk, by_rows, reused]
BATCH = np.stack([K, K[::-1] + 0.5])


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    with tapeless.strict(True):
        assert jit(program)(K) == pytest.approx(program(K), rel=1e-10)
        expected = gradient(program, K)
        for slopes in (grad(program)(K), jit(grad(program))(K)):
            np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-5)
        direction = np.linspace(-1.0, 1.0, 6)
        slope = jvp(program, (K,), (direction,))[1]
        assert slope == pytest.approx(expected @ direction, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_batches(program):
    with tapeless.strict(True):
        values = vmap(program)(BATCH)
        np.testing.assert_allclose(values, [program(k) for k in BATCH], rtol=1e-10)
        expected = [gradient(program, k) for k in BATCH]
        np.testing.assert_allclose(vmap(grad(program))(BATCH), expected, rtol=1e-5, atol=1e-5)


def test_second_derivatives():
    direction = np.linspace(-1.0, 1.0, 6)
    bend = jvp(grad(heat), (K,), (direction,))[1]
    expected = gradient(lambda k: grad(heat)(k) @ direction, K)
    np.testing.assert_allclose(bend, expected, rtol=1e-5, atol=1e-5)


def test_matrices_from_outside_are_read_at_each_call():
    matrix = SECOND.copy()

    def moved(x):
        return np.sum((matrix @ x) ** 2)

    compiled = jit(moved)
    for matrix in (  # noqa: B007 (the function reads it)
        *(SECOND, 2.0 * SECOND, SECOND.tocsc(), BY_DIAGONALS, SECOND[:3], sp.csr_array(SECOND)),
        *(sp.random(6, 6, 0.5, random_state=0), SECOND.tolil(), sp.bsr_matrix(SECOND)),
    ):
        assert compiled(K) == pytest.approx(moved(K), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, int])
def test_dtypes(dtype):
    def solved(values, right):
        return spl.spsolve(sp.diags([values, values[1:]], [0, 1]).tocsc(), right)

    values = (np.arange(1, 5) * (1 + 1j if dtype is np.complex128 else 1)).astype(dtype)
    for right in (
        np.ones(4),
        np.ones(4, np.float32),
        np.arange(8.0).reshape(4, 2),
        np.ones((4, 1)),
    ):
        expected, given = solved(values, right), jit(solved)(values, right)
        assert given.dtype == expected.dtype
        assert given.shape == expected.shape
        np.testing.assert_allclose(given, expected, rtol=1e-5)


def test_singular_systems_are_told():
    def solved(x):
        return spl.spsolve(sp.csc_matrix(np.outer(x, x)), x)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert np.isnan(jit(solved)(np.array([1.0, 2.0]))).all()
    assert any(w.category is spl.MatrixRankWarning for w in seen)


def test_factors_are_kept_for_the_same_matrix_only():
    def solved(values, right):
        first = spl.spsolve(sp.diags([values], [0]).tocsc(), right)
        second = spl.spsolve(sp.diags([2 * values], [0]).tocsc(), right)
        upper = sp.diags([values, values[1:]], [0, 1]).tocsc()
        third, fourth = spl.spsolve(upper, right), spl.spsolve(upper.T, right)
        return np.stack([first, second, third, fourth])

    compiled = jit(solved)
    for scale in (1.0, 3.0, 1.0):
        values = scale * np.arange(1.0, 5.0)
        np.testing.assert_allclose(compiled(values, np.ones(4)), solved(values, np.ones(4)))


WRONG = {
    "too many rows": lambda x: sp.coo_matrix((x, ([0, 1, 9], [0, 1, 2])), shape=(3, 3)) @ x,
    "a negative row": lambda x: sp.coo_matrix((x, ([0, -1, 2], [0, 1, 2])), shape=(3, 3)) @ x,
    "another length": lambda x: sp.coo_matrix((x, ([0, 1], [0, 1])), shape=(3, 3)) @ x,
    "a vector that does not fit": lambda x: sp.diags([x], [0]) @ x[:2],
    "a diagonal that does not fit": lambda x: sp.diags([x, x[:2]], [0, 1], shape=(5, 5)) @ x,
    "two shapes": lambda x: (sp.diags([x], [0]) + sp.eye(4)) @ x,
    "not square": lambda x: spl.spsolve(sp.diags([x], [0], shape=(3, 4)).tocsc(), x),
}


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG.keys())
def test_errors_are_errors(program):
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ValueError):  # noqa: PT011 (SciPy's)
        program(x)
    with tapeless.strict(True), pytest.raises((ValueError, IndexError)):
        jit(program)(x)


REFUSED = {
    "returned": lambda x: 2.0 * sp.diags([x], [0]),
    "NumPy's": lambda x: np.sum(sp.diags([x], [0])),
    "power": lambda x: sp.diags([x], [0]).power(2).sum(),
    "compared": lambda x: (sp.diags([x], [0]) > 1.0).sum(),
    "data": lambda x: sp.diags([x], [0]).tocsr().data[0],
    "nnz": lambda x: sp.diags([x], [0]).nnz * x[0],
    "taken twice": lambda x: (sp.diags([x], [0]).tocsr()[[0, 0]] @ x).sum(),
    "elements": lambda x: sp.diags([x], [0]).tocsr()[[0, 1], [1, 0]].sum(),
    "scaled in place": lambda x: _scaled(sp.diags([x], [0]).tocsr()).sum(),
    "text": lambda x: len(str(sp.diags([x], [0]).tocsr())) * x[0],
    "a library's": lambda x: spl.eigsh(sp.diags([x], [0]), k=1)[0][0],
    "of a sparse side": lambda x: spl.spsolve(sp.diags([x], [0]).tocsc(), sp.eye(3)).sum(),
}


def _scaled(matrix):
    other = matrix
    matrix *= 2.0
    return other


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_rule_is_refused(program):
    with tapeless.strict(True), pytest.raises((tapeless.TapelessError, NotImplementedError)):
        jit(program)(np.array([1.0, 2.0, 3.0]))
