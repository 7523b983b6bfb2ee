"""What NumPy refuses is refused: positions, integers, labels and orders out of bounds."""

import math

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.core.traced_calls import STRICT
from tests.transforms.ops.agreement import check_slopes, check_values

X = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3)
SMALL = np.array([200, 3], np.uint8)


@pytest.mark.parametrize("which", [[0, 1, 1], [0, 1, 2], [0, -1, 1]])
def test_choices(which):
    which = np.array(which)
    check_values(lambda x: np.choose(which, [x, 2 * x]), X)
    check_values(lambda x, k: np.choose(k, [x, 2 * x]), X, which)
    for mode in ("clip", "wrap"):
        check_values(lambda x, k, mode=mode: np.choose(k, [x, 2 * x], mode=mode), X, which)


def test_slopes_of_choices():
    check_slopes(lambda x, k: np.choose(k, [x, 2 * x]), X, np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="invalid entry in choice array"):
        grad(lambda x, k: np.choose(k, [x, 2 * x]).sum())(X, np.array([0, 1, 2]))


def test_choices_of_a_batch():
    def f(k):
        return np.choose(k, [X, 2 * X])

    which = np.array([[0, 1, 1], [1, 1, 0]])
    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_array_equal(run(which), [f(k) for k in which])
        with pytest.raises(ValueError, match="invalid entry in choice array"):
            run(which + 1)


@pytest.mark.parametrize("value", [300, -1, 7, [3, -1], 3.7])
def test_integers_that_are_put(value):
    def put(u):
        np.put(u, [0, 1], value)

    check_values(put, SMALL)


@pytest.mark.parametrize("n", [300, 7])
def test_an_argument_that_is_put(n):
    def put(u, n):
        np.put(u, [0], n)

    check_values(put, SMALL, n)


@pytest.mark.parametrize("text", ["...->", "...i->i", "...i->", "...i->...", "..."])
def test_labels(text):
    check_values(lambda m: np.einsum(text, m), M)
    check_values(lambda m: np.einsum(text, m), X)


@pytest.mark.parametrize("n", [-1, 0, 2])
def test_orders_of_differences(n):
    check_values(lambda x: np.diff(x, n=n), X)
    check_values(lambda x, n: np.diff(x, n=n), X, n)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("k", [np.array([200, 3], np.uint8), np.array([100, -3], np.int8)])
def test_lengths_that_small_integers_do_not_hold(mode, k):
    check_values(lambda x, k: np.take(x, k, mode=mode), np.arange(300.0), k)


@pytest.mark.parametrize("k", [5, 6, -1, np.array([0, 5]), np.array([0, 9]), np.array([-1])])
def test_places_in_a_shape(k):
    check_values(lambda x, k: np.unravel_index(k, x.shape), M, k)
    check_values(lambda k: np.unravel_index(k, (2, 3)), k)


@pytest.mark.parametrize("k", [0, 1, 2, -1])
def test_places_of_places(k):
    check_values(lambda x, k: np.ravel_multi_index((k, k), x.shape), M, k)
    check_values(lambda x, k: np.ravel_multi_index((k, 2 - k), x.shape), M, np.array([k, 1]))


def test_the_place_of_the_largest_needs_no_test():
    largest = jit(lambda x: x[np.unravel_index(np.argmax(x), x.shape)])
    assert largest(M) == 5.0
    assert "raise ValueError" not in largest.source()


@pytest.mark.parametrize("n", [2, 0, -1])
@pytest.mark.parametrize(
    "make",
    [
        np.zeros,
        np.eye,
        lambda n: np.full((2, n), 1.5),
        lambda n: np.ones_like(X, shape=n),
        lambda n: np.indices((n, 2)),
        lambda n: np.linspace(0.0, 1.0, n),
        lambda n: np.geomspace(1.0, 2.0, n),
    ],
)
def test_lengths_are_not_negative(make, n):
    check_values(make, n)
    check_values(lambda x, n: np.sum(make(n[0])) + x, X, np.array([n]))
    check_values(lambda x: np.sum(make(len(x) + n - 3)), X)


def test_lengths_are_looked_at_again_in_each_call():
    f = jit(lambda x: np.sum(np.zeros(len(x) - 2)) + x[0])
    assert f(X) == 1.0
    with pytest.raises(ValueError, match="negative dimensions"):
        f(X[:1])


@pytest.mark.parametrize("n", [3, 5])
def test_what_is_stored_fits_where_the_store_is_not_read(n):
    def f(x, n):
        out = np.zeros(n[0])
        np.add(x, x, out=out)
        return out.sum()

    check_values(f, X, np.array([n]))
    if n == 3:
        np.testing.assert_array_equal(grad(f)(X, np.array([n])), 2 * np.ones(3))
    else:
        with pytest.raises(ValueError, match="broadcast"):
            grad(f)(X, np.array([n]))


@pytest.mark.parametrize("parts", [0, -1, -3])
def test_numbers_of_parts(parts):
    check_values(lambda x: np.array_split(x, parts), X)
    check_values(lambda x: np.split(x, -3), X)


W3, W1 = np.ones(3), np.ones(1)


@pytest.mark.parametrize("w", [W3, W1, np.ones(2)])
@pytest.mark.parametrize(
    "weigh",
    [
        lambda x, w: np.average(x, weights=w),
        lambda x, w: np.average(np.outer(x, x[:2]), axis=0, weights=w),
        lambda x, w: np.average(np.outer(x, x), axis=(0, 1), weights=np.outer(w, w)),
        lambda x, w: np.average(x, axis=0, weights=w, returned=True)[0],
        lambda x, w: np.polyfit(np.arange(3.0), x, 1, w=w),
        lambda x, w: np.polyfit(w, x, 1),
        lambda x, w: np.bincount(np.array([0, 1, 1]), weights=w),
        lambda x, w: np.histogram(x, bins=2, weights=w)[0],
        lambda x, w: math.dist(x, w),
    ],
)
@pytest.mark.filterwarnings("ignore")  # RankWarning
def test_weights_and_points_are_as_many_as_numbers(weigh, w):
    check_values(weigh, X, w)
    if len(w) != 3:
        with pytest.raises(Exception) as alone:  # noqa: PT011 (which it is is compared)
            weigh(X, w)
        for batched in (vmap(weigh), jit(vmap(weigh))):
            with pytest.raises(alone.type):
                batched(np.stack([X, X]), np.stack([w, w]))


@pytest.mark.parametrize("n", [2, 0, -1])
@pytest.mark.parametrize(
    "transform", [np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft]
)
def test_numbers_of_points(transform, n):
    check_values(lambda x: transform(x, n), X)
    check_values(lambda x, n: transform(x, n), X, n)
    check_values(lambda x, n: transform(x, n[0]), X, np.array([n]))


@pytest.mark.parametrize("n", [2, 0, -1])
def test_triangles_of_nothing(n):
    check_values(lambda n: np.tri(n), n)
    check_values(lambda n: np.tri(3, n), n)
    check_values(lambda x, n: np.tri(n[0], 3) * x, X, np.array([n]))


@pytest.mark.parametrize("n", [2, 0, -1])
def test_widths_of_pads(n):
    check_values(lambda x: np.pad(x, n), X)
    check_values(lambda x, n: np.pad(x, n), X, n)
    check_values(lambda x, n: np.pad(x, (n[0], 1), mode="edge"), X, np.array([n]))
    for slope in (lambda x, n: np.pad(x, n).sum(), lambda x, n: np.pad(x, np.array(n)).sum()):
        if n < 0:
            with pytest.raises(ValueError, match="negative values"):
                grad(slope)(X, n)
        else:
            np.testing.assert_array_equal(grad(slope)(X, n), np.ones(3))


@pytest.fixture
def may_be_traced():
    before, STRICT[0] = STRICT[0], False
    yield
    STRICT[0] = before


@pytest.mark.parametrize("parts", [[2, 4], [2, 2], [2, 3]])
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.usefixtures("may_be_traced")
def test_numbers_of_parts_of_a_batch(parts):
    def first(x, n):
        return np.split(x, n)[0].sum()

    x, n = np.arange(8.0).reshape(2, 4), np.array(parts)
    for form in (lambda f: f, jit):
        if 3 in parts:
            with pytest.raises(ValueError, match="equal division"):
                form(vmap(first))(x, n)
        else:
            np.testing.assert_array_equal(form(vmap(first))(x, n), [*map(first, x, n)])
            slopes = [[1, 1, 0, 0], [1, 1 * (n[1] == 2), 0, 0]]
            np.testing.assert_array_equal(form(vmap(grad(first)))(x, n), slopes)


NO_LISTS = {
    "should be boolean ndarray": lambda x: np.select([x], [x]),
    "invalid entry 1 in condlist": lambda x: np.select([x > 1, [1, 0]], [x, x]),
    "list of cases must be same length": lambda x: np.select([x > 1], [x, x]),
    "did not return an iterable": lambda x: np.concatenate(np.sum(x)),
    "zero-dimensional arrays cannot be concatenated": lambda x: np.concatenate(x),
    "iterable|iteration": lambda x: np.stack(np.sum(x)),
}


@pytest.mark.parametrize("message", NO_LISTS)
def test_lists_that_numpy_refuses(message):
    x = np.array([1.0, 2.0])
    with pytest.raises((TypeError, ValueError), match=message) as refused:
        NO_LISTS[message](x)
    for form in (jit(NO_LISTS[message]), lambda x: vmap(NO_LISTS[message])(x[None])):
        with pytest.raises(refused.type, match=message):
            form(x)
