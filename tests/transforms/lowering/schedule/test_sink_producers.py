"""Values are made in the loop that reads them; nests whose parts have nothing in common fall apart;
arrays take memory that nobody reads any more."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 50))


def one_reader(x, y):
    shifted = np.roll(y, 1)
    return np.sum(shifted * (x * y))


def two_readers(x, y):
    a = x * y
    b = np.roll(a, 1) * np.exp(-(a**2))
    c = np.roll(b, 1)
    return c * a


def changed_between(x, y):
    x = x.copy()
    t = x * 2
    x[1:] = np.roll(y, 1)[:-1]
    return np.roll(x, 1) * t


def changed_by_the_reader(x, y):
    x = x.copy()
    t = x * 2
    r = np.roll(y, 1)
    x[:] = r * t
    return x


def changed_in_arguments(x, y):
    t = x + y
    x[:] = np.roll(y, 2)
    return np.roll(x, 1) * t


def carried(x, y):
    for _ in range(4):
        t = x * y
        x = np.roll(x, 1) + y
        x = np.roll(x, -1) * t
    return x


def carried_in_place(x, y):
    x = x.copy()
    for _ in range(4):
        t = x * y
        x[0] = 1.0
        x += np.roll(x, 1) * t
    return x


def out_of_step(x, y):
    t = x * y
    r = np.roll(y, 1)
    return r[:-1] * t[1:] + r[1:] * t[:-1]


def stages(x, y):
    def rate(u):
        return np.roll(u, 1) * y - u * u * 0.1 * np.roll(u, -1)

    for _ in range(5):
        k1 = rate(x)
        k2 = rate(x + 0.05 * k1)
        k3 = rate(x + 0.05 * k2)
        x = x + 0.1 / 6 * (k1 + 4 * k2 + k3)
    return x


def apart(x, y):
    a = np.tanh(x)
    b = np.exp(-(y * y))
    c = np.roll(np.roll(a, 1) * x, 1)
    d = np.roll(c * a, 2)
    return np.roll(d, 1) * b


def raises(x, y):
    t = x * y
    r = np.roll(y, 1)
    if r[0] > 100:
        raise ValueError("too large")
    return r * t


def rows(x, y):
    a = np.outer(x, y)
    b = np.roll(y, 1) * x
    c = a * b[:, None]
    s = c.sum(axis=1)
    return np.roll(s, 1) * (a * 2).sum(axis=0)


PROGRAMS = [
    one_reader,
    two_readers,
    changed_between,
    changed_by_the_reader,
    changed_in_arguments,
    carried,
    carried_in_place,
    out_of_step,
    stages,
    apart,
    raises,
    rows,
]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [50, 3, 1])
def test_values_and_arguments_are_those_of_numpy(f, n):
    args, found = [X[:n].copy(), Y[:n].copy()], [X[:n].copy(), Y[:n].copy()]
    wanted = f(*args)
    np.testing.assert_allclose(jit(f)(*found), wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found, args)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not changed_in_arguments])
def test_gradients_are_those_of_array_form(f):
    def total(x, y):
        return np.sum(f(x, y) ** 2)

    wanted = grad(total, argnums=(0, 1))(X, Y)
    found = jit(grad(total, argnums=(0, 1)))(X, Y)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_what_one_nest_reads_needs_no_array():
    def f(x, y, n):
        for _ in range(n):
            t = x * y
            x = np.roll(np.roll(x, 1) * y, 1) * t
        return x

    text = jit(f).source(X, Y, 3)
    assert "t = x[i] * y[i]" in text
    assert text.count(" = scratch(") == 3


def test_a_value_stays_if_more_would_be_read():
    """Three arrays are read for one that is written."""

    def f(x, y, z, n):
        for _ in range(n):
            t = np.exp(np.sin(x * y + z))
            u = np.roll(x * y * z, 1)
            x = np.roll(u, 1) * t
        return x

    text = jit(f).source(X, Y, X, 3)
    np.testing.assert_allclose(jit(f)(X, Y, X, 3), f(X, Y, X, 3))
    assert text.index("exp(") < text.index("shape[0] - 1)")


def test_nests_fall_apart_before_what_reads_their_parts():
    def f(x, ys):
        for y in ys:
            a = np.tanh(x)
            b = np.exp(-(y * y)) * y
            c = np.roll(np.roll(a, 1) * x, 1)
            d = np.cumsum(c) + x
            x = np.cumsum(d) * np.roll(b, 1)
        return x

    ys = np.array([Y, 0.5 * Y, -Y])
    text = jit(f).source(X, ys)
    np.testing.assert_allclose(jit(f)(X, ys), f(X, ys))
    assert text.index("tanh(") < text.index("shape[0] - 1)") < text.index("exp(")


def test_stages_share_memory():
    """That of one stage is there for the next."""

    def loss(x, y):
        return np.sum(stages(x, y) ** 2)

    assert jit(loss).source(X, Y).count(" = scratch(") <= 8
    text = jit(grad(loss)).source(X, Y)  # computes the stages again: of a pass it saves x alone
    assert text.count("_saved = ") == 1
    assert text.count(" = scratch(") <= 21


def test_memory_of_a_loop_that_is_read_later_is_not_taken():
    def f(x, y):
        kept = np.zeros_like(x)
        for k in range(3):
            a = np.roll(x, 1) * y
            if k == 1:
                kept = a
            b = np.roll(a, 1) * 3
            x = np.roll(b, 1) + kept
        return x + kept

    np.testing.assert_allclose(jit(f)(X, Y), f(X, Y))


def pair_energy(x, box):
    """Of pairs of points of any number of coordinates, but for a point and itself."""
    d = x[:, None, :] - x[None, :, :]
    d = d - box * np.round(d / box)
    r2 = np.sum(d * d, axis=2) + np.eye(len(x))
    return np.sum((1 - np.eye(len(x))) / r2)


def test_pairs_are_not_kept_for_loops_over_their_coordinates():
    x = RNG.random((20, 3)) * 5
    slope = jit(grad(pair_energy))
    assert "empty((x.shape[0], x.shape[0])" not in slope.source(x, 5.0)
    along = RNG.normal(size=x.shape)
    there, back = (pair_energy(x + h * along, 5.0) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(np.sum(slope(x, 5.0) * along), (there - back) / 2e-6, rtol=1e-5)
