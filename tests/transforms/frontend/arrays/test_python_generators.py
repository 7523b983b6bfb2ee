"""Generators of Python's `random` that the function makes: they draw the same numbers in each call,
which are known while staging."""

import random

import numpy as np
import pytest

from tapeless import grad, jit, strict, vmap

POINT = np.array([0.5, 1.5, 2.5])


class Noise(random.Random):
    """A generator of a user's own."""

    def around(self, value):
        return value + self.gauss(0.0, 1.0)


def between(x):
    generator = random.Random(3)
    return generator.uniform(x[0], x[1]) * generator.random()


def scaled(x):
    generator = random.Random("seed")
    first = generator.gauss(x[0], x[1])
    return first + sum(generator.expovariate(x[2]) for _ in range(3))


def elements(x):
    generator = random.Random(5)
    items = list(x)
    generator.shuffle(items)
    return items[0] * generator.choice(x) + sum(generator.sample(items, 2)) * items[1]


def of_a_class(x):
    noise = Noise(2)
    return noise.around(x[0]) * noise.triangular(x[0], x[2], x[1])


def from_a_state(x):
    generator = random.Random(3)
    state = generator.getstate()
    first = generator.normalvariate(x[0], x[1])
    generator.setstate(state)
    return first * generator.normalvariate(x[1], x[2])


def under_a_test(x):
    generator, total = random.Random(3), 0.0
    for v in x:
        if v > 1:
            total += generator.random() * v
    return total


PROGRAMS = [between, scaled, elements, of_a_class, from_a_state, under_a_test]


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_draws_are_those_of_python(f):
    with strict(False):
        compiled = jit(f)
        assert [compiled(POINT), compiled(POINT)] == pytest.approx([f(POINT)] * 2)
        np.testing.assert_allclose(vmap(f)(np.stack([POINT, POINT])), [f(POINT)] * 2)
        differences = [(f(POINT + s) - f(POINT - s)) / 2e-6 for s in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(grad(f)(POINT), differences, rtol=1e-5, atol=1e-7)
