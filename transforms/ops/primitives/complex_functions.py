"""Defines hyperbolic and circular functions and powers of complex numbers, with NumPy's values at
infinities and NaN.

sin(z), z of complex128      becomes      turned(complex_sinh(turned_back(z)))

Source of the values: ISO C, Annex G.6, which leaves some signs open; there they are glibc's, as
NumPy's are.
"""

from __future__ import annotations

TURNS = '''
@njit(forceinline=True)
def turned(z):
    """i z."""
    return complex(-z.imag, z.real)


@njit(forceinline=True)
def turned_back(z):
    """-i z."""
    return complex(z.imag, -z.real)
'''

SINH = '''
@njit
def complex_sinh(z):
    """The hyperbolic sine; NaN and infinities as in ISO C, Annex G."""
    x, y = z.real, z.imag
    if not isfinite(y) and (x == 0 or isinf(x)):
        return complex(abs(x) if isinf(x) else x, np.nan)
    if y == 0:
        return complex(sinh(x), y)
    return complex(sinh(x) * cos(y), cosh(x) * sin(y))
'''

COSH = '''
@njit
def complex_cosh(z):
    """The hyperbolic cosine; NaN and infinities as in ISO C, Annex G."""
    x, y = z.real, z.imag
    if not isfinite(y):
        return complex(np.inf if isinf(x) else np.nan, 0.0 if x == 0 else np.nan)
    if y == 0:
        return complex(cosh(x), copysign(1.0, x) * y)
    return complex(cosh(x) * cos(y), sinh(x) * sin(y))
'''

TANH = '''
@njit
def complex_tanh(z):
    """The hyperbolic tangent; NaN and infinities as in ISO C, Annex G."""
    x, y = z.real, z.imag
    if isinf(x):
        slope = sin(y) * cos(y) if isfinite(y) and abs(y) > 1 else y
        return complex(copysign(1.0, x), copysign(0.0, slope))
    if y == 0:
        return complex(tanh(x), y)
    if x == 0 and not isfinite(y):
        return complex(x, np.nan)
    s, c = sin(y), cos(y)
    if abs(x) > 350 and isfinite(y):  # where the square of cosh(x) overflows
        return complex(copysign(1.0, x), 4 * s * c * exp(-2 * abs(x)))
    size = sinh(x) ** 2 + c**2
    return complex(sinh(x) * cosh(x) / size, s * c / size)
'''

EXP = '''
@njit(forceinline=True)
def complex_exp(z):
    """The exponential; of a real number it is real, also where it is infinite."""
    return np.exp(z) if z.imag != 0 else complex(exp(z.real), z.imag)
'''

POWER = '''
@njit
def complex_power(x, y):
    """x ** y: whole powers below 100 by squaring, as NumPy."""
    size = abs(y.real)
    if y == 0:
        return complex(1.0, 0.0)
    if x == 0:
        return complex(0.0, 0.0) if y.real > 0 else complex(np.nan, np.nan)
    if y.imag == 0 and y.real == 1:
        return x
    if y.imag == 0 and size < 100 and size == np.int64(min(size, 100.0)):
        n = np.int64(size)
        power, square = complex(1.0, 0.0), x
        for k in range(7):
            if (n >> k) & 1:
                power = power * square
            square = square * square
        if y.real > 0:
            return power
        return complex(1.0, 0.0) / power if power != 0 else complex(np.inf, np.nan)
    return np.exp(y * np.log(x))
'''

NAMES = (
    *("turned", "turned_back", "complex_sinh", "complex_cosh", "complex_tanh", "complex_exp"),
    "complex_power",
)
IMPORTED = ("sinh", "cosh", "tanh", "sin", "cos", "exp", "isfinite", "isinf", "copysign")
IMPORTS = tuple(("math", name) for name in IMPORTED)
