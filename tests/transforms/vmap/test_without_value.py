"""What a part of a batch leaves: values that only one side has, lists that it fills, lengths."""

import numpy as np
import pytest

from tapeless import custom_jvp, grad, jit, jvp, vmap
from tapeless.transformations.compilation.compiled_function import Jit
from tests.test_corpus_compiled import by_python

RNG = np.random.default_rng(0)
X, N = RNG.uniform(-1, 1, 5), np.array([0, 2, 3, 1, 4])
V, U = RNG.uniform(-1, 1, (5, 4)), np.array([0.5, -0.3, 0.9, 0.1])


def early_returns_of_which_one_is_shared(x, y, k, v, u):
    v[k] += x
    if y < x:
        if x > 0:
            return v * k
    elif u[0] > 0:
        return np.tanh(np.zeros_like(v))
    return v + u


def selected_on_an_inner_side(x, k, v, u):
    if v[k] > 0.1:
        j = 0
        while j < 4 and v[(k + 1) % 4] > 0:
            j += 1
    elif not x > 0.1 or v[0] > 0.2:
        v[u > 0.2] *= np.sin(x)
    return np.sum(v * v) + x


def lengths_kept_on_one_side(x, n, k, v):
    if x > 0.1:
        for i in range(0, n, k):
            x = np.tanh(np.sum(v[: i % 4]))
            v[np.arange(2) + k // 2] *= v[:2] * 0.5
    return np.sum(v * v) + x


def nothing_of_the_element_is_read(x, n, u):
    j, y = 0, x
    while j < 5 and n != 2:
        j += 1
        if x > 0 and n < 3:
            y = np.tanh(np.median(u))
    return y + x


def twice(a, d):
    if d <= 0:
        return np.cos(a)
    if a > 0:
        return 0.5 * twice(a - 0.4, d - 1)
    return twice(a + 0.3, d - 1) - a


def recursion_where_few_take_part(x, y, n, v):
    if x > 0 and v[0] > -5:
        v[v > 0.2] *= np.tanh(twice(y, n))
    v[0] += np.tanh(twice(y, n))
    return np.sum(v * v) + x


def fill(v, k, value):
    v[k] = value
    if value > 0.2:
        v[0] += 0.1


def recursion_of_selected(x, y, n, k, v):
    v[v > 0.2] *= np.tanh(x + twice(y, n % 3))
    fill(v, k, x)
    return np.sum(v * v)


def counts_on_one_side(x, k, v):
    if x > 2:
        j = 0
    elif x > 0:
        v[:] += np.sin(np.cumsum(np.bincount(np.arange(4) * k % 4, v, 4)))
        j = 1
    else:
        j = 2
    return np.sum(v * x) + j


def returns_out_of_a_loop(x, y, n, u):
    if x > 0:
        x = x * 2
    elif np.all(u < 2):
        j = 0
        while y > 0.05 and j < 6:
            j += 1
            if n % 2 == 0:
                return np.tanh(u) * x
    return np.tanh(u) + x + y


K = np.array([3, 0, 2, 1, 3])
Y = X[::-1].copy()
SCALARS = [
    (selected_on_an_inner_side, (X, K, V, U), (0, 0, 0, None), (0, 2, 3)),
    (lengths_kept_on_one_side, (X, 3, 2, V), (0, None, None, 0), (0, 3)),
    (nothing_of_the_element_is_read, (X, N, U), (0, 0, None), (0, 2)),
    (recursion_where_few_take_part, (X, 0.3, 2, V), (0, None, None, 0), (0, 1, 3)),
    (recursion_of_selected, (X, Y, N, K, V), (0, 0, 0, 0, 0), (0, 1, 4)),
    (counts_on_one_side, (0.5, K, U), (None, 0, None), (0, 2)),
    (counts_on_one_side, (X, K, V), (0, 0, 0), (0, 2)),
]
VECTORS = [
    (
        early_returns_of_which_one_is_shared,
        (-0.5, 0.2, K, U, -U),
        (None, None, 0, None, None),
        (0, 3),
    ),
    (
        early_returns_of_which_one_is_shared,
        (-0.5, 0.2, K, V[0], U),
        (None, None, 0, None, None),
        (0, 3),
    ),
    (early_returns_of_which_one_is_shared, (X, Y, K, V, U), (0, 0, 0, 0, None), (0, 3)),
    (returns_out_of_a_loop, (X, Y, N, U), (0, 0, 0, None), (0, 1, 3)),
]


def total(f):
    return lambda *args: np.sum(np.sin(f(*args)))


def one(args, axes, i):
    pairs = zip(args, axes, strict=True)
    return [np.copy(a if axis is None else a[i])[()] for a, axis in pairs]


def assert_like_loop(f, args, axes, batched):
    rows = [f(*one(args, axes, i)) for i in range(5)]
    found = batched(*args)
    if not isinstance(found, tuple):
        found, rows = (found,), [(row,) for row in rows]
    for a, *b in zip(found, *rows, strict=True):
        assert a.dtype == np.asarray(b[0]).dtype
        np.testing.assert_allclose(a, np.stack(b), rtol=1e-9, atol=1e-12)


def cases(listed):
    return pytest.mark.parametrize(
        ("f", "args", "axes", "by"),
        listed,
        ids=[f"{k}-{c[0].__name__}" for k, c in enumerate(listed)],
    )


@cases([*SCALARS, *VECTORS])
def test_values(f, args, axes, by):
    assert_like_loop(f, args, axes, vmap(f, axes))


@cases([*SCALARS, *VECTORS])
def test_gradients(f, args, axes, by):
    slope = grad(total(f), by)
    assert_like_loop(slope, args, axes, vmap(slope, axes))


@cases([*SCALARS, *VECTORS])
def test_compiled_gradients(f, args, axes, by, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    slope = grad(total(f), by)
    assert_like_loop(slope, args, axes, jit(vmap(slope, axes)))


@cases([*SCALARS, *VECTORS])
def test_gradients_in_batches_of_batches(f, args, axes, by):
    slope = grad(total(f), by)
    wide = [np.stack([a, a[::-1]]) if axis == 0 else a for a, axis in zip(args, axes, strict=True)]
    found = vmap(vmap(slope, axes), axes)(*wide)
    for k in range(2):
        rows = [a if axis is None else a[k] for a, axis in zip(wide, axes, strict=True)]
        assert_like_loop(slope, rows, axes, lambda *_, k=k: tuple(a[k] for a in found))


def of_one_side(v):
    return np.sin(v) if np.sum(v) > 0.2 else 0.5 * v


def clipped_mean(x, v):
    return np.sum(of_one_side(np.tanh(np.maximum(v * 0.7, of_one_side(v)))) ** 2)


@pytest.mark.parametrize("start", [np.array([0.3, -0.2, 0.6]), np.array([0.3, -0.7, 0.1])])
def test_what_a_rule_saves_on_one_side(start):
    ruled = custom_jvp(lambda x, v: clipped_mean(x, v))
    ruled.defjvp(lambda primals, tangents: jvp(clipped_mean, primals, tangents))

    def batch(f, v):
        return np.sum(np.sin(vmap(f, in_axes=(0, None))(np.array([1.0, 0.8]), v)))

    near, far = (
        (
            grad(lambda v: batch(clipped_mean, v))(start + h * start)
            - grad(lambda v: batch(clipped_mean, v))(start - h * start)
        )
        for h in (1e-3, 2e-3)
    )
    found = jvp(grad(lambda v: batch(ruled, v)), (start,), (start,))[1]
    np.testing.assert_allclose(found, (8 * near - far) / 12e-3, rtol=1e-6, atol=1e-9)


def hit(start, direction, center):
    b = (start - center) @ direction
    e = b * b - (start - center) @ (start - center) + 1
    if e < 0:
        return None
    t = -b - np.sqrt(e)
    return t if t > 1e-6 else None


def root_of_nearest(start, direction, x):
    best = np.inf
    for center in ([x, 0.0, 3.0], [1.0, 0.0, 4.0], [9.0, 1.0, 5.0]):
        t = hit(start, direction, np.array(center))
        if t is not None and t < best:
            best = t
    return np.sqrt(best)


def through_spheres(x):
    total = 0.0
    for k in range(4):
        direction = np.array([0.1 * k, 0.1, 1.0])
        direction = direction / np.sqrt(direction @ direction)
        for start in (np.zeros(3), np.array([0.0, 0.5, 0.0]), np.array([0.5, 0.0, 0.0])):
            total += np.exp(-root_of_nearest(start, direction, x)) * x
    return total


def test_a_function_that_is_called_for_all_elements_has_a_value_for_each_result():
    x = np.array([0.2, 1.2, 1.7])
    slopes = vmap(grad(through_spheres))
    assert np.allclose(slopes(x), [grad(through_spheres)(v) for v in x])
    assert "def hit(" in slopes.source(x)


def returned_on_an_inner_side(x, v, m):
    if m.sum() >= x + 0.3:
        if -0.5 < np.sin(x) < 0.7:
            return 1.0 * np.tanh(x)
        m = np.sin(m + v)
    for i in range(len(v) - 1, 0, -1):
        if np.any(v > 0.6):
            return np.sin(0.1 * i)
    return np.sum(np.sin(m))


@pytest.mark.parametrize("x", [-0.0035, 0.9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_what_a_part_returns_for_all_of_its_elements_has_a_value_where_no_element_takes_it(
    x, sign, wrap
):
    m = sign * np.array([[-0.11, 0.83, 0.88], [-0.41, 0.12, 0.2]])
    rows, matrices = np.stack([0.9 * m[0], m[1]]), np.stack([m, m * x])
    found = wrap(vmap(returned_on_an_inner_side, in_axes=(None, 0, 0)))(x, rows, matrices)
    expected = [
        returned_on_an_inner_side(x, v, each) for v, each in zip(rows, matrices, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
