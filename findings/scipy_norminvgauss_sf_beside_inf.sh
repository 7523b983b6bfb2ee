#!/usr/bin/env bash
# SciPy 1.17.1: the survival function of norminvgauss at several points, one of which is infinite,
# gives the value at the first point for all other ones, without an error. Points in the support are
# taken out first; the formula then pairs them with the parameters, of one element each, by zip.
#
# Output seen:
#   with inf: [0.8 0.8 0.8 0. ], one by one: [0.8  0.43 0.29 0.  ]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import numpy as np
from scipy.stats import norminvgauss

points = np.append(norminvgauss.ppf([0.2, 0.57, 0.71], 1.25, 0.5), np.inf)
at_once = norminvgauss.sf(points, 1.25, 0.5)
one_by_one = np.array([norminvgauss.sf(x, 1.25, 0.5) for x in points])
print(f"with inf: {at_once.round(6)}, one by one: {one_by_one.round(6)}")
assert np.allclose(one_by_one, [0.8, 0.43, 0.29, 0.0], atol=1e-6)
assert np.allclose(at_once, [0.8, 0.8, 0.8, 0.0], atol=1e-6)
PROGRAM
