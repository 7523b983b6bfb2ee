"""Functions whose C is compared character by character: it names their lines."""

import numpy as np


def pendulum(u, x0):
    x, cost = x0.copy(), 0.0
    for k in range(u.shape[0]):
        x = x + 0.1 * np.array([x[1], u[k] - 0.1 * x[1] - 9.81 * np.sin(x[0])])
        cost = cost + x @ x + 0.1 * u[k] ** 2
    return cost


def conjugate_gradients(a, b, steps):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    for _ in range(steps):
        q = a @ p
        alpha = (r @ r) / (p @ q)
        x = x + alpha * p
        new = r - alpha * q
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x
