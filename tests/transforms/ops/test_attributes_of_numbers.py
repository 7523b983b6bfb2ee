"""Numbers of Python's have no methods of arrays, no items and nothing to run over."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.transforms.ops.agreement import check_values

A = np.array([0.5, -1.2, 2.0])

ASKED = {
    "astype": lambda x: x.astype(int),
    "sum": lambda x: x.sum(),
    "T": lambda x: x.T,
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "dtype": lambda x: x.dtype == float,
    "mean": lambda x: x.mean(),
    "item": lambda x: x.item(),
    "copy": lambda x: x.copy(),
    "tolist": lambda x: x.tolist(),
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "is_integer": lambda x: x.is_integer(),
    "hasattr": lambda x: hasattr(x, "sum"),
    "item by no index": lambda x: x[()],
    "item with an axis": lambda x: x[None],
    "first item": lambda x: x[0],
}
GIVEN = {
    "a float": (lambda f: f, 0.6),
    "an integer": (lambda f: f, 3),
    "a number of NumPy's": (lambda f: f, np.float64(0.6)),
    "an array": (lambda f: lambda x: f(np.asarray(x)), 0.6),
    "an element": (lambda f: lambda x: f(x[0]), A),
    "a length": (lambda f: lambda x: f(len(x)), A),
    "a sum": (lambda f: lambda x: f(np.sum(x)), A),
    "computed": (lambda f: lambda x: f(x * 2), 0.6),
    "a function of NumPy's": (lambda f: lambda x: f(np.sin(x)), 0.6),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("given", GIVEN)
def test_attributes(asked, given):
    wrap, x = GIVEN[given]
    check_values(wrap(ASKED[asked]), x)


def test_what_the_error_says():
    with pytest.raises(AttributeError, match="'float' object has no attribute 'astype'"):
        jit(lambda x: x.astype(int))(0.6)
    with pytest.raises(TypeError, match="'int' object is not subscriptable"):
        jit(lambda n: n[0])(3)
    with pytest.raises(AttributeError, match="'float' object has no attribute 'sum'"):
        grad(lambda x: x.sum())(0.6)


def test_elements_of_a_batch_have_them():
    for run in (vmap(lambda x: x.sum()), jit(vmap(lambda x: x.sum()))):
        np.testing.assert_array_equal(run(A), A)


@pytest.mark.parametrize("given", GIVEN)
def test_sums_of_numbers(given):
    wrap, x = GIVEN[given]
    check_values(wrap(lambda x: sum(x)), x)
    check_values(wrap(lambda x: sum(x, 1.0)), x)


def test_bits_of_integers_are_counted():
    n = np.array([7, -2, 0])
    expected = [k.bit_count() for k in n]
    np.testing.assert_array_equal(vmap(lambda k: k.bit_count())(n), expected)
    assert [jit(lambda k: k.bit_count())(int(k)) for k in n] == expected
    assert jit(lambda n: n[0].bit_count() / 2)(n) == 1.5


NUMBERS = {
    "complex of two": lambda b: complex(b[0], b[1]) * 0.1,
    "complex of a float and another": lambda b: complex(0.1, b[1]) * 0.1,
    "sum of a list": lambda b: sum(b.tolist()),
    "item of a list": lambda b: b.tolist()[3] * 0.1,
    "array of a list": lambda b: np.array(b.tolist()),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_numbers_of_python_have_64_bits(name, dtype):
    f, b = NUMBERS[name], np.arange(20).astype(dtype) / dtype(7)
    b = b.astype(dtype)
    for form in (jit(f), lambda b: vmap(f)(b[None])[0]):
        np.testing.assert_allclose(form(b), f(b), rtol=1e-14)
        assert np.asarray(form(b)).dtype == np.asarray(f(b)).dtype


@pytest.mark.parametrize("n", [3, 20])
def test_a_list_of_unsigned_numbers_of_64_bits(n):
    b = np.arange(n, dtype=np.uint64)
    assert jit(lambda b: b.tolist()[2] * 0.5)(b) == 1.0
