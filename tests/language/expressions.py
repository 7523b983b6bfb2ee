"""Comprehensions, containers, assignment, strings and names."""

import bisect
import heapq
import queue
import statistics
from array import array
from collections import defaultdict, deque

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from tapeless import jit
from tests.language import row

GRAVITY = 9.81
IDENTITY = sp.eye(3).tocsr()
TABLE = np.array([0.5, 1.5, 2.5])


@row("list comprehensions")
def listed(x):
    squares = [v * v for v in x if v > 0]
    grid = [[a * b for a in x] for b in (1.0, 2.0)]
    return sum(squares) * grid[1][2] + np.sum(np.array(grid) ** 2)


@row("dict and set comprehensions")
def tabled(x):
    powers = {n: x**n for n in (1, 2, 3)}
    names = {n % 2 for n in range(5)}
    last = {int(v * 2): v for v in x}
    return np.sum(powers[3] * powers[1][0]) * len(names) * sum(last.values())


@row("generator expressions")
def generated(x):
    return sum(v**3 for v in x) + np.sum(np.array(list(a * b for a, b in zip(x, x[::-1]))) ** 2)


def running(values):
    total = 0.0
    for v in values:
        total = total + v * v
        yield total


@row("generator functions")
def yielded(x):
    y = 1.0
    for total in running([x[0], x[1], x[2]]):
        y = y * total
    return y + sum(running((x[0], x[1])))


@row("lists appended to in loops, then stacked")
def stacked(x):
    states, y = [], x
    for t in range(6):
        y = y + 0.1 * np.sin(y) * x[0]
        states.append(y)
    return np.sum(np.stack(states) ** 2)


@row("arrays that data makes longer or shorter from pass to pass")
def lengthened(x):
    steps, halved = np.empty(0), x
    while np.sum(halved**2) > 0.1:
        steps = np.append(steps, np.sum(halved))
        halved = 0.5 * halved
    while len(steps) > 1:
        steps = np.sin(steps[:-1] + steps[1:])
    return steps[0] + np.sum(halved)


class Shell:
    def __init__(self, weight, width):
        self.weight, self.width = weight, width


@row("loops over lists and tuples that are written out, also of objects, dicts and lists of these")
def written_out(x):
    shells = [[Shell(0.2, 0.1 * x[0]), Shell(0.8, x[1])], [Shell(0.3, x[2]), Shell(0.7, 2.0)]]
    total = 0.0
    for a in shells:
        for b in shells:
            for p in a:
                for q in b:
                    for r in a:
                        for s in b:
                            for w in (0.5, 1.0, 1.5):
                                t = w * (p.width + q.width) * (r.width + s.width) / (1 + w)
                                total += p.weight * q.weight * r.weight * s.weight * np.exp(-t)
    return total


@row("lists appended to in loops, then indexed")
def remembered(x):
    history = [x[0]]
    for t in range(1, 7):
        history.append(np.sin(history[t - 1]) + x[1] * x[2])
    return history[-1] * history[3] + sum(history)


class Mass:
    def __init__(self, at, speed):
        self.at, self.speed = at, speed

    def pull(self, other):
        if self is not other:
            self.speed = self.speed + 0.1 * np.sin(other.at - self.at)


@row("lists of objects, or of dicts, that a loop or comprehension over a range makes")
def masses(x):
    items = [Mass(x[i], x[i] * x[i + 1]) for i in range(len(x) - 1)]
    for a in items:
        for b in items:
            a.pull(b)
    near = [a for a in items if a.speed > 0.2]
    return sum(a.at * a.speed for a in items) + sum(a.speed for a in near)


@row("dicts filled in loops")
def filled(x):
    found = {}
    for i, name in enumerate(["a", "b", "c"]):
        found[name] = x[i] ** (i + 2)
    found["a"] *= found["c"]
    return sum(found.values())


@row(
    "dicts and sets of texts, members of enumerations, or tuples of these, that get and lose keys "
    "under tests on data, or at a text from data (`counts[label] += 1`)"
)
def labelled(x):
    sums, last = defaultdict(float), {}
    for v in x:
        sums["small" if v < 1 else "large"] += v**2
        if v > 1:
            last["large"] = v
    return sums["small"] + 2 * sums["large"] + last.get("large", 0.5) ** 2


class Particle:
    def __init__(self, position, mass):
        self.position, self.mass = position, mass


@row(
    "lists of the objects that pass a test on data: `[cell for cell in cells if cell.energy > 0]`, "
    "or that are appended under one, also in tuples"
)
def passing(x):
    particles = [Particle(v, k + 1.0) for k, v in enumerate((x[0] * 2, x[1], x[2]))]
    fast = [p for p in particles if p.position > 1]
    for p in fast:
        p.position *= p.mass
    return sum(p.position**2 for p in particles) + len(fast)


@row(
    "dicts and sets whose keys are data (counts, groups, cells, visited nodes), also `defaultdict` "
    "and `Counter`"
)
def grouped(x):
    groups, seen = defaultdict(list), set()
    for v in x:
        groups[int(v * 3)].append(v)
        seen.add(int(v * 2))
    return sum(len(g) * sum(g) ** 2 for g in groups.values()) * len(seen)


MASSES = {0: 1.008, 1: 4.003, 2: 6.941}


@row("a known dict, also an outer one, at a key from data")
def weighed(x):
    return sum(MASSES.get(int(abs(v) * 4), 0.5) * v * v for v in x)


@row(
    "lists, dicts, objects and arrays of which data says which one is meant: "
    "`c = a if x > 0 else b`, `boxes[k]`, names that a loop exchanges, a list that is longer on "
    "one side of a test"
)
def one_of_several(x):
    first, second = [x[0], x[1]], [x[2], 2.0 * x[0]]
    chosen = first if x[0] > 0.3 else second
    chosen[0] = x[1] * x[2]
    lists = [first, second]
    if x[1] > 0.5:
        lists.append(first)
    lists[int(3 * x[2]) % 2][1] *= x[0]
    for v in x:
        if v > 0.4:
            first, second = second, first
        first[0] = first[0] * v
    return sum((k + 1) * sum(items) ** 2 for k, items in enumerate(lists))


@row("arrays in a list, of which data says which one is stored to")
def summed_by_sign(x):
    sums = [np.zeros(2), np.ones(2)]
    for v in x:
        sums[int(v > 0.3)] += v * v
    return np.sum(sums[0] * sums[1] ** 2)


@row("starred expressions")
def starred(x):
    first, *rest = x[0], x[1], x[2]
    more = [*rest, first * 2]
    a, b, c = (lambda *args, **kw: (*args, kw["k"]))(*more[:2], **{"k": x[0]})
    return a * b**2 + c * first


@row("tuple swaps")
def swapped(x):
    a, b = x[0], x[1]
    for t in range(5):
        a, b = b, a * x[2] + np.sin(b)
    return a * b


@row("augmented assignment on names, items and attributes")
def augmented(x):
    y = x * 1.0
    y *= x
    y[1] += x[0]
    y[:2] /= 2 + x[2]
    y **= 3
    parts = {"a": x[0]}
    parts["a"] -= x[1] ** 2
    more = [x[2]]
    more[0] *= x[2]
    more += [x[0] * x[1]]
    return np.sum(y) * parts["a"] + sum(more)


@row("constants and arrays of the module")
def constants(x):
    return np.sum(TABLE * x**2) * GRAVITY


@row("`del`")
def deletes(x):
    y = x**2
    parts = {"a": y, "b": x}
    more = [x[0], x[1], x[2]]
    del y, parts["b"], more[1]
    return np.sum(parts["a"]) * more[1]


@row("f-strings in messages", fails=([0.7, 9.0, 1.0], ValueError, "entry 1 of 3 is 9.00, over 5"))
def formats(x):
    for i in range(len(x)):
        if x[i] > 5:
            raise ValueError(f"entry {i} of {len(x)} is {x[i]:.2f}, over {5}")
    return np.sum(x**2) * x[0]


@row("type hints")
def hinted(x: np.ndarray, scale: "float" = 2.0) -> float:
    total: float = 0.0
    y: np.ndarray
    for v in x:
        total += v**2
    y = x * total
    return scale * np.sum(y)


@row(
    "text that shows data: `%`, `format`, `join`, `+`, methods of `str`",
    prints="X = 0.70 of 1.6\n0.7, -0.4, 1.3 |  70.0%\n",
)
def shown(x):
    head = ("x = %.2f" % x[0]).upper() + " of {:.2g}".format(np.sum(x))  # noqa: UP031, UP032
    print(head)
    print(", ".join(f"{v:.1f}" for v in x), f"{x[0]:.1%}".rjust(6), sep=" | ")
    return np.sum(x**2)


@row('text by data (`"left" if x < 0 else "right"`)', prints="right\n")
def named_side(x):
    side = "left" if x[0] < 0 else "right"
    print(side)
    return np.sum(x**3) if side == "right" else np.sum(x)


@row("texts, functions, `None`, tuples of these and of numbers at an index from data (`names[k]`)")
def named_by_an_index(x):
    k = int(np.argmax(x))
    name, factor = [("first", 2.0), ("second", x[0]), ("third", 0.5)][k]
    bend = (np.sin, np.cos, np.exp)[k]
    return bend(x[0]) * factor + (x[1] ** 2 if name == "third" else x[2] ** 3)


@row(
    "lists that loops fill with texts, members of enumerations, functions, or objects that are "
    "older than the loop, also in tuples and dataclasses (heaps of events, queues of jobs, graphs "
    "with names)"
)
def heap_of_events(x):
    heap, total, n = [(abs(x[0]), "start"), (abs(x[1]), "start")], 0.0, 0
    heapq.heapify(heap)
    while heap and n < 9:
        t, kind = heapq.heappop(heap)
        n += 1
        total = total + t * t * (2.0 if kind == "end" else x[2])
        if kind == "start":
            heapq.heappush(heap, (1.3 * t, "end"))
    return total


@row("functions in containers that data or a loop changes, where items are taken out again")
def functions_in_a_list(x):
    steps = [(np.power, 2.0)]
    if x[0] > 1:
        steps.append((np.multiply, 3.0))
    total = np.sum(x)
    while steps:
        step, by = steps.pop()
        total = step(total, by)
    return total


@row("ranges of data: index, slice, `len`, `in`")
def ranged(x):
    places = range(len(x))
    total = places[-1] * x[0] ** 2 + len(places[::2]) * x[1]
    for k in places[1:]:
        total = total + x[k] ** 3
    return total if 2 in places else x[0]


@row("`in` of lists, comparisons of tuples and lists, `min` and `max` with a key")
def ordered(x):
    pair = min((v, k) for k, v in enumerate(x))
    best = max(range(len(x)), key=lambda k: x[k] ** 2)
    seen = [v for v in x if v > 0]
    least = pair[0] ** 2 if (x[0], 1) < (x[1], 2) else pair[0] ** 3
    least = least if seen < [v + 1 for v in seen] else x[0]
    return least + x[best] ** 3 if x[best] not in seen else least * x[best]


@row("`next` of a generator expression with a test on data")
def first_one(x):
    return next((v**2 for v in x if v > 0), 1.0) * x[0]


@row("lists appended to in loops, then sorted, reversed, sliced, joined")
def rearranged(x):
    found = []
    for v in x:
        found.append(v**2)
    found.sort()
    longer = found[:2] + sorted(found, reverse=True)
    longer.reverse()
    return longer[0] * longer.pop(0) + longer.pop() * longer[1] + len(longer)


@row("`insert`, `remove`, `index`, `count`, `pop(k)`, `del` of lists, by data")
def moved_in_lists(x):
    found = []
    for v in x:
        if v > 0:
            found.insert(0, v**2)
    found.insert(int(x[0] > 0), x[1])
    taken = found.pop(found.index(max(found)))
    del found[-1]
    found.remove(x[1])
    return taken * x[2] + len(found) + found.count(x[1]) * x[1]


@row("`heapq` and `bisect`")
def heaps_and_places(x):
    heap, ordered = [], []
    for k, v in enumerate(x):
        heapq.heappush(heap, (v**2, k))
        bisect.insort(ordered, v)
    least, k = heapq.heappop(heap)
    return least * x[k] + ordered[bisect.bisect(ordered, 0.1)] ** 2


@row("the queues of `queue`")
def queued(x):
    line, nearest = queue.Queue(), queue.PriorityQueue()
    for v in x:
        if v > -1:
            line.put(v)
            nearest.put(v**2)
    total = 0.0
    while not line.empty():
        total = total * 0.5 + line.get() * nearest.get()
    return total


@row("arrays of `array`")
def typed(x):
    row = array("d", [np.inf]) * (len(x) + 1)
    row[0] = 0
    for i in range(len(x)):
        row[i + 1] = min(row[i] + x[i], row[i + 1])
    row.append(x[0])
    return sum(row) * row[-1]


@row("averages and deviations of `statistics`")
def described(x):
    return statistics.mean(x) * statistics.median(x) + statistics.stdev(x) ** 3


@row("`np.r_`, `np.c_`")
def joined_by_index(x):
    return np.sum(np.r_[x[0], x, 0:2] ** 2) + np.sum(np.c_[x, x**2] * np.array([1.0, 2.0]))


@row("matrices of scipy.sparse: made of values of the program, or outside")
def in_sparse_matrices(x):
    n = len(x)
    steps = sp.diags([x[1:], -2 * x - 1, x[:-1]], [-1, 0, 1]).tocsc()
    solution = spsolve(sp.eye(n) - 0.1 * steps, x)
    return np.sum(solution**2) + x @ (steps @ solution) + np.sum(IDENTITY @ x)


@row("lists of objects, or of tuples and dicts with texts, in an order that run-time values decide")
def in_the_order_of_scores(x):
    scores = {"a": x[0] ** 2, "b": x[1], "c": x[2]}
    ranked = sorted(scores.items(), key=lambda item: item[1], reverse=True)
    (name, best), *_ = ranked
    return best**2 + scores[name] * len(name) + sum(k * v for k, (_, v) in enumerate(ranked))


@row("deques")
def window(x):
    held, total = deque(maxlen=2), 0.0
    for v in x:
        if v > 0.5:
            held.append(v * v)
        elif held:
            total += held.popleft()
        total += sum(held) * v
    return total


@row("lists and tuples of numbers, or of things that are alike, at an index from data")
def accumulated_by_kind(x):
    totals, factors = [0.0, x[0]], (1.5, -2.0)
    for v in x:
        k = 1 if v > 1 else 0
        totals[k] += factors[k] * v**2
    return totals[0] * totals[1]


NEIGHBOURS = [[1, 2], [0], [0, 1, 2]]


@row(
    "lists of lists, tuples, dicts or arrays of different lengths that the program does not make "
    "(graphs, tables) at an index or key from data"
)
def from_neighbour_to_neighbour(x):
    u, total = int(np.argmax(x)) % 3, 0.0
    for v in NEIGHBOURS[u]:
        total += x[v] ** 2 * len(NEIGHBOURS[v])
    return total


@row("`a, b = rows` where data says how many there are")
def both_that_are_positive(x):
    a, b, *_ = sorted(v for v in x)
    (least,) = [v for v in x if v <= a]
    return a * b + least**2


@jit
def chosen(x, places):
    return sum(x[k] ** 2 for k in range(len(x)) if k in places)


@row("sets and byte arrays as arguments")
def where_a_set_says_so(x):
    return chosen(x, {0, 2}) + chosen(x, bytearray([1]))
