#!/usr/bin/env bash
# NumPy 2.4.6: np.dot of a number and a vector is a BLAS scaling, which does not look at the vector
# where the number is 0: the result is 0 where the product 0.0 * vector is nan.
#
# Output seen:
#   dot: [0. 0.], product: [nan nan]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import numpy as np

vector = np.array([np.nan, np.inf])
by_dot, by_product = np.dot(0.0, vector), 0.0 * vector
print(f"dot: {by_dot}, product: {by_product}")
assert not by_dot.any() and np.isnan(by_product).all()
PROGRAM
