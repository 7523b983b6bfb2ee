"""Loops as people write them, for the comparison with Numba on the same source.

`PROGRAMS` gives for each function its arguments at a size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = Callable[[int], tuple[Any, ...]]
PROGRAMS: dict[str, tuple[Callable[..., Any], Arguments]] = {}


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).random(shape)


def program(arguments: Arguments) -> Callable[..., Any]:
    def keep(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[f.__name__] = f, arguments
        return f

    return keep


# -- particles


@program(lambda k: (10 * numbers(30 * k, 3), numbers(30 * k)))
def gravity(pos, mass):
    force = np.zeros_like(pos)
    for i in range(len(pos)):
        for j in range(len(pos)):
            if i != j:
                dx, dy = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.01
                w = mass[j] / (r2 * np.sqrt(r2))
                force[i, 0] += w * dx
                force[i, 1] += w * dy
                force[i, 2] += w * dz
    return force


@program(lambda k: (10 * numbers(30 * k, 3), 4.0))
def lennard_jones(pos, cutoff):
    energy = 0.0
    for i in range(len(pos)):
        for j in range(i + 1, len(pos)):
            d = pos[i] - pos[j]
            r2 = np.sum(d * d)
            if r2 < cutoff:
                s = 1 / r2**3
                energy += 4 * (s * s - s)
    return energy


@program(lambda k: (numbers(100 * k, 4), numbers(100 * k)))
def quadratic_form_of_a_kernel(x, a):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            r2 = 0.0
            for d in range(4):
                r2 += (x[i, d] - x[j, d]) ** 2
            total += a[i] * a[j] * np.exp(-0.5 * r2)
    return total


# -- numbers in a row


@program(lambda k: (numbers(2000 * k) - 0.5,))
def sums_under_tests(x):
    s, t = 0.0, 0.0
    for v in x:
        if v > 0:
            s += v * v
        elif v < -0.25:
            t -= v
    return s - t


@program(lambda k: (numbers(2000 * k),))
def running_maximum(x):
    out, m = np.empty(len(x)), x[0]
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
        out[i] = m
    return out


@program(lambda k: (numbers(2000 * k), 0.1))
def smoothing(x, a):
    out, s = np.zeros_like(x), x[0]
    for i in range(len(x)):
        s = a * x[i] + (1 - a) * s
        out[i] = s
    return out


@program(lambda k: (numbers(2000 * k), 20))
def histogram(x, bins):
    h = np.zeros(bins)
    for v in x:
        k = int(v * bins)
        if k < bins:
            h[k] += v
    return h


@program(lambda k: (numbers(2000 * k),))
def bubble_pass(x):
    x = x.copy()
    for i in range(len(x) - 1):
        if x[i] > x[i + 1]:
            x[i], x[i + 1] = x[i + 1], x[i]
    return x


@program(lambda k: (numbers(200 * k), 0.1 * numbers(200 * k)))
def garch(r, p):
    h, total = 0.1, 0.0
    for t in range(len(r)):
        h = p[0] + p[1] * r[t] ** 2 + 0.5 * h
        total -= 0.5 * (np.log(h) + r[t] ** 2 / h)
    return total


# -- grids


@program(lambda k: (numbers(40 * k, 40 * k),))
def average_with_edges(u):
    n, m = u.shape
    out = np.zeros_like(u)
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0 or i == n - 1 or j == m - 1:
                out[i, j] = u[i, j]
            else:
                out[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return out


@program(lambda k: (numbers(40 * k, 40 * k), 10))
def gauss_seidel(u, n):
    u = u.copy()
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@program(lambda k: (numbers(30 * k, 30 * k), 5))
def smooth_life(g, n):
    g = g.copy()
    for _ in range(n):
        new = np.zeros_like(g)
        for i in range(g.shape[0]):
            for j in range(g.shape[1]):
                s = 0.0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            s += g[(i + di) % g.shape[0], (j + dj) % g.shape[1]]
                new[i, j] = 1 / (1 + np.exp(4 - s))
        g = new
    return g


@program(lambda k: (numbers(1000 * k),))
def burgers(u):
    u, n = u.copy(), len(u)
    for _ in range(20):
        f = np.zeros(n + 1)
        for i in range(1, n):
            if 0.5 * (u[i - 1] + u[i]) > 0:
                f[i] = 0.5 * u[i - 1] ** 2
            else:
                f[i] = 0.5 * u[i] ** 2
        for i in range(1, n - 1):
            u[i] -= 0.1 * (f[i + 1] - f[i])
    return u


@program(lambda k: (numbers(20 * k, 20 * k), numbers(5, 5)))
def convolution(x, w):
    n, m = x.shape[0] - 4, x.shape[1] - 4
    y = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for p in range(5):
                for q in range(5):
                    s += x[i + p, j + q] * w[p, q]
            y[i, j] = max(s, 0.0)
    return y


# -- matrices


@program(lambda k: (numbers(20 * k, 20 * k), numbers(20 * k, 20 * k)))
def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@program(lambda k: (numbers(12 * k, 12 * k),))
def lu(a):
    a, n = a.copy(), len(a)
    for i in range(n):
        a[i, i] += n
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@program(lambda k: (numbers(12 * k, 12 * k),))
def cholesky(a):
    n = len(a)
    a, low = a @ a.T + n * np.eye(n), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += low[i, k] * low[j, k]
            if i == j:
                low[i, j] = np.sqrt(a[i, i] - s)
            else:
                low[i, j] = (a[i, j] - s) / low[j, j]
    return low


@program(lambda k: (numbers(500 * k), numbers(500 * k), numbers(500 * k) + 3, numbers(500 * k)))
def thomas(a, b, c, d):
    n = len(d)
    above, x = np.zeros(n), np.zeros(n)
    above[0], x[0] = b[0] / c[0], d[0] / c[0]
    for i in range(1, n):
        m = c[i] - a[i] * above[i - 1]
        above[i] = b[i] / m
        x[i] = (d[i] - a[i] * x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] -= above[i] * x[i + 1]
    return x


# -- tables and trees


@program(lambda k: (numbers(60 * k), numbers(60 * k)))
def time_warping(a, b):
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            step = min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
            cost[i, j] = abs(a[i - 1] - b[j - 1]) + step
    return cost[len(a), len(b)]


@program(lambda k: (0.05, 100 * k))
def american_put(rate, n):
    up = np.exp(0.2 * np.sqrt(1 / n))
    p = (np.exp(rate / n) - 1 / up) / (up - 1 / up)
    discount, v = np.exp(-rate / n), np.zeros(n + 1)
    for i in range(n + 1):
        v[i] = max(100 - 100 * up ** (2 * i - n), 0.0)
    for k in range(n - 1, -1, -1):
        for i in range(k + 1):
            held = discount * (p * v[i + 1] + (1 - p) * v[i])
            v[i] = max(held, 100 - 100 * up ** (2 * i - k))
    return v[0]


@program(lambda k: (4 * numbers(100 * k) - 2,))
def bisection(c):
    out = np.zeros_like(c)
    for i in range(len(c)):
        low, high = -3.0, 3.0
        for _ in range(40):
            mid = 0.5 * (low + high)
            if mid**3 + mid - c[i] > 0:
                high = mid
            else:
                low = mid
        out[i] = 0.5 * (low + high)
    return out
