"""Finds a minimum vertex cut: the cheapest set of values to keep so that the rest can be computed
again.

>>> edges = [("x", "sin"), ("x", "sq")]
>>> minimum_cut(["x", "sin", "sq"], {"x": 1, "sin": 5, "sq": 5}, edges, {"x"}, {"sin", "sq"})
{'x'}
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)
INFINITE = 1 << 60


def minimum_cut(
    nodes: list[N],
    cost: Mapping[N, int],
    edges: list[tuple[N, N]],
    fixed: set[N],
    needed: set[N],
    again: Mapping[N, int] | None = None,
) -> set[N]:
    """The nodes to keep. `fixed` nodes cannot be computed again; `needed` nodes must be at hand.

    cost   of keeping a node
    again  the cost of computing a node again, if it is not kept; nothing for those that lack

    Of the cuts that cost the least, the one nearest to what is fixed: a node is kept if the largest
    flow, through an edge of capacity `cost` for each node, fills the edge from a place that more
    could flow to.
    """
    into = {n: 2 * k for k, n in enumerate(nodes)}  # what leaves a node has the next number
    source, sink = 2 * len(nodes), 2 * len(nodes) + 1
    network = _Network(sink + 1)
    for n, k in into.items():
        network.add(k, k + 1, cost[n])
        repeated = INFINITE if n in fixed else (again or {}).get(n, 0)
        if repeated:
            network.add(source, k, repeated)
        if n in needed:
            network.add(k + 1, sink, INFINITE)
    for a, b in edges:
        network.add(into[a] + 1, into[b], INFINITE)
    while (distances := network.distances(source))[sink] >= 0:
        network.fill_shortest(distances, source, sink)
    return {n for n, k in into.items() if distances[k] >= 0 > distances[k + 1]}


class _Network:
    """Edges with what may still flow through them, by the method of E. A. Dinitz (1970): all paths
    of one length are filled at once.

    An edge is two entries with numbers that differ in the last bit: the other one leads back.
    """

    def __init__(self, count: int) -> None:
        self.entries: list[list[int]] = [[] for _ in range(count)]  # those that leave a place
        self.ends: list[int] = []
        self.capacities: list[int] = []

    def add(self, start: int, end: int, capacity: int) -> None:
        for a, b, c in ((start, end, capacity), (end, start, 0)):
            self.entries[a].append(len(self.ends))
            self.ends.append(b)
            self.capacities.append(c)

    def distances(self, source: int) -> list[int]:
        """How many edges away each place is, -1 if nothing more can flow there."""
        distances = [-1] * len(self.entries)
        distances[source] = 0
        reached = [source]
        for at in reached:
            for e in self.entries[at]:
                end = self.ends[e]
                if self.capacities[e] and distances[end] < 0:
                    distances[end] = distances[at] + 1
                    reached.append(end)
        return distances

    def fill_shortest(self, distances: list[int], source: int, sink: int) -> None:
        """Lets as much flow as goes by paths on which each edge leads one further away."""
        tried = [0] * len(self.entries)  # how many entries of a place lead no further
        path: list[int] = []
        at = source
        while True:
            if at == sink:
                at = self.fill(path)
            elif tried[at] < len(self.entries[at]):
                e = self.entries[at][tried[at]]
                if self.capacities[e] and distances[self.ends[e]] == distances[at] + 1:
                    path.append(e)
                    at = self.ends[e]
                else:
                    tried[at] += 1
            elif path:
                at = self.ends[path.pop() ^ 1]
                tried[at] += 1
            else:
                return

    def fill(self, path: list[int]) -> int:
        """Lets as much flow as a path takes, and cuts it off at its first edge that is full by
        then; the place where that begins."""
        flow = min(self.capacities[e] for e in path)
        for e in path:
            self.capacities[e] -= flow
            self.capacities[e ^ 1] += flow
        first = next(k for k, e in enumerate(path) if not self.capacities[e])
        start = self.ends[path[first] ^ 1]
        del path[first:]
        return start
