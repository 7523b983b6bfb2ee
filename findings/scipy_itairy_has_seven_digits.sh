#!/usr/bin/env bash
# SciPy 1.17.1: scipy.special.itairy, the integrals of Airy's functions from 0 to x, has a relative
# error of about 5e-8 around x = 1.5, though float64 has 16 digits and the documentation names no
# limit. mpmath integrates the functions themselves.
#
# Output seen:
#   Bi up to 1.5: SciPy 1.6247080078, right 1.6247080942, error 8.6e-08
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1 mpmath==1.3.0
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import mpmath
from scipy.special import itairy

got = itairy(1.5)[1]
right = float(mpmath.quad(mpmath.airybi, [0, 1.5]))
print(f"Bi up to 1.5: SciPy {got:.10f}, right {right:.10f}, error {abs(got - right):.1e}")
assert 1e-8 < abs(got - right) < 1e-6
PROGRAM
