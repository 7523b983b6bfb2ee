"""Options that are arguments of a program get one value after the other: each result is NumPy's.

A sample of all functions; `python -m tests.transforms.ops.test_options_in_turn` tries them all.
"""

import sys
import warnings
import zlib

import numpy as np
import pytest

from tapeless import jit
from tapeless.tools.comparing import calls, options
from tapeless.tools.comparing.inputs import Sample
from tapeless.tools.comparing.outcomes import KINDS, difference
from tapeless.tools.comparing.reasons import reason
from tapeless.tools.comparing.running import functions, outcome

SHARE = 0.06
SAMPLES = (
    Sample(),
    Sample("int32"),
    Sample("float64", (6,)),
    Sample("complex128", (2, 3, 2)),
    Sample("float64", ()),
    Sample("float32", (3, 3)),
)
#: Options whose results differ, and why that is no mistake.
OTHERS = {
    ("np.histogramdd", "density"): "edges of float32 bins are more exact here",
    ("np.interp", "period"): "complex places are an error, and a warning of NumPy's",
    ("np.linalg.pinv", "hermitian"): "all of the matrix is read",
    ("np.linalg.svd", "hermitian"): "all of the matrix is read",
    ("np.unique", "sorted"): "the order is not told",
    ("scipy.special.lambertw", "tol"): "more exact here",
    ("np.std", "where"): "of a number that is left out",
    ("np.var", "where"): "of a number that is left out",
}


def with_option(function, name):
    return lambda value, *arrays: function(*arrays, **{name: value})


def values_of(name, option):
    """Numbers and truth values, to and fro."""
    values = [
        v
        for v in options.values(name, option)
        if isinstance(v, (bool, int, float, np.integer)) and v == v
    ]
    return values + values[::-1]


def cases(share):
    """(function's name, option, form, sample), the same ones in every run."""
    for name, function in functions().items():
        if name.startswith(("math.", "cmath.", "np.random")) or calls.stored_to(name, function):
            continue
        for option in calls._parameters(name, function):
            for form in range(len(calls.forms_of(name, function))):
                for sample in SAMPLES:
                    key = f"{name} {option} {form} {sample}"
                    if zlib.crc32(key.encode()) / 2**32 < share and values_of(name, option):
                        yield name, option, form, sample


def complaint(name, option, form, sample):
    """What is wrong with the first value whose result is; None if all are right."""
    function = functions()[name]
    try:
        args = calls.ComparedCall(name, function, sample, form).arguments()
    except (IndexError, TypeError, ValueError):
        return None  # there are no such arguments
    run = with_option(function, option)
    compiled = jit(run).plain
    for value in values_of(name, option):
        result = difference(outcome(compiled, (value, *args)), outcome(run, (value, *args)))
        if KINDS.index(result.kind) > KINDS.index("exception") and not reason(name, result.kind):
            return f"{name} {option}={value} {form} {sample}: {result.kind}: {result.text}"
    return None


@pytest.mark.usefixtures("traced")
@pytest.mark.filterwarnings("ignore")
def test_options():
    sample = [case for case in cases(SHARE) if case[:2] not in OTHERS]
    assert len(sample) > 100
    assert [text for case in sample if (text := complaint(*case))] == []


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for case in cases(1.0):
        if case[:2] not in OTHERS and (text := complaint(*case)):
            sys.stdout.write(f"{text}\n")
