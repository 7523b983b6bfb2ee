#!/usr/bin/env bash
# Surprises of NumPy 2.4.6 and SciPy 1.17.1, met when every function was compared with ours.
# Runs them without our code, and fails if one behaves otherwise.
#
# 1. np.dtype("float64") == None is True: None is taken for the default dtype. So `dtype in (None, x)`
#    is true of float64 whatever x is. (float32 == None is False.)
# 2. scipy.special.factorial of an integer of few bits adds 1 to it in its own dtype, which wraps:
#    factorial(np.int8([127])) is nan, of int16 it is 3.01e213.
# 3. np.dot of a number and a vector multiplies by BLAS, which does not look at the vector where the
#    number is 0: np.dot(0.0, [nan, inf]) is [0, 0], where 0.0 * [nan, inf] is [nan, nan].
# 4. ufunc.at changes arrays that are read-only, without an error.
#
# Output seen:
#   float64 == None: True, float32 == None: False
#   factorial of 127 as int8: [nan], as int16: [3.01266002e+213]
#   dot: [0. 0.], product: [nan nan]
#   a read-only array after np.add.at: [2. 2.]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" -W ignore - <<'PROGRAM'
import numpy as np
import scipy.special

double, single = np.dtype("float64") == None, np.dtype("float32") == None  # noqa: E711
print(f"float64 == None: {double}, float32 == None: {single}")
few, more = (scipy.special.factorial(np.array([127], kind)) for kind in (np.int8, np.int16))
print(f"factorial of 127 as int8: {few}, as int16: {more}")
vector = np.array([np.nan, np.inf])
by_dot, by_product = np.dot(0.0, vector), 0.0 * vector
print(f"dot: {by_dot}, product: {by_product}")
constant = np.array([1.0, 2.0])
constant.flags.writeable = False
np.add.at(constant, [0], 1.0)
print(f"a read-only array after np.add.at: {constant}")
assert (double, single) == (True, False)
assert np.isnan(few[0]) and more[0] > 3e213
assert not by_dot.any() and np.isnan(by_product).all()
assert constant[0] == 2.0 and not constant.flags.writeable
PROGRAM
