"""Histograms with weights: each element is in the bin that NumPy puts it in, also at the edges."""

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, jacrev, jit, vmap

RNG = np.random.default_rng(0)
W = RNG.integers(1, 1000, 4000).astype(float)  # sums of these are exact


def samples():
    x = RNG.normal(size=4000)
    at_edges = np.linspace(-1.0, 3.0, 101)[RNG.integers(0, 101, 4000)]
    yield "numbers", x, 100, None
    yield "at edges", at_edges, 100, None
    yield "next to edges", np.nextafter(at_edges, RNG.choice([-9.0, 9.0], 4000)), 100, (-1.0, 3.0)
    yield "outside", x, 7, (-0.5, 1)
    yield "single precision", at_edges.astype(np.float32), 100, None
    yield "integers", RNG.integers(-100, 100, 4000), 64, None
    yield "small integers", RNG.integers(-100, 100, 4000).astype(np.int8), 64, (-128, 127)
    yield "equal numbers", np.full(4000, 0.3), 10, None
    yield "one bin", x, 1, None
    yield "large numbers", 1e300 * x, 33, None
    yield "not a number", np.where(np.arange(4000) % 3, x, np.nan), 9, (-1.0, 1.0)


def emitted(function):
    """As NumPy code: for a batch of one."""
    return lambda *args: [value[0] for value in vmap(function)(*(x[None] for x in args))]


SAMPLES = list(samples())
NAMES = [name for name, *_ in SAMPLES]


@pytest.mark.parametrize("form", [emitted, jit])
@pytest.mark.parametrize(("x", "bins", "ends"), [s[1:] for s in SAMPLES], ids=NAMES)
def test_bins_are_those_of_numpy(x, bins, ends, form):
    def weighed(x, w):
        return np.histogram(x, bins, ends, weights=w)

    for got, wanted in zip(form(weighed)(x, W), weighed(x, W), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_weights_of_each_dtype():
    for dtype in (np.float32, np.int32, np.complex128, bool):
        got = jit(lambda x, w: np.histogram(x, 5, weights=w)[0])(W, W.astype(dtype))
        wanted = np.histogram(W, 5, weights=W.astype(dtype))[0]
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_slopes_in_the_weights():
    def loss(w, x):
        return np.sum(np.histogram(x, 8, (-1, 1), weights=w)[0] ** 2)

    x = RNG.normal(size=50)
    counts, edges = np.histogram(x, 8, (-1, 1), weights=W[:50])
    at = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, 7)
    wanted = np.where(np.abs(x) <= 1, 2 * counts[at], 0)
    for slope in (grad(loss), jit(grad(loss))):
        np.testing.assert_allclose(slope(W[:50], x), wanted)


def test_a_histogram_in_a_loop_is_compiled():
    def steps(x, w, n):
        total = np.zeros(16)
        for k in range(n):
            total += np.histogram(x * k, 16, (0, 9), weights=w)[0]
        return total

    compiled = jit(steps)
    np.testing.assert_allclose(compiled(W / 100, W, 5), steps(W / 100, W, 5))
    assert compiled.explain(W / 100, W, 5).loops == ()


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("least", [0, 5])
def test_second_derivatives_of_sums_of_weights(form, least):
    """Tangents are as many as the sums are, whatever decides how many these are."""

    def sums(x, places):
        return np.bincount(places, weights=x**3, minlength=least)

    x, places = np.array([1.0, -2.0, 3.0, 0.5]), np.array([0, 2, 2, 0])
    chosen = np.equal.outer(np.arange(max(3, least)), places)
    first = chosen * 3 * x**2
    for transform in (jacfwd, jacrev):
        np.testing.assert_allclose(form(transform(sums))(x, places), first)
        np.testing.assert_allclose(
            form(jacfwd(transform(sums)))(x, places), chosen[:, :, None] * np.diag(6 * x)
        )
    np.testing.assert_allclose(form(hessian(sums))(x, places), chosen[:, :, None] * np.diag(6 * x))
