#!/usr/bin/env bash
# NumPy 2.4.6 and Numba 0.68.1: a np.random.Generator that is passed to code compiled by Numba draws
# the numbers of NumPy, to the last bit, but takes parameters that NumPy refuses: with a negative
# scale, falling bounds of `uniform` or negative degrees of freedom it returns a number, where NumPy
# raises ValueError.
#
# Output seen:
#   normal(0, -1):   Numba -0.1257302210933933, NumPy ValueError: scale < 0
#   exponential(-2): Numba -1.3598638079378191, NumPy ValueError: scale < 0
#   uniform(1, 0):   Numba 0.3630383126785457, NumPy ValueError: high - low < 0
#   chisquare(-1):   Numba 3.0238499422421037, NumPy ValueError: df <= 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 numba==0.68.1
cat >"$work/draws.py" <<'PROGRAM'
import numpy as np
from numba import njit


def normal(rng):
    return rng.normal(0.0, -1.0)


def exponential(rng):
    return rng.exponential(-2.0)


def uniform(rng):
    return rng.uniform(1.0, 0.0)


def chisquare(rng):
    return rng.chisquare(-1.0)


CALLS = {
    "normal(0, -1)": (normal, "scale < 0"),
    "exponential(-2)": (exponential, "scale < 0"),
    "uniform(1, 0)": (uniform, "high - low < 0"),
    "chisquare(-1)": (chisquare, "df <= 0"),
}
for call, (draw, message) in CALLS.items():
    number = njit(draw)(np.random.default_rng(0))
    assert isinstance(number, float), number
    try:
        draw(np.random.default_rng(0))
        raise SystemExit(f"NumPy takes {call}")
    except ValueError as e:
        assert str(e) == message, e
        print(f"{call + ':':16} Numba {number}, NumPy ValueError: {e}")
PROGRAM
"$work/venv/bin/python" -W error "$work/draws.py"
