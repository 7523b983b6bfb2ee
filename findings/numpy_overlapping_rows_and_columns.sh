#!/usr/bin/env bash
# NumPy 2.4.6: an assignment between two vectors of one array that overlap and have different
# strides (a row and a column, v[::2] and v[:5]) reads elements that it has already overwritten.
# Of arrays with more axes, and under opposite strides, it makes a copy first.
#
# Output seen:
#   v[::2] = v[:5]: [0 1 1 3 1], by a copy: [0 1 2 3 4]
#   m[1] = m[:, 2]: [ 2 10 10 14], by a copy: [ 2  6 10 14]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np

v, m = np.arange(10), np.arange(16).reshape(4, 4)
part, column = v[:5].copy(), m[:, 2].copy()
v[::2] = v[:5]
m[1] = m[:, 2]
print(f"v[::2] = v[:5]: {v[::2]}, by a copy: {part}")
print(f"m[1] = m[:, 2]: {m[1]}, by a copy: {column}")
assert (v[::2] != part).any() and (m[1] != column).any()
PROGRAM
