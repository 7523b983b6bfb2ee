"""Random programs over lists, dicts, objects and arrays that share one another give what Python
gives, and most of them are staged for all values."""

import pytest

from tests.heaps import CALL, outcome, program, strict_outcome
from tests.random_heaps import HEADER
from tests.towers import fails

pytestmark = pytest.mark.every_case

GROUP = 10


@pytest.mark.parametrize("first", range(0, 60, GROUP))
def test_programs(first, tmp_path):
    for seed in range(first, first + GROUP):
        text = program(seed)
        result = outcome(text, seed, tmp_path)
        assert not fails(result), f"seed {seed}: {result}\n{text}"
        assert result != "too long", f"seed {seed}\n{text}"


@pytest.mark.parametrize("first", range(0, 30, GROUP))
def test_lists_of_objects_that_loops_make(first, tmp_path):
    for seed in range(first, first + GROUP):
        text = program(seed, "records")
        result = outcome(text, seed, tmp_path)
        assert not fails(result), f"seed {seed}: {result}\n{text}"
        assert result != "too long", f"seed {seed}\n{text}"


def test_most_programs_are_staged_for_all_values(tmp_path):
    results = [strict_outcome(program(seed), seed, tmp_path) for seed in range(1000, 1020)]
    assert results.count("right") >= 14


def test_a_lost_alias_is_noticed(tmp_path):
    text = HEADER.replace("import numpy as np\n", "") + (
        "\n\ndef f(x, v, n):\n"
        "    a = [x]\n"
        "    b = a if n else [x]\n"
        "    return custom_jvp(lambda a: a)(b[0])\n"
    )
    rule = "\n\ng = custom_jvp(lambda a: a)\ng.defjvp(lambda p, t: (p[0], 2.0 * t[0]))\n"
    text = rule + text.replace("custom_jvp(lambda a: a)(b[0])", "g(b[0])") + CALL
    assert outcome(text, 0, tmp_path) == "wrong: value"
