"""Small programs: values, types and errors are those of Python and NumPy, emitted and compiled."""

import enum
import math

import numpy as np
import pytest

import tapeless
from tapeless import jit, vmap
from tapeless.transforms.errors import AliasError

X = np.array([3.0, 1.0, 2.0, 0.5])
M = np.arange(6.0).reshape(2, 3)
I4, U4 = np.array([1, -2, 3, 0], dtype=np.int32), np.array([1, 2, 3, 4], dtype=np.uint32)


class Shape(enum.IntEnum):
    circle = 2
    square = 5


def changed(x, store):
    y = x.copy()
    store(y)
    return y


def _fill(x):
    x[:] = 2
    return x


PROGRAMS = {
    "quantile": (lambda x, q: np.quantile(x, q), X, 0.3),
    "quantiles": (lambda x, q: np.quantile(x, q), X, np.array([0.0, 0.7])),
    "quantile beyond": (lambda x, q: np.quantile(x, q), X, 1.5),
    "quantile below": (lambda x, q: np.quantile(x, q), X, np.array([0.1, -0.1])),
    "quantile of nan": (lambda x, q: np.quantile(x, q), X, np.nan),
    "quantile by a method": (lambda x: np.quantile(x, 1.5, method="hazen"), X),
    "percentile": (lambda x, q: np.percentile(x, q), X, 30.0),
    "percentile beyond": (lambda x, q: np.percentile(x, q), X, 130.0),
    "no residuals": (lambda a, b: np.linalg.lstsq(a, b)[1], np.eye(3), M.T),
    "wide": (lambda a, b: np.linalg.lstsq(a, b)[1], M, M),
    "residuals": (lambda a, b: np.linalg.lstsq(a, b)[1], np.eye(3, 2) + 1, M.T),
    "extract": (lambda x: np.extract(x > 1, x), X),
    "extract by integers": (lambda x, c: np.extract(c, x), X, np.array([0, 2, 1])),
    "extract by floats": (lambda x, c: np.extract(c, x), M, M % 2),
    "select": (lambda x: np.select([x > 2, x > 1], [x, x * 2], 7.0), X),
    "select by an array": (lambda x: np.select(x[None] > 1, x[None] * 2), X),
    "sort": (lambda x: changed(x, lambda y: y.sort(kind="mergesort")), X),
    "sort of an axis": (lambda x: changed(x, lambda y: y.sort(0, kind="stable")), -M),
    "fill": (lambda x: changed(x, lambda y: y.fill(2)), X),
    "fill with an array": (lambda x: changed(x, lambda y: y.fill(x)), X),
    "fill with a list": (lambda x: changed(x, lambda y: y.fill([1.0])), X),
    "floor": (lambda x: (math.floor(x), math.ceil(x), math.trunc(x)), -1.5),
    "floor of an array": (lambda x: math.floor(x), X),
    "ceil of an array": (lambda x: math.ceil(x), X),
    "predicates": (lambda x: (math.isnan(x), math.isinf(x), math.isfinite(x)), 2.0),
    "in": (lambda x: (x in (1.0, 2.0), x in [1.0, 3.0]), 2.0),
    "length of a range": (lambda a, b, c: len(range(a, b, c)), 1, 9, 2),
    "length of a falling range": (lambda a, b, c: len(range(a, b, c)), 9, 1, -3),
    "length of an empty range": (lambda a, b, c: len(range(a, b, c)), 9, 10, -3),
    "histogram of a number": (lambda x: np.histogram(x, 3)[0], 5),
    "vander": (lambda x: np.vander(x), M),
    "partition by places": (lambda x: np.partition(x, (1, 2)), X),
    "argpartition by places": (lambda x: np.argpartition(x, (1, 2)), X),
    "products of a number": (lambda x: np.cumulative_prod(x), 2.0),
    "no difference": (lambda x: np.diff(x, 0, 1), X),
    "difference of a number": (lambda x: np.diff(x), 2.0),
    "difference beyond": (lambda x: np.diff(x, 1, 1), X),
    "modf as float32": (lambda x: np.modf(x, dtype=np.float32), X),
    "modf of integers": (lambda x: np.modf(x, dtype=np.float64), np.arange(3)),
    "modf as integers": (lambda x: np.modf(x, dtype=np.int64), X),
    "divmod as float32": (lambda x: np.divmod(x, 2, dtype=np.float32), X),
    "divmod as integers": (lambda x: np.divmod(x, 2, dtype=np.int64), X),
    "conjugate as complex numbers": (lambda x: np.conjugate(x, dtype=np.complex64), X),
    "conjugate as float32": (lambda x: np.conjugate(x, dtype=np.float32), X),
    "conjugate of truth values": (lambda x: np.conjugate(x > 1, dtype=np.float32), X),
    "argpartition of a number": (lambda x: np.argpartition(x, 0), np.array(2.0)),
    "partition of a number": (lambda x: np.partition(x, 0), np.array(2.0)),
    "numbers joined": (lambda x: np.concatenate(x, None), X),
    "rows joined": (lambda x: np.concatenate(x, None), M),
    "numbers joined along an axis": (lambda x: np.concatenate(x, 0), X),
    "nothing joined": (lambda x: np.concatenate(x, None), X[:0]),
    "indices of a diagonal": (lambda n: np.diag_indices(n), 3),
    "indices up to a float": (lambda n: np.diag_indices(n, 3), 2.5),
    "correlate": (lambda x: np.correlate(x, 2.0), X),
    "round": (lambda x: round(x), X),
    "in a number": (lambda n: 5 in n, 5),
    "bounds": (lambda x, n: x[n:].sum() + x[: np.int8(2)].sum(), X, 2),
    "bounds by floats": (lambda x, n: x[n:].sum(), X, 2.0),
    "bounds by known floats": (lambda x: x[:2.0].sum(), X),
    "bounds by arrays": (lambda x: x[x:].sum(), X),
    "member": (lambda n: Shape.circle, 3),
    "members": (lambda x: {Shape.circle: x, "k": (Shape.square, x)}, 3.0),
    "select by integers": (lambda p, w, q: np.select([q, q], [p, w], -1) ** 2, I4, U4, X > 1),
    "select of one": (lambda w, q: np.select([q], [w], -1), U4, X > 1),
    "select of small ones": (
        lambda w, q: np.select([q, q], [w.astype("i1"), w.astype("u1")], 300),
        U4,
        X > 1,
    ),
    "imaginary parts of real numbers are stored to": (lambda x: changed(x.imag, _fill), X),
    "imaginary parts of real numbers": (lambda x: _fill(np.imag(x)), X),
    "imaginary parts added to": (lambda x: _fill((x + 0.5).imag), X),
    "imaginary part": (lambda x: x[0].imag + 1, X),
    "imaginary parts": (lambda x: _fill((x + 1j).imag), X),
    "take by a float": (
        lambda x, s: np.take(x, s) + x.take(1.7) + np.take(x, np.float32(s)),
        X,
        0.7,
    ),
    "take by floats": (lambda x, s: np.take(x, [s, 1.0]), X, 0.7),
    "take by an array of floats": (lambda x: np.take(x, x), X),
    "take by complex numbers": (lambda x: np.take(x, 1j), X),
    "take by truth values": (lambda x: np.take(x, x > 1) + x.take(True), X),
    "take rows by truth values": (lambda m: np.take(m, [True, False], axis=1), M),
    "put by truth values": (lambda x: changed(x, lambda y: np.put(y, x > 1, 3.0)), X),
    "put by a float": (lambda x, s: changed(x, lambda y: np.put(y, s + 1, 3.0)), X, 0.7),
    "put by floats": (lambda x: changed(x, lambda y: np.put(y, x, 3.0)), X),
    "put along an axis by truth values": (
        lambda x: changed(x, lambda y: np.put_along_axis(y, x > 1, 3.0, 0)),
        X,
    ),
    "choose by floats": (lambda x: np.choose(x * 0, [x, x]), X),
    "padded beyond the dtype": (lambda x: np.pad(x.astype("i1"), 1, constant_values=300), I4),
    "padded beyond the dtype at a side": (
        lambda x: np.pad(x.astype("i1"), 1, constant_values=(3, 300)),
        I4,
    ),
    "padded with unsigned numbers": (lambda x: np.pad(x, 1, constant_values=-1), U4),
    "padded with nan": (lambda x: np.pad(x, 1, constant_values=np.nan), I4),
    "padded": (lambda x, n: np.pad(x, 1, constant_values=(n, 7)), I4, 5),
    "differences and an end of floats": (lambda x: np.ediff1d(x, to_end=0.5), I4),
    "differences and a negative end": (lambda x: np.ediff1d(x, to_end=-1), U4),
    "differences and ends": (lambda x: np.ediff1d(x, to_end=[5, 6], to_begin=1), X),
    "joined with what is beyond the dtype": (lambda x: np.r_[x, -1], U4),
    "joined with a number": (lambda x: np.r_[x, 7], U4),
    "choices of floats and truth values": (
        lambda x, q: np.select([q, q], [x.astype("f4"), q], 0.37),
        X,
        X > 1,
    ),
    "number of a member": (lambda n: Shape.circle + n, 3),
}


def emitted(f):
    return lambda *a: tapeless.value_and_grad(lambda w: (w, f(*a)), has_aux=True)(1.0)[0][1]


def outcome(f, args):
    try:
        return f(*args)
    except AliasError:
        return ValueError
    except (TypeError, ValueError, IndexError, OverflowError) as e:
        return type(e)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy(name):
    f, *args = PROGRAMS[name]
    wanted = outcome(f, args)
    for made in (outcome(emitted(f), args), outcome(jit(f), args)):
        pairs = zip(tapeless.tree.leaves(made), tapeless.tree.leaves(wanted), strict=True)
        for a, b in pairs:
            assert type(a) is type(b)
            if isinstance(b, type):
                assert a is b
            else:
                np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's: no degrees of freedom
@pytest.mark.parametrize("f", [emitted, jit])
def test_covariance_of_numbers(f):
    np.testing.assert_array_equal(f(lambda x: np.cov(x))(2.0), np.cov(2.0))
    np.testing.assert_array_equal(f(lambda x, y: np.cov(x, y))(2.0, 3.0), np.cov(2.0, 3.0))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("f", [emitted, jit])
def test_variance_of_complex_numbers_in_a_dtype(f, dtype):
    z = X + 1j * X[::-1]
    variance, expected = f(lambda z: np.var(z, dtype=dtype))(z), np.var(z, dtype=dtype)
    assert np.asarray(variance).dtype == expected.dtype
    np.testing.assert_allclose(variance, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["S", "S8", "U", "V4"])
def test_arrays_of_texts_are_refused(dtype):
    with pytest.raises(
        tapeless.errors.UnsupportedError, match="an array of numbers as one of dtype"
    ):
        jit(lambda x: np.array(x, dtype))(X)


def test_levels_of_a_batch():
    levels = np.array([0.1, 0.5])
    for f in (vmap(lambda q: np.quantile(X, q)), jit(vmap(lambda q: np.quantile(X, q)))):
        np.testing.assert_allclose(f(levels), np.quantile(X, levels))
        with pytest.raises(ValueError, match=r"Quantiles must be in the range \[0, 1\]"):
            f(levels + 0.7)
