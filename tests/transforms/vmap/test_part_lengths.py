"""Parts of an element of a batch have the lengths that this call shows, in compiled code, too."""

import numpy as np
import pytest

from tapeless import jit, vmap


def column_beside_itself(p):
    column = p[:, 2:3]  # one column, since there are three or more
    return column.T - column


def column_from_the_end(p):
    return p[:, -3:-2] * p


def corner(p):
    return p[3:4, 2:5] + p[:, 3:4]


def stored(p):
    q = p.copy()
    q[:, 2:3] = q[:, 3:4] * q[4:5, 2:3]
    return q


@pytest.mark.parametrize("f", [column_beside_itself, column_from_the_end, corner, stored])
def test_parts_of_one(f):
    batch = np.random.default_rng(0).normal(size=(3, 7, 6))
    expected = np.stack([f(p) for p in batch])
    np.testing.assert_allclose(vmap(f)(batch), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(vmap(f))(batch), expected, rtol=1e-12)
