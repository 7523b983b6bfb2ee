"""Functions that a program defines around its values, and gives to a library that has no rule."""

import numpy as np
import pytest
import scipy.optimize as so

from tapeless import jit, vmap
from tapeless.errors import UnsupportedError

pytestmark = pytest.mark.usefixtures("traced")


def minimum(a):
    result = so.minimize(lambda x: (x[0] - a) ** 2 + (x[1] - a * a) ** 2, np.ones(2))
    return result.x, result.fun, result.success, result["nit"]


def of_one_variable(a):
    return so.minimize_scalar(lambda x: (x - a) ** 2 + np.cos(x)).x


def root(a):
    return so.root(lambda x: x**3 + x - a, [1.0]).x


def root_in_bracket(a):
    return so.root_scalar(lambda x, c: x * x - c, args=(a,), bracket=(0.0, 5.0)).root


def fitted(a):
    t = np.linspace(0, 1, 10)
    y = a * np.exp(-2 * t) + 0.01 * np.sin(20 * t)
    return so.curve_fit(lambda t, p, q: p * np.exp(-q * t), t, y, p0=[1.0, 1.0])[0]


def residuals(a):
    t = np.linspace(0, 1, 10)
    y = a * np.exp(-2 * t) + 0.01 * np.sin(20 * t)
    return so.least_squares(lambda p: p[0] * np.exp(-p[1] * t) - y, [1.0, 1.0]).x


def in_a_loop(a):
    total = 0.0
    for i in range(3):
        total += so.brentq(lambda x, i=i: x**3 - a - i, 0.0, 5.0)
    return total


def of_another_function(a):
    b = np.array([a, 2.0])

    def scaled(x):
        return b[0] * x

    return so.brentq(lambda x: scaled(x) ** 2 - b[1], 0.0, a + 3.0)


def of_constraints(a):
    result = so.linprog(np.ones(2), A_ub=-np.array([[a, 1.0], [0.5, 2.0]]), b_ub=-np.ones(2))
    return result.x if result.success else np.zeros(2)


FUNCTIONS = [minimum, of_one_variable, root, root_in_bracket, fitted, residuals, in_a_loop]
FUNCTIONS += [of_another_function, of_constraints]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values(f):
    compiled = jit(f)
    for a in (1.5, 2.5):
        ours, right = compiled(a), f(a)
        np.testing.assert_equal(ours, right)
    if f is not minimum:
        batch = vmap(f)(np.array([1.5, 2.5]))
        np.testing.assert_equal(batch, np.stack([f(1.5), f(2.5)]))


def test_results_are_of_scipys_class():
    result = jit(lambda a: so.minimize(lambda x: (x[0] - a) ** 2, np.ones(1)))(1.5)
    assert type(result) is so.OptimizeResult
    assert result.success


def appends(a):
    seen = []
    so.minimize(lambda x: (x[0] - a) ** 2, np.ones(1), callback=lambda x: seen.append(x))
    return len(seen)


def counts(a):
    count = 0

    def squared(x):
        nonlocal count
        count += 1
        return x * x - a

    so.brentq(squared, 0.0, a + 3)
    return count


@pytest.mark.parametrize("f", [appends, counts])
def test_functions_that_change_variables_are_refused(f):
    with pytest.raises(UnsupportedError, match="called by code without a rule"):
        jit(f)(1.5)


def stores(a):
    b = np.array([a, 2.0])

    def stored(x):
        b[0] = x
        return x * x - a

    return so.brentq(stored, 0.0, a + 3)


def of_objects(a):
    class Shifted:
        def __init__(self):
            self.a = a

        def __call__(self, x):
            return x * x - self.a

    return so.brentq(Shifted(), 0.0, a + 3)


@pytest.mark.parametrize(
    ("f", "message"), [(stores, "stores to an argument"), (of_objects, "holds values of the prog")]
)
def test_what_else_is_refused(f, message):
    with pytest.raises(UnsupportedError, match=message):
        jit(f)(1.5)
