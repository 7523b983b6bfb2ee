"""np.shares_memory and np.may_share_memory."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.errors import UnsupportedError

CONSTANT = np.ones(4)


def answers(x):
    a = x * 2
    others = [a[1:], a.T, np.asarray(a), a.reshape(2, 2), a.copy(), a[:0], x, CONSTANT]
    return [bool(np.shares_memory(a, b)) for b in others]


def part_of_another(x):
    a = x * 2
    b, c = a[1:], a.copy()
    return np.sum(b) if np.shares_memory(a, b) and not np.may_share_memory(a, c) else 0.0


def two_parts(x):
    return np.sum(x) if np.shares_memory(x[:2], x[2:]) else x[0]


def test_shares_memory():
    x = np.array([1.0, 2.0, -1.0, 0.5])
    assert jit(answers)(x) == answers(x)
    assert jit(part_of_another)(x) == part_of_another(x) == 3.0
    np.testing.assert_array_equal(grad(part_of_another)(x), [0.0, 2.0, 2.0, 2.0])
    with pytest.raises(UnsupportedError, match="may be parts of one"):
        jit(two_parts)(x)
