"""grad, value_and_grad and jvp: what they are of, and how their results are built."""

import dataclasses
import functools
from collections import namedtuple

import numpy as np
import pytest

from tapeless import grad, jacfwd, jit, jvp, jvp_fn, linearize, value_and_grad, vjp, vmap
from tests.api.importable import Spring

Pair = namedtuple("Pair", "first second")


@dataclasses.dataclass
class Layer:
    w: object
    b: object = None


def product(x, y, z):
    return x * y**2 * z**3


@pytest.mark.parametrize(
    ("argnums", "wanted"),
    [
        (0, 108.0),
        (1, 72.0),
        (2, 108.0),
        (-1, 108.0),
        (-3, 108.0),
        ((0,), (108.0,)),
        ((0, 1), (108.0, 72.0)),
        ((-1, 0), (108.0, 108.0)),
        ([1, 2], (72.0, 108.0)),
        ((), ()),
    ],
)
def test_argnums(argnums, wanted):
    x, y, z = 1.0, 2.0, 3.0
    # d/dx = y^2 z^3 = 108, d/dy = 2 x y z^3 = 108, d/dz = 3 x y^2 z^2 = 108
    truth = {0: 108.0, 1: 108.0, 2: 108.0}
    found = grad(product, argnums=argnums)(x, y, z)
    if isinstance(argnums, int):
        assert found == truth[argnums % 3]
    else:
        assert found == tuple(truth[k % 3] for k in argnums)
    assert type(found) is type(wanted)


def test_argnums_tell_arguments_apart():
    assert grad(product, argnums=(0, 1, 2))(2.0, 3.0, 1.0) == (9.0, 12.0, 54.0)
    assert grad(product, argnums=(2, 0))(2.0, 3.0, 1.0) == (54.0, 9.0)
    assert grad(product, argnums=-2)(2.0, 3.0, 1.0) == 12.0


def test_argnames_by_name():
    found = grad(product, argnames="z")(2.0, 3.0, z=1.0)
    assert found == {"z": 54.0}
    assert grad(product, argnames=("z", "y"))(2.0, z=1.0, y=3.0) == {"z": 54.0, "y": 12.0}


def test_argnames_of_arguments_that_are_passed_by_position():
    assert grad(product, argnames="y")(2.0, 3.0, 1.0) == {"y": 12.0}
    assert grad(product, argnames=("x", "z"))(2.0, 3.0, z=1.0) == {"x": 9.0, "z": 54.0}


def test_argnums_and_argnames_together():
    assert grad(product, argnums=1, argnames="z")(2.0, 3.0, z=1.0) == (12.0, {"z": 54.0})
    found = grad(product, argnums=(0, 1), argnames="z")(2.0, 3.0, z=1.0)
    assert found == ((9.0, 12.0), {"z": 54.0})


def test_value_and_grad():
    assert value_and_grad(product)(2.0, 3.0, 1.0) == (18.0, 9.0)
    assert value_and_grad(product, argnums=(1, 0))(2.0, 3.0, 1.0) == (18.0, (12.0, 9.0))
    assert value_and_grad(product, argnames="z")(2.0, 3.0, z=1.0) == (18.0, {"z": 54.0})


def test_has_aux():
    def f(x):
        return x**2, {"next": x + 1, "label": "kept", "none": None}

    aux = {"next": 4.0, "label": "kept", "none": None}
    assert grad(f, has_aux=True)(3.0) == (6.0, aux)
    assert value_and_grad(f, has_aux=True)(3.0) == ((9.0, aux), 6.0)
    assert jvp(f, (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, aux)


def test_real_functions_of_complex_numbers():
    """d/dx - i d/dy, as in JAX."""

    def f(z):
        return np.real(z) ** 2 * np.imag(z) + np.abs(z) ** 2

    x, y = 3.0, -4.0
    wanted = (2 * x * y + 2 * x) - 1j * (x**2 + 2 * y)
    assert grad(f)(x + 1j * y) == pytest.approx(wanted)
    z = np.array([x + 1j * y, 1j])
    found = grad(lambda z: np.sum(f(z)))(z)
    np.testing.assert_allclose(found, [wanted, -2j], atol=1e-15)
    assert value_and_grad(f)(1j)[0] == 1.0


def test_holomorphic():
    z = 1.0 + 2.0j
    assert grad(lambda z: z**3, holomorphic=True)(z) == pytest.approx(3 * z**2)
    assert grad(np.exp, holomorphic=True)(z) == pytest.approx(np.exp(z))
    array = np.array([1j, 2.0])
    found = grad(lambda z: np.sum(z**2), holomorphic=True)(array)
    np.testing.assert_allclose(found, 2 * array)


# -- containers


def test_results_are_built_like_the_argument():
    tree = {"d": Layer(2.0), "n": Pair(3.0, (4.0, None)), "l": [5.0, 1.0], "none": None}

    def f(t):
        return t["d"].w * t["n"].first + t["n"].second[0] ** 2 + t["l"][0] * t["l"][1]

    found = grad(f)(tree)
    assert found == {"d": Layer(3.0), "n": Pair(2.0, (8.0, None)), "l": [1.0, 5.0], "none": None}
    assert list(found) == list(tree)


def test_unused_leaves_have_zero_gradients():
    found = grad(lambda t: t["a"] ** 2)({"a": 3.0, "b": np.ones((2, 3)), "c": [1.0]})
    assert found["a"] == 6.0
    assert found["c"] == [0.0]
    np.testing.assert_array_equal(found["b"], np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_gradients_keep_shape_and_dtype(dtype):
    for shape in [(), (1,), (3,), (0,), (2, 0), (2, 3)]:
        x = np.ones(shape, dtype)
        found = grad(lambda x: np.sum(x * x))(x)
        assert found.dtype == dtype
        assert found.shape == shape
        np.testing.assert_array_equal(found, 2 * x)


def test_numpy_scalars_keep_their_dtype():
    assert grad(lambda x: x * x)(np.float32(3.0)) == 6.0
    assert np.asarray(grad(lambda x: x * x)(np.float32(3.0))).dtype == np.float32


def test_arguments_are_not_changed():
    def f(x):
        x[0] = x[0] ** 2
        return np.sum(x)

    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(grad(f)(x), [6.0, 1.0])
    value, dot = jvp(f, (x,), (np.ones(2),))
    assert (value, dot) == (13.0, 7.0)
    np.testing.assert_array_equal(x, [3.0, 4.0])


def test_a_gradient_is_not_an_argument():
    x, y = np.ones(3), np.full(3, 2.0)
    found = grad(lambda x, y: np.sum(x * y))(x, y)
    found[:] = 7.0
    np.testing.assert_array_equal(y, [2.0, 2.0, 2.0])


def test_a_result_that_does_not_depend_on_the_argument():
    assert grad(lambda x: 3.0)(1.0) == 0.0
    assert value_and_grad(lambda x: 3.0)(1.0) == (3.0, 0.0)


# -- kinds of functions


@pytest.mark.parametrize(
    "function",
    [
        Spring(6.0).energy,
        Spring.cube,
        Spring.fourth,
        Spring(2.0),
        functools.partial(lambda factor, x: factor * x**2, 3.0),
        functools.partial(lambda x, factor: factor * x**2, factor=3.0),
        functools.lru_cache(lambda x: x**2),
        np.sin,
    ],
    ids=[
        "method",
        "classmethod",
        "staticmethod",
        "object",
        "partial",
        "by name",
        "cached",
        "ufunc",
    ],
)
def test_callables(function):
    h, x = 1e-6, 1.3
    wanted = (function(x + h) - function(x - h)) / (2 * h)
    assert grad(function)(x) == pytest.approx(wanted, rel=1e-8)
    assert jvp(function, (x,), (2.0,))[1] == pytest.approx(2 * wanted, rel=1e-8)


def test_as_decorators_on_methods():
    spring = Spring(6.0)
    assert spring.pull(2.0) == 12.0
    assert Spring.pull(spring, 2.0) == 12.0
    spring.stiffness = 4.0
    assert spring.pull(2.0) == 8.0


def test_as_decorators_with_arguments():
    @functools.partial(grad, argnums=(0, 1))
    def slopes(x, y):
        return x * y

    @functools.partial(value_and_grad, has_aux=True)
    def both(x):
        return x**2, "aux"

    assert slopes(2.0, 3.0) == (3.0, 2.0)
    assert both(2.0) == ((4.0, "aux"), 4.0)


def general(x, *rest, scale=2.0, **more):
    return x * scale * sum(rest) * more.get("z", 1.0)


def test_parameters_of_all_kinds():
    assert grad(general)(1.0, 2.0, 3.0) == 10.0
    assert grad(general)(1.0, 2.0, 3.0, scale=4.0, z=2.0) == 40.0
    assert grad(general, argnums=(1, -1))(1.0, 2.0, 3.0, scale=4.0, z=2.0) == (8.0, 8.0)
    assert grad(general, argnames=("scale", "z"))(1.0, 2.0, 3.0, z=3.0, scale=1.0) == {
        "scale": 15.0,
        "z": 5.0,
    }


def test_positional_only_and_keyword_only():
    def f(x, /, y=3.0, *, power=2):
        return x**power * y

    assert grad(f)(2.0) == 12.0
    assert grad(f)(2.0, 1.0, power=3) == 12.0
    assert grad(f, argnames="y")(2.0, y=1.0) == {"y": 4.0}


# -- forward mode


def test_jvp():
    value, dot = jvp(product, (2.0, 3.0, 1.0), (1.0, 10.0, 100.0))
    assert value == 18.0
    assert dot == 9.0 + 120.0 + 5400.0


def test_jvp_of_containers():
    def f(t):
        return {"y": t["a"] * t["b"], "s": "text", "n": (None, t["a"])}

    value, dot = jvp(f, ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 0.0},))
    assert value == {"y": 6.0, "s": "text", "n": (None, 2.0)}
    assert dot == {"y": 3.0, "s": "text", "n": (None, 1.0)}


def test_jvp_of_integers_is_zero():
    def f(x, n):
        return x**n, n + 1

    (power, more), (power_dot, more_dot) = jvp(f, (3.0, 2), (1.0, 0))
    assert (power, more, power_dot, more_dot) == (9.0, 3, 6.0, 0.0)


def test_jvp_fn():
    f = jvp_fn(product, argnums=(1, 0))
    assert f(2.0, 3.0, 1.0, 10.0, 1.0) == (18.0, 129.0)
    assert jvp_fn(product)(2.0, 3.0, 1.0, 1.0) == (18.0, 9.0)
    assert "y_dot" in f.source()


def test_functions_that_are_called_have_names_of_their_own():
    """Also where the outer function, and both of its halves, are called as they are."""

    def part(x):
        for _ in range(3):
            x = np.sin(x) * x + np.cos(x) / (1 + x * x) + np.exp(-x * x) * np.tanh(x)
        return x

    def whole(x):
        return part(part(part(part(part(part(x))))))

    whole.__name__ = "part"
    x = np.linspace(0.1, 0.5, 3)
    slope = jacfwd(whole)(x) @ np.ones(3)
    np.testing.assert_allclose(vjp(whole, x)[1](np.ones(3))[0], slope)
    np.testing.assert_allclose(linearize(whole, x)[1](np.ones(3)), slope)


WEIGHTS = np.arange(1.0, 5.0)


def last_by_ellipsis(x):
    return (WEIGHTS * x)[..., -1]


def reshaped_to_none(x):
    return (WEIGHTS * x * x).reshape(2, 2)[1:, 1:].reshape(())


def view_that_is_stored_to(x):
    y = np.zeros(3)
    y[1] = x * x
    view = y[1:2].reshape(())
    y[1] = np.sin(x)
    return view


@pytest.mark.parametrize("f", [last_by_ellipsis, reshaped_to_none, view_that_is_stored_to])
def test_losses_that_are_views_without_axes(f):
    at, step = 1.5, 1e-6
    slope = (f(at + step) - f(at - step)) / (2 * step)
    for transformed in (
        grad(f),
        jit(grad(f)),
        grad(jit(f)),
        grad(lambda x: (f(x), x), has_aux=True),
    ):
        result = transformed(at)
        assert (result[0] if isinstance(result, tuple) else result) == pytest.approx(slope)
    value, derivative = value_and_grad(f)(at)
    assert (value, derivative) == pytest.approx((float(f(at)), slope))
    np.testing.assert_allclose(vmap(grad(f))(np.full(2, at)), slope)
