"""What a mask selects is computed at all places, where it is only stored there or added up."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(3)


def squares_where_small(x, c):
    small = np.abs(x) < 1.0
    x[small] = x[small] ** 2 + c[small]
    return x


def escapes(x, c):
    z = x * (1 + 0.5j)
    count = np.zeros(x.shape, dtype=np.int64)
    for n in range(6):
        near = np.abs(z) < 2.0
        count[near] = n
        z[near] = z[near] ** 2 + c[near]
    return z, count


def reflects(x, c):
    out = x < 0
    x[out] = -x[out]
    c[out] *= -0.5
    return x, c


def rows_of_an_array(x, c):
    pairs = np.stack((x, c, x * c), axis=-1)
    dark = c < 0.2
    pairs[dark] = pairs[dark] * np.array([0.5, 0.25, 1.0]) + 1
    return pairs


def on_the_last_axis(x, c):
    table = np.stack((x, c))
    first = x > 0
    table[:, first] = np.exp(-table[:, first])
    return table


def added(x, c):
    chosen = x > 0.1
    x[chosen] += c[chosen] * 2
    return x, np.sum(c[chosen])


def means(x, c):
    return np.array([np.mean(x[c > level]) for level in (-1.0, 0.0, 0.5)])


def of_reversed_elements(x, c):
    low = c < 0
    x[low] = x[::-1][low] + x[low]
    return x


def into_integers(x, c):
    n = np.arange(x.size).reshape(x.shape)
    n[x > 0] = n[x > 0] + 0.75
    n[x < -1] = 2.5
    return n


def by_another_mask(x, c):
    x[x > 0] = 2 * c[c > 0]
    return x


def returned(x, c):
    large = x > 0.5
    values = x[large] * 2
    x[large] = values
    return x, values


def lengths(x, c):
    large = x > 0.5
    x[large] = x[large] + len(x[large])
    return x


PROGRAMS = [
    squares_where_small,
    escapes,
    reflects,
    rows_of_an_array,
    on_the_last_axis,
    added,
    means,
    of_reversed_elements,
    into_integers,
    returned,
    lengths,
]
REWRITTEN = PROGRAMS[:-2]


def same(got, wanted, rtol):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [0, 1, 7, 64])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values(program, size, dtype):
    x, c = RNG.normal(size=(2, size)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, wanted = jit(program)(x.copy(), c.copy()), program(x.copy(), c.copy())
    same(got, wanted, 1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("level", [-9.0, 9.0])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_masks_that_are_all_true_or_all_false(program, level):
    x, c = RNG.normal(size=9) + level, RNG.normal(size=9) - level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, wanted = jit(program)(x.copy(), c.copy()), program(x.copy(), c.copy())
    same(got, wanted, 1e-12)


@pytest.mark.parametrize("program", REWRITTEN, ids=lambda f: f.__name__)
def test_no_place_is_searched_for(program):
    x, c = RNG.normal(size=(2, 9))
    source = jit(program).source(x, c)
    assert "places" not in source
    assert "nonzero" not in source


@pytest.mark.parametrize("program", [squares_where_small, added, escapes], ids=lambda f: f.__name__)
def test_masks_of_matrices_and_parts_of_arrays(program):
    x, c = RNG.normal(size=(2, 8, 6))
    same(jit(program)(x.copy(), c.copy()), program(x.copy(), c.copy()), 1e-12)
    x, c = RNG.normal(size=(2, 20, 12))
    got, wanted = x.copy(), x.copy()
    same(
        jit(program)(got[::2, ::-2], c[::2, 1::2]),
        program(wanted[::2, ::-2], c[::2, 1::2].copy()),
        1e-12,
    )
    np.testing.assert_allclose(got, wanted)


def test_what_the_caller_holds_is_overwritten():
    x, c = RNG.normal(size=(2, 9))
    mine, numpys = x.copy(), x.copy()
    jit(squares_where_small)(mine, c)
    squares_where_small(numpys, c)
    np.testing.assert_array_equal(mine, numpys)
    assert not np.array_equal(mine, x)


def test_places_that_are_not_selected_raise_nothing_and_keep_their_bits():
    x = np.array([-1.0, np.nan, np.inf, 4.0, -0.0, 0.0])

    def roots(x):
        positive = x > 0
        x[positive] = np.sqrt(x[positive])
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(jit(roots)(x.copy()), roots(x.copy()))
    assert np.signbit(jit(roots)(x.copy())[4])


def test_tables_are_read_where_the_mask_is_true_only():
    def looked_up(places, table):
        inside = places < len(table)
        result = np.zeros(places.shape)
        result[inside] = table[places[inside]]
        return result

    places = np.array([0, 9, 2, 7])
    np.testing.assert_array_equal(
        jit(looked_up)(places, np.arange(3.0)), looked_up(places, np.arange(3.0))
    )


def test_lengths_that_differ_are_an_error():
    x = np.array([1.0, -1.0, 2.0])
    with pytest.raises(ValueError, match=r"assign|length"):
        by_another_mask(x.copy(), np.array([1.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match=r"assign|length"):
        jit(by_another_mask)(x.copy(), np.array([1.0, 1.0, 2.0]))


def total(x, c):
    y = x * 1
    for _ in range(3):
        small = np.abs(y) < 1.5
        y[small] = y[small] ** 2 + c[small]
    return np.sum(y) + np.mean(y[c > 0])


@pytest.mark.parametrize("shape", [(7,), (4, 5)])
def test_derivatives(shape):
    x, c = RNG.normal(size=(2, *shape))
    check_grads(total, (x, c), order=1, rtol=1e-4)
    np.testing.assert_allclose(jit(grad(total))(x, c), grad(total)(x, c), rtol=1e-10)


def test_without_fastmath_sums_stay_as_they_are():
    x, c = RNG.normal(size=(2, 50))
    got = jit(means, fastmath=False)(x, c)
    np.testing.assert_allclose(got, means(x, c), rtol=1e-13)
