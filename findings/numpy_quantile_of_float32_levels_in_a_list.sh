#!/usr/bin/env bash
# NumPy 2.4.6: the quantile of a float32 array at the level 0.3 is float32; at the levels [0.3] it is
# float64, and another number: the share between two elements is then not rounded to float32.
#
# Output seen:
#   0.3: float32 0.5049999952316284; [0.3]: float64 0.5050000101327896
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np

x = np.array([0.1, 0.55, 0.66, 2.0], np.float32)
number, (of_list,) = np.quantile(x, 0.3), np.quantile(x, [0.3])
print(f"0.3: {number.dtype} {number:.16g}; [0.3]: {of_list.dtype} {of_list:.16g}")
assert number.dtype == np.float32 and of_list.dtype == np.float64
assert float(number) != float(of_list)
PROGRAM
