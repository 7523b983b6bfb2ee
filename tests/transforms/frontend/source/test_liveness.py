"""What nothing reads any more is forgotten: it need not fit together, nor be carried."""

import ast

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.frontend.source.desugar_exits import desugar
from tapeless.transforms.frontend.source.liveness import forgotten
from tests.corpus.differences import gradient

X = np.array([-1.2, 0.93, 0.37])


def names(text):
    """By the line of a branch or a loop: what is forgotten there."""
    body = desugar(ast.parse(text).body)
    found = forgotten(body)
    nodes = {id(n): n for s in body for n in ast.walk(s)}
    return {nodes[k].lineno: set(v) for k, v in found.items()}


def test_of_a_loop():
    text = "for i in xs:\n    t = i\n    s = s + t\nreturn s"
    assert names(text) == {1: {"i", "t"}}


def test_what_the_next_pass_reads_stays():
    text = "for i in xs:\n    if i:\n        t = i\n    s = s + t\nreturn s"
    assert names(text) == {1: {"i"}}


def test_what_is_read_after_a_loop_stays():
    assert names("for i in xs:\n    t = i\nreturn t") == {1: {"i"}}
    assert names("for i in xs:\n    t = i\nreturn i") == {1: {"t"}}


def test_of_a_branch():
    text = "if c:\n    t = 1\n    u = t\nelse:\n    u = 2\n    w = 3\nreturn u"
    assert names(text) == {1: {"t", "w"}}


def test_what_the_test_of_a_loop_reads_stays():
    assert names("while t < 3:\n    t = f(t)\n    u = t\nreturn 0") == {1: {"u"}}


def test_what_nested_functions_read_stays():
    text = "for i in xs:\n    t = i\n    g = lambda: t\nreturn 0"
    assert names(text) == {1: {"g", "i"}}
    assert names("for i in xs:\n    t = (i for _ in a)\nreturn 0") == {1: {"t"}}


def test_comprehensions_have_names_of_their_own():
    text = "i = 5\nfor t in xs:\n    a = [i for i in t]\nreturn i"
    assert names(text) == {2: {"a", "t"}}


def test_assignments_in_expressions_may_not_happen():
    text = "if c and (t := f(c)):\n    u = 1\nfor i in xs:\n    c and (t := i)\nreturn t"
    assert names(text) == {1: {"u"}, 3: {"i"}}


def test_what_may_be_left_halfway_is_not_looked_into():
    tried = "    try:\n        t = i\n        u = t\n    except E:\n        u = t\n"
    text = f"for i in xs:\n{tried}return u"
    assert names(text) == {1: {"i"}}


def test_in_place_is_read():
    text = "for i in xs:\n    t += i\n    u[i] = t\nreturn 0"
    assert names(text) == {1: {"i"}}


def test_flags_of_early_ends_stay():
    text = "for i in xs:\n    if i:\n        return i\n    t = i\nreturn 0"
    for found in names(text).values():
        assert all(name in ("i", "t") for name in found)


def minimum_of_a_simplex(x0):
    """The method of Nelder and Mead, with lists of pairs."""
    f = lambda x: (1 - x[0]) ** 2 + 2 * (x[1] - x[0] ** 2) ** 2 + x[2] ** 2  # noqa: E731
    found = [[x0, f(x0)]]
    for i in range(len(x0)):
        x = x0.copy()
        x[i] = x[i] + 0.5
        found.append([x, f(x)])
    for _ in range(25):
        found.sort(key=lambda pair: pair[1])
        center = np.zeros(len(x0))
        for pair in found[:-1]:
            center += pair[0] / (len(found) - 1)
        tried = center + (center - found[-1][0])
        value = f(tried)
        if found[0][1] <= value < found[-2][1]:
            del found[-1]
            found.append([tried, value])
            continue
        if value < found[0][1]:
            further = center + 2.0 * (center - found[-1][0])
            best = f(further)
            del found[-1]
            if best < value:
                found.append([further, best])
            else:
                found.append([tried, value])
            continue
        inside = center - 0.5 * (center - found[-1][0])
        value = f(inside)
        if value < found[-1][1]:
            del found[-1]
            found.append([inside, value])
            continue
        shrunk = []
        for pair in found:
            moved = found[0][0] + 0.5 * (pair[0] - found[0][0])
            shrunk.append([moved, f(moved)])
        found = shrunk
    return np.sum(found[0][0] * np.arange(1, 4)) + found[0][1]


def rebuilt_under_a_test(x):
    """A list under a name that is set on one side only, and rebuilt on another."""
    values, s = [x[0], x[1], x[2]], 0.0
    for t in range(6):
        order = sorted(range(3), key=lambda k: values[k])
        values = [values[k] for k in order]
        if values[0] < 0:
            trial = values[0] + 0.5 * t
            values[-1] = trial * x[1]
        else:
            values = [0.5 * v + values[0] for v in values]
        s = s + values[-1] * t
    return s


@pytest.mark.parametrize("f", [minimum_of_a_simplex, rebuilt_under_a_test])
def test_loops_with_lists_stay_loops(f):
    assert jit(f)(X.copy()) == pytest.approx(f(X.copy()), rel=1e-12)
    assert len(jit(f).source(X)) < 14_000
    wanted = gradient(f, X)
    np.testing.assert_allclose(grad(f)(X.copy()), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(grad(f))(X.copy()), wanted, rtol=1e-5, atol=1e-7)
