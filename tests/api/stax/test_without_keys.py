"""Init functions without a key, as in the stax of 2018."""

import numpy as np
import pytest

from tapeless import jit, random, stax

LAYERS = [
    stax.Dense(3),
    stax.Relu,
    stax.Flatten,
    stax.BatchNorm(axis=0),
    stax.Dropout(0.5),
    stax.serial(stax.Dense(3), stax.Relu, stax.Dense(2)),
    stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(2), stax.Identity), stax.FanInConcat()),
    stax.shape_dependent(lambda shape: stax.Dense(shape[-1])),
]


@pytest.mark.parametrize("layer", LAYERS, ids=range(len(LAYERS)))
def test_the_shape_alone(layer):
    init, _ = layer
    for shape in ((-1, 4), (5, 4)):
        np.random.seed(3)
        first = init(shape)
        np.random.seed(3)
        again = init(input_shape=shape)
        np.random.seed(3)
        wanted = init(random.key(np.random.randint(2**31)), shape)
        for found in (first, again):
            assert str(found) == str(wanted)


def test_other_numbers_each_time():
    init, apply = stax.serial(stax.Dense(3), stax.Relu)
    np.random.seed(0)
    (_, first), (_, second) = init((-1, 4)), init((-1, 4))
    assert not np.array_equal(first[0][0], second[0][0])
    assert jit(apply)(first, np.ones((2, 4))).shape == (2, 3)


def test_convolutions():
    init, _ = stax.serial(stax.Conv(2, (3, 3)), stax.MaxPool((2, 2)), stax.Flatten, stax.Dense(1))
    shape, params = init((1, 8, 8, 1))
    assert shape == (1, 1)
    assert params[0][0].shape == (3, 3, 1, 2)


def test_too_few_arguments():
    with pytest.raises(TypeError):
        stax.Dense(3)[0]()
