"""Statements that share a loop read of each other only what the same pass makes."""

import numpy as np
import pytest

from tapeless import jit

Z4 = np.array([0.4, -1.1, 0.9, 0.3])


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


def one_number_where_a_mask_says(z, mask):
    y = z[::-1]
    for _ in range(3):
        y[np.nonzero(mask)] = np.sin(2 * z)[0]
        x = np.sin(y)
    return y + x


def test_stores_at_the_places_of_a_mask_into_a_view():
    mask = np.array([True, False, True, True])
    wanted = one_number_where_a_mask_says(Z4.copy(), mask)
    np.testing.assert_allclose(jit(one_number_where_a_mask_says)(Z4.copy(), mask), wanted)
