"""Heaps and sorted lists of Python's library, and sorted() by tuples, of data."""

import bisect
import heapq
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from tests.corpus import normal, program, uniform

ROADS = np.array(
    [[0, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 0, 1, 1], [0, 1, 1, 0, 1], [0, 0, 1, 1, 0]]
)


@program(uniform(5, 5), ROADS)
def shortest_paths(lengths, roads):
    n = len(lengths)
    distance = np.full(n, np.inf)
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        far, here = heapq.heappop(heap)
        if far > distance[here]:
            continue
        for other in range(n):
            through = far + lengths[here, other]
            if roads[here, other] and through < distance[other]:
                distance[other] = through
                heapq.heappush(heap, (through, other))
    return np.sum(distance**2)


@program(normal(6))
def smallest_sums(x):
    """Huffman's tree: the two smallest weights become one."""
    heap = [v * v for v in x]
    heapq.heapify(heap)
    total = 0.0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


@program(normal(7))
def kept_in_order(x):
    ordered = []
    for v in x:
        bisect.insort(ordered, v)
    return ordered[1] * ordered[-1] + bisect.bisect_left(ordered, 0.1)


@dataclass
class Item:
    weight: float
    value: float

    @property
    def ratio(self):
        return self.value / self.weight


@program(uniform(4), uniform(4))
def knapsack(weights, values):
    items = [Item(w + 0.1, v) for w, v in zip(weights, values)]
    room, total = 1.0, 0.0
    for item in sorted(items, key=attrgetter("ratio"), reverse=True):
        taken = min(room, item.weight)
        room -= taken
        total += taken * item.ratio
    return total


@program(normal(6))
def by_pairs(x):
    pairs = []
    for k in range(len(x)):
        pairs.append((k % 2, x[k]))
    pairs.sort(reverse=True)
    first, second = pairs[0], pairs[1]
    return first[1] * second[1] ** 2 + second[0] * pairs[-1][1]
