"""Sums, products, means, extremes and running sums along axes, as functions and as methods."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(3, 4))
def sums(a):
    return (
        a.sum() * np.sum(a**2, axis=0) + np.sum(a, axis=(0, 1)) * a.sum(axis=-1, keepdims=True)[0]
    )


@program(uniform(3, 4))
def products(a):
    return np.prod(a, axis=1) * a.prod() + np.prod(a[:, :2], axis=0, keepdims=True)[0, 1]


@program(normal(2, 3, 4))
def sums_over_several_axes(a):
    return (
        np.sum(a * a, axis=(0, 2)) * np.mean(a, axis=(0, -1))
        + a.sum(axis=(1, 2), keepdims=True)[0, 0]
    )


@program(normal(3, 4))
def standardised(a):
    return (a - a.mean(axis=0)) / (np.std(a, axis=0) + 0.1)


@program(normal(3, 4))
def variances(a):
    return np.var(a) + a.var(axis=0, ddof=1)[1] * np.var(a, axis=1, keepdims=True)[:, 0] + np.std(a)


@program(normal(3, 4))
def extremes(a):
    return (
        np.max(a) * a.min(axis=0)
        + a.max(axis=1, keepdims=True)[:, 0][1] * np.min(a, axis=1)[0] ** 2
    )


@program(normal(3, 4))
def softmax_rows(a):
    shifted = a - np.max(a, axis=1, keepdims=True)
    weights = np.exp(shifted)
    return weights / weights.sum(axis=1, keepdims=True)


@program(normal(5))
def running_sums(x):
    return np.cumsum(x) * np.cumsum(x[::-1] ** 2)


@program(uniform(3, 4))
def running_products(a):
    return np.cumprod(a, axis=1) * np.cumsum(a, axis=0) + np.cumprod(a)[5] * a.cumsum()[3]


@program(normal(4), uniform(4), wrt=(0, 1))
def weighted_mean(x, w):
    mean = np.sum(w * x) / np.sum(w)
    return mean * np.sqrt(np.sum(w * (x - mean) ** 2) / w.sum())


@program(normal(5))
def arguments_of_extremes(x):
    return x[np.argmax(x)] * x[x.argmin()] + x[int(np.argmax(np.abs(x)))] ** 2


@program(normal(5))
def any_all_as_numbers(x):
    return np.sum(x**2) * (1 + np.any(x > 0)) + x[0] * np.all(x > 0) + x[1] * (x > 0).sum()


@program(normal(3, 4))
def pairwise_distances(a):
    difference = a[:, None, :] - a[None, :, :]
    return np.sum(np.sqrt(np.sum(difference**2, axis=-1) + 0.1), axis=1)


@program(normal(3, 4), 1)
@program(normal(3, 4), 0)
def axis_as_argument(a, axis):
    centred = a - a.mean(axis=axis, keepdims=True)
    return np.sum(centred**3, axis=axis)


@program(normal(4, 3))
def covariance(a):
    centred = a - a.mean(0)
    return centred.T @ centred / (len(a) - 1)


@program(normal(6))
def builtin_sum_min_max(x):
    return sum(x) * max(x) + min(x) ** 2 + abs(x[0]) * round(2.4)


@program(uniform(4))
def logsumexp_by_hand(x):
    m = x.max()
    return m + np.log(np.sum(np.exp(x - m))) - np.log(x).mean()
