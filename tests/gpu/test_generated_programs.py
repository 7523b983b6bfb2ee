"""Random programs give on a GPU what NumPy gives, and the gradients of the array form.

A longer run: `python -m tests.gpu.generated_programs --count 1000`.
"""

import pytest

from tests.gpu.generated_programs import GOOD, outcomes

#: Of programs that are not refused as a whole.
SEEDS = [0, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14]


@pytest.mark.parametrize("seed", SEEDS)
def test_generated_programs(seed, gpu):
    found = outcomes(seed)
    assert {name: text for name, text in found.items() if text not in GOOD} == {}
    assert "right" in found.values()
