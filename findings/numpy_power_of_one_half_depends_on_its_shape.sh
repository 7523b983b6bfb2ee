#!/usr/bin/env bash
# np.power(x, 0.5) is a square root since NumPy 2.3 where the exponent is one number, and a power of
# the C library where it is an array of halves: minus infinity becomes nan or inf, and -0.0 keeps its
# sign or loses it. The C standard wants inf and 0.0 (pow of -inf, and of -0.0, to 0.5). NumPy 2.2 has
# inf and 0.0 for np.power with either, but nan and -0.0 for the operator: x ** 0.5 differs from
# np.power(x, 0.5) there. Who compiles powers, or moves an exponent from a constant to an array
# (vmap does), gives another value with either choice.
#
# Output seen, of x ** 0.5, np.power(x, 0.5), np.power(x, halves) and x ** halves for -inf and -0.0:
#   2.2.6 [nan -0.] [inf  0.] [inf  0.] [inf  0.]
#   2.4.0 [nan -0.] [nan -0.] [inf  0.] [inf  0.]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for version in 2.2.6 2.4.0; do
    "${PYTHON:-python3}" -m venv "$work/numpy-$version"
    "$work/numpy-$version/bin/pip" install -q "numpy==$version"
    "$work/numpy-$version/bin/python" - >>"$work/output" <<'PROGRAM'
import numpy as np

x = np.array([-np.inf, -0.0])
halves = np.full(2, 0.5)
with np.errstate(invalid="ignore"):
    print(np.__version__, x**0.5, np.power(x, 0.5), np.power(x, halves), x**halves)
PROGRAM
done

cat >"$work/expected" <<'OUTPUT'
2.2.6 [nan -0.] [inf  0.] [inf  0.] [inf  0.]
2.4.0 [nan -0.] [nan -0.] [inf  0.] [inf  0.]
OUTPUT
diff "$work/expected" "$work/output"
cat "$work/output"
