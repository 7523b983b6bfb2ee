"""np.pad: every mode, values for each side, and widths by axis."""

import numpy as np
import pytest

from tapeless import jit, vmap
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.ops.agreement import check_slopes, check_values

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])
M = np.arange(6.0).reshape(2, 3) ** 2
MODES = ("linear_ramp", "maximum", "minimum", "mean", "median", "edge", "reflect", "wrap")


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    def f(x):
        return np.pad(x, ((1, 1), (0, 2)), mode=mode)

    check_values(f, M)
    check_slopes(f, M)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("x", [np.array([3, -5, 4, 7]), np.array([3, 5, 4, 200], np.uint8)])
def test_integers(mode, x):
    check_values(lambda x: np.pad(x, 1, mode=mode), x)


OPTIONS = {
    "ends": lambda x: np.pad(x, (1, 3), mode="linear_ramp", end_values=(5.0, -2.0)),
    "values": lambda x: np.pad(x, (1, 2), constant_values=(3.0, 4.0)),
    "data": lambda x: np.pad(x, (1, 2), constant_values=(x[0], 2 * x[1])),
    "no width": lambda x: np.pad(x, 0, constant_values=(1, 2)),
    "an array of widths": lambda x: np.pad(x, np.array([1, 2])),
    "odd": lambda x: np.pad(x, (2, 4), mode="reflect", reflect_type="odd"),
    "odd and symmetric": lambda x: np.pad(x, (5, 3), mode="symmetric", reflect_type="odd"),
    "even": lambda x: np.pad(x, 1, mode="reflect", reflect_type="even"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    check_values(OPTIONS[name], A)
    check_slopes(OPTIONS[name], A)


def test_values_by_axis():
    def f(x):
        return np.pad(x, ((1, 1), (2, 1)), constant_values=((1.0, 2.0), (3.0, 4.0)))

    check_values(f, M)
    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_array_equal(run(np.stack([M, -M])), [f(M), f(-M)])


def test_widths_by_axis():
    check_values(lambda x: np.pad(x, {1: (1, 2)}), M)
    check_values(lambda x: np.pad(x, {-1: 2, 0: 1}, mode="edge"), M)


def test_widths_that_are_arguments():
    check_values(lambda x, n: np.pad(x, (n, 1), mode="mean"), A, 2)
    check_values(lambda x: np.pad(x, -1), A)


def test_constants_wrap_around():
    check_values(lambda u: np.pad(u, 1, constant_values=300), np.array([200, 3], np.uint8))


def test_a_number_stays_what_it_is():
    check_values(lambda x: np.pad(x[0], 1), A)


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="with mode='mean' and these options"):
        jit(lambda x: np.pad(x, 1, mode="mean", stat_length=2))(A)
    with pytest.raises(UnsupportedError, match="odd reflections wider than the array"):
        jit(lambda x: np.pad(x, 5, mode="reflect", reflect_type="odd"))(A)
