"""Derivatives of batches whose loops run over parts of them: lengths that only a pass shows."""

import pytest

from tests.random_towers import HELPERS
from tests.towers import outcome, point

LEFT_BY_A_BREAK = """
def f(x, v):
    if np.max(v) < x + 0.3:
        for i in range(len(v)):
            if x > 0.05:
                v[i] = np.tanh(v[i] + v[-1])
                break
            v[:-1] += np.tanh(v[1:])
    return x + np.sum(v * v)
"""
WHILE = """
def f(x, v):
    if np.max(v) < x + 0.3:
        k = 0
        while k < 4:
            k += 1
            if x > 0.05:
                v[1] = np.tanh(v[0] + x)
                break
            v[:-1] += np.tanh(v[1:])
    return x + np.sum(v * v)
"""
WHILE_IN_A_LOOP = """
def f(x, v):
    if np.max(v) < x + 0.3:
        for i in range(len(v)):
            k = 0
            while x < 0.5 and k < 4:
                k += 1
                v[i] = np.tanh(v[i] + v[-1])
            if x > 0.05:
                v[0] += np.tanh(x + x)
                break
    return x + np.sum(v * v)
"""
CALLED_TWICE = """
def twice(x, v, m):
    return f(x, v.copy()) * f(0.5 * x, 0.9 * v)


def of_a_batch(x, v, m):
    xs = x + np.array([0.0, 0.13])
    return vmap(FIRST(twice, argnums=(0, 1)), in_axes=(0, None, None))(xs, v, m)


second = SECOND
tower = grad(lambda x, v, m: total(second(x, v, m)), argnums=(0, 1))
"""
ORDERS = (
    ("grad", "grad(lambda x, v, m: total(of_a_batch(x, v, m)))"),
    ("grad", "jacrev(of_a_batch)"),
    ("jacfwd", "jacrev(of_a_batch)"),
)


@pytest.mark.parametrize("text", [LEFT_BY_A_BREAK, WHILE, WHILE_IN_A_LOOP])
@pytest.mark.parametrize("orders", ORDERS)
def test_third_order_of_a_loop_over_a_part_of_a_batch(text, orders, tmp_path):
    calls = CALLED_TWICE.replace("FIRST", orders[0]).replace("SECOND", orders[1])
    assert outcome(HELPERS + text + calls, "tower", point(2064), tmp_path) == "right"
