"""The corpus without tapeless: programs run, repeat themselves, have sound differences."""

import numpy as np
import pytest

from tests.corpus import programs
from tests.corpus.differences import curvature, gradient, leaves, ravel, signed


@pytest.fixture(params=programs(), ids=lambda each: each.name)
def program(request):
    return request.param


def test_program_repeats_itself(program, capsys):
    first = ravel(program.function(*program.arguments()))
    printed = capsys.readouterr().out
    np.testing.assert_array_equal(first, ravel(program.function(*program.arguments())))
    assert printed == capsys.readouterr().out


def test_program_has_float_results_and_leaves_other_arguments_alone(program):
    args = program.arguments()
    result = program.function(*args)
    assert all(
        np.issubdtype(np.asarray(leaf).dtype, np.floating)
        for leaf in leaves((program.active(), result))
    )
    for i, before in enumerate(program.arguments()):
        if i not in program.wrt:
            np.testing.assert_equal(args[i], before)


def test_program_is_smooth(program):
    objective, point = program.objective(), ravel(program.active())
    slopes = gradient(objective, point)
    size = np.linalg.norm(slopes)
    assert size > 1e-3
    np.testing.assert_allclose(
        gradient(objective, point, step=3e-6), slopes, rtol=1e-5, atol=1e-6 * size
    )


def test_program_is_twice_smooth(program):
    if not program.second:
        return
    objective, point = program.objective(), ravel(program.active())
    first, second = signed(point.size, seed=2), signed(point.size, seed=3)
    bends = [curvature(objective, point, first, second, step) for step in (1e-4, 2e-4)]
    np.testing.assert_allclose(
        bends[0], bends[1], rtol=1e-4, atol=1e-5 * (1 + abs(objective(point)))
    )


def test_names_are_unique():
    names = [each.name for each in programs()]
    assert len(names) == len(set(names)) >= 220
