#!/usr/bin/env bash
# NumPy 2.4.6: np.poly of no roots gives Python's float 1.0, where its documentation promises an
# array with one axis, and where the newer np.polynomial.polynomial.polyfromroots gives array([1.]).
# A loop that takes roots away one by one has `len` and indices of the coefficients up to the last.
#
# Output seen:
#   np.poly of 2, 1, 0 roots: ndarray (3,), ndarray (2,), float
#   polyfromroots of no roots: ndarray (1,)
#   len(np.poly([])): TypeError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np


def described(x):
    return f"{type(x).__name__} {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__


roots = np.array([2.0, 3.0])
kinds = [described(np.poly(roots[:n])) for n in (2, 1, 0)]
print("np.poly of 2, 1, 0 roots:", ", ".join(kinds))
newer = described(np.polynomial.polynomial.polyfromroots(roots[:0]))
print("polyfromroots of no roots:", newer)
try:
    len(np.poly([]))
except TypeError as e:
    print("len(np.poly([])):", type(e).__name__)
else:
    raise AssertionError("np.poly([]) has a length")
assert kinds == ["ndarray (3,)", "ndarray (2,)", "float"]
assert newer == "ndarray (1,)"
PROGRAM
