"""Functions with a rule that store to their own arguments."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import ArgumentError, UnsupportedError

X = np.array([0.3, 0.7, 1.1])


def stepped(state, k):
    state[0] = k * np.sin(state[1])
    state *= 1.5
    return np.sum(state * state)


def over_a_loop(step):
    def total(x):
        y, energy = x * 1.0, 0.0
        for i in range(4):
            energy = energy + step(y[:2], x[i % 3])
        return energy + np.sum(y * x)

    return total


def test_checkpoint_of_a_function_that_overwrites_its_argument():
    kept, plain = over_a_loop(tapeless.checkpoint(stepped)), over_a_loop(stepped)
    assert kept(X) == plain(X)
    np.testing.assert_allclose(tapeless.grad(kept)(X), tapeless.grad(plain)(X), rtol=1e-12)
    ahead = [tapeless.jvp(f, (X,), (np.ones(3),)) for f in (kept, plain)]
    np.testing.assert_allclose(*ahead, rtol=1e-12)
    bends = [tapeless.jvp(tapeless.grad(f), (X,), (np.ones(3),))[1] for f in (kept, plain)]
    np.testing.assert_allclose(*bends, rtol=1e-12)


def test_only_a_plain_call_changes_the_array_of_the_caller():
    step, x = tapeless.checkpoint(stepped), X.copy()
    tapeless.grad(step)(x, 2.0)
    np.testing.assert_array_equal(x, X)
    step(x, 2.0)
    np.testing.assert_array_equal(x, [3.0 * np.sin(0.7), 1.5 * 0.7, 1.5 * 1.1])


def test_an_array_given_twice_to_such_a_function_is_refused():
    def mixed(a, b):
        a[0] = b[1]
        return np.sum(a * b)

    with pytest.raises(ArgumentError, match="two arguments share memory"):
        tapeless.grad(lambda x: tapeless.checkpoint(mixed)(x, x))(X)


@pytest.mark.parametrize("kind", [tapeless.custom_jvp, tapeless.custom_vjp])
def test_a_rule_says_nothing_of_a_store(kind):
    ruled = kind(stepped)
    if kind is tapeless.custom_jvp:
        ruled.defjvp(lambda primals, tangents: (stepped(*primals), tangents[1]))
    else:
        ruled.defvjp(lambda x, k: (stepped(x, k), None), lambda _, ct: (np.zeros(3), ct))
    with pytest.raises(UnsupportedError, match="stores to an argument, of which its custom_"):
        tapeless.grad(lambda x: ruled(x * 1.0, 2.0))(X)


def test_a_tangent_may_be_the_argument_itself():
    def f(v):
        v[0] = v[1] * v[0]
        return np.sum(v * v)

    v = np.array([1.0, 2.0, 3.0])
    value, tangent = tapeless.jvp(f, (v,), (v,))
    assert value == 17.0
    assert tangent == 2 * (2.0 * (2.0 + 2.0) + 2.0 * 2.0 + 3.0 * 3.0)
    np.testing.assert_array_equal(v, [1.0, 2.0, 3.0])


def test_one_array_is_tested_by_its_flag(monkeypatch):
    """Nothing else is there that could share its memory."""
    calls = []
    for name in ("memory_holds", "refuse_overlap"):
        monkeypatch.setattr(
            tapeless.dispatch.specialisation.Specialisation,
            name,
            lambda self, leaves, name=name: calls.append(name) or True,
        )
    f = tapeless.jit(lambda a: a.__setitem__(0, a[1]))
    x = np.arange(3.0)
    f(x)
    f(x)
    calls.clear()
    f(x)
    assert calls == []


def turned_in_passes(v):
    for _ in range(1, len(v)):
        v[:0:-1] = np.cos(v[1:])
        v[:] = v[::-1]
    return v


def turned_and_joined(v):
    turned_in_passes(v)
    return np.sum(v * v), np.column_stack([2 * v, v])[:, 1]


@pytest.mark.parametrize("f", [turned_in_passes, turned_and_joined])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_views_of_an_argument_that_loops_turn_round(f, n):
    v, w = np.arange(n) / n, np.arange(n) / n
    for actual, expected in zip(tapeless.jit(f)(v), f(w), strict=True):
        np.testing.assert_allclose(actual, expected)
    np.testing.assert_allclose(v, w)


def exchanged_and_turned(v, w):
    for _ in range(1, len(v)):
        v[:0:-1] = np.cos(w[1:])
        v[:], w[:] = w[::-1].copy(), v
        w[:] = w[::-1]
    return w


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_arguments_that_a_loop_exchanges_and_turns_round(n):
    given, ours = ([np.arange(n) / n, np.sin(np.arange(n))] for _ in range(2))
    np.testing.assert_allclose(
        tapeless.jit(exchanged_and_turned)(*ours), exchanged_and_turned(*given)
    )
    np.testing.assert_allclose(ours, given)
