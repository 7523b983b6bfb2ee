"""Loops over the elements of a batch in compiled programs: each element goes its own way.

Loop form is run by Python here, where it is not the compiler that is tested: it is the same text.
"""

import copy

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.core.language import statements
from tapeless.transforms.lowering.schedule.element_loops import over_batch
from tests.corpus import programs
from tests.test_corpus_batched import ALL, assert_alike, batch, elements
from tests.test_corpus_compiled import by_python

X = np.array([0.5, 3.0, 100.0, 1.0])


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)


def goes_over_elements(compiled):
    """Whether the last program has a loop over a batch."""
    return any(map(over_batch, statements(compiled.last.simplified)))


def halved(x):
    n = 0
    while x > 1:
        x = x / 2 if n % 2 == 0 else x - 1
        n += 1
    return x, n


def rows(x, steps):
    total = 0.0
    for k in range(steps):
        if x[k] < 0:
            break
        total += np.log(1 + x[k]) * k
    else:
        total = -total
    return x * total


def settled(x):
    while np.sum(x * x) > 1:
        x = 0.5 * x
    return x


def early(x, limit):
    for k in range(100):
        x = x * 1.1
        if x > limit:
            return x + k
    return 0.0


ROWS = np.array([[1.0, 2, 3, 4], [1, -1, 2, 2], [-1, 5, 5, 5]])
CASES = {
    "own number of passes": (halved, (X,), 0),
    "range of the element": (rows, (ROWS, np.array([4, 3, 2])), 0),
    "range of all": (rows, (ROWS, 3), (0, None)),
    "rows carried on": (settled, (ROWS,), 0),
    "columns": (settled, (ROWS,), 1),
    "last axis": (settled, (ROWS,), -1),
    "early return": (early, (X, 7.0), (0, None)),
    "of a batch": (vmap(halved), (ROWS,), 0),
    "of a batch of columns": (vmap(settled, 1, 1), (ROWS[None] * [[[1]], [[2]]],), 0),
    "one element": (halved, (X[1:2],), 0),
    "no element": (halved, (X[:0],), 0),
    "single precision": (halved, (X.astype(np.float32),), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_as_array_code(interpreted, case):
    function, args, axes = CASES[case]
    mapped = vmap(function, axes)
    compiled = jit(mapped)
    assert_alike(compiled(*args), mapped(*args))
    assert goes_over_elements(compiled) or np.shape(args[0])[0] == 0


def test_threads_share_the_elements():
    def counted(x):
        n = 0
        while x > 1:
            if x == 7:
                raise ValueError("seven")
            if x == 11:
                raise KeyError("eleven")
            x = 0.999 * x
            n += 1
        return n

    compiled = jit(vmap(counted))
    x = np.linspace(0, 5, 20_000)
    expected = np.maximum(np.ceil(np.log(np.maximum(x, 1e-9)) / -np.log(0.999)), 0)
    assert np.max(np.abs(compiled(x) - expected)) <= 1  # to rounding, where a power is near one
    x[15_000], x[3_000] = 7, 11
    with pytest.raises(KeyError, match="eleven"):
        compiled(x)
    x[1_000] = 7
    with pytest.raises(ValueError, match="seven"):
        compiled(x)


def test_compiled():
    got = jit(vmap(halved))(X)
    np.testing.assert_array_equal(got[0], [halved(x)[0] for x in X])
    np.testing.assert_array_equal(got[1], [halved(x)[1] for x in X])


def test_source(interpreted):
    compiled = jit(vmap(halved))
    compiled(X)
    kernel = compiled.source().partition('error_model="numpy")\n')[2].partition("\n\n\n")[0]
    assert (
        kernel
        == """def halved_vmap_kernel(first, last, x, out, out_2):
    for i in range(first, last):  # line 35
        x_2 = x[i]
        n = 0
        while x_2 > 1:
            x_2 = x_2 / 2 if n % 2 == 0 else x_2 - 1
            n = n + 1  # line 37
        out[i] = x_2  # line 35
        out_2[i] = n"""
    )


@pytest.mark.parametrize("passes", [3, 300])
def test_gradient_saves_as_many_passes_as_there_are(passes):
    def power(x, n):
        while n > 0:
            x = np.sin(x) + 0.5 * x
            n -= 1
        return x

    n = np.array([passes, 0, passes // 2])
    x = np.array([0.3, 0.4, 0.5])
    slopes = jit(vmap(grad(power)))
    step = 1e-6
    expected = (vmap(power)(x + step, n) - vmap(power)(x - step, n)) / (2 * step)
    np.testing.assert_allclose(slopes(x, n), expected, rtol=1e-5, atol=1e-6)
    total = jit(grad(lambda x, n: np.sum(vmap(power)(x, n))))
    np.testing.assert_allclose(total(x, n), expected, rtol=1e-5, atol=1e-6)
    assert goes_over_elements(slopes)
    assert "grown" in slopes.source()


def test_products_of_matrices_are_for_the_whole_batch(interpreted):
    def net(x, w):
        y = w @ (x @ w)
        while y[0, 0] > 1:
            y = y / 2
        return y

    compiled = jit(vmap(net, (0, None)))
    x, w = np.arange(18.0).reshape(2, 3, 3), np.eye(3)
    np.testing.assert_allclose(compiled(x, w), [net(a, w) for a in x])
    assert goes_over_elements(compiled)
    assert "matmul(" in compiled.source().partition("def net_vmap(x, w)")[2]


def test_without_loop_form_it_stays_array_code(interpreted):
    def solved(a, b):
        while np.sum(b) > 1:
            b = np.linalg.pinv(a) @ b
        return b

    a, b = np.stack([2 * np.eye(2), 3 * np.eye(2)]), np.ones((2, 2))
    compiled = jit(vmap(solved))
    np.testing.assert_allclose(compiled(a, b), [solved(p, q) for p, q in zip(a, b, strict=True)])
    assert not goes_over_elements(compiled)


def test_the_first_element_raises(interpreted):
    def checked(x):
        while x > 1:
            if x > 50:
                raise ValueError("too large")
            if x == 3:
                raise KeyError("three")
            x = x / 2
        return x

    compiled = jit(vmap(checked))
    with pytest.raises(KeyError, match="three"):
        compiled(X)
    with pytest.raises(ValueError, match="too large"):
        compiled(X[::-1])
    assert goes_over_elements(compiled)


def test_lengths_are_compared(interpreted):
    def apart(x, y):
        n = 0.0
        while n < x:
            n += y
        return n

    compiled = jit(vmap(apart))
    compiled(X, X)
    values = {"njit": lambda *f, **_: f[0] if f else lambda g: g}
    exec(compiled.source().replace("from numba import njit", ""), values)
    with pytest.raises(ValueError, match="lengths differ"):
        values["apart_vmap"](X, X[:2])


def test_nothing_else_changes():
    assert "going" in vmap(halved).source(X)
    assert "np.where" in vmap(lambda x: x / 2 if x > 1 else x).source(X)
    outer = grad(lambda x: np.sum(jit(vmap(settled))(x)))
    assert "njit" not in outer.source(ROWS)


# -- the corpus


def cases(listed):
    return pytest.mark.parametrize("program", listed, ids=lambda each: each.name)


def check(mapped, args):
    want = mapped(*copy.deepcopy(args))
    assert_alike(jit(mapped)(*copy.deepcopy(args)), want, 1e-6, 1e-9)


WAYS = ("while_loops", "branches", "references", "numerical_recipes", "scripts", "matching")
OWN = [p for p in ALL if p.name.split(".")[0] in WAYS]
MATH = {"elementwise.untaken_side_has_no_value"}  # Python's own log(0) raises


@pytest.mark.filterwarnings("ignore")
@cases([*OWN[::2], *ALL[::6]])
def test_corpus(interpreted, program):
    args, axes = batch(program, elements(program))
    check(vmap(program.function, axes), args)


@pytest.mark.filterwarnings("ignore")
@cases([p for p in OWN[::8] if p.name not in MATH])
def test_gradients_of_the_corpus(interpreted, program):
    args, axes = batch(program, elements(program))
    check(vmap(grad(program.projected(), program.wrt), axes), args)


@pytest.mark.filterwarnings("ignore")
@cases([p for p in OWN[4::8] if p.name not in MATH])
def test_gradients_through_the_corpus(interpreted, program):
    args, axes = batch(program, elements(program))
    mapped = vmap(program.projected(), axes)

    def total(*args):
        return np.sum(mapped(*args))

    check(grad(total, program.wrt), args)


def test_the_corpus_goes_its_own_ways(interpreted):
    named = {p.name: p for p in programs()}
    for name in ("while_loops.count_trips", "scripts.newton_root_of_power"):
        args, axes = batch(named[name], elements(named[name]))
        compiled = tapeless.jit(vmap(named[name].function, axes))
        compiled(*args)
        assert goes_over_elements(compiled)


KERNEL = np.cos(np.arange(12.0))
#: Lengths that shrink as another one grows.
SHRINKING = {
    "valid": lambda x: np.sum(np.convolve(x[x > -0.8], KERNEL, "valid") ** 2),
    "padded": lambda x: np.sum(np.pad(x[x > 0] * 2, (0, 20 - 2 * np.count_nonzero(x > 0))) ** 2),
    "rest": lambda x: np.sum(KERNEL[np.count_nonzero(x > 0) :] * 2) + np.sum(x[x > 0]),
    "windows": lambda x: np.sum(np.convolve(KERNEL, x[x > 0.1] + 1, "valid")[::-1] ** 2),
    "correlated": lambda x: np.sum(np.correlate(x[x > -0.5], KERNEL, "valid") ** 3),
}


@pytest.mark.parametrize("name", SHRINKING)
def test_scratch_memory_is_long_enough_for_all_elements(interpreted, name):
    """Python raises where a kernel would store behind the end of an array."""
    f, x = SHRINKING[name], np.random.default_rng(1).normal(size=(6, 9))
    np.testing.assert_allclose(jit(vmap(f))(x), [f(row) for row in x])
