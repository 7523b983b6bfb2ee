"""Root finders and minimisers as one writes them, differentiated through."""

import numpy as np

from tests.corpus import definite, normal, program, uniform


@program(0.3, 0.9, wrt=(0, 1))
def kepler_by_newton(eccentricity, mean_anomaly):
    anomaly = mean_anomaly
    for _ in range(20):
        error = anomaly - eccentricity * np.sin(anomaly) - mean_anomaly
        step = error / (1 - eccentricity * np.cos(anomaly))
        anomaly -= step
        if abs(step) < 1e-13:
            break
    return anomaly


@program(
    0.4,
    1.8,
    wrt=(0, 1),
    note="the end points carry the derivative: bisection only picks among them",
)
def bisection(low, high):
    for _ in range(5):
        middle = 0.5 * (low + high)
        if middle**3 - middle - 0.5 > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@program(1.4)
def secant(target):
    def f(x):
        return x * np.exp(x) - target

    x0, x1 = 0.4, 0.9
    while abs(f(x1)) > 1e-13:
        x0, x1 = x1, x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0))
    return x1


@program(normal(3), definite(3))
def gradient_descent_with_momentum(x, a):
    velocity = np.zeros_like(x)
    for _ in range(5):
        slope = a @ x + 0.4 * x**3
        velocity *= 0.5
        velocity -= 0.1 * slope
        x = x + velocity
    return 0.5 * x @ a @ x


@program({"w": normal(2), "b": 0.3}, 3)
def adam_on_dict(parameters, n):
    first = {name: 0.0 * value for name, value in parameters.items()}
    second = {name: 0.0 * value for name, value in parameters.items()}
    for t in range(1, n + 1):
        for name, value in parameters.items():
            slope = np.cos(value) + value
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.99 * second[name] + 0.01 * slope**2
            step = first[name] / (1 - 0.9**t) / (np.sqrt(second[name] / (1 - 0.99**t)) + 1e-3)
            parameters[name] = value - 0.1 * step
    return np.sum(parameters["w"] ** 2) * parameters["b"]


@program(definite(3), normal(3, seed=1), wrt=(0, 1))
def conjugate_gradients(a, b):
    x, r = np.zeros(3), b.copy()
    p = r
    rr = r @ r
    for _ in range(3):
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rr, before = r @ r, rr
        p = r + rr / before * p
    return x


@program(normal(2))
def newton_for_system(x):
    for _ in range(2):
        f = np.array([x[0] ** 2 + x[1] - 1.5, x[1] ** 2 - x[0] + 2.0])
        jacobian = np.array([[2 * x[0], 1.0], [-1.0, 2 * x[1]]])
        x = x - 0.5 * np.linalg.solve(jacobian, f)
    return x


@program(uniform(4), 0.3, wrt=(0, 1))
def proximal_shrinkage(x, weight):
    for _ in range(2):
        moved = x - 0.1 * (x - 0.5) * x
        x = np.sign(moved) * np.maximum(np.abs(moved) - 0.1 * weight, 0.0)
    return x


@program(0.1, 1.9, wrt=(0, 1))
def golden_section(a, b):
    ratio = (np.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    for _ in range(4):
        if (c - 0.7) ** 2 < (d - 0.7) ** 2:
            b, d = d, c
            c = b - ratio * (b - a)
        else:
            a, c = c, d
            d = a + ratio * (b - a)
    return a * b


@program(normal(4), uniform(4), wrt=(0, 1))
def gauss_newton_fit(t, y):
    rate = 0.5
    for _ in range(3):
        model = np.exp(rate * t)
        slope = t * model
        rate += np.sum(slope * (y - model)) / (np.sum(slope**2) + 0.5)
    return rate


@program(normal(3))
def line_search_with_early_return(x):
    direction = -np.sign(x) * x**2
    step = 1.0
    for _ in range(10):
        trial = x + step * direction
        if np.sum(trial**2) < 0.9 * np.sum(x**2):
            return trial
        step *= 0.5
    return x


@program(uniform(3), uniform(3, seed=1), 0.5, wrt=(0, 1, 2))
def sinkhorn(a, b, width):
    cost = (np.arange(3.0)[:, None] - np.arange(3.0)) ** 2
    kernel = np.exp(-cost / width)
    u, v = np.ones(3), np.ones(3)
    for _ in range(5):
        u = a / (kernel @ v)
        v = b / (kernel.T @ u)
    return np.sum(u[:, None] * kernel * v * cost)
