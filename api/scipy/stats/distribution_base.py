"""Implements what distributions have in common: shapes, location and scale, and methods made of
others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it

Formula = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Family:
    """A distribution by its formulas, which are functions of x and the shapes.

    support  the shapes to the ends of where the distribution lives; None: everywhere
    within   a number at which the formulas can be computed
    """

    name: str
    shapes: tuple[str, ...]
    support: Formula | None
    within: float

    #: What follows the shapes in a call, with its default.
    moved: ClassVar[tuple[tuple[str, int], ...]] = (("loc", 0),)

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def parameters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """The shapes, and location and scale."""
        names = (*self.shapes, *(name for name, _ in self.moved))
        named = dict(self.moved) | dict(zip(names, args, strict=False)) | kwargs
        wrong = [n for n in named if n not in names] + [n for n in names if n not in named]
        if wrong or len(args) > len(names):
            raise ArgumentTypeError(
                f"{self.name} takes x, {', '.join(names)}; "
                + (f"{wrong[0]} is missing or not known" if wrong else "more were given")
            )
        return [named[n] for n in self.shapes], [named[n] for n, _ in self.moved]

    def value(
        self, formula: Formula, x: Any, shapes: list[Any], before: float, behind: float
    ) -> Any:
        """A formula where the distribution lives, and constants before and behind."""
        if self.support is None:
            return formula(x, *shapes)
        low, high = self.support(*shapes)
        below, above = x < low, x > high
        inside = formula(np.where(below | above, self.within, x), *shapes)
        return np.where(below, before, np.where(above, behind, inside))

    def need(self, formula: Formula | None, what: str) -> Formula:
        if formula is None:
            raise UnsupportedError(f"{self.name} has no {what} here", "compute it from the density")
        return formula


@dataclass(frozen=True, eq=False, repr=False)
class Continuous(Family):
    """A distribution with a density.

    Its methods take x (or a probability q), the shapes, `loc=0` and `scale=1`, which broadcast, and
    are differentiable in all of them where SciPy's functions are. All raise TypeError for
    parameters that are missing or not known, and NotImplementedError where there is no formula.

    >>> from tapeless.scipy.stats import norm
    >>> float(norm.cdf(1.0).round(4)), float(norm.ppf(0.5, loc=3.0))
    (0.8413, 3.0)
    """

    log_density: Formula
    below: Formula | None = None  # the probability of less than x
    above: Formula | None = None
    log_below: Formula | None = None
    log_above: Formula | None = None
    quantile: Formula | None = None
    upper_quantile: Formula | None = None
    total: bool = False  # whether quantiles are right for what is no probability, too

    moved = (("loc", 0), ("scale", 1))

    def standard(
        self, formula: Formula, x: Any, args: Any, kwargs: Any, before: float, behind: float
    ) -> Any:
        """A formula at (x - loc) / scale."""
        shapes, (loc, scale) = self.parameters(args, kwargs)
        return self.value(formula, (x - loc) / scale, shapes, before, behind)

    @follow_arguments
    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the density at x; -inf where it is 0."""
        _, (_, scale) = self.parameters(args, kwargs)
        log_density = self.standard(self.log_density, x, args, kwargs, -np.inf, -np.inf)
        return log_density - np.log(scale)

    @follow_arguments
    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The density at x."""
        return np.exp(self.logpdf(x, *args, **kwargs))

    @follow_arguments
    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is below x."""
        return self.standard(self.need(self.below, "cdf"), x, args, kwargs, 0.0, 1.0)

    @follow_arguments
    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is above x."""
        if self.above is None:
            return 1 - self.cdf(x, *args, **kwargs)
        return self.standard(self.above, x, args, kwargs, 1.0, 0.0)

    @follow_arguments
    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `cdf`."""
        if self.log_below is None:
            return log_probability(self.cdf(x, *args, **kwargs), self.sf(x, *args, **kwargs))
        return self.standard(self.log_below, x, args, kwargs, -np.inf, 0.0)

    @follow_arguments
    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of `sf`."""
        if self.log_above is None:
            return log_probability(self.sf(x, *args, **kwargs), self.cdf(x, *args, **kwargs))
        return self.standard(self.log_above, x, args, kwargs, 0.0, -np.inf)

    @follow_arguments
    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The x below which lies the probability q."""
        shapes, (loc, scale) = self.parameters(args, kwargs)
        return self.at_probability(self.need(self.quantile, "ppf"), q, shapes, 0) * scale + loc

    @follow_arguments
    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The x above which lies the probability q."""
        shapes, (loc, scale) = self.parameters(args, kwargs)
        if self.upper_quantile is None:
            return self.ppf(1 - q, *args, **kwargs)
        return self.at_probability(self.upper_quantile, q, shapes, 1) * scale + loc

    def at_probability(self, formula: Formula, q: Any, shapes: list[Any], first: int) -> Any:
        """A quantile: the end of the support numbered `first` at 0, the other at 1; nan for what
        is no probability."""
        if self.total:
            return formula(q, *shapes)
        ends = (-np.inf, np.inf) if self.support is None else self.support(*shapes)
        inside = (q > 0) & (q < 1)
        outside = np.where(q == 0, ends[first], np.where(q == 1, ends[1 - first], np.nan))
        return np.where(inside, formula(np.where(inside, q, 0.5), *shapes), outside)


@dataclass(frozen=True, eq=False, repr=False)
class Discrete(Family):
    """A distribution of integers.

    Its methods take k, the shapes and `loc=0`, which broadcast. Errors are those of `Continuous`.

    >>> from tapeless.scipy.stats import poisson
    >>> float(poisson.pmf(0, 2.0).round(4))
    0.1353
    """

    log_mass: Formula
    below: Formula | None = None
    quantile: Formula | None = None
    uncertainty: Formula | None = None

    @follow_arguments
    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the probability of k; -inf where it is 0."""
        shapes, (loc,) = self.parameters(args, kwargs)
        return self.value(self.log_mass, 1.0 * (k - loc), shapes, -np.inf, -np.inf)

    @follow_arguments
    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of k."""
        return np.exp(self.logpmf(k, *args, **kwargs))

    @follow_arguments
    def cdf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of k and what is below."""
        shapes, (loc,) = self.parameters(args, kwargs)
        below = self.need(self.below, "cdf")
        return self.value(below, np.floor(k - loc), shapes, 0.0, 1.0)

    @follow_arguments
    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The least k whose `cdf` is q or more; nan where q is no probability."""
        shapes, (loc,) = self.parameters(args, kwargs)
        quantile = self.need(self.quantile, "ppf")(q, *shapes) + loc
        return np.where((q >= 0) & (q <= 1), quantile, np.nan)

    @follow_arguments
    def entropy(self, /, *args: Any, **kwargs: Any) -> Any:
        """The expected value of -logpmf."""
        shapes, _ = self.parameters(args, kwargs)
        return self.need(self.uncertainty, "entropy")(*shapes)


def log_probability(p: Any, rest: Any) -> Any:
    """The logarithm of a probability, of which 1 - p is known too: all digits also near 1."""
    small = np.log(np.where(p > 0, p, 1))
    near_one = np.log1p(-np.where(p > 0.5, rest, 0))
    none = np.where(np.isnan(p), np.nan, -np.inf)
    return np.where(p > 0.5, near_one, np.where(p > 0, small, none))
