"""Masked arrays that a function makes, as far as plain arrays come out of them."""

import numpy as np

from tests.transforms.ops.cases import case

# No random numbers: those of the other files stay what they are.
X = np.array([1.3, -0.7, 0.4, 2.6, -1.8])
Y = np.array([0.6, 1.7, -2.3, 0.8, 1.1])
A = np.array([[0.3, -1.2, 0.8], [1.4, 0.7, -0.6]])

CASES = [
    case(lambda x: np.ma.filled(np.ma.array(x, mask=x < 0) * x, 0.5), X),
    case(lambda x, y: np.ma.getdata(np.ma.asarray(x) * y), X, Y),
    case(lambda x: np.ma.getmask(np.ma.array(x, mask=x < 0)), X),
    case(lambda x: np.ma.getmaskarray(np.ma.asanyarray(x)), X),
    case(lambda x, y: np.ma.filled(np.ma.masked_where(y < 1, x) + y, -1.0), X, Y),
    case(lambda x: np.ma.filled(np.ma.masked_invalid(x) * 2.0, 0.0), X),
    case(lambda x: np.ma.filled(np.ma.MaskedArray(x, x > 1), 3.0) * x, X),
    case(lambda a: np.ma.array(a, mask=a > 0.5).sum(axis=0).filled(0.25), A),
    case(lambda a: np.ma.array(a, mask=a > 1).mean(axis=1).filled(0.25), A),
]
