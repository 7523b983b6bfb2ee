#!/usr/bin/env bash
# NumPy 2.4.6: np.vdot of two np.matrix is the product of their first elements alone, as a matrix of
# one element, without a warning. Its documentation says that arguments of more than one axis are
# flattened; flattening a matrix gives a matrix of one row. `todense()` of SciPy's sparse matrices
# gives such matrices, so that np.vdot(s.todense(), t.todense()) is no inner product.
#
# Output seen:
#   of arrays:   5.29
#   of matrices: [[1.]] (matrix)
#   of complex matrices: [[2.+0.j]] (matrix) for (31+0j)
#   of what todense() gives: [[1.]] (matrix)
#   of a matrix and an array: ValueError: vectors have different lengths
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np
import scipy.sparse

values = np.array([[1.0, 2.0], [0.5, 0.2]])
matrix = np.matrix(values)
product = np.vdot(matrix, matrix)
print("of arrays:  ", round(float(np.vdot(values, values)), 12))
print("of matrices:", product, f"({type(product).__name__})")
assert np.isclose(np.vdot(values, values), 5.29)
assert isinstance(product, np.matrix) and product.shape == (1, 1) and product[0, 0] == 1.0

complex_values = np.array([[1 + 1j, 2], [3, 4j]])
complex_product = np.vdot(np.matrix(complex_values), np.matrix(complex_values))
whole = np.vdot(complex_values, complex_values)
print("of complex matrices:", complex_product, f"({type(complex_product).__name__}) for", whole)
assert complex_product[0, 0] == 2 and whole == 31

dense = scipy.sparse.csr_matrix(values).todense()
of_dense = np.vdot(dense, dense)
print("of what todense() gives:", of_dense, f"({type(of_dense).__name__})")
assert of_dense[0, 0] == 1.0

try:
    np.vdot(matrix, values)
except ValueError as e:
    print("of a matrix and an array: ValueError:", e)
else:
    raise AssertionError("a matrix and an array have an inner product")
PROGRAM
