#!/usr/bin/env bash
# NumPy 2.4.6: beside a masked array a Python number is no weak scalar (NEP 50), as it is beside a
# plain one. Operators and np.ma's functions widen: float32 * 2.0 is float64, int8 + 1 is int64.
# np.multiply of the same operands, and `m *= 2.0`, stay float32: m * 2.0 and np.multiply(m, 2.0)
# have different dtypes.
#
# Output seen:
#   plain * 2.0: float32, masked * 2.0: float64, np.ma.multiply: float64, np.multiply: float32
#   masked int8 + 1: int64
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np

plain = np.ones(2, np.float32)
masked = np.ma.array(plain, mask=[False, True])
products = [plain * 2.0, masked * 2.0, np.ma.multiply(masked, 2.0), np.multiply(masked, 2.0)]
dtypes = [str(x.dtype) for x in products]
names = ["plain * 2.0", "masked * 2.0", "np.ma.multiply", "np.multiply"]
print(", ".join(f"{name}: {dtype}" for name, dtype in zip(names, dtypes)))
whole = (np.ma.array(np.ones(2, np.int8), mask=[False, True]) + 1).dtype
print(f"masked int8 + 1: {whole}")
assert dtypes == ["float32", "float64", "float64", "float32"]
assert whole == np.int64
PROGRAM
