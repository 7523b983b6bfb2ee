"""Functions of scipy.linalg refuse infinities and NaN where SciPy does."""

import numpy as np
import pytest
import scipy.linalg as sl

from tapeless import grad, jit, vmap

NAMES = ["cho_factor", "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "norm"]
NAMES += ["pinv", "qr", "svd", "svdvals"]
BAD = np.array([[np.nan, 1.0], [1.0, 2.0]])
MESSAGE = "array must not contain infs or NaNs"


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_a_matrix(name):
    f = getattr(sl, name)
    with pytest.raises(ValueError, match=MESSAGE):
        f(BAD)
    with pytest.raises(ValueError, match=MESSAGE):
        jit(lambda a: f(a))(BAD)


def test_systems():
    def solved(a, b):
        return sl.solve(a, b)

    for a, b in [(BAD, np.ones(2)), (np.eye(2), np.array([1.0, np.inf]))]:
        for f in (jit(solved), grad(lambda a, b: np.sum(solved(a, b)))):
            with pytest.raises(ValueError, match=MESSAGE):
                f(a, b)
    with pytest.raises(ValueError, match=MESSAGE):
        vmap(solved)(np.stack([np.eye(2), BAD]), np.ones((2, 2)))


def test_unchecked():
    with np.errstate(invalid="ignore"):
        value = jit(lambda a: sl.det(a, check_finite=False))(BAD)
    assert np.isnan(value)
