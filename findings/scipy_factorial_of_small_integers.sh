#!/usr/bin/env bash
# SciPy 1.17.1: scipy.special.factorial adds 1 to an integer argument in the dtype of the argument.
# The largest int8 wraps around, and its factorial is nan; as int16 the same number gives 3.01e213.
#
# Output seen:
#   factorial of 127 as int8: [nan], as int16: [3.01266002e+213]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import numpy as np
import scipy.special

few, more = (scipy.special.factorial(np.array([127], kind)) for kind in (np.int8, np.int16))
print(f"factorial of 127 as int8: {few}, as int16: {more}")
assert np.isnan(few[0]) and more[0] > 3e213
PROGRAM
