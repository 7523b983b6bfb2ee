"""Symbols stand for arrays: names that share memory share it, and nothing is decided by chance."""

import operator

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import EscapeError, NeedStaticError, UnsupportedError
from tests.transforms.staging import block_of, compiled

V = np.array([1.0, 2.0, 3.0, 4.0])
M = np.arange(6.0).reshape(2, 3)


def assigned(v):
    y = v
    y[0] = 10.0
    return v


def view(v):
    part = v[1:]
    part[0] = 10.0
    part *= 2
    return v


def view_of_view(v):
    a = v[1:][::-1]
    a[0] = 10.0
    a[1:] += a[:1]
    return v


def transposed(m):
    m.T[1] = 5.0
    m.T[2, 1:] *= 3
    return m


def reshaped(m):
    flat = m.reshape(-1)
    flat[4] = 9.0
    m[0, 0] = 7.0
    return flat + m.ravel()


def copied(v):
    a = v.copy()
    b = v[[0, 1]]
    c = v * 1
    a[0], b[0], c[0] = 5.0, 6.0, 7.0
    return v


def in_containers(v):
    kept = {"a": [v, v[2:]]}
    kept["a"][1][0] = 8.0
    kept["a"][0] += 1
    return v


def through_calls(v):
    def fill(part, value):
        part[:] = value

    fill(v[:2], 3.0)
    return v


def swapped(v):
    v[0], v[1] = v[1], v[0]
    a, b = v[:2], v[2:]
    a, b = b, a
    a[0] = -1.0
    return v


def augmented_name(v):
    w = v
    w = w + 1
    v += 2
    return w - v


def fancy(v):
    v[[0, 2]] = v[[2, 0]]
    v[v > 2] = 0.0
    v[-1] += 4
    return v


def out_argument(v):
    np.multiply(v, 2, out=v)
    np.add(v[1:], 1, out=v[1:])
    return v


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (assigned, V),
        (view, V),
        (view_of_view, V),
        (transposed, M),
        (reshaped, M),
        (copied, V),
        (in_containers, V),
        (through_calls, V),
        (swapped, V),
        (augmented_name, V),
        (fancy, V),
        (out_argument, V),
    ],
)
def test_memory_is_shared_as_in_numpy(function, x):
    argument = x.copy()
    (got,) = compiled(block_of(function, x))(argument)
    np.testing.assert_array_equal(got, function(x.copy()))
    np.testing.assert_array_equal(argument, x)


def test_dtypes_and_shapes_are_numpys():
    def attributes(m, x):
        assert (m.ndim, m.T.ndim, x.ndim if hasattr(x, "ndim") else 0) == (2, 2, 0)
        assert m.dtype == np.float32
        assert (m + 1).dtype == np.float32
        assert (m + np.float64(1)).dtype == np.float64
        return m.shape[0] * m.shape[1] - m.size

    assert compiled(block_of(attributes, M.astype("f4"), 1.0))(M.astype("f4"), 1.0) == (0,)


# -- what needs a value

NEEDS = {
    "list index": lambda v: ["a"][int(v[0])],
    "index of a long tuple": lambda v: (("a", "b") * 10)[int(v[0])],
    "dict key": lambda v: {1.0: "a"}[v[0]],
    "axis": lambda v: np.sum(v, axis=np.argmax(v)),
}


@pytest.mark.parametrize("function", NEEDS.values(), ids=NEEDS)
def test_values_that_depend_on_contents_are_not_guessed(function):
    with pytest.raises((NeedStaticError, UnsupportedError)):
        block_of(function, V)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda v: v.no_such, AttributeError, "no attribute 'no_such'"),
        (lambda v: v.tobytes(), UnsupportedError, "tobytes"),
        (lambda v: len(v[0]), TypeError, "has no len"),
        (lambda v: list(v[0]), TypeError, "0-d array"),
        (lambda v: v[0][0], IndexError, "invalid index to scalar"),
        (lambda v: v[0][..., 0], IndexError, "invalid index to scalar"),
        (lambda v: {v: 1}, TypeError, "unhashable"),
        (lambda v: v + np.ones(3), ValueError, "broadcast"),
        (lambda v: operator.setitem(v, 0, 1j), TypeError, "complex"),
        (lambda v: operator.setitem(v[0], 0, 1.0), TypeError, "item assignment"),
    ],
)
def test_refusals_are_numpys(use, error, message):
    with pytest.raises(error, match=message):
        block_of(use, V)


def test_a_symbol_that_escapes_is_refused():
    kept = []

    class Box:
        inside = None

    box = Box()

    def leak(x):
        box.inside = lambda: x + 1
        kept.append(x)
        return x

    block_of(leak, V)
    assert kept == []  # writes are undone: the program carries them out when it runs
    assert box.inside is None
    holder = []
    block_of(lambda x: (holder.__class__.append(holder, x), x)[1], V)
    for x in holder:
        with pytest.raises(EscapeError, match="after the run has ended"):
            x + 1


SCALAR_KEYS = [(), ..., None, (..., None), (None, ..., None), (None, None)]


@pytest.mark.parametrize("key", SCALAR_KEYS, ids=str)
def test_scalars_have_keys_that_add_axes(key):
    def f(v):
        return 3.0 * v[1][key]

    np.testing.assert_array_equal(tapeless.jvp(f, (V,), (V,)), [f(V), f(V)], strict=True)
    assert tapeless.grad(lambda v: np.sum(f(v)))(V).tolist() == [0, 3, 0, 0]


SCALARS = [np.float64(1.5), np.float32(1.5), np.int64(3), np.bool_(True), np.array(1.5)]


@pytest.mark.parametrize("run", [tapeless.jit, lambda f: lambda *a: tapeless.vjp(f, *a)[0]])
@pytest.mark.parametrize("number", SCALARS, ids=lambda n: f"{type(n).__name__} {n.dtype}")
def test_items_are_numbers_of_python(run, number):
    """They adapt to the dtype of an array."""
    x = np.array([1, 2], np.float32)

    def f(x, number):
        return x * number.item(), x * number.tolist(), x * np.sum(number * x[0]).item()

    made, expected = run(f)(x, number), f(x, number)
    for a, b in zip(made, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_items_are_counted_through_all_axes():
    def f(m):
        return m.item(4) * m.item(0, 2) * m.item((1, 0)) * m

    np.testing.assert_array_equal(tapeless.jvp(f, (M,), (M,))[0], f(M))


def test_items_that_python_numbers_of_64_bits_do_not_hold_are_refused():
    item = tapeless.jit(lambda n: n.item() - 3)
    assert item(np.uint64(2)) == -1
    assert item(np.uint64(2**63 - 1)) == 2**63 - 4
    with pytest.raises(OverflowError, match="64 bits"):
        item(np.uint64(2**63 + 1))


class Filter:
    """Has no measurement at first, and says so as some programs do."""

    def __init__(self, n):
        self.seen = np.array([[None] * n]).T
        self.names = np.array(["a", "b"])[:n]

    def measure(self, z):
        if z is None:
            self.seen = np.array([[None] * 2]).T
        else:
            self.seen = z * len(np.atleast_2d(self.names).T)


def measured(zs):
    made = Filter(2)
    rows = made.seen.shape[0]
    for z in zs:
        made.measure(z)
    return made.seen * rows, zs[made.names == "b"]


def test_arrays_of_none_or_text_are_objects_of_python():
    zs = np.array([[1.0, 2.0], [3.0, 4.0]])
    for got, expected in zip(tapeless.jit(measured)(zs), measured(zs), strict=True):
        np.testing.assert_array_equal(got, expected)
    slope = tapeless.grad(lambda zs: np.sum(measured(zs)[0] ** 2))
    np.testing.assert_allclose(slope(zs), [[0, 0], [96, 128]])


def test_they_are_not_stored_to():
    def stored(x):
        a = np.array([None, None])
        a[0] = x
        return a[0]

    with pytest.raises(UnsupportedError, match="made of None or of text"):
        tapeless.jit(stored)(1.0)


def parts_stored(x):
    z = x * (1 + 2j)
    z.real = 3 * x
    z.imag[1:] = x[0]
    y = 1 * x
    y.real = z.imag
    return np.concatenate([z.real, z.imag, y])


def test_parts_of_complex_numbers_are_set():
    np.testing.assert_array_equal(tapeless.jit(parts_stored)(V), parts_stored(V))
    slope = tapeless.grad(lambda x: np.sum(parts_stored(x)))(V)
    np.testing.assert_array_equal(slope, [3 + 2 + 6 + 2, 3, 3, 3])


def other_shape(x):
    x.shape = (2, 2)
    return x


def imaginary(x):
    x.imag = x
    return x


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (other_shape, UnsupportedError, "the shape of an argument"),
        (imaginary, TypeError, "does not have imaginary part"),
        (lambda x: setattr(x, "name", 1), AttributeError, "has no attribute 'name'"),
        (lambda x: np.zeros_like(x, dtype=[("u", float)]), UnsupportedError, "named fields"),
        (lambda x: np.empty((2, 2), dtype=object)[0, 0] + x, UnsupportedError, "Python objects"),
        (lambda x: np.array([x, x[:2]], dtype=object), UnsupportedError, "Python objects"),
    ],
)
def test_what_would_be_another_array(function, error, match):
    with pytest.raises(error, match=match):
        tapeless.jit(function)(V)


def with_a_read_only_part(x):
    y = 2 * x
    y.setflags(write=False)
    return y[1:] + x[:-1]


def stored_to_after_all(x):
    y = 2 * x
    y.setflags(write=False)
    y[1:][0] = 1.0
    return y


def unset_at_first(x):
    y = np.zeros((2, len(x)))
    y[0] = None
    y[1] = x
    return y


def test_a_read_only_array_is_read_and_not_overwritten():
    x = np.arange(3.0)
    np.testing.assert_array_equal(tapeless.jit(with_a_read_only_part)(x), with_a_read_only_part(x))
    with pytest.raises(ValueError, match="read-only"):
        tapeless.jit(stored_to_after_all)(x)


def test_none_is_stored_as_nan():
    x = np.arange(3.0)
    np.testing.assert_array_equal(tapeless.jit(unset_at_first)(x), unset_at_first(x))


def test_what_values_make_complex_is_refused():
    with pytest.raises(NeedStaticError, match="their values decide whether it is complex"):
        tapeless.jit(np.emath.sqrt)(np.arange(3.0))
    with pytest.raises(NeedStaticError, match=r"write np\.real"):
        tapeless.jit(np.real_if_close)(np.array([1j]))


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.max, np.mean, sum])
def test_reductions_of_objects_are_objects(reduce):
    def f(x):
        return reduce(x.astype(object))

    x = np.arange(1.0, 4.0)
    assert tapeless.jit(f)(x) == f(x)
    with pytest.raises(tapeless.TapelessError, match="no derivative"):
        tapeless.grad(f)(x)


@pytest.mark.parametrize("of", [lambda x: x.flat, lambda x: x])
def test_next_of_an_array_says_what_to_do(of):
    with pytest.raises(tapeless.TapelessError, match=r"next\(\) of an array"):
        tapeless.grad(lambda x: next(of(x)))(np.ones(2))
    assert tapeless.grad(lambda x: next(iter(x.flat)) ** 2)(np.ones(2)).tolist() == [2, 0]
