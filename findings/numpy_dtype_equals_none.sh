#!/usr/bin/env bash
# NumPy 2.4.6: np.dtype("float64") == None is True, since None is taken for the default dtype.
# `dtype in (None, x)` is therefore true of float64 whatever x is; of float32 it is not.
#
# Output seen:
#   float64 == None: True, float32 == None: False
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import numpy as np

double, single = np.dtype("float64") == None, np.dtype("float32") == None  # noqa: E711
print(f"float64 == None: {double}, float32 == None: {single}")
assert (double, single) == (True, False)
PROGRAM
