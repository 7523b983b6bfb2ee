"""Lowering takes a time that grows with the number of statements, not with its square."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.lowering.schedule.dependences import Dependences


def steps(x, first, count):
    for _ in range(3):
        for f in (np.sin, np.cos) * (count // 2):
            x = np.where(x > first, np.roll(x, 1) * f(x), x[::-1] - first)
    return np.sum(x)


@pytest.mark.parametrize("asked", ["base", "cell"])
def test_what_is_asked_of_memory(monkeypatch, asked):
    count = 0
    answer = getattr(Dependences, asked)

    def counted(self, a):
        nonlocal count
        count += 1
        return answer(self, a)

    monkeypatch.setattr(Dependences, asked, counted)

    def asked_for(passes):
        nonlocal count
        count = 0
        tapeless.clear_caches()  # lambdas of one line share programs
        f = tapeless.jit(lambda x, first: steps(x, first, passes))
        source = f.source(np.ones(8), 0.5)
        assert source.count("sin(") >= passes // 2  # each pass has statements of its own
        return count

    assert asked_for(80) < 2.5 * asked_for(40)
