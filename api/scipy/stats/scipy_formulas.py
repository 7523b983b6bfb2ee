"""Makes distributions of SciPy, and those of users, differentiable by their own formulas.

A distribution is a class with `_pdf`, `_cdf`, `_ppf` and their like: plain NumPy code for the
standard form, which a staged run enters. Here stands what SciPy does around it: parameters, where
the density is 0, location and scale, and methods that follow from others.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.special as sc
from scipy.special import ndtr, owens_t
from scipy.stats import rv_continuous, rv_discrete

from tapeless.lax.solving import custom_root
from tapeless.scipy.stats.distribution_base import Family, log_probability
from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it

#: Formulas instead of SciPy's, which integrate in Python.
OURS: dict[tuple[str, str], Any] = {
    ("skewnorm", "_cdf"): lambda z, a: _clip_probability(ndtr(z) - 2 * owens_t(z, a)),
    ("skewnorm", "_sf"): lambda z, a: _clip_probability(ndtr(-z) + 2 * owens_t(z, a)),
}
#: Distributions of SciPy without formulas of this kind: theirs go over elements in Python.
BY_ELEMENTS = frozenset(
    {"kappa4_gen", "nchypergeom_fisher_gen", "nchypergeom_wallenius_gen", "norminvgauss_gen"}
    | {"poisson_binom_gen", "rv_sample"}
)
for _name in ("invgauss", "wald"):
    OURS |= {(_name, "_ppf"): lambda q, mu=1.0: _wald_quantile(q, mu)}
DOUBLINGS, HALVINGS = 60, 110  # of an interval that holds a quantile


@dataclass(frozen=True, eq=False, repr=False)
class OfSciPy(Family):
    """What distributions with a density and those of integers have in common."""

    dist: Any
    by_lines: bool = False  # whether formulas get all operands as lines of one length, as in SciPy
    base: ClassVar[Any] = object  # whose methods have no formulas

    def has(self, name: str) -> bool:
        """Whether the distribution has a formula of this name, such as "_cdf"."""
        if (self.name, name) in OURS:
            return True
        return getattr(type(self.dist), name, None) is not getattr(self.base, name, None)

    def formula(self, name: str) -> Any:
        if (ours := OURS.get((self.name, name))) is not None:
            return ours
        if not self.has(name):
            raise UnsupportedError(
                f"scipy.stats.{self.name} has no formula of its {name.strip('_')}",
                "compute it from the density",
            )
        formula = getattr(self.dist, name)
        return functools.partial(_by_lines, formula) if self.by_lines else formula

    def ends(self, shapes: Any) -> tuple[Any, Any]:
        """Where the standard distribution lives."""
        if self.has("_get_support"):
            return self.dist._get_support(*shapes)  # type: ignore[no-any-return]
        return self.dist.a, self.dist.b

    def holds(self, shapes: Any, scale: Any = 1) -> Any:
        """Whether parameters are in their domain; elsewhere results are nan."""
        holds = np.asarray(scale) > 0
        if self.has("_argcheck"):
            return holds & (np.asarray(self.dist._argcheck(*shapes)) == 1)
        for shape in shapes:
            holds = holds & (np.asarray(shape) > 0)
        return holds

    def split(self, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
        """The shapes, location and scale."""
        shapes, (loc, *scale) = self.parameters(args, kwargs)
        return shapes, loc, scale[0] if scale else 1

    def where_probable(
        self, formula: Any, z: Any, shapes: Any, below: Any, above: Any, ends: bool, whole: bool
    ) -> Any:
        """A formula inside of the support, constants before and behind; `ends`: it is taken at the
        ends, too; `whole`: for whole numbers only."""
        low, high = self.ends(shapes)
        before = z < low if ends else z <= low
        behind = z > high if ends else z >= high
        inside = ~(before | behind) & (z == z)
        if whole:
            inside = inside & (np.floor(z) == z)
        value = formula(np.where(inside, z, _number_between(low, high)), *shapes)
        outside = np.where(before, below, np.where(behind, above, below))
        return np.where(inside, value, np.where(z == z, outside, np.nan))

    def moments(self, args: Any, kwargs: Any) -> list[Any]:
        """Mean, variance, skewness and excess kurtosis of the standard form, by SciPy's formulas;
        None for the last two where there is none."""
        shapes, _, scale = self.split(args, kwargs)
        valid = self.holds(shapes, scale)
        rows = [np.ravel(np.asarray(s, float) + np.zeros(valid.shape)) for s in shapes]
        parts: list[Any] = [None] * 4
        if self.has("_stats"):
            options = {"moments": "mvsk"} if self.dist._stats_has_moments else {}
            parts = list(self.dist._stats(*rows, **options))
        if parts[0] is None:
            parts[0] = self.formula("_munp")(1, *rows)
        if parts[1] is None:
            parts[1] = self.formula("_munp")(2, *rows) - parts[0] ** 2
        count = np.zeros(valid.size)
        return [
            part if part is None else np.where(valid, np.reshape(part + count, valid.shape), np.nan)
            for part in parts
        ]

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """The expected value."""
        _, loc, scale = self.split(args, kwargs)
        return _number(self.moments(args, kwargs)[0] * scale + loc)

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """The variance."""
        _, _, scale = self.split(args, kwargs)
        return _number(self.moments(args, kwargs)[1] * scale * scale)

    def std(self, *args: Any, **kwargs: Any) -> Any:
        """The square root of the variance."""
        return np.sqrt(self.var(*args, **kwargs))

    def stats(self, *args: Any, moments: str = "mv", **kwargs: Any) -> Any:
        """Mean, variance, skewness and excess kurtosis, as far as `moments` names them."""
        _, loc, scale = self.split(args, kwargs)
        mean, variance, *higher = self.moments(args, kwargs)
        moment_by_letter = {"m": mean * scale + loc, "v": variance * scale * scale}
        moment_by_letter |= {"s": higher[0], "k": higher[1]}
        values = [moment_by_letter[name] for name in moments]
        if any(value is None for value in values):
            raise UnsupportedError(
                f"scipy.stats.{self.name} has no formula of its moments {moments!r}",
                "integrate with scipy.integrate.quad",
            )
        return tuple(map(_number, values)) if len(values) > 1 else _number(values[0])

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """The expected value of minus the logarithm of the density."""
        shapes, _, scale = self.split(args, kwargs)
        entropy = self.formula("_entropy")(*shapes) + np.log(scale)
        return _number(np.where(self.holds(shapes, scale), entropy, np.nan))

    def median(self, *args: Any, **kwargs: Any) -> Any:
        """The quantile of 1/2."""
        return self.ppf(0.5, *args, **kwargs)  # type: ignore[attr-defined]

    def interval(self, confidence: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The ends of an interval around the median with this probability."""
        low, high = (1 - confidence) / 2, (1 + confidence) / 2
        return self.ppf(low, *args, **kwargs), self.ppf(high, *args, **kwargs)  # type: ignore[attr-defined]

    def bounds(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The ends of where the distribution lives."""
        shapes, loc, scale = self.split(args, kwargs)
        low, high = self.ends(shapes)
        return low * scale + loc, high * scale + loc

    def expect(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(
            "expect of a distribution, an integral with the steps of a routine in Fortran",
            "integrate with scipy.integrate.quad",
        )


@dataclass(frozen=True, eq=False, repr=False)
class WithDensity(OfSciPy):
    """The methods of a distribution with a density, by its formulas."""

    base: ClassVar[Any] = rv_continuous
    moved: ClassVar[tuple[tuple[str, int], ...]] = (("loc", 0), ("scale", 1))
    closed: bool = True  # whether the density is taken at the ends of the support

    def evaluate_at(
        self,
        formula: Any,
        x: Any,
        args: Any,
        kwargs: Any,
        below: Any = 0.0,
        above: Any = 1.0,
        ends: bool = False,
    ) -> Any:
        """A formula at (x - loc) / scale; nan for parameters that are none."""
        shapes, loc, scale = self.split(args, kwargs)
        z = (np.asarray(x) - loc) / scale
        value = self.where_probable(formula, z, shapes, below, above, ends, False)
        return _number(np.where(self.holds(shapes, scale), value, np.nan))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The density at x."""
        _, _, scale = self.split(args, kwargs)
        return self.evaluate_at(self.density, x, args, kwargs, 0.0, 0.0, self.closed) / scale

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the density at x."""
        _, _, scale = self.split(args, kwargs)
        value = self.evaluate_at(self.log_density, x, args, kwargs, -np.inf, -np.inf, self.closed)
        return value - np.log(scale)

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is below x."""
        return self.evaluate_at(self.probability_below, x, args, kwargs)

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is above x."""
        return self.evaluate_at(self.probability_above, x, args, kwargs, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `cdf`."""
        return self.evaluate_at(self.log_below, x, args, kwargs, -np.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `sf`."""
        return self.evaluate_at(self.log_above, x, args, kwargs, 0.0, -np.inf)

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The x below which lies the probability q."""
        return self.quantile_at(self.quantile, q, args, kwargs, False)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The x above which lies the probability q."""
        return self.quantile_at(self.upper_quantile, q, args, kwargs, True)

    def quantile_at(self, formula: Any, q: Any, args: Any, kwargs: Any, upper: bool) -> Any:
        """The ends of the support at 0 and 1, nan for what is no probability."""
        shapes, loc, scale = self.split(args, kwargs)
        q = np.asarray(q)
        low, high = self.ends(shapes)
        first, last = (high, low) if upper else (low, high)
        inside = (q > 0) & (q < 1)
        value = formula(np.where(inside, q, 0.5), *shapes)
        ends = np.where(q == 0, first, np.where(q == 1, last, np.nan))
        value = np.where(inside, value, ends) * scale + loc
        return _number(np.where(self.holds(shapes, scale), value, np.nan))

    # -- formulas of the standard form, by others where SciPy has none

    def density(self, z: Any, *shapes: Any) -> Any:
        if self.has("_pdf"):
            return self.formula("_pdf")(z, *shapes)
        return np.exp(self.formula("_logpdf")(z, *shapes))

    def log_density(self, z: Any, *shapes: Any) -> Any:
        if self.has("_logpdf"):
            return self.formula("_logpdf")(z, *shapes)
        return _log(self.density(z, *shapes))

    def probability_below(self, z: Any, *shapes: Any) -> Any:
        if not self.has("_cdf") and self.has("_sf"):
            return 1.0 - self.formula("_sf")(z, *shapes)
        return self.formula("_cdf")(z, *shapes)

    def probability_above(self, z: Any, *shapes: Any) -> Any:
        return (
            self.formula("_sf")(z, *shapes)
            if self.has("_sf")
            else 1.0 - self.probability_below(z, *shapes)
        )

    def log_below(self, z: Any, *shapes: Any) -> Any:
        if self.has("_logcdf"):
            return self.formula("_logcdf")(z, *shapes)
        return log_probability(
            self.probability_below(z, *shapes), self.probability_above(z, *shapes)
        )

    def log_above(self, z: Any, *shapes: Any) -> Any:
        if self.has("_logsf"):
            return self.formula("_logsf")(z, *shapes)
        return log_probability(
            self.probability_above(z, *shapes), self.probability_below(z, *shapes)
        )

    def quantile(self, q: Any, *shapes: Any) -> Any:
        if self.has("_ppf"):
            return self.formula("_ppf")(q, *shapes)
        return self.quantile_by_bisection(q, shapes)

    def upper_quantile(self, q: Any, *shapes: Any) -> Any:
        if self.has("_isf") and (self.name, "_ppf") not in OURS:
            return self.formula("_isf")(q, *shapes)
        return self.quantile(1.0 - q, *shapes)

    def quantile_by_bisection(self, q: Any, shapes: Any) -> Any:
        """A quantile, by halving an interval that holds it; its derivative is that of the implicit
        function."""
        low, high = self.ends(shapes)
        start = np.zeros(np.broadcast_shapes(*map(np.shape, (q, low, high, *shapes))))

        def missing(z: Any) -> Any:
            return self.probability_below(z, *shapes) - q

        def solve(missing: Any, start: Any) -> Any:
            return _bisect(missing, start + low, start + high)

        return custom_root(missing, start, solve, lambda slope, y: y / slope(np.ones_like(y)))


@dataclass(frozen=True, eq=False, repr=False)
class OfIntegers(OfSciPy):
    """The methods of a distribution of integers, by its formulas."""

    base: ClassVar[Any] = rv_discrete
    moved: ClassVar[tuple[tuple[str, int], ...]] = (("loc", 0),)

    def evaluate_at(
        self,
        formula: Any,
        k: Any,
        args: Any,
        kwargs: Any,
        below: Any = 0.0,
        above: Any = 1.0,
        whole: bool = False,
    ) -> Any:
        shapes, loc, _ = self.split(args, kwargs)
        z = 1.0 * (np.asarray(k) - loc)
        z = z if whole else np.floor(z)
        low, high = self.ends(shapes)
        if whole:
            value = self.where_probable(formula, z, shapes, below, above, True, True)
        else:
            inside = (z >= low) & (z < high)
            value = formula(np.where(inside, z, np.where(np.isfinite(low), low, 0.0)), *shapes)
            outside = np.where(z >= high, above, np.where(z == z, below, np.nan))
            value = np.where(inside, value, outside)
        return _number(np.where(self.holds(shapes), value, np.nan))

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of k."""
        return self.evaluate_at(self.mass, k, args, kwargs, 0.0, 0.0, whole=True)

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the probability of k."""
        return self.evaluate_at(self.log_mass, k, args, kwargs, -np.inf, -np.inf, whole=True)

    def cdf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of k and what is below."""
        return self.evaluate_at(self.probability_below, k, args, kwargs)

    def sf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is above k."""
        return self.evaluate_at(self.probability_above, k, args, kwargs, 1.0, 0.0)

    def logcdf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `cdf`."""
        return self.evaluate_at(
            lambda z, *s: _log(self.probability_below(z, *s)), k, args, kwargs, -np.inf, 0.0
        )

    def logsf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `sf`."""
        return self.evaluate_at(
            lambda z, *s: _log(self.probability_above(z, *s)), k, args, kwargs, 0.0, -np.inf
        )

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The least k whose `cdf` is q or more."""
        shapes, loc, _ = self.split(args, kwargs)
        q = np.asarray(q)
        low, high = self.ends(shapes)
        inside = (q > 0) & (q < 1)
        value = self.formula("_ppf")(np.where(inside, q, 0.5), *shapes)
        ends = np.where(q == 0, low - 1.0, np.where(q == 1, high, np.nan))
        value = np.where(inside, value, ends) + loc
        return _number(np.where(self.holds(shapes), value, np.nan))

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The least k above which lies the probability q or less."""
        return self.ppf(1 - np.asarray(q), *args, **kwargs)

    def mass(self, k: Any, *shapes: Any) -> Any:
        if self.has("_pmf"):
            return self.dist._pmf(k, *shapes)
        return np.exp(self.formula("_logpmf")(k, *shapes))

    def log_mass(self, k: Any, *shapes: Any) -> Any:
        if self.has("_logpmf"):
            return self.dist._logpmf(k, *shapes)
        return _log(self.mass(k, *shapes))

    def probability_below(self, k: Any, *shapes: Any) -> Any:
        return self.formula("_cdf")(k, *shapes)

    def probability_above(self, k: Any, *shapes: Any) -> Any:
        return (
            self.formula("_sf")(k, *shapes)
            if self.has("_sf")
            else 1.0 - self.probability_below(k, *shapes)
        )


def family(dist: Any) -> OfSciPy | None:
    """The methods of a distribution of SciPy's, or of a user's subclass, by its formulas; None for
    other objects."""
    shapes = tuple(s.strip() for s in (getattr(dist, "shapes", None) or "").split(",") if s)
    if type(dist).__name__ in BY_ELEMENTS:
        return None
    by_lines = not type(dist).__module__.startswith("scipy.")
    if isinstance(dist, rv_continuous):
        closed = type(dist)._support_mask is not rv_continuous._open_support_mask
        return WithDensity(dist.name, shapes, None, 0.0, dist, by_lines, closed)
    if isinstance(dist, rv_discrete):
        return OfIntegers(dist.name, shapes, None, 0.0, dist, by_lines)
    return None


def _by_lines(formula: Any, *operands: Any) -> Any:
    arrays = np.broadcast_arrays(*operands)
    shape = arrays[0].shape
    return np.reshape(formula(*map(np.ravel, arrays)), shape)


def _number(value: Any) -> Any:
    """An array without axes as a number, as SciPy gives it."""
    value = np.asarray(value)
    return value if value.ndim else value[()]


def _wald_quantile(q: Any, mu: Any) -> Any:
    lower = sc._ufuncs._invgauss_ppf(q, mu, 1.0)
    return np.where(q > 0.5, sc._ufuncs._invgauss_isf(1 - q, mu, 1.0), lower)


def _clip_probability(p: Any) -> Any:
    return np.clip(p, 0.0, 1.0)


def _log(p: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(p)


def _number_between(low: Any, high: Any) -> Any:
    """A number between two ends, which may be infinite, where formulas have no kink."""
    begins, ends = np.isfinite(low), np.isfinite(high)
    start, stop = np.where(begins, low, 0.0), np.where(ends, high, 0.0)
    one_end = np.where(begins, start + 1.0, np.where(ends, stop - 1.0, 0.3))
    return np.where(begins & ends, start + 0.4 * (stop - start), one_end)


def _bisect(missing: Any, low: Any, high: Any) -> Any:
    """The root of a growing function between two ends, which may be infinite."""
    open_low, open_high = ~np.isfinite(low), ~np.isfinite(high)
    a = np.where(open_low, np.where(open_high, -1.0, high - 1.0), low)
    b = np.where(open_high, np.where(open_low, 1.0, low + 1.0), high)
    anchor = np.where(open_low, np.where(open_high, 0.0, high), low)
    for _ in range(DOUBLINGS):
        a = np.where(open_low & (missing(a) > 0), anchor + 2 * (a - anchor), a)
        b = np.where(open_high & (missing(b) < 0), anchor + 2 * (b - anchor), b)
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        less = missing(middle) < 0
        a, b = np.where(less, middle, a), np.where(less, b, middle)
    return (a + b) / 2
