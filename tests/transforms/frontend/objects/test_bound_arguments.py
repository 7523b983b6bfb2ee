"""Arguments that a function has before it is called are read anew, as Python reads them."""

from functools import partial

import numpy as np
import pytest

from tapeless import grad, jit, vmap

W = np.array([1.0, 2.0])


def with_default(x, w=W):
    return x * w.sum()


def by_keyword(x, *, w=W):
    return x * w.sum()


def helper(x, w=W):
    return x * w[0]


def of_a_helper(x):
    return helper(x) + 1.0


class Model:
    def of_a_method(self, x, scale=W):
        return x * scale.sum()


def product(w, x):
    return x * w.sum()


def of_a_dict(w, x):
    return x * w["a"].sum()


FUNCTIONS = [
    *(with_default, by_keyword, of_a_helper, Model().of_a_method),
    *(partial(product, W), partial(of_a_dict, {"a": W}), partial(with_default, w=W)),
]


@pytest.mark.parametrize("transform", [jit, grad, lambda f: lambda x: vmap(f)(np.array([x, x]))[0]])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_arrays_are_read_anew(f, transform):
    made = transform(f)
    before = W.copy()
    try:
        first = made(1.0)
        W[:] = 10.0
        assert made(1.0) > 2 * first
        np.testing.assert_allclose(made(1.0), f(1.0) - (transform is grad and f is of_a_helper))
    finally:
        W[:] = before


def test_counters_count():
    def counted(x, n=[0]):  # noqa: B006
        n[0] += 1
        return x * n[0]

    compiled = jit(counted)
    assert [compiled(1.0), compiled(1.0), counted(1.0), compiled(1.0)] == [1.0, 2.0, 3.0, 4.0]


def test_what_is_made_of_a_default_is_new():
    def left(b, n=np.array([10.0, 20.0])):  # noqa: B008
        s = n - 1
        s -= b
        return s.sum()

    assert jit(left)(0.5) == left(0.5)


def test_constants_stay_constants():
    def scaled(x, shape=(3,), options={"a": 2.0}):  # noqa: B006
        return x * options["a"] * np.ones(shape)

    np.testing.assert_array_equal(jit(scaled)(2.0), np.full(3, 4.0))


# -- objects that a sum makes


class Sum:
    def __init__(self, value):
        self.value, self.count = value, 0.0

    def __add__(self, other):
        return Sum(self.value + other.value)


def test_sums_of_generators_make_new_objects():
    def f(x):
        s = sum((p for p in [Sum(x), Sum(x)]), Sum(0.0))
        s.count += x
        return s.count

    compiled = jit(f)
    assert [compiled(1.5) for _ in range(4)] == [1.5] * 4
