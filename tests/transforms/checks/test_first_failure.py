"""Checks of run-time values: what they look like in emitted code, and where there are none."""

import re

import numpy as np
import pytest

import tapeless
from tapeless.experimental import checkify

X = np.array([1.0, 2.0, 3.0])


def damped(x):
    for _ in range(4):
        x = np.sqrt(x) - 1.0
    return x


def test_a_loop_carries_the_first_failure(golden):
    batch = tapeless.vmap(checkify.checkify(damped, errors=checkify.nan_checks))
    golden("batched_checked_for_nan.py", batch.source(X))


def neighbours(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[i] * x[i - 1] / x[-1] + 1.0 / 2.0
    return total


@pytest.mark.parametrize(
    ("errors", "pattern", "count"),
    [
        (checkify.index_checks, r"IndexError|wrong_index|np\.minimum", 0),  # the range is known
        (checkify.div_checks, r"== 0", 2),  # of x[-1], and of the code
        (checkify.user_checks, r"isnan|== 0|np\.minimum", 0),
    ],
)
def test_what_cannot_fail_is_not_checked(errors, pattern, count):
    batch = tapeless.vmap(checkify.checkify(neighbours, errors=errors))
    text = batch.source(np.stack([X, X]))
    assert len(re.findall(pattern, text)) == count, text
