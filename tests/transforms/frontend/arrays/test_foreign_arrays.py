"""Arrays of other libraries, with operations of their own, or of dates, names and records."""

import array
import enum
import sys
import types

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.arrays import foreign_arrays

X = np.array([1.0, 2.0, 3.0])
MASKED = np.ma.array(X, mask=[False, True, False])
OBJECTS = np.array([1.0, 2.0, 3.0], dtype=object)
BUFFER = array.array("d", X)


class Tensor:
    """An array of a library that is installed."""

    def __init__(self, data):
        self.data = np.array(data)

    def __array__(self, dtype=None, copy=None):
        return self.data

    def __mul__(self, other):
        return self.data * other

    def sum(self):
        return self.data.sum()


@pytest.fixture
def tensor(monkeypatch):
    library = types.ModuleType("library")
    library.__file__ = "/lib/site-packages/library/__init__.py"
    monkeypatch.setitem(sys.modules, "library", library)
    monkeypatch.setattr(Tensor, "__module__", "library")
    foreign_arrays._of_another_library.cache_clear()
    yield Tensor(X)
    foreign_arrays._of_another_library.cache_clear()


def total(x, t):
    return np.sum(x * t.sum())


@pytest.mark.parametrize("transform", [grad, vmap, jit])
def test_arrays_of_other_libraries_are_refused_as_arguments(transform, tensor):
    with pytest.raises(ArgumentTypeError) as e:
        transform(total)(X, tensor)
    assert e.value.problem == (
        "t is of type library.Tensor, no array of NumPy, and may change unseen"
    )
    assert e.value.hint == "make it one outside of the function: np.asarray(t)"


def test_the_leaf_is_named(tensor):
    with pytest.raises(ArgumentTypeError, match=r"p\['w'\]\[1\] is of type library.Tensor"):
        jit(lambda p: p["w"][0])({"w": [X, tensor]})


def test_arrays_of_other_libraries_are_refused_where_they_are_read(tensor):
    with pytest.raises(ArgumentTypeError, match=r"tensor is of type library\.Tensor") as e:
        grad(lambda x: np.sum(x * tensor.sum()))(X)
    assert e.value.where is not None


def test_classes_of_users_may_hold_arrays():
    held = Tensor(X)
    slope = grad(lambda x: np.sum(x * held.data))
    np.testing.assert_array_equal(slope(X), X)
    held.data = 2 * X
    np.testing.assert_array_equal(slope(X), 2 * X)


FROM_OUTSIDE = {
    "masked": (lambda x: np.sum(x * MASKED), "have operations of their own"),
    "made inside": (lambda x: np.sum(x * np.ma.array([1.0, 2.0, 3.0])), "of their own"),
    "objects": (lambda x: np.sum(x * OBJECTS), "OBJECTS is an array of Python objects"),
    "buffer": (lambda x: np.sum(x * np.asarray(BUFFER)), "BUFFER is of type array.array"),
}


@pytest.mark.parametrize("name", FROM_OUTSIDE)
def test_arrays_from_outside_that_mean_something_else_are_refused(name):
    function, problem = FROM_OUTSIDE[name]
    with pytest.raises(ArgumentTypeError, match=problem):
        grad(function)(X)


def test_sparse_matrices_name_their_way_out():
    sparse = pytest.importorskip("scipy.sparse", reason="their classes are SciPy's")
    foreign_arrays._of_another_library.cache_clear()
    with pytest.raises(ArgumentTypeError, match=r"m\.toarray\(\)"):
        grad(lambda x, m: np.sum(m @ x))(X, sparse.csr_matrix(np.eye(3)))


RECORDS = np.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)])
DATES = np.array(["2020-01-01", "2020-01-05"], dtype="M8[D]")
NAMES = np.array(["a", "b"])

CHANGED = {
    "records": (lambda x, a: np.sum(x * a["a"]), RECORDS, lambda a: a["a"].__setitem__(0, 7.0)),
    "dates": (
        lambda x, a: np.sum(x * (a - a[0]).astype(float)),
        DATES,
        lambda a: a.__setitem__(1, a[0]),
    ),
    "names": (lambda x, a: np.sum(x * (a == "a")), NAMES, lambda a: a.__setitem__(1, "a")),
}


@pytest.mark.parametrize("outer", [False, True], ids=["argument", "from outside"])
@pytest.mark.parametrize("name", CHANGED)
def test_changes_in_arrays_of_other_kinds_are_seen(name, outer):
    function, given, change = CHANGED[name]
    held, x = given.copy(), np.array([1.0, 2.0])
    slope = grad((lambda x: function(x, held)) if outer else function)
    for _ in range(3):
        found = slope(x) if outer else slope(x, held)
        ones = [function(e, held) for e in np.eye(2)]  # it is linear
        np.testing.assert_array_equal(found, ones)
        change(held)
    assert not np.array_equal(held, given)


def test_members_of_an_enum_stay_themselves():
    class Mode(enum.IntEnum):
        ONE = 1
        TWO = 2

    def f(x, mode):
        return x * (10.0 if mode is Mode.TWO else 1.0)

    fast = jit(f)
    assert [fast(3.0, Mode.ONE), fast(3.0, Mode.TWO), fast(3.0, Mode.ONE)] == [3.0, 30.0, 3.0]
    assert jit(lambda m: np.sum(m * m))(Mode.TWO) == 4
    assert grad(f)(3.0, Mode.TWO) == 10.0
