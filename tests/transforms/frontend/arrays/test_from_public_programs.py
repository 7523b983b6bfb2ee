"""What public programs do with NumPy and SciPy that was refused: the smallest program of each."""

import warnings

import numpy as np
import pytest
import scipy.signal
import scipy.sparse

from tapeless import grad, jit, strict

X = np.array([1.1, 3.0, 2.0, 0.5])


def last_above(x):
    try:
        y = x[x > 2.5][-1]
    except IndexError:
        y = -1.0
    return y


def several_that_may_fail(x):
    try:
        y = x[x > 2.5][0] * 2
        z = x[x < 0.1][1]
    except IndexError:
        y, z = -1.0, x[3]
    return y + z


def root_where(x):
    return np.sum(np.sqrt(x - 1, where=x > 1)[x > 1])


def inverse_where(x):
    return np.sum(np.divide(1.0, x - 1, where=x != 1) * (x != 1))


def filtered_by_a_number(x):
    return np.sum(scipy.signal.lfilter([1.0, 2.0], 1, x) * X)


def windows_of_padded(x):
    m = np.pad(np.outer(x, x), [(0, 0), (1, 1)], mode="reflect")
    strides = (*m.strides, m.strides[-1])
    return np.sum(np.lib.stride_tricks.as_strided(m, (4, 4, 3), strides) ** 2)


def rows_stacked(x):
    return np.sum(np.row_stack((x, x[::-1])) ** 2)


PROGRAMS = [
    *(last_above, several_that_may_fail, root_where, inverse_where),
    *(filtered_by_a_number, windows_of_padded),
]
if hasattr(np, "row_stack"):
    PROGRAMS.append(rows_stacked)


@pytest.mark.filterwarnings("ignore:.*row_stack.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_slopes(f):
    for x in (X, 0.3 * X, np.array([0.01, 3.0, 0.02, 0.7])):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
            slope = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(x.size)]
        if np.all(np.isfinite(slope)):
            np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-5, atol=1e-6)


def test_a_ufunc_of_a_sparse_matrix_is_its_method():
    links = scipy.sparse.csr_matrix(np.array([[2.0, -1.0], [-1.0, 2.0]]) + 1j * np.eye(2))

    def flows(v):
        turned = np.conj(links * scipy.sparse.csr_matrix((v, (range(2), range(2)))))
        return turned.toarray()

    v = np.array([1.0, 2.0])
    with strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(jit(flows)(v), flows(v))


def test_windows_of_an_array_in_a_program_that_is_traced(traced):
    def scaled(x):
        total = windows_of_padded(x)
        options = {}
        if np.any(x > 2.5):
            options["scale"] = 2.0
        return total * len(dict(one=1, **options))

    np.testing.assert_allclose(jit(scaled)(X), scaled(X))
    np.testing.assert_allclose(jit(scaled)(0.3 * X), scaled(0.3 * X))
