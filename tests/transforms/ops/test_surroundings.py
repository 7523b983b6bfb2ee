"""A sample of all operations in all surroundings; `surroundings.py` runs the others, too."""

import pytest

from tests.transforms.ops.surroundings import INAPPLICABLE, combinations, met

pytestmark = pytest.mark.every_case

#: What is refused by name, and why.
REFUSED = {
    "poly": "the number of roots must be known",
    "array_split": "the lengths of the parts depend on it",
}


def sampled(every):
    return pytest.mark.parametrize("combination", combinations(every), ids=lambda c: c.name)


def assert_right(combination, mode):
    problem = met(combination, mode)
    if problem == INAPPLICABLE:
        pytest.skip("NumPy refuses it")
    if problem == "ValueError: the view would read beyond the array":
        pytest.skip("NumPy reads what is not there")
    if problem is not None and problem.startswith("refused"):
        reason = REFUSED.get(combination.case.name.partition("(")[0])
        assert reason is not None, problem
        assert reason in problem
        return
    assert problem is None


@sampled(60)
@pytest.mark.parametrize("mode", ["jvp", "grad"])
def test_derivatives(combination, mode):
    assert_right(combination, mode)


@sampled(500)
@pytest.mark.parametrize("mode", ["jit", "jit(grad)"])
def test_compiled(combination, mode):
    assert_right(combination, mode)
