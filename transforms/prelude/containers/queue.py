"""Implements the classes of `queue` for one thread. To wait is an error, for nobody else would end
it.
"""

from __future__ import annotations

import heapq
import queue
from collections import deque
from typing import Any

__staged__ = True  # plain code: a staged run enters it


class Queue:
    """First in, first out."""

    def __init__(self, maxsize: Any = 0) -> None:
        self.maxsize, self.unfinished_tasks = maxsize, 0
        self.queue: Any = self.start()

    def start(self) -> Any:
        return deque()

    def add(self, item: Any) -> None:
        self.queue.append(item)

    def take(self) -> Any:
        return self.queue.popleft()

    def qsize(self) -> Any:
        return len(self.queue)

    def empty(self) -> Any:
        return len(self.queue) == 0

    def full(self) -> Any:
        return 0 < self.maxsize <= len(self.queue)

    def put(self, item: Any, block: bool = True, timeout: Any = None) -> None:
        if self.full():
            raise queue.Full
        self.add(item)
        self.unfinished_tasks += 1

    def get(self, block: bool = True, timeout: Any = None) -> Any:
        if self.empty():
            raise queue.Empty
        return self.take()

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get_nowait(self) -> Any:
        return self.get()

    def task_done(self) -> None:
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self) -> None:
        """There is no thread to wait for."""


class LifoQueue(Queue):
    """Last in, first out."""

    def start(self) -> Any:
        return []

    def take(self) -> Any:
        return self.queue.pop()


class PriorityQueue(Queue):
    """The smallest one first."""

    def start(self) -> Any:
        return []

    def add(self, item: Any) -> None:
        heapq.heappush(self.queue, item)

    def take(self) -> Any:
        return heapq.heappop(self.queue)


class SimpleQueue(Queue):
    """First in, first out, without a limit."""


OURS = (Queue, LifoQueue, PriorityQueue, SimpleQueue)
PYTHON: dict[Any, Any] = {getattr(queue, ours.__name__): ours for ours in OURS}
