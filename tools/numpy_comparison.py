"""Compares every function of docs/numpy.md with NumPy and SciPy, and records how they agree.

    python -m tapeless.tools.numpy_comparison [NAME ...] [--share 0.1] [--jit 2] [--write]

Each function is called in many ways: dtypes, shapes, memory layouts, NaN, infinities and zeros of
both signs, every value of every option that is walked, pairs of these. What NumPy gives is compared
with what emitted code gives and, for a few calls, compiled code. `--write` records the result, of
which `python -m tapeless.tools.numpy_table` makes columns of docs/numpy.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatch

from tapeless.tools.comparing import records
from tapeless.tools.comparing.calls import calls
from tapeless.tools.comparing.running import compare_calls, functions


def main(arguments: Sequence[str] | None = None) -> int:
    """Walks the functions, prints each difference once, and says how many are unexplained."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="functions, such as np.sum or 'scipy.fft.*'")
    parser.add_argument("--share", type=float, default=1.0, help="part of all calls to make")
    parser.add_argument("--jit", type=int, default=0, help="calls a function to compile")
    parser.add_argument("--write", action="store_true", help="record the result")
    options = parser.parse_args(arguments)
    every, unexplained = functions(), 0
    for pattern in options.names:
        if not any(fnmatch(name, pattern) for name in every):
            parser.error(f"no function that has a rule is called {pattern}: np.sum, scipy.fft.*")
    for name, function in every.items():
        if options.names and not any(fnmatch(name, pattern) for pattern in options.names):
            continue
        result = compare_calls(name, calls(name, function), options.share, options.jit)
        print(result.line(), flush=True)
        for text in result.examples():
            print("   ", text)
        unexplained += len(result.unexplained_differences())
        if options.write:
            records.write(name, result.record())
    print(f"{unexplained} kinds of differences are not explained")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
