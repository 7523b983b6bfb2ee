#!/usr/bin/env bash
# NumPy 2.4.6: np.fft.ifft2, irfft2 and hfft take `out=`, and neither write to it nor return it: the
# transform comes back in an array of its own. Code that reads `out` afterwards reads what was there
# before, where fft2, ifftn, irfftn and the others of the module fill it.
#
# Output seen:
#   leave out as it was: hfft ifft2 irfft2
#   fill it: fft fft2 fftn ifft ifftn ihfft irfft irfftn rfft rfft2 rfftn
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6
"$work/venv/bin/python" - <<'PROGRAM'
import numpy as np

OF_REAL = {"rfft", "rfft2", "rfftn", "ihfft"}
names = [n for n in np.fft.__all__ if not n.endswith(("freq", "shift"))]
x = np.arange(8.0).reshape(2, 4)
fills = {}
for name in names:
    transform, argument = getattr(np.fft, name), x if name in OF_REAL else x + 0j
    expected = transform(argument)
    out = np.full_like(expected, 7)
    result = transform(argument, out=out)
    assert np.array_equal(result, expected)
    fills[name] = result is out
    assert fills[name] or np.all(out == 7)

left = sorted(n for n, filled in fills.items() if not filled)
print("leave out as it was:", *left)
print("fill it:", *sorted(n for n, filled in fills.items() if filled))
assert left == ["hfft", "ifft2", "irfft2"]
PROGRAM
