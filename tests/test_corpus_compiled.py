"""The corpus under jit against NumPy: every program in loop form, run by Python; some compiled."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.errors import TapelessError
from tests.corpus import programs
from tests.corpus.differences import leaves

PROGRAMS = [pytest.param(each, id=each.name) for each in programs()]
COMPILED = PROGRAMS[::12]


def by_python(self, text):
    """Loop form needs no compiler to be right."""
    values = {"njit": lambda *f, **_: f[0] if f else lambda g: g}
    exec(text.replace("from numba import njit", ""), values)
    return values[self.emitted_name]


def agree(got, want, rough=False):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=False):
            agree(a, b, rough)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for key in want:
            agree(got[key], want[key], rough)
    elif isinstance(want, (np.ndarray, np.number, int, float, complex)):
        single = rough or np.asarray(want).dtype in (np.float32, np.complex64)
        assert np.asarray(got).dtype == np.asarray(want).dtype
        assert isinstance(got, np.ndarray) == isinstance(want, np.ndarray)
        tolerance = 2e-4 if single else 1e-8
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def check(program, function):
    """The values of a function and its overwritten arguments."""
    args, others = program.arguments(), program.arguments()
    with np.errstate(all="ignore"):
        try:
            want = function(*args)
        except TapelessError:
            pytest.skip("refused, compiled or not")
        got = tapeless.jit(function)(*others)
    agree(got, want, any(getattr(a, "dtype", None) == np.float32 for a in leaves(args)))
    for a, b in zip(leaves(others), leaves(args), strict=False):
        if not isinstance(b, str):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_in_loop_form(monkeypatch, program):
    monkeypatch.setattr(Jit, "load", by_python)
    check(program, program.function)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS[::3])
def test_gradients_in_loop_form(monkeypatch, program):
    monkeypatch.setattr(Jit, "load", by_python)
    if program.name != "elementwise.untaken_side_has_no_value":  # Python's log(0) raises
        check(program, tapeless.grad(program.projected(), program.wrt))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", COMPILED)
def test_values_compiled(program):
    check(program, program.function)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", COMPILED[::2])
def test_gradients_compiled(program):
    check(program, tapeless.grad(program.projected(), program.wrt))
