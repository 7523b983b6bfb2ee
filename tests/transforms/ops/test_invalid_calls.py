"""What NumPy refuses is refused with its error, whatever a call stands in."""

import pytest

from tests.transforms.ops.invalid_calls import CALLS, SURROUNDINGS, disagreement, text

#: Each call in one of the surroundings.
EACH = [(call, [*SURROUNDINGS][k % len(SURROUNDINGS)]) for k, call in enumerate(CALLS)]


@pytest.mark.every_case
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("call", "surrounding"),
    [pytest.param(c, s, id=f"{text(c)}, {s}") for c, s in EACH],
)
def test_the_error_is_that_of_numpy(call, surrounding):
    assert not disagreement(call, surrounding)
