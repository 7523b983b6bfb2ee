"""Graphs as lists, tuples or dicts of lists of different lengths, at a node that data decides."""

import heapq
from collections import deque

import numpy as np

from tests.corpus import program

X = np.array([0.126, 0.332, 0.64, 0.105, 0.536])
LISTS = [[1, 2], [0, 3], [0], [1, 4], [3]]
TUPLES = tuple(map(tuple, LISTS))
DICT = dict(enumerate(LISTS))
ARRAYS = [np.array(v) for v in LISTS]
WEIGHTED = [[(1, 1.0), (2, 2.5)], [(0, 1.0)], [(0, 2.5)], [(1, 0.5), (4, 1.5)], [(3, 1.5)]]
SHAPES = [np.arange(6.0).reshape(3, 2), np.ones((2, 2)), np.eye(2) * 3, np.ones((4, 2)) / 2]


def steps_from(graph, x, start):
    dist = np.full(len(x), -1)
    dist[start] = 0
    queue = [start]
    while queue:
        u = queue.pop(0)
        for v in graph[u]:
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue.append(v)
    return np.sum(dist * x)


@program(X, LISTS)
def steps_in_lists(x, graph):
    return steps_from(graph, x, 0)


@program(X)
def steps_in_outer_tuples(x):
    return steps_from(TUPLES, x, int(np.argmax(x)))


@program(X)
def steps_in_an_outer_dict(x):
    return steps_from(DICT, x, int(np.argmax(x)))


@program(X)
def steps_in_outer_arrays(x):
    return steps_from(ARRAYS, x, int(np.argmin(x)))


@program(X)
def steps_of_a_deque(x):
    dist, queue = [-1] * len(x), deque([2])
    dist[2] = 0
    while queue:
        u = queue.popleft()
        for v in LISTS[u]:
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue.append(v)
    return sum(d * v for d, v in zip(dist, x, strict=True))


@program(X)
def visited_depth_first(x):
    seen, stack, total = set(), [int(np.argmax(x))], 0.0
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        total += x[u] ** 2 * len(seen)
        for v in DICT[u]:
            stack.append(v)
    return total


@program(X)
def relaxed_along_weighted_edges(x):
    dist = np.full(5, np.inf)
    dist[int(np.argmin(x))] = 0.0
    for _ in range(5):
        u = int(np.argmin(np.where(np.isfinite(dist), dist, 9.0)))
        for v, w in WEIGHTED[u]:
            dist[v] = min(dist[v], dist[u] + w * x[v] ** 2)
        dist[u] += x[u]
    return np.sum(dist[np.isfinite(dist)])


@program(X, LISTS)
def to_the_best_neighbour(x, graph):
    u, total = int(np.argmin(x)), 0.0
    for _ in range(4):
        u = max(graph[u], key=lambda k: x[k])
        total += x[u] ** 2 / (1 + len(graph[u]))
    return total


@program(X)
def points_of_shapes(x):
    total = np.zeros(2)
    for i in range(len(x)):
        for p in SHAPES[int(x[i] * 5)]:
            total = total + p * x[i] ** 2
    return total


@program(X)
def arrays_of_the_program(x):
    own = [x[:2] * 1.0, x[:3] * 2.0, x * 3.0, x[1:] ** 2, x[:1] * 5]
    return np.sum(own[int(np.argmax(x))] ** 2) + np.sum(own[int(np.argmin(x))])


@program(X)
def lists_of_the_program(x):
    own = [[1.0, x[2]], [3.0], [x[0], x[1], x[2]], [0.5], []]
    return sum(v * v for v in own[int(np.argmax(x))]) + len(own[int(np.argmin(x))])


@program(X)
def equally_long_lists_from_outside(x):
    a, b = EDGES[int(np.argmax(x))]
    return x[a] * x[b]


EDGES = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]


@program(X)
def unpacked_as_data_says(x):
    a, b = TUPLES[int(np.argmax(x)) - 1]
    (p, q, r) = [v for v in x if v > 0.3]
    ((i, j, k),) = np.nonzero(x > 0.3)
    return x[a] * x[b] + p * q * r + x[i] * x[j] ** 2 * x[k]


ROADS = {
    0: {1: 1.0, 2: 2.5},
    1: {0: 1.0, 3: 0.5},
    2: {0: 2.5},
    3: {1: 0.5, 4: 1.5},
    4: {3: 1.5},
}


@program(X)
def shortest_ways_of_a_heap(x):
    dist = dict.fromkeys(ROADS, np.inf)
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        so_far, u = heapq.heappop(heap)
        if so_far > dist[u]:
            continue
        for v, w in ROADS[u].items():
            way = so_far + w * x[v] ** 2
            if way < dist[v]:
                dist[v] = way
                heapq.heappush(heap, (way, v))
    return sum(dist.values())


@program(X)
def roads_that_there_are(x):
    u, total = int(np.argmax(x)), 0.0
    for v in range(5):
        if v in ROADS[u]:
            total += ROADS[u][v] * x[v]
        total += ROADS[v].get(u, 0.1) * x[v] ** 2
    return total + len(ROADS[u]) * sum(ROADS[u].values()) * x[0]


NAMED = {"a": ["b", "c"], "b": ["d"], "c": ["d", "e"], "d": ["a"], "e": []}


@program(X)
def walked_by_name(x):
    """Names have lists of different lengths."""
    cost = dict(zip("abcde", x, strict=True))
    at, total = "a", 0.0
    for _ in range(4):
        if not NAMED[at]:
            break
        following = NAMED[at][0]
        if cost[following] < 0.5:
            following = NAMED[at][-1]
        total += cost[following]
        at = following
    return total


@program(X)
def distances_between_names(w):
    """Dijkstra's algorithm over a dictionary of dictionaries, which have different keys."""
    links = {"a": {"b": w[0], "c": w[1]}, "b": {"c": w[2]}, "c": {"b": w[3] * w[4]}}
    dist = dict.fromkeys(links, np.inf)
    dist["a"] = 0.0
    queue = [(0.0, "a")]
    while queue:
        d, u = heapq.heappop(queue)
        if d > dist[u]:
            continue
        for v, length in links[u].items():
            if d + length < dist[v]:
                dist[v] = d + length
                heapq.heappush(queue, (dist[v], v))
    return dist["b"] + 2 * dist["c"]
