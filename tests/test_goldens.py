"""One golden of emitted source for each kind of construct; read them like code in review."""

from dataclasses import dataclass

import numpy as np
import pytest

import tapeless

pytestmark = pytest.mark.every_case

VECTOR = np.array([0.1, 0.2, 0.3])
MATRIX = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
CASES = []


def golden_of(*args, transform=tapeless.grad):
    """The emitted source of the decorated function, transformed, is kept as a golden."""

    def register(function):
        CASES.append(pytest.param(function, args, transform, id=function.__name__))
        return function

    return register


@golden_of(1.0)
def logistic(x):
    return np.exp(x) / (np.exp(x) + 1)


@golden_of(
    {"w1": np.ones((3, 4)), "b1": np.ones(4), "w2": np.ones((4, 2)), "b2": np.ones(2)},
    np.ones((5, 3)),
    np.ones((5, 2)),
    transform=tapeless.value_and_grad,
)
def dict_parameters(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    pred = hidden @ params["w2"] + params["b2"]
    return np.mean((pred - y) ** 2)


@golden_of(1.0)
def branch(x):
    if x > 0:
        y = np.sin(x)
    elif x < -1:
        y = x**3
    else:
        y = 2 * x
    return y * x


@golden_of(0.5, 1.0, 10)
def loop_with_branch(k, x, n):
    for _ in range(n):
        if x > 0:  # noqa: SIM108, a branch is what is shown
            x = x - k * np.sin(x)
        else:
            x = x + k
    return x


@golden_of(1.5, transform=tapeless.value_and_grad)
def while_by_data(x):
    steps = 0
    while x < 100 and steps < 20:
        x = x * x + 0.1
        steps += 1
    return x


@golden_of(np.ones(6), 3)
def in_place_stencil(u, steps):
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return np.sum(u**2)


@golden_of(MATRIX)
def views(m):
    m = m.copy()
    row = m[0]
    row *= 2.0
    m.T[1] = np.sin(row[1])
    return np.sum(m * m)


@golden_of(VECTOR)
def appended_list(v):
    total = 0.0
    kept = []
    for e in v:
        total = total + np.sin(e)
        kept.append(total)
    return np.sum(np.array(kept) ** 2)


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


@golden_of(1.5)
def static_recursion(x):
    return power(x, 3)


@golden_of(VECTOR, 2.0, transform=lambda f: tapeless.grad(f, argnums=(0, 1)))
def closure(v, scale):
    def stretched(a):
        return np.tanh(a * scale)

    return np.sum(stretched(v) * stretched(2 * v))


@golden_of(2.0)
def print_and_raise(x):
    print("the argument is", x)  # noqa: T201, as above
    if x < 0:
        raise ValueError(f"no root of {x}")
    return np.sqrt(x)


@golden_of(VECTOR)
def early_return_from_a_loop(v):
    total = 0.0
    for e in v:
        total = total + e * e
        if total > 1:
            return np.log(total)
    return total


@golden_of(MATRIX, VECTOR, transform=lambda f: tapeless.grad(f, argnums=(0, 1)))
def broadcasting_and_reductions(m, v):
    centred = m - m.mean(axis=1, keepdims=True)
    return np.sum(np.max(centred * v, axis=0))


@golden_of(VECTOR, np.array([2, 0, 2]))
def fancy_indexing(v, k):
    v[k] = v[k] * 2
    return np.sum(v[v > 0.25] ** 2)


@dataclass
class Pendulum:
    length: float
    angle: float


@golden_of(Pendulum(1.0, 0.5))
def dataclass_argument(p):
    return -9.81 * p.length * np.cos(p.angle)


@golden_of(VECTOR, 2 * VECTOR, transform=tapeless.jvp_fn)
def forward_mode(v):
    v[0] = v[1] * v[2]
    return np.cumsum(np.sin(v))


@golden_of(MATRIX @ MATRIX.T, VECTOR[:2], 5, transform=lambda f: tapeless.grad(f, argnums=(0, 1)))
def recurrence(a, x, n):
    for _ in range(n):
        x = np.tanh(a @ x)
    return np.sum(x)


@golden_of(0.5, transform=lambda f: tapeless.grad(tapeless.grad(f)))
def second_derivative(x):
    for _ in range(3):
        x = np.sin(x)
    return x


@pytest.mark.parametrize(("function", "args", "transform"), CASES)
def test_golden(golden, function, args, transform):
    source = transform(function).source(*args)
    compile(source, function.__name__, "exec")
    assert "tapeless" not in source
    assert max(map(len, source.splitlines())) <= 100
    golden(f"{function.__name__}.py", source)
