"""Lists that loops fill, and ranges whose length is known only when the program runs."""

import numpy as np

from tests.corpus import normal, program, uniform


def squares(x):
    filled = []
    for k in range(len(x)):
        filled.append((k - 1.5) * x[k] ** 2)
    return filled


@program(normal(6))
def sorted_in_place(x):
    filled = squares(x)
    filled.sort()
    first = filled[0] * filled[-1]
    filled.sort(key=lambda v: -abs(v), reverse=True)
    return first + 3 * filled[0] + filled[-1]


@program(normal(6))
def sorted_is_a_list(x):
    ordered = sorted(x, reverse=True)
    longer = ordered + [x[0]]
    return longer[0] * longer[-1] + len(longer) * ordered[1]


@program(normal(5))
def reversed_in_place(x):
    filled = squares(x)
    for _ in range(3):
        filled.reverse()
        filled[0] = filled[0] * filled[1]
    return sum(filled) + filled[0]


@program(normal(5))
def copies_grow_apart(x):
    filled = squares(x)
    other, whole = filled.copy(), filled[:]
    other.append(x[0] * x[1])
    filled[1] = x[2]
    return other[-1] * filled[-1] + whole[1] * len(other) + filled[1]


@program(normal(5))
def slices_are_lists(x):
    filled = squares(x)
    return np.sum(np.array(filled[1:3] + [x[0]] + filled[:2])) + (filled[:2] * 2)[3]


@program(normal(6))
def cleared(x):
    batch, total = [], 0.0
    for k in range(len(x)):
        batch.append(x[k])
        if k % 3 == 2:
            total += np.prod(np.array(batch))
            batch.clear()
    return total


@program(uniform(6))
def window_of_a_list(x):
    window, total = [x[0]], 0.0
    for k in range(1, len(x)):
        window.append(x[k] * window[-1])
        if len(window) > 2:
            window.pop(0)
        total += window[0] * window[-1]
    return total


@program(normal(5))
def pairs_as_array(x):
    pairs = []
    for k in range(len(x)):
        pairs.append((x[k], x[k] ** 2))
    table = np.array(pairs)
    edges = np.array([(k, k + 1) for k in range(len(x))])
    return np.sum(table[:, 0] * table[::-1, 1]) + np.sum(edges * table)


@program(normal(5))
def columns_of_a_list(x):
    history, y = [], x[0]
    for k in range(20):
        y = 0.9 * y + 0.1 * np.sin(y * x[k % 5])
        history.append((y, [y**2, x]))
    ys, more = zip(*history)  # noqa: B905
    return np.sum(np.array(ys)) + ys[3] * more[2][0] + sum(m[1] @ x for m in more)


@program(normal(4))
def read_in_a_branch_and_in_a_loop(x):
    earlier, total = [], 0.0
    for k in range(4):
        q = 2.0 * x
        if earlier:
            q = q * earlier[-1]
        for s in earlier:
            q = q + s
        total += q @ x
        earlier.append(0.3 * q)
    return total


@program(0.8, 7)
def parts_of_ranges(x, n):
    total = x * range(n)[-1] + range(2, n, 2)[1] * x**2
    for k in range(n)[1:-1]:
        total += x * k
    for k in range(0, n, 2)[::-1]:
        total = total * x + k
    if 3 in range(n) and n not in range(n):
        total *= len(range(1, n, 2))
    return total + x * np.array(range(n)).sum() * range(n).stop


@program(normal(3), 0.7, wrt=(0, 1))
def joined_by_index(x, s):
    row = np.r_[s, x, 0:3, x[::-1]]
    table = np.c_[x, x**2, np.outer(x, x)]
    return np.sum(row**2) + np.sum(table * np.arange(5))


@program(normal(3), 0.7, wrt=(0, 1))
def lists_joined_by_index(x, s):
    cross = [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]]
    rigid = np.r_[np.c_[cross, [s, x[0], 2]], [[0, 0, 0, 1]]]
    return np.sum(np.sin(rigid) * np.arange(4)) + np.sum(np.r_[x, [1, 2], (3.0, s)] ** 3)


@program(
    np.array([1.2, -0.7, 0.4]),
    0.6,
    wrt=(0, 1),
    second=False,
    note="reverse over reverse would save lists of lists",
)
def limited_memory_quasi_newton(x, centre):
    def f(x):
        return np.sum((x - centre) ** 4) + np.sum(x**2)

    def slope(x):
        return 4 * (x - centre) ** 3 + 2 * x

    steps, changes = [], []
    g = slope(x)
    for _ in range(4):
        q = g.copy()
        alphas = []
        for s, y in reversed(list(zip(steps, changes, strict=True))):
            alpha = (s @ q) / (y @ s)
            q -= alpha * y
            alphas.append(alpha)
        if steps:
            q *= (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
        for (s, y), alpha in zip(zip(steps, changes, strict=True), reversed(alphas), strict=True):
            q += s * (alpha - (y @ q) / (y @ s))
        width = 1.0
        while f(x - width * q) > f(x) - 1e-4 * width * (g @ q):
            width *= 0.5
        new, new_slope = x - width * q, slope(x - width * q)
        steps.append(new - x)
        changes.append(new_slope - g)
        x, g = new, new_slope
    return f(x) + x @ np.arange(3.0)
