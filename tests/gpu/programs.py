"""Programs for a GPU: plain NumPy, arguments of small sizes, and how near the results must be.

Expected values are those of NumPy, which runs the same function; for gradients, differences of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tapeless
from tapeless import grad, vmap

_rng = np.random.default_rng(29)
normal, integers, uniform = _rng.normal, _rng.integers, _rng.uniform


def s1(x):
    return np.sin(x) + np.cos(x)


def s2(x):
    return x + x * x + 3


def s3(x):
    for _ in range(10):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


def s4(x):
    return x * x + x * x.T


def sum_of_s3(x):
    return np.sum(s3(x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def cross_entropy(z, labels):
    e = z - np.max(z, axis=1, keepdims=True)
    n = z.shape[0]
    return np.sum(np.log(np.sum(np.exp(e), axis=1)) - e[np.arange(n), labels]) / n


def layer_norm(x, g, b):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-5) * g + b


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)) @ v


def attention_loss(q, k, v):
    return np.sum(attention(q, k, v) ** 2)


def mlp_loss(w1, b1, w2, b2, x, y):
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def logistic_loss(w, x, y):
    z = x @ w
    return np.mean(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - z * y)


def kepler(m, ecc):
    e, d = m, 1.0
    while abs(d) > 1e-12:
        d = (e - ecc * np.sin(e) - m) / (1 - ecc * np.cos(e))
        e = e - d
    return e


def mandelbrot(a, b):
    x = y = 0.0
    n = 0
    while n < 60 and x * x + y * y < 4:
        x, y = x * x - y * y + a, 2 * x * y + b
        n += 1
    return n


def lorenz(s, n):
    x, y, z = s
    for _ in range(n):
        dx, dy, dz = 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x + y + z


def nbody(x, m):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.sum(d * d, axis=-1) + 0.01
    return np.sum(d * (m[None, :] / (r2 * np.sqrt(r2)))[:, :, None], axis=1)


def nbody_loss(x, m):
    return np.sum(nbody(x, m) ** 2)


def pair_energy(x):
    e, n = 0.0, len(x)
    for i in range(n):
        for j in range(i):
            d = x[i] - x[j]
            e += 1 / (np.sum(d * d) + 1)
    return e


def conjugate_gradients(a, b, tol):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs = r, r @ r
    while rs > tol:
        ap = a @ p
        step = rs / (p @ ap)
        x, r = x + step * p, r - step * ap
        new = r @ r
        p, rs = r + (new / rs) * p, new
    return x


def heat(u, steps):
    for _ in range(steps):
        u = u.copy()
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_2d(u, steps):
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        v = u[1:-1, 1:-1] + 0.1 * (around - 4 * u[1:-1, 1:-1])
        u = u.copy()
        u[1:-1, 1:-1] = v
    return u


def heat_loss(u):
    return np.sum(heat_2d(u, 3) ** 2)


def recurrent(w, xs, n):
    h = np.zeros((xs.shape[1], xs.shape[2]))
    for t in range(n):
        h = np.tanh(h @ w + xs[t])
    return h


def black_scholes(s, k, t):
    d1 = (np.log(s / k) + 0.07 * t) / (0.2 * np.sqrt(t))
    d2 = d1 - 0.2 * np.sqrt(t)
    return s * 0.5 * (1 + np.tanh(0.8 * d1)) - k * np.exp(-0.05 * t) * 0.5 * (1 + np.tanh(0.8 * d2))


def black_scholes_sum(s, k, t):
    return np.sum(black_scholes(s, k, t))


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def newton_2d(x):
    for _ in range(9):
        v = np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])
        x = x - np.linalg.solve(np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]]), v)
    return x


def histogram(x, k):
    h = np.zeros(100)
    np.add.at(h, k, x)
    return h


def last_store_wins(x, k):
    out = np.zeros(50)
    out[k] = x
    return out


def gather(x, k):
    return x[k] * 2


def gather_loss(x, k):
    return np.sum(np.sin(x[k]) * 2)


def masked_sum(x):
    return np.sum(x[x > 0])


def standardise(x):
    return (x - x.mean(0)) / x.std(0)


def complex_map(z):
    for _ in range(5):
        z = z * z * 0.3 + np.exp(1j * z.real) / (2 + np.abs(z))
    return z


def complex_energy(z):
    return np.sum(np.abs(z * z + 1) ** 2)


def integer_widths(a, b, c):
    return (a + b) * 2, b // c, b % c, (a ^ c) << 1, np.maximum(a, c)


def floor_operations(a, b):
    return (a // b) + (a % b) * (a << 2) - (b ^ 3)


def median_of_rows(x):
    return np.sort(x, axis=1)[:, x.shape[1] // 2]


def order_of_columns(x):
    return np.argsort(x)


def solve_in_rows(a, b):
    return np.linalg.solve(a, b[:, :, None])[:, :, 0]


def collatz(n):
    return 0 if n <= 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


def polynomial_horner(c, x):
    y = np.zeros_like(x)
    for k in range(c.shape[0]):
        y = y * x + c[k]
    return y


def random_walk(x):
    key = tapeless.random.key(7)
    return x + tapeless.random.normal(key, x.shape)


def where_transposed(a, b):
    return np.where(a > b.T, a, b.T + 1)


def slope_of_transposed(x):
    return np.sum(np.sin(x) * x.T)


def sums_with_transposed(a, b):
    product = a * b.T
    return np.sum(product), np.sum(product, axis=0), np.sum(product, axis=1)


def softmax_with_transposed(a, b):
    z = a + b.T
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def several_sums_with_transposed(a, b):
    product = a * b.T
    sums = np.sum(product, axis=1)
    return sums, np.max(product, axis=1), np.sum(product * product, axis=1), np.sum(sums * sums)


def exponential_of_sums(a, b):
    return np.sum(np.exp(np.sum(a * b.T, axis=1) / 100))


def rows_of_loops_over_transposed(a, b):
    out, total = np.zeros(a.shape[0]), 0.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * b[j, i]
        out[i] = row if row > 0 else -2 * row
        total += row
    return out, total


def symmetric_stack(x):
    return x + np.swapaxes(x, 1, 2)


def axes_reversed(x):
    return x.transpose(2, 1, 0) - np.ones(x.shape[::-1])


def gathered_and_transposed(a, b, k):
    return a[:, k] * b.T


def loops_over_transposed(a, b):
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[j, i]
    return out


def split_into_heads(x):
    return x.reshape(9, 40, 5, 10).transpose(0, 2, 1, 3) * 1.0


def sums_of_twenty(x):
    return x.reshape(-1, 20).sum(axis=1)


def complex_products(z):
    return np.prod(z), np.prod(z, axis=0), np.prod(z, axis=1), np.sum(z)


@dataclass(frozen=True)
class Program:
    """A function with arguments.

    function  plain NumPy
    args      arguments of small sizes
    batched   axes of the arguments for `vmap`; None: no batch
    wrt       the argument that it is differentiated by; None: it is not
    rtol      relative to the largest number of the result
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    batched: tuple[int | None, ...] | None = None
    wrt: int | None = None
    rtol: float = 1e-11

    def arguments(self) -> tuple[Any, ...]:
        """Fresh arguments."""
        return copy.deepcopy(self.args)

    @property
    def transformed(self) -> Callable[..., Any]:
        """The function that runs on the GPU."""
        f = self.function if self.wrt is None else grad(self.function, argnums=self.wrt)
        return f if self.batched is None else vmap(f, in_axes=self.batched)

    def expected(self) -> Any:
        """The value by NumPy alone; of derivatives by central differences."""
        if self.batched is None:
            return self._single(self.arguments())
        pairs = [*zip(self.arguments(), self.batched, strict=True)]
        n = next(len(x) for x, axis in pairs if axis == 0)
        return np.array(
            [self._single([x if a is None else x[k] for x, a in pairs]) for k in range(n)]
        )

    def _single(self, args: Any) -> Any:
        if self.wrt is None:
            return self.function(*args)
        return differences(self.function, list(args), self.wrt)


def differences(f: Callable[..., Any], args: list[Any], k: int, h: float = 1e-4) -> np.ndarray:
    """The gradient by central differences of fourth order."""
    x = np.array(args[k], float)
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        values = []
        for step in (-2, -1, 1, 2):
            args[k] = x.copy() if x.ndim else float(x) + step * h
            if x.ndim:
                args[k][i] += step * h
            values.append(f(*args))
        out[i] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    return out


def _positive(n: int) -> np.ndarray:
    a = normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


SLOPE = 1e-7  # by differences
SINGLE = 4e-6
_logits, _labels = normal(size=(17, 11)), integers(0, 11, 17)
_qkv = (normal(size=(9, 6)), normal(size=(9, 6)), normal(size=(9, 6)))
_mlp = (
    *(normal(size=(7, 9)), normal(size=9), normal(size=(9, 4)), normal(size=4)),
    *(normal(size=(12, 7)), normal(size=(12, 4))),
)
_orbits = (np.linspace(0, 6, 301), np.linspace(0, 0.9, 301))
_options = (uniform(50, 150, 130), uniform(50, 150, 130), uniform(0.1, 2, 130))
PROGRAMS = {
    "s1": Program(s1, (normal(size=(37, 53)),)),
    "s2": Program(s2, (normal(size=(37, 53)),)),
    "s2-float32": Program(s2, (normal(size=(37, 53)).astype("f4"),), rtol=SINGLE),
    "s3": Program(s3, (normal(size=1003),)),
    "s3-float32": Program(s3, (normal(size=1003).astype("f4"),), rtol=SINGLE),
    "s3-matrix": Program(s3, (normal(size=(37, 53)),)),
    "s3-gradient": Program(sum_of_s3, (normal(size=103),), wrt=0, rtol=SLOPE),
    "s4": Program(s4, (normal(size=(45, 45)),)),
    "s4-float32": Program(s4, (normal(size=(70, 70)).astype("f4"),), rtol=SINGLE),
    "transposed-stores": Program(where_transposed, (normal(size=(45, 70)), normal(size=(70, 45)))),
    "transposed-gradient": Program(
        slope_of_transposed, (normal(size=(33, 33)),), wrt=0, rtol=SLOPE
    ),
    "transposed-sums": Program(
        sums_with_transposed, (normal(size=(45, 70)), normal(size=(70, 45)))
    ),
    "transposed-stack": Program(symmetric_stack, (normal(size=(3, 40, 40)),)),
    "transposed-axes": Program(axes_reversed, (normal(size=(34, 3, 50)),)),
    "transposed-complex": Program(
        lambda z: z * z.T.conj(), (normal(size=(40, 40)) + 1j * normal(size=(40, 40)),)
    ),
    "transposed-softmax": Program(
        softmax_with_transposed, (normal(size=(45, 70)), normal(size=(70, 45)))
    ),
    "transposed-several-sums": Program(
        several_sums_with_transposed, (normal(size=(45, 70)), normal(size=(70, 45)))
    ),
    "transposed-sums-gradient": Program(
        exponential_of_sums, (normal(size=(13, 40)), normal(size=(40, 13))), wrt=1, rtol=SLOPE
    ),
    "transposed-rows-of-loops": Program(
        rows_of_loops_over_transposed, (normal(size=(45, 70)), normal(size=(70, 45)))
    ),
    "transposed-gather": Program(
        gathered_and_transposed,
        (normal(size=(45, 9)), normal(size=(70, 45)), integers(-9, 9, 70)),
    ),
    "transposed-loops": Program(
        loops_over_transposed, (uniform(-1, 1, (45, 70)), normal(size=(70, 45)))
    ),
    "heads": Program(split_into_heads, (normal(size=(9, 40, 50)),)),
    "sums-of-twenty": Program(sums_of_twenty, (normal(size=(40, 100)),)),
    "empty": Program(s2, (np.zeros((0, 3)),)),
    "softmax": Program(softmax, (normal(size=(37, 100)),)),
    "softmax-narrow": Program(softmax, (normal(size=(300, 3)),)),
    "softmax-wide": Program(softmax, (normal(size=(5, 1000)),)),
    "softmax-one-row": Program(softmax, (normal(size=(1, 33)),)),
    "cross-entropy": Program(cross_entropy, (_logits, _labels)),
    "cross-entropy-gradient": Program(cross_entropy, (_logits, _labels), wrt=0, rtol=SLOPE),
    "layer-norm": Program(layer_norm, (normal(size=(33, 100)), normal(size=100), normal(size=100))),
    "attention": Program(attention, _qkv),
    "attention-gradient": Program(attention_loss, _qkv, wrt=1, rtol=SLOPE),
    "mlp": Program(mlp_loss, _mlp),
    "mlp-gradient": Program(mlp_loss, _mlp, wrt=0, rtol=SLOPE),
    "logistic-gradient": Program(
        logistic_loss,
        (normal(size=9), normal(size=(70, 9)), integers(0, 2, 70).astype(float)),
        wrt=0,
        rtol=SLOPE,
    ),
    "kepler": Program(kepler, _orbits, (0, 0)),
    "kepler-gradient": Program(kepler, (_orbits[0][:64], np.full(64, 0.3)), (0, 0), 0, SLOPE),
    "mandelbrot": Program(mandelbrot, (uniform(-2, 1, 300), uniform(-1, 1, 300)), (0, 0)),
    "lorenz": Program(lorenz, (normal(size=(70, 3)), 50), (0, None), rtol=1e-9),
    "lorenz-gradient": Program(lorenz, (normal(size=(40, 3)), 20), (0, None), 0, SLOPE),
    "n-body": Program(nbody, (normal(size=(60, 3)), uniform(1, 2, 60))),
    "n-body-gradient": Program(
        nbody_loss, (normal(size=(12, 3)), uniform(1, 2, 12)), wrt=0, rtol=1e-5
    ),
    "pairs": Program(pair_energy, (normal(size=(20, 3)),)),
    "pairs-gradient": Program(pair_energy, (normal(size=(12, 3)),), wrt=0, rtol=SLOPE),
    "conjugate-gradients": Program(
        conjugate_gradients, (_positive(30), normal(size=30), 1e-10), rtol=1e-7
    ),
    "heat": Program(heat, (normal(size=500), 7)),
    "heat-2d": Program(heat_2d, (normal(size=(40, 50)), 5)),
    "heat-gradient": Program(heat_loss, (normal(size=(9, 11)),), wrt=0, rtol=SLOPE),
    "recurrent": Program(recurrent, (normal(size=(10, 10)) * 0.3, normal(size=(6, 5, 10)), 6)),
    "black-scholes": Program(black_scholes, _options),
    "black-scholes-gradient": Program(black_scholes_sum, _options, wrt=0, rtol=SLOPE),
    "rosenbrock-gradient": Program(rosenbrock, (normal(size=60),), wrt=0, rtol=SLOPE),
    "newton": Program(newton_2d, (normal(size=(70, 2)) + 2,), (0,), rtol=1e-8),
    "histogram": Program(histogram, (normal(size=900), integers(0, 100, 900))),
    "last-store-wins": Program(last_store_wins, (normal(size=300), integers(0, 50, 300))),
    "gather": Program(gather, (normal(size=100), integers(-100, 100, 300))),
    "gather-gradient": Program(
        gather_loss, (normal(size=30), integers(0, 30, 100)), wrt=0, rtol=SLOPE
    ),
    "masked-sum": Program(masked_sum, (normal(size=900),)),
    "standardise": Program(standardise, (normal(size=(200, 30)),)),
    "column-sums": Program(lambda x: np.sum(x, axis=0), (normal(size=(300, 70)),)),
    "whole-mean": Program(lambda x: x - np.mean(x), (normal(size=2000),)),
    "cumulative-sum": Program(lambda x: np.cumsum(x) * 2, (normal(size=500),)),
    "argmax": Program(lambda x: np.argmax(x, axis=1), (normal(size=(50, 30)),)),
    "transpose": Program(lambda x: np.sin(x.T) * 2, (normal(size=(40, 70)),)),
    "outer": Program(
        lambda a, b: np.exp(-((a[:, None] - b[None, :]) ** 2)).sum(axis=1),
        (normal(size=60), normal(size=80)),
    ),
    "where": Program(lambda x: np.where(x > 0, np.log(np.abs(x)), np.exp(x)), (normal(size=500),)),
    "clip": Program(lambda x: np.clip(x, -1, 1) ** 2 + np.sign(x) * x, (normal(size=500),)),
    "convolve": Program(
        lambda x, w: np.convolve(x, w, "valid"), (normal(size=300), normal(size=5))
    ),
    "horner": Program(polynomial_horner, (normal(size=6), normal(size=100))),
    "complex": Program(complex_map, (normal(size=200) + 1j * normal(size=200),)),
    "complex-energy": Program(complex_energy, (normal(size=200) + 1j * normal(size=200),)),
    "complex-products": Program(
        complex_products, (np.exp(1j * normal(size=(300, 40))) * uniform(0.9, 1.1, (300, 40)),)
    ),
    "complex-products-single": Program(
        complex_products,
        (np.exp(1j * normal(size=(30, 4))).astype("c8"),),
        rtol=1e-5,
    ),
    "integer-widths": Program(
        integer_widths,
        (
            integers(-100, 100, 200).astype("i1"),
            integers(-9999, 9999, 200).astype("i4"),
            integers(1, 200, 200).astype("u1"),
        ),
    ),
    "floor-operations": Program(floor_operations, (integers(-100, 100, 500), integers(1, 10, 500))),
    "modulo": Program(lambda a, b: np.mod(a, b), (normal(size=500), normal(size=500))),
    "float32-integers": Program(
        lambda a, k: a * k + np.sum(a) * k,
        (normal(size=500).astype("f4"), integers(0, 9, 500).astype("i4")),
        rtol=SINGLE,
    ),
    "sort-rows": Program(median_of_rows, (normal(size=(20, 9)),)),
    "argsort": Program(order_of_columns, (normal(size=200),)),
    "solve-rows": Program(
        solve_in_rows, (normal(size=(40, 3, 3)) + 4 * np.eye(3), normal(size=(40, 3)))
    ),
    "recursion": Program(collatz, (integers(1, 60, 100),), (0,)),
    "random": Program(random_walk, (normal(size=100),)),
}
