"""Distributions of vectors and matrices: values are SciPy's, derivatives those of differences."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

stats = pytest.importorskip("scipy.stats", reason="SciPy is optional")

P = np.array([0.3, 0.7, 0.6])
MEAN, COV = np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]])
POINTS = np.array([[0.5, 0.4], [-1.0, 0.3], [0.2, 0.1]])
COUNTS = np.array([[2, 1, 2], [0, 4, 1]])
ALPHA = np.array([1.2, 0.7, 2.5])


def cov(p):
    return COV * p[0] + np.diag(p[:2])


def share(p):
    return p / np.sum(p)


PROGRAMS = {
    "normal": lambda p: stats.multivariate_normal.entropy(p[:2], cov(p)),
    "fixed normal": lambda p: stats.multivariate_normal(p[:2], cov(p)).entropy(),
    "t": lambda p: stats.multivariate_t.logpdf(POINTS, p[:2], cov(p), 3 * p[2]),
    "t of one point": lambda p: stats.multivariate_t(p[:2], cov(p), 3.0).pdf(POINTS[0]),
    "entropy of t": lambda p: stats.multivariate_t.entropy(p[:2], cov(p), 5 * p[2]),
    "t of numbers": lambda p: stats.multivariate_t.logpdf(p[0], p[1], p[2], 4.0),
    "matrix": lambda p: stats.matrix_normal.logpdf(POINTS * p[0], None, np.diag(p), cov(p)),
    "dirichlet": lambda p: stats.dirichlet.logpdf(share(p), ALPHA * p[0]),
    "dirichlet mean": lambda p: stats.dirichlet.mean(p) + stats.dirichlet(p).var(),
    "dirichlet cov": lambda p: stats.dirichlet.cov(p) + stats.dirichlet.entropy(p),
    "multinomial": lambda p: stats.multinomial.logpmf(COUNTS, 5, share(p)),
    "multinomial mean": lambda p: (
        stats.multinomial.mean(5, share(p)) + stats.multinomial(5, share(p)).cov()
    ),
    "mixed": lambda p: stats.dirichlet_multinomial.logpmf(COUNTS, 3 * p, 5),
    "mixed mean": lambda p: (
        stats.dirichlet_multinomial.mean(p, 5) + stats.dirichlet_multinomial.var(p, 5)
    ),
    "mixed cov": lambda p: stats.dirichlet_multinomial(p, 5).cov(),
    "wishart": lambda p: stats.wishart.logpdf(cov(p), 2 + p[0], cov(p[::-1])),
    "wishart mean": lambda p: stats.wishart.mean(2 + p[0], cov(p)) + stats.wishart(3, cov(p)).var(),
    "wishart entropy": lambda p: stats.wishart.entropy(2 + p[0], cov(p)),
    "many wishart": lambda p: stats.wishart.pdf(
        np.stack([cov(p), cov(2 * p)], axis=-1), 3.5, np.eye(2)
    ),
    "invwishart": lambda p: stats.invwishart.logpdf(cov(p), 2 + p[0], cov(p[::-1])),
    "invwishart mean": lambda p: (
        stats.invwishart.mean(6 + p[0], cov(p))
        + stats.invwishart.var(6 + p[0], cov(p))
        + stats.invwishart.mode(6 + p[0], cov(p))
    ),
    "normal and variance": lambda p: stats.normal_inverse_gamma.logpdf(
        p[0], p[1], p[2], 1 + p[0], 2.0, p[1]
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    program = PROGRAMS[name]
    expected = program(P)
    np.testing.assert_allclose(tapeless.jit(program)(P), expected, rtol=1e-11)
    assert np.shape(tapeless.jvp(program, (P,), (P,))[0]) == np.shape(expected)
    weights = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))

    def total(p):
        return np.sum(weights * program(p))

    np.testing.assert_allclose(tapeless.grad(total)(P), gradient(total, P), rtol=1e-6, atol=1e-7)
    rows = np.stack([P, P * 1.1])
    np.testing.assert_allclose(
        tapeless.vmap(program)(rows), [program(row) for row in rows], rtol=1e-9
    )


DIRECTION = stats.vonmises_fisher(np.array([0.6, 0.0, 0.8]), 2.5)


def test_directions():
    x = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]])

    def total(kappa):
        density = stats.vonmises_fisher.logpdf(x, np.array([0.6, 0.0, 0.8]), kappa)
        return np.sum(density) + stats.vonmises_fisher(np.array([0.6, 0.0, 0.8]), kappa).entropy()

    assert tapeless.jit(total)(2.5) == pytest.approx(total(2.5), rel=1e-12)
    near = (total(2.5 + 1e-5) - total(2.5 - 1e-5)) / 2e-5
    assert tapeless.grad(total)(2.5) == pytest.approx(near, rel=1e-7)
    fixed = tapeless.jit(lambda x: DIRECTION.pdf(x) + DIRECTION.entropy())(x)
    np.testing.assert_allclose(fixed, DIRECTION.pdf(x) + DIRECTION.entropy(), rtol=1e-12)


def test_parameters_of_a_fixed_one_are_read_at_each_call():
    fixed = stats.dirichlet(ALPHA.copy())
    density = tapeless.jit(lambda x: fixed.logpdf(x))
    x = share(P)
    assert density(x) == pytest.approx(fixed.logpdf(x))
    fixed.alpha[0] = 3.0
    assert density(x) == pytest.approx(fixed.logpdf(x))
    fixed.alpha = np.array([2.0, 2.0, 2.0])
    assert density(x) == pytest.approx(fixed.logpdf(x))


def test_what_has_no_formula_is_refused():
    with pytest.raises(tapeless.TapelessError, match=r"no rule|cdf"):
        tapeless.jit(lambda x: stats.multivariate_normal.cdf(x, MEAN, COV))(MEAN)
