"""Whether an array is copied, and where it is, as libraries write it that know other arrays."""

import numpy as np

from tapeless import jit


def test_copy_modes():
    def stored(x, mode):
        y = np.array(x, copy=mode)
        y[0] = 5.0
        return x * 1, y

    for mode in (np._CopyMode.ALWAYS, np._CopyMode.IF_NEEDED):
        ours = jit(lambda x, mode=mode: stored(x, mode))(np.arange(3.0))
        np.testing.assert_array_equal(ours, stored(np.arange(3.0), mode))


def test_device():
    f = jit(lambda x: np.arange(3.0, device=getattr(x, "device", None)) + x)
    np.testing.assert_array_equal(f(np.ones(3)), [1.0, 2.0, 3.0])
