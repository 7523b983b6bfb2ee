"""x.at[key]: functional updates inside transformed functions and outside, against jax and NumPy."""

import numpy as np
import pytest

import tapeless.numpy as jnp
from tapeless import check_grads, grad, jit, vmap
from tapeless.staging.jax_arrays import Array
from tapeless.transforms.errors import ArgumentError

LINE = np.array([0.5, -1.0, 2.0, 0.25])
GRID = np.arange(6.0).reshape(2, 3) + 1.0
TWICE = np.array([0, 2, 2])
FAR = np.array([1, 9, -1, -8])
MASK = np.array([True, False, True, False])


def changed(array, change):
    made = array.copy()
    change(made)
    return made


def at(ufunc, array, key, *values):
    return changed(array, lambda x: ufunc.at(x, key, *values))


def setting(array, key, value):
    return changed(array, lambda x: x.__setitem__(key, value))


#: (array, key, method, value, keywords, the value by hand)
UPDATES = [
    (LINE, 1, "set", 7.0, {}, setting(LINE, 1, 7.0)),
    (LINE, -1, "add", 7.0, {}, setting(LINE, -1, 7.25)),
    (LINE, slice(1, 3), "multiply", 2.0, {}, setting(LINE, slice(1, 3), [-2.0, 4.0])),
    (LINE, slice(None, None, 2), "divide", 2.0, {}, setting(LINE, slice(None, None, 2), [0.25, 1])),
    (LINE, slice(2, None), "power", 2.0, {}, setting(LINE, slice(2, None), [4.0, 0.0625])),
    (LINE, ..., "min", 0.3, {}, np.minimum(LINE, 0.3)),
    (LINE, slice(None), "max", 0.3, {}, np.maximum(LINE, 0.3)),
    (LINE, slice(0, 2), "subtract", 1.0, {}, setting(LINE, slice(0, 2), [-0.5, -2.0])),
    (LINE, slice(0, 2), "mul", 3.0, {}, setting(LINE, slice(0, 2), [1.5, -3.0])),
    (LINE, MASK, "set", 0.0, {}, setting(LINE, MASK, 0.0)),
    (LINE, MASK, "multiply", 3.0, {}, setting(LINE, MASK, [1.5, 6.0])),
    (LINE, TWICE, "add", 1.0, {}, [1.5, -1.0, 4.0, 0.25]),
    (LINE, TWICE, "subtract", 1.0, {}, [-0.5, -1.0, 0.0, 0.25]),
    (LINE, TWICE[:2], "multiply", 2.0, {"unique_indices": True}, [1.0, -1.0, 4.0, 0.25]),
    (LINE, TWICE[:2], "divide", 2.0, {"unique_indices": True}, [0.25, -1.0, 1.0, 0.25]),
    (LINE, TWICE[:2], "power", 2.0, {"unique_indices": True}, [0.25, -1.0, 4.0, 0.25]),
    (LINE, TWICE, "multiply", LINE[:3] + 2.0, {}, [1.25, -1.0, 8.0, 0.25]),
    (LINE, TWICE, "divide", 2.0, {}, [0.25, -1.0, 0.5, 0.25]),
    (LINE, TWICE, "power", 2.0, {}, [0.25, -1.0, 16.0, 0.25]),
    (GRID, (slice(None), TWICE[1:]), "multiply", 3.0, {}, [[1, 2, 27], [4, 5, 54]]),
    (LINE, TWICE, "max", LINE[:3] + 0.7, {}, [1.2, -1.0, 2.7, 0.25]),
    (LINE, TWICE, "min", 1.0, {}, [0.5, -1.0, 1.0, 0.25]),
    (GRID, (0, 1), "set", 9.0, {}, setting(GRID, (0, 1), 9.0)),
    (GRID, (slice(None), 1), "add", 9.0, {}, setting(GRID, (slice(None), 1), [11.0, 14.0])),
    (GRID, (..., 0), "multiply", 2.0, {}, setting(GRID, (..., 0), [2.0, 8.0])),
    (GRID, (np.array([0, 1, 1]), np.array([2, 0, 0])), "add", 1.0, {}, [[1, 2, 4], [6, 5, 6]]),
    (LINE, FAR, "set", 5.0, {"mode": "drop"}, [0.5, 5.0, 2.0, 5.0]),
    (LINE, FAR, "add", 5.0, {"mode": "drop"}, [0.5, 4.0, 2.0, 5.25]),
    (LINE, FAR, "add", 5.0, {"mode": "clip"}, [5.5, 4.0, 2.0, 10.25]),
    (LINE, FAR, "max", 5.0, {"mode": "fill"}, [0.5, 5.0, 2.0, 5.0]),
    (LINE, 9, "set", 5.0, {"mode": "drop"}, LINE),
    (LINE, 9, "set", 5.0, {"mode": "clip"}, setting(LINE, -1, 5.0)),
    (LINE, np.array([-1, 1]), "set", 5.0, {"wrap_negative_indices": False}, setting(LINE, 1, 5.0)),
    (GRID, (slice(None), FAR), "add", 1.0, {"mode": "drop"}, [[1, 3, 4], [4, 6, 7]]),
    (GRID, (FAR[:2], slice(1, None)), "set", 0.0, {"mode": "drop"}, setting(GRID, (1, [1, 2]), 0)),
]  # fmt: skip
READS = [
    (LINE, 1, {}, -1.0),
    (LINE, FAR, {"mode": "fill"}, [-1.0, np.nan, 0.25, np.nan]),
    (LINE, FAR, {"mode": "fill", "fill_value": 3.0}, [-1.0, 3.0, 0.25, 3.0]),
    (LINE, FAR, {"mode": "clip"}, [-1.0, 0.25, 0.25, 0.5]),
    (LINE, TWICE, {"mode": "promise_in_bounds"}, [0.5, 2.0, 2.0]),
    (LINE.astype(np.int32), FAR, {"mode": "fill"}, [-1, -(2**31), 0, -(2**31)]),
    (LINE.astype(np.uint8), FAR[1:2], {"mode": "fill"}, [255]),
    (MASK, FAR[1:2], {"mode": "fill"}, [True]),
    (GRID, (FAR, 0), {"mode": "fill", "fill_value": 0.0}, [4.0, 0.0, 4.0, 0.0]),
]


def update(key, method, kwargs):
    return lambda x, value: getattr(jnp.asarray(x).at[key], method)(value, **kwargs)


updates = pytest.mark.parametrize(
    ("array", "key", "method", "value", "kwargs", "expected"),
    UPDATES,
    ids=lambda part: part if isinstance(part, str) else None,
)


@updates
def test_outside(array, key, method, value, kwargs, expected):
    given = jnp.array(array)
    made = update(key, method, kwargs)(given, value)
    assert type(made) is Array
    np.testing.assert_allclose(made, expected)
    np.testing.assert_array_equal(given, array)


@updates
def test_inside_of_plain_arrays(array, key, method, value, kwargs, expected):
    made = vmap(update(key, method, kwargs), (0, None))(np.stack([array, array]), value)
    np.testing.assert_allclose(made[1], expected)
    compiled = jit(lambda x, value: getattr(x.at[key], method)(value, **kwargs))(array, value)
    assert type(compiled) is np.ndarray
    np.testing.assert_allclose(compiled, expected)


@updates
def test_values_are_those_of_jax(array, key, method, value, kwargs, expected):
    jax = pytest.importorskip("jax", reason="compares with jax.numpy")
    if method == "mul":
        method = "multiply"
    with jax.enable_x64(True):
        made = update(key, method, kwargs)(jax.numpy.array(array), value)
    np.testing.assert_allclose(made, expected)


@updates
def test_derivatives(array, key, method, value, kwargs, expected):
    check_grads(update(key, method, kwargs), (array, value), order=1)


@pytest.mark.parametrize(("array", "key", "kwargs", "expected"), READS)
def test_reading(array, key, kwargs, expected):
    np.testing.assert_array_equal(jnp.array(array).at[key].get(**kwargs), expected)
    np.testing.assert_array_equal(jit(lambda x: x.at[key].get(**kwargs))(array), expected)


def test_a_function_is_applied():
    np.testing.assert_allclose(jnp.array(LINE).at[1:].apply(jnp.abs), [0.5, 1.0, 2.0, 0.25])

    def folded(x):
        return x.at[1:3].apply(lambda v: jnp.where(v > 0, v**2, -v))

    np.testing.assert_allclose(jit(folded)(LINE), [0.5, 1.0, 4.0, 0.25])
    unique = jnp.array(LINE).at[TWICE[:2]].apply(np.negative, unique_indices=True)
    np.testing.assert_allclose(unique, [-0.5, -1.0, -2.0, 0.25])
    twice = jit(lambda x: x.at[TWICE].apply(jnp.square))(LINE)
    np.testing.assert_allclose(twice, [0.25, -1.0, 16.0, 0.25])


def test_loops_stay_loops():
    def ramp(x, n):
        for k in range(n):
            x = x.at[k].set(x[k] * k)
        return x

    slope = grad(lambda x, n: jnp.sum(ramp(x, n)))
    np.testing.assert_allclose(slope(LINE, 3), [0.0, 1.0, 2.0, 1.0])
    assert "for k in" in slope.source(LINE, 3)


def test_the_index_may_be_data():
    mapped = vmap(lambda x, k: x.at[k].add(1.0, mode="drop"), (None, 0))(LINE, np.array([0, 3, 4]))
    np.testing.assert_allclose(mapped - LINE, [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    np.testing.assert_allclose(jit(lambda x, k: x.at[k].set(1.0))(LINE, 2), setting(LINE, 2, 1.0))


def test_emitted_code_is_plain_numpy():
    text = jit(lambda arr: arr.at[1].add(10)).source(LINE)
    assert "copied = copy_of(arr)" in text
    assert "copied[1] += 10" in text


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.at[0].set(1.0, mode="odd"), ArgumentError, r"\.at: mode is 'odd'"),
        (lambda x: x.at[9].set(1.0), IndexError, "out of bounds"),
        (lambda x: x.at[9].get(), IndexError, "out of bounds"),
        (lambda x: x.at[0].set(1.0, sorted=True), TypeError, "sorted"),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        call(jnp.array(LINE))
    with pytest.raises(error, match=words):
        jit(call)(LINE)


def test_at_prints_its_array():
    assert repr(jnp.zeros(1).at) == "At(Array([0.], dtype=float64))"
