"""Statements that share a loop read of each other only what the same pass makes."""

import numpy as np
import pytest

from tapeless import jit


def one_element_for_all_places(z, places):
    z = z * 1
    y = z[::-1]
    y[places % y.shape[0]] += z
    return y


def one_element_for_all_rows(z, places):
    z = z + 1
    return np.ones(4)[places] * z[::-1], z


@pytest.mark.parametrize("f", [one_element_for_all_places, one_element_for_all_rows])
def test_an_element_of_all_passes(f):
    z, places = np.array([2.0]), np.zeros(4, int)
    for a, b in zip(jit(f)(z.copy(), places), f(z.copy(), places), strict=True):
        np.testing.assert_array_equal(a, b)
