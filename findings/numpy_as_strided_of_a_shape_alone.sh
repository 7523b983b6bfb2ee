#!/usr/bin/env bash
# NumPy 2.4.6: np.lib.stride_tricks.as_strided(x, shape) without strides= takes those of x only if
# the elements of x do not lie in C order. Its documentation says "Defaults to x.strides" for all; of
# an array in C order the default is what the new shape has in C order, so that a corner of a matrix
# is taken from a transposed, sliced or turned matrix, and of an ordinary one the first elements in
# memory are. Shapes with more or fewer axes are an error of the former, and none of the latter.
# (The array interface says None for strides in C order, which as_strided hands on.)
#
# Output seen:
#   of a matrix:               [[0, 1], [2, 3]] with strides (16, 8) for (32, 8)
#   with its strides given:    [[0, 1], [4, 5]]
#   of the transposed matrix:  [[0, 4], [1, 5]] with strides (8, 32) for (8, 32)
#   of a copy of that:         [[0, 4], [8, 1]]
#   with one axis: [0, 1], and of the transposed matrix: mismatch in length of strides and shape
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np
from numpy.lib.stride_tricks import as_strided

x = np.arange(12).reshape(3, 4)
corner, given = as_strided(x, (2, 2)), as_strided(x, (2, 2), x.strides)
print("of a matrix:              ", corner.tolist(), "with strides", corner.strides, "for", x.strides)
print("with its strides given:   ", given.tolist())
assert corner.tolist() == [[0, 1], [2, 3]] and corner.strides != x.strides
assert given.tolist() == [[0, 1], [4, 5]]

turned = as_strided(x.T, (2, 2))
of_copy = as_strided(x.T.copy(), (2, 2))
print("of the transposed matrix: ", turned.tolist(), "with strides", turned.strides, "for", x.T.strides)
print("of a copy of that:        ", of_copy.tolist())
assert turned.tolist() == [[0, 4], [1, 5]] and turned.strides == x.T.strides
assert of_copy.tolist() == [[0, 4], [8, 1]]

line = as_strided(x, (2,))
assert line.tolist() == [0, 1]
try:
    as_strided(x.T, (2,))
except ValueError as e:
    print(f"with one axis: {line.tolist()}, and of the transposed matrix: {e}")
else:
    raise AssertionError("a line of a transposed matrix has strides")
assert "Defaults to ``x.strides``" in as_strided.__doc__
PROGRAM
