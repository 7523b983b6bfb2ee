"""Programs that cannot be staged for all values: containers, classes, shapes and errors by data."""

import collections
import heapq
import math

import numpy as np

PROGRAMS = []
FOUR = np.array([0.11, 0.52, 0.93, 0.34])


def program(*at):
    """A program of one array, tried at a point around which it is smooth."""

    def noted(function):
        PROGRAMS.append((function, np.array(at if at else FOUR)))
        return function

    return noted


# -- containers


@program(0.7, 1.9, 0.4, 1.2, 0.9, 1.6)
def a_huffman_tree(w):
    heap = [(float(v), k, [k]) for k, v in enumerate(w)]
    heapq.heapify(heap)
    weights, n, total = dict(enumerate(w)), len(heap), 0.0
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        weights[n] = weights[a[1]] + weights[b[1]]
        total = total + weights[n] ** 2
        heapq.heappush(heap, (a[0] + b[0], n, a[2] + b[2]))
        n += 1
    return total


@program(0.62, 1.31, 2.24, 0.55, 2.3, 1.7)
def clusters_by_union_and_find(x):
    parent = list(range(len(x)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i in range(len(x)):
        for j in range(i):
            if abs(x[i] - x[j]) < 0.2:
                parent[root(i)] = root(j)
    groups = {}
    for i in range(len(x)):
        groups.setdefault(root(i), []).append(x[i])
    return sum(np.var(np.array(g)) for g in groups.values()) + len(groups) * x[0]


@program(3.1, 1.2, 2.3, 5.4, 4.5)
def sorted_by_merging(x):
    def merged(items):
        if len(items) <= 1:
            return items
        half = len(items) // 2
        left, right = merged(items[:half]), merged(items[half:])
        out = []
        while left and right:
            out.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
        return out + left + right

    return sum((k + 1) * v**2 for k, v in enumerate(merged(list(x))))


@program()
def runs_that_are_lists(x):
    out, run = [], []
    for v in np.concatenate([x, 2 * x]):
        if sum(run) + v > 1:
            out.append(run)
            run = []
        run.append(v)
    out.append(run)
    return sum(np.prod(np.array(r)) for r in out if r)


@program(0.13, 0.57, 0.95)
def the_last_values_in_a_queue(x):
    window, total, v = collections.deque(maxlen=3), 0.0, x[0]
    while v < 50:
        window.append(v)
        total = total + max(window) - min(window)
        v = v * (1 + x[1]) + x[2]
    return total


@program(0.13, 0.57, 0.95)
def a_cache_of_a_recursion(x):
    known = {}

    def term(n):
        if n not in known:
            known[n] = x[n] if n < 3 else term(n - 1) + term(n - 2) * x[0]
        return known[n]

    return term(int(20 * x[1]))


@program(1.25, 2.5, 0.75)
def keys_and_members(x):
    counts = collections.Counter(int(v) for v in x)
    names = {int(v): k for k, v in enumerate(x)}
    members = {int(v) for v in x} | {names.get(2, 7)}
    last = names.pop(int(x[1]))
    return x[last] ** 2 * len(members) + counts[1] * x[0] * (2 in members)


# -- classes, functions, texts


@program(0.31, 0.72, 1.93, 2.24)
def objects_of_two_classes(x):
    class Square:
        def __init__(self, scale):
            self.scale = scale

        def value(self, v):
            return self.scale * v**2

    class Wave(Square):
        def value(self, v):
            return self.scale + np.sin(v)

    shapes = [Square(v) if v < 1 else Wave(v) for v in x]
    return sum(s.value(x[k]) for k, s in enumerate(shapes))


@program(0.52, 0.93, 0.24)
def a_search_tree(x):
    class Node:
        def __init__(self, v):
            self.v, self.left, self.right = v, None, None

        def insert(self, v):
            side = "left" if v < self.v else "right"
            child = getattr(self, side)
            if child is None:
                setattr(self, side, Node(v))
            else:
                child.insert(v)

        def total(self, depth):
            inner = [c.total(depth + 1) for c in (self.left, self.right) if c is not None]
            return self.v**2 * depth + sum(inner)

    root = Node(x[0])
    for v in np.concatenate([x[1:], 0.7 * x]):
        root.insert(v)
    return root.total(1)


@program(0.41, 2.52, 1.13)
def functions_by_a_text(x):
    kind = "low" if x[0] < 0.5 else "high"
    table = {"low": lambda v: v**2, "high": np.sin}
    name = f"{kind}_{int(x[1])}"
    return table[name.split("_")[0]](x[2]) * int(name[-1])


@program()
def functions_in_a_list(x):
    functions = []
    for v in x:
        if v > 0.2:
            functions.append(lambda t, v=v: t * v)
        else:
            functions.append(lambda t: t + 1)
    y = x[3]
    for f in functions:
        y = f(y)
    return y


@program()
def an_iterator_that_data_ends(x):
    class Countdown:
        def __init__(self, v):
            self.v = v

        def __iter__(self):
            return self

        def __next__(self):
            if self.v < 0:
                raise StopIteration
            self.v = self.v - x[0]
            return self.v

    return sum(v * v for v in Countdown(x[2]))


@program()
def patterns(x):
    def area(shape):
        match shape:
            case {"kind": "circle", "r": r}:
                return 3 * r * r
            case ("rectangle", a, b):
                return a * b
            case [a, *rest]:
                return a + sum(rest)

    shapes = [{"kind": "circle", "r": x[0]}, ("rectangle", x[1], x[2])]
    shapes += [[x[3], x[0]]] if x[2] > 0.5 else []
    return sum(map(area, shapes))


@program(0.13, 0.57, 0.95)
def text_that_grows(x):
    text, v = "", x[0]
    while v < 1:
        text += "ab"[int(10 * v) % 2]
        v = v * 1.7 + 0.05
    return v * text.count("a") + len(text) * v**2


# -- shapes and kinds


@program(0.31, 0.72, 1.93, 2.24)
def an_array_that_grows(x):
    rows, s = np.zeros((0, len(x))), 1.0
    while s < 10 * x[3]:
        rows, s = np.vstack([rows, x * s]), s * 2
    return np.sum(np.linalg.norm(rows, axis=1))


@program(0.31, 0.72, 1.93, 2.24)
def a_number_or_an_array(x):
    y = x[0] if x[1] > 0.5 else x
    return np.sum(np.concatenate([np.ravel(y), x]) ** 2)


@program(0.31, 0.72, 1.93, 2.24)
def a_number_or_none(x):
    def double(v):
        return v * 2 if v > 1 else None

    return sum(y**2 for y in map(double, x) if y is not None)


@program()
def an_array_that_shrinks(x):
    y = x
    while np.sum(y) > 0.3:
        y = y[:-1] if len(y) > 2 else y * 0.5
    return np.sum(y * y)


@program()
def a_shape_by_data(x):
    n = 2 if x[0] < 0.2 else 4
    return np.sum(x.reshape(n, -1) @ np.ones((4 // n, 3)) * np.arange(3.0))


@program(0.13, 0.57, 0.95)
def a_dtype_by_data(x):
    y = np.zeros(3, dtype=int) if x[0] > 1 else np.zeros(3)
    return np.sum((y + x) ** 2)


@program(1.1, 2.2, 3.3)
def one_of_two_arrays_is_stored_to(x):
    a = x.copy()
    b = a if x[0] > 0.5 else x.copy()
    b[0] = 10.0 * x[1]
    return np.sum(a * x)


# -- errors


@program(1.1, 2.2, 3.3)
def an_index_that_is_caught(x):
    total, k = 0.0, 0
    while total < 1000:
        try:
            total = total + x[int(k * x[0])] * 2
        except IndexError:
            total = total + x[0]
            break
        finally:
            k += 1
    return total * k


@program(4.1, 9.2, -1.3, 2.4)
def a_domain_that_is_caught(x):
    total = 0.0
    for v in x:
        try:
            total = total + math.sqrt(v)
        except ValueError:
            total = total + v * v
    return total


# -- not one of PROGRAMS: other tests try it at many points, at which it makes more passes or fewer


def halved(x):
    """What it was before, in front of what it becomes, until it is small."""
    history = 0.0
    while np.max(np.abs(x)) > 1.0:
        x = x / 2
        history = np.concatenate([np.atleast_1d(history), x[:1]])
    return np.sum(history) + np.sum(x)
