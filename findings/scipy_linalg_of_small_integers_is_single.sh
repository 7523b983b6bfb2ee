#!/usr/bin/env bash
# SciPy 1.17.1: eigvalsh, inv, svdvals, cholesky and pinv of scipy.linalg compute in single precision
# where the matrix holds int8, int16, uint8, uint16 or bool, as counts of sensors and images do. det,
# expm and solve of the same matrix, the same matrix as int32, and all of numpy.linalg, are double.
#
# Output seen:
#   eigvalsh float32, inv float32, svdvals float32, pinv float32, det float64, expm float64
#   smallest eigenvalue of int16: SciPy 0.0009766, of int32: SciPy -1.667e-05, NumPy -1.667e-05
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np
import scipy.linalg

few = np.array([[3, 1], [1, 2]], np.int16)
names = ("eigvalsh", "inv", "svdvals", "pinv", "det", "expm")
kinds = {name: np.asarray(getattr(scipy.linalg, name)(few)).dtype.name for name in names}
print(", ".join(f"{name} {kind}" for name, kind in kinds.items()))
assert all(kinds[name] == "float32" for name in names[:4])
assert kinds["det"] == kinds["expm"] == "float64"

counts = np.array([[30000, 29999], [29999, 29998]], np.int16)
short, wide = (scipy.linalg.eigvalsh(counts.astype(kind))[0] for kind in (np.int16, np.int32))
exact = np.linalg.eigvalsh(counts)[0]
print(
    f"smallest eigenvalue of int16: SciPy {short:.4g}, of int32: SciPy {wide:.4g}, NumPy {exact:.4g}"
)
assert abs(wide / exact - 1) < 1e-4 and abs(short / exact - 1) > 0.5
PROGRAM
