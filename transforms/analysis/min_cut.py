"""A minimum vertex cut: the cheapest set of values to keep so that the rest can be computed again.

>>> edges = [("x", "sin"), ("x", "sq")]
>>> minimum_cut(["x", "sin", "sq"], {"x": 1, "sin": 5, "sq": 5}, edges, {"x"}, {"sin", "sq"})
{'x'}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import TypeVar

N = TypeVar("N", bound=Hashable)
INFINITE = 1 << 60


def minimum_cut(
    nodes: list[N], cost: dict[N, int], edges: list[tuple[N, N]], fixed: set[N], needed: set[N]
) -> set[N]:
    """The nodes to keep. `fixed` nodes cannot be computed again; `needed` nodes must be at hand.

    Ford-Fulkerson with shortest augmenting paths (Edmonds and Karp, 1972) on the graph in which
    each node is an edge (in, out) of capacity `cost`.
    """
    capacity: dict[object, dict[object, int]] = {"source": {}, "sink": {}}

    def edge(a: object, b: object, c: int) -> None:
        capacity.setdefault(a, {})[b] = capacity.setdefault(a, {}).get(b, 0) + c
        capacity.setdefault(b, {}).setdefault(a, 0)

    for n in nodes:
        edge(("in", n), ("out", n), cost[n])
        if n in fixed:
            edge("source", ("in", n), INFINITE)
        if n in needed:
            edge(("out", n), "sink", INFINITE)
    for a, b in edges:
        edge(("out", a), ("in", b), INFINITE)
    while True:
        came = _reachable(capacity)
        if "sink" not in came:
            return {n for n in nodes if ("in", n) in came and ("out", n) not in came}
        path = []
        at: object = "sink"
        while at != "source":
            path.append((came[at], at))
            at = came[at]
        flow = min(capacity[start][end] for start, end in path)
        for start, end in path:
            capacity[start][end] -= flow
            capacity[end][start] += flow


def _reachable(capacity: dict[object, dict[object, int]]) -> dict[object, object]:
    came: dict[object, object] = {"source": "source"}
    queue = deque(["source"])
    while queue:
        a: object = queue.popleft()
        for b, c in capacity[a].items():
            if c > 0 and b not in came:
                came[b] = a
                queue.append(b)  # type: ignore[arg-type]
    return came
