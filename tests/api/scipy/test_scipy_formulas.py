"""Distributions of SciPy by their own formulas: values are SciPy's, slopes those of differences.

A sample runs here; `python -m tests.api.scipy.test_scipy_formulas` runs all distributions.
"""

import sys

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError

stats = pytest.importorskip("scipy.stats", reason="SciPy is optional")
from scipy.stats import _distr_params  # noqa: E402 (SciPy is optional)

from tapeless.scipy.stats.scipy_replacements import method  # noqa: E402 (SciPy is optional)

SAMPLE = [
    "t",
    "f",
    "lognorm",
    "weibull_min",
    "triang",
    "genextreme",
    "skewnorm",
    "foldnorm",
    "ncx2",
]
COUNTS = ["hypergeom", "zipf", "logser", "planck", "skellam", "betabinom", "nbinom"]
OF_X = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
OF_Q = ("ppf", "isf")
OF_NONE = ("mean", "var", "std", "entropy")
Q, H = np.array([0.2, 0.57, 0.71]), 1e-4
#: Where derivatives by a parameter have no formula: first, of all by name.
REFUSED = {"nct": {1, 2}, "ncx2": {1}, "f": set()}


def parameters(name, listed=_distr_params.distcont):
    return next(tuple(map(float, args)) for n, args in listed if n == name)


def available(dist, methods, args):
    """The methods that SciPy has a formula for."""
    return [m for m in methods if _has(method(dist, m), m, args)]


def _has(method, name, args):
    if method is None:
        return False
    try:
        method(*args) if name in OF_NONE else method(Q, *args)
    except UnsupportedError:
        return False
    return True


def check(name):
    dist, shapes = getattr(stats, name), parameters(name)
    args = (*shapes, 0.4, 1.3)
    x = dist.ppf(Q, *args)
    ends = np.array([-300.0, 300.0, np.nan, *dist.support(*args)])
    ends = np.where(np.isfinite(ends), ends, np.nan)
    of_x, of_q = (available(dist, methods, args) for methods in (OF_X, OF_Q))
    if not of_x:
        raise UnsupportedError(f"scipy.stats.{name} has no formulas", "none")

    def values(x, q, *args):
        rows = [getattr(dist, m)(x, *args) for m in of_x]
        return np.stack(rows + [getattr(dist, m)(q, *args) for m in of_q])

    with np.errstate(all="ignore"):
        for at, q in (
            (x, Q),
            (np.array([*ends, x[0]]), np.array([0.0, 1.0, -1.0, 2.0, np.nan, 0.5])),
        ):
            expected = values(at, q, *args)
            np.testing.assert_allclose(tapeless.jit(values)(at, q, *args), expected, rtol=1e-8)
    weights = np.cos(np.arange(values(x, Q, *args).size)).reshape(values(x, Q, *args).shape)

    def total(*operands):
        return np.sum(weights * values(*operands))

    for k in range(len(args) + 2):
        if k - 1 in REFUSED.get(name, ()):
            continue
        operands = (x, Q, *args)
        slope = tapeless.grad(total, argnums=k)(*operands)

        def moved(step, k=k, operands=operands):
            return total(*operands[:k], operands[k] + step, *operands[k + 1 :])

        expected = (8 * (moved(H) - moved(-H)) - (moved(2 * H) - moved(-2 * H))) / (12 * H)
        np.testing.assert_allclose(
            np.sum(slope), expected, rtol=2e-5, atol=1e-6, err_msg=f"{name} {k}"
        )


@pytest.mark.parametrize("name", SAMPLE)
def test_methods(name):
    check(name)


@pytest.mark.parametrize("name", ["lognorm", "weibull_min", "gamma", "t", "beta", "gumbel_r"])
def test_moments(name):
    dist, args = getattr(stats, name), (*parameters(name), 0.4, 1.3)

    def moments(*args):
        return np.stack([getattr(dist, m)(*args) for m in OF_NONE] + [dist.median(*args)])

    np.testing.assert_allclose(tapeless.jit(moments)(*args), moments(*args), rtol=1e-10)
    for k in range(len(args)):
        slope = tapeless.jacfwd(moments, argnums=k)(*args)
        h = 1e-5
        near = [moments(*args[:k], args[k] + s * h, *args[k + 1 :]) for s in (1, -1)]
        np.testing.assert_allclose(slope, (near[0] - near[1]) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    dist = getattr(stats, name)
    args = next(args for n, args in _distr_params.distdiscrete if n == name)
    k = np.array([-3.0, 0.0, 1.0, 2.0, 7.0, 300.0])
    methods = [m for m in ("pmf", "logpmf", "cdf", "sf") if _is_known(dist, m, k, args)]
    assert "pmf" in methods

    def values(k, *args):
        return np.stack([getattr(dist, m)(k, *args, 1) for m in methods])

    with np.errstate(all="ignore"):
        expected = values(k, *args)
    np.testing.assert_allclose(tapeless.jit(values)(k, *args), expected, rtol=1e-9)


def test_only_whole_numbers_have_a_probability():
    k = np.array([1.0, 1.5, 2.0])
    for dist, args in ((stats.betabinom, (5, 2.3, 0.6)), (stats.poisson, (2.0,))):
        got = tapeless.jit(lambda k, dist=dist, args=args: dist.pmf(k, *args))(k)
        np.testing.assert_allclose(got, dist.pmf(k, *args), rtol=1e-12)
        assert got[1] == 0


def _is_known(dist, method, k, args):
    try:
        tapeless.jit(lambda k: getattr(dist, method)(k, *args))(k)
    except UnsupportedError:
        return False
    return True


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    x = np.array([0.3, 1.2, 0.7], dtype)

    def density(x):
        return stats.weibull_min.pdf(x, 1.5) + stats.lognorm.cdf(x, 0.7)

    got = tapeless.jit(density)(x)
    np.testing.assert_allclose(got, density(x), rtol=1e-6)


def test_batches():
    rows = np.array([[0.3, 1.2], [0.7, 2.0]])

    def density(x):
        return stats.lognorm(0.7, scale=x[0]).logpdf(x) + stats.foldnorm.ppf(x / 4, 0.5)

    np.testing.assert_allclose(tapeless.vmap(density)(rows), [density(x) for x in rows], rtol=1e-9)


def test_parameters_out_of_their_domain_give_nan():
    def density(a, scale):
        return stats.weibull_min.pdf(0.5, a, scale=scale)

    with np.errstate(divide="ignore", invalid="ignore"):
        for args in ((-1.0, 1.0), (1.0, -1.0), (1.0, 0.0)):
            assert np.isnan(density(*args))
            assert np.isnan(tapeless.jit(density)(*args))


def test_a_quantile_without_a_formula_is_solved_for_to_any_order():
    def quantile(q, c):
        return stats.foldnorm.ppf(q, c)

    q, c, h = 0.3, 1.2, 1e-4
    assert tapeless.jit(quantile)(q, c) == pytest.approx(quantile(q, c), rel=1e-10)
    slope, second = tapeless.grad(quantile), tapeless.grad(tapeless.grad(quantile))
    near = quantile(q + h, c) - quantile(q - h, c)
    assert slope(q, c) == pytest.approx(near / (2 * h), rel=1e-6)
    assert second(q, c) == pytest.approx((slope(q + h, c) - slope(q - h, c)) / (2 * h), rel=1e-6)
    of_shape = tapeless.grad(quantile, argnums=1)(q, c)
    assert of_shape == pytest.approx((quantile(q, c + h) - quantile(q, c - h)) / (2 * h), rel=1e-6)


class Sloped(stats.rv_continuous):
    """A density that grows from 0 to 1, written by a user."""

    def _pdf(self, x, a):
        return (1 + a) * x**a

    def _cdf(self, x, a):
        return x ** (1 + a)


SLOPED = Sloped(a=0.0, b=1.0, name="sloped", shapes="a")


def test_a_distribution_of_the_user():
    def total(x, a):
        frozen = SLOPED(a, scale=2.0)
        return SLOPED.logpdf(x, a, 0.1) + frozen.pdf(x) + SLOPED.sf(x, a) + frozen.ppf(x)

    x, a, h = 0.4, 1.5, 1e-6
    assert tapeless.jit(total)(x, a) == pytest.approx(total(x, a), rel=1e-10)
    slope = tapeless.grad(total, argnums=1)(x, a)
    assert slope == pytest.approx((total(x, a + h) - total(x, a - h)) / (2 * h), rel=1e-5)


def test_the_ends_of_the_support():
    def width(c, scale):
        low, high = stats.truncexpon.support(c, 0.5, scale)
        return low + 2 * high

    assert tapeless.jit(width)(1.5, 2.0) == pytest.approx(width(1.5, 2.0))
    assert tapeless.grad(width, argnums=1)(1.5, 2.0) == pytest.approx(3.0)


def test_fixed_parameters_of_outside():
    frozen = stats.weibull_min(1.5, scale=2.0)

    def total(x):
        return np.sum(frozen.logpdf(x)) + frozen.mean() + frozen.ppf(0.3) + frozen.std()

    x = np.array([0.3, 1.2])
    assert tapeless.jit(total)(x) == pytest.approx(total(x), rel=1e-12)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: stats.levy_stable.pdf(x, 1.5, 0.3), "no rule"),
        (lambda x: stats.gausshyper.cdf(x, 1.0, 2.0, 3.0, 0.5), "no formula of its cdf"),
        (lambda x: stats.argus.entropy(x), "no formula of its entropy"),
        (lambda x: stats.lognorm.expect(lambda z: z, args=(x,)), "quad"),
    ],
)
def test_what_has_no_formula_says_so(function, match):
    with pytest.raises(UnsupportedError, match=match):
        tapeless.jit(function)(0.5)


def run_all():
    """Prints what does not hold, of all distributions with a density."""
    for name in sorted({n for n, _ in _distr_params.distcont if isinstance(n, str)}):
        try:
            check(name)
            verdict = "right"
        except (NotDifferentiableError, UnsupportedError) as e:
            verdict = f"refused: {str(e).splitlines()[0]}"
        except AssertionError as e:
            verdict = f"WRONG: {e}"
        sys.stdout.write(f"{name} {verdict}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run_all())
