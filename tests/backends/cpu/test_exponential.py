"""The exponential of our own: nearly exact where there is a short formula, and right everywhere."""

import numpy as np
import pytest

from tapeless.backends.cpu.llvm.math import exponential
from tests.backends.cpu.test_circular import FUSED
from tests.backends.cpu.test_maths import HAS_SIMD, off_by, over

WORST = 1.0  # units of the last place; measured: 0.91 in double, 0.85 in single precision
ENDS = {"f8": (-745.2, 709.8), "f4": (-104.0, 88.8)}
WIDER = {"f8": np.longdouble, "f4": np.float64}


@FUSED
@HAS_SIMD
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_nearly_exact(dtype, rng):
    low, high = ENDS[dtype]
    x = np.concatenate(
        [rng.uniform(low, high, 1200), rng.uniform(-1, 1, 1200), 10 ** rng.uniform(-20, 0, 160)]
    ).astype(dtype)
    assert off_by(over("exp", dtype)(x), "exp", (x,), dtype) < WORST


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_at_the_ends(dtype):
    """Where results are denormal, zero or infinite, beside others and among their like."""
    for end in ENDS[dtype]:
        x = np.linspace(end - 40, end + 40, 1600).astype(dtype)
        for part in (x, np.where(np.arange(1600) % 7, 0.5, x).astype(dtype)):
            with np.errstate(over="ignore", under="ignore"):
                want = np.exp(part.astype(WIDER[dtype])).astype(dtype)
            info = np.finfo(dtype)
            got = over("exp", dtype)(part)
            np.testing.assert_allclose(got, want, rtol=2 * info.eps, atol=info.smallest_subnormal)


def test_limits_are_where_powers_of_two_are_normal():
    for kind, limit in exponential.LIMIT.items():
        least = {exponential.SINGLE: np.finfo("f4"), exponential.DOUBLE: np.finfo("f8")}[kind]
        assert np.exp(-limit) > 2 * least.tiny
        assert np.exp(limit) < least.max / 2
