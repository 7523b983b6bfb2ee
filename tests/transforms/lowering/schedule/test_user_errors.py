"""Errors whose text tells of data are raised in compiled loops, as Python raises them."""

import traceback

import numpy as np
import pytest

import tapeless

BELOW = np.array([4.0, -2.0, 9.0])
ABOVE = np.array([4.0, 2.0, 9.0])


class NotConvergedError(Exception):
    """The user's."""


def text(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"negative at {i}: {x[i]:.3f} after {total}")
        total += np.sqrt(x[i])
    return total


def values(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative", i, (x[i], total))
        total += x[i]
    return total


def shown_by_repr(x):
    total = np.float32(0.0)
    for v in x.astype(np.float32):
        if v < 0:
            raise ArithmeticError(f"{v!r} {v} {total}")
        total += v * np.float32(0.1)
    return float(total)


def own_class(x):
    step, count = x[1] ** 2, 0
    while step > 1e-2:
        step *= 0.5 + 0.5 * (x[1] < 0)
        count += 1
        if count > 20:
            raise NotConvergedError("no convergence after", count, step)
    return step


def one_of_several(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            if x[i] < x[j] < 0:
                raise OverflowError(f"{i} {j}")
            if x[i] * x[j] < 0:
                raise ArithmeticError(f"{x[i] * x[j]}")
            total += x[i] * x[j]
    return total


def only_checked(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"{x[i]} < 0")
    return x * 2


PROGRAMS = [text, values, shown_by_repr, own_class, one_of_several, only_checked]
FORMS = {
    "jit": tapeless.jit,
    "grad": lambda f: tapeless.grad(lambda x: np.sum(f(x))),
    "jit of grad": lambda f: tapeless.jit(tapeless.grad(lambda x: np.sum(f(x)))),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_error_is_that_of_python(program, form):
    with pytest.raises(Exception) as wanted:  # noqa: PT011 (it is compared)
        program(BELOW)
    with pytest.raises(type(wanted.value)) as raised:
        FORMS[form](program)(BELOW)
    assert raised.value.args == wanted.value.args
    assert repr(raised.value.args) == repr(wanted.value.args)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_loop_is_run_by_python(program):
    compiled = tapeless.jit(program)
    np.testing.assert_allclose(compiled(ABOVE), program(ABOVE), rtol=1e-6)
    caller = compiled.source(ABOVE).split("\n@")[-1]
    assert caller.startswith("raising(")
    assert not any(word in caller for word in ("    for ", "    while "))


def test_the_first_of_several_rows_is_told():
    """Threads share the rows."""
    x = np.ones(2_000_000)
    x[1_900_000] = x[1_200_000] = -1.0
    compiled = tapeless.jit(text)
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^negative at 1200000: -1\.000 after"):
            compiled(x)


def test_the_line_of_the_user_is_named():
    try:
        tapeless.jit(text)(BELOW)
    except ValueError as e:
        told = "".join(traceback.format_exception(e))
    assert 'raise ValueError(f"negative at {i}: {x[i]:.3f} after {total}")' in told
    assert "test_user_errors.py" in told


def test_the_module_runs_by_itself(tmp_path):
    path = tmp_path / "text_module.py"
    path.write_text(tapeless.jit(text).source(ABOVE), encoding="utf-8")
    names = {}
    exec(path.read_text(encoding="utf-8"), names)
    assert names["text"](ABOVE) == text(ABOVE)
    with pytest.raises(ValueError, match=r"^negative at 1: -2\.000 after 2\.0$"):
        names["text"](BELOW)


def test_a_whole_array_in_a_text_is_told_by_python():
    def checked(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] < 0:
                raise ValueError(f"negative: {x}")
            total += x[i]
        return total

    with (
        pytest.warns(tapeless.PerformanceWarning, match="values in its text"),
        pytest.raises(ValueError, match=r"negative: \[ 4\. -2\.  9\.\]"),
    ):
        tapeless.jit(checked)(BELOW)
