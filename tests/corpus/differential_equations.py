"""Ordinary and partial differential equations by hand-written integrators and stencils."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.8, 0.2, 20, wrt=(0, 1))
def pendulum_by_symplectic_euler(angle, speed, n):
    for _ in range(n):
        speed -= 0.05 * np.sin(angle)
        angle += 0.05 * speed
    return angle


@program(np.array([1.1, 0.4, 0.4, 0.1]), np.array([1.0, 0.5]), 10, wrt=(0, 1))
def lotka_volterra_by_runge_kutta(rates, start, n):
    def slope(y):
        birth, hunt, death, feed = rates
        return np.array([birth * y[0] - hunt * y[0] * y[1], feed * y[0] * y[1] - death * y[1]])

    y, dt = start, 0.1
    trajectory = [y]
    for _ in range(n):
        k1 = slope(y)
        k2 = slope(y + dt / 2 * k1)
        k3 = slope(y + dt / 2 * k2)
        k4 = slope(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        trajectory.append(y)
    return np.stack(trajectory)


@program(1.7, 0.4, 0.9, wrt=(0, 1, 2))
def epidemic_with_scalars(infection, recovery, susceptible):
    infected = 1 - susceptible
    peak = infected
    for _ in range(12):
        new = 0.2 * infection * susceptible * infected
        susceptible, infected = susceptible - new, infected + new - 0.2 * recovery * infected
        if infected > peak:
            peak = infected
    return peak


@program(1.3, 0.6, wrt=(0, 1))
def adaptive_heun(y, rate):
    t, dt = 0.0, 0.2
    while t < 1.0:
        dt = min(dt, 1.0 - t)
        k1 = -rate * y**2
        k2 = -rate * (y + dt * k1) ** 2
        error = abs(k2 - k1) * dt / 2
        if error > 2e-3:
            dt = dt / 2
            continue
        y = y + dt * (k1 + k2) / 2
        t = t + dt
        if error < 5e-4:
            dt = dt * 1.5
    return y


@program(1.2, 3.0, wrt=(0, 1))
def implicit_euler_with_newton(y, stiffness):
    dt = 0.3
    for _ in range(3):
        new = y
        for _ in range(20):
            residual = new - y + dt * stiffness * new**3
            new = new - residual / (1 + 3 * dt * stiffness * new**2)
            if abs(residual) < 1e-14:
                break
        y = new
    return y


@program(np.array([1.0, 1.0, 1.05]), 28.0, 8, wrt=(0, 1))
def lorenz(state, rho, n):
    x, y, z = state
    for _ in range(n):
        dx, dy, dz = 10 * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return np.array([x, y, z])


TABLEAU = ((), (0.5,), (-1.0, 2.0))


@program(normal(2))
def general_tableau(y):
    def slope(state):
        return np.array([state[1], (1 - state[0] ** 2) * state[1] - state[0]])

    for _ in range(3):
        stages = []
        for row in TABLEAU:
            stages.append(slope(y + 0.1 * sum(a * k for a, k in zip(row, stages))))
        y = y + 0.1 * (stages[0] + 4 * stages[1] + stages[2]) / 6
    return y


@program(normal(6), 0.3, 4, wrt=(0, 1))
def heat_by_slices(u, diffusivity, n):
    for _ in range(n):
        u[1:-1] += diffusivity * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(uniform(6), 3)
def heat_by_loops(u, n):
    new = u.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.2 * (u[i + 1] ** 2 - 2 * u[i] ** 2 + u[i - 1] ** 2)
        u = new.copy()
    return u


@program(normal(5), normal(5, seed=1), 3, wrt=(0, 1))
def wave_with_leapfrog(u, v, n):
    previous, current = u, u + 0.1 * v
    for _ in range(n):
        curvature = np.roll(current, 1) - 2 * current + np.roll(current, -1)
        previous, current = current, 2 * current - previous + 0.25 * curvature
    return current


@program(uniform(5), 0.4, wrt=(0, 1))
def burgers_upwind(u, courant):
    for _ in range(3):
        new = np.empty_like(u)
        for i in range(len(u)):
            left = u[i - 1]
            flux = u[i] - left if u[i] > 0 else u[(i + 1) % len(u)] - u[i]
            new[i] = u[i] - courant * u[i] * flux * 0.5
        u = new
    return u


@program(normal(4, 4), 0.15, wrt=(0, 1))
def reaction_diffusion(u, rate):
    for _ in range(3):
        neighbours = (
            np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1)
        )
        u = u + rate * (neighbours - 4 * u) + 0.1 * (u - u**3)
    return u


@program(normal(4, 4))
def red_black_relaxation(u):
    for colour in (0, 1):
        for i in range(1, 3):
            for j in range(1 + (i + colour) % 2, 3, 2):
                u[i, j] = (
                    (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                    / 4
                    * (1 + 0.1 * u[i, j])
                )
    return u


@program(uniform(5, low=2.0, high=3.0), uniform(5), normal(5), wrt=(0, 1, 2))
def tridiagonal_by_thomas(diagonal, off, b):
    n = len(b)
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = off[0] / diagonal[0], b[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - off[i - 1] * c[i - 1]
        c[i] = off[i] / pivot
        d[i] = (b[i] - off[i - 1] * d[i - 1]) / pivot
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


@program(0.9, 1.4, wrt=(0, 1))
def shooting(speed, load):
    def miss(slope):
        height, t = 0.0, slope
        for _ in range(10):
            t = t - 0.1 * load * np.cos(height)
            height = height + 0.1 * t
        return height - speed

    low, high = 1.0, 1.5
    for _ in range(12):
        slope = high - miss(high) * (high - low) / (miss(high) - miss(low))
        low, high = high, slope
        if abs(miss(high)) < 1e-12:
            break
    return high
