"""Tuples, lists, dicts and their methods; arguments and results that are nested containers."""

import heapq
import math
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import numpy as np

from tests.corpus import normal, program, uniform

Line = namedtuple("Line", "slope offset")


@program({"w": normal(3, 2), "b": normal(2, seed=1)}, normal(3, seed=2), wrt=(0, 1))
def dict_of_arrays(parameters, x):
    return np.tanh(x @ parameters["w"] + parameters["b"])


@program(
    {"layers": [(normal(2, 2), 0.1), (normal(2, 2, seed=1), 0.2)], "scale": 1.5, "unused": None}
)
def nested_pytree(parameters):
    x = np.array([0.3, -0.4])
    for w, b in parameters["layers"]:
        x = np.tanh(w @ x + b)
    return parameters["scale"] * x[0]


@program([0.3, 1.2, -0.8])
def list_methods(values):
    work = list(values)
    work.append(work[0] * work[1])
    work.insert(0, work[-1] ** 2)
    work.extend([1.0, values[2]])
    last = work.pop()
    work.reverse()
    del work[0]
    return sum(k * v for k, v in enumerate(work)) * last + len(work)


@program([0.3, 1.2, -0.8])
def list_slices_and_stores(values):
    values[1] = values[0] ** 2
    values[1:] = [values[2], values[1], 2.0 * values[0]]
    values[-1] *= 3.0
    head, tail = values[:2], values[2:]
    return head[0] * tail[-1] + head[1] * tail[0] + sum((head + tail) * 2)


@program((0.5, (1.5, [0.2, -0.7])))
def nested_unpacking(tree):
    a, (b, [c, d]) = tree
    return a * b + c**2 * d


@program(0.4, 1.1, wrt=(0, 1))
def tuple_arithmetic(x, y):
    pair = (x, y) + (x * y,)
    doubled = pair * 2
    return sum(v**k for k, v in enumerate(doubled)) + pair.index(pair[0]) + doubled[-1]


@program(0.4, 1.1, wrt=(0, 1))
def dict_methods(x, y):
    table = dict(a=x, b=y)
    table.update(c=x * y)
    table.setdefault("d", x**2)
    table["e"] = table.pop("a") + table.get("missing", 0.5)
    merged = table | {"b": table["b"] ** 3}
    return sum(merged.values()) * len(merged) + sum(v for k, v in merged.items() if k in "de")


@program({"x": 0.4, "y": 1.1})
def dict_unpacked_into_dict(point):
    moved = {**point, "x": point["x"] ** 2, "z": point["y"]}
    del moved["y"]
    return moved


@program(normal(5))
def counts_in_defaultdict(x):
    groups = defaultdict(float)
    for i, value in enumerate(x):
        groups[i % 2] += value**2
    return groups[0] * groups[1]


@program(uniform(5))
def window_in_deque(x):
    window = deque([0.0, 0.0], maxlen=2)
    total = 0.0
    for value in x:
        window.append(value)
        total += window[0] * window[1]
    return total


@program(0.9)
def ordered_dict_of_functions(x):
    pipeline = OrderedDict(square=lambda t: t * t, wave=np.sin, shift=lambda t: t + x)
    pipeline.move_to_end("square")
    for stage in pipeline.values():
        x = stage(x)
    return x


@program(Line(0.5, 1.5), normal(3), wrt=(0, 1))
def namedtuple_fields(line, x):
    slope, offset = line
    return np.sum((slope * x + line.offset) ** 2) + line[0] * len(line) + offset


@program([Line(0.5, 1.5), Line(-0.2, 0.4)])
def list_of_namedtuples(lines):
    crossing = (lines[1].offset - lines[0].offset) / (lines[0].slope - lines[1].slope)
    return Line(slope=crossing, offset=lines[0].slope * crossing + lines[0].offset)


@program(0.5, 1.5, wrt=(0, 1))
def nested_result(x, y):
    return {
        "product": x * y,
        "parts": [(x**2, np.array([x, y])), None],
        "line": Line(y, np.outer([x], [y])),
    }


@program([0.9, -0.3, 0.5])
def sorted_list(values):
    ranked = sorted(values, key=lambda v: -v)
    a, b, c = ranked
    values.sort()
    return a + 2 * b**2 + 3 * c**3 + values[0] * values[2]


@program([normal(3), normal(3, seed=1)])
def array_of_list(rows):
    table = np.array(rows)
    table[0] = table[1] * rows[0]
    return table.T @ np.array([1.0, 2.0])


@program(0.3, 0.8, wrt=(0, 1))
def array_of_scalars(angle, scale):
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return scale * rotation @ rotation @ np.array([1.0, scale, angle])


@program(0.7)
def set_and_string_keys(x):
    total = 0.0
    for word in sorted({"b", "a", "cc"}):
        total += x ** len(word) if word not in {"a"} else np.sin(x)
    return total * "abc".index("c")


@program({"w2": normal(3), "b1": normal(2, seed=1), "w1": normal(2, 2, seed=2)})
def items_in_the_order_of_names(parameters):
    total = 0.0
    for k, (name, value) in enumerate(sorted(parameters.items())):
        total += (k + 1) * np.sum(value**2 if name.startswith("w") else np.exp(value))
    for k, (name, value) in enumerate(sorted(parameters.items(), reverse=True)):
        total += (k + len(name)) * np.sum(np.sin(value))
    return total


@program(normal(4))
def heap(x):
    queue = []
    for k in range(4):
        heapq.heappush(queue, (k * 3 % 4, k))
    total = 0.0
    while queue:
        _, k = heapq.heappop(queue)
        total = total * 2 + x[k] ** 2
    return total


@program(normal(4))
def distance_of_a_list(x):
    squares = []
    for v in x:
        squares.append(v * v)
    return math.dist(squares, [1.0] * 4)


@program(0.3)
@program(1.7)
def changed_or_replaced(x):
    simplex, table, nested = [x, 2 * x], {"a": x}, {"a": {"b": x}}
    if x > 0.5:
        simplex[0] = simplex[1] * 0.1 * x
        table["a"] = x**3
        nested["a"]["b"] = 5 * x * x
    else:
        simplex = [simplex[1] * 2, simplex[0] * x]
        table = {"a": 7 * x * x}
        nested["a"] = {"b": x**3}
    return simplex[0] + 2 * simplex[1] + 3 * table["a"] + nested["a"]["b"]


@program(0.3)
@program(1.7)
def deque_in_a_branch(x):
    d = deque([1.0, 2.0, 3.0])
    if x > 1:
        d.rotate(1)
        d[1] *= x
        d.extendleft([x * x])
        del d[3]
    return d[0] * 3 + d[1] * x + d[2] * x**2


@program(normal(2), 3)
def the_same_array(x, n):
    best, total = x, 0.0
    for i in range(n):
        total += x[0] ** 2 if best is x else 10 * x[1] ** 2
        if i == 1:
            best = x * 2
    return total


@program(1.3)
def is_true(x):
    positive = x > 0
    return x**3 if positive is True else -3 * x


@program(0.3)
@program(1.7)
def a_list_that_moves_between_names(x):
    state, kept = [x, 2 * x, 0.3], None
    for k in range(5):
        if state[0] > state[1]:
            state = [state[1], state[0] * 0.7, state[2]]
        else:
            state[0] = state[0] * 1.5
            state[2] += state[1]
        kept = list(state) if k == 2 else kept
    state[1] = state[1] * 2
    return state[0] * state[1] + state[2] + kept[0]


@program(normal(4) ** 2)
def overlapping_intervals(x):
    out = [[x[1], x[0] + 1]]
    for lo, hi in [[x[2], x[3] + 1], [x[0] + 2, x[1] + 3]]:
        if lo <= out[-1][1]:
            out[-1][1] = max(out[-1][1], hi)
        else:
            out.append([lo, hi])
    return sum((b - a) ** 2 for a, b in out)


@program(normal(4))
def rows_changed_later(x):
    out = []
    for v in x:
        out.append([v, 0.0])
    for row in out:
        row[1] = row[0] ** 3
    return sum(a * b for a, b in out)


@program(normal(4))
def a_row_changed_after_it_was_appended(x):
    out, same = [], [0.0]
    for v in x:
        row = [v, 0.0]
        out.append(row)
        row[1] = v * v
        same[0] += v**2
        out.append(same)
    return sum(r[-1] ** 2 for r in out)


@dataclass
class Particle:
    x: float
    v: float


@program(normal(3))
def particles_in_a_list(x):
    particles = []
    for k in range(3):
        particles.append(Particle(x[k], 1.0))
    for _ in range(3):
        for p in particles:
            p.x += 0.1 * p.v
            p.v -= p.x
    return sum(p.x**2 for p in particles)


@program(0.4)
@program(1.4)
def deques_of_two_sides(x):
    if x > 1:
        held = deque([x, 2.0], maxlen=2)
    else:
        held = deque([2 * x, 3.0], maxlen=2)
    held.append(x * held[0])
    return held[0] * held[1]


@program(2.6)
@program(0.3)
def appended_on_one_side_summed_on_the_other(x):
    rows, total = [[x, 1.0], [0.5, x]], x
    if rows[-1][1] < 2.0:
        rows.append([rows[-1][1], 1.5])
    else:
        total += sum(r[0] for r in rows) * 0.1
    return total + sum(r[0] ** 2 for r in rows) + len(rows)
