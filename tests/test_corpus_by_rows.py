"""The corpus under jit with each row by itself, the last one first: whatever threads share must
not depend on the order in which it is made."""

import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.lowering.schedule import parallel_nests
from tests.row_by_row import by_rows
from tests.test_corpus_compiled import PROGRAMS, check


@pytest.fixture(autouse=True)
def _all_is_heavy(monkeypatch):
    monkeypatch.setattr(parallel_nests, "HEAVY", 1)
    monkeypatch.setattr(Jit, "load", by_rows)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS[::9])
def test_values(program):
    check(program, program.function)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS[5::15])
def test_gradients(program):
    if program.name != "elementwise.untaken_side_has_no_value":  # Python's log(0) raises
        check(program, tapeless.grad(program.projected(), program.wrt))
