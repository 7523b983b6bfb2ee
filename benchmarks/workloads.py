"""What the table measures: small programs, array code, training steps, loops over time.

Each is a maker of the function from a module like NumPy. Where JAX cannot run the loop as it is
written, or would unroll it for minutes, `jax` makes the function that its users would write, and
`torch` does for PyTorch, whose derivatives do not go through stores to arrays.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """make: a module like NumPy -> a function. transform: what is measured of it, in words that
    `systems` knows. arguments: (size, generator) -> its arguments; the last of `sizes` is that of
    the table."""

    make: Callable[[Any], Callable[..., Any]]
    transform: str
    arguments: Callable[..., tuple[Any, ...]]
    sizes: tuple[int, ...]
    argnums: int | tuple[int, ...] = 0
    in_axes: Any = 0
    jax: Callable[[Any], Callable[..., Any]] | None = None
    torch: Callable[[Any], Callable[..., Any]] | None = None


def single(*arrays):
    return tuple(np.asarray(x, np.float32) for x in arrays)


# -- array code


def sine_and_cosine(np):
    def fn(x, y):
        return np.sin(x) + np.cos(y)

    return fn


def cube(np):
    return lambda x: x * x * x


def recurrence(np):
    def fn(x):
        for _ in range(10):
            x = 0.5 * x + 0.1 * np.sin(x)
        return x

    return fn


def recurrence_loss(np):
    step = recurrence(np)
    return lambda x: np.sum(step(x))


def transposed(np):
    return lambda x: (x + x * x + 3) * (x * x + x * x.T)


def sinc(np):
    return lambda x: np.sin(x) / x


def product(np):
    return lambda x: np.dot(x, x)


def logistic(np):
    return lambda x: 1 / (1 + np.exp(-x))


def rosenbrock(np):
    return lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


# -- learning


def perceptron(np):
    def loss(params, x, y):
        for w, b in params[:-1]:
            x = np.tanh(x @ w + b)
        w, b = params[-1]
        scores = x @ w + b
        high = np.max(scores, axis=1, keepdims=True)
        total = np.log(np.sum(np.exp(scores - high), axis=1)) + high[:, 0]
        return np.mean(total - np.sum(scores * y, axis=1))

    return loss


def perceptron_arguments(widths):
    def arguments(batch, rng):
        shapes = list(itertools.pairwise(widths))
        params = [single(rng.normal(size=s) / np.sqrt(s[0]), np.zeros(s[1])) for s in shapes]
        classes = rng.integers(widths[-1], size=batch)
        return params, *single(rng.normal(size=(batch, widths[0])), np.eye(widths[-1])[classes])

    return arguments


def recurrent(np):
    def loss(params, xs):
        inner, outer, b = params
        h = np.zeros((xs.shape[1], outer.shape[0]), xs.dtype)
        total = 0.0
        for t in range(len(xs)):
            h = np.tanh(xs[t] @ inner + h @ outer + b)
            total = total + np.mean(h**2)
        return total / len(xs)

    return loss


def recurrent_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def loss(params, xs):
        inner, outer, b = params

        def step(h, x):
            h = np.tanh(x @ inner + h @ outer + b)
            return h, np.mean(h**2)

        h = np.zeros((xs.shape[1], outer.shape[0]), xs.dtype)
        return np.mean(lax.scan(step, h, xs)[1])

    return loss


def recurrent_arguments(batch, rng):
    shapes = ((16, 64), (64, 64), (64,))
    return list(single(*(0.1 * rng.normal(size=s) for s in shapes))), *single(
        rng.normal(size=(200, batch, 16))
    )


def mixture(np):
    def loss(weights, means, scales, x):
        z = (x[:, None, :] - means) * np.exp(scales)
        scores = weights + np.sum(scales, axis=1) - 0.5 * np.sum(z**2, axis=2)
        high = np.max(scores, axis=1, keepdims=True)
        return -np.sum(np.log(np.sum(np.exp(scores - high), axis=1)) + high[:, 0])

    return loss


def mixture_arguments(n, rng):
    return *(rng.normal(size=s) for s in ((25,), (25, 10), (25, 10))), rng.normal(size=(n, 10))


# -- loops over time


def flow(np):
    def energy(u):
        u = u.copy()
        for _ in range(200):
            u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
        return np.sum(u**2)

    return energy


def flow_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def energy(u):
        def step(_, u):
            return u.at[1:-1].set(u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2]))

        return np.sum(lax.fori_loop(0, 200, step, u) ** 2)

    return energy


def flow_by_parts(np):
    def energy(u):
        for _ in range(200):
            inner = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
            u = np.concatenate([u[:1], inner, u[-1:]])
        return np.sum(u**2)

    return energy


def attractor(np):
    def end(sigma, rho, beta, steps):
        x, y, z = 1.0, 1.0, 1.0
        for _ in range(steps):
            x, y, z = (
                x + 0.001 * sigma * (y - x),
                y + 0.001 * (x * (rho - z) - y),
                z + 0.001 * (x * y - beta * z),
            )
        return x

    return end


def attractor_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def end(sigma, rho, beta, steps):
        def step(state, _):
            x, y, z = state
            x, y, z = (
                x + 0.001 * sigma * (y - x),
                y + 0.001 * (x * (rho - z) - y),
                z + 0.001 * (x * y - beta * z),
            )
            return (x, y, z), None

        one = np.asarray(1.0)
        return lax.scan(step, (one, one, one), None, length=steps)[0][0]

    return end


def square(n, rng):
    return single(rng.normal(size=(n, n)))


MATRICES = (100, 300, 1000, 3000)
POINTS = (1000, 10_000, 100_000, 1_000_000)
WORKLOADS = {
    "S1 sin(x) + cos(y)": Workload(
        sine_and_cosine,
        "jit",
        lambda n, rng: single(rng.normal(size=(n, n)), rng.normal(size=n)),
        MATRICES,
    ),
    "S2 x * x * x": Workload(cube, "jit", square, (100, 500, 2000, 8000)),
    "S3 recurrence": Workload(recurrence, "jit", square, (100, 300, 600, 1000)),
    "S3 its gradient": Workload(recurrence_loss, "jit grad", square, (100, 300, 600, 1000)),
    "S4 transposed": Workload(transposed, "jit", square, MATRICES),
    "S5 sinc, slopes": Workload(
        sinc, "jit vmap grad", lambda n, rng: single(np.linspace(0.5, 9, n)), (50, 100, 200, 400)
    ),
    "S5 sinc, one slope": Workload(sinc, "jit grad", lambda n, rng: (np.float32(0.7),), (1,)),
    "S6 product": Workload(product, "jit", square, (100, 300, 600, 1000)),
    "S7 logistic, one slope": Workload(logistic, "jit grad", lambda n, rng: (0.3,), (1,)),
    "M1 perceptron": Workload(
        perceptron,
        "jit value_and_grad",
        perceptron_arguments((784, 512, 512, 10)),
        (16, 32, 64, 128),
    ),
    "M2 small perceptron": Workload(
        perceptron, "jit value_and_grad", perceptron_arguments((4, 10, 3)), (4, 8, 16, 32)
    ),
    "M3 recurrent, one": Workload(
        recurrent, "jit grad", recurrent_arguments, (1,), jax=recurrent_by_scan
    ),
    "M3 recurrent, batch": Workload(
        recurrent, "jit grad", recurrent_arguments, (4, 8, 16, 32), jax=recurrent_by_scan
    ),
    "A1 mixture": Workload(
        mixture, "jit grad", mixture_arguments, (100, 300, 1000, 3000), argnums=(0, 1, 2)
    ),
    "L1 flow": Workload(
        flow,
        "jit grad",
        lambda n, rng: (1 + 0.5 * np.sin(np.linspace(0, 6.28, n)),),
        (100, 300, 1000, 3000),
        jax=flow_by_scan,
        torch=flow_by_parts,
    ),
    "L2 attractor": Workload(
        attractor,
        "jit grad",
        lambda n, rng: (10.0, 28.0, 8 / 3, n),
        (100, 1000, 3000, 10_000),
        argnums=(0, 1, 2),
        jax=attractor_by_scan,
    ),
    "L6 Rosenbrock": Workload(rosenbrock, "jit grad", lambda n, rng: (rng.normal(size=n),), POINTS),
}
