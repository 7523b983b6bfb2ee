"""Branches, loops and the ways out of them."""

import logging
import random
import sys
import time
import warnings

import numpy as np

from tests.language import row


@row("`if`, `elif`, `else`")
@row("`if`, `elif`, `else`", at=[-0.7, 0.4, 1.3])
@row("`if`, `elif`, `else`", at=[0.1, 0.4, 1.3])
def three_ways(x):
    if x[0] > 0.5:
        y = np.sin(x[1]) * x[2]
    elif x[0] < 0:
        y = x[1] ** 2
    else:
        y = x[0] * x[2]
    return y * x[0]


@row("`if`, `elif`, `else`")
def set_on_one_side(x):
    scale = 1.0
    if x.sum() > 0:
        x = x * x
        scale = x[0]
    return scale * np.sum(x**3)


@row("variables that only some sides or passes set")
def set_by_some_passes(x):
    for v in x:
        if v * v > 0.05:
            last = v * x[0]
    if x[0] > -9:
        factor = x[1] ** 2
    return last * factor


@row("`None` until data gives a number or an array; `is None`, `is not None`")
@row("`None` until data gives a number or an array; `is None`, `is not None`", at=[-0.7, -0.4, -1])
def none_at_first(x):
    best = None
    for v in x:
        if v > 0 and (best is None or v < best):
            best = v
    if best is None:
        return x[0] ** 3
    return best**2 * x[1]


@row("`while`, any trip count, decided by data")
@row("`while`, any trip count, decided by data", at=[9.0, 0.2, 0.3])
def until_small(x):
    y = x[0]
    while y * y < 7:
        y = y * (1.5 + x[1]) + 0.3 * x[2] ** 2
    return y


@row("`for` over `range`")
def recurrence(x):
    y = x[0]
    for i in range(1, 12, 2):
        y = y + np.sin(y * x[1]) / i
    for i in range(2, -1, -1):
        y = y * x[i]
    return y


@row("`for` over arrays")
def over_array(x):
    total = 0.0
    for v in np.outer(x, x):
        for w in v:
            total = total + np.sin(w) * total + w
    return total


@row("`for` over lists and tuples")
def over_lists(x):
    total = 1.0
    for part in [x, 2 * x, x[:2]]:
        total += np.sum(part**2) * total
    for power, shift in ((2, 0.5), (3, x[1])):
        total += (x[0] + shift) ** power
    return total


@row("`for` over dicts: keys, `values()`, `items()`")
def over_dicts(x):
    parts = {"a": x[0], "b": x[1] * x[2]}
    total = 0.0
    for key in parts:
        total += parts[key] ** 2
    for value in parts.values():
        total = total * np.cos(value)
    for key, value in parts.items():
        total += value**3 if key == "b" else value
    return total


@row("`zip`")
def zipped(x):
    total = 0.0
    for a, b in zip(x, np.flip(x)):
        total = total * a + np.sin(b)
    for a, c in zip(x[:2], (2.0, 3.0)):
        total += a**c if c == 2 else c * a**3
    return total


@row("`enumerate`")
def enumerated(x):
    total = 0.0
    for i, v in enumerate(x, start=1):
        total = total + i * v**2 * x[i - 1]
    return total


@row("`reversed`")
def backwards(x):
    total = 0.5
    for v in reversed(x):
        total = total * v + np.cos(v)
    for i in reversed(range(len(x))):
        total += x[i] * i * total
    return total


@row("`map` and `filter`")
def mapped(x):
    total = 1.0
    for v in map(lambda v: v * v + x[0], x):
        total = total * v
    for i in filter(lambda i: i % 2 == 0, range(3)):
        total += x[i] ** 2
    return total


class Every:
    """An iterable of a user's own."""

    def __init__(self, values, step):
        self.values, self.step = values, step

    def __iter__(self):
        return iter([self.values[i] for i in range(0, len(self.values), self.step)])


class Countdown:
    """An iterator of a user's own."""

    def __init__(self, start):
        self.left = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


@row("users' own iterables")
def own_iterables(x):
    total = 1.0
    for v in Every([x[0], x[1], x[2]], 2):
        total += v**2 * total
    for i in Countdown(3):
        total += x[i] ** i
    return total


@row("`for`-`else`, `while`-`else`")
@row("`for`-`else`, `while`-`else`", at=[0.7, 3.0, 1.3])
def found_or_not(x):
    y = x[0]
    for v in x:
        if v > 2:
            y = y * v
            break
        y = y + v**2
    else:
        y = np.sin(y)
    n = 0
    while n < 4:
        if y > 5:
            break
        y, n = y * 1.3, n + 1
    else:
        y = y**2
    return y


@row("`break`")
@row("`break`", at=[3.0, 0.4, 0.2])
def stops(x):
    total = 0.0
    for t in range(20):
        total = total + x[0] * np.cos(x[1] * t)
        if total > 2:
            total = total * x[2]
            break
    while True:
        total = total * 1.5 + 1
        if total * total > 40:
            break
    return total


@row("`continue`")
def skips(x):
    total = 1.0
    for v in x:
        if v < 0:
            continue
        total = total * v + v**2
    return total * x[1]


@row("early and multiple `return`")
@row("early and multiple `return`", at=[-0.7, 0.4, 1.3])
def returns_early(x):
    if x[0] < 0:
        return np.sum(x**2)
    y = x[0] * x[2]
    if y > 10:
        return y
    return np.sin(y) * x[1]


@row("`return` inside loops")
@row("`return` inside loops", at=[0.1, 0.2, 0.3])
def returns_from_a_loop(x):
    y = x[2]
    for t in range(8):
        for v in x:
            y = y + v * v
            if y > 3:
                return y * x[0] * (t + 1)
    return np.exp(y)


@row("`return` inside loops")
@row("`return` inside loops", at=[0.1, 0.2, 0.3])
def returns_containers_from_a_loop(x):
    def found(y):
        for t in range(8):
            y = y + x[1] * x[1]
            if y > 0.1:
                if x[0] > 0.2:
                    return {"y": y * x[0]}, (t + 1, x * y)
        return {"y": np.exp(y)}, (0, x)

    first, (steps, rest) = found(x[2])
    return first["y"] * (steps + 2) + np.sum(rest)


@row("conditional expressions")
def chosen(x):
    a = x[0] if x[1] > 0 else np.sin(x[2])
    return sum((v * v if v > 0 else -v) * a for v in x)


@row("`and`, `or`, `not`")
def logic(x):
    total = 0.0
    for v in x:
        if (v > 0 and v * v > 0.6) or not x[0] > v:
            total += v**3
        else:
            total -= x[2] * v
    return total


@row("chained comparisons")
def chains(x):
    total = 0.0
    for v in x:
        if -0.5 < v <= x[0] < 2:
            total += np.exp(v)
        else:
            total += v**2
    return total


@row("`:=`")
def walrus(x):
    y = x[0]
    while (step := 0.5 * (y * y - 2) / y) ** 2 > 1e-3:
        y = y - step * (1 + 0.1 * x[1])
    if (z := y * x[2]) > 0:
        return z**2
    return z


@row("texts, members of enumerations and `None` as states of loops")
def states(x):
    state, previous, total = "off", None, 0.0
    for v in x:
        if state == "off" and v > 0.5:
            state = "on"
        elif state == "on":
            state = "off"
        total += v**2 if state == "on" else v * x[0]
        total *= 1.5 if previous == "on" else 1.0
        previous = state
    return total


@row("`match` on data: numbers, strings, members of enumerations, `None`, `\\|`")
def matched_by_data(x):
    match np.sign(x[0]):
        case 1 | 0:
            y = x[1] ** 3
        case -1 if x[2] > 0:
            y = x[1] * x[2]
        case other:
            y = x[1] * other
    match "left" if x[0] > 0 else "right":
        case "left":
            return y
        case _:
            return 2 * y


@row("`match` on static structure")
def matched(x):
    total = 0.0
    for item in [("square", x[0]), {"kind": "sine", "of": x[1]}, [x[2], 3], 2.5]:
        match item:
            case ("square", v):
                total += v**2
            case {"kind": "sine", "of": v}:
                total += np.sin(v)
            case [v, int(n)] if n > 2:
                total += v**n
            case _:
                total *= x[0]
    return total


@row("`assert` on data", fails=([-1.0, 2.0, 3.0], AssertionError, "must be positive"))
def asserts(x):
    assert x[0] > 0, "must be positive"
    return np.sum(np.log(x[0]) * x**2)


@row("`raise` on data", fails=([0.7, 2.0, 3.0], ValueError, "negative: got 2.0"))
def raises(x):
    if x[1] > 0:
        raise ValueError(f"the second must be negative: got {x[1]}")
    return np.sum(x**3)


@row("`print` of data", prints="at 0 0.7\nat 1 -0.4\nat 2 1.3\n[0.7 1.3]\n")
def prints(x):
    total = 0.0
    for i, v in enumerate(x):
        print("at", i, v)
        total += v**2
    print(x[::2])
    return total * x[0]


@row("`try`, `except`, `finally` around staging-time work")
def tries(x):
    settings = {"power": 3}
    try:
        power = settings["exponent"]
    except KeyError:
        power = settings["power"]
    finally:
        shift = x[0]
    return np.sum((x + shift) ** power)


@row(
    "`except` around what data decides: `raise` under a test, `LinAlgError` of factorisations, "
    "zero division, domains and ranges of `math`, percentiles, weights and choices"
)
def tries_what_data_decides(x):
    a = np.outer(x, x) - np.eye(len(x))
    try:
        if x[0] > 100:
            raise ValueError("large")
        y = np.log(np.diag(np.linalg.cholesky(a))).sum()
    except np.linalg.LinAlgError:
        y = np.sum(np.linalg.inv(a + 3 * np.eye(len(x))) @ x)
    return y * x[0]


@row(
    "`except` around what data decides: `raise` under a test, `LinAlgError` of factorisations, "
    "zero division, domains and ranges of `math`, percentiles, weights and choices"
)
def tries_weights(x):
    try:
        center = np.average(x, weights=x - x)
    except ZeroDivisionError:
        center = x[0]
    try:
        top = np.percentile(x, 50 + 20 * np.round(x[0] ** 2))
    except ValueError:
        top = np.max(x)
    return np.sum((x - center) ** 2) * top


@row("empty lists in a list, of which data says which one grows (cells, bins, adjacency)")
def fills_bins(x):
    bins = [[] for _ in range(3)]
    for v in x:
        bins[int(np.abs(v) * 2)].append(v)
    return sum(len(r) * sum(r) * (k + 1) ** 2 for k, r in enumerate(bins)) * x[0]


@row(
    "lists of lists that data makes as long as they are (runs, segments, connected components, "
    "clusters)"
)
def makes_runs(x):
    groups, run = [], []
    for v in x:
        if run and v < run[-1]:
            groups.append(run)
            run = []
        run.append(v)
    groups.append(run)
    return sum(len(g) * np.prod(np.array(g)) * (k + 1) for k, g in enumerate(groups))


@row("loops stay loops: the code does not grow with trip counts or sizes")
def many_passes(x):
    y = x
    for t in range(500):
        y = y + 0.001 * np.sin(y * t)
    return np.sum(y**2)


@row("a loop that must be unrolled is, and `.stages` says so")
def unrolled(x):
    layers = [np.sin, np.cos, np.tanh]
    y = x
    for i in range(3):
        y = layers[i](y * x[0])
    return np.sum(y)


@row("`warnings.warn`, `logging`, `sys.stdout` and `sys.stderr`", prints="sum 1.60\nlarge\n")
def reported(x):
    total = np.sum(x)
    sys.stdout.write(f"sum {total:.2f}\n")
    if total > 1:
        print("large", file=sys.stdout)
    if total > 100:
        warnings.warn(f"huge: {total}", stacklevel=2)
        logging.getLogger("model").warning("huge: %g", total)
    return total**2


@row("generators that the function makes of a seed")
def seeded_draws(x):
    rng = np.random.default_rng(3)
    total = rng.normal() * np.sum(x)
    for _ in range(4):
        if rng.random() < 0.5:
            total = total + np.sin(x[0] * rng.normal())
    return total


@row("random numbers of `np.random` and of generators from outside")
def random_numbers(x):
    np.random.seed(3)  # so that every call draws the same
    total = 0.0
    for k in range(3):
        total += np.sum(np.sin(x * np.random.randn(3))) * np.random.uniform(k, 2.0)
    return total


@row("clocks, and Python's own `random`")
def python_random(x):
    random.seed(3)  # so that every call draws the same
    start, items = time.perf_counter(), [x[0], 2.0 * x[1], x[2] ** 2]
    random.shuffle(items)
    total = random.choice(items) * random.gauss(0.0, 1.0) + items[0]
    for k in range(3):
        total += np.sin(x[random.randrange(3)] * random.uniform(k, 2.0))
    return total + (time.perf_counter() < start)
