#!/usr/bin/env bash
# NumPy 2.4.6 and Numba 0.68.1: where all shapes are the same, np.broadcast_arrays of NumPy returns
# its very arguments, so that a store to a result changes the argument, without a warning. In code
# that Numba compiles the results are read-only views, and the same store is a typing error.
#
# Output seen:
#   NumPy: the argument itself, [7. 0.] after the store
#   Numba: NumbaTypeError: Cannot modify readonly array of type: readonly array(float64, 1d, A)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 numba==0.68.1
"$work/venv/bin/python" -W error - <<'PROGRAM'
import numpy as np
from numba import njit
from numba.core.errors import TypingError


def stored(x):
    first, _ = np.broadcast_arrays(x, x)
    first[0] = 7.0
    return first


x = np.zeros(2)
assert stored(x) is x
print(f"NumPy: the argument itself, {x} after the store")
try:
    njit(stored)(np.zeros(2))
    raise SystemExit("Numba compiles the store")
except TypingError as e:
    (told,) = {line.strip() for line in str(e).splitlines() if "readonly array of" in line}
    print(f"Numba: {told}")
PROGRAM
