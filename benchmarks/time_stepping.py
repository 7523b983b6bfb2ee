"""Programs of time stepping, whose derivatives need something of each step.

A program is a step, which takes the state and parameters and returns the next state, written once
for NumPy and `jax.numpy`. We run it in a loop, JAX by `lax.scan`. Sweeps that overwrite an array
element by element are written as such for us, and for JAX as its users write them.

`kept` says how many numbers a step must leave for its derivative, as multiples of `n`: what it is
not linear in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """make: a module like NumPy -> a step, or, where `jax` is given, a function of the state and
    the number of steps; jax makes that of JAX. start: (n, generator) -> the state. kept: how many
    times n numbers a step must leave. sizes: (n, steps) of the table."""

    make: Callable[[Any], Callable[..., Any]]
    start: Callable[..., tuple[Any, ...]]
    kept: float
    sizes: tuple[tuple[int, int], ...]
    jax: Callable[[Any], Callable[..., Any]] | None = None


# -- grids


def heat(np):
    def step(u):
        return (u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)),)

    return step


def wave(np):
    def step(u, before):
        return u + u - before + 0.25 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)), u

    return step


def burgers(np):
    def step(u):
        flux = 0.5 * u * u
        slope = 0.1 * (np.roll(flux, -1) - np.roll(flux, 1))
        return (u - slope + 0.1 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)),)

    return step


def phase_field(np):
    """Allen and Cahn's relaxation, a smooth form of Ising's model."""

    def step(u):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        return (u + 0.05 * (around - 4 * u) + 0.1 * (u - u**3),)

    return step


def gray_scott(np):
    def step(u, v):
        around_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        around_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1)
        reaction = u * v * v
        u_next = u + 0.16 * (around_u - 4 * u) - reaction + 0.035 * (1 - u)
        return u_next, v + 0.08 * (around_v - 4 * v) + reaction - 0.095 * v

    return step


def shallow_water(np):
    def across(x):
        return 0.05 * (np.roll(x, -1, 0) - np.roll(x, 1, 0))

    def along(x):
        return 0.05 * (np.roll(x, -1, 1) - np.roll(x, 1, 1))

    def viscous(x):
        around = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
        return 0.05 * (around - 4 * x)

    def step(h, u, v):
        h_next = h - across(h * u) - along(h * v)
        u_next = u - u * across(u) - v * along(u) - across(h_next) + viscous(u)
        v_next = v - u * across(v) - v * along(v) - along(h_next) + viscous(v)
        return h_next, u_next, v_next

    return step


def lattice_boltzmann(np):
    """Nine velocities on a grid; a collision needs the density and two momenta."""

    def step(f):
        rest, e, n, w, s, ne, nw, sw, se = f
        rho = rest + e + n + w + s + ne + nw + sw + se
        u = (e - w + ne - nw - sw + se) / rho
        v = (n - s + ne + nw - sw - se) / rho
        square = 1 - 1.5 * (u * u + v * v)

        def towards(x, weight, along, axis_shifts):
            even = weight * rho * (square + 3 * along + 4.5 * along * along)
            return np.roll(x + 0.6 * (even - x), axis_shifts, (0, 1))

        moved = [
            towards(rest, 4 / 9, 0 * u, (0, 0)),
            towards(e, 1 / 9, u, (1, 0)),
            towards(n, 1 / 9, v, (0, 1)),
            towards(w, 1 / 9, -u, (-1, 0)),
            towards(s, 1 / 9, -v, (0, -1)),
            towards(ne, 1 / 36, u + v, (1, 1)),
            towards(nw, 1 / 36, v - u, (-1, 1)),
            towards(sw, 1 / 36, -u - v, (-1, -1)),
            towards(se, 1 / 36, u - v, (1, -1)),
        ]
        return (np.stack(moved),)

    return step


# -- ensembles and particles


def lorenz(np):
    def slope(x, y, z):
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z

    def step(x, y, z):
        dt = 0.0005
        a, b, c = slope(x, y, z)
        a2, b2, c2 = slope(x + dt / 2 * a, y + dt / 2 * b, z + dt / 2 * c)
        a3, b3, c3 = slope(x + dt / 2 * a2, y + dt / 2 * b2, z + dt / 2 * c2)
        a4, b4, c4 = slope(x + dt * a3, y + dt * b3, z + dt * c3)
        return (
            x + dt / 6 * (a + 2 * a2 + 2 * a3 + a4),
            y + dt / 6 * (b + 2 * b2 + 2 * b3 + b4),
            z + dt / 6 * (c + 2 * c2 + 2 * c3 + c4),
        )

    return step


def n_body(np):
    def force(x):
        apart = x[:, None, :] - x[None, :, :]
        squares = np.sum(apart**2, axis=2) + 0.1
        return -np.sum(apart * (squares**-1.5)[:, :, None], axis=1) / len(x)

    def step(x, v):
        half = v + 0.0005 * force(x)
        x_next = x + 0.001 * half
        return x_next, half + 0.0005 * force(x_next)

    return step


def kuramoto(np):
    def step(phase):
        pull = np.sum(np.sin(phase[None, :] - phase[:, None]), axis=1) / len(phase)
        return (phase + 0.05 * (1 + pull),)

    return step


# -- learning


def lstm(np):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def step(h, c, weights):
        size = h.shape[1]
        gates = h @ weights
        keep, write, show = (sigmoid(gates[:, k * size : (k + 1) * size]) for k in range(3))
        c_next = keep * c + write * np.tanh(gates[:, 3 * size :])
        return show * np.tanh(c_next), c_next, weights

    return step


def adam(np):
    def step(x, mean, square):
        slope = x - np.roll(x, 1) + 0.1 * x
        mean_next = 0.9 * mean + 0.1 * slope
        square_next = 0.99 * square + 0.01 * slope**2
        return x - 0.01 * mean_next / (np.sqrt(square_next) + 1e-3), mean_next, square_next

    return step


# -- sweeps, which overwrite an array element by element


def gauss_seidel(np):
    def loss(u, steps):
        u = u.copy()
        for _ in range(steps):
            for i in range(1, len(u) - 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1]) - 0.1 * u[i] ** 3
        return np.sum(u**2)

    return loss


def gauss_seidel_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def step(u):
        def sweep(before, here):
            middle, after = here
            value = 0.5 * (before + after) - 0.1 * middle**3
            return value, value

        inner = lax.scan(sweep, u[0], (u[1:-1], u[2:]))[1]
        return (np.concatenate([u[:1], inner, u[-1:]]),)

    return step


def thomas(np):
    """Diffusion by implicit steps, with a conductivity that depends on the temperature."""

    def loss(u, steps):
        n = len(u)
        for _ in range(steps):
            k = 0.5 + 0.1 * u**2
            upper, value, u_next = np.zeros(n), np.zeros(n), np.zeros(n)
            upper[0], value[0] = -k[0] / (1 + 2 * k[0]), u[0] / (1 + 2 * k[0])
            for i in range(1, n):
                pivot = 1 + 2 * k[i] + k[i] * upper[i - 1]
                upper[i] = -k[i] / pivot
                value[i] = (u[i] + k[i] * value[i - 1]) / pivot
            u_next[n - 1] = value[n - 1]
            for i in range(n - 2, -1, -1):
                u_next[i] = value[i] - upper[i] * u_next[i + 1]
            u = u_next
        return np.sum(u**2)

    return loss


def thomas_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def step(u):
        k = 0.5 + 0.1 * u**2

        def forwards(before, here):
            k, u = here
            pivot = 1 + 2 * k + k * before[0]
            after = -k / pivot, (u + k * before[1]) / pivot
            return after, after

        def backwards(after, here):
            value = here[1] - here[0] * after
            return value, value

        zero = np.zeros(())
        _, both = lax.scan(forwards, (zero, zero), (k, u))
        return (lax.scan(backwards, zero, both, reverse=True)[1],)

    return step


def edit_distance(np):
    """Soft distances of two series, row by row: `steps` is the length of the other one."""

    def loss(x, steps):
        n = len(x)
        row = np.arange(n + 1) * 1.0
        for t in range(steps):
            corner, row[0] = row[0], t + 1.0
            for i in range(n):
                above = row[i + 1]
                ways = np.exp(-corner) + np.exp(-above) + np.exp(-row[i])
                row[i + 1] = (x[i] - 0.01 * t) ** 2 - np.log(ways)
                corner = above
        return row[n]

    return loss


def edit_distance_by_scan(np):
    from jax import lax  # noqa: PLC0415  # a peer, where it is installed

    def step(row, x, t):
        def along(left, here):
            corner, above, x = here
            ways = np.exp(-corner) + np.exp(-above) + np.exp(-left)
            value = (x - 0.01 * t) ** 2 - np.log(ways)
            return value, value

        first = t + 1.0
        rest = lax.scan(along, first, (row[:-1], row[1:], x))[1]
        return np.concatenate([first[None], rest]), x, t + 1.0

    return step


# -- the table


def line(n, rng):
    return (1 + 0.5 * np.sin(np.linspace(0, 6.28, n)) + 0.01 * rng.normal(size=n),)


def square(n, rng):
    side = round(n**0.5)
    return (0.1 * rng.normal(size=(side, side)),)


def several(count):
    return lambda n, rng: tuple(1 + 0.1 * rng.normal(size=n) for _ in range(count))


def fields(*means):
    def start(n, rng):
        side = round(n**0.5)
        return tuple(mean + 0.05 * rng.normal(size=(side, side)) for mean in means)

    return start


def distributions(n, rng):
    side = round(n**0.5)
    weights = np.array([4 / 9, *[1 / 9] * 4, *[1 / 36] * 4])[:, None, None]
    return (weights * (1 + 0.05 * rng.normal(size=(9, side, side))),)


def bodies(n, rng):
    return rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3))


def cells(n, rng):
    """n numbers of hidden state: 16 rows."""
    width = n // 16
    hidden = 0.1 * rng.normal(size=(2, 16, width))
    return hidden[0], hidden[1], rng.normal(size=(width, 4 * width)) / width**0.5


WIDE, LONG = (40_000, 200), (400, 20_000)
PROGRAMS = {
    "heat": Program(heat, line, 0, (WIDE, LONG)),
    "wave": Program(wave, several(2), 0, (WIDE, LONG)),
    "Burgers": Program(burgers, line, 1, (WIDE, LONG)),
    "phase field": Program(phase_field, square, 1, (WIDE, LONG)),
    "Gray-Scott": Program(gray_scott, fields(0.5, 0.25), 2, (WIDE, LONG)),
    "shallow water": Program(shallow_water, fields(1.0, 0.0, 0.0), 3, (WIDE, LONG)),
    "lattice Boltzmann": Program(lattice_boltzmann, distributions, 3, ((40_000, 100),)),
    "Lorenz, RK4": Program(lorenz, several(3), 3, (WIDE, LONG)),
    "n-body, Verlet": Program(n_body, bodies, 3, ((64, 10_000), (400, 200))),
    "Kuramoto": Program(kuramoto, lambda n, rng: (rng.normal(size=n),), 1, ((64, 20_000),)),
    "LSTM": Program(lstm, cells, 2, ((2048, 1000),)),
    "Adam": Program(adam, several(3), 3, (WIDE, LONG)),
    "Gauss-Seidel": Program(gauss_seidel, line, 1, (WIDE, LONG), gauss_seidel_by_scan),
    "Thomas": Program(thomas, line, 1, (WIDE, LONG), thomas_by_scan),
    "edit distance": Program(edit_distance, line, 1, ((4000, 1000),), edit_distance_by_scan),
}
