"""Bad keys, shapes, dtypes and parameters are refused before anything is drawn."""

import numpy as np
import pytest

import tapeless
from tapeless import random

KEY = np.array([0, 1], np.uint32)
REFUSED = [
    (
        lambda k: random.normal(3),
        TypeError,
        "the key must be an array of two uint32 words, not int",
    ),
    (lambda k: random.normal(np.zeros(2)), TypeError, "has shape (2,) and dtype float64"),
    (lambda k: random.normal(np.zeros(3, np.uint32)), TypeError, "has shape (3,) and dtype uint32"),
    (
        lambda k: random.normal(random.split(k, 4)),
        ValueError,
        "not an array of keys of shape (4, 2)",
    ),
    (lambda k: random.split(random.split(k, 4)), ValueError, "not an array of keys"),
    (lambda k: random.key(1.5), TypeError, "the seed must be an integer"),
    (lambda k: random.key(np.arange(2)), TypeError, "must be one integer, not an array"),
    (lambda k: random.key(2**70), ValueError, "more than 64 bits"),
    (lambda k: random.key(0, impl="rbg"), ValueError, "there is no generator 'rbg'"),
    (lambda k: random.fold_in(k, 0.5), TypeError, "data must be an integer"),
    (lambda k: random.normal(k, "ab"), TypeError, "the shape must be a tuple of integers"),
    (lambda k: random.normal(k, (2.5,)), TypeError, "an entry that is no integer"),
    (lambda k: random.normal(k, (-1,)), ValueError, "has a negative length"),
    (lambda k: random.normal(k, (2,), int), TypeError, "must be a float dtype"),
    (lambda k: random.normal(k, (2,), "spam"), TypeError, "'spam' is no dtype"),
    (lambda k: random.uniform(k, (2,), np.complex128), TypeError, "must be a float dtype"),
    (lambda k: random.uniform(k, (2,), np.longdouble), TypeError, "at most 64 bits"),
    (lambda k: random.bits(k, (2,), np.int32), TypeError, "an unsigned integer dtype"),
    (lambda k: random.randint(k, (2,), 0, 5, float), TypeError, "an integer dtype"),
    (
        lambda k: random.uniform(k, (2,), minval=np.zeros(3)),
        ValueError,
        "do not fit into the shape",
    ),
    (lambda k: random.gamma(k, np.ones(3), (2,)), ValueError, "do not fit into the shape (2,)"),
    (lambda k: random.gamma(k, np.ones(3), ()), ValueError, "do not fit into the shape ()"),
    (lambda k: random.beta(k, np.ones(3), np.ones(2)), ValueError, "do not broadcast together"),
    (lambda k: random.bernoulli(k, 1), TypeError, "p must be a float or an array of floats"),
    (lambda k: random.bernoulli(k, 0.5, mode="mid"), ValueError, "one of 'low', 'high', not 'mid'"),
    (lambda k: random.gumbel(k, mode="mid"), ValueError, "one of 'low', 'high', 'highest'"),
    (lambda k: random.categorical(k, np.arange(3)), TypeError, "logits must be a float"),
    (lambda k: random.categorical(k, np.ones(3), axis=1), ValueError, "axis 1 of an array of 1"),
    (lambda k: random.categorical(k, 0.5), ValueError, "logits must be an array"),
    (
        lambda k: random.categorical(k, np.ones(3), shape=(4,), replace=False),
        ValueError,
        "4 elements without replacement, of 3",
    ),
    (lambda k: random.choice(k, 3, (4,), replace=False), ValueError, "4 elements without"),
    (lambda k: random.choice(k, 0, (4,)), ValueError, "there is nothing to choose from"),
    (lambda k: random.choice(k, 0.5), TypeError, "takes an array or an integer"),
    (lambda k: random.choice(k, 3, p=np.ones(2)), ValueError, "do not fit"),
    (lambda k: random.permutation(k, 0.5), TypeError, "takes an array or an integer"),
    (lambda k: random.permutation(k, np.ones(3), axis=0.5), TypeError, "axis must be an integer"),
    (lambda k: random.dirichlet(k, 2.0), ValueError, "alpha must be an array"),
    (
        lambda k: random.multivariate_normal(k, np.ones(2), np.ones(2)),
        ValueError,
        "cov must have at least 2 axes, not shape (2,)",
    ),
    (
        lambda k: random.multivariate_normal(k, np.ones(2), np.eye(3)),
        ValueError,
        "do not fit into the shape (2, 2)",
    ),
    (
        lambda k: random.multivariate_normal(k, np.ones(2), np.eye(2), method="lu"),
        ValueError,
        "one of 'cholesky', 'svd', 'eigh', not 'lu'",
    ),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    call, kind, message = REFUSED[case]
    with pytest.raises(kind) as caught:
        call(KEY.copy())
    assert isinstance(caught.value, tapeless.TapelessError)
    assert message in str(caught.value)
    assert str(caught.value).startswith("random.")


def test_a_call_that_is_refused_does_not_use_the_key():
    key = random.key(0)
    with pytest.raises(ValueError, match="negative"):
        random.normal(key, (-1,))
    with pytest.raises(TypeError, match="dtype"):
        random.normal(key, (), int)
    random.normal(key)


def test_shapes_as_lists_and_numbers():
    assert random.uniform(random.key(0), [2, 3]).shape == (2, 3)
    assert random.uniform(random.key(0), 4).shape == (4,)
    assert random.uniform(random.key(0), np.array([2, 3])).shape == (2, 3)
    assert random.uniform(random.key(0), (0, 3)).shape == (0, 3)
