"""Functions of `cmath`, and others of `math` that give two numbers: those of Python."""

import cmath
import math

import numpy as np
import pytest

from tapeless import grad, jit

NAMES = [name for name in dir(cmath) if callable(getattr(cmath, name)) and name[0] != "_"]
ONE = [0.5, 1 + 2j, -2.5, 3, complex(-1.0, -0.0), np.complex128(0.5 - 1j)]


def alike(found, wanted):
    assert type(found) is type(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("isclose", "rect")])
@pytest.mark.parametrize("z", ONE, ids=str)
def test_of_one_number(name, z):
    f = getattr(cmath, name)
    if (name, z) != ("atanh", -1):  # a pole
        alike(jit(lambda z: f(z))(z), f(z))


def test_of_two_numbers():
    alike(jit(lambda z, base: cmath.log(z, base))(1 - 2j, 3.0), cmath.log(1 - 2j, 3.0))
    alike(jit(lambda r, phi: cmath.rect(r, phi))(2.0, 0.7), cmath.rect(2.0, 0.7))
    close = jit(lambda a, b: (cmath.isclose(a, b), cmath.isclose(a, b, abs_tol=0.2)))
    assert close(1 + 1j, 1.1 + 1j) == (False, True)
    alike(jit(lambda x: math.frexp(x))(5.3), math.frexp(5.3))
    alike(jit(lambda x, y: math.nextafter(x, y))(0.7, 1.0), math.nextafter(0.7, 1.0))


def turned(x):
    total = 0j
    for k in range(4):
        total += cmath.exp(1j * k * x) * cmath.sqrt(x + k)
    return abs(total) + cmath.phase(total) + cmath.rect(x, 0.3).imag


def test_loops_and_derivatives():
    alike(jit(turned)(0.7), turned(0.7))
    change = (turned(0.7 + 1e-6) - turned(0.7 - 1e-6)) / 2e-6
    assert grad(turned)(0.7) == pytest.approx(change, rel=1e-7)
    assert jit(grad(turned))(0.7) == pytest.approx(change, rel=1e-7)


@pytest.mark.parametrize("f", [cmath.exp, lambda z: cmath.rect(z, 1.0), float, int])
def test_what_python_refuses(f):
    z = np.ones(2) if f is cmath.exp else 1 + 2j
    with pytest.raises(TypeError):
        f(z)
    with pytest.raises(TypeError):
        jit(lambda z: f(z))(z)
