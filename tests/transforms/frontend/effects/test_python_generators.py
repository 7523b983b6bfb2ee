"""Python's `random`: the program draws what Python would draw; staging draws nothing."""

import random

import numpy as np
import pytest

from tapeless import checkpoint, grad, jit, vmap
from tapeless.errors import UnsupportedError

pytestmark = pytest.mark.usefixtures("traced")
OUTER = random.Random(5)


def noisy(x):
    return x * random.gauss(0.0, 1.0) + random.random()


def noisy_of_outer(x):
    return x * OUTER.random()


def seeded(x):
    random.seed(7)
    total = 0.0
    for _ in range(5):
        total += (x * random.gauss(0.0, 1.0) + random.random()) ** 2
    return total


def steps(x):
    random.seed(1)
    for _ in range(10):
        x = x * 1.1 if random.random() < 0.5 else np.sin(x)
    return x


def seeded_in_a_branch(x):
    if x > 0:
        random.seed(3)
    return x * random.random()


def of_both_modules(x):
    random.seed(1)
    return x * random.random() + np.random.normal()


def after(seed, f, *args):
    """What a call gives that finds Python's generator there."""
    random.seed(seed)
    np.random.seed(seed)
    OUTER.seed(seed)
    return f(*args)


@pytest.mark.parametrize(
    "f", [noisy, noisy_of_outer, seeded, steps, seeded_in_a_branch, of_both_modules]
)
def test_first_and_next_calls_draw_as_python(f):
    compiled = jit(f)
    assert after(2, compiled, 0.5) == pytest.approx(after(2, f, 0.5))
    for seed in (4, 6):
        assert after(seed, compiled, 0.5) == pytest.approx(after(seed, f, 0.5))
    slope = (after(2, f, 0.5 + 1e-6) - after(2, f, 0.5 - 1e-6)) / 2e-6
    assert after(2, grad(f), 0.5) == pytest.approx(slope, rel=1e-6)


def test_seeds_that_are_arguments():
    def f(x, k):
        random.seed(k)
        return x * random.random()

    compiled = jit(f)
    assert [compiled(1.0, k) for k in (1, 2)] == [f(1.0, k) for k in (1, 2)]


@pytest.mark.parametrize("f", [noisy, noisy_of_outer])
def test_elements_of_a_batch_have_their_own_numbers(f):
    for g in (vmap(f), jit(vmap(f)), vmap(grad(f))):
        assert len(set(g(np.ones(4)))) == 4


def test_elements_have_the_same_numbers_after_a_seed():
    x = np.array([0.5, 0.7])
    np.testing.assert_allclose(vmap(seeded)(x), [seeded(v) for v in x])
    np.testing.assert_allclose(vmap(grad(seeded))(x), [grad(seeded)(v) for v in x])
    drawn = vmap(of_both_modules)(np.zeros(3))
    assert len(set(drawn)) == 3  # NumPy's generator goes on


def test_tests_of_what_is_drawn():
    def f(x):
        return x * 2 if random.random() < 0.5 else x

    compiled = jit(f)
    assert after(1, lambda: [compiled(1.0) for _ in range(8)]) == after(
        1, lambda: [f(1.0) for _ in range(8)]
    )
    assert len(set(after(1, vmap(f), np.ones(20)))) == 2


def test_checkpoint_would_draw_twice():
    with pytest.raises(UnsupportedError, match="would draw other random numbers again"):
        grad(checkpoint(noisy))(0.5)


def test_a_seed_of_another_generator_changes_what_is_outside():
    def f(x):
        OUTER.seed(1)
        return x * OUTER.random()

    before = OUTER.getstate()
    with pytest.raises(UnsupportedError, match="called for what it changes outside"):
        jit(f)(0.5)
    assert OUTER.getstate() == before
