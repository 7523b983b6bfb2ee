"""Entries of keys that are composed mean the same for every length, IndexErrors included."""

import itertools

import numpy as np
import pytest

from tapeless.transforms.ops.primitives.index_keys import compose_entries

ENDS = (None, 0, 1, 2, 3, 5, -1, -2, -4)
SLICES = [slice(first, last) for first, last in itertools.product(ENDS, ENDS)]
ENTRIES = [*SLICES, *(k for k in ENDS if k is not None)]


def part(x, entry):
    try:
        return x[entry].tolist()
    except IndexError:
        return "IndexError"


@pytest.mark.parametrize("first", SLICES[1:], ids=str)
def test_composed_entries_mean_the_same(first):
    for then in ENTRIES:
        entry = compose_entries(first, then)
        for n in range(9) if entry is not None else ():
            x = np.arange(n)
            assert part(x, entry) == part(x[first], then), (first, then, entry, n)


def test_other_steps_are_not_composed():
    assert compose_entries(slice(None, None, 2), 1) is None
    assert compose_entries(slice(1, None), slice(None, None, -1)) is None
