"""Reshaping, joining, flipping, broadcasting and creating arrays."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(2, 6))
def reshapes(a):
    return a.reshape(3, 4) @ a.reshape(4, -1) + np.reshape(a, (-1,))[:3]


@program(normal(2, 3, 4))
def transposes(a):
    return a.transpose(2, 0, 1)[1] * a.T[1].T + np.transpose(a, (1, 0, 2))[:2, :, :3] ** 2


@program(normal(2, 3), normal(3, seed=1), wrt=(0, 1))
def broadcasting(a, x):
    return a * x + a[:, :1] / (2 + x**2) - x.reshape(3, 1)[:2]


@program(normal(3), 0.7, wrt=(0, 1))
def broadcast_to_shape(x, scale):
    wide = np.broadcast_to(x, (2, 3)) * np.broadcast_to(scale, (2, 1))
    return wide**2


@program(normal(2, 3), normal(2, 3, seed=1), wrt=(0, 1))
def joins(a, b):
    tall = np.concatenate([a, b, a * b])
    wide = np.concatenate((a, b), axis=-1)
    return tall @ np.ones(3) + np.sum(wide**2)


@program(normal(3), normal(3, seed=1), wrt=(0, 1))
def stacks(x, y):
    planes = np.stack([x, y, x * y], axis=1)
    return np.vstack([x, y]) @ planes + np.hstack([x, y])[2:5]


@program(normal(3, 4))
def flips_and_rolls(a):
    return np.flip(a) * np.flip(a, axis=1) + np.roll(a, 1, axis=0) * np.roll(a, -2) ** 2


@program(normal(2, 3, 4))
def axes_moved(a):
    return (
        np.moveaxis(a, 0, -1)[..., 0] * np.swapaxes(a, 1, 2)[1].T
        + np.moveaxis(a, (0, 1), (1, 0))[:, 0]
    )


@program(normal(1, 3, 1))
def squeezes_and_expansions(a):
    x = np.squeeze(a)
    y = np.squeeze(a, axis=0)
    return np.expand_dims(x, 0) * y + np.expand_dims(x, (0, 2))[0] * a.squeeze(-1)


@program(normal(3, 4))
def triangles(a):
    return np.tril(a) * np.triu(a, -1) + np.tril(a, 1) ** 2


@program(normal(3, 3), normal(4, seed=1), wrt=(0, 1))
def diagonals(a, x):
    return np.diag(a) @ np.diag(x)[:3, :3] + np.trace(a @ a) + np.diag(a, 1).sum()


@program(0.6, 4)
def created_by_size(x, n):
    ramp = np.arange(n) * x
    grid = np.linspace(0.0, 1.0, n)
    return ramp**2 + np.exp(grid * x) + np.ones(n) * x - np.full(n, 0.3)


@program(0.6, 1.8, wrt=(0, 1))
def linspace_between_symbols(a, b):
    grid = np.linspace(a, b, 5)
    return grid**2


@program(normal(2, 3), 0.4, wrt=(0, 1))
def created_like(a, x):
    b = np.zeros_like(a) + np.ones_like(a) * x + np.full_like(a, x)
    c = np.empty_like(a)
    c[:] = b * a
    return c + np.full(a.shape, x) ** 2


@program(normal(3), 0.4, wrt=(0, 1))
def identity_matrices(x, ridge):
    return (np.outer(x, x) + ridge * np.eye(3) + np.eye(3, k=1) * x) @ x


@program(normal(3, 4))
def shape_arithmetic(a):
    m, n = a.shape
    blocks = a.reshape(m, n // 2, 2)
    return blocks.sum(axis=2) / (m * n) + a.size * blocks[:, :, 0] ** 2 + len(a) * a.ndim


@program(normal(2, 4))
def split_by_slices(a):
    half = a.shape[1] // 2
    gate, value = a[:, :half], a[:, half:]
    return value / (1 + np.exp(-gate))


@program(normal(2, 2), uniform(2, 2))
def block_matrix(a, b):
    top = np.hstack([a, b])
    bottom = np.hstack([b.T, a @ a])
    return np.vstack((top, bottom)) @ np.arange(4.0)


@program(normal(3), normal(2, seed=1), wrt=(0, 1))
def zero_dimensional(x, y):
    total = np.sum(x * 2)
    lifted = np.asarray(total) * y
    return lifted + np.array(x[0]) * np.array([y[0], total])


PARTS, GRID = np.array([1, 4]), np.array([2, 3])


@program(normal(6), normal(2, seed=1), wrt=(0, 1))
def lengths_in_arrays(x, y):
    first, second, third = np.split(x, PARTS)
    left, middle, right = np.array_split(x, np.cumsum([y.shape[0], 2]))
    (whole,) = np.split(y, np.cumsum([]))
    table = x.reshape(GRID) * np.ones(GRID[::-1]).T
    return first * third * np.sum(second**2) + left * middle / right + table[:, 0] * whole
