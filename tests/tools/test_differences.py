"""The comparison with finite differences tells right from wrong."""

import numpy as np
import pytest

import tapeless
from tapeless.tools.differences import compare, fresh


def test_right_in_both_modes():
    rows = compare(lambda x, w: {"y": np.sin(x) * w}, (0.7, np.array([1.0, 2.0])))
    assert len(rows) == 6
    assert {row.mode for row in rows} == {"forward", "reverse"}
    assert all(row.right for row in rows)


def test_wrong_is_found():
    @tapeless.custom_jvp
    def doubled(x):
        return 2 * x

    doubled.defjvp(lambda primals, tangents: (2 * primals[0], 3 * tangents[0]))
    rows = compare(doubled, (1.0,))
    assert not any(row.right for row in rows)
    assert [row.off for row in rows] == pytest.approx([0.5, 0.5])


def test_overwritten_arguments_are_copied():
    def overwrite(x):
        x *= x
        return np.sum(x)

    x = np.array([1.0, 2.0])
    assert all(row.right for row in compare(overwrite, (x,)))
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_fresh_copies_arrays_only():
    x = np.zeros(2)
    copy, number = fresh((x, 1.5))
    assert copy is not x
    assert number == 1.5
