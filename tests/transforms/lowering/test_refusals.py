"""What NumPy refuses of arrays without elements, and what keys of views of views mean."""

import numpy as np
import pytest

from tapeless import jit


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_extremes_of_no_numbers(name, shape, axis):
    def extreme(b):
        return getattr(b, name)(axis=axis)

    b = np.zeros(shape)
    if 0 in (shape if axis is None else (shape[axis],)):
        with pytest.raises(ValueError, match="zero-size array") as wanted:
            extreme(b)
        with pytest.raises(ValueError, match="zero-size array") as found:
            jit(extreme)(b)
        assert str(found.value) == str(wanted.value)
    else:
        assert jit(extreme)(b).shape == extreme(b).shape


def test_extremes_of_computed_parts_without_numbers():
    part = jit(lambda b, k: b[k:, k:].min(axis=1))
    assert part(np.ones((3, 3)), 2).shape == (1,)
    with pytest.raises(ValueError, match="zero-size array"):
        part(np.ones((3, 3)), 3)


def reversed_rows(b, mask, k):
    a = b[:, ::-1]
    a[mask] = 7.0
    return b


def reversed_columns(b, mask, k):
    a = b[::-1]
    a[mask] += 1.0
    return b


def of_a_row(b, mask, k):
    a = b[1]
    a[:, k] = np.arange(6.0).reshape(3, 2)
    return b


def read_of_a_row(b, mask, k):
    a = b[1]
    a[0] = 0.5
    return a[:, k]


@pytest.mark.parametrize("f", [reversed_rows, reversed_columns])
def test_masks_of_several_axes_of_views(f):
    b = np.arange(12.0).reshape(3, 4) % 5
    for g in (f, jit(f)):
        given = b.copy()
        np.testing.assert_array_equal(g(given, b > 2, None), f(b.copy(), b > 2, None))


@pytest.mark.parametrize("f", [of_a_row, read_of_a_row])
def test_index_arrays_of_views_that_an_index_made(f):
    """b[1][:, k] is not b[1, :, k], where the axis of k is in front."""
    b, k = np.arange(24.0).reshape(2, 3, 4), np.array([0, 2])
    np.testing.assert_array_equal(jit(f)(b.copy(), None, k), f(b.copy(), None, k))


def test_lists_of_what_holds_no_numbers():
    def longest(x):
        found = [() for v in x if v > 1]
        return any(found), len(found), sum(len(each) for each in found)

    def taken_off(x):
        rest, count = [()], 0
        for v in x:
            if v > 1:
                rest += [()]
        rest[0] = ()
        while rest:
            rest.pop()
            count += 1
        return count

    x = np.arange(4.0)
    assert jit(longest)(x) == longest(x) == (False, 2, 0)
    assert jit(taken_off)(x) == taken_off(x) == 3
