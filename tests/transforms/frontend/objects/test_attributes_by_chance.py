"""Objects may have attributes of any name, or answer to all; `__dict__` is what attributes are."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

X = np.array([0.3, 0.5])
NAMES = ("tail", "listing", "is_range", "mutable", "stands_for", "undefined", "cell", "source")


class Named:
    def __init__(self, w):
        self.w = w
        for name in NAMES:
            setattr(self, name, 3.0)


class NamedList(list):
    def __init__(self, w):
        super().__init__([w, w])
        self.w, self.tail, self.listing = w, 3.0, 1.0


class Answering:
    def __init__(self, w):
        self.w = w

    def __getattr__(self, name):
        return 3.0


class Raising:
    def __init__(self, w):
        self.w = w

    def __getattr__(self, name):
        raise ValueError(name)


def read(o, x):
    return o.w * x + (1.0 if o == 3 else 2.0)


def truth(o, x):
    return x if o else -x


def either(o, x):
    return (o or x) is o and x * 2


def member(o, x):
    return o in [1, o] and x * 3


def listed(o, x):
    items = []
    for _ in range(len(x)):
        items.append(o)  # noqa: PERF401 (what a loop fills)
    return items[0].w * x


def chosen(o, x):
    p = o if x[0] > 0.1 else None
    return p.w * x


@pytest.mark.parametrize("kind", [Named, NamedList, Answering, Raising])
@pytest.mark.parametrize("program", [read, truth, either, member, listed, chosen])
def test_any_names(kind, program):
    o, made = kind(2.0), lambda x: program(kind(2.0), x)
    np.testing.assert_allclose(tapeless.jit(program).plain(o, X), program(o, X))
    np.testing.assert_allclose(tapeless.jit(lambda x: program(o, x)).plain(X), program(o, X))
    np.testing.assert_allclose(tapeless.jit(made).plain(X), program(o, X))


class Doubling:
    def __init__(self, w):
        self.__dict__["w"] = w

    def __setattr__(self, name, value):
        self.__dict__[name] = value * 2


class Putting:
    def __init__(self, w):
        self.w = w

    def put(self, value):
        vars(self)["w"] = value * 2

    def put_all(self, value):
        for name in vars(self):
            self.__dict__[name] = value * 2

    def update(self, value):
        self.__dict__.update(w=value * 2)


def doubled(o, x):
    o.w = x
    return o.w, o.__dict__["w"] + 1, len(vars(o))


def put(o, x):
    o.put(x)
    return o.w, o.__dict__["w"] + 1


def put_in_a_branch(o, x):
    if x[0] > 0.1:
        o.put(x)
    return o.w * 1.0


def put_in_a_loop(o, x):
    for k in range(3):
        o.put(x + k)
    o.put_all(o.w)
    return o.w * 1.0


@pytest.mark.parametrize(
    ("kind", "program"),
    [(Doubling, doubled), (Putting, put), (Putting, put_in_a_branch), (Putting, put_in_a_loop)],
)
def test_stores_to_the_dict_of_an_object(kind, program):
    def outer(x):
        return program(changed, x)

    def inside(x):
        return program(kind(np.ones(2)), x)

    expected_object = kind(np.ones(2))
    expected = program(expected_object, X)
    given = kind(np.ones(2))
    changed = kind(np.ones(2))
    results = tapeless.jit(program).plain(given, X), tapeless.jit(outer).plain(X)
    for result in (*results, tapeless.jit(inside).plain(X)):
        for x, y in zip(result, expected, strict=True):
            np.testing.assert_allclose(x, y)
    for o in (given, changed):
        np.testing.assert_allclose(o.w, expected_object.w)


def test_methods_that_change_the_dict_of_an_outer_object_are_refused():
    def program(o, x):
        o.update(x)
        return o.w

    with pytest.raises(UnsupportedError, match="the __dict__ of an object from outside"):
        tapeless.jit(program)(Putting(np.ones(2)), X)
