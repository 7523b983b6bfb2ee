"""The stand-in for CuPy refuses what CuPy refuses, and counts what programs ask of a device."""

import numpy as np

import tapeless
from tapeless import jit


def s3(x):
    for _ in range(3):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


def test_programs_run_without_waiting(stand_in):
    x = np.linspace(0, 3, 1003)
    on_gpu = tapeless.device_put(x, tapeless.devices("gpu")[0])
    stand_in.clear()
    out = jit(s3)(on_gpu)
    assert (stand_in.waits, stand_in.transfers) == (0, 0)
    assert len(stand_in.launches) == 1
    np.testing.assert_allclose(tapeless.device_get(out), s3(x), rtol=1e-14)
    assert stand_in.waits > 0
