"""A derivative that a choice made exactly zero stays so, also where a slope is infinite.

Each program chooses a function where it has a slope, and `3 * x` where the function has none: by
`where`, branches, stores, masks, triangles and so on. The right derivatives are closed forms.
"""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
import scipy.special as sc

from tapeless import grad, hvp, jit, jvp, vmap

#: (function, its slope, its second slope), where it has none, and two places where it has.
STEEP = {
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 * x**-1.5, 0.0, 0.7, 2.0),
    "log": (np.log, lambda x: 1 / x, lambda x: -(x**-2), 0.0, 0.7, 2.0),
    "log2": (
        np.log2,
        lambda x: 1 / x / np.log(2),
        lambda x: -(x**-2) / np.log(2),
        0.0,
        0.7,
        2.0,
    ),
    "log1p": (np.log1p, lambda x: 1 / (1 + x), lambda x: -((1 + x) ** -2), -1.0, 0.7, 2.0),
    "over": (lambda x: 1 / x, lambda x: -(x**-2), lambda x: 2 * x**-3, 0.0, 0.7, -2.0),
    "reciprocal": (np.reciprocal, lambda x: -(x**-2), lambda x: 2 * x**-3, 0.0, 0.7, -2.0),
    "root": (
        lambda x: x**0.5,
        lambda x: 0.5 * x**-0.5,
        lambda x: -0.25 * x**-1.5,
        0.0,
        0.7,
        2.0,
    ),
    "power": (
        lambda x: x**-1.5,
        lambda x: -1.5 * x**-2.5,
        lambda x: 3.75 * x**-3.5,
        0.0,
        0.7,
        2.0,
    ),
    "cbrt": (
        np.cbrt,
        lambda x: x ** (-2 / 3) / 3,
        lambda x: x ** (-5 / 3) * -2 / 9,
        0.0,
        0.7,
        2.0,
    ),
    "arccos": (
        np.arccos,
        lambda x: -((1 - x * x) ** -0.5),
        lambda x: -x * (1 - x * x) ** -1.5,
        1.0,
        0.7,
        -0.2,
    ),
    "arcsin": (
        np.arcsin,
        lambda x: (1 - x * x) ** -0.5,
        lambda x: x * (1 - x * x) ** -1.5,
        1.0,
        0.7,
        -0.2,
    ),
    "arctanh": (
        np.arctanh,
        lambda x: 1 / (1 - x * x),
        lambda x: 2 * x / (1 - x * x) ** 2,
        1.0,
        0.7,
        -0.2,
    ),
    "arccosh": (
        np.arccosh,
        lambda x: (x * x - 1) ** -0.5,
        lambda x: -x * (x * x - 1) ** -1.5,
        1.0,
        1.7,
        2.2,
    ),
    "unit": (
        lambda x: x / np.sqrt(x),
        lambda x: 0.5 / np.sqrt(x),
        lambda x: -0.25 * x**-1.5,
        0.0,
        0.7,
        2.0,
    ),
    "sine_over": (
        lambda x: np.sin(x) / x,
        lambda x: np.cos(x) / x - np.sin(x) / x**2,
        lambda x: -np.sin(x) / x - 2 * np.cos(x) / x**2 + 2 * np.sin(x) / x**3,
        0.0,
        0.7,
        2.0,
    ),
    "of_root": (
        lambda x: np.exp(-np.sqrt(x * x * x)),
        lambda x: -1.5 * np.sqrt(x) * np.exp(-(x**1.5)),
        lambda x: (2.25 * x - 0.75 / np.sqrt(x)) * np.exp(-(x**1.5)),
        0.0,
        0.7,
        2.0,
    ),
    "angle": (
        lambda x: np.arctan2(x, x * x),
        lambda x: -1 / (1 + x * x),
        lambda x: 2 * x / (1 + x * x) ** 2,
        0.0,
        0.7,
        2.0,
    ),
    "log_of_digamma": (
        lambda x: np.log(np.abs(sc.psi(x))),
        lambda x: sc.polygamma(1, x) / sc.psi(x),
        lambda x: sc.polygamma(2, x) / sc.psi(x) - (sc.polygamma(1, x) / sc.psi(x)) ** 2,
        0.0,
        0.7,
        2.0,
    ),
    "bessel": (
        lambda x: sc.k0(x),
        lambda x: -sc.k1(x),
        lambda x: sc.k0(x) + sc.k1(x) / x,
        0.0,
        0.7,
        2.0,
    ),
    "elliptic": (
        lambda x: sc.ellipk(x) ** 2,
        np.vectorize(lambda x: float(mpmath.diff(lambda m: mpmath.ellipk(m) ** 2, x))),
        np.vectorize(lambda x: float(mpmath.diff(lambda m: mpmath.ellipk(m) ** 2, x, 2))),
        1.0,
        0.7,
        -0.2,
    ),
}


def where(f, s):
    return lambda x: np.where(x != s, f(x), 3 * x)


def where_of_sum(f, s):
    """The test is one number, and what is chosen goes through one number."""

    def run(x):
        far = f(x[0] + 0 * np.sum(x[1:]))
        return np.concatenate([np.where(x[0] != s, x * far, 3 * x)[:1], x[1:]])

    return run


def masked_sum(f, s):
    return lambda x: np.where(x == s, 3 * x, 0.0) + np.where(x == s, 0.0, f(x))


def two_tests(f, s):
    def run(x):
        y = np.where(x > s, f(x), 0.0) + np.where(x < s, f(x), 0.0)
        return y + np.where(x == s, 3 * x, 0.0)

    return run


def each_by_if(f, s):
    def run(x):
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = f(x[i])
            if x[i] != s:
                out[i] = y
            else:
                out[i] = 3 * x[i]
        return out

    return run


def each_by_expression(f, s):
    def run(x):
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = f(x[i])
            out[i] = y * 1.0 if x[i] != s else 3 * x[i]
        return out

    return run


def early_return(f, s):
    def one(v):
        y = f(v)
        if v == s:
            return 3 * v
        return y

    return lambda x: np.array([one(v) for v in x])


def nested_if(f, s):
    def one(v, k):
        y = f(v)
        r = 3 * v
        if k < 3:
            r = 3 * v + 0.0
            if v != s:
                r = y
        return r

    return lambda x: np.array([one(x[k], k) for k in range(3)])


def down(f, s, v, depth):
    y = f(v)
    if depth > 0:
        return down(f, s, v, depth - 1)
    return 3 * v if v == s else y


def in_recursion(f, s):
    return lambda x: np.array([down(f, s, v, np.floor(v * v) % 2) for v in x])


def no_pass(f, s):
    def one(v):
        y = f(v)
        r = 3 * v
        n = 0
        while n < 1 and v != s:
            r = r - 3 * v + y
            n += 1
        return r

    return lambda x: np.array([one(v) for v in x])


def mask_store(f, s):
    def run(x):
        y = f(x)
        bad = x == s
        y[bad] = 3 * x[bad]
        return y

    return run


def store_of_good(f, s):
    def run(x):
        good = x != s
        y = f(x)
        out = 3 * x
        out[good] = y[good]
        return out

    return run


def boolean_index(f, s):
    def run(x):
        y = f(x)
        return np.array([np.sum(y[x != s]) + 3 * np.sum(x[x == s])])

    return run


def keyword_where(f, s):
    def run(x):
        return np.sum(f(x), where=x != s, keepdims=True) + np.sum(3 * x, where=x == s)

    return run


def triangle(f, s):
    def run(x):
        good = np.array([x[1], x[2]])
        grid = np.array([[good[0], good[1]], [x[0], good[0]]])
        return np.array([np.sum(np.triu(f(grid), 1)) + good[0] * 0 + f(good[0]) + 3 * x[0]])

    return run


def own_distance(f, s):
    """All pairs are made, and those of an element with itself are not used."""

    def run(x):
        grid = (x[:, None] - x[0]) * (1 - np.eye(3)) + s
        y = f(np.where(np.eye(3) > 0, s, x[:, None] * np.ones(3)))
        y[np.eye(3) > 0] = 0.0
        return np.where(x == s, 3 * x, (y[:, 0] + y[:, 1] + y[:, 2]) / 2) + 0 * np.sum(grid)

    return run


def one_slice(f, s):
    def run(x):
        y = f(x)
        return np.concatenate([3 * x[:1], y[1:]])

    return run


def constant_mask(f, s):
    return lambda x: (
        np.where(x == s, 0.0, f(x)) * np.array([0.0, 1.0, 1.0]) + 3 * x * np.array([1.0, 0.0, 0.0])
    )


def cast_mask(f, s):
    def run(x):
        y = f(x)
        y = np.where(np.isfinite(y), y, 0.0)
        return y * (x != s) + 3 * x * (x == s)

    return run


def product_chain(f, s):
    def run(x):
        y = f(x) * np.array([1.0, 2.0, 4.0]) / np.array([2.0, 4.0, 8.0])
        return np.where(x != s, -(-2 * y), 3 * x)

    return run


WAYS = [
    where,
    where_of_sum,
    masked_sum,
    two_tests,
    each_by_if,
    each_by_expression,
    early_return,
    nested_if,
    in_recursion,
    no_pass,
    mask_store,
    store_of_good,
    boolean_index,
    keyword_where,
    triangle,
    own_distance,
    one_slice,
    constant_mask,
    cast_mask,
    product_chain,
]


def total(f):
    return lambda x: np.sum(f(x))


MODES = {
    "grad": lambda f, x, v: grad(total(f))(x),
    "jvp": lambda f, x, v: np.array([np.sum(jvp(f, (x,), (e,))[1]) for e in np.eye(3)]),
    "hvp": lambda f, x, v: hvp(total(f), (x,), (v,)),
    "grad of jvp": lambda f, x, v: grad(lambda x: np.sum(jvp(f, (x,), (v,))[1]))(x),
    "grad of grad": lambda f, x, v: grad(lambda x: grad(total(f))(x) @ v)(x),
    "vmap of grad": lambda f, x, v: vmap(grad(total(f)))(np.stack([x, x[[0, 2, 1]]]))[0],
    "grad of vmap": lambda f, x, v: grad(lambda xs: np.sum(vmap(f)(xs)))(np.stack([x, x]))[1],
    "vmap of hvp": lambda f, x, v: vmap(lambda x: hvp(total(f), (x,), (v,)))(x[None])[0],
    "jit of grad": lambda f, x, v: jit(grad(total(f)))(x),
    "jit of jvp": lambda f, x, v: np.array(
        [np.sum(jit(lambda x, e: jvp(f, (x,), (e,))[1])(x, e)) for e in np.eye(3)]
    ),
    "jit of hvp": lambda f, x, v: jit(lambda x, v: hvp(total(f), (x,), (v,)))(x, v),
    "jit of vmap of grad": lambda f, x, v: jit(vmap(grad(total(f))))(np.stack([x, x]))[1],
}
SECOND = {"hvp", "grad of jvp", "grad of grad", "vmap of hvp", "jit of hvp"}
CASES = [(op, way, mode) for op in STEEP for way in WAYS for mode in MODES]


def right(op, way, mode, x, v):
    _, slope, second, *_ = STEEP[op]
    if way is where_of_sum:
        return np.zeros(3) if mode in SECOND else np.array([3.0, 1.0, 1.0])
    if mode in SECOND:
        return np.array([0.0, *(second(x[1:]) * v[1:])])
    return np.array([3.0, *slope(x[1:])])


def agrees(op, way, mode):
    f, _, _, *places = STEEP[op]
    x, v = np.array(places), np.array([0.3, -0.8, 1.1])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = MODES[mode](way(f, places[0]), x, v)
    np.testing.assert_allclose(found, right(op, way, mode, x, v), rtol=1e-8)


COMPILED = [mode for mode in MODES if "jit" in mode]
EVALUATED = [mode for mode in MODES if "jit" not in mode]


def sample(modes, step):
    """Every so many of all cases, so that each operation, way and mode is met."""
    every = [(op, way, mode) for mode in modes for way in WAYS for op in STEEP]
    return every[::step]


HARD = [  # factors that are zero on both sides, and that another function saved
    ("over", in_recursion, "grad of grad"),
    ("unit", own_distance, "grad of grad"),
    ("angle", own_distance, "grad of jvp"),
]


@pytest.mark.parametrize(("op", "way", "mode"), [*HARD, *sample(EVALUATED, 11)])
def test_exact_zeros(op, way, mode):
    agrees(op, way, mode)


@pytest.mark.parametrize(("op", "way", "mode"), sample(COMPILED, 61))
def test_exact_zeros_compiled(op, way, mode):
    agrees(op, way, mode)


def test_a_constant_that_is_tested():
    """Of second order, the cotangent of a slope may be a number that is known."""

    def volume(p):
        v = 2.0
        for _ in range(30):
            slope = -p / v**2
            step = (p / v - 0.7) / slope
            v = v - step
            if abs(step) < 1e-12:
                break
        return v

    for form in (lambda f: f, jit):
        np.testing.assert_allclose(form(grad(volume))(1.3), 1 / 0.7, rtol=1e-8)
        np.testing.assert_allclose(form(grad(grad(volume)))(1.3), 0.0, atol=1e-7)


def test_smooth_code_has_no_tests_of_zeros():
    """Slopes that are finite, and derivatives that are no choice, are written as they are."""

    def smooth(x, w):
        h = np.where(x > 0, x, 0.1 * x) / (1 + x**2)
        p = np.exp(h - np.max(h))
        return np.sum(np.sqrt(1 + (p / np.sum(p)) ** 2) * w) + np.sum(np.log(x * x + 2))

    source = grad(smooth).source(np.array([0.3, -0.2]), np.array([0.5, 2.0]))
    assert "!= 0" not in source


def _unit_rows(w, x):
    n = np.sqrt(np.sum(x * x, axis=1))
    return np.sum(np.where(n[:, None] > 0, (x / n[:, None]) @ w, x @ w))


def _unit_rows_by_einsum(w, x):
    n = np.sqrt(np.sum(x * x, axis=1))
    y = np.einsum("ij,jk->ik", x / n[:, None], w)
    return np.sum(np.where(n[:, None] > 0, y, x @ w))


def _turned_unit(w, x):
    n = np.sqrt(x[0] @ x[0])
    return np.sum(np.where(n > 0, w @ (x[0] / n), w @ x[0])) + np.sum(x[1:] @ w)


@pytest.mark.parametrize("function", [_unit_rows, _unit_rows_by_einsum, _turned_unit])
@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_factors_of_sums_of_products(function, form):
    """The slope by `w` is x / n, nan in the row that is not taken."""
    w, x = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.0, 0.0], [3.0, 4.0]])
    with np.errstate(all="ignore"):
        found = form(grad(function))(w, x)
    unit = x[1] / 5.0
    by_rows = np.array([unit, unit]).T  # each column of w meets the one row that counts
    right = np.array([x[1], x[1]]).T if function is _turned_unit else by_rows
    np.testing.assert_allclose(found, right, rtol=1e-12)


def _ends_asserted(x, d):
    assert d[0] == d[-1] == np.inf
    return np.sum((x * d)[1:-1])


def _ends_asserted_of_a_copy(x, d):
    d = np.array(d, dtype=float)
    assert not np.isfinite(d[0])
    return np.sum((x * d)[1:-1])


def _read_in_a_loop(x, d):
    if d[0] != np.inf:
        raise ValueError("no semi-infinite layer")
    y, total = x * d, 0.0
    for i in range(1, len(d) - 1):
        if y[i] > 8.0:
            y[i] = 8.0
        total = total + y[i]
    return total


def _counted(x, d):
    return np.sum((d * x * np.sum(np.isinf(d)))[1:-1])


def _quotient(x, d):
    assert np.all(d[1:-1] != np.inf)
    return np.sum((d / x)[1:3] * 2.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("compiled", [False, True], ids=["", "jit"])
@pytest.mark.parametrize(
    "f", [_ends_asserted, _ends_asserted_of_a_copy, _read_in_a_loop, _counted, _quotient]
)
def test_infinities_that_a_program_asks_for_scale_no_zeros_that_nobody_read(f, compiled):
    x, d = np.array([1.0, 2.0, 3.0, 4.0]), np.array([np.inf, 2.0, 3.0, np.inf])
    slope = grad(f)
    slope = (jit(slope) if compiled else slope)(x, d)
    steps = 1e-6 * np.eye(4)
    expected = [(f(x + step, d) - f(x - step, d)) / 2e-6 for step in steps]
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)
