#!/usr/bin/env bash
# NumPy 2.4.6: where, choose, select and pad wrap a Python integer that does not fit the dtype of the
# array beside it, without a warning, where arithmetic, full_like, putmask and insert raise an
# OverflowError. A missing value of 300 among bytes becomes 44, -1 becomes 255.
#
# Output seen:
#   where [1, 44], choose [1, 44], select [1, 44], pad [44, 1, 2, 44]
#   add, full_like, putmask, insert: OverflowError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" -W error - <<'PROGRAM'
import numpy as np

bytes_, first = np.array([1, 2], np.uint8), np.array([True, False])
wrapped = {
    "where": np.where(first, bytes_, 300).tolist(),
    "choose": np.choose([0, 1], [bytes_, 300]).tolist(),
    "select": np.select([first], [bytes_], 300).tolist(),
    "pad": np.pad(bytes_, 1, constant_values=300).tolist(),
}
print(", ".join(f"{name} {value}" for name, value in wrapped.items()))
assert wrapped == {"where": [1, 44], "choose": [1, 44], "select": [1, 44], "pad": [44, 1, 2, 44]}

calls = {
    "add": lambda: bytes_ + 300,
    "full_like": lambda: np.full_like(bytes_, 300),
    "putmask": lambda: np.putmask(bytes_.copy(), first, 300),
    "insert": lambda: np.insert(bytes_, 0, 300),
}
raised = []
for name, call in calls.items():
    try:
        call()
    except OverflowError:
        raised.append(name)
print(f"{', '.join(raised)}: OverflowError")
assert raised == [*calls]
PROGRAM
