"""Goldens of emitted source for batches; read them like code in review."""

# ruff: noqa: SIM108 (branches are what is shown)

import numpy as np
import pytest

from tapeless import grad, jacfwd, vmap

pytestmark = pytest.mark.every_case

VECTOR = np.array([0.1, 0.2, 0.3])
MATRIX = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
CASES = []


def golden_of(*args, axes=0, transform=None):
    """The emitted source of the decorated function for a batch is kept as a golden."""

    def register(function):
        made = vmap(function, axes) if transform is None else transform(function)
        CASES.append(pytest.param(function, made, args, id=function.__name__))
        return function

    return register


@golden_of(VECTOR)
def logistic(x):
    return np.exp(x) / (np.exp(x) + 1)


PARAMS = {"w1": np.ones((3, 4)), "b1": np.ones(4), "w2": np.ones((4, 2)), "b2": np.ones(2)}


@golden_of(PARAMS, np.ones((5, 3)), np.ones((5, 2)), axes=(None, 0, 0))
def loss(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    pred = hidden @ params["w2"] + params["b2"]
    return np.mean((pred - y) ** 2)


@golden_of(
    PARAMS,
    np.ones((5, 3)),
    np.ones((5, 2)),
    transform=lambda f: vmap(grad(f), (None, 0, 0)),
)
def gradients_by_example(params, x, y):
    return loss(params, x, y)


@golden_of(VECTOR)
def log_or_line(x):
    if x > 0.5:
        y = np.log(x - 0.5)
    else:
        y = x
    return 2 * y


@golden_of(VECTOR)
def steps_to_one(x):
    n = 0
    while x > 1:
        x = x / 2 if n % 2 == 0 else x - 1
        n += 1
    return x, n


@golden_of(VECTOR, transform=lambda f: vmap(grad(f)))
def slope_of_a_while_loop(x):
    while x > 1:
        x = 0.7 * x * np.sin(x)
    return x


@golden_of(VECTOR)
def kepler(m):
    e = m
    for _ in range(50):
        d = (e - 0.3 * np.sin(e) - m) / (1 - 0.3 * np.cos(e))
        e = e - d
        if abs(d) < 1e-12:
            break
    return e


@golden_of(0.5, VECTOR, 10, axes=(None, 0, None))
def simulate(k, x, n):
    for _ in range(n):
        if x > 0:
            x = x - k * np.sin(x)
        else:
            x = x + k
    return x


@golden_of(MATRIX, np.array([0, 2]))
def picked_and_stored(x, i):
    y = x[i] * 2
    x[i] = 0.0
    return x, y


@golden_of(np.ones((4, 2, 2)), np.ones((4, 2)))
def gaussian(cov, x):
    low = np.linalg.cholesky(cov)
    z = np.linalg.solve(low, x)
    return -0.5 * np.sum(z**2) - np.sum(np.log(np.diag(low)))


@golden_of(VECTOR)
def raises(x):
    if x < 0:
        raise ValueError(f"no root of {x}")
    return np.sqrt(x)


@golden_of(MATRIX, transform=lambda f: vmap(vmap(f)))
def nested(x):
    while x > 1:
        x = x / 2
    return x


@golden_of(VECTOR, transform=jacfwd)
def matrix_of_derivatives(x):
    return np.cumsum(np.sin(x))


@pytest.mark.parametrize(("function", "made", "args"), CASES)
def test_golden(golden, function, made, args):
    source = made.source(*args)
    compile(source, function.__name__, "exec")
    assert "tapeless" not in source
    assert max(map(len, source.splitlines())) <= 100
    golden(f"batched_{function.__name__}.py", source)
