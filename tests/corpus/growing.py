"""Lists appended to and dicts filled in loops, then stacked, indexed, summed or returned."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.4, 6)
def orbit_of_logistic_map(x, n):
    orbit = []
    for _ in range(n):
        x = 2.5 * x * (1 - x)
        orbit.append(x)
    return np.array(orbit)


@program(normal(3), 4)
def stack_of_states(x, n):
    states = [x]
    for _ in range(n):
        states.append(np.sin(states[-1]) + 0.1 * x)
    return np.stack(states)


@program(normal(2), 4)
def two_steps_back(x, n):
    history = [x, 0.5 * x]
    for t in range(2, n):
        history.append(history[t - 1] * np.cos(history[t - 2]))
    return history[-1] + history[1]


@program(normal(4, 3))
def rows_appended_then_concatenated(a):
    pieces = []
    for row in a:
        pieces.append(row[:2] ** 2)
    return np.concatenate(pieces)


@program(normal(5))
def append_under_condition(x):
    positive = []
    for element in x:
        if element > 0:
            positive.append(element**2)
    total = 0.0
    for element in positive:
        total += np.sin(element)
    return total


@program(3.7)
def append_in_while(x):
    trace = []
    while x > 0.5:
        trace.append(x)
        x = 0.5 * x + 0.1 * np.sin(x)
    return sum(trace) + trace[-1] ** 2 + len(trace)


@program(uniform(3), 3)
def list_read_backwards(x, n):
    saved = []
    for _ in range(n):
        saved.append(x)
        x = np.exp(-x)
    for h in reversed(saved):
        x = x * h
    return x


@program(uniform(3), 3)
def stack_popped(x, n):
    saved = []
    for k in range(n):
        saved.append(x * (k + 1))
        x = np.sqrt(x)
    while saved:
        x = x * np.sin(saved.pop())
    return x


@program(normal(3, 3))
def list_of_lists(a):
    table = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(a[i, j] * a[j, i] + i)
        table.append(row)
    return np.array(table)[1] + table[0][2]


@program(normal(4))
def list_prefilled(x):
    work = [0.0] * len(x)
    for i in range(len(x)):
        work[i] = x[i] ** 2
    for i in range(1, len(work)):
        work[i] += 0.5 * work[i - 1]
    return np.array(work)


@program(normal(4))
def list_concatenated_in_loop(x):
    parts = []
    for i in range(4):
        parts += [x[i], x[i] ** 2]
    return np.stack(parts) @ np.arange(8.0)


@program(normal(3), 5)
def append_pairs(x, n):
    pairs = []
    position, speed = x, np.zeros_like(x)
    for _ in range(n):
        speed = speed - 0.1 * np.sin(position)
        position = position + 0.1 * speed
        pairs.append((position, speed))
    positions, speeds = zip(*pairs)
    return np.array(positions) * np.array(speeds)


@program(normal(3))
def dict_filled_in_loop(x):
    moments = {}
    for k in range(1, 4):
        moments[k] = np.mean(x**k)
    return moments[3] - 3 * moments[1] * moments[2] + 2 * moments[1] ** 3


@program(normal(3, 2))
def dict_of_computed_keys(x):
    table = {}
    for i in range(3):
        for j in range(2):
            table[f"x{i}{j}"] = x[i, j] ** (j + 1)
    return table["x00"] * table["x21"] + table["x11"]


@program({"w1": normal(2, 2), "w2": normal(2, 2, seed=1)}, {"w1": 0.2, "w2": 0.4}, wrt=(0, 1))
def dict_updated_in_loop(parameters, rates):
    updated = {}
    for name, w in parameters.items():
        updated[name] = w - rates[name] * w**3
    return updated


@program(0.3)
def memo_in_dict(x):
    memo = {0: 1.0, 1: x}

    def hermite(n):
        if n not in memo:
            memo[n] = 2 * x * hermite(n - 1) - 2 * (n - 1) * hermite(n - 2)
        return memo[n]

    return hermite(5) + memo[3]


@program(normal(4))
def dict_of_lists(x):
    groups = {"even": [], "odd": []}
    for i, value in enumerate(x):
        groups["even" if i % 2 == 0 else "odd"].append(value)
    return groups["even"][1] * sum(groups["odd"])


@program([normal(2)], 3)
def argument_list_appended_to(states, n):
    for _ in range(n):
        states.append(np.tanh(states[-1] + states[0]))
    return np.stack(states)


@program(normal(3), 4)
def last_element_replaced(x, n):
    states = [x]
    for _ in range(n):
        states.append(np.sin(states[-1]))
        states[-1] = states[-1] * x
    return np.stack(states)


@program(0.7, 4)
def numbers_added_to_elements(x, n):
    totals = [x]
    for k in range(n):
        totals.append(x**k)
        totals[k] += totals[k + 1] * x
    return np.array(totals)


@program(np.array([1.0, 2.0, 3.0]))
def filled_by_two_loops_and_read_between(x):
    items, s = [], 0.0
    for v in x:
        for w in x:
            items.append(v * w)
        s = s + items[0] * items[-1]
    for a in items:
        s += a * a
    return s
