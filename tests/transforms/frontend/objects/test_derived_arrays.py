"""Arrays of users' classes that are derived from np.ndarray, and objects that leave a function."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

X = np.array([3.0, 4.0, 1.0])


class Unit(np.ndarray):
    """A vector of length 1, which keeps what it was made of; sums are of length 1, too."""

    def __new__(cls, values, label="none"):
        values = np.array(values, dtype=float)
        if values.ndim != 1:
            raise ValueError("no vector")
        obj = super().__new__(cls, values.shape, float, values)
        values /= np.linalg.norm(values)
        obj.kept, obj.label = values, label
        return obj

    def __array_finalize__(self, obj):
        if obj is None:
            return
        self.kept = getattr(obj, "kept", None)
        self.label = getattr(obj, "label", "new")

    @property
    def first(self):
        return self.kept[0]

    def __add__(self, other):
        return Unit(self.kept + other, self.label)

    def plain(self):
        return np.asarray(self)


class Viewed(np.ndarray):
    """An array that a view makes, with a scale."""

    def __new__(cls, values, scale=1.0):
        obj = np.asarray(values).view(cls)
        obj.scale = scale
        return obj

    def __array_finalize__(self, obj):
        super().__array_finalize__(obj)
        self.scale = getattr(obj, "scale", 7.0)

    def scaled(self):
        return self.view(np.ndarray) * self.scale


class Signed(Viewed):
    """A class of a class of arrays."""

    def __mul__(self, other):
        return super().__mul__(np.abs(other))


def in_place(x):
    unit = Unit(x)
    unit *= x[1]
    unit[0] = 2.0 * x[0]
    return unit, unit.first, unit.kept


USES = {
    "made and added to": lambda x: Unit(x) + x,
    "operators of arrays": lambda x: (2.0 * Unit(x) - x) / x,
    "beside an array": lambda x: x * Unit(x),
    "attributes of results": lambda x: (Unit(x, "a") * 2.0).kept + x,
    "labels": lambda x: x * (2.0 if (-Unit(x, "b")).label == "b" else 3.0),
    "in place": in_place,
    "slices and elements": lambda x: (Unit(x)[1:], Unit(x)[0], Unit(x)[::-1].first),
    "unpacked": lambda x: [a * b for a, b in zip(Unit(x), x, strict=True)],
    "functions": lambda x: (np.sin(Unit(x)), np.linalg.norm(Unit(x)), np.array(Unit(x))),
    "sums": lambda x: (Unit(x).sum(), np.sum(Unit(x)), np.dot(Unit(x), x), Unit(x) @ Unit(x)),
    "methods": lambda x: (Unit(x).reshape(3, 1), Unit(x).copy(), Unit(x).mean(), Unit(x).T),
    "viewed": lambda x: Viewed(x, 3.0).scaled() + x.view(Viewed).scaled(),
    "a view shares memory": lambda x: _stored_through(x * 1.0),
    "derived twice": lambda x: (Signed(x, 2.0) * -x).scaled(),
    "plain": lambda x: Unit(x).plain(),
    "what it is": lambda x: (
        x * isinstance(Unit(x), np.ndarray),
        x * isinstance(Signed(x), Viewed),
        x * isinstance(Viewed(x), Signed),
        x * (type(Unit(x)) is Unit),
        x * len(Unit(x)) * Unit(x).ndim,
    ),
}


def _stored_through(y):
    viewed = y.view(Viewed)
    viewed[0] = 5.0
    return y


def _leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


@pytest.mark.parametrize("name", USES)
def test_arrays_of_derived_classes_are_what_they_are_in_numpy(name):
    f = USES[name]
    theirs, ours = _leaves(f(X)), _leaves(tapeless.jit(f)(X))
    for got, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-12)
        assert isinstance(got, type(expected)) or np.ndim(expected) == 0
        if isinstance(expected, Unit):
            assert got.label == expected.label
            np.testing.assert_allclose(got.kept, expected.kept)


@pytest.mark.parametrize("name", USES)
def test_derivatives_and_batches_of_them_are_plain_arrays(name):
    def f(x):
        return [np.asarray(leaf) for leaf in _leaves(USES[name](x))]

    batched = _leaves(tapeless.vmap(USES[name])(np.stack([X, 2 * X, -X])))
    for k, x in enumerate((X, 2 * X, -X)):
        for got, expected in zip(batched, f(x), strict=True):
            assert type(got) is np.ndarray
            np.testing.assert_allclose(got[k], expected, rtol=1e-12)
    slopes = [(a - b) / 2e-6 for a, b in zip(f(X * (1 + 1e-6)), f(X * (1 - 1e-6)), strict=True)]
    dots = _leaves(tapeless.jvp(USES[name], (X,), (X,))[1])
    for got, expected in zip(dots, slopes, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def test_the_gradient_of_a_number_of_a_derived_class():
    slope = tapeless.grad(lambda x: np.sum(Unit(x) * np.array([1.0, 2.0, 3.0])))(X)
    e = np.eye(3) * 1e-6
    weights = np.array([1.0, 2.0, 3.0])
    plain = [
        (
            np.sum((X + d) / np.linalg.norm(X + d) * weights)
            - np.sum((X - d) / np.linalg.norm(X - d) * weights)
        )
        / 2e-6
        for d in e
    ]
    np.testing.assert_allclose(slope, plain, rtol=1e-6)


class Counting(np.ndarray):
    """A class with rules of its own for NumPy's functions."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "counted"


def test_classes_with_rules_for_functions_are_refused():
    with pytest.raises(UnsupportedError, match="has its own __array_ufunc__"):
        tapeless.jit(lambda x: x.view(Counting) + 1)(X)


class Box:
    """An object that is no tree of arrays."""

    def __init__(self, x):
        self.x = x


TRANSFORMS = {
    "jvp": lambda f: tapeless.jvp(f, (X,), (X,)),
    "vjp": lambda f: tapeless.vjp(f, X),
    "vmap": lambda f: tapeless.vmap(f)(X),
    "linearize": lambda f: tapeless.linearize(f, X),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_objects_with_values_do_not_leave_a_function_that_is_transformed(name):
    with pytest.raises(UnsupportedError, match="a Box with values of the program is returned"):
        TRANSFORMS[name](lambda x: Box(2 * x))
