"""Lists that are made on one line keep their own types of numbers."""

import heapq
import math

import numpy as np

from tapeless import grad, jit

X = np.array([0.6, 0.2, 0.1, 0.9, 0.5])


def distances(x):
    n = len(x)
    nearest, before = [math.inf] * n, [-1] * n
    for k in range(n):
        if x[k] > 0.3:
            nearest[k], before[k] = x[k], k
    return nearest, before


def zeros(x):
    n = len(x)
    a, b = [0] * n, [0 for _ in range(n)]
    for k in range(n):
        if x[k] > 0.3:
            a[k], b[k] = x[k], k
    return a[3], b


def rows(x):
    a, b, c = ([0] * len(x) for _ in range(3))
    for k in range(len(x)):
        if x[k] > 0.3:
            a[k], b[k], c[k] = k, x[k], 2 * k
    return a, b[3], c


def shortest(w, end):
    n = len(w)
    dist, prev, queue, done = [math.inf] * n, [-1] * n, [(0.0, 0)], set()
    dist[0] = 0.0
    while queue:
        d, u = heapq.heappop(queue)
        if u in done:
            continue
        done.add(u)
        if u == end:
            break
        for v in range(n):
            if w[u, v] > 0 and d + w[u, v] < dist[v]:
                dist[v], prev[v] = d + w[u, v], u
                heapq.heappush(queue, (dist[v], v))
    path, u = [], end
    while u != -1:
        path.append(u)
        u = prev[u]
    return dist[end], path[::-1]


def kinds(value):
    if isinstance(value, (list, tuple)):
        return [kinds(v) for v in value]
    return np.asarray(value).dtype.kind


def test_integers_stay_integers():
    for function in (distances, zeros, rows):
        result = jit(function)(X)
        if function is not distances:  # whose floats data chooses
            assert kinds(result) == kinds(function(X))
        assert kinds(result[-1]) == ["i"] * 5
        for ours, right in zip(result, function(X), strict=True):
            np.testing.assert_array_equal(ours, right)


def test_a_shortest_way_and_its_derivative():
    w = np.array([[0, 1.5, 0.4, 0], [0, 0, 0, 2.0], [0, 0.3, 0, 5.0], [0, 0, 0, 0]])
    assert jit(shortest)(w, 3) == shortest(w, 3) == (2.7, [0, 2, 1, 3])
    slope = jit(grad(lambda w: shortest(w, 3)[0]))(w)
    np.testing.assert_array_equal(np.argwhere(slope), [[0, 2], [1, 3], [2, 1]])
