"""np.linspace and its like with one number or none, and np.arange that is derived by its ends."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.transforms.ops.agreement import check_slopes, check_values

X = np.array([0.7, 1.0])

SPACED = {
    "one": lambda x: np.linspace(x, x + 1, 1),
    "none": lambda x: np.linspace(x, x + 1, 0),
    "one without the end": lambda x: np.linspace(x, x + 1, 1, endpoint=False),
    "none without the end": lambda x: np.linspace(x, x + 1, 0, endpoint=False),
    "one along an axis": lambda x: np.linspace(x, x + 1, 1, axis=-1),
    "several": lambda x: np.linspace(x, x + 1, 4),
    "one of logspace": lambda x: np.logspace(x, x + 1, 1),
    "one of geomspace": lambda x: np.geomspace(x, x + 1, 1),
    "several of geomspace": lambda x: np.geomspace(x, x + 1, 3),
}


@pytest.mark.parametrize("name", SPACED)
@pytest.mark.parametrize("x", [0.7, X], ids=["number", "array"])
def test_spaced(name, x):
    check_values(SPACED[name], x)
    check_slopes(SPACED[name], x)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("of", [np.linspace, np.logspace, np.geomspace])
def test_a_count_that_is_an_argument(of, count):
    def f(x, n):
        return of(x, x + 1, n)

    check_values(f, 0.7, count)
    check_slopes(f, 0.7, count)


def test_one_program_for_all_counts():
    f = jit(lambda x, n: np.linspace(x, x + 1, n))
    for n in (3, 1, 0, 2, 1, 5):
        np.testing.assert_allclose(f(0.7, n), np.linspace(0.7, 1.7, n))


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_step(count):
    check_values(lambda x: np.linspace(x, x + 1, count, retstep=True), 0.7)


def test_integers_are_rounded_down():
    check_values(lambda x: np.linspace(x, 1, 4, dtype=int), -1.0)


def test_batches():
    def f(x):
        return np.linspace(x, x + 1, 1)

    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_allclose(run(X), [[0.7], [1.0]])


COUNTED = {
    "start": lambda x: np.arange(x, 3.0),
    "start and stop": lambda x: np.arange(x, x + 3.0),
    "step": lambda x: np.arange(0.0, 3.0, x),
    "all": lambda x: np.arange(x, 3.0, x),
    "stop": lambda x: np.arange(x + 2.0),
    "single": lambda x: np.arange(x, 3.0, dtype=np.float64),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted(name):
    check_values(COUNTED[name], 0.7)
    check_slopes(COUNTED[name], 0.7)


def test_slope_of_a_sum():
    assert grad(lambda x: np.sum(np.arange(x, 3.0)))(0.7) == 3.0
