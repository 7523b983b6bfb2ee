"""f.profile: the time by line of emitted code."""

import linecache
import sys

import numpy as np
import pytest

from tapeless import grad, jit, pmap, vmap
from tapeless.profiler.line_profile import readable


def fit(w, x, n):
    for _ in range(n):
        w = w - 0.1 * np.tanh(x @ w)
    return np.sum(w**2)


X = np.linspace(-1.0, 1.0, 9).reshape(3, 3)


def slope_of_slope(w, x, n):
    return np.sum(grad(fit)(w, x, n))


@pytest.mark.parametrize("f", [grad(fit), jit(fit), jit(grad(fit)), grad(slope_of_slope)], ids=str)
def test_every_line_is_there_with_the_users(f):
    profile = f.profile(np.ones(3), X, 4)
    hit = [line for line in profile.lines if line.hits]
    assert {1, 4, 5} <= {line.hits for line in hit}
    assert all(line.seconds > 0 for line in hit)
    assert fit.__code__.co_firstlineno + 2 in {line.place[1] for line in hit if line.place}
    for line in hit:
        if line.place:
            assert line.place[0] == __file__
            assert line.user == linecache.getline(*line.place).strip()
    body = {line.source.strip() for line in profile.lines}
    text = (f.plain if hasattr(f, "plain") else f).source(np.ones(3), X, 4)
    assert all(source in text for source in body)


def test_lines_add_up():
    profile = grad(fit).profile(np.ones(300), np.ones((300, 300)) / 300, 20)
    assert profile.calls > 1
    total = sum(line.seconds for line in profile.lines)
    assert 0.3 * profile.seconds < total < 10 * profile.seconds
    slowest = max(profile.lines, key=lambda line: line.seconds)
    assert "@" in slowest.source or "tanh" in slowest.source


def test_the_table():
    text = str(grad(fit).profile(np.ones(3), X, 4))
    head, columns, *rows = text.splitlines()
    assert head.startswith("d fit / d w: ")
    assert columns.split() == ["line", "hits", "time", "share", "emitted", "from"]
    assert any("for i in range(n):" in row and row.split()[1] == "5" for row in rows)
    assert any("w = w - 0.1 * np.tanh(x @ w)" in row for row in rows)


def test_what_is_timed_of_compiled_code_is_said():
    assert "compiled code has no lines" in str(jit(fit).profile(np.ones(3), X, 4))


def test_functions_inside_are_shown():
    def layer(x):
        for _ in range(3):
            x = np.tanh(x) + 0.1 * np.sin(x) * np.cos(x) - 0.2 * x**3 + np.exp(-x * x)
        return x

    def net(x):
        return np.sum(layer(layer(layer(layer(layer(layer(x)))))))

    profile = grad(net).profile(np.ones(3))
    heads = [line for line in profile.lines if line.source.startswith("def ")]
    assert len(heads) == len(
        [t for t in grad(net).source(np.ones(3)).splitlines() if t.startswith("def ")]
    )


def test_overwritten_arguments_stay_as_they_are():
    def shift(x):
        x += 1
        return np.sum(x)

    x = np.zeros(3)
    jit(shift).profile(x)
    np.testing.assert_array_equal(x, np.zeros(3))


def test_methods_and_batches():
    class Model:
        scale = 2.0

        @grad
        def slope(self, x):
            return self.scale * x

    assert Model().slope.profile is not None
    batch = vmap(fit, in_axes=(0, None, None)).profile(np.ones((5, 3)), X, 4)
    assert "fit for a batch" in str(batch)
    assert "one shard" not in pmap(np.sin).profile(np.ones(3)).note


def test_other_tracers_are_put_back():
    events = []

    def tracer(frame, event, arg):
        events.append(event)

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        grad(fit).profile(np.ones(3), X, 4)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.0, "2 s"), (0.5, "500 ms"), (1.5e-6, "1.5 us"), (2e-9, "2 ns")]
)
def test_readable(seconds, text):
    assert readable(seconds) == text
