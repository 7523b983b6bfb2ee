"""np.vectorize with signatures, excluded arguments, several results and dtypes, and what
np.apply_along_axis makes of tuples."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient

pytestmark = pytest.mark.usefixtures("traced")
X = np.array([0.5, 1.5, 2.5, 0.9])


def summed(parts, weights=(1.0, 3.0)):
    return sum(w * np.sum(part) for w, part in zip(weights, parts, strict=True))


PROGRAMS = {
    "signature": lambda x: np.sum(
        np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x.reshape(2, 2), x[:2])
    ),
    "broadcast parts": lambda x: np.sum(
        np.vectorize(lambda a, m: a @ m, signature="(n),(n,k)->(k)")(
            x.reshape(2, 1, 2), x.reshape(2, 2)
        )
    ),
    "new axes": lambda x: np.vectorize(np.outer, signature="(n),(m)->(n,m)")(x[:2], x)[1, 2],
    "two results": lambda x: summed(np.vectorize(lambda v: (v * v, 3 * v))(x)),
    "two results by a signature": lambda x: summed(
        np.vectorize(lambda m: (m.sum(), m**2), signature="(n)->(),(n)")(x.reshape(2, 2))
    ),
    "excluded by name": lambda x: np.sum(np.vectorize(lambda v, p: v**p, excluded=["p"])(x, p=3)),
    "excluded by place": lambda x: np.sum(
        np.vectorize(lambda p, v: np.polyval(p, v), excluded=[0])(x[:3], x)
    ),
    "keywords": lambda x: np.sum(
        np.vectorize(lambda a, b, c=2.0: a * b * c)(x.reshape(2, 2), x[:2], c=x[:2, None])
    ),
    "of one element": lambda x: np.vectorize(lambda v: v * v)(x[0]) * 1.0,
    "tuples along an axis": lambda x: np.sum(
        np.apply_along_axis(lambda r: (r.sum(), r.prod(), r[0]), 0, x.reshape(2, 2))
    ),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(f):
    assert jit(f)(X) == pytest.approx(f(X))
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(vmap(f)(np.stack([X, X + 1])), [f(X), f(X + 1)])


@pytest.mark.parametrize("otypes", [[int], [np.float32], "d", [bool]])
def test_results_have_the_dtype_asked_for(otypes):
    def f(x):
        return np.vectorize(lambda v: v * v, otypes=otypes)(x)

    ours, theirs = jit(f)(X), f(X)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_the_first_result_decides_the_dtype():
    def f(x):
        return np.sum(np.vectorize(lambda v: v * v if v > 1 else 0)(x)) * 1.0

    for x in (X, X[::-1].copy(), X + 1):
        assert jit(f)(x) == f(x)
    np.testing.assert_allclose(grad(f)(X), [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(grad(f)(X + 1), 2 * (X + 1))
