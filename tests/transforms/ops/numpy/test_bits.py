"""x.view(dtype): the bits are those of NumPy, stores, and what has no derivative."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, lax, vmap
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError

X = np.random.default_rng(3).normal(size=(3, 4))


def emitted(f):
    """f as emitted NumPy code."""
    return lambda *args: tapeless.value_and_grad(lambda *a: (a[0].sum(), f(*a)), has_aux=True)(
        *args
    )[0][1]


def same_bits(got, wanted):
    pairs = zip(tapeless.tree.leaves(got), tapeless.tree.leaves(wanted), strict=True)
    for a, b in pairs:
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def root(x):
    """The inverse square root, begun by a shift of the bits."""
    i = np.int32(0x5F3759DF) - (x.view(np.int32) >> np.int32(1))
    y = i.view(np.float32)
    return y * (np.float32(1.5) - np.float32(0.5) * x * y * y)


def bits(x):
    return x.view(np.int64), x.view("u8")[1:], x.view(np.uint8), x.T.copy().view(np.int32)


def stores(x):
    v = x.view(np.int64)
    v[1, :2] = 7
    x[0, 0] = 3.0
    w = x.view(np.uint8)
    w[2] = 1
    return v, x, w


def parts(x):
    y = x * 1
    v = y.view(np.int32)[:, ::2]
    v[1:] = 0
    u = y.view(np.uint16)
    u[0] += 1
    y[0, 0] = 5
    return v, y, u


def hashed(x):
    found = np.int64(0)
    for k in range(x.shape[1]):
        found ^= (x[0, k] * (k + 1)).view(np.int64)
    return found, found.view(np.float64)


def plain(x):
    y = x.view().view(np.ndarray)
    y[0] = 2.0
    return x


PROGRAMS = {f.__name__: f for f in (bits, stores, parts, hashed, plain)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transformed", [jit, emitted])
def test_the_bits_are_those_of_numpy(name, transformed):
    f = PROGRAMS[name]
    if name in ("bits", "parts", "stores", "hashed") and transformed is emitted:
        f = lambda x: PROGRAMS[name](tapeless.stop_gradient(x))  # noqa: E731
    same_bits(transformed(f)(X.copy()), f(X.copy()))


def test_numbers_are_reinterpreted_inside_kernels():
    x = np.linspace(1, 9, 6, dtype=np.float32)
    same_bits(jit(root)(x), root(x))
    assert "np.float32(x[i]).view(np.int32)" in jit(root).source(x)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("dtype", [np.int32, np.int64, complex])
def test_batches(axis, dtype):
    a = np.random.default_rng(0).normal(size=(2, 4, 6))
    rows = [np.ascontiguousarray(np.take(a, k, axis)).view(dtype) for k in range(a.shape[axis])]
    for f in (vmap(lambda x: x.view(dtype), axis), jit(vmap(lambda x: x.view(dtype), axis))):
        same_bits(np.ascontiguousarray(f(a)), np.stack(rows))


def test_integers_have_no_derivative_and_pairs_have_that_of_the_numbers():
    with pytest.raises(NotDifferentiableError, match="bits have no derivative"):
        grad(lambda x: np.sum(root(x)))(np.linspace(1, 9, 6, dtype=np.float32))
    slope = grad(lambda x: np.sum(np.exp(x.view(complex)).real))(X)
    z = np.exp(X.view(complex))
    np.testing.assert_allclose(slope, np.conj(z).view(float), rtol=1e-12)
    slope = grad(lambda z: np.sum(z.view(float) * np.arange(4.0)))(X.view(complex))
    np.testing.assert_array_equal(slope, np.broadcast_to([0 - 1j, 2 - 3j], (3, 2)))


def test_floats_as_floats_of_another_width_have_none():
    def f(x):
        return np.sum(x.view(np.float32))

    with pytest.raises(NotDifferentiableError) as e:
        grad(f)(X)
    assert str(e.value).splitlines()[0] == (
        "x.view(np.float32) of floats of float64: bits have no derivative"
    )
    assert "return np.sum(x.view(np.float32))" in str(e.value)
    assert str(e.value).endswith("x.astype(np.float32), or stop_gradient(x).view(...)")
    assert not grad(lambda x: np.sum(lax.bitcast_convert_type(x, np.float32)))(X).any()


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        (">i8", UnsupportedError, "x.view(>i8) of an array of float64"),
        (bool, UnsupportedError, "x.view(bool) of an array of float64"),
        ("V8", UnsupportedError, "byte order of the machine"),
        (np.recarray, UnsupportedError, "a view as recarray"),
        ("c8", None, ""),
        (np.longdouble, ValueError, "divisor of the total size"),
    ],
)
def test_what_is_refused(kind, error, said):
    if error is None:
        same_bits(jit(lambda x: x.view(kind))(X), X.view(kind))
        return
    with pytest.raises(error) as e:
        jit(lambda x: x[:, :3].copy().view(kind))(X)
    assert said in str(e.value)


def test_numbers_without_axes():
    with pytest.raises(ValueError, match="0d array"):
        jit(lambda x: x[0, 0].view(np.int32))(X)
    with pytest.raises(AttributeError, match="view"):
        jit(lambda x: x.view(np.int64))(1.5)
    assert jit(lambda x: x.view(np.int64))(np.float64(1.5)) == np.float64(1.5).view(np.int64)


def halved_bits(v):
    """Calls itself, and makes floats of bits."""
    if v[0] < 0.3:
        return np.sum(v)
    rounded = (v.view(np.int64) & ~np.int64(1)).view(np.float64)
    return np.sum(rounded * v) + halved_bits(v / 2)


def halved_exponents(v):
    """Calls itself, and takes from the bits what does not change nearby."""
    if v[0] < 0.3:
        return np.sum(v)
    exponents = (v.view(np.int64) >> np.int64(52)) & np.int64(2047)
    return np.sum(exponents * v) + halved_exponents(v / 2) * v[0]


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_bits_in_recursive_functions(form):
    v = np.array([0.9, 0.55])
    with pytest.raises(NotDifferentiableError, match="bits have no derivative"):
        form(grad(halved_bits))(v)
    steps = 1e-6 * np.eye(2)
    expected = [(halved_exponents(v + d) - halved_exponents(v - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(form(grad(halved_exponents))(v), expected, rtol=1e-6)
    np.testing.assert_allclose(form(tapeless.jacfwd(halved_exponents))(v), expected, rtol=1e-6)
