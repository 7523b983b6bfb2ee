"""Computes liveness: the variables that are still read after each statement.

[x, y], [y], [z] and z at the end      becomes      {y, z}, {z}, {z}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any


def remaining(reads: Sequence[AbstractSet[Any]], live: Iterable[Any]) -> Iterator[set[Any]]:
    """For each of these what those after it read, or what is live at the end: one set, which
    shrinks.

    >>> [sorted(x) for x in remaining([{"x", "y"}, {"y"}, {"z"}], {"z"})]
    [['y', 'z'], ['z'], ['z']]
    """
    last = {v: k for k, names in enumerate(reads) for v in names}
    last |= dict.fromkeys(live, len(reads))
    live_now = set(last)
    for k, names in enumerate(reads):
        live_now -= {v for v in names if last[v] == k}
        yield live_now
