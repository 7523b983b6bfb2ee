"""Integers that no machine word holds."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError


def by_constants(x):
    return x * 2**70 + x / 10**20, x > 2**70


def in_branches(x):
    t = x
    for k in range(3):
        t = t / 10**20 if t > k else t + 2**65
    return t


def by_an_argument(x, n):
    return x * 2**n + x / 10**n


def of_an_array(x):
    return np.ones(2) * x * 2**65


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (by_constants, (2.0,)),
        (in_branches, (2.0,)),
        (by_an_argument, (2.0, 20)),
        (of_an_array, (2.0,)),
    ],
)
def test_where_floats_meet_them_they_are_floats(f, args):
    pytest.importorskip("numba", reason="jit needs Numba")
    np.testing.assert_allclose(tapeless.jit(f)(*args), f(*args), rtol=1e-15)


def test_elsewhere_they_are_refused():
    pytest.importorskip("numba", reason="jit needs Numba")
    with pytest.raises(UnsupportedError, match="more than 64 bits") as met:
        tapeless.jit(lambda x, n: x * (n * 10**20))(2.0, 3)
    assert met.value.where is not None
    assert tapeless.grad(lambda x, n: x * (n * 10**20))(2.0, 3) == 3e20


def test_floats_have_an_end():
    pytest.importorskip("numba", reason="jit needs Numba")
    with pytest.raises(OverflowError):
        tapeless.jit(lambda x: x / 10**400)(2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * (2**70 if x > 0 else 1),
        lambda x: x * max(2**70 if k > x else k for k in (1, 2)),
    ],
    ids=["chosen", "in a loop"],
)
def test_what_a_branch_gives_is_refused(f):
    pytest.importorskip("numba", reason="jit needs Numba")
    with pytest.raises(UnsupportedError, match="more than 64 bits") as met:
        tapeless.jit(f)(np.ones(3)[0])
    assert met.value.where is not None
    assert tapeless.jit(f).plain(1.5) == f(1.5)
