"""Tables of pandas: refused by name as arguments, asked by a compiled program, never misread."""

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit, vmap
from tapeless.transforms.errors import ArgumentTypeError, NotDifferentiableError, UnsupportedError

pytestmark = pytest.mark.usefixtures("traced")
pd = pytest.importorskip("pandas", reason="pip install 'tapeless[test]' brings it")

FLOATS = pd.Series([1.0, 2.0, 3.0])
REVERSED = pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0])
MISSING = pd.Series([1.0, None, 3.0], dtype="Float64")
OBJECTS = pd.Series([1, 2], dtype=object)
TABLE = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
ARGUMENTS = {
    "floats": (FLOATS, "pandas.Series", "np.asarray(x)"),
    "integers": (pd.Series([1, 2]), "pandas.Series", "np.asarray(x)"),
    "flags": (pd.Series([True, False]), "pandas.Series", "np.asarray(x)"),
    "float32": (pd.Series([1.0], dtype="float32"), "pandas.Series", "np.asarray(x)"),
    "objects": (OBJECTS, "pandas.Series", "x.to_numpy(float)"),
    "missing": (MISSING, "pandas.Series", "x.to_numpy(float)"),
    "nullable": (pd.Series([1, 2], dtype="Int64"), "pandas.Series", "x.to_numpy(float)"),
    "dates": (pd.date_range("2020", periods=2), "pandas.DatetimeIndex", "x.to_numpy(float)"),
    "index": (pd.Index([1.0, 2.0]), "pandas.Index", "np.asarray(x)"),
    "range": (pd.RangeIndex(3), "pandas.RangeIndex", "np.asarray(x)"),
    "columns": (TABLE, "pandas.DataFrame", "np.asarray(x)"),
    "names": (TABLE.assign(c="text"), "pandas.DataFrame", "x.to_numpy(float)"),
    "extension": (pd.array([1.0, None]), "pandas.FloatingArray", "x.to_numpy(float)"),
}


def total(x):
    return np.sum(x**2)


@pytest.mark.parametrize("transform", [grad, jit, vmap])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_refused_by_name(transform, name):
    x, kind, way = ARGUMENTS[name]
    with pytest.raises(ArgumentTypeError) as e:
        transform(total)(x)
    assert e.value.problem == f"x is of type {kind}, no array of NumPy, and may change unseen"
    assert e.value.hint == f"make it one outside of the function: {way}"


@pytest.mark.parametrize(
    "name", [name for name in ARGUMENTS if name not in ("dates", "names", "extension")]
)
def test_the_way_out_leads_out(name):
    x, _, way = ARGUMENTS[name]
    taken = eval(way, {"np": np, "x": x})
    np.testing.assert_allclose(jit(total)(taken), total(taken), equal_nan=True)


def added_in_place(s):
    t = s * 1.0
    t += FLOATS
    return np.sum(t * REVERSED)


ALIGNED = {
    "operators": lambda s: np.sum(s * FLOATS * REVERSED),
    "a ufunc": lambda s: np.sum(np.multiply(FLOATS, s) * REVERSED),
    "a ufunc of one": lambda s: np.sum(np.exp(FLOATS * s) * REVERSED),
    "clip": lambda s: np.sum(np.clip(FLOATS, s, 3.0) * REVERSED),
    "cumsum": lambda s: np.sum(np.cumsum(FLOATS * s) * REVERSED),
    "in place": added_in_place,
    "an array first": lambda s: np.sum(np.array([1.0, 2.0, 3.0]) * s * FLOATS * REVERSED),
    "missing": lambda s: np.sum(s * MISSING),
    "a column": lambda s: np.sum(s * TABLE["b"]),
}


@pytest.mark.parametrize("name", ALIGNED)
def test_operations_align_labels_as_in_pandas(name):
    assert jit(ALIGNED[name])(2.0) == pytest.approx(ALIGNED[name](2.0), rel=1e-14)


@pytest.mark.parametrize("name", ALIGNED)
def test_they_have_no_derivative(name):
    with pytest.raises(NotDifferentiableError, match=r"np\.asarray") as e:
        grad(ALIGNED[name])(2.0)
    assert e.value.where[0] == __file__


POSITIONS = {
    "asarray": (lambda s: np.sum(s * np.asarray(FLOATS)), 6.0),
    "values": (lambda s: np.sum(s * FLOATS.values), 6.0),
    "to_numpy": (lambda s: np.sum(s * TABLE["a"].to_numpy()), 3.0),
    "missing": (lambda s: np.nansum(s * MISSING.to_numpy(float)), 4.0),
    "where": (lambda s: np.sum(np.where(FLOATS > 1, s, 0.0)), 2.0),
    "stack": (lambda s: np.sum(np.stack([FLOATS, REVERSED]) * s), 12.0),
    "mean": (lambda s: s * TABLE.mean()["a"], 1.5),
    "length": (lambda s: s * len(FLOATS), 3.0),
    "made inside": (lambda s: s * pd.Series([1.0, 2.0]).sum(), 3.0),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_arrays_of_them_are_differentiated_through(name):
    function, slope = POSITIONS[name]
    assert grad(function)(2.0) == slope


def test_a_table_that_changes_is_seen():
    table = pd.DataFrame({"a": [1.0, 2.0]})
    scaled = jit(lambda s: s * np.sum(table["a"]))
    assert scaled(2.0) == 6.0
    table.loc[0, "a"] = 5.0
    assert scaled(2.0) == 14.0


def changed_in_place(s):
    t = np.ones(3) * s
    t += FLOATS
    return np.sum(t)


INDEXED = {
    "a mask": lambda x: np.sum(x[FLOATS > 1.0]),
    "positions": lambda x: np.sum(x[pd.Series([2, 0])]),
    "an order": lambda x: np.sum(x[np.argsort(FLOATS)] * np.arange(3.0)),
}


@pytest.mark.parametrize("name", INDEXED)
def test_they_are_indices(name):
    x = np.array([0.3, 0.5, 0.9])
    function = INDEXED[name]
    assert jit(function)(x) == function(x)
    slopes = [(function(x + e) - function(x - e)) / 2 for e in np.eye(3)]  # they are linear
    np.testing.assert_allclose(grad(function)(x), slopes)


def test_they_decide_branches_anew_in_each_call():
    limits = pd.Series([1.0, 2.0, 3.0])

    def doubled(x):
        return np.sum(2 * x) if (limits > x).all() else np.sum(x)

    compiled = jit(doubled)
    for x in (np.zeros(3), np.full(3, 5.0), np.zeros(3)):
        assert compiled(x) == doubled(x)
    limits[:] = 10.0
    assert compiled(np.full(3, 5.0)) == 30.0


REFUSED = {
    "an array in place": (changed_in_place, "in place on an array, by an object of pandas.Series"),
    "a loop": (lambda s: sum(s * v for v in FLOATS), "a loop over an object of pandas.Series"),
    "an accessor": (lambda s: s * FLOATS.iloc[0], "an object of type pandas"),
    "objects": (lambda s: np.sum(np.asarray(OBJECTS) * s), "an array of Python objects"),
    "returned": (lambda s: FLOATS * s, "Series"),
}


@pytest.mark.parametrize("transform", [grad, jit])
@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused_at_its_line(transform, name):
    function, problem = REFUSED[name]
    with pytest.raises(TapelessError, match=problem) as e:
        transform(function)(2.0)
    assert isinstance(e.value, UnsupportedError | ArgumentTypeError)
    assert e.value.where[0] == __file__
