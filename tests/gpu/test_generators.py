"""NumPy's generators draw the same bits for programs on a GPU as for those on the CPU."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit

x = np.arange(1.0, 4.0)


def arrays(x, rng):
    return x @ rng.normal(size=(3, 3)) + np.sort(rng.random(3))


def parameters_of_the_device(x, rng):
    return rng.normal(x, 1.0) + rng.poisson(x * 3) + rng.multivariate_normal(x, np.eye(3))


def indices(x, rng):
    return x[rng.permutation(3)] + x[rng.integers(0, 3)] + rng.choice(x, 3)


def shuffled(x, rng):
    rng.shuffle(x)
    return x * 2


def until_one_is_large(x, rng):
    while rng.random() < 0.8:
        x = x + rng.normal(size=3)
    return x


def metropolis(x, rng):
    place, total = 0.0, x * 0
    for _ in range(20):
        proposed = place + rng.normal()
        if np.log(rng.random()) < 0.5 * (place**2 - proposed**2):
            place = proposed
        total = total + place * x
    return total


def of_a_seed(x, rng):
    own = np.random.default_rng(5)
    for _ in range(3):
        x = x + own.normal(size=x.shape)
    return x * rng.random()


def of_a_seed_on_the_device(x, rng):
    own = np.random.default_rng(int(x[2]))
    return x + own.normal(size=3) + rng.random()


def of_the_module(x, rng):
    np.random.seed(4)  # old programs draw like this
    return x + np.random.rand(3) * np.random.randn() + rng.random()


FUNCTIONS = [arrays, parameters_of_the_device, indices, shuffled, until_one_is_large, metropolis]
FUNCTIONS += [of_a_seed, of_a_seed_on_the_device, of_the_module]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_states(function, gpu):
    run, ours, theirs = (jit(function, backend="gpu"), *(np.random.default_rng(3) for _ in "ab"))
    for _ in range(2):
        value = tapeless.device_get(run(x.copy(), ours))
        np.testing.assert_allclose(value, function(x.copy(), theirs), rtol=1e-13)
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_derivatives(gpu):
    def total(x, rng):
        return np.sum(np.sin(of_a_seed(x, rng)))

    slope = jit(grad(total), backend="gpu")(x, np.random.default_rng(3))
    expected = grad(total)(x, np.random.default_rng(3))
    np.testing.assert_allclose(tapeless.device_get(slope), expected, rtol=1e-12)


def test_parameters_that_numpy_refuses(gpu):
    with pytest.raises(ValueError, match="scale < 0"):
        jit(lambda x, rng: rng.normal(0.0, -x), backend="gpu")(x, np.random.default_rng(3))
