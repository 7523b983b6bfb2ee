"""Batches whose elements take ways of their own: few are one program, many are calls."""

import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, pmap, vmap
from tapeless.transformations.mapping.elements_one_by_one import WRITTEN_OUT
from tests.traced_programs import halved

SIZES = [3, WRITTEN_OUT + 5]
pytestmark = pytest.mark.usefixtures("traced")


@pytest.fixture(params=SIZES)
def xs(request):
    return np.random.default_rng(0).uniform(-9, 9, (request.param, 2))


@pytest.mark.parametrize(
    "make", [vmap, pmap, lambda f: jit(vmap(f)), lambda f: vmap(jit(f)), lambda f: jit(pmap(f))]
)
def test_values(make, xs):
    f = make(halved)
    for scale in (1.0, 0.3):
        np.testing.assert_allclose(f(scale * xs), [halved(x) for x in scale * xs])


def test_derivatives(xs):
    expected = [grad(halved)(x) for x in xs]
    np.testing.assert_allclose(vmap(grad(halved))(xs), expected)
    np.testing.assert_allclose(jit(vmap(grad(halved)))(xs), expected)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(halved)(x)))(xs), expected)


def test_axes_and_containers(xs):
    def f(x, y, n):
        return {"value": halved(x) * y["scale"], "row": x * n, "name": "same"}

    mapped = vmap(f, in_axes=(1, None, 0), out_axes={"value": 0, "row": 1, "name": None})
    count = np.arange(len(xs))
    found = mapped(xs.T, {"scale": 2.0}, count)
    np.testing.assert_allclose(found["value"], [2 * halved(x) for x in xs])
    np.testing.assert_allclose(found["row"], (xs * count[:, None]).T)
    assert found["name"] == "same"


def test_views_of_an_element_see_what_is_stored_to_it(xs):
    def f(x):
        view, ends = x[1:], x[::-1]
        way = [np.sin, np.cos][int(x[0] > 0)]
        x *= 2
        view[0] += 1
        return way(view[0]) + ends

    expected = [f(x.copy()) for x in xs]
    np.testing.assert_allclose(vmap(f)(xs), expected)
    np.testing.assert_allclose(jit(vmap(f))(xs), expected)


def test_elements_overwrite_what_is_theirs(xs):
    def f(x, shared):
        shared[0] = shared[0] + halved(x)
        x[0] = 100.0
        return shared[0] + x[1]

    before, shared = xs.copy(), np.ones(2)
    found = vmap(f, in_axes=(0, None))(xs, shared)
    np.testing.assert_allclose(found, [1 + halved(x) + x[1] for x in before])
    np.testing.assert_array_equal(xs, before)
    np.testing.assert_array_equal(shared, [1.0, 1.0])


def test_other_names_are_refused(xs):
    def f(x):
        return halved(x), "large" if halved(x) > 1 else "small"

    with pytest.raises(tapeless.TapelessError, match="no numbers, and differ"):
        vmap(f)(xs)


def test_calls_are_told_once():
    xs = np.random.default_rng(0).uniform(-9, 9, (SIZES[-1], 2))

    def f(x):
        return halved(x) + x[0]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            vmap(f)(xs)
    told = [str(w.message) for w in caught if "for each element" in str(w.message)]
    assert told == [
        f"vmap calls f for each element: the elements of a batch take ways of their own, and there "
        f"are {len(xs)} of them"
    ]
