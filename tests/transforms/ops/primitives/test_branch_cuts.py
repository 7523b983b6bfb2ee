"""Derivatives of complex functions on their cuts, along them: those of the side where x is."""

import numpy as np
import pytest

from tapeless import jvp

ALONG_THE_REAL_AXIS = [
    *((f, z) for f in (np.arcsin, np.arccos, np.arctanh) for z in (2, -2, complex(2, -0.0))),
    *((f, z) for f in (np.arccosh, np.sqrt, np.log) for z in (2, -2, complex(-2, -0.0))),
]
ALONG_THE_IMAGINARY_AXIS = [
    (f, z) for f in (np.arcsinh, np.arctan) for z in (2j, -2j, complex(-0.0, 2), complex(-0.0, -2))
]


@pytest.mark.parametrize(("f", "z"), ALONG_THE_REAL_AXIS)
def test_along_the_real_axis(f, z):
    z = np.array([complex(z)])
    sides = [f(np.array([complex(z[0].real + step, z[0].imag)])) for step in (1e-6, -1e-6)]
    slope = jvp(f, (z,), (np.ones(1, complex),))[1]
    np.testing.assert_allclose(slope, (sides[0] - sides[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize(("f", "z"), ALONG_THE_IMAGINARY_AXIS)
def test_along_the_imaginary_axis(f, z):
    z = np.array([z])
    sides = [f(np.array([complex(z[0].real, z[0].imag + step)])) for step in (1e-6, -1e-6)]
    slope = jvp(f, (z,), (np.full(1, 1j),))[1]
    np.testing.assert_allclose(slope, (sides[0] - sides[1]) / 2e-6, rtol=1e-6)
