"""Lists that loops fill with texts, members of enumerations, functions and older objects."""

import enum
import heapq
from collections import Counter, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from tapeless import grad, jit, strict
from tests.one_program import check_one_program


class Kind(enum.Enum):
    ROOT = 1
    LEFT = 2
    RIGHT = 3


class Agent:
    def __init__(self, energy):
        self.energy = energy
        self.events = 0

    def act(self, gain):
        self.energy += 0.5 * gain
        self.events += 1


class Job:
    def __init__(self, size, due):
        self.size, self.due = size, due

    def __lt__(self, other):
        return (self.size, self.due) < (other.size, other.due)


@dataclass(order=True)
class Event:
    time: float
    serial: int
    kind: str = field(compare=False)
    agent: Agent = field(compare=False, default=None)


Named = namedtuple("Named", "time kind")


def levels(x, y):
    """Pairs of a number and a text that it decides."""
    out, v = [], 0.6 + 0.01 * x * x
    while v < 3:
        out.append((v, "low" if v < 1 else "middle" if v < 2 else "high"))
        v = v * 1.3 + 0.01 * y
    return out


def texts_in_a_list(x, y):
    kinds = [kind for _, kind in levels(x, y)]
    return sum(y if k == "high" else 1.0 for k in kinds) * x + len(kinds) + kinds.count("low")


def copies_and_sums_of_lists(x, y):
    pairs = levels(x, y)
    longer = pairs.copy()
    longer.append((x, "end"))
    both = pairs + longer
    both.reverse()
    found = ("end" in [k for _, k in longer]) - ("end" in [k for _, k in pairs])
    return sum(v * (k + 1) for k, (v, kind) in enumerate(both) if kind != "low") + found


def order_of_texts(x, y):
    pairs = levels(x, y)
    total = 0.0
    for k in range(len(pairs) - 1):
        (v, kind), (w, other) = pairs[k], pairs[k + 1]
        total += v * w if kind != other else 0.5 * x
        total += y if kind < other else 0.0
        total += v if (kind, v) <= (other, w) else -v
    return total + min(pairs)[0] + max(pairs, key=lambda p: (p[1], p[0]))[0]


def counted_texts(x, y):
    kinds = [kind for _, kind in levels(x, y)]
    counts, weights = Counter(kinds), {"low": 0.5, "middle": 1.5, "high": 2.5}
    return (
        counts["low"] * x
        + counts["high"] * y
        + sum(w for k, w in weights.items() if k in set(kinds))
    )


def a_heap_of_texts(x, y):
    heap = [(0.5 + 0.1 * x * x, "go"), (0.7 + 0.01 * y, "stop")]
    heapq.heapify(heap)
    n = 0
    while heap and n < 20:
        t, kind = heapq.heappop(heap)
        n += 1
        if kind == "go":
            heapq.heappush(heap, (t + 0.3, "wait" if t > 1 else "go"))
        elif kind == "wait":
            heapq.heappush(heap, (t * 1.5, "end"))
    return t * y + n


def a_heap_of_named_tuples(x, y):
    heap, n = [Named(0.6 + 0.1 * x * x, "a")], 0
    while heap and n < 12:
        e = heapq.heappop(heap)
        n += 1
        e = e._replace(kind="last") if e.time > 2 else e
        if e.kind != "last":
            heapq.heappush(heap, Named(e.time * 1.2, "b" if e.kind == "a" else "a"))
            heapq.heappush(heap, Named(e.time * 1.3 + 0.01 * y, e.kind))
    return e.time + n + (1.0 if e.kind == "last" else 2.0)


def a_stack_that_grows(x, y):
    stack, total = deque([(0, Kind.ROOT)]), 0.0
    while stack:
        depth, kind = stack.pop()
        total += (x + depth) * kind.value
        if depth < 3 and total < 8:
            stack.append((depth + 1, Kind.LEFT))
            stack.append((depth + 1, Kind.RIGHT))
    return total * y


def a_heap_of_objects(x, y):
    agents = [Agent(0.5 + 0.1 * x * x), Agent(1.03 + 0.01 * y), Agent(1.41)]
    heap, n = [], 0
    for k, agent in enumerate(agents):
        heapq.heappush(heap, (agent.energy, k, agent))
    while heap and n < 12:
        t, k, agent = heapq.heappop(heap)
        n += 1
        agent.act(t)
        if agent.energy < 4:
            heapq.heappush(heap, (agent.energy, k, agent))
    return sum((k + 1) * a.energy for k, a in enumerate(agents)) + n + agents[0].events


def objects_that_are_ordered(x, y):
    jobs = [Job(abs(x) + 0.1 * k, y) for k in (3, 1, 2)]
    heapq.heapify(jobs)
    first = heapq.heappop(jobs)
    first.due += 1.0
    heapq.heappush(jobs, Job(0.3 * x * x, 1.5))
    return jobs[0].size * first.due + sum(job.due for job in jobs)


def events_of_objects(x, y):
    heap, total = [], 0.0
    for k, v in enumerate((0.5 * x, 0.3 * y, x + y)):
        heapq.heappush(heap, Event(v, k, "start", Agent(v * v)))
    n = len(heap)
    while heap:
        event = heapq.heappop(heap)
        total += event.agent.energy * (1.0 if event.kind == "start" else 2.0)
        event.agent.energy += 0.25
        if event.kind == "start":
            heapq.heappush(heap, Event(event.time + 1.03, n, "end", event.agent))
            n += 1
    return total


def the_same_object_again(x, y):
    agents, log, v = [Agent(x), Agent(y), Agent(1.0)], [], 0.6 + 0.01 * x * x
    while v < 4:
        agent = agents[0] if v < 1.5 else agents[1] if v < 2.5 else agents[2]
        log.append((v, agent))
        v *= 1.4
    for t, agent in log:
        agent.act(t)
    log[0][1].energy += 3.0
    return sum(t * a.energy for t, a in log) + sum(a.energy * a.events for a in agents)


def functions(x, y):
    steps, v = [], 0.6 + 0.01 * x * x
    while v < 3:
        steps.append(np.sin if v < 1.5 else np.cos)
        v = v * 1.3 + 0.01 * y
    return sum(f(v * k) for k, f in enumerate(steps))


def rows_of_texts(x, y):
    rows, v, n = [[] for _ in range(3)], 0.6 + 0.01 * x * x, 0
    while v < 4:
        rows[n % 3].append((v, "early" if v < 2 else "late"))
        n += 1
        v = v * 1.2 + 0.01 * y
    return sum(v for row in rows for v, kind in row if kind == "late") + len(rows[1])


PROGRAMS = [
    texts_in_a_list,
    copies_and_sums_of_lists,
    order_of_texts,
    counted_texts,
    a_heap_of_texts,
    a_heap_of_named_tuples,
    a_stack_that_grows,
    a_heap_of_objects,
    objects_that_are_ordered,
    events_of_objects,
    the_same_object_again,
    functions,
    rows_of_texts,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_program_for_all_values(program):
    check_one_program(program)


def test_the_emitted_text_says_what_numbers_stand_for():
    with strict(True):
        text = jit(a_heap_of_texts).source(2.1, 3.0)
    assert "In lists: 0 for 'go', 1 for 'stop', 2 for 'wait', 3 for 'end'." in text


def test_an_index_out_of_bounds_is_seen():
    def shown(v):
        return (["a", "b"] * 10)[int(v)]

    def of_one_text(v):
        names = ["a"]
        while v < 3:
            names.append("a")
            v *= 2
        return v * (2 if names[int(v)] == "a" else 3)

    def of_two_alike(v):
        return v * (2 if ["a", "a"][int(v)] == "a" else 3)

    with strict(True):
        assert [jit(shown)(v) for v in (3.0, 4.0, -1.0)] == ["b", "a", "b"]
        with pytest.raises(IndexError):
            jit(shown)(25.0)
    with strict(False):
        with pytest.raises(IndexError):
            jit(of_one_text)(2.0)
        with pytest.raises(IndexError):
            jit(of_two_alike)(2.0)
        assert jit(of_one_text)(0.4) == of_one_text(0.4)


def test_what_a_list_gets_after_it_was_read():
    """A loop that reads a list before it puts in another text."""

    def program(x):
        queue, total, n = [(x, "a")], 0.0, 0
        while queue and n < 9:
            v, kind = queue.pop(0)
            n += 1
            if kind == "a":
                queue.append((v * 1.1, "b"))
            elif kind == "b":
                queue.append((v * 1.2, "c"))
                queue.append((v * 0.7, "a"))
            else:
                total += v
        return total

    with strict(True):
        assert jit(program)(1.3) == pytest.approx(program(1.3))
        slope = (program(1.3 + 1e-6) - program(1.3 - 1e-6)) / 2e-6
        assert grad(program)(1.3) == pytest.approx(slope, rel=1e-6)
