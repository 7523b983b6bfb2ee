"""Special functions of ours against SciPy, and derivatives."""

import numpy as np
import pytest
import scipy.special as sc

from tapeless import check_grads, grad, jit, vmap
from tapeless.scipy import special
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

X = np.array([0.1, 0.5, 1.0, 2.5, 7.0, 20.0])
BOTH = np.array([-2.0, -0.3, 0.0, 0.3, 2.0, 5.0])


def test_zeta():
    for s in (1.01, 1.5, 2.0, 3.5, 10.0, 50.0):
        np.testing.assert_allclose(special.zeta(s, X), sc.zeta(s, X), rtol=1e-13)
    assert special.zeta(4.0) == pytest.approx(np.pi**4 / 90, rel=1e-14)
    check_grads(special.zeta, (2.5, X), order=1)


@pytest.mark.parametrize("lmbda", [0.0, 1e-9, 0.5, -1.0])
def test_boxcox(lmbda):
    np.testing.assert_allclose(special.boxcox(X, lmbda), sc.boxcox(X, lmbda), atol=1e-15)
    np.testing.assert_allclose(special.boxcox1p(X, lmbda), sc.boxcox1p(X, lmbda), rtol=1e-14)
    check_grads(special.boxcox, (X, lmbda), order=1)


def test_slope_of_boxcox_at_zero():
    """Of (x**e - 1) / e it is log(x)**2 / 2."""
    assert grad(special.boxcox, 1)(3.0, 0.0) == pytest.approx(np.log(3) ** 2 / 2)


@pytest.mark.parametrize("repetition", [False, True])
def test_combinations(repetition):
    n, k = np.array([5.0, 5, 5, 3, 0, 4, 60]), np.array([2.0, 0, 6, 3, 0, -1, 30])
    made, known = (f(n, k, repetition=repetition) for f in (special.comb, sc.comb))
    known[4] = 1.0  # one way to choose nothing; SciPy before 1.17 finds none, with repetition
    np.testing.assert_allclose(made, known, rtol=1e-12)
    check_grads(lambda n: special.comb(n, 2.0), (n[:2],), order=1)


def test_factorials_and_signs():
    n = np.array([3.0, 4.5, 0.0, -2.0])
    np.testing.assert_allclose(special.factorial(n), sc.factorial(n))
    x = np.array([0.0, -0.0, 0.5, -0.5, -1.5, -2.0, 3.0, -3.0])
    np.testing.assert_array_equal(special.gammasgn(x), sc.gammasgn(x))
    with pytest.raises(ArgumentError, match=r"math\.factorial"):
        special.factorial(3, exact=True)


def test_bessel_functions():
    want = np.stack([sc.jv(k, X) for k in range(4)])
    np.testing.assert_allclose(special.bessel_jn(X, v=3), want)
    check_grads(lambda x: special.bessel_jn(x, v=2), (X,), order=1)


@pytest.mark.parametrize("name", ["fresnel", "sici"])
def test_integrals_in_pairs(name):
    made, want = getattr(special, name)(BOTH), getattr(sc, name)(BOTH)
    np.testing.assert_allclose(made[0], want[0], atol=1e-14)
    np.testing.assert_allclose(made[1], want[1], atol=1e-14)
    check_grads(getattr(special, name), (BOTH[3:],))
    check_grads(lambda x: getattr(special, name)(x)[0], (BOTH[:2],))


def test_derivatives_by_hand():
    x = np.array([0.4, 1.3])
    sines = vmap(grad(lambda x: special.fresnel(x)[0]))(x)
    np.testing.assert_allclose(sines, np.sin(np.pi * x**2 / 2), rtol=1e-12)
    np.testing.assert_allclose(
        vmap(grad(lambda x: special.sici(x)[1]))(x), np.cos(x) / x, rtol=1e-12
    )
    assert special.log_ndtr(-40.0, series_order=5) == sc.log_ndtr(-40.0)
    np.testing.assert_allclose(jit(special.gammaln)(x), sc.gammaln(x), rtol=1e-12)


def test_spherical_harmonics():
    n, m = np.array([(n, m) for n in range(6) for m in range(-7, 8)]).T
    for theta, phi in ((0.4, 2.0), (0.0, 1.0), (np.pi, 0.4), (2.9, 5.0)):
        want = sc.sph_harm_y(n, m, theta, phi)
        np.testing.assert_allclose(special.sph_harm_y(n, m, theta, phi), want, atol=1e-14)
    n, m, theta, phi = np.array([3, 0, 9]), np.array([-2, 0, 5]), np.full(3, 0.7), np.full(3, 1.1)
    want = sc.sph_harm_y(n, m, theta, phi)
    np.testing.assert_allclose(vmap(jit(special.sph_harm_y))(n, m, theta, phi), want)
    check_grads(lambda t, p: np.abs(special.sph_harm_y(n, m, t, p) + 1) ** 2, (theta, phi))


def test_names_of_jax():
    peer = jax_or_skip().scipy.special
    left_out = {"sph_harm_y"}
    assert {n for n in dir(peer) if n[0] != "_"} - left_out <= set(special.__all__)
