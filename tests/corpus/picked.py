"""Elements of lists and tuples at an index that data decides."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(uniform(6))
def two_servers(x):
    free, now, waited = [0.0, 0.0], 0.0, 0.0
    for v in x:
        now += 0.5 * v
        k = 0 if free[0] <= free[1] else 1
        start = max(now, free[k])
        free[k] = start + 1.9 * v**2
        waited += start - now
    return waited + max(free)


@program(normal(6))
def switching_weights(x):
    weights, k, total = ((1.0, 2), (2.0, 3), (-4.0, 1)), 0, 0.0
    for v in x:
        factor, power = weights[k]
        total += factor * v**power
        if v > 0:
            k = (k + 1) % 3
    return total


@program(uniform(6))
def sums_by_bin(x):
    counts, sums = [0, 0, 0], [0.0] * 3
    for v in x:
        b = min(int(v / 0.41), 2)
        counts[b] += 1
        sums[b] += v * v
    return sum(s / max(c, 1) for s, c in zip(sums, counts, strict=True))


@program(uniform(5))
def row_by_data(x):
    rows = [[0.0, x[0]], [x[1], 1.0]]
    k = 1 if x[2] > 1 else 0
    rows[k][0] = 3 * x[3] ** 2
    return rows[0][0] + 2 * rows[1][0] * rows[k][1] + x[4] * len(rows)


TABLE = [0.1 * k**2 for k in range(12)]


@program(uniform(5))
def interpolated(x):
    total = 0.0
    for v in x:
        k = int(5 * v)
        rest = 5 * v - k
        total += TABLE[k] * (1 - rest) + TABLE[k + 1] * rest
    return total


@program(uniform(4))
def least_loaded(x):
    loads = [0.0] * 3
    for v in x:
        k = int(np.argmin(loads))
        loads[k] += v**2
    return loads
