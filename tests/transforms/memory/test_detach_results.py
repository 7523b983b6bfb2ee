"""Results share no memory with arguments or with each other."""

# ruff: noqa: SIM108 (a branch is what is tested)

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.checker import verify
from tapeless.transforms.memory.detach_results import detach_results
from tests.transforms.staging import block_of, compiled, lets

V = np.array([1.0, 2.0, 3.0])


def both_branches(v):
    if v[0] > 0:
        a = v
    else:
        a = v * 2
    return a


SHARED = {
    "the argument": (lambda v: v, 1),
    "a view of it": (lambda v: v[1:], 1),
    "a view of a view": (lambda v: v[1:].reshape(2, 1), 1),
    "twice": (lambda v: (v, v[:2]), 2),
    "one new array twice": (lambda v: (lambda a: (a, a))(v * 2), 1),
    "a new array and a view of it": (lambda v: (lambda a: (a, a[1:]))(v * 2), 1),
    "on one side": (both_branches, 1),
    "read-only": (lambda v: np.broadcast_to(v, (2, 3)), 1),
}
OWN = {
    "new": lambda v: v * 2,
    "a number": lambda v: v[0],
    "copied": lambda v: v.copy(),
    "two": lambda v: (v * 2, v * 3),
    "a view of a new array": lambda v: (v * 2)[1:],
}


def detached(function):
    block = block_of(function, V)
    return detach_results(block, len(block.results))


@pytest.mark.parametrize(("function", "copies"), SHARED.values(), ids=SHARED)
def test_what_others_see_is_copied(function, copies):
    block = detached(function)
    verify(block)
    assert len(lets(block, "copy")) == copies
    v = V.copy()
    results = compiled(block)(v)
    for k, a in enumerate(results):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in (v, *results[:k]))
    expected = function(V)
    np.testing.assert_array_equal(results[0], expected[0] if len(results) > 1 else expected)


@pytest.mark.parametrize("function", OWN.values(), ids=OWN)
def test_what_is_new_is_not_copied_again(function):
    copies = 1 if function is OWN["copied"] else 0
    assert len(lets(detached(function), "copy")) == copies


def test_a_broadcast_number_is_made_as_an_array():
    block = detached(lambda v: np.broadcast_to(v[0], v.shape))
    assert len(lets(block, "full")) == 1
    assert lets(block, "copy") == []
    assert compiled(block)(V)[0].flags.writeable


def test_only_the_first_results_are_the_callers():
    block = block_of(lambda v: (v, v), V)
    assert detach_results(block, 0) is block
    assert len(lets(detach_results(block, 1), "copy")) == 1


@pytest.mark.parametrize("transform", [tapeless.grad, tapeless.value_and_grad])
def test_gradients_may_be_overwritten(transform):
    """The gradient of a linear function is its coefficient, which stays the caller's."""
    w = np.array([1.0, 2.0, 3.0])
    made = transform(lambda v, w: np.sum(v * w))(V, w)
    grad = made[1] if isinstance(made, tuple) else made
    grad[:] = -1.0
    np.testing.assert_array_equal(w, [1.0, 2.0, 3.0])


def overwriting(v, w):
    v[0] = w[1] * v[2]
    w *= v
    for k in range(3):
        v[k] += w[k - 1]
    v.T[1:] = np.sin(v[:2])
    return np.sum(v * w)


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_the_callers_arrays_are_unchanged(argnums):
    v, w = V.copy(), V + 1
    tapeless.grad(overwriting, argnums)(v, w)
    tapeless.jvp(overwriting, (v, w), (np.ones(3), np.ones(3)))
    _, pull = tapeless.vjp(overwriting, v, w)
    pull(1.0)
    np.testing.assert_array_equal(v, V)
    np.testing.assert_array_equal(w, V + 1)


def added_up(v, w, n):
    for _ in range(n):
        v = v + w
    return v


def added_up_twice(v, w, n):
    v = added_up(v, w, n)
    return v, v[1:]


@pytest.mark.parametrize(("function", "copies"), [(added_up, 1), (added_up_twice, 2)])
def test_what_a_loop_overwrites_is_copied_once(function, copies):
    """Ahead of the loop, and not again behind it, but for a result that shares it."""
    emitted = tapeless.vmap(function, (0, 0, None))
    v, w = np.stack([V, V]), np.ones((2, 3))
    assert emitted.source(v, w, 2).count(".copy()") == copies
    for n in (0, 2):
        results = emitted(v, w, n)
        results = results if isinstance(results, tuple) else (results,)
        for k, a in enumerate(results):
            assert not any(np.shares_memory(a, b) for b in (v, w, *results[:k]))
        np.testing.assert_array_equal(results[0], v + n)
