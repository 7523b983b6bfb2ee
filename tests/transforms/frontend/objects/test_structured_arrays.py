"""Arrays with named fields that a function makes of its arguments."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError
from tests.corpus.differences import gradient

X = np.array([1.3, -0.7, 2.1, 0.4])
PARTICLE = np.dtype([("mass", float), ("place", float, 3)])


def fields(x):
    r = np.zeros(len(x), dtype=[("a", float), ("b", float, (3,))])
    r["a"] = x
    r["b"][:, 1] = x * x
    r["a"] += r["b"][:, 1]
    for i in range(len(x)):
        r["b"][i, 0] = x[i] * r["a"][i]
    return np.sum(r["a"] ** 2) + np.sum(r["b"])


def records(x):
    r = np.zeros(len(x), dtype=PARTICLE)
    for i in range(len(x)):
        r[i]["mass"] = x[i] ** 2
        r[i]["place"][2] = x[i]
        r[i]["mass"] *= 1.5
    total = 0.0
    for particle in r:
        total = total + particle["mass"] * np.sum(particle["place"] ** 2)
    return total


def tuples(x):
    r = np.empty(3, "f8,i8")
    for i in range(3):
        r[i] = (x[i] * x[i + 1], 2 * i)
    r[1] = r[2]
    first, second = r[0]
    return np.sum(r["f0"] * r["f1"]) + first * (second + 1)


def parts(x):
    r = np.ones((len(x),), dtype=[("m", "f8"), ("n", int)])
    r["m"] = x**3
    r["n"] = np.arange(len(x))
    heavy = r[r["m"] > 0]
    view, copy = r[1:3], r[["m"]].copy()
    view["m"] = 2 * view["m"]
    return np.sum(heavy["m"] * heavy["n"]) + np.sum(r["m"] ** 2) + np.sum(copy["m"])


def in_order(x):
    r = np.zeros(len(x), dtype=[("k", float), ("v", float)])
    r["k"], r["v"] = np.round(-x), x**2
    places = np.arange(1.0, 1 + len(x))
    ordered = np.sort(r, order="k")
    by_value = r[np.argsort(r, order=["v"])]
    r.sort(order=("k", "v"))
    return np.sum(ordered["v"] * places + by_value["v"] * places**2 + r["v"] * places**3)


def of_a_list(x):
    r = np.array([(x[0], 1), (x[1] * x[2], 2)], dtype=[("a", float), ("n", int)])
    nested = np.zeros(2, dtype=[("p", PARTICLE), ("w", float)])
    nested["p"]["mass"] = x[:2]
    nested["w"] = r["a"]
    return np.sum(r["a"] * r["n"]) + np.sum(nested["p"]["mass"] * nested["w"]) * len(r.dtype.names)


PROGRAMS = (fields, records, tuples, parts, in_order, of_a_list)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_numpy_does(f):
    expected = gradient(f, X)
    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(grad(f))(X), expected, rtol=1e-5, atol=1e-7)
    batch = np.stack([X, X[::-1] * 1.5])
    np.testing.assert_allclose(vmap(f)(batch), [f(x) for x in batch], rtol=1e-12)


def made(x):
    r = np.zeros(len(x), dtype=[("a", float)])
    r["a"] = x
    return r


REFUSED = {
    "a function": (lambda x: np.concatenate([x, x])[0] + np.unique(made(x))["a"][0], "unique of a"),
    "a method": (lambda x: made(x).reshape(2, -1)["a"][0, 0], "reshape of a structured array"),
    "a comparison": (lambda x: np.sum(made(x) == made(x)) * x[0], "operator of a structured"),
    "a result": (made, "StructuredArray of the program is returned"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    f, text = REFUSED[name]
    with pytest.raises(UnsupportedError, match=text) as caught:
        jit(f)(X)
    assert caught.value.hint


def test_a_field_that_is_not_there_is_an_error_of_numpy():
    with pytest.raises(ValueError, match="no field of name b"):
        jit(lambda x: made(x)["b"])(X)
