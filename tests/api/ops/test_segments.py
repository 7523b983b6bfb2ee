"""Segments against loops over rows, against JAX, and their derivatives."""

import functools
import operator

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, ops, vmap
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tests.api.jax_peer import jax_or_skip

DATA = np.random.default_rng(0).standard_normal((6, 2))
IDS = np.array([2, 0, 2, 1, 0, 2])
JOINS = {
    "segment_sum": (operator.add, 0.0),
    "segment_prod": (operator.mul, 1.0),
    "segment_max": (np.maximum, -np.inf),
    "segment_min": (np.minimum, np.inf),
}


def _by_loops(name, data, ids, n):
    join, start = JOINS[name]
    rows = [[x for x, k in zip(data, ids, strict=True) if k == j] for j in range(n)]
    return np.array([functools.reduce(join, r, np.full(data.shape[1:], start)) for r in rows])


@pytest.mark.parametrize("name", JOINS)
def test_values(name):
    function = getattr(ops, name)
    np.testing.assert_allclose(function(DATA, IDS), _by_loops(name, DATA, IDS, 3), rtol=1e-14)
    outside = np.array([2, -1, 5, 1, 0, 4])
    for mode in (None, "drop", "fill"):
        made = function(DATA, outside, 4, mode=mode)
        np.testing.assert_allclose(made, _by_loops(name, DATA, outside, 4), rtol=1e-14)
    clipped = function(DATA, outside, 4, mode="clip")
    np.testing.assert_allclose(clipped, _by_loops(name, DATA, outside.clip(0, 3), 4), rtol=1e-14)
    hinted = function(DATA, np.sort(IDS), 3, indices_are_sorted=True, bucket_size=2)
    np.testing.assert_allclose(hinted, _by_loops(name, DATA, np.sort(IDS), 3), rtol=1e-14)


@pytest.mark.parametrize("name", JOINS)
def test_jaxs_values(name):
    peer = getattr(jax_or_skip().ops, name)
    for ids in (IDS, np.array([2, -1, 5, 1, 0, 4])):
        made = getattr(ops, name)(DATA, ids, 4)
        np.testing.assert_allclose(made, peer(DATA, ids, 4), rtol=1e-14)


@pytest.mark.parametrize("name", JOINS)
def test_derivatives(name):
    def finite(data):
        made = getattr(ops, name)(data, IDS, 4)
        return np.where(np.isfinite(made), made, 0)

    check_grads(finite, (DATA,))


@pytest.mark.parametrize("name", ["segment_sum", "segment_max"])
def test_under_jit_and_vmap(name):
    def run(data, ids):
        return getattr(ops, name)(data, ids, num_segments=3)

    ids = np.stack([IDS, IDS[::-1]])
    want = [_by_loops(name, DATA, i, 3) for i in ids]
    np.testing.assert_allclose(jit(run)(DATA, IDS), want[0], rtol=1e-14)
    np.testing.assert_allclose(vmap(run, (None, 0))(DATA, ids), want, rtol=1e-14)
    slopes = vmap(grad(lambda d, i: np.sum(run(d, i) ** 2)), (None, 0))(DATA, ids)
    assert slopes.shape == (2, 6, 2)


def test_dtypes():
    ints = np.array([3, -5, 7])
    assert ops.segment_max(ints, np.array([0, 0, 2])).tolist() == [3, np.iinfo(int).min, 7]
    assert ops.segment_min(ints, np.array([0, 0, 2])).tolist() == [-5, np.iinfo(int).max, 7]
    assert ops.segment_max(ints > 0, np.array([0, 0, 2])).tolist() == [True, False, True]
    assert ops.segment_min(ints > 0, np.array([0, 0, 2])).tolist() == [False, True, True]
    assert ops.segment_sum(DATA.astype(np.float32), IDS).dtype == np.float32
    assert ops.segment_sum(np.zeros((0, 2)), np.zeros(0, int)).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.segment_sum(DATA, IDS, mode="wrap"), ArgumentError, "'drop', 'clip'"),
        (lambda: ops.segment_sum(DATA, IDS[1:]), ArgumentError, "one segment for each row"),
        (lambda: ops.segment_sum(DATA, 1.0 * IDS), ArgumentTypeError, "must be integers"),
        (lambda: ops.segment_sum(DATA, IDS, -1), ArgumentError, "must not be negative"),
        (lambda: ops.segment_sum(DATA, IDS, bucket_size=0), ArgumentError, "must be positive"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
