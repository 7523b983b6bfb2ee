"""Each row of docs/language.md: its programs in grad, jvp and second order, or its refusal."""

import re
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient, signed
from tests.language import POINT, classes, programs

pytestmark = pytest.mark.every_case

PAGE = (Path(__file__).parents[1] / "docs" / "language.md").read_text(encoding="utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| Construct")
]
PROGRAMS = programs()
WORKING = [p for p in PROGRAMS if not p.refused]
REFUSED = [p for p in PROGRAMS if p.refused]
TRACED = [p for p in REFUSED if p.traced]


def named(found):
    return pytest.mark.parametrize("program", found, ids=lambda each: each.name)


def test_rows_and_programs_belong_together():
    rows = [construct for construct, *_ in ROWS]
    assert len(rows) == len(set(rows))
    assert set(rows) == {program.row for program in PROGRAMS}


@pytest.mark.parametrize(("construct", "status", "how"), ROWS, ids=lambda cell: cell[:40])
def test_a_row_says_what_its_programs_show(construct, status, how):
    declined = {(p.row, "traced" if p.traced else "refused") for p in REFUSED}
    assert status == dict(declined).get(construct, "works")
    assert how


@named(WORKING)
def test_reverse_mode(program):
    x = program.at.copy()
    slope = tapeless.grad(program.function)(x)
    np.testing.assert_array_equal(x, program.at)
    expected = gradient(program.function, program.at)
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


@named(WORKING)
def test_forward_mode(program):
    direction = signed(program.at.size, seed=1)
    value, slope = tapeless.jvp(program.function, (program.at.copy(),), (direction,))
    assert value == pytest.approx(program.function(program.at.copy()), rel=1e-12)
    expected = gradient(program.function, program.at) @ direction
    assert slope == pytest.approx(expected, rel=1e-6, abs=1e-7)


@named(WORKING)
def test_second_order(program):
    """Forward over reverse and reverse over reverse, against differences of the slopes."""
    first, second = signed(program.at.size, seed=2), signed(program.at.size, seed=3)
    slopes = tapeless.grad(program.function)
    expected = gradient(lambda x: slopes(x) @ second, program.at) @ first
    _, bend = tapeless.jvp(slopes, (program.at.copy(),), (first,))
    assert bend @ second == pytest.approx(expected, rel=1e-5, abs=1e-6)
    again = tapeless.grad(lambda x: slopes(x) @ second)(program.at.copy())
    assert again @ first == pytest.approx(expected, rel=1e-5, abs=1e-6)


@named([p for p in WORKING if p.fails])
def test_errors_are_raised_at_run_time(program):
    point, kind, message = program.fails
    derivative = tapeless.grad(program.function)
    derivative(program.at)
    for function in (program.function, derivative):
        with pytest.raises(kind, match=re.escape(message)):
            function(np.array(point))


@named([p for p in WORKING if p.prints])
def test_printing_happens_once_a_run(program, capsys):
    derivative = tapeless.grad(program.function)
    for _ in range(2):
        derivative(program.at)
        assert capsys.readouterr().out == program.prints


def test_writes_to_outer_objects_are_carried_out():
    classes.SEEN.clear()
    classes.LATEST.clear()
    runs, derivative = classes.runs, tapeless.grad(classes.writes_outside)
    for n, scale in enumerate((1.0, 2.0), start=1):
        derivative(scale * POINT)
        assert classes.runs == runs + n
        seen, latest = classes.SEEN, classes.LATEST
        assert seen == pytest.approx([0.7, 1.4][:n])
        assert latest == {"sum": pytest.approx(1.6 * scale)}
        assert classes.MODEL.last == pytest.approx((0.4 * scale) ** 2)
        np.testing.assert_allclose(classes.TOTALS, scale * POINT * [0, 1, 2])


@named(REFUSED)
@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_refusals(program):
    with pytest.raises(tapeless.TapelessError) as caught:
        tapeless.grad(program.function)(program.at)
    assert program.refused in str(caught.value)
    assert f'File "{program.function.__code__.co_filename}"' in str(caught.value)
    assert caught.value.hint


@named(TRACED)
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@tapeless.strict(False)
def test_traces(program):
    function, at = program.function, program.at
    slope = tapeless.grad(function)(at.copy())
    xs = np.stack([at, 1.001 * at])
    np.testing.assert_allclose(tapeless.vmap(function)(xs), [function(x) for x in xs])
    assert tapeless.jit(function)(at.copy()) == pytest.approx(function(at.copy()))
    direction = signed(at.size, seed=1)
    _, tangent = tapeless.jvp(function, (at.copy(),), (direction,))
    assert tangent == pytest.approx(slope @ direction)
    if function.__name__ not in ("measures_text", "foreign"):  # whose values jump
        expected = gradient(function, at)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


def test_the_code_does_not_grow():
    def passes(x, n):
        for t in range(n):
            x = x + 0.001 * np.sin(x * t)
        return np.sum(x**2)

    derivative = tapeless.grad(passes)
    few, many = derivative.source(np.ones(2), 3), derivative.source(np.ones(5), 3000)
    assert few == many


def test_unrolling_is_said():
    (program,) = (p for p in PROGRAMS if p.function.__name__ == "unrolled")
    assert "unrolled" in tapeless.grad(program.function).stages(program.at)["notes"]
