"""Memory that is read under one name and stored to under another one: the smallest programs."""

import numpy as np
import pytest

from tapeless import grad, jit

rng = np.random.default_rng(3)
ONE, FOUR, PAIR, ROWS = (rng.normal(size=shape) for shape in (1, 4, (1, 1), (4, 3)))


def adds_in_a_loop(v):
    w = v.copy()
    for _ in range(3):
        w[::-1] += np.sin(w[::-1])
    return w


def adds_to_a_row(v, m):
    row = m.copy()[0]
    for _ in range(2):
        row -= v
    return row * row


def adds_in_a_branch(v, x):
    w = v.copy()
    if x > 0:
        w[0] *= x
    return w[:, None] + 1, np.sum(w)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (adds_in_a_loop, (ONE,)),
        (adds_to_a_row, (ONE, PAIR)),
        (adds_in_a_branch, (ONE, 0.5)),
        (adds_in_a_branch, (ONE, -0.5)),
    ],
)
def test_the_only_element_is_read_again_after_a_store(function, args):
    for made, wanted in zip(jit(function)(*args), function(*args), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-12)


def backwards(m):
    m = m.copy()
    m[1:, :-1] -= m[:-1, -2::-1]
    return m


def diagonal(m):
    m = m.copy()
    d = np.diagonal(m)
    before = d * 2
    m[0] = 7.0
    return m, before, d + 1


@pytest.mark.parametrize("function", [backwards, diagonal])
@pytest.mark.parametrize("m", [ROWS, np.asfortranarray(ROWS), ROWS[::-1]])
def test_views_that_numpy_makes_of_what_is_stored_to(function, m):
    for made, wanted in zip(jit(function)(m), function(m), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-12)


def stores_one_element_a_pass(a, u, v):
    a = a.copy()
    for _ in range(5):
        t = np.zeros((4, 4))
        for i in range(3):
            t[i + 1, i] += u[i + 1] * v[i]
        a *= np.sin(t[:, 0][:, np.newaxis])
    return a


def reads_the_element_of_another_row(a, x):
    a, x = a.copy(), x.copy()
    for _ in range(3):
        x[0, 0] += 1.0
        a *= np.sin(x[0, 0])
    return a + x


def test_rows_are_not_by_themselves_where_one_element_is_stored_to():
    args = ROWS, FOUR, FOUR[::-1]
    np.testing.assert_allclose(
        jit(stores_one_element_a_pass)(*args), stores_one_element_a_pass(*args), rtol=1e-12
    )
    args = ROWS, ROWS[::-1]
    np.testing.assert_allclose(
        jit(reads_the_element_of_another_row)(*args), reads_the_element_of_another_row(*args)
    )


def carried_by_branches(v, x):
    p, q = 0, 1
    for e in v:
        stop = e + x > 5
        new = p if stop else 1 - q if e > 0 else q
        other = q if stop else 2 + p if e > 0 else p + 1
        p, q = new, other
    return p + 10 * q


@pytest.mark.parametrize("x", [-0.7, 4.5])
def test_numbers_that_are_carried_change_after_all_have_been_read(x):
    assert jit(carried_by_branches)(FOUR, x) == carried_by_branches(FOUR, x)


def sorted_on_one_side(u, v):
    if np.sum(v) > 100:
        return 1.0, v * u
    order = np.argsort(u)
    return np.sum(order) * 1.0, v


@pytest.mark.parametrize("n", [1, 4])
def test_what_a_routine_gets_is_an_array_also_of_one_element(n):
    args = FOUR[:n], FOUR[:n]
    for made, wanted in zip(jit(sorted_on_one_side)(*args), sorted_on_one_side(*args), strict=True):
        np.testing.assert_allclose(made, wanted)


def variables_called_like_functions(x, exp, gamma):
    sin = np.zeros_like(x)
    for i in range(len(x)):
        sin[i] = np.sin(x[i]) * gamma + sin[i - 1]
    return np.sum(np.exp(x) * exp) + sin


def test_variables_may_be_called_like_functions_of_math():
    args = FOUR, 2.0, 0.5
    np.testing.assert_allclose(
        jit(variables_called_like_functions)(*args), variables_called_like_functions(*args)
    )


def element_and_rows(w, a, c):
    w, c = w.copy(), c.copy()
    c[0, 2] *= w.mean()
    for _, _row in enumerate(c):
        c *= a.mean(axis=1, keepdims=True)
        a = a + w
    return np.sum(c)


def test_an_element_that_is_returned_is_read_before_it_is_overwritten():
    args = ROWS[0], ROWS + 1, ROWS - 1
    made = jit(grad(element_and_rows))(*args)
    np.testing.assert_allclose(made, grad(element_and_rows)(*args), rtol=1e-12)


def reversed_after_a_branch(b):
    if b[0] > 100:
        b += 1
    b[:] = b[::-1]
    return b * 1


def the_argument_or_another(b):
    x = b if b[0] > 100 else b * 2
    b += x[::-1]
    return b * 1, x * 1


def shifted_from_one_of_two(b):
    x = b * 2
    if b[0] > 100:
        x = b
    b[1:] = x[:-1]
    return b * 1


BRANCHES = [reversed_after_a_branch, the_argument_or_another, shifted_from_one_of_two]


@pytest.mark.parametrize("first", [0, 200])
@pytest.mark.parametrize("function", BRANCHES)
def test_a_branch_of_a_driver_results_in_memory_that_is_not_stored_to(function, first):
    b = np.arange(first, first + 3_000_000)  # so many that kernels are called inside of branches
    ours, expected = b.copy(), b.copy()
    found, wanted = (np.stack(f(x)) for f, x in ((jit(function), ours), (function, expected)))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(ours, expected)
