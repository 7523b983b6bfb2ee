"""Differences, integrals, interpolation, polynomials, convolution."""

import numpy as np
import scipy.integrate

from tests.transforms.ops.cases import case, integers, normal, positive, uniform

KNOTS = np.array([0.0, 1.0, 2.5, 3.0])
INSIDE = np.array([0.3, 2.9, 1.4])
OUTSIDE = np.array([-0.3, 2.9, 3.4])

CASES = [
    case(np.diff, normal(5)),
    case(np.diff, normal(2, 4), n=2),
    case(np.diff, normal(3, 2), axis=0),
    case(lambda x, a: np.diff(x, prepend=a, append=0.5), normal(4), 0.3),
    case(np.diff, integers(4)),
    case(np.ediff1d, normal(4)),
    case(lambda x: np.ediff1d(x, to_end=[1.0], to_begin=x[0]), normal(4)),
    case(np.gradient, normal(5)),
    case(np.gradient, normal(5), 0.5),
    case(np.gradient, normal(3, 4)),
    case(np.gradient, normal(3, 4), axis=1),
    case(np.gradient, normal(5), np.array([0.0, 0.4, 1.0, 1.7, 2.0])),
    case(np.gradient, normal(5), edge_order=2),
    case(np.trapezoid, normal(4), dx=0.5),
    case(np.trapezoid, normal(4), np.sort(positive(4))),
    case(np.trapezoid, normal(2, 3), axis=0),
    case(np.trapezoid, normal(2, 3), np.array([0.0, 0.5, 2.0]), axis=1),
    case(np.interp, INSIDE, KNOTS, normal(4)),
    case(np.interp, OUTSIDE, KNOTS, normal(4)),
    case(lambda x, f: np.interp(x, KNOTS, f, left=f[0] * 2, right=0.0), OUTSIDE, normal(4)),
    case(np.interp, 1.4, KNOTS, normal(4)),
    case(lambda x, f: np.interp(x, KNOTS, f, period=2.7), OUTSIDE, normal(4)),
    case(lambda p, xp, f: np.interp(OUTSIDE, xp, f, period=p), 2.7, KNOTS, normal(4)),
    case(np.polyval, normal(3), normal(4)),
    case(np.polyval, normal(3), 0.7),
    case(np.polyval, normal(1), normal(2)),
    case(np.polyval, normal(3, 2), 0.7, single=False),
    case(np.polyval, normal(3, 2), normal(4, 1), single=False),
    case(np.polyder, normal(4)),
    case(np.polyder, normal(4), m=2),
    case(np.polyint, normal(3)),
    case(np.polyint, normal(3), m=2),
    case(np.polymul, normal(3), normal(2)),
    case(np.polyadd, normal(3), normal(2)),
    case(np.polysub, normal(2), normal(3)),
    case(lambda x, y: np.polyfit(x, y, 2), uniform(-1, 1, 5), normal(5), second=False),
    case(np.poly, normal(3)),
    *(case(np.convolve, normal(5), normal(3), mode=m) for m in ("full", "same", "valid")),
    case(np.convolve, normal(2), normal(4)),
    case(np.convolve, normal(2), normal(4), mode="same"),
    *(case(np.correlate, normal(5), normal(3), mode=m) for m in ("full", "same", "valid")),
    case(np.correlate, normal(2), normal(4)),
    case(np.correlate, normal(2), normal(4), mode="full"),
    case(np.sinc, np.array([0.0, 1e-3, 0.3, 2.7]), second=False),
    case(lambda x: np.piecewise(x, [x < 0, x > 0.5], [lambda v: v**2, np.sin, 0.5]), normal(5)),
    case(lambda x: np.apply_along_axis(lambda v: v[0] * v, 1, x), normal(2, 3), second=False),
    case(lambda x: np.apply_along_axis(np.sum, 0, x), normal(2, 3), second=False),
    case(lambda x: np.apply_over_axes(np.sum, x, [0, 1]), normal(2, 3)),
    case(
        lambda x, y: np.vectorize(lambda a, b: a * b if a > 0 else b)(x, y), normal(2, 3), normal(3)
    ),
    case(lambda x: np.vectorize(np.sin)(x), normal(3)),
    case(scipy.integrate.trapezoid, normal(2, 4), positive(4)),
    case(scipy.integrate.cumulative_trapezoid, normal(2, 4), positive(4)),
    case(scipy.integrate.cumulative_trapezoid, normal(3, 2), dx=0.5, axis=0, initial=0),
]
