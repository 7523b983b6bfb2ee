"""Keys: what they are, and the report of those that are used twice."""

import gc
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import random
from tapeless.random import key_reuse

TWICE = "used a second time"


def test_drawing_does_not_change_a_key():
    key = random.key(4)
    random.uniform(key, (3,))
    np.testing.assert_array_equal(key, random.key(4))


def test_numbers_are_arrays_of_tapeless_numpy():
    key, other = random.split(random.key(0))
    numbers = random.normal(key, (3,))
    np.testing.assert_array_equal(numbers.at[0].set(0.0)[1:], numbers[1:])
    alias = numbers
    alias += 1.0
    np.testing.assert_array_equal(alias, numbers + 1.0)
    made = [key, other, random.uniform(other), tapeless.jit(lambda: random.bits(key, (2,)))()]
    assert [type(x).__name__ for x in made] == ["Array"] * 4
    assert type(random.wrap_key_data(np.asarray(key))).__name__ == "Array"
    assert pickle.loads(pickle.dumps(random.normal)) is random.normal


def test_split_keys_have_the_shape_asked_for():
    assert random.split(random.key(0)).shape == (2, 2)
    assert random.split(random.key(0), 5).shape == (5, 2)
    assert random.split(random.key(0), (2, 3)).shape == (2, 3, 2)
    assert random.split(random.key(0), 5).dtype == np.uint32


def test_the_first_keys_do_not_depend_on_how_many_there_are():
    np.testing.assert_array_equal(
        random.split(random.key(0), 7)[:3], random.split(random.key(0), 3)
    )


def test_keys_of_seeds_and_words():
    np.testing.assert_array_equal(random.key(-1), [2**32 - 1, 2**32 - 1])
    words = random.key_data(random.key(3))
    np.testing.assert_array_equal(random.wrap_key_data(words), random.key(3))
    assert random.key_impl(words) == random.key_dtype() == "threefry2x32"
    np.testing.assert_array_equal(random.key(3, impl="threefry2x32"), random.PRNGKey(3))


def test_a_key_used_twice_is_reported_with_both_lines():
    key = random.key(0)
    random.normal(key, (3,))
    with pytest.warns(random.KeyReuseWarning, match=TWICE) as seen:
        random.uniform(key)
    assert "test_keys.py, line" in str(seen[0].message)
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    "use",
    [
        random.split,
        random.bits,
        lambda key: random.gamma(key, 2.0),
        lambda key: random.permutation(key, 3),
    ],
)
def test_each_use_counts(use):
    key = random.key(0)
    use(key)
    with pytest.warns(random.KeyReuseWarning, match=TWICE):
        use(key)


def test_rows_of_an_array_are_keys_of_their_own():
    keys = random.split(random.key(0), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in keys:
            random.uniform(row)
    with pytest.warns(random.KeyReuseWarning, match=TWICE):
        random.uniform(keys[1])


@pytest.mark.filterwarnings("error")
def test_what_is_no_reuse():
    key = random.key(0)
    for k in range(3):
        random.uniform(random.fold_in(key, k))
    random.uniform(random.clone(key))
    random.uniform(random.key(0))
    random.uniform(key)
    key[:] = random.key(1)  # another key in the same memory
    random.uniform(key)


@pytest.mark.filterwarnings("error")
def test_the_switch():
    key = random.key(0)
    with random.report_reuse(False):
        random.uniform(key)
        random.uniform(key)
    setting = random.report_reuse(False)
    random.uniform(key)
    random.uniform(key)
    setting.__exit__()
    random.uniform(key)
    with pytest.raises(random.KeyReuseWarning):
        random.uniform(key)


def test_the_switch_in_the_environment():
    program = "from tapeless import random; k = random.key(0); random.uniform(k); random.uniform(k)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"TAPELESS_REPORT_REUSE": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.usefixtures("only_new_objects")
def test_keys_that_are_gone_are_forgotten():
    gc.collect()
    before = len(key_reuse._used)
    random.uniform(random.key(0))
    gc.collect()
    assert len(key_reuse._used) == before


def test_tuples_are_no_keys():
    with pytest.raises(TypeError, match="the key is a tuple"):
        random.uniform((0, 1))
