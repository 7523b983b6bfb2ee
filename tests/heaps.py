"""Runs random programs over objects that share one another, and compares them with dual numbers.

`python -m tests.heaps 0 1000` tries 1,000 seeds from 0 on: values and derivatives, without traces
first; `python -m tests.heaps 0 1000 records` those over lists of objects that loops make, `known`
those over lists that are written out, of which each loop stays one. It prints each that is wrong
or fails, made smaller, and how many were staged for all values, traced on the values of the call,
or refused, and why.
"""

from __future__ import annotations

import collections
import random
import sys
import tempfile
import warnings

from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.frontend.control_flow import python_loops
from tests.random_heaps import HeapWriter
from tests.random_records import KnownRecordWriter, RecordWriter
from tests.shrinking import shrunk
from tests.towers import fails, in_time, kind, point, tell

WRITERS = {"heaps": HeapWriter, "records": RecordWriter, "known": KnownRecordWriter}
CALL = "\n\ng0 = lambda x, v, m: value_and_grad(f, argnums=(0, 1))(x, v, 3)\n"


def program(seed: int, writer: str = "heaps") -> str:
    """The text of a module: a function f of the seed, and a call of its value and derivatives."""
    return WRITERS[writer](random.Random(seed)).program().replace("import numpy as np\n", "") + CALL


def strict_outcome(text: str, seed: int, folder: str) -> str:
    """What becomes of a program that is to be staged for all values."""
    before, STRICT[0] = STRICT[0], True
    try:
        return in_time(text, "g0", point(seed), folder)
    finally:
        STRICT[0] = before


def outcome(text: str, seed: int, folder: str) -> str:
    """What becomes of a program: right, traced, refused, or what went wrong in a few words."""
    result = strict_outcome(text, seed, folder)
    if not result.startswith("refused"):
        return result
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = in_time(text, "g0", point(seed), folder)
    return f"right, traced: {result}" if traced == "right" else traced


def main(first: int, count: int, writer: str = "heaps") -> bool:
    """Whether a program failed."""
    numbers: collections.Counter[str] = collections.Counter()
    if writer == "known":
        python_loops.LONG_CODE = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            text = program(seed, writer)
            result = outcome(text, seed, folder)
            numbers[kind(result)] += 1
            if fails(result):
                tell(f"{seed}: {result.splitlines()[0]}")
                same = kind(result)
                small = shrunk(text, lambda t: kind(outcome(t, seed, folder)) == same)  # noqa: B023  # called at once
                tell(small[small.index("def f(") :])
    for what, n in numbers.most_common():
        tell(f"{n:6} {what}")
    return any(map(fails, numbers))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
