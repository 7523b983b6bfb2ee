"""Numbers of float32 and float64 that stand in one place keep their dtypes, as in Python."""

import numpy as np
import pytest

from tapeless import grad, jit

pytestmark = pytest.mark.usefixtures("traced")
X = np.array([1.3, 2.7, 3.9])
THIRD = np.float32(3)


def chosen(x):
    y = np.float32(x[0]) if x[1] > 2 else x[0]
    return y, y / THIRD


def appended(x):
    out = []
    for i in range(len(x)):
        out.append(np.float32(x[i]) if i % 2 == 0 else x[i])  # noqa: PERF401 (a list that grows)
    return out, out[0] / THIRD


def begun(x):
    out = [np.float32(x[0])]
    for i in range(len(x)):
        out.append(out[-1] + x[i])
    return out


def stored(x):
    out = [np.float32(v) for v in x]
    for i in range(2):
        out[i] = x[i]
    return out, out[2] / THIRD


def picked(x):
    items = [np.float32(1.1), np.float64(1.1)]
    return items[int(x[0])], items[int(x[0]) - 1] / THIRD


def greatest(x):
    return max(np.float32(x[0]), x[1]) / THIRD, max(np.float32(x[1]), x[0]) / THIRD


def constants(x):
    return np.float64(1.1), np.float64(1.1) / 3, np.int64(3), 1.1, 3, np.float32(2) + x[0] * 0


def typed(value):
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [typed(v) if isinstance(v, (list, tuple)) else (type(v), v) for v in parts]


@pytest.mark.parametrize("f", [chosen, appended, begun, stored, picked, greatest, constants])
def test_types_and_values(f):
    assert typed(jit(f)(X)) == typed(f(X))


def test_derivative():
    slope = grad(lambda x: chosen(x)[1] + appended(x)[1])(X)
    np.testing.assert_allclose(slope, [2 / 3, 0, 0], rtol=1e-6)
