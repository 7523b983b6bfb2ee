"""Reductions, cumulative operations, statistics."""

import numpy as np

from tests.transforms.ops.cases import case, flags, integers, normal, positive, stepped

HOLES = np.array([[0.3, np.nan, 1.2], [np.nan, -0.7, 0.4]])


def axes(f, make, *more):
    """A reduction over every kind of axes."""
    return [
        case(f, make(2, 3), *more),
        case(f, make(2, 3), *more, axis=0),
        case(f, make(2, 3), *more, axis=-1, keepdims=True),
        case(f, make(4), *more),
        case(f, make(2, 1, 3), *more, axis=(0, 2), second=False),
        case(f, make(2, 1, 3), *more, axis=(1, -1), keepdims=True, second=False),
        case(f, make(2, 3), *more, axis=(), second=False),
    ]


def along(f, make):
    return [case(f, make(2, 3)), case(f, make(2, 3), axis=0), case(f, make(4), axis=-1)]


CASES = [
    *(case(f, normal()) for f in (np.count_nonzero, np.any, np.all)),
    case(np.count_nonzero, integers(3), axis=()),
    *(
        case(np.quantile, stepped(5), np.array([0.27, 0.61]), method=method)
        for method in ("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased")
    ),
    *(
        case(lambda x, m=method: np.percentile(x, 37, method=m, axis=1), stepped(2, 5))
        for method in ("lower", "higher", "nearest", "midpoint", "interpolated_inverted_cdf")
    ),
    case(np.quantile, stepped(2, 3, 2), np.array([[0.2], [0.7]]), axis=(0, 2)),
    case(lambda x, q: np.quantile(x, q, axis=0, keepdims=True), stepped(4, 2), 0.35),
    case(lambda x: np.quantile(x, np.array([0.1, 0.5])), integers(5)),
    case(lambda x: np.quantile(x, 0.3, method="higher"), integers(5)),
    case(lambda k: np.quantile(HOLES[0][k], np.array([0.1, 0.5])), np.array([2, 0, 1])),
    case(np.sum, integers(3).astype(np.int8), dtype=np.int8),
    case(np.cumsum, integers(3).astype(np.int8), dtype=np.int8),
    *(each for f in (np.sum, np.mean, np.prod) for each in axes(f, normal)),
    *(each for f in (np.max, np.min, np.ptp, np.median) for each in axes(f, stepped)[:6]),
    *(each for f in (np.var, np.std) for each in axes(f, normal)[:6]),
    *(case(f, integers(2, 3), axis=0) for f in (np.sum, np.prod, np.max, np.var, np.mean)),
    *(case(f, flags(2, 3)) for f in (np.sum, np.any, np.all, np.mean, np.count_nonzero)),
    *(case(f, flags(2, 3), axis=1) for f in (np.any, np.all, np.count_nonzero)),
    *(case(f, stepped(2, 3), axis=1) for f in (np.amax, np.amin)),
    *(case(f, normal(0)) for f in (np.sum, np.prod)),
    *(case(f, normal(0, 3), axis=0) for f in (np.sum, np.prod)),
    *(case(f, float(normal())) for f in (np.sum, np.mean, np.max, np.prod)),
    case(np.sum, integers(2, 3), axis=0, dtype=np.float32),
    case(np.sum, normal(3), initial=2.0),
    case(np.sum, normal(3), where=np.array([True, False, True])),
    *(
        case(f, normal(2, 3), where=np.array([True, False, True]), **more)
        for f in (np.mean, np.var, np.std)
        for more in ({}, {"axis": 1}, {"axis": 1, "keepdims": True})
    ),
    case(np.var, normal(3), where=np.array([True, False, True]), ddof=1),
    case(np.max, normal(2, 3), axis=1, initial=-9.0, where=np.array([True, False, True])),
    case(np.min, integers(4), initial=50, where=np.array([True, False, True, True])),
    case(np.prod, normal(3), initial=2.0, where=np.array([True, False, True])),
    case(np.max, stepped(3), initial=0.3),
    case(np.min, stepped(2, 3), axis=1, initial=0.38),
    case(np.prod, np.array([[0.0, 2.0, 3.0], [0.0, 1.5, 0.0]]), axis=1, second=False),
    case(np.var, normal(2, 4), axis=1, ddof=1),
    *(case(f, normal(2, 3), axis=()) for f in (np.var, np.std)),
    case(np.std, normal(2, 4), ddof=1, keepdims=True),
    case(np.std, normal(2, 4), correction=1),
    *(case(f, stepped(2, 3)) for f in (np.argmax, np.argmin, np.nanargmax, np.nanargmin)),
    *(case(f, stepped(2, 3), axis=1) for f in (np.argmax, np.argmin, np.nanargmax, np.nanargmin)),
    case(np.argmax, stepped(2, 3), axis=0, keepdims=True),
    *(each for f in (np.cumsum, np.cumprod) for each in along(f, normal)),
    *(each for f in (np.nancumsum, np.nancumprod) for each in along(f, normal)[:2]),
    case(np.cumsum, integers(3)),
    case(np.cumprod, np.array([2.0, 0.0, 3.0, 0.0]), second=False),
    case(np.cumulative_sum, normal(3)),
    case(np.cumulative_sum, normal(2, 3), axis=1, include_initial=True),
    case(np.cumulative_prod, normal(2, 3), axis=0),
    case(np.cumulative_prod, normal(3), include_initial=True),
    *(case(f.reduce, stepped(2, 3)) for f in (np.add, np.multiply, np.maximum, np.minimum)),
    *(case(f.reduce, stepped(2, 3), axis=1) for f in (np.add, np.multiply, np.maximum)),
    case(np.add.reduce, normal(2, 3), axis=None),
    *(case(f.reduce, flags(2, 3)) for f in (np.logical_and, np.logical_or)),
    *(case(f.accumulate, stepped(4)) for f in (np.add, np.multiply, np.maximum, np.minimum)),
    *(case(f.accumulate, stepped(2, 4), axis=1) for f in (np.add, np.maximum)),
    *(case(f, stepped(2, 3)) for f in (np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean)),
    *(case(f, stepped(2, 3), axis=1) for f in (np.nanvar, np.nanstd, np.nanmedian)),
    case(np.nanvar, normal(2, 3), ddof=1),
    case(np.nanquantile, stepped(5), q=0.3),
    case(np.nanpercentile, stepped(5), q=30.0),
    *(
        case(lambda x, f=f: f(np.where(np.isnan(HOLES), np.nan, x), axis=1), normal(2, 3))
        for f in (np.nansum, np.nanmean, np.nanmax, np.nanstd, np.nanprod, np.nanmedian)
    ),
    case(np.average, normal(2, 3), axis=0),
    case(np.average, normal(3), weights=positive(3)),
    case(lambda a, w: np.average(a, axis=1, weights=w), normal(2, 3), positive(3)),
    case(lambda a, w: np.average(a, weights=w, returned=True), normal(3), positive(3)),
    case(np.cov, normal(3, 4)),
    case(np.cov, normal(4)),
    case(np.cov, normal(4), normal(4), bias=True),
    case(np.cov, normal(4, 2), rowvar=False, ddof=0),
    case(lambda x: np.cov(x, fweights=np.array([1, 3, 2, 2])), normal(2, 4)),
    case(lambda x, w: np.cov(x, aweights=w), normal(2, 4), positive(4)),
    case(lambda x, w: np.cov(x, aweights=w, ddof=0), normal(4), positive(4)),
    case(
        lambda x, w: np.cov(x, x**2, fweights=[1, 3, 2, 2], aweights=w, ddof=2),
        normal(4),
        positive(4),
    ),
    case(np.corrcoef, normal(3, 5), second=False),
    case(np.corrcoef, normal(5), normal(5)),
    case(np.quantile, stepped(7), q=0.3),
    case(np.quantile, stepped(2, 5), q=0.65, axis=1, keepdims=True),
    case(lambda x: np.quantile(x, [0.2, 0.7], axis=0), stepped(5, 2)),
    case(np.percentile, stepped(7), q=40),
    case(np.median, stepped(4)),
    case(
        lambda x: (x.sum(), x.mean(axis=0), x.prod(1), x.cumsum(), x.cumprod(axis=0)), normal(2, 3)
    ),
    case(lambda x: (x.max(), x.min(axis=1), x.argmax(), x.argmin(axis=0)), stepped(2, 3)),
    case(lambda x: (x.var(), x.std(axis=0, ddof=1)), normal(3, 2)),
    case(lambda x: ((x > 0).any(), (x > 0).all(axis=0)), normal(3, 2)),
    case(lambda x: x.ptp() if hasattr(x, "ptp") else np.ptp(x), stepped(3)),
    case(lambda x: sum(x) + max(x) - min(x), stepped(4)),
    *(
        case(f, normal(3, 4), **static)
        for f in (np.logaddexp.reduce, np.logaddexp2.reduce)
        for static in ({}, {"axis": 1, "keepdims": True}, {"axis": None}, {"initial": 0.5})
    ),
    case(np.logaddexp.reduce, normal(3), where=np.array([True, False, True])),
    case(np.logaddexp.reduce, integers(4)),
    *(case(lambda x, f=f: f(x, 1, mean=x[:, :1]), normal(2, 4)) for f in (np.var, np.std)),
    case(lambda x: np.var(x, mean=np.float64(0.5), ddof=1), normal(4), single=False),
]
