"""Arrays that get longer or shorter from pass to pass, also from no element or one on: loops stay
loops, as long as nothing asks whether an axis of length one is stretched."""

import numpy as np
import pytest

from tapeless import grad, jit, strict, value_and_grad, vmap

STARTS = (2.0, 17.0, 0.37)


def appended(x):
    out = np.empty(0)
    while x > 1e-2:
        out = np.append(out, x * (1 + len(out)))
        x = x * 0.5
    return np.log(out).sum() * out[-1]


def from_one(x):
    rows = np.ones((1, 3))
    while x > 0.1:
        rows = np.vstack([rows, rows[-1:] * x + rows.mean(axis=0)])
        x = x * 0.5
    return (rows - rows.mean(axis=0)).std(axis=0).sum() + (rows @ np.ones(3))[0]


def in_step(x):
    times, states = np.zeros(0), np.zeros((0, 2))
    while x > 1e-2:
        times = np.append(times, x)
        states = np.concatenate([states, [[x, 2 * x]]])
        x = x * 0.5
    return (states * times[:, None]).sum() + states[-1, 0]


def window(x):
    last = np.zeros(1)
    while x > 1e-2:
        last = np.append(last, x)
        x = x * 0.5
        if len(last) > 4:
            last = last[1:]
    return (last * np.arange(len(last))).sum()


def down_to_one(x):
    row = np.arange(1, 7.0) * x
    while len(row) > 1:
        row = (row[:-1] + row[1:]) * np.sin(x)
    return row[0]


def down_to_none(x):
    row, total = np.arange(6.0) * x, 0.0
    while len(row):
        total = total + row.sum() * row[0]
        row = row[row > row.min()]
    return total


@pytest.mark.parametrize("f", [appended, from_one, in_step, window, down_to_one, down_to_none])
def test_loops_stay_loops(f):
    both = jit(value_and_grad(f))
    for x in STARTS:
        value, slope = both(x)
        step = 1e-6 * x
        assert value == pytest.approx(f(x), rel=1e-12)
        assert slope == pytest.approx((f(x + step) - f(x - step)) / (2 * step), rel=1e-6)
        assert grad(f)(x) == pytest.approx(slope, rel=1e-12)
        assert grad(grad(f))(x) == pytest.approx(
            (grad(f)(x + step) - grad(f)(x - step)) / (2 * step), rel=1e-5, abs=1e-5
        )
    assert not both.last.traced
    assert len(both.cache) == 1


def test_batches():
    xs = np.array(STARTS)
    np.testing.assert_allclose(vmap(grad(appended))(xs), [*map(grad(appended), xs)])


def test_the_derivative_is_short():
    text = grad(appended).source(2.0)
    assert "while x > 0.01:" in text
    assert len(text.splitlines()) < 40, text


def stretched(x):
    total = np.zeros(1)
    while x > 1e-2:
        total = total + x * np.arange(5)
        x = x * 0.5
    return total.sum()


def stretched_later(x):
    values = np.zeros(0)
    while x > 1:
        values = np.append(values, x)
        x = x * 0.5
    return (values * np.arange(5.0)).sum()


@pytest.mark.parametrize(
    ("f", "x"), [(stretched, 2.0), (stretched_later, 1.5), (stretched_later, 17.0)]
)
def test_an_axis_that_is_stretched_is_as_in_numpy(f, x):
    with strict(False):
        value, slope = jit(value_and_grad(f))(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-6)


def test_squeeze_as_in_numpy():
    def squeezed(x):
        values = np.zeros(1)
        while x > 1:
            values = np.append(values, x)
            x = x * 0.5
        return np.squeeze(values).ndim + np.sum(np.squeeze(values))

    with strict(False):
        for x in (0.5, 2.0, 17.0):
            assert jit(squeezed)(x) == squeezed(x)


def test_lengths_that_are_one_apart_are_written_shortly():
    def ordered(times):
        order = times[:1]
        for t in times[1:]:
            order = np.insert(order, np.searchsorted(order, t), t)
        return np.sum(order * np.arange(len(order)))

    times = np.array([0.3, 0.9, 0.1, 0.5])
    text = grad(ordered).source(times)
    assert "- 1 + 1" not in text
    assert "np.zeros(len(order_bar))" in text
    np.testing.assert_allclose(grad(ordered)(times), [1.0, 3.0, 0.0, 2.0])


def test_running_sums_of_what_a_loop_has_made_are_calls():
    """The array is as long as the passes of a kernel say: NumPy goes over its elements."""

    def running(x):
        row = np.empty(0)
        while len(row) < 2 * len(x):
            row = np.append(row, x)
        return np.max(np.cumsum(row))

    x = np.array([0.3, -0.9, 0.7])
    compiled = jit(running)
    assert compiled(x) == pytest.approx(running(x))
    assert "np.cumsum(" in compiled.source(x)
    assert not compiled.explain(x).loops
