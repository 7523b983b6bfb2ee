"""The staged run: what is a parameter, what becomes known, and what a run leaves behind."""

from types import FunctionType

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import For, If, While
from tapeless.transforms.errors import NeedStaticError, TapelessError, UnsupportedError
from tapeless.transforms.frontend.staging.parameters import is_dynamic
from tests.transforms.staging import block_of, every, size, staged

V = np.array([0.3, -0.5, 0.9])


@pytest.mark.parametrize(
    ("value", "dynamic"),
    [
        (1, True),
        (1.0, True),
        (1j, True),
        (np.float32(1), True),
        (np.ones(2), True),
        (np.array([True]), True),
        (True, False),
        ("text", False),
        (None, False),
        (np.array(["a"]), False),
        (len, False),
    ],
)
def test_arrays_and_numbers_are_parameters(value, dynamic):
    assert is_dynamic(value) is dynamic


def test_leaves_and_their_types():
    run = staged(lambda x, k, flag, v: (x * k, v), 1.5, 2, True, V)
    assert [leaf.static for leaf in run.leaves] == [False, False, True, False]
    assert [str(p.type) for p in run.block.params] == ["pyf8", "pyi8", "f8[v.shape[0]]"]
    assert [p.name for p in run.block.params] == ["x", "k", "v"]


def by_list(x, k):
    return [x, x * x, x * x * x][k]


def by_power(x, k):
    return x**k if k else x


def by_shape(v, k):
    return np.sum(v.reshape(k, -1)[0])


def by_axis(v, k):
    return np.sum(np.sum(v[:, None] * v, axis=k))


@pytest.mark.parametrize(
    ("function", "args", "static"),
    [
        (by_list, (2.0, 1), True),
        (by_axis, (V, 1), True),
        (by_shape, (np.ones(4), 2), False),
        (lambda x, k: x * k, (2.0, 3), False),
        (lambda x, k: x if k > 2 else -x, (2.0, 3), False),
    ],
)
def test_an_integer_is_known_only_where_python_needs_it(function, args, static):
    run = staged(function, *args)
    assert run.leaves[1].static is static
    grad = tapeless.grad(function)
    for k in (args[1], args[1] - 1):
        expected = np.asarray(grad(args[0], k))
        assert expected.shape == np.shape(args[0])


def test_sizes_are_not_baked_in():
    """One program for all sizes; an axis is fixed only where its length was needed."""

    def means(v):
        return np.sum(v) / len(v) + v[len(v) // 2]

    grad = tapeless.grad(means)
    for n in (2, 3, 7, 50):
        expected = np.full(n, 1 / n)
        expected[n // 2] += 1
        np.testing.assert_allclose(grad(np.ones(n)), expected)
    assert [len(found) for found in grad.cache.values()] == [1]


def test_relations_of_sizes_are_watched():
    def f(a, b):
        return np.sum(a + b) if a.shape == b.shape else np.sum(a) * 2

    grad = tapeless.grad(f)
    np.testing.assert_array_equal(grad(np.ones(3), np.ones(3)), np.ones(3))
    np.testing.assert_array_equal(grad(np.ones(3), np.ones(4)), np.full(3, 2.0))
    np.testing.assert_array_equal(grad(np.ones(5), np.ones(5)), np.ones(5))


def by_contents(v):
    return ([1.0, None] * 10)[int(v[0])]


def test_what_depends_on_contents_is_an_error_with_its_place():
    with pytest.raises(NeedStaticError) as met:
        staged(by_contents, V)
    text = str(met.value)
    assert "'v' depends on the contents of arrays" in text
    assert f'File "{__file__}", line {by_contents.__code__.co_firstlineno + 1}' in text
    assert "return ([1.0, None] * 10)[int(v[0])]" in text
    assert "^" in text


def test_a_recursion_without_end_is_refused():
    def endless(x):
        return endless(x + 1) * 2

    with pytest.raises(TapelessError, match=r"recursion|calls itself"):
        staged(endless, 1.0)


# -- control flow is staged once


def branches(x, n):
    if x > 0:
        y = np.sin(x)
    elif x < -1:
        y = x * n
    else:
        y = 1.0
    return y


def nests(x, n):
    for i in range(n):
        for j in range(i):
            while x > 1:
                x = x / 2
            x = x + j
    return x


@pytest.mark.parametrize(
    ("function", "kinds"),
    [(branches, {If: 2}), (nests, {For: 2, While: 1})],
)
def test_each_branch_and_body_is_staged_once(function, kinds):
    block = block_of(function, 0.5, 3)
    for kind, count in kinds.items():
        assert len(list(every(block, kind))) == count


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_the_trip_count_does_not_matter(n):
    assert size(block_of(nests, 0.5, n)) == size(block_of(nests, 0.5, 3))


def test_the_body_runs_a_fixed_number_of_times_while_staging():
    """Counted by something that staging cannot undo."""
    seen = []

    def counted():
        seen.append(1)

    of_numpy = {"__name__": "numpy"}  # run as it is
    count = FunctionType(counted.__code__, of_numpy, closure=counted.__closure__)

    def f(x, n):
        for _ in range(n):
            count()
            x = np.sin(x)
        return x

    found = []
    for n in (3, 10_000):
        seen.clear()
        staged(f, 0.5, n)
        found.append(len(seen))
    assert found[0] == found[1] <= 4


def test_each_side_is_run_though_one_is_taken():
    def f(x):
        if x > 0:
            return np.sin(x)
        return np.cos(x)

    grad = tapeless.grad(f)
    assert grad(1.0) == np.cos(1.0)
    assert grad(-1.0) == -np.sin(-1.0)
    assert [len(found) for found in grad.cache.values()] == [1]


# -- what a run leaves behind


class Counter:
    def __init__(self):
        self.calls, self.log, self.table = 0, [], {}


def test_outer_objects_are_written_once_by_each_call():
    counter = Counter()

    def f(x):
        counter.calls += 1
        counter.table["last"] = x
        return x * x

    run = staged(f, 2.0)
    assert (counter.calls, counter.table) == (0, {})  # staging alone leaves nothing
    assert len(run.writes) == 2
    grad = tapeless.grad(f)
    for k in range(3):
        grad(2.0 + k)
        assert counter.calls == k + 1
        assert counter.table == {"last": 2.0 + k}


def test_attempts_that_are_given_up_leave_nothing():
    counter = Counter()

    def f(x, k):
        counter.calls += 1
        return [x, x * x][k]  # k must be known: the run starts again

    tapeless.grad(f)(2.0, 1)
    assert counter.calls == 1


def test_errors_leave_nothing():
    counter = Counter()

    def f(x):
        counter.calls += 1
        counter.log.append(x)
        raise KeyError("broken")

    with pytest.raises(KeyError):
        tapeless.grad(f)(2.0)
    assert (counter.calls, counter.log) == (0, [])


def test_functions_that_always_raise():
    def fail(x):
        if x > 0:
            raise KeyError(x)
        raise ValueError(f"not {x}")

    for transform in (tapeless.grad, tapeless.jit, tapeless.vmap):
        with pytest.raises(UnsupportedError) as e:
            transform(fail)(np.ones(1) if transform is tapeless.vmap else 1.0)
        assert e.value.problem.startswith("the function raises an error in all cases")
        assert e.value.where[:2] == (__file__, fail.__code__.co_firstlineno + 3)
