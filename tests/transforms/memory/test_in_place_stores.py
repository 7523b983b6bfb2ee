"""Stores in place: an array that somebody still sees is copied, one that nobody sees is not."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import For, Let, While
from tapeless.transforms.memory.in_place_stores import InPlaceStores, store_in_place
from tapeless.transforms.ops.primitives.in_place_arithmetic import OVERWRITING
from tapeless.transforms.optimize.simplify import simplify
from tests.transforms.staging import block_of, compiled, every, lets

V = np.array([1.0, 2.0, 3.0])


def fresh(v):
    a = v * 2
    a[0] = 5.0
    a[1] += a[2]
    return a


def chain(v):
    a = np.ones(3)
    b = a + v
    b[0] = 1.0
    c = b * b
    c[1] = 2.0
    return c


def filled(v):
    a = np.zeros(3)
    for k in range(3):
        a[k] = v[k] * 2
    return a


def recurrence(v):
    a = v + 1
    for k in range(1, 3):
        a[k] = a[k] + a[k - 1]
    return a


def whiled(v):
    a = v * 2
    while a[0] < 100:
        a[0] = a[0] * 2 + a[1]
    return a


def through_a_view(v):
    a = v * 2
    row = a[1:]
    row[0] = 7.0
    return a


def in_a_branch(v):
    a = v * 2
    if v[0] > 0:
        a[0] = 1.0
    else:
        a[1] = 1.0
    return a


def seen_by_a_result(v):
    a = v * 2
    b = a.copy()
    b[0] = 9.0
    return a, b


def rebound(v):
    a = v * 2
    b = a
    a = a + 1.0
    a[0] = 9.0
    return a, b


def argument(v):
    v[0] = 5.0
    v[1] = 6.0
    return v


def argument_in_a_loop(v):
    for k in range(3):
        v[k] = v[k] * k
    return v


def view_of_an_argument(v):
    v[1:][0] = 5.0
    return v


def old_and_new(v):
    kept = []
    a = v * 2
    for k in range(3):
        a[k] = a[k] + 1
        kept.append(a.copy())
    return np.array(kept)


def swapped(v):
    a, b = v * 2, v * 3
    for _ in range(3):
        a[0] = a[0] + b[1]
        a, b = b, a
    return a - b


def last_two(v):
    a, before = v * 2, v * 3
    for k in range(3):
        before[:] = a
        a[k] = a[k] + before[k - 1]
    return a - before


def shifted(v):
    before, a = v * 2, v * 3
    for _ in range(3):
        after = before + 1
        after[1:] = a[:-1] - before[1:]
        before, a = a, after
    return before - a


def shifted_twice(v):
    a, b, c = v * 2, v * 3, v * 4
    for k in range(4):
        new = a * 0.5
        new[0] = b[1] + k
        a, b, c = new, a, b
    return a + b * c


def shifted_and_overwritten(v):
    before, a = v * 2, v * 3
    for k in range(4):
        after = np.zeros(3)
        after[1:] = a[:-1] + before[1:]
        a[0] = k
        before, a = a, after
    return before - a


def under_two_names(v):
    a, b = v * 2, v * 3
    for k in range(4):
        new = a + b
        a, b = new, new
        if k > 1:
            a = a * 0.5
        a[0] = k
    return a - b


def kept_from_pass_to_pass(v):
    kept, before = [], v * 2
    for k in range(4):
        new = before + k
        kept.append(new)
        before[1] = 7.0
        new = new * 2
        before = kept[-1]
    return np.array(kept) + before


def kept_by_an_inner_loop(v):
    a, b = v * 2, v * 3
    for k in range(3):
        new = a + k
        for i in range(2):
            new, old = b * i, new
            old[i] = 5.0
            b = old
        a = new
    return a - b


def made_in_some_passes(v):
    a, b = v * 2, v * 3
    for k in range(5):
        if k % 2 == 0:
            new = a + b
            b, a = a, new
        a[k % 3] += 1.0
        b[0] = a[1]
    return a * 2 + b


def broadcasted(v):
    a = np.broadcast_to(v[0], (3,)).copy()
    a[1] = 0.0
    return a


def rows(v):
    h = np.zeros((3, 3))
    h[0] = v
    for t in range(1, 3):
        h[t] = h[t - 1] * 2
        h[t, 0] = 1.0
    return h


FUNCTIONS = [
    fresh,
    chain,
    filled,
    recurrence,
    whiled,
    through_a_view,
    in_a_branch,
    seen_by_a_result,
    rebound,
    argument,
    argument_in_a_loop,
    view_of_an_argument,
    old_and_new,
    swapped,
    last_two,
    shifted,
    shifted_twice,
    shifted_and_overwritten,
    under_two_names,
    kept_from_pass_to_pass,
    kept_by_an_inner_loop,
    made_in_some_passes,
    broadcasted,
    rows,
]
# How many arrays are copied where; what users copy themselves counts too.
NO_COPY = [fresh, chain, filled, recurrence, whiled, in_a_branch, rebound, rows, through_a_view]
NO_COPY += [shifted, shifted_twice, shifted_and_overwritten]
ONE_COPY = [seen_by_a_result, argument, argument_in_a_loop, broadcasted, view_of_an_argument]


def same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_stores_mean_what_they_mean_in_numpy(function):
    expected = function(V.copy())
    expected = expected if isinstance(expected, tuple) else (expected,)
    v = V.copy()
    same(compiled(block_of(function, V))(v), expected)
    same([v], [V])  # the caller's array is as it was


@pytest.mark.parametrize("function", FUNCTIONS)
def test_owned_programs_are_well_formed(function):
    verify(store_in_place(block_of(function, V)))


@pytest.mark.parametrize("function", NO_COPY)
def test_what_nobody_sees_is_not_copied(function):
    assert lets(store_in_place(simplify(block_of(function, V))), "copy") == []


@pytest.mark.parametrize("function", ONE_COPY)
def test_what_somebody_sees_is_copied_once_and_outside_of_loops(function):
    block = store_in_place(simplify(block_of(function, V)))
    assert len(lets(block, "copy")) == 1
    for loop in every(block, (For, While)):
        assert not lets(loop.body, "copy")


@pytest.mark.parametrize("reads", ["before", "after"])
def test_only_later_readers_matter(reads):
    def before(v):
        a = v * 2
        b = a[:] + 0.0
        a[0] = b[1]
        return a

    def after(v):
        a = v * 2
        b = a.copy()
        b[0] = 1.0
        return b + a

    block = store_in_place(block_of({"before": before, "after": after}[reads], V))
    assert len(lets(block, "copy")) == {"before": 0, "after": 1}[reads]


def test_live_variables_are_those_read_later():
    block = block_of(chain, V)
    live = InPlaceStores(()).live_after(block.body, set(block.results))
    writes = [s.op.inplace or s.op in OVERWRITING for s in block.body]
    assert any(writes)
    for k, s in enumerate(block.body):
        if not writes[k]:
            continue  # nobody asks
        later = {a for t in block.body[k + 1 :] for a in t.args} | set(block.results)
        defined_later = {v for t in block.body[k + 1 :] for v in t.outs}
        assert live[k] == {v for v in later - defined_later if not hasattr(v, "value")}
        assert isinstance(s, Let)


def test_a_row_that_is_read_after_its_store_is_copied_alone():
    """Not the whole array in each pass: that would take quadratic time."""

    def states(u, n):
        h = np.zeros((n, 3))
        for t in range(1, n):
            h[t] = np.sin(h[t - 1]) * u
        return np.sum(h)

    block = store_in_place(tapeless.grad(states).specialise((V, 4), {}).simplified)
    for loop in every(block, For):
        assert all(let.outs[0].type.ndim == 1 for let in lets(loop.body, "copy"))


def test_items_of_a_list_that_are_rows_of_an_array_are_not_overwritten_with_it():
    def f(x, n):
        found = []
        for _ in range(n):
            found.append(x)  # noqa: PERF401 (a list that grows)
        x = x + sum(found)
        return np.sum(x * x)

    x = np.array([0.3, 0.4])
    for derivative in (tapeless.grad(f), tapeless.jit(tapeless.grad(f))):
        np.testing.assert_allclose(derivative(x, 4), 50 * x, rtol=1e-14)
    of_rows = tapeless.vmap(tapeless.grad(f), (0, None))
    np.testing.assert_allclose(of_rows(np.stack([x, -x]), 4), np.stack([50 * x, -50 * x]))


def test_diagonals_are_views_that_cannot_be_stored_to():
    def f(x):
        a = np.zeros(3)
        for i in range(3):
            a[i] = x * (i + 1) + (a[i - 1] if i > 0 else 0.0)
        return np.sum(np.diag(a) ** 2)

    for derivative in (tapeless.grad(f), tapeless.jit(tapeless.grad(f))):
        assert derivative(2.0) == 2 * 2.0 * (1 + 9 + 36)
    of_rows = tapeless.vmap(tapeless.grad(f))(np.array([2.0, 1.0]))
    assert of_rows.tolist() == [184.0, 92.0]


def newton(total, dic):
    """Each pass adds eighteen terms to the cotangent of h, which the second order keeps."""
    ph = np.full_like(total, 1.0)
    passes = 0
    while passes < dic[0] + 2:
        h = 10.0**-ph
        den = h * h + 0.3 * h + 0.2
        residual = total - dic * (h + 0.2) / den - 0.1 / (0.5 + h) - 0.1 / h + h
        slope = dic * h * (h * h + 4 * h) / den**2 + h / (0.5 + h) ** 2 + 0.1 / h + h
        ph = ph + residual / slope
        passes += 1
    return np.sum(ph * ph)


def test_a_long_chain_of_sums_that_a_tape_keeps_settles():
    total, dic, weights = np.array([0.9, 0.8]), np.array([1.2, 1.1]), np.array([1.0, 2.0])

    def slopes(total):
        return sum(np.sum(s * weights) for s in tapeless.grad(newton, (0, 1))(total, dic))

    step = 1e-5 * np.eye(2)
    expected = [(slopes(total + e) - slopes(total - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(tapeless.grad(slopes)(total), expected, rtol=1e-6)


def stored_behind_a_while_loop(x, n):
    x = x + 0.1
    y = x
    while np.sum(y) > 0.3:
        y = np.sin(y * y)
    total = np.sum(y)
    x[0] = 0.5 * total
    return total * np.sum(np.exp(x))


def scaled_behind_nested_loops(x, n):
    x = x + 0.1
    y = x
    for i in range(1, n):
        for _ in range(i):
            y = np.sin(y * y)
    total = np.sum(y)
    x = 0.5 * x
    return total * np.sum(np.exp(x))


def stored_behind_two_loops(x, n):
    x = x + 0.1
    y = x
    for i in range(1, n):
        while np.sum(y) > 0.1 * i:
            y = np.sin(y * y)
        while np.sum(y) < 0.2:
            y = np.cos(y)
    total = np.sum(y)
    x[:] = x * total
    return total * np.sum(np.exp(x))


@pytest.mark.parametrize(
    "f", [stored_behind_a_while_loop, scaled_behind_nested_loops, stored_behind_two_loops]
)
def test_lists_hold_on_to_what_loops_start_from(f):
    """What a first pass puts into a list is not overwritten behind the loop."""
    x, step = np.array([0.4, 0.7]), 1e-6
    expected = [(f(x + d, 3) - f(x - d, 3)) / (2 * step) for d in step * np.eye(2)]
    for slope in (tapeless.grad(f), tapeless.jit(tapeless.grad(f))):
        np.testing.assert_allclose(slope(x, 3), expected, rtol=1e-8, atol=1e-8)
