"""Polynomials that start with zeros, and roots of few."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.transforms.ops.agreement import check_slopes, check_values

B = np.array([1.0, 3.0])


@pytest.mark.parametrize("a", [[0.0, 1.0, 2.0], [0.0, 0.0], [0.0], [2.0, 0.0]])
def test_known_zeros_in_front_are_left_out(a):
    check_values(lambda b: np.polymul(a, b), B)
    check_slopes(lambda b: np.polymul(a, b), B)


def test_zeros_of_data_are_refused():
    a = np.array([0.0, 1.0, 2.0])
    for run in (jit(np.polymul), grad(lambda a, b: np.polymul(a, b).sum())):
        with pytest.raises(ValueError, match="a leading coefficient is zero"):
            run(a, B)
    check_values(np.polymul, a + 1, B)
    check_slopes(np.polymul, a + 1, B)
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for run in (vmap(np.polymul, (0, None)), jit(vmap(np.polymul, (0, None)))):
        np.testing.assert_array_equal(run(rows, B), [np.polymul(row, B) for row in rows])


@pytest.mark.parametrize("roots", [[100, 20], [True, False]])
def test_integers_as_roots(roots):
    check_values(np.poly, np.array(roots, np.int8))


def test_no_roots():
    check_values(np.poly, np.zeros(0))
    for p in ([2.0], [0.0, 0.0], [0.0, 3.0]):
        assert jit(np.roots)(np.array(p)).shape == (0,)
    np.testing.assert_array_equal(jit(np.roots)(np.array([0.0, 3.0, 0.0])), [0.0])
