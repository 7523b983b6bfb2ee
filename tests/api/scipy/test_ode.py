"""solve_ivp in transformed functions: the steps and values of SciPy, and derivatives."""

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import tapeless

P = np.array([1.1, 0.4, 0.1, 0.4])
TIMES = np.linspace(0, 3, 7)


def prey_and_predators(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def pendulum(t, y, p):
    return np.array([y[1], -p[0] * np.sin(y[0]) + p[1] * np.cos(t)])


def solved(fun, span=(0.0, 3.0), y0=(1.0, 0.7), **options):
    def f(p):
        found = solve_ivp(fun, span, y0, args=(p,), **options)
        return found.t, found.y

    return f


CASES = {
    "default": solved(pendulum),
    "times": solved(prey_and_predators, t_eval=TIMES, rtol=1e-6),
    "third order": solved(pendulum, method="RK23", t_eval=TIMES),
    "back": solved(pendulum, span=(3.0, 1.0), rtol=1e-5),
    "small steps": solved(pendulum, max_step=0.1, first_step=0.01, t_eval=TIMES[:3]),
    "vectorized": solved(
        lambda t, y, p: np.stack([y[1], -p[0] * y[0]]), vectorized=True, t_eval=TIMES
    ),
    "one": solved(lambda t, y, p: -p[0] * y, y0=[2.0], t_eval=[0.5, 1.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_times_and_values_are_those_of_scipy(name):
    f = CASES[name]
    for found, expected in zip(tapeless.vjp(f, P)[0], f(P), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["RK45", "RK23"])
def test_derivatives(method):
    options = {"rtol": 1e-9, "atol": 1e-10} if method == "RK45" else {"rtol": 1e-7, "atol": 1e-8}
    f = solved(pendulum, span=(0.0, 1.0), method=method, t_eval=[0.4, 1.0], **options)

    def total(p):
        return np.sum(f(p)[1] ** 2)

    steps = [1e-5 * e for e in np.eye(4)]
    expected = [(total(P + h) - total(P - h)) / 2e-5 for h in steps]
    slope = tapeless.grad(total)(P)
    np.testing.assert_allclose(slope, expected, atol=1e-5)
    _, along = tapeless.jvp(total, (P,), (np.ones(4),))
    np.testing.assert_allclose(along, slope.sum(), rtol=1e-9)


def test_compiled_and_batched():
    f = solved(pendulum, span=(0.0, 1.0), t_eval=[0.4, 1.0])
    batch = np.stack([P, 0.5 * P])
    expected = np.stack([f(p)[1] for p in batch])
    np.testing.assert_allclose(tapeless.jit(f)(P)[1], expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(tapeless.vmap(f)(batch)[1], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "options",
    [{"method": "BDF"}, {"events": lambda t, y, p: y[0]}, {"dense_output": True}, {"y0": [1j, 0]}],
)
def test_what_is_not_supported_is_refused(options):
    with pytest.raises(ValueError, match="solve_ivp"):
        tapeless.jit(solved(pendulum, **options))(P)


def by_odeint(p):
    """The pendulum at times, with the arguments in the order of odeint."""
    return odeint(lambda y, t, p: pendulum(t, y, p), [1.0, 0.7], TIMES, args=(p,))


def test_odeint():
    back = odeint(lambda t, y, k: -k * y, 2.0, TIMES[::-1], args=(0.3,), tfirst=True)
    falling = tapeless.jit(
        lambda k: odeint(lambda t, y, k: -k * y, 2.0, TIMES[::-1], args=(k,), tfirst=True)
    )
    np.testing.assert_allclose(falling(0.3), back, atol=1e-6)
    expected = by_odeint(P)
    np.testing.assert_allclose(tapeless.jit(by_odeint)(P), expected, atol=1e-6)
    both = tapeless.vmap(by_odeint)(np.stack([P, 2 * P]))
    np.testing.assert_allclose(both, [expected, by_odeint(2 * P)], atol=1e-6)
    tapeless.check_grads(by_odeint, (P,), order=1)


def test_odeint_refuses_what_it_does_not_give():
    with pytest.raises(ValueError, match="full_output"):
        tapeless.jit(lambda k: odeint(lambda y, t: -k * y, 1.0, TIMES, full_output=True))(1.0)
    with pytest.raises(ValueError, match="args must be a tuple"):
        tapeless.jit(lambda k: odeint(lambda y, t, k: -k * y, 1.0, TIMES, args=k))(1.0)
