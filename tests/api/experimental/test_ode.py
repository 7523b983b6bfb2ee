"""odeint on trees: the values of JAX, and derivatives in both modes."""

import importlib

import numpy as np
import pytest

import tapeless
from tapeless.experimental.ode import odeint
from tests.api.jax_peer import jax_or_skip

TIMES = np.array([0.1, 0.4, 1.0])


def pendulum(y, t, p):
    return {"x": y["v"], "v": p[1] * np.cos(t) - p[0] * np.sin(y["x"])}


def total(y0, times, p, od=odeint, f=pendulum):
    y = od(f, y0, times, p)
    return (y["x"] ** 2 + y["x"] * y["v"]).sum()


POINT = ({"x": np.array(1.0), "v": np.array(0.3)}, TIMES, np.array([1.1, 0.4]))


def test_values_are_those_of_jax():
    jax = jax_or_skip()
    jnp, ode = jax.numpy, importlib.import_module("jax.experimental.ode")

    def swing(y, t, p):
        return {"x": y["v"], "v": p[1] * jnp.cos(t) - p[0] * jnp.sin(y["x"])}

    found = odeint(pendulum, *POINT, rtol=1e-6, hmax=0.2)
    expected = ode.odeint(swing, POINT[0], jnp.asarray(TIMES), POINT[2], rtol=1e-6, hmax=0.2)
    for name, y in found.items():
        np.testing.assert_allclose(y, expected[name], rtol=1e-13)
    found = tapeless.jit(tapeless.grad(total, (0, 1, 2)))(*POINT)
    expected = jax.grad(lambda *a: total(*a, ode.odeint, swing), (0, 1, 2))(
        POINT[0], jnp.asarray(TIMES), POINT[2]
    )
    for a, b in zip(tapeless.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)


def test_derivatives_in_both_modes_and_of_second_order():
    def f(x, v, p):
        return total({"x": x, "v": v}, TIMES, p)

    tapeless.check_grads(f, (1.0, 0.3, POINT[2]), order=1, rtol=1e-5)
    curve = tapeless.hessian(f, 2)(1.0, 0.3, POINT[2])
    slope = tapeless.grad(f, 2)
    rows = [[slope(1.0, 0.3, POINT[2] + s * e) for s in (1e-4, -1e-4)] for e in np.eye(2)]
    np.testing.assert_allclose(curve, [(up - down) / 2e-4 for up, down in rows], rtol=1e-4)


def test_a_batch_of_initial_values_and_of_what_func_reads():
    def end(y, k):
        return odeint(lambda y, t: -k * y, y, TIMES)[-1]

    y, k = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 4.0])
    np.testing.assert_allclose(tapeless.vmap(end)(y, k), y * np.exp(-0.9 * k), rtol=1e-6)
    slopes = tapeless.jit(tapeless.vmap(tapeless.grad(end, 1)))(y, k)
    np.testing.assert_allclose(slopes, -0.9 * y * np.exp(-0.9 * k), rtol=1e-5)


def test_complex_numbers_float32_and_times_that_are_equal():
    turned = odeint(lambda z, t: 1j * z, 1.0 + 0j, np.array([0.0, 0.0, 2.0, 2.0]))
    np.testing.assert_allclose(turned, np.exp([0j, 0j, 2j, 2j]), rtol=1e-7)
    short = np.linspace(0, 1, 3, dtype=np.float32)
    found = tapeless.jit(lambda y: odeint(lambda y, t: -t * y, y, short))(np.ones(2, np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, 0], np.exp(-(short**2) / 2), rtol=1e-5)


def test_what_is_not_reached_is_nan():
    few = odeint(lambda y, t: -y, 1.0, np.array([0.0, 1.0]), mxstep=3)
    np.testing.assert_array_equal(few, [1.0, np.nan])
    with np.errstate(all="ignore"):
        pole = odeint(lambda y, t: y**2, 1.0, np.array([0.0, 0.5, 1.5]))
    np.testing.assert_allclose(pole, [1.0, 2.0, np.nan], rtol=1e-6)


@pytest.mark.parametrize(
    ("error", "text", "times", "f"),
    [
        (TypeError, "array of floats", np.arange(3), lambda y, t: -y),
        (ValueError, "t must rise", -TIMES, lambda y, t: -y),
        (ValueError, "gives 2 numbers, and y0 has 1", TIMES, lambda y, t: np.stack([y, y])),
    ],
)
def test_what_is_refused(error, text, times, f):
    for run in (odeint, tapeless.jit(odeint, static_argnums=0)):
        with pytest.raises(error, match=text):
            run(f, 1.0, times)
