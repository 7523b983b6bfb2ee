"""Parts of arrays of keys, and whether they have a key in common."""

import pytest

from tapeless.transforms.random_keys.key_slices import EACH, WHOLE, KeySlice, path_of

MEET = [
    ((), (0,)),
    ((2,), (2,)),
    ((slice(1, 4),), (3,)),
    ((slice(1, 4),), (slice(3, None),)),
    ((WHOLE, 0), (2,)),
    ((("at", 7),), (("at", 7),)),
    ((EACH,), (1,)),
    ((("each", slice(0, 2)),), (1,)),
]
APART = [
    ((0,), (1,)),
    ((slice(1, 4),), (4,)),
    ((slice(None, 2),), (slice(2, None),)),
    ((0, 1), (0, 2)),
    ((("at", 7),), (("at", 8),)),
    ((("at", 7),), (0,)),
    ((("each", slice(0, 2)),), (2,)),
]


@pytest.mark.parametrize(("a", "b"), MEET)
def test_parts_that_meet(a, b):
    assert KeySlice(1, a).meets(KeySlice(1, b))
    assert KeySlice(1, b).meets(KeySlice(1, a))
    assert not KeySlice(1, a).meets(KeySlice(2, b))


@pytest.mark.parametrize(("a", "b"), APART)
def test_parts_that_may_be_apart(a, b):
    assert not KeySlice(1, a).meets(KeySlice(1, b))
    assert not KeySlice(1, b).meets(KeySlice(1, a))


def test_parts_of_parts():
    assert KeySlice(1, (WHOLE, 2)).part((0,)) == KeySlice(1, (0, 2))
    assert KeySlice(1, (EACH,)).part((3,)) == KeySlice(1, (EACH, 3))
    assert KeySlice(1, (slice(1, 4),)).part((EACH,)) == KeySlice(1, (("each", slice(1, 4)),))
    assert KeySlice(1, (slice(1, 4),)).part((0,)) is None


def test_paths():
    assert path_of((-1, slice(None)), [], (5, 2)) == (4, WHOLE)
    assert path_of((slice(None, None, 2),), [], (5, 2)) is None
    assert path_of((None, 0), [], (5, 2)) is None
