"""Stores into arrays of another dtype: what NumPy converts, warns of, and refuses."""

import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit

Z = np.array([2 + 1j, -1 + 3j, 0.5 - 1j])


def element(x, z):
    x[0] = z[0]


def whole(x, z):
    x[:] = z


def passes(x, z):
    for k in range(len(x)):
        x[k] = z[k] * z[0]


def masked(x, z):
    x[x > 0] = z[x > 0]


def listed(x, z):
    x[:2] = [z[1], 2.0]


STORES = {
    **{f.__name__: f for f in (element, whole, passes, masked, listed)},
    "fill": lambda x, z: x.fill(z[1]),
    "flat": lambda x, z: x.flat.__setitem__(slice(None), z),
    "put": lambda x, z: np.put(x, [1, 0], z),
    "put_along_axis": lambda x, z: np.put_along_axis(x, np.array([1]), z[:1], 0),
    "fill_diagonal": lambda x, z: np.fill_diagonal(x[None], z[1]),
    "copyto": lambda x, z: np.copyto(x, z, casting="unsafe"),
    "sum": lambda x, z: np.sum(z, keepdims=True, out=x[:1]),
}


def outcome(f, dtype, z):
    """What a store leaves, and what was raised or warned of."""
    x = np.array([1, 2, 3]).astype(dtype)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = f(x, z)
        except (TypeError, OverflowError) as e:
            made = TypeError if isinstance(e, TypeError) else OverflowError
    return made, {w.category for w in said}


def storing(store):
    def f(x, z):
        x, z = x.copy(), z + 0
        store(x, z)
        return x

    return f


def emitted(f):
    def program(x, z):
        return tapeless.value_and_grad(lambda w: (w, f(x, z)), has_aux=True)(1.0)[0][1]

    return program


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_complex_numbers_leave_their_real_parts(store, dtype):
    f = storing(store)
    wanted, said = outcome(f, dtype, Z)
    found, ours = outcome(emitted(f), dtype, Z)
    assert ours == said
    compiled, _ = outcome(jit(f), dtype, Z)
    for made in (found, compiled):
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made, wanted)


REFUSED = {
    "python": lambda x, z: x.__setitem__(0, 1j),
    "list": lambda x, z: x.__setitem__(slice(2), [1j, 2]),
    "fill": lambda x, z: x.fill(1j),
    "put": lambda x, z: np.put(x, 0, 1j),
    "place": lambda x, z: np.place(x, x > 0, 1j),
    "out": lambda x, z: np.add(z, 1, out=x),
    "where": lambda x, z: np.add(z, 1, out=x, where=x > 0),
    "clip": lambda x, z: np.clip(x, 0.5, 2.5, out=x),
    "float out": lambda x, z: np.add(x, np.float64(1.5), out=x),
    "unsafe": lambda x, z: np.multiply(x, np.float64(1.5), out=x, casting="unsafe"),
    "matmul": lambda x, z: np.matmul(np.eye(3), x, out=x),
    "copyto": np.copyto,
    "copyto of a float": lambda x, z: np.copyto(x, 1.5),
    "copyto of an integer": lambda x, z: np.copyto(x, 2),
    "copyto of a large one": lambda x, z: np.copyto(x, 300),
    "placed": lambda x, z: np.place(x, x > 0, z),
    "placed of floats": lambda x, z: np.place(x, x > 0, np.array([1.5])),
    "placed numbers": lambda x, z: np.place(x, x > 0, [1.5]),
    "placed large": lambda x, z: np.place(x, x > 0, [1, 300]),
    "putmask": lambda x, z: np.putmask(x, x > 0, np.int32([4])),
}


@pytest.mark.parametrize("dtype", [np.float64, np.int8, bool])
@pytest.mark.parametrize("store", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(store, dtype):
    f = storing(store)
    wanted, _ = outcome(f, dtype, Z)
    for made, _ in (outcome(emitted(f), dtype, Z), outcome(jit(f), dtype, Z)):
        if isinstance(wanted, type):
            assert made is wanted
        else:
            np.testing.assert_array_equal(made, wanted)


def test_messages():
    x = np.arange(3)
    with pytest.raises(TypeError, match=r"int\(\) argument must be a real number, not 'complex'"):
        jit(storing(REFUSED["python"]))(x, Z)
    with pytest.raises(
        TypeError, match=r"ufunc 'add' output from .* with casting rule 'same_kind'"
    ):
        jit(storing(REFUSED["out"]))(x, Z)
    with pytest.raises(TypeError, match=r"Cannot cast array data .* according to the rule 'safe'"):
        jit(storing(REFUSED["placed"]))(x, Z)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", ["whole", "passes"])
def test_derivatives_are_those_of_the_real_parts(name):
    def f(z):
        x = np.zeros(3)
        STORES[name](x, z * z)
        return np.sum(x * np.arange(1.0, 4.0))

    for slope in (grad(f), jit(grad(f))):
        step = 1e-6 * np.array([1 + 2j, 0.5 - 1j, 2j])
        change = (f(Z + step) - f(Z - step)) / 2
        np.testing.assert_allclose(np.sum(slope(Z) * step).real, change, rtol=1e-6)
