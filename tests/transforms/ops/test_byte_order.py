"""Arrays of the other byte order: results have the order, and the bytes, that NumPy's have."""

import sys

import numpy as np
import pytest

import tapeless
from tapeless import jit

ORDER = ">" if sys.byteorder == "little" else "<"
X = np.arange(6.0).reshape(2, 3)


def loop(x, kind):
    total, y = 0.0, np.zeros(3, kind)
    for i in range(3):
        total += x[1, i]
        y[i] = total
    return total, y


def stores(x, kind):
    y = np.empty(3, kind)
    y[:] = x[1]
    y += 1
    x[0] = y
    return x, y


FUNCTIONS = {
    "as it is": lambda x, kind: x,
    "views": lambda x, kind: (x.T, x[1:], x[None], x.reshape(-1), x.copy()),
    "arithmetic": lambda x, kind: (-x, x + 1, np.sin(x), np.sum(x), x.max(0), x @ x.T),
    "numbers": lambda x, kind: (x[0, 1], x[0, 1] * 2, x.mean()),
    "like": lambda x, kind: (np.zeros_like(x), np.ones_like(x), np.full_like(x, 2)),
    "made": lambda x, kind: (np.zeros(2, kind), np.arange(3, dtype=kind), np.array([1.0, 2], kind)),
    "converted": lambda x, kind: (x.astype(kind), np.asarray(x, kind) * 2, x.astype(np.float64)),
    "chosen": lambda x, kind: (x[[1, 0]], x[x > 1], np.where(x > 1, x, 0), np.sort(x)),
    "joined": lambda x, kind: (np.concatenate([x, x]), np.stack([x, x.astype("f4")])),
    "bytes": lambda x, kind: (x.view(np.uint8), np.ones_like(x).view(np.uint8), x.view("u8")),
    "loop": loop,
    "stores": stores,
}


def emitted(f):
    return lambda *args: tapeless.value_and_grad(lambda w: (w, f(*args)), has_aux=True)(1.0)[0][1]


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transformed", [jit, emitted])
def test_as_numpy(name, kind, transformed):
    def f(x):
        return FUNCTIONS[name](x.copy(), ORDER + kind)

    x = X.astype(ORDER + "f8")
    pairs = zip(tapeless.tree.leaves(transformed(f)(x)), tapeless.tree.leaves(f(x)), strict=True)
    for a, b in pairs:
        assert np.asarray(a).dtype.str == np.asarray(b).dtype.str
        np.testing.assert_allclose(a, b, rtol=1e-14)
