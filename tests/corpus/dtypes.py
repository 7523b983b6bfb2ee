"""Integers, booleans, float32 and Python numbers together; casts; values without derivative."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(4).astype(np.float32))
def single_precision(x):
    return np.tanh(x) * x + 0.5


@program(normal(4).astype(np.float32), normal(4, seed=1), wrt=(0, 1))
def single_meets_double(x, y):
    return x * y + np.sum(x) ** 2


@program(normal(3).astype(np.float32), 0.7, wrt=(0, 1))
def weak_python_scalar(x, scale):
    return (scale * x + 2) ** 2 / 3


@program(np.float32(0.7), np.float64(1.3), wrt=(0, 1))
def numpy_scalars(x, y):
    return x * y + np.sin(x) ** 2


@program(normal(4), np.array([1, 0, 2, 1]))
def integer_array(x, counts):
    rates = np.exp(x)
    return np.sum(counts * np.log(rates) - rates) / counts.sum() + counts.mean()


@program(normal(4), np.array([True, False, True, True]))
def boolean_array(x, observed):
    return (
        np.sum(x[observed] ** 2)
        + np.where(observed, x, 0.0) * observed.sum()
        + (~observed) * np.sin(x)
    )


@program(normal(4))
def casts(x):
    single = x.astype(np.float64) * 2
    whole = x.astype(int)
    flags = (x > 0).astype(float)
    return single * flags + whole * x + np.asarray(flags, dtype=np.float64) * x**2


@program(0.7, 3)
def integers_become_floats(x, n):
    return n * x + n / 2 + n // 2 * x**n + n % 2 + float(n) * int(2.9) + 2**-n * x


@program(uniform(3))
def float_int_and_bool_of_values(x):
    total = float(x[0]) ** 2
    if bool(x[1] > 0):
        total += float(np.sum(x))
    return total + int(x[2] * 10) * x[2]


@program(normal(4))
def item_and_tolist(x):
    a = x.sum().item()
    b = x[1].item() * x.item(2)
    first, *_ = x.tolist()
    return a * b + first


@program(normal(3))
def integer_array_of_results(x):
    order = np.zeros(3, dtype=int)
    for i in range(3):
        for j in range(3):
            if x[j] < x[i]:
                order[i] += 1
    return x * order + x[order] ** 2


@program(normal(4), 0.3, wrt=(0, 1))
def stores_cast_to_dtype(x, y):
    table = np.zeros((2, 4))
    table[0] = np.arange(4)
    table[1] = x
    table[:, 1] = True
    table[1, 2] = y
    return table[0] * table[1] ** 2


@program(uniform(3))
def isinstance_and_type(x):
    total = 0.0
    for value in (2, 1.5, x, x[0], None, "three"):
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, np.ndarray):
            total += np.sum(value**2)
        elif isinstance(value, int):
            total += value * x[1]
        elif value is None:
            continue
        else:
            total += float(value) * x[2]
    return total + (x.dtype == np.float64) * x[0]


@program(0.8)
def infinities_as_start(x):
    best, worst = np.inf, -float("inf")
    for k in range(1, 4):
        value = np.cos(k * x)
        best = min(best, value)
        worst = max(worst, value)
    return best * worst**2


@program(uniform(3))
def seeded_noise(x):
    generator = np.random.default_rng(7)
    total = 0.0
    for _ in range(3):
        total += np.mean(np.exp(x * generator.standard_normal(3)))
    return total


@program(normal(4))
def finite_checks(x):
    clean = np.where(np.isfinite(x), x, 0.0)
    if np.isnan(x).any():
        return 0.0 * x
    return clean * np.isfinite(clean).mean()


@program(normal(3).astype(np.float32))
def numbers_of_numpy_are_no_python_scalars(x):
    wide = x * np.float64(2.0) + np.sqrt(2.0) * np.pi
    return np.where(wide > np.float64(0.1), wide, np.float64(0.1))
