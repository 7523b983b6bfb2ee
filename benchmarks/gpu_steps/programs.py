"""Lists the programs that are compared on a GPU: texts, sizes, floors."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """make: a module like NumPy -> a function. arguments: (generator, dtype, small) -> a tuple.

    `transform` says what is measured of the function, in words that `apply` knows. `jax` and
    `torch` are makers from their modules where their users write another text. `traffic` is bytes
    and `work` floating-point operations that no version can do without, of the arguments.
    `batched`: rows of the first axis are independent, so that only some of them are compared with
    the reference.
    """

    make: Callable[[Any], Callable[..., Any]]
    arguments: Callable[..., tuple[Any, ...]]
    transform: str = ""
    jax: Callable[[Any], Callable[..., Any]] | None = None
    torch: Callable[[Any], Callable[..., Any]] | None = None
    traffic: Callable[..., float] = lambda *args: 0.0
    work: Callable[..., float] = lambda *args: 0.0
    batched: bool = False
    dtypes: tuple[str, ...] = ("float32", "float64")
    tolerance: float = 1.0  # times that of the dtype


def apply(library, transform, function, argnums=0):
    """A function transformed by a library that has JAX's names."""
    for word in reversed(transform.split()):
        if word == "vmap":
            function = library.vmap(function)
        elif word == "vmap0":
            function = library.vmap(function, in_axes=(0, None))
        else:
            function = getattr(library, word)(function, argnums)
    return function


def normal(*shapes):
    """Arguments that are normal; `small` divides the first axis."""

    def arguments(rng, dtype, small=False):
        cut = [(max(2, n // 100), *rest) if small else (n, *rest) for n, *rest in shapes]
        return tuple(rng.standard_normal(shape, np.float32).astype(dtype) for shape in cut)

    return arguments


def square(n):
    return lambda rng, dtype, small=False: (
        rng.standard_normal((n // 30,) * 2 if small else (n, n), np.float32).astype(dtype),
    )


def uniform(n, *bounds):
    def arguments(rng, dtype, small=False):
        return tuple(rng.uniform(a, b, n // 1000 if small else n).astype(dtype) for a, b in bounds)

    return arguments


def twice(*args):
    """Read once and stored once."""
    return 2.0 * args[0].nbytes


def once(*args):
    return float(args[0].nbytes)


def same(make):
    """The text for NumPy serves PyTorch too."""
    return lambda torch: make(torch)


# -- points


def s1(np):
    return lambda x, y: np.sin(x) + np.cos(y)


def s1_arguments(rng, dtype, small=False):
    n = 200 if small else 5000
    return (
        rng.standard_normal((n, n), np.float32).astype(dtype),
        rng.standard_normal(n).astype(dtype),
    )


def sin_cos(np):
    return lambda x: np.sin(x) + np.cos(x)


def cube(np):
    return lambda x: x * x * x


def polynomial(np):
    return lambda x: x + x * x + 3


def transposed(np):
    return lambda x: x * x + x * x.T


def where_transposed(np):
    return lambda a, b: np.where(a > b.T, a, b.T + 1)


def transposed_slope(np):
    return lambda x: np.sum(np.sin(x) * x.T)


def transposed_sum(np):
    return lambda a, b: np.sum(a * b.T)


def row_sums_transposed(np):
    return lambda a, b: np.sum(a * b.T, 1)


def softmax_transposed(np):
    return lambda a, b: softmax(np)(a + b.T)


def counts_in_bins(np):
    return lambda x: np.histogram(x, 100, (-3.0, 3.0))[0]


def rows_once(np):
    return lambda x: np.unique(np.rint(x), axis=0)


def complex_products(np):
    return lambda x: np.abs(np.prod(1 + 0.001j * x, axis=0))


def symmetric_stack(np):
    return lambda x: x + np.swapaxes(x, 1, 2)


def heads(np):
    def fn(x):
        batch, steps = x.shape[0], x.shape[1]
        return x.reshape(batch, steps, 12, 64).transpose(0, 2, 1, 3) * 2.0

    return fn


def two_squares(n):
    def arguments(rng, dtype, small=False):
        (a,) = square(n)(rng, dtype, small)
        return a, rng.standard_normal(a.shape, np.float32).astype(dtype)

    return arguments


def stack(count, n):
    def arguments(rng, dtype, small=False):
        shape = (2, 40, 40) if small else (count, n, n)
        return (rng.standard_normal(shape, np.float32).astype(dtype),)

    return arguments


def s4(np):
    return lambda x: (x + x * x + 3) * (x * x + x * x.T)


def s3(np):
    def fn(x):
        for _ in range(10):
            x = 0.5 * x + 0.1 * np.sin(x)
        return x

    return fn


def s3_loss(np):
    def fn(x):
        for _ in range(10):
            x = 0.5 * x + 0.1 * np.sin(x)
        return np.sum(x)

    return fn


def black_scholes(np):
    def fn(s, k, t):
        d1 = (np.log(s / k) + 0.07 * t) / (0.2 * np.sqrt(t))
        d2 = d1 - 0.2 * np.sqrt(t)
        return s * (0.5 + 0.5 * np.tanh(0.8 * d1)) - k * np.exp(-0.05 * t) * (
            0.5 + 0.5 * np.tanh(0.8 * d2)
        )

    return fn


# -- rows


def softmax(np):
    def fn(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    return fn


def layer_norm(np):
    def fn(x, scale, shift):
        centred = x - np.mean(x, axis=1, keepdims=True)
        variance = np.mean(centred * centred, axis=1, keepdims=True)
        return centred / np.sqrt(variance + 1e-5) * scale + shift

    return fn


def layer_norm_torch(torch):
    return lambda x, scale, shift: torch.nn.functional.layer_norm(
        x, x.shape[1:], scale, shift, 1e-5
    )


def layer_norm_arguments(n, c):
    return lambda rng, dtype, small=False: (
        *normal((n, c))(rng, dtype, small),
        *normal((c,), (c,))(rng, dtype),
    )


def cross_entropy(np):
    def fn(x, labels):
        e = x - np.max(x, axis=1, keepdims=True)
        picked = e[np.arange(x.shape[0]), labels]
        return np.mean(np.log(np.sum(np.exp(e), axis=1)) - picked)

    return fn


def cross_entropy_jax(jax):
    def fn(x, labels):
        logp = jax.nn.log_softmax(x)
        return -jax.numpy.mean(jax.numpy.take_along_axis(logp, labels[:, None], 1))

    return fn


def cross_entropy_torch(torch):
    return lambda x, labels: torch.nn.functional.cross_entropy(x, labels)


def labelled(n, c):
    def arguments(rng, dtype, small=False):
        x = normal((n, c))(rng, dtype, small)[0]
        return x, rng.integers(0, c, len(x))

    return arguments


def column_sums(np):
    return lambda x: np.sum(x, axis=0)


def total(np):
    return lambda x: np.sum(x)


# -- products


def dot(np):
    return lambda x, y: np.dot(x, y)


def mlp(np):
    def fn(params, x, y):
        for w, b in params[:-1]:
            x = np.maximum(np.dot(x, w) + b, 0)
        w, b = params[-1]
        logits = np.dot(x, w) + b
        m = np.max(logits, axis=1, keepdims=True)
        logp = logits - m - np.log(np.sum(np.exp(logits - m), axis=1, keepdims=True))
        return -np.mean(np.sum(logp * y, axis=1))

    return fn


def recurrent(np):
    """A loop of the driver: 200 products of a matrix and a vector that need each other."""

    def fn(w, xs):
        state = np.zeros_like(xs[0])
        for k in range(xs.shape[0]):
            state = np.tanh(np.dot(w, state) + xs[k])
        return state

    return fn


def recurrent_jax(jax):
    np = jax.numpy

    def fn(w, xs):
        def step(state, x):
            return np.tanh(np.dot(w, state) + x), None

        return jax.lax.scan(step, np.zeros_like(xs[0]), xs)[0]

    return fn


def recurrent_arguments(rng, dtype, small=False):
    n = 20 if small else 1024
    w = rng.standard_normal((n, n)) / np.sqrt(n)
    return w.astype(dtype), rng.standard_normal((200, n)).astype(dtype)


def mlp_torch(torch):
    def fn(params, x, y):
        for w, b in params[:-1]:
            x = torch.relu(torch.addmm(b, x, w))
        w, b = params[-1]
        return -torch.mean(torch.sum(torch.log_softmax(torch.addmm(b, x, w), dim=1) * y, dim=1))

    return fn


def mlp_arguments(widths, batch):
    def arguments(rng, dtype, small=False):
        params = [
            ((rng.standard_normal((i, o)) / np.sqrt(i)).astype(dtype), np.zeros(o, dtype))
            for i, o in itertools.pairwise(widths)
        ]
        x = rng.standard_normal((batch, widths[0])).astype(dtype)
        return params, x, np.eye(widths[-1], dtype=dtype)[rng.integers(0, widths[-1], batch)]

    return arguments


def attention(np):
    def fn(q, k, v):
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(1.0 * q.shape[-1])
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)

    return fn


def attention_jax(jax):
    jnp = jax.numpy

    def fn(q, k, v):
        scores = jnp.matmul(q, jnp.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
        return jnp.matmul(jax.nn.softmax(scores), v)

    return fn


def attention_torch(torch):
    def fn(q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        return torch.matmul(torch.softmax(scores, -1), v)

    return fn


# -- loops of the user


def kepler(np):
    def fn(mean, ecc):
        e = mean + ecc * np.sin(mean)
        step = 1.0
        while abs(step) > 1e-12:
            step = (e - ecc * np.sin(e) - mean) / (1 - ecc * np.cos(e))
            e = e - step
        return e

    return fn


def kepler_jax(jax):
    jnp = jax.numpy

    def fn(mean, ecc):
        def body(carry):
            e, _ = carry
            step = (e - ecc * jnp.sin(e) - mean) / (1 - ecc * jnp.cos(e))
            return e - step, step

        start = mean + ecc * jnp.sin(mean), jnp.ones_like(mean)
        return jax.lax.while_loop(lambda c: jnp.abs(c[1]) > 1e-12, body, start)[0]

    return fn


def mandelbrot(np):
    def fn(cx, cy):
        x, y, n = 0.0, 0.0, 0.0
        while x * x + y * y < 4.0 and n < 200:
            x, y = x * x - y * y + cx, 2 * x * y + cy
            n = n + 1
        return n

    return fn


def mandelbrot_jax(jax):
    def fn(cx, cy):
        def body(c):
            x, y, n = c
            return x * x - y * y + cx, 2 * x * y + cy, n + 1

        def more(c):
            return (c[0] ** 2 + c[1] ** 2 < 4.0) & (c[2] < 200)

        return jax.lax.while_loop(more, body, (0 * cx, 0 * cy, 0 * cx))[2]

    return fn


STEPS = 1000


def lorenz(np):
    def fn(s):
        x, y, z = s[0], s[1], s[2]
        for _ in range(STEPS):
            dx = 10.0 * (y - x)
            dy = x * (28.0 - z) - y
            dz = x * y - 8.0 / 3.0 * z
            x, y, z = x + 0.001 * dx, y + 0.001 * dy, z + 0.001 * dz
        return x + y + z

    return fn


def lorenz_jax(jax):
    def fn(s):
        def body(_, c):
            x, y, z = c
            dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
            return x + 0.001 * dx, y + 0.001 * dy, z + 0.001 * dz

        x, y, z = jax.lax.fori_loop(0, STEPS, body, (s[0], s[1], s[2]))
        return x + y + z

    return fn


def n_body(np):
    def fn(x, mass):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=-1) + 0.01
        return np.sum(d * (mass[None, :] / (r2 * np.sqrt(r2)))[:, :, None], axis=1)

    return fn


def n_body_torch(torch):
    def fn(x, mass):
        d = x[None, :, :] - x[:, None, :]
        r2 = torch.sum(d * d, -1) + 0.01
        return torch.sum(d * (mass[None, :] / (r2 * torch.sqrt(r2)))[:, :, None], 1)

    return fn


def bodies(n):
    def arguments(rng, dtype, small=False):
        count = 64 if small else n
        return rng.standard_normal((count, 3)).astype(dtype), rng.uniform(1, 2, count).astype(dtype)

    return arguments


def n_body_in_loops(np):
    def fn(x, mass):
        out = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(len(x)):
                d = x[j] - x[i]
                r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01
                out[i] += mass[j] * d / (r2 * np.sqrt(r2))
        return out

    return fn


def heat_in_loops(np):
    def fn(u):
        v = np.zeros_like(u)
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + 0.1 * (around - 4 * u[i, j])
        return v

    return fn


def heat_by_slices(jax):
    def fn(u):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return jax.numpy.zeros_like(u).at[1:-1, 1:-1].set(inner + 0.1 * (around - 4 * inner))

    return fn


def heat_in_space(np):
    def fn(u):
        inner = u[1:-1, 1:-1, 1:-1]
        around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
        return inner + 0.1 * (around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * inner)

    return fn


def burgers(np):
    def fn(u0):
        n = u0.shape[0]
        u = u0.copy()
        old = np.zeros(n)
        for _ in range(500):
            for i in range(n):
                old[i] = u[i]
            for i in range(1, n - 1):
                u[i] = (
                    old[i]
                    - 0.2 * old[i] * (old[i] - old[i - 1])
                    + 0.1 * (old[i + 1] - 2 * old[i] + old[i - 1])
                )
        loss = 0.0
        for i in range(n):
            loss += u[i] * u[i]
        return loss / n

    return fn


def burgers_jax(jax):
    jnp = jax.numpy

    def fn(u):
        def body(_, u):
            m = u[1:-1]
            return u.at[1:-1].set(m - 0.2 * m * (m - u[:-2]) + 0.1 * (u[2:] - 2 * m + u[:-2]))

        u = jax.lax.fori_loop(0, 500, body, u)
        return jnp.mean(u * u)

    return fn


def heat(np):
    def fn(u):
        for _ in range(100):
            inner = u[1:-1, 1:-1]
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            new = u.copy()
            new[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner)
            u = new
        return u

    return fn


def heat_jax(jax):
    def fn(u):
        def body(_, u):
            inner = u[1:-1, 1:-1]
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            return u.at[1:-1, 1:-1].set(inner + 0.1 * (around - 4 * inner))

        return jax.lax.fori_loop(0, 100, body, u)

    return fn


def wave(rng, dtype, small=False):
    x = np.linspace(0, 2 * np.pi, 100 if small else 1000)
    return (
        (1 + 0.5 * np.sin(x) + 0.1 * np.cos(7 * x) + 0.01 * rng.standard_normal()).astype(dtype),
    )


def _rows(columns, numbers=1 << 25):
    return numbers // columns, columns


def _attention_traffic(q, k, v):
    return 4.0 * q.nbytes


def _attention_work(q, k, v):
    return 4.0 * q[..., 0].size * q.shape[-2] * q.shape[-1]


PROGRAMS = {
    "S1 sin(x) + cos(y), 5000 x 5000": Program(s1, s1_arguments, torch=same(s1), traffic=twice),
    "S2 x * x * x, 10000 x 10000": Program(cube, square(10000), torch=same(cube), traffic=twice),
    "S3 ten rounds, 5000 x 5000": Program(s3, square(5000), torch=same(s3), traffic=twice),
    "S3 gradient, 5000 x 5000": Program(
        s3_loss, square(5000), "grad", torch=same(s3_loss), traffic=twice
    ),
    "S4 with x.T, 3000 x 3000": Program(s4, square(3000), torch=same(s4), traffic=twice),
    "softmax, 64 columns": Program(
        softmax,
        normal(_rows(64)),
        torch=lambda t: lambda x: t.softmax(x, 1),
        traffic=twice,
        batched=True,
    ),
    "softmax, 1024 columns": Program(
        softmax,
        normal(_rows(1024)),
        torch=lambda t: lambda x: t.softmax(x, 1),
        traffic=twice,
        batched=True,
    ),
    "softmax, 4096 columns": Program(
        softmax,
        normal(_rows(4096)),
        torch=lambda t: lambda x: t.softmax(x, 1),
        traffic=twice,
        batched=True,
    ),
    "softmax, 32768 columns": Program(
        softmax,
        normal(_rows(32768)),
        torch=lambda t: lambda x: t.softmax(x, 1),
        traffic=twice,
        batched=True,
    ),
    "layer norm, 1024 columns": Program(
        layer_norm, layer_norm_arguments(*_rows(1024)), torch=layer_norm_torch, traffic=twice
    ),
    "layer norm, 64 columns": Program(
        layer_norm, layer_norm_arguments(*_rows(64)), torch=layer_norm_torch, traffic=twice
    ),
    "layer norm, 32768 columns": Program(
        layer_norm, layer_norm_arguments(*_rows(32768)), torch=layer_norm_torch, traffic=twice
    ),
    "cross-entropy with gradient, 1000 columns": Program(
        cross_entropy,
        labelled(32000, 1000),
        "value_and_grad",
        cross_entropy_jax,
        cross_entropy_torch,
        twice,
    ),
    "cross-entropy with gradient, 32000 columns": Program(
        cross_entropy,
        labelled(1024, 32000),
        "value_and_grad",
        cross_entropy_jax,
        cross_entropy_torch,
        twice,
    ),
    "cross-entropy with gradient, 10 columns": Program(
        cross_entropy,
        labelled(1 << 20, 10),
        "value_and_grad",
        cross_entropy_jax,
        cross_entropy_torch,
        twice,
    ),
    "column sums, 100000 x 512": Program(
        column_sums,
        normal((100_000, 512)),
        torch=lambda t: lambda x: t.sum(x, 0),
        traffic=once,
        tolerance=10,
    ),
    "column sums, 1048576 x 64": Program(
        column_sums,
        normal((1 << 20, 64)),
        torch=lambda t: lambda x: t.sum(x, 0),
        traffic=once,
        tolerance=10,
    ),
    "sum, 100000000": Program(
        total, normal((100_000_000,)), torch=lambda t: t.sum, traffic=once, tolerance=10
    ),
    "M1 gradient": Program(
        mlp, mlp_arguments((784, 512, 512, 10), 128), "grad", torch=mlp_torch, tolerance=10
    ),
    "M1 gradient, batch 8192": Program(
        mlp, mlp_arguments((784, 1024, 1024, 10), 8192), "grad", torch=mlp_torch, tolerance=500
    ),
    "M2 gradient": Program(
        mlp, mlp_arguments((4, 10, 3), 32), "grad", torch=mlp_torch, tolerance=10
    ),
    "M1 gradient, one example": Program(
        mlp, mlp_arguments((784, 512, 512, 10), 1), "grad", torch=mlp_torch, tolerance=10
    ),
    "driver loop of 200 products, 1024": Program(
        recurrent, recurrent_arguments, jax=recurrent_jax, tolerance=100
    ),
    "where(a > b.T), 8000 x 8000": Program(
        where_transposed,
        two_squares(8000),
        torch=same(where_transposed),
        traffic=lambda a, b: 3.0 * a.nbytes,
    ),
    "sum(a * b.T), 8000 x 8000": Program(
        transposed_sum,
        two_squares(8000),
        torch=same(transposed_sum),
        traffic=lambda a, b: 2.0 * a.nbytes,
        tolerance=100,
    ),
    "sum(sin(x) * x.T), gradient, 8000 x 8000": Program(
        transposed_slope,
        square(8000),
        "grad",
        torch=same(transposed_slope),
        traffic=twice,
        tolerance=10,
    ),
    "sum(a * b.T, axis=1), 8000 x 8000": Program(
        row_sums_transposed,
        two_squares(8000),
        torch=same(row_sums_transposed),
        traffic=lambda a, b: 2.0 * a.nbytes,
        tolerance=100,
    ),
    "softmax(a + b.T), 8000 x 8000": Program(
        softmax_transposed,
        two_squares(8000),
        torch=lambda t: lambda a, b: t.softmax(a + b.T, 1),
        traffic=lambda a, b: 3.0 * a.nbytes,
        tolerance=10,
    ),
    "histogram of 100 bins, 10000000": Program(counts_in_bins, normal((10_000_000,)), traffic=once),
    "rows that are there once, 1000000 x 3": Program(rows_once, normal((1_000_000, 3))),
    "products of complex columns, 100000 x 512": Program(
        complex_products, normal((100_000, 512)), traffic=once, tolerance=100
    ),
    "x + swapaxes(x, 1, 2), 64 x 1024 x 1024": Program(
        symmetric_stack, stack(64, 1024), torch=same(symmetric_stack), traffic=twice
    ),
    "12 heads of 16 x 1024 x 768": Program(
        heads,
        normal((16, 1024, 768)),
        torch=lambda t: lambda x: x.reshape(16, 1024, 12, 64).transpose(1, 2).contiguous() * 2.0,
        traffic=twice,
        batched=True,
    ),
    "sin(x) + cos(x), 5000 x 5000": Program(
        sin_cos, square(5000), torch=same(sin_cos), traffic=twice
    ),
    "x + x*x + 3, 3000 x 3000": Program(
        polynomial, square(3000), torch=same(polynomial), traffic=twice
    ),
    "x*x + x*x.T, 3000 x 3000": Program(
        transposed, square(3000), torch=same(transposed), traffic=twice
    ),
    "x + x*x + 3, 10000 x 10000": Program(
        polynomial, square(10000), torch=same(polynomial), traffic=twice
    ),
    "x*x + x*x.T, 10000 x 10000": Program(
        transposed, square(10000), torch=same(transposed), traffic=twice
    ),
    "dot, 1000 x 1000": Program(
        dot,
        lambda rng, dtype, small=False: normal((1000, 1000), (1000, 1000))(rng, dtype),
        torch=lambda t: t.matmul,
        work=lambda *a: 2e9,
        tolerance=10,
    ),
    "vmap of Kepler, 1000000": Program(
        kepler,
        uniform(1_000_000, (0.1, 3), (0, 0.9)),
        "vmap",
        kepler_jax,
        batched=True,
        dtypes=("float64",),
    ),
    "vmap of Mandelbrot, 4000000": Program(
        mandelbrot,
        uniform(4_000_000, (-2, 0.6), (-1.2, 1.2)),
        "vmap",
        mandelbrot_jax,
        batched=True,
        dtypes=("float64",),
    ),
    "vmap of Lorenz, 262144": Program(
        lorenz,
        normal((262_144, 3)),
        "vmap",
        lorenz_jax,
        batched=True,
        tolerance=100,
        work=lambda s: 17e3 * len(s),
    ),
    "vmap of Lorenz's gradient, 262144": Program(
        lorenz, normal((262_144, 3)), "vmap grad", lorenz_jax, batched=True, tolerance=100
    ),
    "N-body, 8192": Program(
        n_body, bodies(8192), torch=n_body_torch, tolerance=10, work=lambda x, m: 20.0 * len(x) ** 2
    ),
    "N-body in loops, 8192": Program(
        n_body_in_loops,
        bodies(8192),
        jax=lambda jax: n_body(jax.numpy),
        tolerance=10,
        work=lambda x, m: 20.0 * len(x) ** 2,
    ),
    "heat in loops, 8000 x 8000": Program(
        heat_in_loops,
        normal((8000, 8000)),
        jax=heat_by_slices,
        traffic=lambda u: 2.0 * u.nbytes,
    ),
    "heat in space, 400 x 400 x 400": Program(
        heat_in_space,
        normal((400, 400, 400)),
        torch=same(heat_in_space),
        traffic=lambda u: 2.0 * u.nbytes,
    ),
    "attention, 16 x 1024 x 64": Program(
        attention,
        normal((16, 1024, 64), (16, 1024, 64), (16, 1024, 64)),
        jax=attention_jax,
        torch=attention_torch,
        tolerance=10,
        traffic=_attention_traffic,
        work=_attention_work,
    ),
    "Black-Scholes, 10000000": Program(
        black_scholes,
        uniform(10_000_000, (50, 150), (50, 150), (0.1, 2)),
        torch=same(black_scholes),
        traffic=lambda *a: 4.0 * a[0].nbytes,
        tolerance=10,
    ),
    "heat, 100 steps of 1024 x 1024": Program(
        heat, square(1024), jax=heat_jax, traffic=lambda x: 200.0 * x.nbytes
    ),
    "L1 Burgers, gradient": Program(
        burgers, wave, "grad", burgers_jax, dtypes=("float64",), tolerance=10
    ),
}
