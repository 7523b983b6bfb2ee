#!/usr/bin/env bash
# Numba 0.68.1 compiles np.sqrt and np.exp of complex numbers with formulas whose steps overflow
# where the results do not. np.sqrt(1.7e308j) has an imaginary part of half the right size, without
# a warning; np.exp(710 + 1j) has an infinite real part. NumPy 2.4.6 gives both right.
#
# Output seen:
#   np.sqrt(1.7e308j): NumPy 9.2195e+153+9.2195e+153j, Numba 9.2195e+153+4.6098e+153j
#   its square: NumPy 1.7000e+308j, Numba 6.3750e+307+8.5000e+307j
#   np.exp(710+1j): NumPy 1.2070e+308+infj, Numba inf+infj
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 numba==0.68.1
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np
from numba import njit


def root(z):
    return np.sqrt(z)


def power(z):
    return np.exp(z)


with np.errstate(over="ignore"):
    z = np.complex128(1.7e308j)
    right, other = root(z), njit(root)(z)
    print(f"np.sqrt(1.7e308j): NumPy {right:.4e}, Numba {other:.4e}")
    square, wrong = right * right, other * other
    print(f"its square: NumPy {square.imag:.4e}j, Numba {wrong:.4e}")
    assert np.isclose(square.imag, 1.7e308) and np.isclose(wrong.imag, 0.85e308)
    e = np.complex128(710 + 1j)
    right, other = power(e), njit(power)(e)
    print(f"np.exp(710+1j): NumPy {right:.4e}, Numba {other:.4e}")
    assert np.isfinite(right.real) and np.isinf(other.real)
PROGRAM
